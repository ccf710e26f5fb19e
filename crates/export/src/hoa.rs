//! HOA, the format in which tools exchange automata over runs: the automaton of a negated liveness property. It accepts the runs that violate the
//! property, fair or not.
//!
//! A state is a set of promises of the [tableau](threadwise_model::tableau): what must hold from the next position on. The ways to
//! keep all of them are a disjunction of cases, each with some literals and some new promises, and each case is an edge. More promises
//! than a case needs would only make a run harder to accept, so there are no other edges. A promise of `U` must not
//! be made for ever, so a state belongs to the acceptance set of each `U` that it does not promise.
//!
//! Atomic propositions are named as in the source, with the values of bound variables put in. The format is described
//! by T. Babiak and others, The Hanoi omega-automata format (CAV 2015).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use threadwise_lang::print;
use threadwise_lang::program::{BoundId, Expr, ExprKind, Program, Property, PropertyKind};
use threadwise_model::instance::Instance;
use threadwise_model::names::Names;
use threadwise_model::tableau::{Tableau, Truth};
use threadwise_model::temporal::{self, Formula, TooLarge};

/// The most cases and edges that are listed.
const MOST: usize = 100_000;

/// Why there is no automaton.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HoaError {
    /// The model has several liveness properties, or none.
    #[error("{}", not_one(.0))]
    NotOne(Vec<String>),
    /// The property says something else.
    #[error("`{0}` is not a liveness property, and only these have an automaton")]
    NotLiveness(String),
    /// It has too many states or edges.
    #[error("the automaton of `{0}` is too large to be written")]
    TooLarge(String),
}

fn not_one(names: &[String]) -> String {
    match names {
        [] => "the model has no liveness property, and only these have an automaton".to_owned(),
        _ => format!(
            "an automaton is for one property: choose with `--property` one of {}",
            names.join(", ")
        ),
    }
}

/// Writes the automaton of a negated liveness property of an instance. Without a name, the
/// property is the only one.
pub fn hoa(instance: &Instance, property: Option<&str>) -> Result<String, HoaError> {
    let properties = &instance.program().properties;
    let live = |property: &&Property| matches!(property.kind, PropertyKind::Liveness { .. });
    let found: Vec<&Property> = match property {
        Some(name) => properties.iter().filter(|p| p.name == name).collect(),
        None => properties.iter().filter(live).collect(),
    };
    let [found] = found[..] else {
        return Err(match property {
            Some(name) => HoaError::NotLiveness(name.to_owned()),
            None => HoaError::NotOne(found.iter().map(|p| p.name.clone()).collect()),
        });
    };
    let PropertyKind::Liveness { formula, .. } = &found.kind else {
        return Err(HoaError::NotLiveness(found.name.clone()));
    };
    let too_large = || HoaError::TooLarge(found.name.clone());
    let unfolded =
        temporal::unfold(instance, formula, found.span).map_err(|TooLarge { .. }| too_large())?;
    let mut propositions = Propositions {
        names: Names::new(instance),
        program: instance.program(),
        all: Vec::new(),
    };
    let formula = propositions.formula(&unfolded);
    let automaton = Automaton::new(&Tableau::of_negation(&formula)).ok_or_else(too_large)?;
    Ok(automaton.write(&found.name, &propositions.all))
}

/// The atomic propositions, numbered as they come.
struct Propositions<'a> {
    names: Names<'a>,
    program: &'a Program,
    all: Vec<String>,
}

