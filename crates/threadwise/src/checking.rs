//! One instance of a plan, or all of them: which engines are asked, in which order, and what is made of their answers.
//!
//! The claim of a model is for every value of its parameters that has none. So the engines for all instances come first, as far as the plan says. What all of them
//! leave open is looked at in instances, the smallest first, as far as a fixed amount of work reaches; the instance with the default values is looked at whatever it takes. A violation at any of them is one of the
//! claim. Proofs at some of them are none of it, unless there are no others: then it is unknown, and the result says where it holds.
//!
//! Where there are several engines to ask, they take turns (`portfolio`); an engine that was asked for by name is alone.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::sync::Arc;

use threadwise_engine::{LEARN, Make, NO_LEARN, Setup};
use threadwise_evidence::{Missing, Reason, ReasonCode, Stats, Verdict, replay, transplant};
use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::Program;
use threadwise_model::instance::Instance;

use crate::claim::{Claim, processes};
use crate::job::{Execution, Executor, Job, JobOutcome, Stop, Turn};
use crate::judge::{Recheck, Subject, View};
use crate::plan::{CHECKS, Only, Plan, Planned};
use crate::portfolio::{self, Entry};
use crate::registry::{chosen, decides};
use crate::report::{Exit, Kind, PropertyResult, ReportedDiagnostic, Run, Scope, VerdictKind};
use crate::seen::Seen;
use crate::session::{Checked, Session, values_of};
use crate::setting::Values;

/// The least that a search gets of the time, when those before it have used it up.
const LEAST_SECONDS: f64 = 0.1;
/// Work that is spent on instances other than the default one, for each search: what takes some sixty milliseconds.
const WORK: u64 = 600_000;
/// The same where they are all that the claim is about, so that it can be proved that way.
const WORK_FOR_ALL: u64 = 60_000_000;
/// What it takes to look at an instance, whatever is done with it: above all to start a worker.
const LOOK: u64 = 120_000;
/// Rechecking a proof takes about so many times the work of finding it, in instances with few states.
const RECHECK: u64 = 9;

/// One instance of a plan, or all with some values, while it is checked.
pub(crate) struct Checking<'a> {
    session: &'a Session,
    plan: &'a Plan,
    program: &'a Arc<Program>,
    /// The values that were given.
    given: &'a Values,
    /// What is claimed about the others.
    claim: Claim,
    executor: &'a mut dyn Executor,
    /// What is decided, or will not be.
    results: BTreeMap<String, PropertyResult>,
    /// Why properties were not decided for all instances.
    open: BTreeMap<String, Vec<Reason>>,
    /// What is said of properties as long as nobody decides them.
    unknown: BTreeMap<String, PropertyResult>,
    /// What the searches for all instances took.
    spent: Stats,
    /// What the searches of instances took, for the properties that are looked at.
    here: Stats,
    /// The work of the last race, as far as it does not depend on how many engines are run side by side.
    work: u64,
    state_count: Option<u64>,
    interrupted: bool,
    /// A fault of threadwise.
    fault: Option<String>,
}

/// One search of an engine, and what became of its evidence.
struct Search {
    execution: Execution,
    recheck: Recheck,
}

/// What a race is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// All instances.
    All,
    /// One instance.
    One,
}

/// An engine in a race.
struct Contestant<'a> {
    entry: Entry,
    subject: Subject<'a>,
    job: Job,
    /// What the executor calls it, once it is begun.
    number: Option<usize>,
    /// What it was granted last.
    granted: u64,
    /// The work that it has done by the end of its last turn.
    work: u64,
    /// The seconds that it took, if it has ended and says so.
    seconds: Option<f64>,
    progress: Standing,
}

/// How far a contestant is.
enum Standing {
    /// It could go on, if it was granted more.
    Waiting,
    /// It goes on.
    Running,
    /// It came to an end with more work than it was granted: that counts in the round that grants so much.
    Ahead(Box<Execution>, u64),
    /// It has said all it has to say.
    Over,
}

/// No values: all instances there are.
static NO_VALUES: Values = Values(Vec::new());

