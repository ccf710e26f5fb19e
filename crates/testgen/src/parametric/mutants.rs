//! Programs of the library and of the tests that are changed a little, at random.
//!
//! What the generators put together is what somebody thought of. The protocols of the library use everything that there are proofs for, and most of them are proved for any
//! number of processes; with an operator, a constant, a name or a statement changed they are wrong in ways nobody thought of, and often are not wrong at all. So they are what proofs are best compared on.

use std::sync::OnceLock;

use crate::random::Random;

/// A name, and the program.
type Named = (String, String);

/// The programs that are changed: those for any number of processes, and the library.
fn bases() -> Vec<Named> {
    let mut all = crate::library();
    all.extend(crate::library_for_all());
    all.extend(crate::variants_for_all());
    all.extend(crate::protocols_for_all());
    all
}

/// A program that claims something of all states, changed, with this seed.
pub fn safety_mutant(seed: u64) -> String {
    static BASES: OnceLock<Vec<Named>> = OnceLock::new();
    let claims = ["invariant ", "assert ", "deadlock_free"];
    let claims = |text: &str| claims.iter().any(|claim| text.contains(claim));
    mutant(BASES.get_or_init(|| those(claims)), seed)
}

/// A program with a liveness property, changed, with this seed.
pub fn liveness_mutant(seed: u64) -> String {
    static BASES: OnceLock<Vec<Named>> = OnceLock::new();
    // How many processes are started is not bounded, and the oracle is for those that are there from the beginning.
    let claims = |text: &str| text.contains("liveness ") && !text.contains("start ");
    mutant(BASES.get_or_init(|| those(claims)), seed)
}

/// The programs with parameters of which this holds, and which have an instance with the default values.
fn those(wanted: impl Fn(&str) -> bool) -> Vec<Named> {
    let mut all = bases();
    all.retain(|(_, text)| {
        text.contains("param ") && wanted(text) && crate::instance(text, &[]).is_ok()
    });
    all
}

/// One of these programs with a few changes; it has an instance with the default values. Rarely no change that was tried leads to such a program: then it is the program itself.
fn mutant(bases: &[Named], seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x6a09_e667);
    let (name, text) = random.one(bases).cloned().unwrap_or_default();
    let text = changed(&text, &mut random).unwrap_or(text);
    format!("// {name}\n{text}")
}

/// A program with a few changes; nothing if no program was found.
pub(super) fn changed(text: &str, random: &mut Random) -> Option<String> {
    let original = tokens(text);
    for _ in 0..40 {
        let mut changed = original.clone();
        let changes = [1, 1, 2, 2, 3].get(random.below(5)).copied().unwrap_or(1);
        for _ in 0..changes {
            change(&mut changed, random);
        }
        let text = joined(&changed);
        if changed != original && crate::instance(&text, &[]).is_ok() {
            return Some(text);
        }
    }
    None
}

/// The words and signs of a text, with the spaces between them; comments are left out.
fn tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut block = false;
    for line in text.lines() {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if block {
                let Some(end) = rest.find("*/") else { break };
                (rest, block) = (&rest[end + 2..], false);
                continue;
            }
            if rest.starts_with("//") {
                break;
            }
            if rest.starts_with("/*") {
                block = true;
                continue;
            }
            let word = |c: char| c.is_alphanumeric() || c == '_';
            let length = if word(first) {
                rest.find(|c| !word(c)).unwrap_or(rest.len())
            } else if first.is_whitespace() {
                rest.find(|c: char| !c.is_whitespace())
                    .unwrap_or(rest.len())
            } else {
                let signs = ["<->", "->", "&&", "||", ":=", "==", "!=", "<=", ">=", ".."];
                let sign = signs.iter().find(|sign| rest.starts_with(**sign));
                sign.map_or(first.len_utf8(), |sign| sign.len())
            };
            found.push(rest[..length].to_owned());
            rest = &rest[length..];
        }
        found.push("\n".to_owned());
    }
    found
}

fn joined(tokens: &[String]) -> String {
    let text = tokens.concat();
    let lines = text.lines().map(str::trim_end);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n") + "\n"
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic())
}

/// One change somewhere. Many lead to no program.
fn change(tokens: &mut Vec<String>, random: &mut Random) {
    match random.below(10) {
        0 => apart(tokens, random),
        1 => nothing(tokens, random),
        2 | 3 => name(tokens, random),
        4 => exchange(tokens, random),
        _ => token(tokens, random),
    }
}