impl Propositions<'_> {
    fn formula(&mut self, formula: &Formula<temporal::Atom>) -> Formula<usize> {
        let mut many = |parts: &[Formula<temporal::Atom>]| -> Vec<Formula<usize>> {
            parts.iter().map(|part| self.formula(part)).collect()
        };
        match formula {
            Formula::Atom(atom) => self.predicate(atom.expr, &atom.bindings),
            Formula::And(parts) => Formula::And(many(parts)),
            Formula::Or(parts) => Formula::Or(many(parts)),
            Formula::Not(f) => Formula::Not(Box::new(self.formula(f))),
            Formula::Next(f) => Formula::Next(Box::new(self.formula(f))),
            Formula::Until(f, g) => {
                Formula::Until(Box::new(self.formula(f)), Box::new(self.formula(g)))
            }
            Formula::Release(f, g) => {
                Formula::Release(Box::new(self.formula(f)), Box::new(self.formula(g)))
            }
        }
    }

    /// What a predicate is made of: connectives become those of the formula, the rest are propositions.
    fn predicate(&mut self, expr: &Expr, bindings: &[(BoundId, i64)]) -> Formula<usize> {
        let mut part = |expr: &Expr| self.predicate(expr, bindings);
        let not = |f: Formula<usize>| Formula::Not(Box::new(f));
        match &expr.kind {
            ExprKind::Bool(true) => Formula::TRUE,
            ExprKind::Bool(false) => Formula::FALSE,
            ExprKind::Not(e) => not(part(e)),
            ExprKind::And(parts) => Formula::And(parts.iter().map(part).collect()),
            ExprKind::Or(parts) => Formula::Or(parts.iter().map(part).collect()),
            ExprKind::Implies(a, b) => Formula::Or(vec![not(part(a)), part(b)]),
            ExprKind::Iff(a, b) => {
                let (a, b) = (part(a), part(b));
                Formula::Or(vec![
                    Formula::And(vec![a.clone(), b.clone()]),
                    Formula::And(vec![not(a), not(b)]),
                ])
            }
            _ => {
                let name = self.name(expr, bindings);
                let known = self.all.iter().position(|other| *other == name);
                Formula::Atom(known.unwrap_or_else(|| {
                    self.all.push(name);
                    self.all.len() - 1
                }))
            }
        }
    }

    /// A predicate with values for bound variables.
    fn name(&self, expr: &Expr, bindings: &[(BoundId, i64)]) -> String {
        let value = |(bound, value): &(BoundId, i64)| {
            let (_, value) = self.names.bound(*bound, *value);
            (*bound, value.to_string())
        };
        let values: Vec<(BoundId, String)> = bindings.iter().map(value).collect();
        print::with_values(self.program, expr, &values)
    }
}

/// A case of a disjunction: literals and promises that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Case {
    literals: BTreeMap<usize, bool>,
    promises: BTreeSet<usize>,
}

impl Case {
    fn with(&self, other: &Case) -> Option<Case> {
        let mut both = self.clone();
        for (atom, value) in &other.literals {
            if *both.literals.entry(*atom).or_insert(*value) != *value {
                return None;
            }
        }
        both.promises.extend(&other.promises);
        Some(both)
    }

    /// Whether this asks for no more than another.
    fn covers(&self, other: &Case) -> bool {
        let mut literals = self.literals.iter();
        self.promises.is_subset(&other.promises)
            && literals.all(|(atom, value)| other.literals.get(atom) == Some(value))
    }
}

/// A disjunction of cases, none of which covers another. Promises occur positively only, so this is all there is.
type Cases = BTreeSet<Case>;

struct Disjunctions;

/// More than [`MOST`] cases.
struct Many;

fn minimal(cases: Cases) -> Result<Cases, Many> {
    if cases.len() > MOST {
        return Err(Many);
    }
    let least = |case: &&Case| {
        let mut others = cases.iter().filter(|other| other != case);
        !others.any(|other| other.covers(case))
    };
    Ok(cases.iter().filter(least).cloned().collect())
}

impl Truth<usize> for Disjunctions {
    type Value = Cases;
    type Error = Many;

    fn constant(&mut self, value: bool) -> Result<Cases, Many> {
        Ok(value.then(Case::default).into_iter().collect())
    }

    fn literal(&mut self, atom: &usize, positive: bool) -> Result<Cases, Many> {
        Ok([Case {
            literals: [(*atom, positive)].into(),
            promises: BTreeSet::new(),
        }]
        .into())
    }

    fn bit(&mut self, bit: usize) -> Result<Cases, Many> {
        Ok([Case {
            literals: BTreeMap::new(),
            promises: [bit].into(),
        }]
        .into())
    }

    fn and(&mut self, a: &Cases, b: &Cases) -> Result<Cases, Many> {
        if a.len().saturating_mul(b.len()) > MOST {
            return Err(Many);
        }
        let pairs = a
            .iter()
            .flat_map(|one| b.iter().map(|other| one.with(other)));
        minimal(pairs.flatten().collect())
    }

