//! One process at a time: fair cycles of abstract processes, refined until the property is decided.
//!
//! A round computes the split invariant for what is exposed, and looks for fair runs of abstract processes against the property. If there are
//! none, it is proved. Variant A (and plain local liveness) excludes, for each process, the runs in which it moves
//! infinitely often from states that fulfil the automaton's first obligation; every run is one of these for some process. Variant B
//! excludes all runs of one process. A run that is found is made one of the program, or else says what to expose next. What is exposed
//! tells more each time, and there is only so much to tell, so this ends.

use std::collections::BTreeSet;

use threadwise_engine::{
    Answer, Decides, Engine, EngineInfo, LEARN, Limits, Make, NO_LEARN, NO_SYMMETRY, Observer,
    OptionInfo, Outcome, Run, Setup, Unsupported,
};
use threadwise_evidence::{Certificate, Exposed, FairClaim, FairProof, Outline, Round as Told};
use threadwise_model::layout::process_name;
use threadwise_model::partial::choose;
use threadwise_model::system::{Expr, ProcessId, System, SystemProperty};
use threadwise_model::temporal::{FairnessKind, Formula};
use threadwise_safety::split::{Assertions, Representatives, split_invariant, split_outline};
use threadwise_symbolic::certificate::graphs;
use threadwise_symbolic::{Bdd, Grown, Halt, Search, Symbolic, room};

use crate::abstraction::{Abstraction, layout};
use crate::concrete::{Examined, Examiner, Fact};
use crate::decide::{self, Attempt};
use crate::explain::Story;
use crate::exposure::{Exposure, Groups};
use crate::fair::{self, hull};
use crate::lasso::lasso;
use crate::monolithic::{Monolithic, proof};
use crate::product::Extended;
use crate::vacuity::trigger;

/// Local liveness, as the engine is known.
pub static LOCAL: EngineInfo = EngineInfo {
    name: "local-liveness",
    about: "Fair cycles of one process at a time against what the others may do, with all that fairness speaks of exposed; refined until it is a proof or a run is real.",
    decides: Decides::Liveness,
    explains: true,
    options: &[NO_SYMMETRY, LEARN, NO_LEARN, MUST],
    make: Make::One(|setup| Ok(Local::boxed(Variant::Plain, setup))),
};

/// Fair local liveness, variant A, as the engine is known.
pub static FAIR_LOCAL_A: EngineInfo = EngineInfo {
    name: "fair-local-liveness-a",
    about: "The same with the fairness of the others abstracted: for each process, runs in which it moves again and again.",
    decides: Decides::Liveness,
    explains: true,
    options: LOCAL.options,
    make: Make::One(|setup| Ok(Local::boxed(Variant::A, setup))),
};

/// Fair local liveness, variant B, as the engine is known.
pub static FAIR_LOCAL_B: EngineInfo = EngineInfo {
    name: "fair-local-liveness-b",
    about: "The same for one process and all of its runs.",
    decides: Decides::Liveness,
    explains: true,
    options: LOCAL.options,
    make: Make::One(|setup| Ok(Local::boxed(Variant::B, setup))),
};

const MUST: OptionInfo = OptionInfo::flag(
    "must",
    "In the local engines for liveness, expose of the first step that another process can perhaps not take whether it can, as the method was published, before everybody is followed along an abstract run",
);

/// In instances with so few processes it takes little time to find out which facts are needed.
const FEW: u32 = 4;

/// Which runs of an abstract process are excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Local liveness: for each process, those in which it moves for ever again; all that fairness speaks of is exposed.
    Plain,
    /// Fair local liveness, variant A: the same with fairness abstracted.
    A,
    /// Fair local liveness, variant B: all, for one process.
    #[default]
    B,
}