impl<'a> Checking<'a> {
    /// Before anything was asked.
    pub(crate) fn new(
        session: &'a Session,
        plan: &'a Plan,
        program: &'a Arc<Program>,
        given: &'a Values,
        executor: &'a mut dyn Executor,
    ) -> Checking<'a> {
        Checking {
            session,
            plan,
            program,
            given,
            claim: Claim::new(program, given),
            executor,
            results: BTreeMap::new(),
            open: BTreeMap::new(),
            unknown: BTreeMap::new(),
            spent: Stats::default(),
            here: Stats::default(),
            work: 0,
            state_count: None,
            interrupted: false,
            fault: None,
        }
    }

    /// Asks the engines.
    pub(crate) fn run(mut self) -> Checked {
        let halves = [Only::Safety, Only::Liveness];
        let [families, live] =
            halves.map(|half| self.plan.families(self.program, self.given, half));
        let instance = self.session.build(self.given);
        let instances = self.instances();
        if let Err(diagnostics) = &instance {
            // There may be other instances with these values than the one that the defaults give.
            if families.is_empty() && live.is_empty() || instances.is_empty() {
                let excluded = |d: &Diagnostic| d.code == Code::WhereViolated;
                return if self.plan.is_sweep() && diagnostics.iter().all(excluded) {
                    Checked::Excluded
                } else {
                    Checked::Rejected(diagnostics.clone())
                };
            }
        }
        self.all(Only::Safety, families);
        self.all(Only::Liveness, live);
        let refused = match &instance {
            Ok(instance) if self.claim.is_instance() => self.one(instance),
            _ => self.some(&instances),
        };
        if let Err(diagnostics) = refused {
            return Checked::Rejected(diagnostics);
        }
        self.refuse(instance.as_ref().ok());
        let values = self.given.in_order(self.program);
        Checked::Run(self.finish(values))
    }

    /// The instances that are looked at for what is not proved for all: with one engine that was asked for, or with something that only one can do, no more than the default, unless
    /// they are all that there are.
    fn instances(&self) -> Vec<Values> {
        if self.claim.all.is_none() && self.is_particular() {
            return self.claim.default.iter().cloned().collect();
        }
        self.claim.instances(self.program, self.given)
    }

    /// Whether one engine is asked, and no other.
    fn is_particular(&self) -> bool {
        let options = &self.plan.options;
        let several = matches!(self.plan.engine.make, Make::Several);
        !several || options.count_states || !options.engine_options.is_empty()
    }

    /// The properties that there is no result of yet.
    fn undecided(&self) -> Vec<&'a Planned> {
        let properties = self.plan.properties.iter();
        properties
            .filter(|planned| !self.results.contains_key(&planned.name))
            .collect()
    }

    /// Asks the engines for all instances.
    fn all(&mut self, half: Only, families: Vec<Entry>) {
        let mut group = self.undecided();
        group.retain(|planned| half.has(planned.kind));
        if families.is_empty() || group.is_empty() || self.ended() {
            return;
        }
        let mut job = self.job(self.given, &group);
        job.setup.bounded = !self.plan.is_family();
        // The instance gets as much of the time.
        let shares = if self.plan.is_family() { 1.0 } else { 2.0 };
        job.seconds = job.seconds.map(|seconds| seconds / shares);
        let subject = Subject::All(self.program, self.given);
        let contestants = families.into_iter();
        let contestants = contestants.map(|entry| self.contestant(entry, subject, job.clone()));
        // There is nothing that a program could be refused for here.
        let _ = self.race(Stage::All, contestants.collect(), u64::MAX);
        self.leave_open(&group);
    }

    /// Lets engines take turns until every property that they were asked for is decided, or all have given up or done so much work. An error if the instance is refused.
    fn race(
        &mut self,
        stage: Stage,
        mut contestants: Vec<Contestant<'_>>,
        most: u64,
    ) -> Result<(), Vec<Diagnostic>> {
        self.work = 0;
        let several = contestants.len() > 1;
        if several {
            // They are run side by side instead.
            for contestant in &mut contestants {
                contestant.job.setup.threads = 1;
            }
        }
        let plan = several.then(|| {
            let entries = contestants.iter().map(|c| c.entry.describe());
            entries.collect::<Vec<_>>().join(", ")
        });
        let names = contestants
            .first()
            .map(|first| first.job.properties.clone());
        let names = names.unwrap_or_default();
        let outcome = self.rounds(stage, &mut contestants, &names, most);
        let elapsed = self.executor.elapsed();
        let each = contestants
            .iter()
            .filter_map(|contestant| contestant.number);
        let each: Vec<Option<f64>> = each.map(|number| self.executor.end(number)).collect();
        let cpu_seconds = each.into_iter().flatten().reduce(|sum, one| sum + one);
        let add = |sum: &mut Option<f64>, more: Option<f64>| {
            *sum = sum.map_or(more, |sum| Some(sum + more.unwrap_or(0.0)));
        };
        // One that knows no clock may know what each took; else all of it is used up.
        let took = contestants.iter().filter_map(|c| c.seconds);
        let took = took.reduce(|sum, one| sum + one);
        let given = contestants.first().and_then(|first| first.job.seconds);
        let elapsed = elapsed.or(took).or(given);
        for name in names {
            let decided = self.results.get_mut(&name);
            for result in decided.into_iter().chain(self.unknown.get_mut(&name)) {
                result.plan = plan.clone();
                result.stats.cpu_seconds = cpu_seconds.or(result.stats.cpu_seconds);
                if stage == Stage::One {
                    add_times(&mut result.stats, &self.here);
                    if self.open.contains_key(&name) {
                        add_times(&mut result.stats, &self.spent);
                    }
                }
            }
        }
        let total = match stage {
            Stage::All => &mut self.spent,
            Stage::One => &mut self.here,
        };
        add(&mut total.seconds, elapsed);
        add(&mut total.cpu_seconds, cpu_seconds);
        outcome
    }

    /// The rounds of a race. It ends when nothing is left to decide, or nobody goes on.
    fn rounds(
        &mut self,
        stage: Stage,
        contestants: &mut [Contestant<'_>],
        names: &[String],
        most: u64,
    ) -> Result<(), Vec<Diagnostic>> {
        let side_by_side = usize::from(self.plan.options.threads.max(1));
        for round in 0.. {
            let under_way = |c: &Contestant| !matches!(c.progress, Standing::Over);
            let live = (0..contestants.len()).filter(|place| under_way(&contestants[*place]));
            let live: Vec<usize> = live.collect();
            if live.is_empty() {
                return Ok(());
            }
            let alone = live.len() == 1;
            let joined = |place: &usize| alone || contestants[*place].entry.from <= round;
            let ready: Vec<usize> = live.into_iter().filter(joined).collect();
            // Who joins now is asked for what is open at the beginning of the round, however many are run side by side.
            let open: Vec<String> = self.open_of(names);
            // A proof speaks of runs up to the first check that fails, so these then count as much as it does.
            let proof = |result: &PropertyResult| result.verdict == VerdictKind::Proved;
            let proved = self.results.values().any(proof);
            for (turn, place) in ready.iter().enumerate() {
                for ahead in ready.iter().skip(turn).take(side_by_side) {
                    let contestant = &mut contestants[*ahead];
                    let grant = match alone {
                        true => most,
                        false => contestant.entry.grant(round).min(most),
                    };
                    contestant.job.setup.along &= !proved;
                    contestant.go_on(self.executor, grant, &open);
                }
                let contestant = &mut contestants[*place];
                let turn = contestant.turn(self.executor);
                self.work = self.work.max(contestant.work);
                let Some(execution) = turn else {
                    if contestant.granted >= most {
                        contestant.progress = Standing::Over;
                    }
                    continue;
                };
                if let Execution::Rejected(diagnostics) = &execution
                    && stage == Stage::One
                {
                    return Err(diagnostics.clone());
                }
                let over = is_over(&execution);
                self.settle(stage, contestant, execution);
                if over || self.interrupted {
                    self.hurry(stage, contestants);
                }
                if over || self.ended() || self.open_of(names).is_empty() {
                    return Ok(());
                }
            }
            // The others had as much of a chance by now.
            if self.settled(names) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The time is over, or the user wants to stop: takes in what those who wait for their turn have found so far.
    fn hurry(&mut self, stage: Stage, contestants: &mut [Contestant<'_>]) {
        for contestant in contestants {
            let standing = std::mem::replace(&mut contestant.progress, Standing::Over);
            let execution = match (standing, contestant.number) {
                (Standing::Waiting | Standing::Running, Some(number)) => {
                    self.executor.hurry(number)
                }
                (Standing::Ahead(execution, _), _) => Some(*execution),
                _ => None,
            };
            if let Some(execution) = execution {
                self.settle(stage, contestant, execution);
            }
        }
    }

    /// Those of these properties that are not decided.
    fn open_of(&self, names: &[String]) -> Vec<String> {
        let open = |name: &&String| !self.results.contains_key(*name);
        names.iter().filter(open).cloned().collect()
    }

    /// Whether nothing is left to decide of these, or nothing but the built-in checks that were looked at along with what is violated.
    fn settled(&self, names: &[String]) -> bool {
        let along = |name: &String| {
            let reason = self.unknown.get(name).and_then(|r| r.reason.as_ref());
            name == CHECKS && reason.is_some_and(|reason| reason.code == ReasonCode::Violations)
        };
        self.open_of(names).iter().all(along)
    }

    /// Says of properties that nobody decided what is known about that.
    fn leave_open(&mut self, group: &[&Planned]) {
        for planned in group {
            if let Some(result) = self.unknown.remove(&planned.name) {
                let results = self.results.entry(planned.name.clone());
                results.or_insert(result);
            }
        }
    }

    /// Takes in what an engine has found about what is not decided yet.
    fn settle(&mut self, stage: Stage, contestant: &Contestant<'_>, execution: Execution) {
        let elapsed = self.executor.elapsed();
        let search = self.rechecked(contestant.subject, execution);
        let group = self.undecided().into_iter();
        let asked = |planned: &&Planned| contestant.job.properties.contains(&planned.name);
        let group: Vec<&Planned> = group.filter(asked).collect();
        for planned in group {
            let none = Vec::new();
            let tried = self.open.get(&planned.name).unwrap_or(&none);
            let view = View::new(
                self.plan,
                contestant.subject,
                &contestant.job.engine,
                &search.recheck,
                tried,
            );
            let result = match view.of(planned, &search.execution) {
                // One message is enough: the same search stands behind all of them.
                Err(fault) => {
                    self.fault = self.fault.take().or(Some(fault));
                    continue;
                }
                Ok(result) => result,
            };
            let lifted = contestant.entry.lifted;
            let result = match lifted {
                true => self.lowered(result),
                false => Some(result),
            };
            let Some(mut result) = result else {
                continue;
            };
            // Others had their turns meanwhile.
            result.stats.seconds = elapsed.or(result.stats.seconds);
            let name = planned.name.clone();
            let own = result.reason.as_ref().is_none_or(is_answer);
            match result.verdict {
                // That there is no proof for all instances is no answer about one.
                VerdictKind::Unknown if lifted && own => {}
                VerdictKind::Unknown if stage == Stage::All && !self.plan.is_family() => {
                    self.open.entry(name).or_default().extend(result.reason);
                }
                VerdictKind::Unknown => match self.unknown.entry(name) {
                    Slot::Vacant(slot) => {
                        slot.insert(result);
                    }
                    // What a limit ended might have been decided.
                    Slot::Occupied(mut slot) => {
                        if slot.get().reason.as_ref().is_none_or(is_answer) && !own {
                            slot.insert(result);
                        }
                    }
                },
                _ => {
                    self.executor.decided(&name, result.verdict, &result.scope);
                    self.results.insert(name, result);
                }
            }
        }
        if let Execution::Finished(outcome) = &search.execution {
            let states = outcome.stats.states.filter(|_| outcome.complete);
            self.state_count = self.state_count.or(states);
        }
    }

    /// What was found about all instances as something about the instance that is asked about. A violation at another one may be none there.
    fn lowered(&self, mut result: PropertyResult) -> Option<PropertyResult> {
        let instance = self.session.build(self.given).ok()?;
        let values = values_of(&instance);
        let scope = std::mem::replace(&mut result.scope, Scope::Instance { values });
        if let Some(trace) = &mut result.trace {
            *trace = transplant(trace, &instance)?;
            if result.rechecked {
                replay(&instance, trace).ok()?;
            }
        }
        let note = match result.verdict {
            VerdictKind::Violated => "found",
            VerdictKind::Proved => "it holds",
            VerdictKind::Unknown => return Some(result),
        };
        if scope != result.scope {
            result.notes.push(format!("{note} {}", scope.phrase()));
        }
        Some(result)
    }

    /// Whether there is nothing more to ask.
    fn ended(&self) -> bool {
        self.interrupted || self.fault.is_some()
    }

    /// Decides what is left at one instance. An error if the instance is refused.
    fn one(&mut self, instance: &Instance) -> Result<(), Vec<Diagnostic>> {
        let values = values_of(instance);
        for group in self.plan.searches(&self.undecided()) {
            if self.fault.is_some() {
                return Ok(());
            }
            self.here = Stats::default();
            if let Err(diagnostics) = self.decide(&group, instance, &values, u64::MAX) {
                if self.open.is_empty() {
                    return Err(diagnostics);
                }
                self.give_up(Subject::One(instance, &values), &group, &diagnostics);
            }
            self.leave_open(&group);
        }
        Ok(())
    }

    /// Asks the engines about properties at an instance. An error if the instance is refused.
    fn decide(
        &mut self,
        group: &[&Planned],
        instance: &Instance,
        values: &Values,
        most: u64,
    ) -> Result<(), Vec<Diagnostic>> {
        let subject = Subject::One(instance, values);
        let mut job = self.job(values, group);
        let learn = self.smaller(values)?;
        let few = most <= WORK;
        if most < u64::MAX {
            // How much work it is must not depend on how many do it.
            job.setup.threads = 1;
        }
        let entries = self.entries(group, instance, learn.is_some(), few);
        let contestants = entries.into_iter().map(|entry| {
            let job = Job {
                learn: learn.clone().filter(|_| entry.learns),
                ..job.clone()
            };
            match entry.lifted {
                true => {
                    let mut job = Job {
                        values: NO_VALUES.clone(),
                        ..job
                    };
                    job.setup.bounded = true;
                    self.contestant(entry, Subject::All(self.program, &NO_VALUES), job)
                }
                false => self.contestant(entry, subject, job),
            }
        });
        let contestants: Vec<Contestant<'_>> = contestants.collect();
        self.race(Stage::One, contestants, most)
    }

    /// Looks at some instances for what is not proved for all. An error if none of them says anything, and the default is refused.
    fn some(&mut self, instances: &[Values]) -> Result<(), Vec<Diagnostic>> {
        for group in self.plan.searches(&self.undecided()) {
            if self.fault.is_some() {
                return Ok(());
            }
            self.here = Stats::default();
            let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
            let refused = self.look(&group, instances, &mut seen);
            if self.fault.is_some() {
                return Ok(());
            }
            let said = !seen.is_empty() || !self.results.is_empty() || !self.open.is_empty();
            let refused = match refused {
                Some(diagnostics) if !said => return Err(diagnostics),
                refused => refused.unwrap_or_default(),
            };
            let undecided = group.iter();
            let undecided: Vec<&Planned> = undecided
                .filter(|planned| !self.results.contains_key(&planned.name))
                .copied()
                .collect();
            for planned in undecided {
                let seen = seen.remove(&planned.name);
                match seen.and_then(|seen| self.summed_up(planned, seen)) {
                    Some(result) => {
                        self.results.insert(planned.name.clone(), result);
                    }
                    None => {
                        let subject = Subject::All(self.program, self.given);
                        self.give_up(subject, &[planned], &refused);
                    }
                }
            }
        }
        Ok(())
    }

    /// Goes through instances until the properties are violated, or the work is used up. What is not violated is noted. If the default is refused, why.
    fn look(
        &mut self,
        group: &[&'a Planned],
        instances: &[Values],
        seen: &mut BTreeMap<String, Seen>,
    ) -> Option<Vec<Diagnostic>> {
        let mut left = match &self.claim.all {
            Some(_) => WORK_FOR_ALL,
            None => WORK,
        };
        let mut refused = self.session.build(self.given).err();
        for values in instances {
            let open = |planned: &&&Planned| !self.results.contains_key(&planned.name);
            let open: Vec<&Planned> = group.iter().filter(open).copied().collect();
            if open.is_empty() {
                break;
            }
            let default = self.claim.default.as_ref() == Some(values);
            let most = match default {
                true => u64::MAX,
                false => left.saturating_sub(LOOK) / (1 + RECHECK),
            };
            let Ok(instance) = self.session.build(values) else {
                continue;
            };
            if most == 0 {
                continue;
            }
            let outcome = self.decide(&open, &instance, values, most);
            if default && let Err(diagnostics) = outcome {
                refused = Some(diagnostics);
            }
            let mut undecided = false;
            for planned in open {
                undecided |= self.note(planned, values, seen);
            }
            if self.ended() || seen.values().any(Seen::out_of_time) {
                break;
            }
            let cost = self.work.saturating_mul(1 + RECHECK).saturating_add(LOOK);
            left = match default {
                // What follows is larger.
                _ if undecided || cost > left => 0,
                true => left,
                false => left - cost,
            };
        }
        refused
    }

    /// Notes what was found about a property at an instance. Whether it was not decided.
    fn note(
        &mut self,
        planned: &Planned,
        values: &Values,
        seen: &mut BTreeMap<String, Seen>,
    ) -> bool {
        let name = &planned.name;
        match self.results.remove(name) {
            Some(result) if result.verdict == VerdictKind::Proved => {
                let seen = seen.entry(name.clone()).or_default();
                seen.held.push((values.clone(), result));
                false
            }
            Some(result) => {
                self.results.insert(name.clone(), result);
                false
            }
            None => {
                if let Some(result) = self.unknown.remove(name) {
                    let seen = seen.entry(name.clone()).or_default();
                    seen.left = Some((values.clone(), result));
                }
                true
            }
        }
    }

    /// What instances say about a property.
    fn summed_up(&self, planned: &Planned, seen: Seen) -> Option<PropertyResult> {
        let mut spent = self.here.clone();
        let none = Vec::new();
        let tried = self.open.get(&planned.name);
        if tried.is_some() {
            add_times(&mut spent, &self.spent);
        }
        let tried = match tried.unwrap_or(&none).as_slice() {
            [] => vec![self.why_instances(planned)],
            tried => tried.iter().map(|reason| reason.message.clone()).collect(),
        };
        let mut result = seen.result(self.program, self.given, &self.claim, tried, &spent)?;
        if let Some(reason) = &mut result.reason
            && result.verdict == VerdictKind::Unknown
        {
            reason.missing = self.missing(planned);
        }
        Some(result)
    }

    /// What a proof for all instances lacks: what the first engine says that knows a state, or else the first that says anything.
    fn missing(&self, planned: &Planned) -> Option<Box<Missing>> {
        let tried = self.open.get(&planned.name)?;
        let said = || tried.iter().filter_map(|reason| reason.missing.as_ref());
        let shown = said().find(|missing| missing.state.is_some());
        shown.or(said().next()).cloned()
    }

    /// Why a property was decided at instances, and not for all.
    fn why_instances(&self, planned: &Planned) -> String {
        match planned.kind {
            Kind::Liveness => "liveness is decided at one instance at a time".to_owned(),
            _ => {
                let engine = chosen(self.plan.engine, planned.kind).name;
                format!("`{engine}` looks at one instance at a time")
            }
        }
    }

    /// Says of properties that the engine does not decide why.
    fn refuse(&mut self, instance: Option<&Instance>) {
        let values = instance.map(values_of);
        let subject = match (instance, &values) {
            (Some(instance), Some(values)) if self.claim.is_instance() => {
                Subject::One(instance, values)
            }
            _ => Subject::All(self.program, self.given),
        };
        let recheck = Recheck::default();
        for planned in self.undecided() {
            let engine = chosen(self.plan.engine, planned.kind).name;
            let view = View::new(self.plan, subject, engine, &recheck, &[]);
            match decides(self.plan.engine, planned) {
                Err(reason) => {
                    let result = view.unknown(planned, reason, Stats::default());
                    self.results.insert(planned.name.clone(), result);
                }
                Ok(()) => {
                    let fault = format!("`{}` was planned but not run", planned.name);
                    self.fault = self.fault.take().or(Some(fault));
                }
            }
        }
    }

    /// Says of properties that there is no instance to decide them at.
    fn give_up(&mut self, subject: Subject<'_>, group: &[&Planned], diagnostics: &[Diagnostic]) {
        let recheck = Recheck::default();
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        let none = Vec::new();
        for planned in group {
            let tried = self.open.get(&planned.name).unwrap_or(&none);
            let engine = chosen(self.plan.engine, planned.kind).name;
            let view = View::new(self.plan, subject, engine, &recheck, tried);
            let reason = view.no_instance(&messages.join("; "));
            let result = view.unknown(planned, reason, self.spent.clone());
            self.results.insert(planned.name.clone(), result);
        }
    }

    /// Puts the results together.
    fn finish(mut self, values: Values) -> Run {
        let mut run = Run {
            file: self.session.name().to_owned(),
            values,
            state_count: self.state_count.filter(|_| self.claim.is_instance()),
            ..Run::default()
        };
        for planned in &self.plan.properties {
            run.results.extend(self.results.remove(&planned.name));
        }
        if let Some(fault) = self.fault {
            run.trouble = Some(Exit::Internal);
            run.diagnostics.push(ReportedDiagnostic::error(
                format!("internal error: {fault}"),
                Some("this is a fault in threadwise; please report it with the model".to_owned()),
            ));
        }
        if self.interrupted {
            run.trouble = Some(Exit::Interrupted);
        }
        run
    }

    /// The engines that are asked about properties at an instance; `smaller` says that there is an instance to learn from, and `few` that there is so little work to be done that one engine is enough.
    fn entries(
        &self,
        group: &[&Planned],
        instance: &Instance,
        smaller: bool,
        few: bool,
    ) -> Vec<Entry> {
        let kind = group.first().map_or(Kind::Builtin, |planned| planned.kind);
        let engine = chosen(self.plan.engine, kind);
        let one = Entry {
            learns: smaller
                && engine
                    .options
                    .iter()
                    .any(|option| option.name == LEARN.name)
                && !self.plan.options.engine_options.has(&NO_LEARN),
            ..Entry::new(engine)
        };
        match kind {
            _ if few || self.is_particular() => vec![one],
            Kind::Liveness => portfolio::liveness(smaller),
            _ => {
                let mut safety = self.plan.properties.iter();
                let tried =
                    safety.any(|p| Only::Safety.has(p.kind) && self.open.contains_key(&p.name));
                let tried = tried || !self.claim.is_instance();
                let explain = self.plan.options.explain;
                portfolio::safety(self.program, processes(instance), tried, explain)
            }
        }
    }

    /// The instance to learn from: the one that was asked for, or else the one with the parameters at most three. An error if the one that was asked for does not exist.
    fn smaller(&self, values: &Values) -> Result<Option<Values>, Vec<Diagnostic>> {
        const SMALL: i64 = 3;
        let asked = &self.plan.learn;
        let mut smaller = values.clone();
        for (name, value) in &mut smaller.0 {
            match asked.iter().find(|setting| setting.name == *name) {
                Some(setting) => *value = *setting.values.start(),
                None if asked.is_empty() => *value = SMALL.min(*value),
                None => {}
            }
        }
        match self.session.build(&smaller) {
            Err(diagnostics) if !asked.is_empty() => Err(diagnostics),
            Ok(_) if smaller != *values || !asked.is_empty() => Ok(Some(smaller)),
            _ => Ok(None),
        }
    }

    /// Has the evidence of the last job checked.
    fn rechecked(&mut self, subject: Subject<'_>, execution: Execution) -> Search {
        let mut recheck = Recheck::default();
        if let Execution::Finished(outcome) = &execution
            && self.plan.options.recheck
        {
            recheck.seconds = self.executor.recheck(&mut |stop| {
                recheck.proofs(subject, outcome, stop);
            });
        }
        let stopped = match &execution {
            Execution::Stopped { by, .. } => Some(*by),
            Execution::Finished(outcome) if outcome.is_interrupted() => Some(Stop::Interrupted),
            _ => recheck.stopped,
        };
        self.interrupted |= stopped == Some(Stop::Interrupted);
        Search { execution, recheck }
    }

    /// The job to decide properties, for whichever engine.
    fn job(&self, values: &Values, group: &[&Planned]) -> Job {
        let options = &self.plan.options;
        let seconds = options.seconds.map(|seconds| {
            let spent = |stats: &Stats| stats.seconds.unwrap_or(0.0);
            let left = seconds - spent(&self.spent) - spent(&self.here);
            left.max(LEAST_SECONDS.min(seconds))
        });
        Job {
            program: Arc::clone(self.program),
            values: values.clone(),
            properties: group.iter().map(|planned| planned.name.clone()).collect(),
            engine: String::new(),
            setup: Setup {
                threads: options.threads,
                certificates: options.recheck || options.certificates,
                explain: options.explain,
                count_states: options.count_states,
                along: !options.properties.iter().any(|name| name == CHECKS),
                ..Setup::default()
            },
            learn: None,
            seconds,
            memory: options.memory,
        }
    }

    /// An engine with a job, before it is begun.
    fn contestant<'c>(&self, entry: Entry, subject: Subject<'c>, mut job: Job) -> Contestant<'c> {
        job.engine = entry.engine.name.to_owned();
        let given = self.plan.options.engine_options.of(entry.engine);
        job.setup.options = given.and(&entry.with);
        Contestant {
            entry,
            subject,
            job,
            number: None,
            granted: 0,
            work: 0,
            seconds: None,
            progress: Standing::Waiting,
        }
    }
}

impl Contestant<'_> {
    /// Lets it go on, if it was not granted that much already. If it begins now, it is for these properties.
    fn go_on(&mut self, executor: &mut dyn Executor, grant: u64, open: &[String]) {
        if self.granted == grant {
            return;
        }
        self.granted = grant;
        if matches!(self.progress, Standing::Waiting) {
            self.progress = Standing::Running;
            let number = match self.number {
                Some(number) => number,
                None => {
                    self.job.properties = open.to_vec();
                    *self.number.insert(executor.begin(&self.job))
                }
            };
            executor.grant(number, grant);
        }
    }

    /// Waits for the end of its turn. Its answer, if it has one that counts now.
    fn turn(&mut self, executor: &mut dyn Executor) -> Option<Execution> {
        let standing = std::mem::replace(&mut self.progress, Standing::Over);
        let (execution, work) = match (standing, self.number) {
            (Standing::Ahead(execution, work), _) => (execution, work),
            (Standing::Running, Some(number)) => match executor.wait(number) {
                Turn::Paused => {
                    self.work = self.granted;
                    self.progress = Standing::Waiting;
                    return None;
                }
                Turn::Ended(execution) => {
                    let stats = match execution.as_ref() {
                        Execution::Finished(JobOutcome { stats, .. })
                        | Execution::Stopped { stats, .. } => Some(stats),
                        Execution::Rejected(_) | Execution::Crashed(_) => None,
                    };
                    self.seconds = stats.and_then(|stats| stats.seconds);
                    let work = stats.and_then(|stats| stats.work).unwrap_or(0);
                    (execution, work)
                }
            },
            (standing, _) => {
                self.progress = standing;
                return None;
            }
        };
        self.work = work.min(self.granted);
        if work > self.granted {
            self.progress = Standing::Ahead(execution, work);
            return None;
        }
        Some(*execution)
    }
}

/// Whether a job was ended by what ends the others, too.
fn is_over(execution: &Execution) -> bool {
    match execution {
        Execution::Stopped { by, .. } => !matches!(by, Stop::Memory | Stop::Exhausted),
        Execution::Finished(outcome) => outcome.findings.iter().any(|finding| {
            let Verdict::Unknown(reason) = &finding.verdict else {
                return false;
            };
            matches!(
                reason.code,
                ReasonCode::TimeLimit | ReasonCode::TotalTimeLimit
            )
        }),
        Execution::Rejected(_) | Execution::Crashed(_) => false,
    }
}

/// Whether a reason is the engine's own, and not a limit.
fn is_answer(reason: &Reason) -> bool {
    !reason.code.is_limit()
}

/// Adds the time that something took before.
fn add_times(stats: &mut Stats, before: &Stats) {
    let add = |one: &mut Option<f64>, other: Option<f64>| {
        if let (Some(one), Some(other)) = (one, other) {
            *one += other;
        }
    };
    add(&mut stats.seconds, before.seconds);
    add(&mut stats.cpu_seconds, before.cpu_seconds);
}
