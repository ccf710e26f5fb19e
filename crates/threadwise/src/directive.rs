//! Expectations written inside models, for `threadwise test`.
//!
//! ```text
//! //@ expect mutex: proved for all N
//! //@ expect mutex: proved at N=2..4
//! //@ expect mutex: violated at N=3, M=2
//! //@ states at N=2: 12
//! ```
//!
//! Without `at` and `for all`, an expectation is about the whole claim: every value of every parameter. `states` without `at` is about the default instance. A directive that cannot be read is
//! an error with its line: an expectation that is not understood must not pass for one that is met.

use crate::setting::{Setting, SettingError, Values, combinations};

/// What a directive asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// `expect NAME: verdict ..`
    Expect {
        /// The property; `checks` for the built-in checks.
        property: String,
        /// What its verdict should be.
        verdict: Expected,
        /// Where.
        scope: ExpectedScope,
    },
    /// `states at ..: COUNT`
    States {
        /// The instances.
        instances: Vec<Values>,
        /// How many states each of them has.
        count: u64,
    },
}

/// The verdict that is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// `proved`
    Proved,
    /// `violated`
    Violated,
}

/// Where a verdict is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedScope {
    /// The whole claim.
    Claim,
    /// At each of these instances; parameters that are not named have their default.
    Instances(Vec<Values>),
    /// For every value of these parameters.
    ForAll(Vec<String>),
}

/// Why a directive cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectiveError {
    /// Neither `expect` nor `states`.
    #[error(
        "a directive begins with `expect` or `states`: `expect NAME: proved for all N`, `states at N=2: 12`"
    )]
    Unknown,
    /// `expect` without its shape.
    #[error(
        "expected `expect NAME: proved for all N`, `expect NAME: proved at N=2..4` or `expect NAME: violated at N=3`"
    )]
    Expect,
    /// Neither `proved` nor `violated`.
    #[error("expected `proved` or `violated`, not `{0}`")]
    Verdict(String),
    /// `violated for all N`.
    #[error(
        "`violated for all` cannot be expected: a violation is at one instance, so write `violated at ..`"
    )]
    ViolatedForAll,
    /// `states` without its shape.
    #[error("expected `states at N=2: 12`")]
    States,
    /// A bad value after `at`.
    #[error("after `at`: {0}")]
    At(#[from] SettingError),
}

impl Directive {
    /// Reads the text that follows `//@`.
    pub fn parse(text: &str) -> Result<Directive, DirectiveError> {
        let text = text.trim();
        if let Some(rest) = keyword(text, "expect") {
            let (name, rest) = rest.split_once(':').ok_or(DirectiveError::Expect)?;
            let name = name.trim();
            if name.is_empty() || name.contains(char::is_whitespace) {
                return Err(DirectiveError::Expect);
            }
            let (verdict, rest) = word(rest);
            let verdict = match verdict {
                "proved" => Expected::Proved,
                "violated" => Expected::Violated,
                "" => return Err(DirectiveError::Expect),
                other => return Err(DirectiveError::Verdict(other.to_owned())),
            };
            let scope = if rest.is_empty() {
                ExpectedScope::Claim
            } else if let Some(list) = keyword(rest, "at") {
                ExpectedScope::Instances(instances(list)?)
            } else if let Some(list) = keyword(rest, "for").and_then(|rest| keyword(rest, "all")) {
                if verdict == Expected::Violated {
                    return Err(DirectiveError::ViolatedForAll);
                }
                let names = list.split(',').map(|name| name.trim().to_owned());
                let names: Vec<String> = names.collect();
                if names.iter().any(|name| name.is_empty()) {
                    return Err(DirectiveError::Expect);
                }
                ExpectedScope::ForAll(names)
            } else {
                return Err(DirectiveError::Expect);
            };
            Ok(Directive::Expect {
                property: name.to_owned(),
                verdict,
                scope,
            })
        } else if let Some(rest) = keyword(text, "states") {
            let (place, count) = rest.rsplit_once(':').ok_or(DirectiveError::States)?;
            let count = count.trim().replace('_', "");
            let count = count.parse().map_err(|_| DirectiveError::States)?;
            let place = place.trim();
            let instances = if place.is_empty() {
                vec![Values::default()]
            } else {
                instances(keyword(place, "at").ok_or(DirectiveError::States)?)?
            };
            Ok(Directive::States { instances, count })
        } else {
            Err(DirectiveError::Unknown)
        }
    }
}

/// What follows a keyword, if the text begins with it.
fn keyword<'a>(text: &'a str, keyword: &str) -> Option<&'a str> {
    let rest = text.trim_start().strip_prefix(keyword)?;
    let ends = rest.chars().next();
    ends.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_')
        .then(|| rest.trim())
}

/// The first word, and the rest.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (text, ""),
    }
}

fn instances(list: &str) -> Result<Vec<Values>, DirectiveError> {
    let settings: Result<Vec<Setting>, _> = list.split(',').map(str::parse).collect();
    Ok(combinations(&settings?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Vec<Values> {
        instances(text).unwrap()
    }

    #[test]
    fn the_documented_forms_are_read() {
        let expect = |property: &str, verdict, scope| Directive::Expect {
            property: property.to_owned(),
            verdict,
            scope,
        };
        for (text, directive) in [
            (
                "expect mutex: proved at N=2..4",
                expect(
                    "mutex",
                    Expected::Proved,
                    ExpectedScope::Instances(at("N=2..4")),
                ),
            ),
            (
                "expect mutex: violated at N=2..3, M=3",
                expect(
                    "mutex",
                    Expected::Violated,
                    ExpectedScope::Instances(at("N=2..3,M=3")),
                ),
            ),
            (
                "expect checks: proved",
                expect("checks", Expected::Proved, ExpectedScope::Claim),
            ),
            (
                "expect mutex: proved for all N, M",
                expect(
                    "mutex",
                    Expected::Proved,
                    ExpectedScope::ForAll(vec!["N".to_owned(), "M".to_owned()]),
                ),
            ),
            (
                "states at N=2: 1_200",
                Directive::States {
                    instances: at("N=2"),
                    count: 1200,
                },
            ),
            (
                "states: 7",
                Directive::States {
                    instances: vec![Values::default()],
                    count: 7,
                },
            ),
        ] {
            assert_eq!(Directive::parse(text), Ok(directive), "{text}");
        }
    }

    #[test]
    fn anything_else_is_an_error() {
        for text in [
            "",
            "expects mutex: proved",
            "expect mutex proved",
            "expect : proved",
            "expect mutex:",
            "expect mutex: holds",
            "expect mutex: proved N=2",
            "expect mutex: proved at",
            "expect mutex: proved at N",
            "expect mutex: proved for all",
            "expect mutex: proved for every N",
            "expect mutex: violated for all N",
            "expect mutex: proved at N=4..2",
            "expect mutex: proved at N=1, N=2",
            "states at N=2",
            "states at N=2: many",
            "states N=2: 12",
            "states at N=2: -1",
        ] {
            assert!(Directive::parse(text).is_err(), "{text}");
        }
    }
}