/// Looks for fair cycles one process at a time.
#[derive(Clone, Debug, Default)]
pub struct Local {
    /// Which runs are excluded.
    pub variant: Variant,
    /// Whether one process stands for all that are alike.
    pub symmetric: bool,
    /// Whether proofs come with certificates.
    pub certificates: bool,
    /// Whether proofs are written as outlines.
    pub explain: bool,
    /// What is exposed from the beginning.
    pub exposed: Vec<Exposed>,
    /// Whether what is exposed first is whether others can take the steps of an abstract run, as published.
    pub must: bool,
    /// Whether to give up where something else would have to be exposed.
    pub trial: bool,
}

impl Local {
    fn boxed(variant: Variant, setup: &Setup) -> Box<dyn Engine> {
        Box::new(Local {
            variant,
            symmetric: !setup.options.has(&NO_SYMMETRY),
            certificates: setup.certificates,
            explain: setup.explain,
            exposed: setup.exposed.clone(),
            must: setup.options.has(&MUST),
            trial: false,
        })
    }
}

impl Engine for Local {
    fn name(&self) -> &'static str {
        match self.variant {
            Variant::Plain => LOCAL.name,
            Variant::A => FAIR_LOCAL_A.name,
            Variant::B => FAIR_LOCAL_B.name,
        }
    }

    fn accepts(&self, system: &System, property: &SystemProperty) -> Result<(), Unsupported> {
        decide::accepts(self.name(), system, property)
    }

    fn check_all(
        &self,
        system: &System,
        properties: &[&SystemProperty],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Outcome {
        if system.processes() == 0 {
            // There is nobody to look at.
            let whole = Monolithic {
                symmetric: false,
                certificates: self.certificates,
                explain: self.explain,
                ..Monolithic::default()
            };
            return whole.check_all(system, properties, limits, observer);
        }
        decide::all(
            self,
            system,
            properties,
            limits,
            observer,
            |attempt, observer| self.decide(attempt, observer),
        )
    }
}

/// What a round found.
enum Round {
    /// No abstract process has a fair run.
    Proved(Option<Vec<FairProof>>),
    /// A run of the program.
    Violated(Run),
    /// Something to expose.
    Open(Examined),
}

impl Local {
    fn decide(&self, attempt: &mut Attempt, observer: &mut dyn Observer) -> Result<Answer, Halt> {
        attempt.account.refinements = Some(0);
        attempt.account.predicates = Some(0);
        let conjuncts = attempt.liveness.formula.conjuncts();
        let images = attempt.images(&conjuncts, self.symmetric)?;
        let mut claim = Some(FairClaim {
            invariant: Vec::new(),
            proofs: Vec::new(),
            symmetric: attempt.symmetric(&images),
        });
        for (number, conjunct) in conjuncts.iter().enumerate() {
            if images[number].is_some() {
                continue;
            }
            let place = (number, conjuncts.len());
            let mut facts = BTreeSet::new();
            let decided = self.conjunct(attempt, observer, place, conjunct, &mut facts)?;
            // Whoever wants a certificate does not want to learn.
            if !self.certificates && attempt.system.processes() <= FEW {
                facts = self.needed(attempt, observer, place, conjunct, facts)?;
            }
            attempt.learnt.extend(facts);
            match decided {
                Decided::Violated(run) => return Ok(Answer::Violated(run)),
                Decided::Proved(Some(more)) if self.certificates => {
                    if let Some(claim) = &mut claim {
                        for part in more.invariant {
                            if !claim.invariant.contains(&part) {
                                claim.invariant.push(part);
                            }
                        }
                        claim.proofs.extend(more.proofs);
                    }
                }
                Decided::Proved(_) => claim = None,
                Decided::GaveUp => {
                    let engine = Monolithic {
                        symmetric: self.symmetric,
                        certificates: self.certificates,
                        explain: self.explain,
                        ..Monolithic::default()
                    };
                    return engine.decide(attempt, observer);
                }
            }
        }
        attempt.judge_vacuity(observer, &images);
        Ok(Answer::Proved(claim.filter(|_| self.certificates).map(
            |claim| Certificate::fair(attempt.system, &attempt.property.name, claim),
        )))
    }

