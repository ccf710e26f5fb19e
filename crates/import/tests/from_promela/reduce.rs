//! Makes a program smaller while something remains true of it: lines go, one block at a time, then one line at a time.

/// The smallest text that was found, after at most so many tries. `keeps` is true of the text.
pub fn reduce(text: &str, tries: usize, mut keeps: impl FnMut(&str) -> bool) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut left = tries;
    loop {
        let before = lines.len();
        let mut at = lines.len();
        while at > 0 {
            at -= 1;
            for gone in candidates(&lines, at) {
                if left == 0 {
                    return lines.join("\n") + "\n";
                }
                left -= 1;
                let kept = lines
                    .iter()
                    .enumerate()
                    .filter(|(line, _)| !gone.contains(line));
                let smaller: Vec<String> = kept.map(|(_, line)| line.clone()).collect();
                if keeps(&(smaller.join("\n") + "\n")) {
                    lines = smaller;
                    at = at.min(lines.len());
                    break;
                }
            }
        }
        if lines.len() == before {
            return lines.join("\n") + "\n";
        }
    }
}

/// Lines that may go together with this one: all up to the end of its block, or only the two ends, or it alone.
fn candidates(lines: &[String], at: usize) -> Vec<Vec<usize>> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mine = indent(&lines[at]);
    let deeper = lines[at + 1..]
        .iter()
        .take_while(|line| indent(line) > mine)
        .count();
    let mut candidates = Vec::new();
    let opens = ["do", "if"].contains(&lines[at].trim()) || lines[at].ends_with('{');
    if opens {
        let closes = |line: &&String| {
            ["od", "fi", "}"]
                .iter()
                .any(|end| line.trim_start().starts_with(end))
        };
        let end =
            (at + 1..lines.len()).find(|&end| indent(&lines[end]) == mine && closes(&&lines[end]));
        if let Some(end) = end {
            candidates.push((at..=end).collect());
            candidates.push(vec![at, end]);
        }
    } else if deeper > 0 {
        candidates.push((at..=at + deeper).collect());
    }
    candidates.push(vec![at]);
    candidates
}

#[test]
fn reduces_to_what_matters() {
    let text = "a;\nif\n:: b ->\n\tc;\n\td;\n:: e\nfi;\nf;\n";
    assert_eq!(reduce(text, 1000, |text| text.contains("d;")), "\td;\n");
    let whole = |text: &str| text.contains("e") && text.contains("if") == text.contains("fi;");
    assert_eq!(reduce(text, 1000, whole), ":: e\n");
}
