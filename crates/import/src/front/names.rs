//! Names in a model: those of the original where they can be had.

/// A name as an identifier; `lead` comes first where that would begin with a digit.
pub(crate) fn identifier(wish: &str, lead: char) -> String {
    let usable = |c: char| match c.is_ascii_alphanumeric() {
        true => c,
        false => '_',
    };
    let mut name: String = wish.chars().map(usable).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, lead);
    }
    name
}

/// The name, or the first one with a number behind it that is not taken.
pub(crate) fn free(name: String, taken: impl Fn(&str) -> bool) -> String {
    if !taken(&name) {
        return name;
    }
    let mut number = 2;
    loop {
        let numbered = format!("{name}_{number}");
        if !taken(&numbered) {
            return numbered;
        }
        number += 1;
    }
}
