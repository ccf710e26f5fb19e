//! The whole program at once: fair cycles of its product with the automaton of the negated property. Complete for finite
//! programs, and the baseline that the local engines are measured against.

use threadwise_engine::{
    Answer, Decides, Engine, EngineInfo, Limits, Make, NO_SYMMETRY, Observer, Outcome, Run,
    RunEnding, Unsupported,
};
use threadwise_evidence::{Certificate, Duty, FairClaim, FairProof, Layer};
use threadwise_model::layout::{owners, process_id};
use threadwise_model::partial::for_cells;
use threadwise_model::system::{Expr, ProcessId, System, SystemProperty};
use threadwise_model::temporal::{Fairness, FairnessKind, Formula, Liveness};
use threadwise_symbolic::certificate::{Names, graph};
use threadwise_symbolic::{Bdd, Error, Halt, Search, Symbolic};

use crate::decide::Attempt;
use crate::explain::Story;
use crate::fair::{Conditions, Deleted, Hull, Must, Strong, decide};
use crate::lasso::{Lasso, lasso};
use crate::product::{Extended, Graph, Promises, moves_without_change};
use crate::seen::Seen;
use crate::vacuity::trigger;

/// The engine, as it is known.
pub static MONOLITHIC: EngineInfo = EngineInfo {
    name: "liveness-monolithic",
    about: "Fair cycles of the whole program, as decision diagrams; counterexamples are a stem and a loop.",
    decides: Decides::Liveness,
    explains: true,
    options: &[NO_SYMMETRY],
    make: Make::One(|setup| {
        Ok(Box::new(Monolithic {
            symmetric: !setup.options.has(&NO_SYMMETRY),
            certificates: setup.certificates,
            explain: setup.explain,
            ..Monolithic::default()
        }))
    }),
};

/// Looks for a fair cycle in the whole program.
#[derive(Clone, Debug, Default)]
pub struct Monolithic {
    /// Whether one conjunct stands for all that are the same but for who is who.
    pub symmetric: bool,
    /// Whether proofs come with certificates.
    pub certificates: bool,
    /// Whether proofs are told to people.
    pub explain: bool,
    /// How many states are visited first, to see which values occur; by default as many as is worth while, and none where variables have
    /// few values. No verdict depends on it.
    pub look: Option<u64>,
}

impl Engine for Monolithic {
    fn name(&self) -> &'static str {
        MONOLITHIC.name
    }

    fn accepts(&self, system: &System, property: &SystemProperty) -> Result<(), Unsupported> {
        crate::decide::accepts(self.name(), system, property)
    }

    fn check_all(
        &self,
        system: &System,
        properties: &[&SystemProperty],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Outcome {
        crate::decide::all(
            self,
            system,
            properties,
            limits,
            observer,
            |attempt, observer| self.decide(attempt, observer),
        )
    }
}

impl Monolithic {
    pub(crate) fn decide(
        &self,
        attempt: &mut Attempt,
        observer: &mut dyn Observer,
    ) -> Result<Answer, Halt> {
        let mut proofs = Some(Vec::new());
        let conjuncts = attempt.liveness.formula.conjuncts();
        let images = attempt.images(&conjuncts, self.symmetric)?;
        let mut seen = Seen::of(attempt.system, attempt.limits, self.look);
        for (number, conjunct) in conjuncts.iter().enumerate() {
            if images[number].is_some() {
                continue;
            }
            let extended = Extended::new(attempt.system, attempt.liveness, conjunct);
            let (system, limits) = (attempt.system, attempt.limits);
            let place = (number, conjuncts.len());
            let answer = seen.compute(
                system,
                &extended.system,
                limits,
                observer,
                |search, program| {
                    let answer =
                        self.conjunct(attempt, search, &extended, (conjunct, program), place);
                    attempt.count(search);
                    answer
                },
            );
            match answer? {
                Found::Run(run) => return Ok(Answer::Violated(run)),
                Found::Proofs(more) => {
                    if let (Some(proofs), Some(more)) = (&mut proofs, more) {
                        proofs.extend(more);
                    } else {
                        proofs = None;
                    }
                }
            }
        }
        let certificate = proofs.filter(|_| self.certificates).map(|proofs| {
            let claim = FairClaim {
                // What the proofs begin with is all they need.
                invariant: Vec::new(),
                proofs,
                symmetric: attempt.symmetric(&images),
            };
            Certificate::fair(attempt.system, &attempt.property.name, claim)
        });
        attempt.judge_vacuity(observer, &images);
        Ok(Answer::Proved(certificate))
    }