    /// Those of some facts without which a proof cannot do: each is left out in turn, and what is still proved is learnt without it.
    fn needed(
        &self,
        attempt: &mut Attempt,
        observer: &mut dyn Observer,
        place: (usize, usize),
        conjunct: &Formula<Expr>,
        facts: BTreeSet<Exposed>,
    ) -> Result<BTreeSet<Exposed>, Halt> {
        let mut needed = facts.clone();
        for fact in &facts {
            let less = needed.iter().filter(|other| *other != fact);
            let trial = Local {
                exposed: less.cloned().collect(),
                explain: false,
                trial: true,
                ..self.clone()
            };
            let mut learnt = BTreeSet::new();
            let decided = trial.conjunct(attempt, observer, place, conjunct, &mut learnt)?;
            if let Decided::Proved(_) = decided {
                needed.remove(fact);
            }
        }
        Ok(needed)
    }

    /// Decides a conjunct. `learnt` are the facts that a proof exposed in the end.
    fn conjunct(
        &self,
        attempt: &mut Attempt,
        observer: &mut dyn Observer,
        place: (usize, usize),
        conjunct: &Formula<Expr>,
        learnt: &mut BTreeSet<Exposed>,
    ) -> Result<Decided, Halt> {
        let system = attempt.system;
        let limits = attempt.limits;
        let extended = Extended::new(system, attempt.liveness, conjunct);
        let program = Symbolic::new(system, room(limits))?;
        let groups = Groups::new(
            &program,
            attempt.property,
            attempt.liveness,
            conjunct,
            self.symmetric,
        )?;
        // In variant B a process that the conjunct speaks of: nothing of it need be exposed for that.
        let first = groups.mentioned.first().copied();
        let one = first.unwrap_or(ProcessId::from_raw(0));
        let mut exposure = Exposure::default();
        exposure.learn(&program, &groups, &self.exposed);
        let facts = exposure.facts();
        self.expose_for_property(attempt, &program, &groups, conjunct, one, &mut exposure)?;
        let grown = Grown::default();
        let mut search = Search::new(&grown, program, limits, observer);
        if exposure.facts() > facts && !self.trial {
            let facts = exposure.told(&search.symbolic, &groups);
            let note = format!("exposed for the property: {facts}");
            if !attempt.account.notes.contains(&note) {
                attempt.account.notes.push(note);
            }
        }
        loop {
            let layout_now = exposure.layout(&search.symbolic.layout);
            let rebuilt = search.symbolic.rebuild(layout_now)?;
            search.replace(rebuilt);
            let representatives = Representatives::of_groups(system, &groups.groups);
            let (view, assertions) = split_invariant(&mut search, &representatives)?;
            let program = search.symbolic.clone();
            let symbolic = Symbolic::with_layout(
                &extended.system,
                layout(&program.layout, &extended),
                room(limits),
            )?;
            let inner = Grown::default();
            let mut product = Search::new(&inner, symbolic, limits, search.observer);
            let abstraction = Abstraction::new(&product, &program, &assertions)?;
            let processes = self.looked_at(attempt, &groups, one);
            let round = self.round(
                attempt,
                &mut product,
                &extended,
                &abstraction,
                &processes,
                place,
            );
            attempt.count(&product);
            attempt.account.predicates = attempt.account.predicates.max(Some(exposure.facts()));
            let examined = match round? {
                Round::Violated(run) => return Ok(Decided::Violated(run)),
                Round::Proved(proofs) => {
                    attempt.count(&search);
                    learnt.extend(exposure.learnt(system, &groups));
                    if let Some(trigger) = trigger(conjunct)
                        && never(&program, &groups, &assertions, &trigger)?
                    {
                        attempt.never.insert(place.0);
                    }
                    let parts = std::iter::once(&assertions.common).chain(&assertions.own);
                    let invariant = match self.certificates {
                        true => graphs(&program, parts),
                        false => None,
                    };
                    if self.explain {
                        // Everybody is told of, whoever stands for whom.
                        let everybody = Representatives::new(system, false);
                        let outline = split_outline(&search, &everybody, view, assertions);
                        // One for all parts of the property: they differ in what is exposed at most.
                        if let Ok(outline) = outline {
                            attempt.outline = Outline {
                                argument: std::mem::take(&mut attempt.outline.argument),
                                ..outline
                            };
                        }
                    }
                    return Ok(Decided::Proved(proofs.zip(invariant).map(
                        |(proofs, invariant)| FairClaim {
                            invariant,
                            proofs,
                            symmetric: Vec::new(),
                        },
                    )));
                }
                Round::Open(_) if self.trial => return Ok(Decided::GaveUp),
                Round::Open(examined) => examined,
            };
            *attempt.account.refinements.get_or_insert(0) += 1;
            let before = exposure.facts();
            let listed = exposure.listed(&program, &groups);
            let mut new = false;
            let facts = match &examined {
                Examined::Tell(facts) => facts.as_slice(),
                Examined::Real(_) | Examined::TooLong => &[],
            };
            for fact in facts {
                new |= match fact {
                    Fact::Value(cell, values) => exposure.expose(&program, &groups, *cell, values),
                    Fact::Whatever(processes, sets) => {
                        expose_first(&mut exposure, &product.symbolic, &groups, processes, sets)?
                    }
                };
            }
            if !new {
                attempt.account.rounds.push(Told::new(
                    "nothing more can be told of an abstract run, so the whole program is looked at",
                ));
                return Ok(Decided::GaveUp);
            }
            let text = format!(
                "an abstract process has a fair run that the program does not have; {}",
                exposed(exposure.facts() - before)
            );
            let mut facts = exposure.listed(&program, &groups);
            facts.retain(|fact| !listed.contains(fact));
            let round = Told::new(text)
                .exposing(facts)
                .sized(product.symbolic.diagrams.nodes(), "nodes")
                .after(limits.seconds());
            attempt.account.rounds.push(round);
        }
    }

