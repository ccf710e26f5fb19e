//! Every construct inside every other: SPIN and we find the same.
//!
//! For each pair there are programs that are centred on it, one after the other until SPIN and we were compared on one, with the number of its states if
//! possible. A pair is compared, or SPIN refuses it, or we do, as the tables of constructs say; there may be few that we refuse.
//!
//! A quarter of the pairs is looked at each time, another one each time; all of them if more is asked for: `THREADWISE_SWEEP=2` does,
//! `PROMELA_ROUNDS` asks for several programs for each pair, `PROMELA_SEED` for others, `PROMELA_PAIR` (`Atomic,Send`, or a part of it) for some pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::scratch;
use crate::from_promela::corpus::each;
use crate::from_promela::generator::centred;
use crate::from_promela::generator::constructs::{ALL, Construct, forbidden, pairs, refused};
use crate::from_promela::random::{
    Comparison, MOST_REDUCED, Quality, compare, fresh_seed, shrunk, variable,
};
use crate::from_promela::spin::{self, Failure};
use threadwise_testgen::sweep::part;

type Pair = (Construct, Construct);

/// How many programs are tried until one of them is compared.
const ATTEMPTS: u64 = 6;
/// Pairs that get a program of a fresh seed as well: every so many.
const FRESH: u64 = 20;
/// One of so many parts of all pairs is looked at for every change.
const PARTS: u64 = 4;

/// Programs with a difference that were made smaller.
static REDUCED: AtomicUsize = AtomicUsize::new(0);

/// What came of the programs for one pair.
#[derive(Debug, Default)]
struct Tried {
    compared: usize,
    /// Of these, with the number of states.
    counted: usize,
    spin_refused: BTreeSet<String>,
    refused: BTreeSet<String>,
    different: Vec<String>,
}

impl Tried {
    /// Adds what came of one program; true if nothing more is asked of the pair.
    fn add(&mut self, pair: Pair, seed: u64, result: Comparison) -> bool {
        match result {
            Comparison::Spin(Failure::TooLarge) => false,
            Comparison::Spin(Failure::Refused(why)) => {
                self.spin_refused.insert(why);
                forbidden(pair.0, pair.1).is_some()
            }
            Comparison::Refused(why) => {
                self.refused.insert(why);
                refused(pair.0, pair.1).is_some()
            }
            Comparison::Compared(sample) if !sample.differences.is_empty() => {
                let what = sample.differences.join("; ");
                self.different
                    .push(format!("{pair:?}, seed {seed}: {what}"));
                true
            }
            Comparison::Compared(sample) => {
                let about = matches!(pair.0, Construct::Never | Construct::Ltl);
                if about && sample.undecided > 0 {
                    return false;
                }
                self.compared += 1;
                let counted = !sample.safety.checks_violated;
                self.counted += usize::from(counted);
                counted && refused(pair.0, pair.1).is_none()
            }
        }
    }
}

#[derive(Default)]
struct Table {
    pairs: BTreeMap<Pair, Tried>,
    quality: Quality,
    /// How often each pair occurred in a program that was compared, whatever the program was made for.
    occurred: BTreeMap<Pair, usize>,
}

impl Table {
    /// Tries one program, and says whether that is enough for the pair.
    fn attempt(table: &Mutex<Table>, pair: Pair, seed: u64) -> bool {
        let program = centred(pair.0, pair.1, seed);
        assert!(program.pairs.contains(&pair), "{pair:?}\n{}", program.text);
        let name = format!("pair-{:?}-{:?}-{seed}", pair.0, pair.1);
        let mut result = compare(&name, &program.text, &[], &program.formulas);
        if let Comparison::Compared(sample) = &mut result
            && !sample.differences.is_empty()
            && REDUCED.fetch_add(1, Ordering::Relaxed) < MOST_REDUCED
        {
            let (text, what) = shrunk(&name, &program, &sample.differences);
            sample.differences = vec![format!("{what}\n{text}")];
        }
        let _ = std::fs::remove_dir_all(scratch(&name));
        let mut table = table.lock().unwrap();
        table.quality.add(&program, &result);
        if let Comparison::Compared(_) = result {
            for &pair in &program.pairs {
                *table.occurred.entry(pair).or_default() += 1;
            }
        }
        table.pairs.entry(pair).or_default().add(pair, seed, result)
    }

