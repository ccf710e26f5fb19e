//! Small instances of a program, one after the other.
//!
//! Most wrong programs go wrong with a handful of processes, and a run of an instance is the best answer that there is. So small instances come first:
//! all values of the open parameters for which there are few processes, as `where` allows, the smallest first, each
//! searched by the explicit engine up to symmetry and within a fixed number of states. Nothing is proved here, of whatever is
//! not found: that is for those who look at all instances. They get the states that were visited as samples, which no assertion of theirs may exclude.
//!
//! An integer without bounds that begins with any value begins here with one of a few. Runs and samples are of the program all the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_engine::{Answer, Counterexample, Engine, Limits, Observer, Progress, Stop, Work};
use threadwise_explicit::Explicit;
use threadwise_lang::program::Program;
use threadwise_model::family::is_slot;
use threadwise_model::instance::Instance;
use threadwise_model::layout::unflatten;
use threadwise_model::lower::lower_unbounded;
use threadwise_model::state::State;
use threadwise_model::system::{CellDomain, CellInitial, Scope, System, SystemProperty, SystemVar};

/// How far a search of instances goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Instances with a handful of processes.
    Small,
    /// Those with more, which are looked at if neither a violation nor a proof is found otherwise.
    Larger,
    /// Those with more than that, after them: they grow in one parameter at a time, and each is given up for once it has many states. What goes wrong
    /// with the twentieth process only often has few states up to symmetry.
    Far,
}

impl Reach {
    /// Processes that an instance begins with at most, if there are so small instances.
    fn processes(self) -> u32 {
        match self {
            Reach::Small => 4,
            Reach::Larger => 12,
            Reach::Far => 40,
        }
    }

    /// The values that are tried for an open parameter, beside those near its default.
    fn parameter(self) -> std::ops::RangeInclusive<i64> {
        match self {
            Reach::Small => -1..=5,
            Reach::Larger => -1..=13,
            Reach::Far => 0..=40,
        }
    }

    /// States that a search for violations visits of one instance.
    fn states(self) -> u64 {
        match self {
            Reach::Small => 20_000,
            Reach::Larger => 60_000,
            Reach::Far => 5_000,
        }
    }

    /// States that it visits of all of them.
    fn all_states(self) -> u64 {
        match self {
            Reach::Small | Reach::Larger => 200_000,
            Reach::Far => 24_000,
        }
    }

    /// The work that it takes for all of them: states of many processes that ids relate to one another are dear.
    fn work(self) -> u64 {
        match self {
            Reach::Small => u64::MAX,
            Reach::Larger => 24_000_000,
            Reach::Far => 60_000_000,
        }
    }
}

/// Instances at most.
const INSTANCES: usize = 48;
/// Combinations of values that are tried at most.
const COMBINATIONS: usize = 20_000;
/// Cells that the states of all instances may have together: fewer states of greater ones.
const CELLS: u64 = 1_500_000;
/// Room for processes of a template that begins empty, at first and at last.
const FIRST_CAPACITY: u32 = 2;
const LAST_CAPACITY: u32 = 16;
/// Initial states that integers without bounds make at most.
const BEGINNINGS: u64 = 64;

/// What a search of small instances found.
#[derive(Debug)]
pub struct Found {
    /// For each property asked about, where it does not hold, if it was found.
    pub violations: Vec<Option<Counterexample>>,
    /// States visited, up to symmetry, of all instances together.
    pub states: u64,
    /// Cells that these have together.
    cells: u64,
    /// Instances that were searched.
    pub instances: usize,
    /// The greatest number of processes that one of them began with.
    pub processes: u32,
    /// Why it ended early, if it was told to.
    pub stopped: Option<Stop>,
}

impl Found {
    /// What is found where nobody looks.
    pub(crate) fn nothing(properties: usize) -> Found {
        Found {
            violations: (0..properties).map(|_| None).collect(),
            states: 0,
            cells: 0,
            instances: 0,
            processes: 0,
            stopped: None,
        }
    }
}