    fn conjunct(
        &self,
        attempt: &mut Attempt,
        search: &mut Search,
        extended: &Extended,
        (conjunct, program): (&Formula<Expr>, &Bdd),
        (number, conjuncts): (usize, usize),
    ) -> Result<Found, Halt> {
        let symbolic = search.symbolic.clone();
        let graph = whole(extended, &symbolic)?;
        if let Some(trigger) = trigger(conjunct) {
            let d = &symbolic.diagrams;
            if d.is_empty(&d.and(program, &symbolic.states(&trigger)?)?) {
                attempt.never.insert(number);
            }
        }
        let mut reached = None;
        let mut proofs = Some(Vec::new());
        for (alternative, terms) in attempt.liveness.fairness.iter().enumerate() {
            let conditions = exact(extended, &symbolic, &graph, terms)?;
            let hull = decide(search, &graph, &conditions, program, &mut reached)?;
            if !symbolic.diagrams.is_empty(&hull.left) {
                let lasso = lasso(search, &graph, &graph, &conditions, &hull)?;
                return Ok(Found::Run(run(extended, &symbolic, &lasso)?));
            }
            if self.explain {
                let story = Story {
                    symbolic: &symbolic,
                    extended,
                    liveness: attempt.liveness,
                    terms,
                    hull: &hull,
                    process: None,
                    mover: None,
                };
                attempt
                    .outline
                    .argument
                    .extend(story.lines(number, conjuncts));
            }
            if self.certificates
                && let Some(proofs) = &mut proofs
            {
                proofs.extend(proof(&symbolic, &hull, number, alternative, None));
            }
        }
        let expected = attempt.liveness.fairness.len();
        Ok(Found::Proofs(proofs.filter(|proofs| {
            !self.certificates || proofs.len() == expected
        })))
    }
}

enum Found {
    Run(Run),
    /// `None` if they cannot be written down.
    Proofs(Option<Vec<FairProof>>),
}

