//! Numbers as people read them, and texts that may be shown to them.

use std::borrow::Cow;

/// A text from a file as it may be shown: line breaks and tabs stay, other control characters and those that turn the direction of
/// writing become `\u{1b}`, so that no file moves the cursor or changes what is on the screen.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// The same of a text that belongs on one line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hidden = |c: char| (c.is_control() && !stays(c)) || turns(c);
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for c in text.chars() {
        match hidden(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// `1234567` as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A long decimal number by its first digits and its power of ten.
pub fn rounded(digits: &str) -> String {
    match digits.get(..3) {
        Some(first) if digits.len() > 15 => {
            format!("{}.{} * 10^{}", &first[..1], &first[1..], digits.len() - 1)
        }
        _ => digits.to_owned(),
    }
}

/// A number and what is counted, in the plural where that is right.
pub fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", count(number))
}

/// A duration.
pub fn seconds(seconds: f64) -> String {
    if seconds < 0.0995 {
        format!("{:.0} ms", seconds * 1000.0)
    } else if seconds < 99.95 {
        format!("{seconds:.1} s")
    } else {
        format!(
            "{:.0} min {:02.0} s",
            (seconds / 60.0).floor(),
            seconds % 60.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_reaches_the_terminal_as_a_command() {
        assert_eq!(printable("a\n\tb \u{e9} c"), "a\n\tb \u{e9} c");
        assert_eq!(printable("a\u{1b}[2Jb\r"), "a\\u{1b}[2Jb\\r");
        assert_eq!(printable("\u{9b}1m\u{7f}\0"), "\\u{9b}1m\\u{7f}\\u{0}");
        assert_eq!(printable("x\u{202e}y"), "x\\u{202e}y");
        assert_eq!(one_line("a\nb\tc"), "a\\nb\\tc");
    }

    #[test]
    fn numbers_are_grouped_and_durations_rounded() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(rounded("18446744073709551616"), "1.84 * 10^19");
        assert_eq!(rounded("12"), "12");
        assert_eq!(counted(1, "state"), "1 state");
        assert_eq!(counted(2, "state"), "2 states");
        assert_eq!(seconds(0.0041), "4 ms");
        assert_eq!(seconds(0.0999), "0.1 s");
        assert_eq!(seconds(12.34), "12.3 s");
        assert_eq!(seconds(125.0), "2 min 05 s");
    }
}