/// States of an instance.
#[derive(Debug)]
pub struct Sample {
    /// The instance.
    pub instance: Instance,
    /// Reachable states, breadth first, one of all that differ only in who is who.
    pub states: Vec<State>,
    /// Whether these are all of them.
    pub complete: bool,
}

/// The small instances of a program with these values of some parameters, the smallest first: those with
/// few processes, or the smallest that there are. Values for which there is no instance are left out.
pub fn instances(
    program: &Arc<Program>,
    fixed: &BTreeMap<String, i64>,
    reach: Reach,
) -> Vec<Instance> {
    let mut found: Vec<(u32, u64, Instance)> = Vec::new();
    for values in combinations(program, fixed, reach) {
        if let Ok(instance) = Instance::new(Arc::clone(program), &values) {
            let open = values.iter().filter(|(name, _)| !fixed.contains_key(*name));
            let size = open.fold(0u64, |sum, (_, value)| {
                sum.saturating_add(value.unsigned_abs())
            });
            found.push((processes(&instance), size, instance));
        }
    }
    let least = found.iter().map(|(processes, ..)| *processes).min();
    let most = least.map_or(0, |least| reach.processes().max(least.saturating_add(1)));
    found.retain(|(processes, ..)| *processes <= most);
    if reach == Reach::Larger {
        let before = least.map_or(0, |least| {
            Reach::Small.processes().max(least.saturating_add(1))
        });
        found.retain(|(processes, size, _)| {
            *processes > before || *size > *Reach::Small.parameter().end() as u64
        });
    }
    // The sort is stable, and the combinations are in order.
    found.sort_by_key(|(processes, size, _)| (*processes, *size));
    found.truncate(INSTANCES);
    found.into_iter().map(|(.., instance)| instance).collect()
}

/// How many processes an instance begins with.
fn processes(instance: &Instance) -> u32 {
    let templates = instance.program().templates.iter_enumerated();
    let templates = templates.filter(|(_, template)| !is_slot(template));
    templates
        .map(|(template, _)| instance.count(template))
        .sum()
}

/// Values of all parameters: those that are given, and small ones or ones near the default for the others.
fn combinations(
    program: &Program,
    fixed: &BTreeMap<String, i64>,
    reach: Reach,
) -> Vec<BTreeMap<String, i64>> {
    let defaults = Instance::new(Arc::new(program.clone()), fixed).ok();
    let default = |name: &str| {
        let mut params = defaults.iter().flat_map(Instance::params);
        params
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    };
    let mut all = vec![fixed.clone()];
    for param in &program.params {
        if fixed.contains_key(&param.name) {
            continue;
        }
        let near = default(&param.name).into_iter();
        let near = near.flat_map(|value| value.saturating_sub(1)..=value.saturating_add(1));
        let mut candidates: Vec<i64> = reach.parameter().chain(near).collect();
        candidates.sort_unstable_by_key(|value| (value.unsigned_abs(), *value));
        candidates.dedup();
        // With many parameters, the smallest values of each.
        candidates.truncate((COMBINATIONS / all.len()).max(1));
        all = all
            .iter()
            .flat_map(|values| {
                candidates.iter().map(|candidate| {
                    let mut values = values.clone();
                    values.insert(param.name.clone(), *candidate);
                    values
                })
            })
            .collect();
    }
    all
}

