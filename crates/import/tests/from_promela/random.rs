//! Random programs: SPIN and we find the same.
//!
//! `PROMELA_PROGRAMS` asks for another number of programs, `PROMELA_SEED` for others, and `PROMELA_FOUND` names a directory for
//! the programs on which there is a difference, made small.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::common::scratch;
use crate::from_promela::corpus::{ACCEPTANCE, CHECKS, CLAIM, ENDS, PROGRESS, each};
use crate::from_promela::generator::{CONSTRUCTS, Program, generate};
use crate::from_promela::ours;
use crate::from_promela::reduce::reduce;
use crate::from_promela::spin::{self, Failure, Safety, Spin};

/// How many programs are tried, and how many of a fresh seed.
const PROGRAMS: u64 = 700;
/// How many of these have to be compared.
const LEAST_COMPARED: usize = 500;
const FRESH: u64 = 40;
/// More states than programs that are compared have; ours may have some between, in the middle of a step of SPIN's.
const MOST_STATES: u64 = 300_000;
/// Programs with more states are not compared.
const MOST_FOR_SPIN: u64 = 20_000;
/// A program that takes longer is worth a look.
const SLOW: Duration = Duration::from_secs(5);

/// How many programs with a difference are made smaller.
pub const MOST_REDUCED: usize = 12;

/// What the translator says when it has written a model that is none.
const INTERNAL: &str = "the model that was written for this program";

/// What came of one program.
pub enum Comparison {
    /// SPIN does not answer.
    Spin(Failure),
    /// We refuse it.
    Refused(String),
    Compared(Sample),
}

pub struct Sample {
    pub safety: Safety,
    /// Whether each formula is violated, by SPIN.
    pub formulas: Vec<bool>,
    /// Whether there are cycles that labels speak of, by SPIN.
    pub cycles: Vec<bool>,
    /// Formulas that our engine does not decide.
    pub undecided: usize,
    pub differences: Vec<String>,
}

pub fn compare(
    name: &str,
    text: &str,
    defines: &[(String, String)],
    formulas: &[String],
) -> Comparison {
    let spin = Spin::new(&scratch(name), text, defines).small();
    let safety = match spin.safety() {
        Ok(safety) if safety.states > MOST_FOR_SPIN => return Comparison::Spin(Failure::TooLarge),
        Ok(safety) => safety,
        Err(failure) => return Comparison::Spin(failure),
    };
    let decided = catch_unwind(AssertUnwindSafe(|| {
        let imported = ours::imported(name, text, defines)?;
        Ok::<_, String>(ours::decide(
            &ours::system(name, &imported.text()),
            MOST_STATES,
        ))
    }));
    let mut sample = Sample {
        safety: safety.clone(),
        formulas: Vec::new(),
        cycles: Vec::new(),
        undecided: 0,
        differences: Vec::new(),
    };
    let decided = match decided {
        Ok(Ok(Some(decided))) => decided,
        Ok(Ok(None)) => {
            sample.differences.push("too many states".to_owned());
            return Comparison::Compared(sample);
        }
        // That is no fault of the program.
        Ok(Err(why)) if why.contains(INTERNAL) => {
            sample.differences.push(format!("internal: {why}"));
            return Comparison::Compared(sample);
        }
        Ok(Err(why)) => return Comparison::Refused(why),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text
                .or(panic.downcast_ref::<&str>().copied())
                .unwrap_or("?");
            // A model that is larger than what a model may be has to be refused with a place in the program.
            sample.differences.push(format!("panic: {text}"));
            return Comparison::Compared(sample);
        }
    };
    // Where checks fail SPIN goes on, but a run of ours ends: then SPIN may find more.
    let fails = safety.checks_violated;
    let mut verdicts = vec![
        (CHECKS, safety.checks_violated),
        (ENDS, safety.ends_violated),
    ];
    for formula in formulas {
        match spin.claim(Some(formula)) {
            Ok(violated) => {
                sample.formulas.push(violated);
                verdicts.push((formula, violated));
            }
            Err(Failure::TooLarge) => {}
            Err(failure) => return Comparison::Spin(failure),
        }
    }
    // With a formula or a claim SPIN looks for no other cycles.
    let labelled = |prefix: &str| {
        let mut lines = text.lines();
        formulas.is_empty() && lines.any(|line| line.trim_start().starts_with(prefix))
    };
    let cycles: &[&str] = match (labelled("never"), labelled("accept"), labelled("progress")) {
        (true, _, _) => &[CLAIM],
        (false, true, true) => &[ACCEPTANCE, PROGRESS],
        (false, true, false) => &[ACCEPTANCE],
        (false, false, true) => &[PROGRESS],
        (false, false, false) => &[],
    };
    for &property in cycles {
        let violated = if property == PROGRESS {
            spin.non_progress()
        } else {
            spin.claim(None)
        };
        match violated {
            Ok(violated) => {
                sample.cycles.push(violated);
                verdicts.push((property, violated));
            }
            Err(Failure::TooLarge) => {}
            Err(failure) => return Comparison::Spin(failure),
        }
    }
    for (property, theirs) in verdicts {
        let mine = decided.verdict(property);
        if decided.undecided.contains(property) {
            sample.undecided += 1;
            continue;
        }
        if property == ENDS && mine.is_none() && !formulas.is_empty() {
            // With a claim SPIN does not check end states, unless it is told to leave the claim out.
            continue;
        }
        let same = if fails && property != CHECKS {
            mine == Some(false) || theirs
        } else {
            mine == Some(theirs)
        };
        if !same {
            sample.differences.push(format!(
                "{property}: violated is {theirs} for SPIN, {mine:?} for us"
            ));
        }
    }
    if !fails && safety.states != decided.states {
        sample.differences.push(format!(
            "states: {} for SPIN, {} for us",
            safety.states, decided.states
        ));
    }
    Comparison::Compared(sample)
}