    /// Exposes what the property speaks of, and in plain local liveness what fairness does.
    fn expose_for_property(
        &self,
        attempt: &Attempt,
        program: &Symbolic,
        groups: &Groups,
        conjunct: &Formula<Expr>,
        one: ProcessId,
        exposure: &mut Exposure,
    ) -> Result<(), Halt> {
        let mut predicates: Vec<&Expr> = Vec::new();
        conjunct.for_atoms(&mut |atom| predicates.push(atom));
        if self.variant == Variant::Plain {
            for term in attempt.liveness.fairness.iter().flatten() {
                match &term.kind {
                    FairnessKind::Scheduled(_) => {}
                    FairnessKind::Weak(e) => predicates.push(e),
                    FairnessKind::Strong(p, q) => predicates.extend([p, q]),
                }
            }
        }
        for predicate in predicates {
            for taken in [0, 1] {
                let predicate = choose(predicate, &mut |_| Expr::Const(taken));
                let set = program.states(&predicate)?;
                for process in (0..program.system.processes()).map(ProcessId::from_raw) {
                    if self.variant != Variant::B || process != one {
                        exposure.expose_for(program, groups, process, &set)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whose abstract processes are looked at. In variant B one will do. Otherwise those who stand for others will, unless a
    /// certificate is wanted, which has a proof for everybody, or what was taken tells processes apart.
    fn looked_at(&self, attempt: &Attempt, groups: &Groups, one: ProcessId) -> Vec<ProcessId> {
        if self.variant == Variant::B {
            return vec![one];
        }
        if attempt.liveness.taken.is_empty() && !self.certificates {
            return groups.groups.iter().map(|group| group[0]).collect();
        }
        let all = 0..attempt.system.processes();
        all.map(ProcessId::from_raw).collect()
    }

    fn round(
        &self,
        attempt: &mut Attempt,
        search: &mut Search,
        extended: &Extended,
        abstraction: &Abstraction,
        processes: &[ProcessId],
        (number, conjuncts): (usize, usize),
    ) -> Result<Round, Halt> {
        let symbolic = search.symbolic.clone();
        let d = &symbolic.diagrams;
        let movers = self.variant != Variant::B;
        let mut proofs = Some(Vec::new());
        let mut arguments = Vec::new();
        for &process in processes {
            let graph = abstraction.graph(&symbolic, extended, process)?;
            let allowed = d.and(&abstraction.common, &abstraction.own[process])?;
            let mut reached = None;
            for (alternative, terms) in attempt.liveness.fairness.iter().enumerate() {
                let mover = movers.then_some(process);
                let conditions =
                    abstraction.conditions(&symbolic, extended, &graph, terms, process, mover)?;
                let left = fair::decide(search, &graph, &conditions, &allowed, &mut reached)?;
                if symbolic.diagrams.is_empty(&left.left) {
                    if self.explain {
                        let story = Story {
                            symbolic: &symbolic,
                            extended,
                            liveness: attempt.liveness,
                            terms,
                            hull: &left,
                            process: Some(process),
                            mover,
                        };
                        arguments.extend(story.lines(number, conjuncts));
                    }
                    if self.certificates
                        && let Some(known) = &mut proofs
                    {
                        let mover = mover.map(|mover| process_name(attempt.system, mover));
                        match proof(&symbolic, &left, number, alternative, mover) {
                            Some(proof) => known.push(proof),
                            None => proofs = None,
                        }
                    }
                    continue;
                }
                // Steps that others can surely take make a run that is more likely one of the program.
                let sure = abstraction.sure(&symbolic, &graph, process)?;
                let mut among = hull(search, &sure, &conditions, left.left.clone())?;
                let lasso = match symbolic.diagrams.is_empty(&among.left) {
                    true => lasso(search, &graph, &graph, &conditions, &left)?,
                    false => {
                        among.reached = left.reached.clone();
                        lasso(search, &graph, &sure, &conditions, &among)?
                    }
                };
                let examiner = Examiner {
                    symbolic: &symbolic,
                    extended,
                    abstraction,
                    graph: &graph,
                    process,
                    terms,
                    lasso: &lasso,
                    must: self.must,
                };
                return Ok(match examiner.examine()? {
                    Examined::Real(run) => Round::Violated(run),
                    examined => Round::Open(examined),
                });
            }
        }
        attempt.outline.argument.extend(arguments);
        Ok(Round::Proved(proofs))
    }
}

/// What became of a conjunct.
enum Decided {
    /// It holds; with certificates, why.
    Proved(Option<FairClaim>),
    /// It does not.
    Violated(Run),
    /// Nothing can be exposed that is not.
    GaveUp,
}

/// Whether the assertions exclude a predicate.
fn never(
    program: &Symbolic,
    groups: &Groups,
    assertions: &Assertions,
    predicate: &Expr,
) -> Result<bool, Halt> {
    let d = &program.diagrams;
    let mut states = d.and(&assertions.common, &program.states(predicate)?)?;
    for process in &groups.mentioned {
        states = d.and(&states, &assertions.own[*process])?;
    }
    Ok(d.is_empty(&d.and(&states, &program.valid)?))
}

/// Exposes whatever the first set that tells something new depends on.
fn expose_first(
    exposure: &mut Exposure,
    symbolic: &Symbolic,
    groups: &Groups,
    processes: &[ProcessId],
    sets: &[Bdd],
) -> Result<bool, Halt> {
    for set in sets {
        let mut new = false;
        for process in processes {
            new |= exposure.expose_for(symbolic, groups, *process, set)?;
        }
        if new {
            return Ok(true);
        }
    }
    Ok(false)
}

/// That so many facts are exposed, in words.
fn exposed(facts: u64) -> String {
    match facts {
        1 => "1 fact about processes is exposed".to_owned(),
        facts => format!("{facts} facts about processes are exposed"),
    }
}
