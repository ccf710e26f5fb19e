//! "Did you mean ..?"

/// The candidate closest to a name, if one is close enough to be a slip of the fingers.
pub fn closest(name: &str, candidates: impl IntoIterator<Item = String>) -> Option<String> {
    // Nobody mistypes a word of that length, and comparing is quadratic.
    if name.len() > 100 {
        return None;
    }
    let allowed = match name.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 100)
        .map(|candidate| {
            let distance = if candidate.eq_ignore_ascii_case(name) {
                0
            } else {
                strsim::damerau_levenshtein(name, &candidate)
            };
            (distance, candidate)
        })
        .filter(|(distance, candidate)| {
            *distance <= allowed && *distance < candidate.chars().count()
        })
        .min()
        .map(|(_, candidate)| candidate)
}