/// The first words of a difference: what kind it is.
fn kind(difference: &str) -> &str {
    difference.split(':').next().unwrap()
}

pub fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// A seed that differs from run to run, and is printed.
pub fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = now.map_or(0, |now| now.as_nanos() as u64) >> 10;
    println!("fresh programs begin with seed {seed}");
    seed
}

#[test]
fn same_verdicts_and_states() {
    if spin::skip() {
        return;
    }
    let first: u64 = variable("PROMELA_SEED").unwrap_or(0);
    let count = variable("PROMELA_PROGRAMS").unwrap_or(PROGRAMS);
    let fresh = fresh_seed();
    let seeds: Vec<u64> = (first..first + count).chain(fresh..fresh + FRESH).collect();
    let quality = Mutex::new(Quality::default());
    let different: Mutex<BTreeMap<u64, String>> = Mutex::default();
    let reduced = AtomicUsize::new(0);
    each(&seeds, |&seed| {
        let program = generate(seed);
        let name = format!("random-{seed}");
        let begun = Instant::now();
        let result = compare(&name, &program.text, &[], &program.formulas);
        if begun.elapsed() > SLOW {
            println!("seed {seed} took {:?}", begun.elapsed());
        }
        if let Comparison::Compared(sample) = &result
            && !sample.differences.is_empty()
        {
            let found = if reduced.fetch_add(1, Ordering::Relaxed) < MOST_REDUCED {
                let (text, what) = shrunk(&name, &program, &sample.differences);
                format!("{what}\n{text}")
            } else {
                sample.differences.join("; ")
            };
            different.lock().unwrap().insert(seed, found);
        }
        // What is asked of the figures is asked of programs that are always the same.
        if seed < fresh {
            quality.lock().unwrap().add(&program, &result);
        }
        let _ = std::fs::remove_dir_all(scratch(&name));
    });
    let quality = quality.into_inner().unwrap();
    quality.print();
    let different = different.into_inner().unwrap();
    let list: Vec<String> = different
        .iter()
        .map(|(seed, what)| format!("seed {seed}: {what}"))
        .collect();
    assert!(
        list.is_empty(),
        "{} of {} programs:\n{}",
        list.len(),
        seeds.len(),
        list.join("\n")
    );
    if count >= PROGRAMS {
        quality.assert();
    }
}

/// The program made small, and what is then different.
pub fn shrunk(name: &str, program: &Program, differences: &[String]) -> (String, String) {
    let name = format!("reduced-{name}");
    let difference = &differences[0];
    let mut last = differences.to_vec();
    let text = reduce(&program.text, 250, |text| {
        let formulas: Vec<String> = program
            .formulas
            .iter()
            .filter(|f| text.contains(&format!("ltl {f} ")))
            .cloned()
            .collect();
        match compare(&name, text, &[], &formulas) {
            Comparison::Compared(sample)
                if sample
                    .differences
                    .iter()
                    .any(|other| kind(other) == kind(difference)) =>
            {
                last = sample.differences;
                true
            }
            _ => false,
        }
    });
    let _ = std::fs::remove_dir_all(scratch(&name));
    let last = last.join("; ").replace('\n', " ");
    if let Some(dir) = std::env::var_os("PROMELA_FOUND") {
        std::fs::create_dir_all(&dir).unwrap();
        let path = Path::new(&dir).join(format!("{}-{name}.pml", kind(difference)));
        std::fs::write(path, format!("// {last}\n{text}")).unwrap();
    }
    (text, last)
}

