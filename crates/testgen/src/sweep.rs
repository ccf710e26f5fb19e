//! How many random programs a test looks at, and which.
//!
//! A test looks at the programs of the first seeds, which are the same each time: what they exercise is asserted. And it looks at a few fresh ones,
//! so that over time more are seen than anybody waits for; a message about one of them has its seed. Two variables change that:
//! `THREADWISE_SWEEP=10` asks for ten times as many of both (`scripts/nightly` does), and `THREADWISE_SEED=7` for the fresh ones from seed 7 on.

use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

/// One fresh program for so many that are always the same.
const FRESH: u64 = 20;

/// How many programs to look at where so many are usual.
pub fn programs(usual: u64) -> u64 {
    usual * variable("THREADWISE_SWEEP").unwrap_or(1)
}

/// A number of the environment.
pub fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// A number that is another one each time, beyond the seeds that are always looked at. It is printed.
fn fresh() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_micros() as u64 % (1 << 40));
    let fresh = variable("THREADWISE_SEED").unwrap_or(now + (1 << 30));
    println!("THREADWISE_SEED={fresh} repeats what is fresh here");
    fresh
}

/// Seeds of programs that nobody has looked at, beside so many that are always the same.
pub fn fresh_seeds(beside: u64) -> Range<u64> {
    let first = fresh();
    first..first + beside.div_ceil(FRESH)
}

/// Every so many of all, beginning with another one each time; all of them in a longer sweep.
pub fn part<T>(mut all: Vec<T>, every: u64) -> Vec<T> {
    if programs(1) == 1 {
        let first = fresh();
        let mut place = 0;
        all.retain(|_| {
            place += 1;
            (first + place).is_multiple_of(every)
        });
    }
    all
}