/// Looks for violations of these properties at small instances. Liveness properties and names that the program does not have are not looked for.
pub fn search(
    program: &Arc<Program>,
    fixed: &BTreeMap<String, i64>,
    properties: &[String],
    reach: Reach,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Found {
    let mut found = Found {
        violations: properties.iter().map(|_| None).collect(),
        states: 0,
        cells: 0,
        instances: 0,
        processes: 0,
        stopped: None,
    };
    let own = Work::default();
    let work = limits.work.unwrap_or(&own);
    let most = work.done().saturating_add(reach.work());
    let enough = || match limits.should_stop() {
        None if work.done() > most => Some(Stop::Cancelled),
        stop => stop,
    };
    let within = Limits {
        work: Some(work),
        stop: Some(&enough),
        ..*limits
    };
    let rows = match reach {
        Reach::Small | Reach::Larger => vec![instances(program, fixed, reach)],
        Reach::Far => rays(program, fixed),
    };
    for row in rows {
        for instance in row {
            let open = found.violations.iter().any(Option::is_none);
            if !open || found.states >= reach.all_states() || enough().is_some() {
                found.stopped = limits.should_stop();
                return found;
            }
            found.instances += 1;
            found.processes = found.processes.max(processes(&instance));
            let before = found.states;
            search_instance(&instance, properties, reach, &mut found, &within, observer);
            // The next in the row has more.
            if reach == Reach::Far && found.states - before >= reach.states() {
                break;
            }
        }
    }
    found.stopped = limits.should_stop();
    found
}

/// The instances that differ from the smallest in one parameter, by which they have more processes than those that are looked at otherwise: for each parameter a row of them, the smallest first.
fn rays(program: &Arc<Program>, fixed: &BTreeMap<String, i64>) -> Vec<Vec<Instance>> {
    let Some(least) = instances(program, fixed, Reach::Small).into_iter().next() else {
        return Vec::new();
    };
    let least: BTreeMap<String, i64> = (least.params())
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let open = program.params.iter().map(|param| &param.name);
    let open = open.filter(|name| !fixed.contains_key(*name));
    let beyond = |instance: &Instance, value: i64| {
        let processes = processes(instance);
        let before = Reach::Larger;
        (processes > before.processes() || value > *before.parameter().end())
            && processes <= Reach::Far.processes()
    };
    let row = |name: &String| -> Vec<Instance> {
        let values = Reach::Far.parameter().filter_map(|value| {
            let mut values = least.clone();
            values.insert(name.clone(), value);
            let instance = Instance::new(Arc::clone(program), &values).ok()?;
            beyond(&instance, value).then_some(instance)
        });
        values.collect()
    };
    open.map(row).collect()
}

/// Looks for what is not found yet at one instance.
fn search_instance(
    instance: &Instance,
    properties: &[String],
    reach: Reach,
    found: &mut Found,
    limits: &Limits,
    observer: &mut dyn Observer,
) {
    let mut capacity = FIRST_CAPACITY;
    loop {
        // An instance that cannot be lowered is refused wherever it is asked for by itself.
        let Ok(system) = lower_unbounded(instance, capacity) else {
            return;
        };
        let engine = explicit(&system);
        let mut open: Vec<(usize, &SystemProperty)> = Vec::new();
        for (place, name) in properties.iter().enumerate() {
            let property = system.properties.iter().find(|known| known.name == *name);
            if let Some(property) = property
                && found.violations[place].is_none()
                && engine.accepts(&system, property).is_ok()
            {
                open.push((place, property));
            }
        }
        if open.is_empty() {
            return;
        }
        let asked: Vec<&SystemProperty> = open.iter().map(|(_, property)| *property).collect();
        let cells: usize = system.vars.iter().map(|var| cells(&system, var)).sum();
        let cells = cells.max(1) as u64;
        let states = reach
            .states()
            .min(CELLS.saturating_sub(found.cells) / cells);
        let states = states.min(reach.all_states().saturating_sub(found.states));
        if states == 0 {
            return;
        }
        let limits = Limits {
            states: Some(states),
            ..*limits
        };
        let before = found.states;
        let mut observer = Onwards { before, observer };
        let outcome = engine.check_all(&system, &asked, &limits, &mut observer);
        found.states += outcome.stats.states.unwrap_or(0);
        found.cells += cells * outcome.stats.states.unwrap_or(0);
        for ((place, _), answer) in open.into_iter().zip(outcome.answers) {
            if let Answer::Violated(run) = answer {
                found.violations[place] = Some(Counterexample {
                    instance: instance.clone(),
                    system: system.clone(),
                    run,
                });
            }
        }
        let more = outcome.capacity_exceeded.is_some() && capacity < LAST_CAPACITY;
        if !more || limits.should_stop().is_some() || found.states >= reach.all_states() {
            return;
        }
        capacity *= 2;
    }
}

/// Reachable states of the small instances, so many of each at most. `ghost` may add shared variables to a system and updates of them; their cells are the last of the states' shared ones.
pub fn samples(
    program: &Arc<Program>,
    fixed: &BTreeMap<String, i64>,
    most: usize,
    ghost: &dyn Fn(&mut System),
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut before = 0;
    for instance in instances(program, fixed, Reach::Small) {
        if limits.should_stop().is_some() {
            break;
        }
        let Ok(mut system) = lower_unbounded(&instance, 2 * FIRST_CAPACITY) else {
            continue;
        };
        ghost(&mut system);
        let limits = Limits {
            states: Some(most as u64),
            ..*limits
        };
        let mut observer = Onwards {
            before,
            observer: &mut *observer,
        };
        let visited = explicit(&system).states(&system, &limits, &mut observer);
        before += visited.states.len() as u64;
        let shown = visited.states.iter().take(most);
        samples.push(Sample {
            states: shown.map(|cells| unflatten(&system, cells)).collect(),
            complete: visited.complete && visited.states.len() <= most,
            instance,
        });
    }
    samples
}

/// The engine for a system.
fn explicit(system: &System) -> Explicit {
    Explicit {
        symmetry: true,
        integers: Some(integers(system)),
        ..Explicit::default()
    }
}

/// What integers without bounds begin with: few values if there are many of them.
fn integers(system: &System) -> (i64, i64) {
    let endless = system
        .vars
        .iter()
        .filter(|var| var.domain == CellDomain::Int && var.initial == CellInitial::Any);
    let cells: usize = endless.map(|var| cells(system, var)).sum();
    let fits = |values: &u64| {
        let beginnings = values.checked_pow(u32::try_from(cells).unwrap_or(u32::MAX));
        beginnings.is_some_and(|beginnings| beginnings <= BEGINNINGS)
    };
    // Among three values or more there is a negative one.
    match (1..=BEGINNINGS / 2).rev().find(fits).unwrap_or(1) {
        values @ 3.. => (-1, values as i64 - 2),
        values => (0, values as i64 - 1),
    }
}

/// How many cells a variable has, in all processes together.
fn cells(system: &System, var: &SystemVar) -> usize {
    match var.scope {
        Scope::Shared => var.len as usize,
        Scope::Local(template) => (var.len * system.templates[template].count) as usize,
    }
}

/// Tells of states as if all instances were one search.
struct Onwards<'a> {
    before: u64,
    observer: &'a mut dyn Observer,
}