/// Figures over many programs: whether the comparison is worth something.
#[derive(Default)]
pub struct Quality {
    constructs: BTreeMap<&'static str, usize>,
    states: Vec<u64>,
    compared: usize,
    too_large: usize,
    checks: usize,
    ends: usize,
    neither: usize,
    formulas: [usize; 2],
    cycles: [usize; 2],
    undecided: usize,
    spin_refused: BTreeMap<String, usize>,
    refused: BTreeMap<String, usize>,
}

impl Quality {
    pub fn add(&mut self, program: &Program, result: &Comparison) {
        match result {
            Comparison::Spin(Failure::TooLarge) => self.too_large += 1,
            Comparison::Spin(Failure::Refused(why)) => {
                *self.spin_refused.entry(why.clone()).or_default() += 1
            }
            Comparison::Refused(why) => *self.refused.entry(why.clone()).or_default() += 1,
            Comparison::Compared(sample) => {
                self.compared += 1;
                self.states.push(sample.safety.states);
                self.checks += usize::from(sample.safety.checks_violated);
                self.ends += usize::from(sample.safety.ends_violated);
                self.neither +=
                    usize::from(!sample.safety.checks_violated && !sample.safety.ends_violated);
                self.undecided += sample.undecided;
                for &violated in &sample.formulas {
                    self.formulas[usize::from(violated)] += 1;
                }
                for &violated in &sample.cycles {
                    self.cycles[usize::from(violated)] += 1;
                }
                for construct in &program.constructs {
                    *self.constructs.entry(construct).or_default() += 1;
                }
            }
        }
    }

    fn share(&self, count: usize) -> usize {
        count * 100 / self.compared.max(1)
    }

    fn count(&self, construct: &str) -> usize {
        self.constructs.get(construct).copied().unwrap_or(0)
    }

    fn above(&self, states: u64) -> usize {
        self.states.iter().filter(|&&n| n >= states).count()
    }

    pub fn print(&self) {
        println!("{} compared, {} too large", self.compared, self.too_large);
        for (who, refused) in [("SPIN", &self.spin_refused), ("we", &self.refused)] {
            let all: usize = refused.values().sum();
            println!("{who} refused {all}");
            for (why, count) in refused {
                println!("  {count}: {why}");
            }
        }
        println!(
            "violated: checks {}%, end states {}%, neither {}%",
            self.share(self.checks),
            self.share(self.ends),
            self.share(self.neither)
        );
        println!(
            "formulas: {} hold, {} do not, {} are not decided",
            self.formulas[0], self.formulas[1], self.undecided
        );
        println!(
            "labels of cycles: {} without cycles, {} with",
            self.cycles[0], self.cycles[1]
        );
        for states in [10, 100, 1000, 10_000] {
            println!(
                "{states} states and more: {}%",
                self.share(self.above(states))
            );
        }
        for (construct, _) in CONSTRUCTS {
            println!("{construct:28} {:3}%", self.share(self.count(construct)));
        }
    }

    fn assert(&self) {
        let spin_refused: usize = self.spin_refused.values().sum();
        let refused: usize = self.refused.values().sum();
        assert!(
            self.compared >= LEAST_COMPARED,
            "only {} programs were compared",
            self.compared
        );
        assert!(
            spin_refused * 20 < self.compared,
            "SPIN refused {spin_refused}"
        );
        assert!(refused * 5 < self.compared, "we refused {refused}");
        let mut low = Vec::new();
        let mut figure = |name: &str, count: usize, least: usize| {
            if self.share(count) < least {
                low.push(format!(
                    "{name}: {}%, less than {least}%",
                    self.share(count)
                ));
            }
        };
        figure("checks violated", self.checks, 10);
        figure("end states violated", self.ends, 20);
        figure("neither violated", self.neither, 15);
        figure("10 states", self.above(10), 60);
        figure("100 states", self.above(100), 25);
        figure("1000 states", self.above(1000), 8);
        for &(construct, least) in CONSTRUCTS {
            figure(construct, self.count(construct), least);
        }
        assert!(low.is_empty(), "{}", low.join("\n"));
        let [hold, fail] = self.formulas;
        assert!(
            self.undecided * 5 < hold + fail,
            "{} formulas are not decided",
            self.undecided
        );
        assert!(
            hold >= 30 && fail >= 30,
            "{hold} formulas hold, {fail} do not"
        );
        let [without, with] = self.cycles;
        assert!(
            without >= 5 && with >= 5,
            "labels of cycles: {without} without cycles, {with} with"
        );
    }
}