/// Whether no run is fair as a property assumes.
pub(crate) fn no_fair_run(
    system: &System,
    liveness: &Liveness,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<bool, Halt> {
    // Every run is against what never holds.
    let extended = Extended::new(system, liveness, &Formula::FALSE);
    let mut seen = Seen::of(system, limits, None);
    seen.compute(
        system,
        &extended.system,
        limits,
        observer,
        |search, program| {
            let symbolic = search.symbolic.clone();
            let graph = whole(&extended, &symbolic)?;
            let mut reached = None;
            for terms in &liveness.fairness {
                let conditions = exact(&extended, &symbolic, &graph, terms)?;
                let hull = decide(search, &graph, &conditions, program, &mut reached)?;
                if !symbolic.diagrams.is_empty(&hull.left) {
                    return Ok(false);
                }
            }
            Ok(true)
        },
    )
}

/// The whole product.
fn whole(extended: &Extended, symbolic: &Symbolic) -> Result<Graph, Halt> {
    let d = &symbolic.diagrams;
    let promises = Promises::new(extended, symbolic, &mut |predicate, positive| {
        let set = symbolic.states(predicate)?;
        Ok(if positive { set } else { d.not(&set)? })
    })?;
    let mut seen: Vec<u32> = symbolic.encoding.vars_of(&symbolic.encoding.order(), false);
    seen.sort_unstable();
    Ok(Graph {
        moves: symbolic.transitions.moves.clone(),
        still: symbolic
            .transitions
            .still
            .indices()
            .map(|process| symbolic.still(process))
            .collect::<Result<_, _>>()?,
        initial: d.and(&symbolic.initial, &promises.root)?,
        seen,
        promises,
    })
}

/// The fairness of an alternative on the whole product.
fn exact(
    extended: &Extended,
    symbolic: &Symbolic,
    graph: &Graph,
    terms: &[Fairness<Expr>],
) -> Result<Conditions, Halt> {
    let states = |predicate: &Expr| symbolic.states(&extended.predicate(predicate));
    conditions(extended, symbolic, graph, terms, None, &mut |predicate| {
        let set = states(predicate)?;
        Ok((set.clone(), set))
    })
}

/// Says where a predicate surely holds, and where it may.
type Predicate<'a> = dyn FnMut(&Expr) -> Result<(Bdd, Bdd), Halt> + 'a;

/// The conditions of fairness. `predicate` says where a predicate surely holds, and where it may; with a mover, the first
/// obligation is one of that process.
pub(crate) fn conditions(
    extended: &Extended,
    symbolic: &Symbolic,
    graph: &Graph,
    terms: &[Fairness<Expr>],
    mover: Option<ProcessId>,
    predicate: &mut Predicate,
) -> Result<Conditions, Halt> {
    let d = &symbolic.diagrams;
    let mut conditions = Conditions::default();
    let fulfilled = &graph.promises.fulfilled;
    if let Some(mover) = mover {
        conditions.musts.push(Must {
            duty: Duty::Mover,
            from: fulfilled.first().cloned().unwrap_or_else(|| d.all()),
            mover: Some(mover),
        });
    }
    let skipped = usize::from(mover.is_some());
    for (number, from) in fulfilled.iter().enumerate().skip(skipped) {
        conditions.musts.push(Must {
            duty: Duty::Obligation(number),
            from: from.clone(),
            mover: None,
        });
    }
    for (number, term) in terms.iter().enumerate() {
        let duty = Duty::Term(number);
        match &term.kind {
            FairnessKind::Scheduled(process) => conditions.musts.push(Must {
                duty,
                from: d.all(),
                mover: Some(process_id(&extended.system, *process)),
            }),
            FairnessKind::Weak(e) => conditions.musts.push(Must {
                duty,
                from: predicate(e)?.1,
                mover: None,
            }),
            FairnessKind::Strong(p, q) => {
                let owners = owners(symbolic.system);
                let mut of = None;
                for_cells(symbolic.system, q, &mut |cell| of = of.or(owners[cell]));
                conditions.strong.push(Strong {
                    term: number,
                    p: predicate(p)?.0,
                    q: predicate(q)?.1,
                    of,
                });
            }
        }
    }
    Ok(conditions)
}

/// The proof that a hull is empty, written down; `None` if some cell cannot be part of a certificate.
pub(crate) fn proof(
    symbolic: &Symbolic,
    hull: &Hull,
    conjunct: usize,
    alternative: usize,
    mover: Option<String>,
) -> Option<FairProof> {
    let names = Names::of(symbolic)?;
    let mut layers = Vec::new();
    for deleted in &hull.layers {
        layers.push(match deleted {
            Deleted::Stuck(set) => Layer::Stuck {
                remove: names.about(set)?,
            },
            Deleted::Unfair(duty, set) => Layer::Unfair {
                lacks: *duty,
                remove: names.about(set)?,
            },
            Deleted::Strong(term, set) => Layer::Strong {
                term: *term,
                within: names.about(set)?,
            },
        });
    }
    Some(FairProof {
        conjunct,
        alternative,
        mover,
        // Over all cells: what is not a value of a reached state is not in it.
        start: graph(symbolic, symbolic.system, &hull.reached)?,
        layers,
    })
}

/// A run of the program out of one of the whole product.
fn run(extended: &Extended, symbolic: &Symbolic, lasso: &Lasso) -> Result<Run, Halt> {
    let decode = |values: &[Option<bool>]| {
        let state = symbolic.encoding.decode(values);
        state.ok_or_else(|| Halt::from(Error::Internal("a state that stands for none")))
    };
    let mut moves = std::collections::BTreeSet::new();
    let mut before = decode(&lasso.initial.values)?;
    let program = |state: &[i64]| state[..extended.program_cells].to_vec();
    let initial = program(&before);
    let mut steps = Vec::new();
    for (position, (process, state)) in lasso.steps.iter().enumerate() {
        let state = decode(&state.values)?;
        if program(&state) == program(&before) {
            let taken = extended.last.is_some_and(|last| state[last.index()] != 0);
            if taken || moves_without_change(&extended.system, &before, *process) {
                moves.insert(position);
            }
        }
        steps.push((*process, program(&state)));
        before = state;
    }
    Ok(Run {
        initial,
        steps,
        ending: RunEnding::Loop {
            from: lasso.loop_from,
            moves,
        },
    })
}