    /// A row for each construct: in how many programs others stood in it.
    fn print(&self) {
        let mut text = String::new();
        for &(outer, _) in ALL {
            let of: Vec<String> = self
                .occurred
                .iter()
                .filter(|((other, _), _)| *other == outer)
                .map(|((_, inner), count)| format!("{inner:?} {count}"))
                .collect();
            if !of.is_empty() {
                let _ = writeln!(text, "{outer:?}: {}", of.join(", "));
            }
        }
        println!("in programs that were compared:\n{text}");
        for (pair, tried) in &self.pairs {
            if tried.compared == 0 && !tried.refused.is_empty() {
                let whys: Vec<&str> = tried.refused.iter().map(String::as_str).collect();
                println!("we refuse {pair:?}: {}", whys.join(" | "));
            }
        }
    }

    fn assert(&self) {
        let [mut compared, mut counted] = [0; 2];
        let mut wrong = Vec::new();
        for (&(outer, inner), tried) in &self.pairs {
            compared += usize::from(tried.compared > 0);
            counted += usize::from(tried.counted > 0);
            let says = |whys: &BTreeSet<String>, words: &str| {
                !whys.is_empty() && whys.iter().all(|why| why.contains(words))
            };
            let expected = match (forbidden(outer, inner), refused(outer, inner)) {
                (Some(words), _) => tried.compared == 0 && says(&tried.spin_refused, words),
                (None, Some(words)) => says(&tried.refused, words),
                (None, None) => tried.compared > 0,
            };
            if !expected {
                wrong.push(format!("{outer:?}, {inner:?}: {tried:?}"));
            }
        }
        let all = pairs();
        let ours = |&&(outer, inner): &&Pair| {
            forbidden(outer, inner).is_none() && refused(outer, inner).is_some()
        };
        let without = all.iter().filter(ours).count();
        println!(
            "{} of {} pairs: {compared} compared, {counted} with their states; we refuse {without} of all",
            self.pairs.len(),
            all.len()
        );
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(without * 10 < all.len(), "we refuse {without} pairs");
        assert!(counted * 100 >= compared * 98, "states of {counted} pairs");
    }
}

#[test]
fn every_pair_of_constructs() {
    if spin::skip() {
        return;
    }
    let first: u64 = variable("PROMELA_SEED").unwrap_or(0);
    let rounds: u64 = variable("PROMELA_ROUNDS").unwrap_or(1);
    let only: String = variable("PROMELA_PAIR").unwrap_or_default();
    let named = |(outer, inner): &Pair| format!("{outer:?},{inner:?}").contains(&only);
    let mut wanted: Vec<Pair> = pairs().into_iter().filter(named).collect();
    let fresh = fresh_seed();
    if only.is_empty() && rounds == 1 {
        wanted = part(wanted, PARTS);
    }
    let table: Mutex<Table> = Mutex::default();
    let jobs: Vec<(usize, Pair)> = wanted.into_iter().enumerate().collect();
    each(&jobs, |&(at, pair)| {
        for round in 0..rounds {
            let begin = first + round * ATTEMPTS;
            let _ = (begin..begin + ATTEMPTS).any(|seed| Table::attempt(&table, pair, seed));
        }
        let expected = forbidden(pair.0, pair.1).or(refused(pair.0, pair.1));
        if expected.is_none() && (at as u64 + fresh).is_multiple_of(FRESH) {
            Table::attempt(&table, pair, fresh);
        }
    });
    let table = table.into_inner().unwrap();
    table.quality.print();
    table.print();
    let different: Vec<&str> = table
        .pairs
        .values()
        .flat_map(|tried| tried.different.iter().map(String::as_str))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
    if only.is_empty() {
        table.assert();
    }
}
