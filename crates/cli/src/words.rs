//! Numbers as people read them.

/// `1234567` as `1,234,567`.
pub(crate) fn count(number: u64) -> String {
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
pub(crate) fn rounded(digits: &str) -> String {
    match digits.get(..3) {
        Some(first) if digits.len() > 15 => {
            format!("{}.{} * 10^{}", &first[..1], &first[1..], digits.len() - 1)
        }
        _ => digits.to_owned(),
    }
}

/// A number and what is counted, in the plural where that is right.
pub(crate) fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", count(number))
}

/// A duration.
pub(crate) fn seconds(seconds: f64) -> String {
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
