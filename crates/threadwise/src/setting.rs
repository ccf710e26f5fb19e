//! Parameter values as people give them: `N=4`, `N=2..5`, and the instances a list of them names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use threadwise_lang::program::Program;

/// How many instances one sweep may have.
const MOST_INSTANCES: u64 = 10_000;

/// A parameter with the values it is to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The parameter.
    pub name: String,
    /// Its values; never empty.
    pub values: RangeInclusive<i64>,
}

/// Why a text is no setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// Not `NAME=..`.
    #[error("expected NAME=VALUE or NAME=LO..HI, such as N=4 or N=2..5")]
    Shape,
    /// Not a number.
    #[error("`{0}` is not an integer of 64 bits")]
    Number(String),
    /// Several values, in another notation than ours.
    #[error("`{given}` is not a value: a range is written {meant}")]
    RangeNotation {
        /// What was written.
        given: String,
        /// What was probably meant.
        meant: String,
    },
    /// A list of values.
    #[error("`{0}` is not a value: give one value, or a range LO..HI for each value from LO to HI")]
    List(String),
    /// `5..2`
    #[error("the range {0}..{1} is empty: the lower bound comes first")]
    Empty(i64, i64),
    /// The same parameter in two settings.
    #[error("parameter `{0}` is set twice; for several values write a range, {0}=LO..HI")]
    Twice(String),
    /// A sweep over too many instances.
    #[error("the sweep has more than {MOST_INSTANCES} instances; give smaller ranges")]
    TooMany,
}

impl FromStr for Setting {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let (name, value) = text.split_once('=').ok_or(SettingError::Shape)?;
        let (name, value) = (name.trim(), value.trim());
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !named || value.is_empty() {
            return Err(SettingError::Shape);
        }
        if let Some(error) = other_notation(name, value) {
            return Err(error);
        }
        let number = |text: &str| {
            let text = text.trim();
            text.parse::<i64>()
                .map_err(|_| SettingError::Number(text.to_owned()))
        };
        let values = match value.split_once("..") {
            None => {
                let value = number(value)?;
                value..=value
            }
            Some((lo, hi)) => {
                let (lo, hi) = (number(lo)?, number(hi)?);
                if lo > hi {
                    return Err(SettingError::Empty(lo, hi));
                }
                lo..=hi
            }
        };
        Ok(Setting {
            name: name.to_owned(),
            values,
        })
    }
}

/// What is wrong with several values that are not written as a range: `2...4`, `2..=4`, `2-4`, `2:4`, `2,3`.
fn other_notation(name: &str, value: &str) -> Option<SettingError> {
    let numbers: Result<Vec<i64>, _> = value
        .split(',')
        .map(|part| part.trim().parse::<i64>())
        .collect();
    match numbers {
        Ok(numbers) if numbers.len() > 1 => {
            let consecutive = numbers
                .windows(2)
                .all(|pair| pair[0].checked_add(1) == Some(pair[1]));
            return Some(if consecutive {
                let (lo, hi) = (numbers[0], numbers[numbers.len() - 1]);
                SettingError::RangeNotation {
                    given: value.to_owned(),
                    meant: format!("{name}={lo}..{hi}"),
                }
            } else {
                SettingError::List(value.to_owned())
            });
        }
        _ => {}
    }
    for between in ["...", "..=", "-", ":", "..<"] {
        // The sign of the first number is not what stands between the two.
        let from = usize::from(value.starts_with('-'));
        let Some(at) = value[from..].find(between).map(|at| at + from) else {
            continue;
        };
        let (lo, hi) = (&value[..at], &value[at + between.len()..]);
        if let (Ok(lo), Ok(hi)) = (lo.trim().parse::<i64>(), hi.trim().parse::<i64>()) {
            let hi = if between == "..<" {
                hi.saturating_sub(1)
            } else {
                hi
            };
            return Some(SettingError::RangeNotation {
                given: value.to_owned(),
                meant: format!("{name}={lo}..{hi}"),
            });
        }
    }
    None
}

impl Setting {
    /// Whether there is more than one value.
    pub fn is_sweep(&self) -> bool {
        self.values.start() != self.values.end()
    }
}

