//! Names with values for people: cells of arrays and processes that have the same value are written together, `P[1..1000].k = 0`, so that an
//! instance with a thousand processes fits a screen.

use std::collections::BTreeMap;

use threadwise_evidence::Valuation;

/// How many ranges of one group are written.
const SHOWN_RANGES: usize = 4;

/// As many on a line as fit; a line that another one follows ends with a comma.
pub(crate) fn packed(parts: Vec<String>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + part.chars().count() <= width => {
                line.push_str(", ");
                line.push_str(&part);
            }
            last => {
                if let Some(line) = last {
                    line.push(',');
                }
                lines.push(part);
            }
        }
    }
    lines
}

/// `name = value` for each group of names.
pub(crate) fn assignments(valuation: &Valuation, between: &str) -> Vec<String> {
    let values: Vec<(&str, String)> = valuation
        .iter()
        .map(|(name, value)| (name, value.to_string()))
        .collect();
    together(values.iter().map(|(name, value)| (*name, value.as_str())))
        .into_iter()
        .map(|(name, value)| format!("{name}{between}{value}"))
        .collect()
}

/// Names alone, together: `P[1..3], Server`.
pub(crate) fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names = together(names.into_iter().map(|name| (name, "")));
    let names: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
    names.join(", ")
}

/// Puts names that differ in one number, and have the same value, together: first by the number
/// in the first pair of brackets, then by the second, and so on.
pub(crate) fn together<'n>(
    entries: impl Iterator<Item = (&'n str, &'n str)>,
) -> Vec<(String, String)> {
    let mut entries: Vec<(String, String)> = entries
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    for bracket in 0..3 {
        let mut groups: Vec<Group> = Vec::new();
        let mut known: BTreeMap<(String, String, String), usize> = BTreeMap::new();
        for (name, value) in entries {
            match split(&name, bracket) {
                None => groups.push(Group {
                    before: name,
                    numbers: Vec::new(),
                    after: String::new(),
                    value,
                }),
                Some((before, number, after)) => {
                    let key = (before, after, value);
                    match known.get(&key) {
                        Some(position) => groups[*position].numbers.push(number),
                        None => {
                            known.insert(key.clone(), groups.len());
                            let (before, after, value) = key;
                            groups.push(Group {
                                before,
                                numbers: vec![number],
                                after,
                                value,
                            });
                        }
                    }
                }
            }
        }
        entries = groups.into_iter().map(Group::into_entry).collect();
    }
    entries
}

/// Names that differ in one number.
struct Group {
    before: String,
    numbers: Vec<i64>,
    after: String,
    value: String,
}

impl Group {
    fn into_entry(self) -> (String, String) {
        let name = if self.numbers.is_empty() {
            self.before
        } else {
            format!("{}[{}]{}", self.before, ranges(self.numbers), self.after)
        };
        (name, self.value)
    }
}

/// Splits a name at the bracket with this position, if there is a number in it.
fn split(name: &str, bracket: usize) -> Option<(String, i64, String)> {
    let (open, _) = name.match_indices('[').nth(bracket)?;
    let close = open + name[open..].find(']')?;
    let number = name[open + 1..close].parse().ok()?;
    Some((
        name[..open].to_owned(),
        number,
        name[close + 1..].to_owned(),
    ))
}

/// `1..3,5,8..1000`
pub(crate) fn ranges(mut numbers: Vec<i64>) -> String {
    numbers.sort_unstable();
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let hidden = ranges.len().saturating_sub(SHOWN_RANGES);
    let mut parts: Vec<String> = ranges
        .into_iter()
        .take(SHOWN_RANGES)
        .map(|(first, last)| match last.saturating_sub(first) {
            0 => first.to_string(),
            1 => format!("{first},{last}"),
            _ => format!("{first}..{last}"),
        })
        .collect();
    if hidden > 0 {
        parts.push("..".to_owned());
    }
    parts.join(",")
}