    fn or(&mut self, a: &Cases, b: &Cases) -> Result<Cases, Many> {
        minimal(a.union(b).cloned().collect())
    }
}

/// The automaton.
struct Automaton {
    /// What each state promises; nothing for the first, where the formula itself must hold.
    states: Vec<Option<BTreeSet<usize>>>,
    /// The edges from each state: where to, and in which cases.
    edges: Vec<BTreeMap<usize, Vec<BTreeMap<usize, bool>>>>,
    /// The promises of `U`.
    obligations: Vec<usize>,
}

impl Automaton {
    fn new(tableau: &Tableau<usize>) -> Option<Automaton> {
        let truth = &mut Disjunctions;
        let values = tableau.values(truth).ok()?;
        let start = tableau.start(&values, truth).ok()?;
        let demands = tableau.demands(&values, truth).ok()?;
        let mut automaton = Automaton {
            states: vec![None],
            edges: Vec::new(),
            obligations: tableau.obligations(),
        };
        let mut known: BTreeMap<BTreeSet<usize>, usize> = BTreeMap::new();
        let mut listed = 0;
        while let Some(promised) = automaton.states.get(automaton.edges.len()) {
            let cases = match promised {
                None => start.clone(),
                Some(promised) => {
                    let mut all = truth.constant(true).ok()?;
                    for bit in promised {
                        all = truth.and(&all, &demands[*bit]).ok()?;
                    }
                    all
                }
            };
            listed += cases.len() + 1;
            if listed > MOST {
                return None;
            }
            let mut edges: BTreeMap<usize, Vec<BTreeMap<usize, bool>>> = BTreeMap::new();
            for case in cases {
                let to = *known.entry(case.promises.clone()).or_insert_with(|| {
                    automaton.states.push(Some(case.promises));
                    automaton.states.len() - 1
                });
                edges.entry(to).or_default().push(case.literals);
            }
            automaton.edges.push(edges);
        }
        Some(automaton)
    }

    fn write(&self, property: &str, propositions: &[String]) -> String {
        let mut out = String::from("HOA: v1\n");
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(out, "tool: \"threadwise\" \"{version}\"");
        let _ = writeln!(out, "name: {}", quoted(&format!("not {property}")));
        let _ = writeln!(out, "States: {}\nStart: 0", self.states.len());
        let names = propositions.iter().map(|name| format!(" {}", quoted(name)));
        let _ = writeln!(
            out,
            "AP: {}{}",
            propositions.len(),
            names.collect::<String>()
        );
        let sets = self.obligations.len();
        let acceptance: Vec<String> = (0..sets).map(|set| format!("Inf({set})")).collect();
        let _ = match sets {
            0 => writeln!(out, "acc-name: all\nAcceptance: 0 t"),
            1 => writeln!(out, "acc-name: Buchi\nAcceptance: 1 Inf(0)"),
            _ => writeln!(
                out,
                "acc-name: generalized-Buchi {sets}\nAcceptance: {sets} {}",
                acceptance.join("&")
            ),
        };
        out.push_str("properties: trans-labels explicit-labels state-acc\n--BODY--\n");
        for (state, edges) in self.edges.iter().enumerate() {
            let sets: Vec<String> = (self.obligations.iter().enumerate())
                .filter(|(_, bit)| {
                    let promised = self.states[state].as_ref();
                    promised.is_some_and(|promised| !promised.contains(bit))
                })
                .map(|(set, _)| set.to_string())
                .collect();
            let _ = match sets.is_empty() {
                true => writeln!(out, "State: {state}"),
                false => writeln!(out, "State: {state} {{{}}}", sets.join(" ")),
            };
            for (to, cases) in edges {
                let label: Vec<String> = cases.iter().map(conjunction).collect();
                let _ = writeln!(out, "[{}] {to}", label.join(" | "));
            }
        }
        out.push_str("--END--\n");
        out
    }
}

fn conjunction(literals: &BTreeMap<usize, bool>) -> String {
    if literals.is_empty() {
        return "t".to_owned();
    }
    let literal = |(atom, value): (&usize, &bool)| match value {
        true => atom.to_string(),
        false => format!("!{atom}"),
    };
    literals.iter().map(literal).collect::<Vec<_>>().join("&")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