impl Observer for Onwards<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.observer.progress(&Progress {
            states: self.before + progress.states,
            ..*progress
        });
    }
}

#[cfg(test)]
mod tests {
    use threadwise_engine::Silent;

    use super::*;

    fn program(text: &str) -> Arc<Program> {
        let checked = threadwise_lang::check(text);
        let program = checked.program;
        Arc::new(program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics)))
    }

    fn values(text: &str, fixed: &[(&str, i64)]) -> Vec<Vec<i64>> {
        let fixed = fixed
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value));
        let instances = instances(&program(text), &fixed.collect(), Reach::Small);
        let values = instances.iter().map(|i| i.params().map(|(_, value)| value));
        values.map(Iterator::collect).collect()
    }

    fn violated(text: &str, property: &str) -> Option<Vec<i64>> {
        let fixed = BTreeMap::new();
        let names = [property.to_owned()];
        let find = |reach| {
            let program = program(text);
            search(&program, &fixed, &names, reach, &Limits::NONE, &mut Silent)
        };
        let mut found = find(Reach::Small);
        for reach in [Reach::Larger, Reach::Far] {
            if found.violations[0].is_none() {
                found = find(reach);
            }
        }
        let [violation] = found.violations.as_slice() else {
            panic!("one answer for one property");
        };
        let params = |c: &Counterexample| c.instance.params().map(|(_, value)| value).collect();
        violation.as_ref().map(params)
    }

    #[test]
    fn instances_come_in_order_and_as_where_allows() {
        let one = "param N = 3 where N >= 2; process P[i: 1..N] { a: skip; }";
        assert_eq!(values(one, &[]), [[2], [3], [4]]);
        let two = "
            param N = 1 where N >= 1; param M = 1 where M >= 1 && M <= N;
            process P[i: 1..N] { a: skip; } process Q[i: 1..M] { a: skip; }
        ";
        assert_eq!(values(two, &[]), [[1, 1], [2, 1], [2, 2], [3, 1]]);
        assert_eq!(values(two, &[("M", 2)]), [[2, 2], [3, 2]]);
        // The number of processes does not depend on it.
        let size = "param S = 2 where S >= 1; shared x: 0..S = 0; process P { a: skip; }";
        assert_eq!(values(size, &[]), [[1], [2], [3], [4], [5]]);
        assert_eq!(values(size, &[("S", 70)]), [[70]]);
    }

    #[test]
    fn where_nothing_is_small_the_smallest_are_taken() {
        let many = "param N = 9 where N >= 9; process P[i: 1..N] { a: skip; }";
        assert_eq!(values(many, &[]), [[9], [10]]);
        assert_eq!(values("process P[i: 1..6] { a: skip; }", &[]), [[0; 0]]);
    }

    #[test]
    fn the_smallest_instance_that_fails_is_found() {
        let text = "
            param N = 2 where N >= 1; shared x: int = 0;
            process P[i: 1..N] { a: x := x + 1; }
            invariant few: x < 3; invariant more: x < 5; invariant many: x < 13;
        ";
        assert_eq!(violated(text, "few"), Some(vec![3]));
        assert_eq!(violated(text, "more"), Some(vec![5]));
        assert_eq!(violated(text, "many"), Some(vec![13]));
        let two = "
            param M = 1 where M >= 1; param N = 2 where N >= 1; shared x: int = 0;
            process P[i: 1..N] { a: x := x + 1; } process Q[j: 1..M] { a: skip; b: skip; }
            invariant low: x < 21; invariant lower: x < 40; invariant least: x < 41;
        ";
        assert_eq!(violated(two, "low"), Some(vec![1, 21]));
        // One process is another one's, and so many are not looked at.
        assert_eq!(violated(two, "lower"), None);
        assert_eq!(violated(two, "least"), None);
    }

    #[test]
    fn integers_that_begin_with_any_value_are_no_obstacle() {
        let text = "
            param N = 2 where N >= 2; shared m: int = any;
            process P[i: 1..N] { local v: int = any; a: m := v; }
            invariant low: m <= 0;
        ";
        assert_eq!(violated(text, "low"), Some(vec![2]));
    }

    #[test]
    fn started_processes_are_followed() {
        let text = "
            shared x: int = 0;
            process C[] { a: x := x + 1; }
            process P { loop { a: start C; } }
            invariant few: x < 5;
        ";
        assert_eq!(violated(text, "few"), Some(vec![]));
    }

    #[test]
    fn samples_are_reachable_states() {
        let text = "
            param N = 2 where N >= 2; shared x: int = 0;
            process P[i: 1..N] { a: x := x + 1; b: skip; }
        ";
        let program = program(text);
        let samples = |most| {
            let nothing = |_: &mut System| {};
            samples(
                &program,
                &BTreeMap::new(),
                most,
                &nothing,
                &Limits::NONE,
                &mut Silent,
            )
        };
        let all = samples(1000);
        // At N, as many states as there are ways to be at three places.
        let counts: Vec<usize> = all.iter().map(|sample| sample.states.len()).collect();
        assert_eq!(counts, [6, 10, 15]);
        for sample in &all {
            assert!(sample.complete);
            for state in &sample.states {
                let locations = state.templates.iter().flat_map(|p| &p.locations);
                let added = locations.filter(|location| location.raw() > 0).count();
                assert_eq!(state.shared, [added as i64]);
            }
        }
        let few = samples(7);
        let lengths = few
            .iter()
            .map(|sample| (sample.states.len(), sample.complete));
        assert_eq!(
            lengths.collect::<Vec<_>>(),
            [(6, true), (7, false), (7, false)]
        );
    }
}