/// Every combination of the settings' values; the last setting changes fastest.
///
/// Without settings there is one combination, the empty one.
pub fn combinations(settings: &[Setting]) -> Result<Vec<Values>, SettingError> {
    let mut seen = BTreeSet::new();
    let mut total: u64 = 1;
    for setting in settings {
        if !seen.insert(&setting.name) {
            return Err(SettingError::Twice(setting.name.clone()));
        }
        let distance = setting.values.end().abs_diff(*setting.values.start());
        total = distance
            .checked_add(1)
            .and_then(|count| total.checked_mul(count))
            .filter(|total| *total <= MOST_INSTANCES)
            .ok_or(SettingError::TooMany)?;
    }
    let mut all = vec![Values::default()];
    for setting in settings {
        all = all
            .iter()
            .flat_map(|values| {
                setting.values.clone().map(|value| {
                    let mut values = values.clone();
                    values.0.push((setting.name.clone(), value));
                    values
                })
            })
            .collect();
    }
    Ok(all)
}

/// Values of parameters, in order; an object in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Values(pub Vec<(String, i64)>);

impl Values {
    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<i64> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    }

    /// The same values, in the order of the program's parameters. Those of other names are left out.
    pub(crate) fn in_order(&self, program: &Program) -> Values {
        let names = program.params.iter().map(|param| &param.name);
        Values(
            names
                .filter_map(|name| Some((name.clone(), self.get(name)?)))
                .collect(),
        )
    }

    /// The same values by name.
    pub(crate) fn map(&self) -> BTreeMap<String, i64> {
        self.0.iter().cloned().collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, value)) in self.0.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Values;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of integers")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Values, M::Error> {
                let mut values = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    values.push(entry);
                }
                Ok(Values(values))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Setting {
        text.parse().unwrap()
    }

    #[test]
    fn settings_are_read_and_refused() {
        assert_eq!(set("N=4").values, 4..=4);
        assert_eq!(set("N = 2..5").values, 2..=5);
        assert_eq!(set("low=-3..-1").values, -3..=-1);
        assert!(!set("N=4").is_sweep() && set("N=4..5").is_sweep());
        for (text, error) in [
            ("N", SettingError::Shape),
            ("N=", SettingError::Shape),
            ("=4", SettingError::Shape),
            ("4=4", SettingError::Shape),
            ("N=four", SettingError::Number("four".to_owned())),
            (
                "N=9223372036854775808",
                SettingError::Number("9223372036854775808".to_owned()),
            ),
            ("N=5..2", SettingError::Empty(5, 2)),
        ] {
            assert_eq!(text.parse::<Setting>(), Err(error), "{text}");
        }
    }

    #[test]
    fn other_notations_for_ranges_are_answered_with_ours() {
        for text in ["N=2...4", "N=2..=4", "N=2-4", "N=2:4", "N=2,3,4", "N=2 - 4"] {
            let error = text.parse::<Setting>().unwrap_err().to_string();
            assert!(error.contains("is written N=2..4"), "{text}: {error}");
        }
        let error = "N=2,5".parse::<Setting>().unwrap_err().to_string();
        assert!(error.contains("LO..HI"), "{error}");
        let error = "N=-4--2".parse::<Setting>().unwrap_err().to_string();
        assert!(error.contains("N=-4..-2"), "{error}");
    }

    #[test]
    fn sweeps_multiply_and_the_last_changes_fastest() {
        let all = combinations(&[set("N=2..3"), set("M=0..1")]).unwrap();
        let shown: Vec<String> = all.iter().map(Values::to_string).collect();
        assert_eq!(shown, ["N=2, M=0", "N=2, M=1", "N=3, M=0", "N=3, M=1"]);
        assert_eq!(combinations(&[]).unwrap(), [Values::default()]);
    }

    #[test]
    fn a_sweep_is_bounded_and_names_are_distinct() {
        let whole = format!("N={}..{}", i64::MIN, i64::MAX);
        assert_eq!(combinations(&[set(&whole)]), Err(SettingError::TooMany));
        let many = [set("N=1..101"), set("M=1..100")];
        assert_eq!(combinations(&many), Err(SettingError::TooMany));
        let twice = [set("N=1"), set("N=2")];
        assert_eq!(
            combinations(&twice),
            Err(SettingError::Twice("N".to_owned()))
        );
    }

    #[test]
    fn values_keep_their_order_in_json() {
        let values = Values(vec![("N".to_owned(), 3), ("M".to_owned(), -1)]);
        let json = serde_json::to_string(&values).unwrap();
        assert_eq!(json, r#"{"N":3,"M":-1}"#);
        assert_eq!(serde_json::from_str::<Values>(&json).unwrap(), values);
    }
}