/// What may stand in the place of a word or sign.
fn others(token: &str) -> &'static [&'static str] {
    match token {
        "<" => &["<=", ">", "!="],
        "<=" => &["<", "==", ">="],
        ">" => &[">=", "<", "!="],
        ">=" => &[">", "==", "<="],
        "==" => &["!=", "<=", ">="],
        "!=" => &["==", "<"],
        "&&" => &["||"],
        "||" => &["&&"],
        "->" => &["&&", "||"],
        "+" => &["-"],
        "-" => &["+"],
        "!" => &[""],
        "true" => &["false", "any"],
        "false" => &["true", "any"],
        "forall" => &["exists"],
        "exists" => &["forall"],
        "next" => &["prev"],
        "prev" => &["next"],
        "stay" => &["skip"],
        "skip" => &["stay"],
        "none" => &["i"],
        "max" => &["min"],
        "min" => &["max"],
        "strong" => &["weak"],
        "await" => &["assert"],
        "%" => &["/"],
        _ => &[],
    }
}

/// Another operator, constant or quantifier.
fn token(tokens: &mut [String], random: &mut Random) {
    let number = |token: &String| token.starts_with(|c: char| c.is_ascii_digit());
    let places = tokens.iter().enumerate();
    let places = places.filter(|(_, token)| number(token) || !others(token).is_empty());
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    let Some(place) = random.one(&places) else {
        return;
    };
    let token = &mut tokens[*place];
    *token = match token.parse::<i64>() {
        Ok(number) => (number + [-1, 1, 1, 2][random.below(4)]).max(0).to_string(),
        Err(_) => random
            .one(others(token))
            .map_or("", |other| *other)
            .to_owned(),
    };
}

/// A name in the place of another one.
fn name(tokens: &mut [String], random: &mut Random) {
    let places = tokens.iter().enumerate();
    let places = places.filter(|(_, token)| is_word(token));
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    if let (Some(to), Some(from)) = (random.one(&places), random.one(&places)) {
        tokens[*to] = tokens[*from].clone();
    }
}

/// The place where a bracket is closed.
fn closing(tokens: &[String], open: usize) -> Option<usize> {
    let mut depth = 0_i64;
    let signs = tokens.iter().enumerate().skip(open);
    for (place, token) in signs {
        depth += match token.as_str() {
            "{" => 1,
            "}" => -1,
            _ => 0,
        };
        if depth == 0 {
            return Some(place);
        }
    }
    None
}

/// The statements of a block that are simple: where each begins, and where its `;` is.
fn statements(tokens: &[String], random: &mut Random) -> Vec<(usize, usize)> {
    let ends: Vec<usize> = (0..tokens.len())
        .filter(|place| tokens[*place] == ";")
        .collect();
    let first = |end: usize| {
        let before = tokens[..end]
            .iter()
            .rposition(|token| ["{", "}", ";", ":"].contains(&token.as_str()));
        before.map(|place| (place + 1, end))
    };
    let mut found: Vec<(usize, usize)> = ends.iter().filter_map(|end| first(*end)).collect();
    let last = found.len();
    found.rotate_left(random.below(last.max(1)));
    found
}

/// A statement that does nothing.
fn nothing(tokens: &mut Vec<String>, random: &mut Random) {
    let found = statements(tokens, random);
    if let Some((from, end)) = random.one(&found) {
        tokens.splice(*from..*end, [" skip".to_owned()]);
    }
}

/// Two statements that change places.
fn exchange(tokens: &mut Vec<String>, random: &mut Random) {
    let mut found = statements(tokens, random);
    found.sort_unstable();
    let next = random.below(found.len().saturating_sub(1).max(1));
    let (Some((a, a_end)), Some((b, b_end))) =
        (found.get(next).copied(), found.get(next + 1).copied())
    else {
        return;
    };
    if a_end <= b {
        let second: Vec<String> = tokens[b..b_end].to_vec();
        let first: Vec<String> = tokens[a..a_end].to_vec();
        tokens.splice(b..b_end, first);
        tokens.splice(a..a_end, second);
    }
}

/// A step that is two: the first statement of an atomic block, and the rest.
fn apart(tokens: &mut [String], random: &mut Random) {
    let blocks: Vec<usize> = (0..tokens.len())
        .filter(|place| tokens[*place] == "atomic")
        .collect();
    let Some(atomic) = random.one(&blocks).copied() else {
        return;
    };
    let open = tokens[atomic..].iter().position(|token| token == "{");
    let Some(open) = open.map(|place| place + atomic) else {
        return;
    };
    let Some(close) = closing(tokens, open) else {
        return;
    };
    let middle = tokens[open..close].iter().position(|token| token == ";");
    let Some(middle) = middle.map(|place| place + open) else {
        return;
    };
    tokens[close] = String::new();
    let label = format!("; apart{}: ", random.below(1_000));
    tokens[middle] = label;
    tokens[open] = String::new();
    tokens[atomic] = String::new();
}
