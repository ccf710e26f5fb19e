//! Dividing a list of units of work among several processes, without any word between them: of `K`, the first takes the units 0, K, 2K .., the second 1, K+1 .. Neighbours
//! in the list take about as long, so every process gets some of each kind.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One of the processes: `2/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Share {
    /// Which, from 1.
    number: usize,
    /// Of how many.
    of: usize,
}

impl Share {
    /// All the work.
    pub const ALL: Share = Share { number: 1, of: 1 };

    /// Whether a unit is among those of this process.
    pub fn has(self, unit: usize) -> bool {
        unit % self.of == self.number - 1
    }

    /// The one of as many processes that has a unit.
    pub fn with(self, unit: usize) -> Share {
        Share {
            number: unit % self.of + 1,
            of: self.of,
        }
    }

    /// Where this process writes its results.
    pub fn file(self, directory: &Path) -> PathBuf {
        directory.join(format!("{}-of-{}.jsonl", self.number, self.of))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        /// More processes than any cluster has.
        const MOST: usize = 1_000_000;
        let (number, of) = text.split_once('/').ok_or(EXPECTED)?;
        let number = number.parse().map_err(|_| EXPECTED)?;
        let of = of.parse().map_err(|_| EXPECTED)?;
        match (1..=of).contains(&number) && of <= MOST {
            true => Ok(Share { number, of }),
            false => Err(format!(
                "the first number goes from 1 to the second, which is at most {MOST}: 1/4, 2/4, 3/4, 4/4"
            )),
        }
    }
}

const EXPECTED: &str = "expected I/K, the I-th of K shares, such as 2/4";

impl From<Share> for String {
    fn from(share: Share) -> String {
        share.to_string()
    }
}

impl TryFrom<String> for Share {
    type Error = String;

    fn try_from(text: String) -> Result<Share, String> {
        text.parse()
    }
}

/// The files of results in a directory, in the order of their names.
pub fn files(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_in_one_share() {
        let shares: Vec<Share> = (1..=5).map(|number| Share { number, of: 5 }).collect();
        for unit in 0..23 {
            let with: Vec<&Share> = shares.iter().filter(|share| share.has(unit)).collect();
            assert_eq!(with, [&shares[0].with(unit)]);
        }
        assert!((0..23).all(|unit| Share::ALL.has(unit)));
    }

    #[test]
    fn shares_are_written_as_they_are_read() {
        assert_eq!("2/4".parse::<Share>().unwrap().to_string(), "2/4");
        for wrong in ["", "2", "0/4", "5/4", "1/0", "-1/4", "a/b", "1/1000001"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }
}
