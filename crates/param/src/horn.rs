//! The abstraction as constrained Horn clauses in SMT-LIB 2, for solvers such as Z3 (Spacer) and Eldarica.
//!
//! Each view is a predicate over its variables. Each way for the states of a view to come about is a clause: what holds before, with the predicates of all views on the processes in scope,
//! implies the predicate after. Each way to violate the property is a query. Whatever satisfies the clauses is a proof, as assertions of views are: `sat` means that the property
//! holds. `unsat` says less: there is a violation of the abstraction, which need not be one of the program.
//!
//! The equations that `Inference` finds hold of all reachable states, so adding them to the bodies of clauses changes no answer. It makes many clauses easy that solvers do not
//! come to an end with otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use threadwise_engine::{Limits, Silent};
use threadwise_evidence::CHECKS;
use threadwise_evidence::arithmetic::{Formula as Linear, Variable};
use threadwise_lang::program::Program;
use threadwise_model::family::{Family, Unsupported};
use threadwise_show::{SmtLib, sum};

use crate::candidates::Modes;
use crate::conditions::{Case, Cases, Goal, Instantiation, Origin, TooMuch};
use crate::counter::Claimed;
use crate::engine::{QUESTIONS, SAMPLES};
use crate::infer::{Inference, variables};
use crate::points::Points;
use crate::questions::Halt;
use crate::scope::{Form, Ghosts, Table};
use crate::small;

/// Horn clauses of a program.
#[derive(Clone, Debug)]
pub struct Horn {
    /// The clauses and queries, in SMT-LIB 2.
    pub text: String,
    /// Properties that they say nothing about, because they are of another kind or have no such form.
    pub left_out: Vec<String>,
}

/// Why there are no clauses.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HornError {
    /// The program has no form for all values of its parameters.
    #[error("it has no form for all values of the parameters: {0}")]
    Program(Unsupported),
    /// A property that was asked for has none.
    #[error("`{0}` has no form for all values of the parameters: {1}")]
    Property(String, Unsupported),
    /// A property of another kind was asked for.
    #[error("Horn clauses are about invariants and the built-in checks, and `{0}` is neither")]
    Kind(String),
    /// There would be too many clauses, or numbers are too large.
    #[error("the abstraction cannot be written: {0}")]
    TooMuch(String),
    /// The equations were not found.
    #[error("no lemmas: {0}")]
    Lemmas(String),
}

/// Writes the abstraction of a program as Horn clauses, for all values of the parameters that are not fixed. Without any properties by name, it is about all that have the form.
pub fn horn(
    program: &Arc<Program>,
    fixed: &BTreeMap<String, i64>,
    properties: &[String],
    lemmas: bool,
) -> Result<Horn, HornError> {
    let family = Family::new(Arc::clone(program), fixed).map_err(HornError::Program)?;
    let mut left_out = Vec::new();
    let mut claimed: Vec<(String, Claimed)> = Vec::new();
    let all: Vec<String> = match properties {
        [] => {
            let declared = program.properties.iter().map(|p| p.name.clone());
            std::iter::once(CHECKS.to_owned()).chain(declared).collect()
        }
        some => some.to_vec(),
    };
    for name in all {
        if name == CHECKS {
            claimed.push((name, Claimed::Checks));
            continue;
        }
        match family.invariant(&name) {
            Ok(Some(conjuncts)) => claimed.push((name, Claimed::Invariant(conjuncts))),
            _ if properties.is_empty() => left_out.push(name),
            Ok(None) => return Err(HornError::Kind(name)),
            Err(unsupported) => return Err(HornError::Property(name, unsupported)),
        }
    }
    let too_much = |error: TooMuch| HornError::TooMuch(error.to_string());
    let Abstraction { cases, goals } = abstraction(&family, &claimed).map_err(too_much)?;
    let equations = match lemmas {
        false => Vec::new(),
        true => {
            let samples = small::samples(
                &family.shared_program(),
                fixed,
                SAMPLES,
                &|_| {},
                &Limits::NONE,
                &mut Silent,
            );
            let points = Points::new(&cases, &samples);
            let modes = Modes::none(&cases);
            let mut inference = Inference::new(&cases, &points, &modes, QUESTIONS, &|| false);
            let found = inference.close_hulls().and_then(|()| equations(&inference));
            found.map_err(|halt| HornError::Lemmas(halt.to_string()))?
        }
    };
    Ok(Horn {
        text: clauses(&cases, &goals, &equations),
        left_out,
    })
}

/// An abstraction of a program.
pub(crate) struct Abstraction<'a> {
    pub(crate) cases: Cases<'a>,
    /// What must be contradictory, for each property.
    pub(crate) goals: Vec<(String, Vec<Goal>)>,
}

/// The abstraction that properties need: views of as many processes as they speak of, and one at least.
pub(crate) fn abstraction<'a>(
    family: &'a Family,
    properties: &[(String, Claimed)],
) -> Result<Abstraction<'a>, TooMuch> {
    let arity = properties.iter().map(|(_, claimed)| match claimed {
        Claimed::Checks | Claimed::Deadlock => 1,
        Claimed::Invariant(conjuncts) => {
            let each = conjuncts.iter().map(|conjunct| conjunct.variables.len());
            each.max().unwrap_or(1)
        }
    });
    let arity = arity.max().unwrap_or(1).max(1);
    let mut cases = Cases::new(family, Table::default(), Ghosts::default(), arity)?;
    let mut goals = Vec::new();
    for (name, claimed) in properties {
        goals.push((name.clone(), claimed.goals(&mut cases)?));
    }
    Ok(Abstraction { cases, goals })
}

/// What is known of each view.
pub(crate) fn equations(inference: &Inference) -> Result<Vec<Vec<Linear>>, Halt> {
    let views = 0..inference.cases.views.len();
    let each = views.map(|view| inference.formulas(view).map_err(Halt::from));
    each.collect()
}

/// The clauses in SMT-LIB. `lemmas` has what is known of each view; it may be empty.
pub(crate) fn clauses(
    cases: &Cases,
    goals: &[(String, Vec<Goal>)],
    lemmas: &[Vec<Linear>],
) -> String {
    let mut writer = Writer {
        cases,
        lemmas,
        text: String::new(),
    };
    writer.line("; Written by threadwise: a thread-modular counter abstraction as Horn clauses.");
    writer.line("; A predicate for each view: for processes at these labels. If the clauses are");
    writer.line("; satisfiable, the property holds for all values of the parameters.");
    writer.line("(set-logic HORN)");
    for view in 0..cases.views.len() {
        let sorts = vec!["Int"; cases.variables[view].len()].join(" ");
        let name = predicate(cases, view);
        writer.line(&format!("(declare-fun {name} ({sorts}) Bool)"));
    }
    for case in &cases.cases {
        writer.case(case);
    }
    for (name, goals) in goals {
        for goal in goals {
            writer.line(&format!("; a violation of {name}"));
            writer.clause(&goal.facts, &goal.assumed, "false", &BTreeSet::new());
        }
    }
    writer.line("(check-sat)");
    writer.line("(get-model)");
    writer.text
}

/// The name of the predicate of a view.
pub(crate) fn predicate(cases: &Cases, view: usize) -> String {
    let references = cases.views[view].references.iter();
    let places: String = references
        .map(|reference| {
            let template = &cases.family.templates[reference.template];
            format!(
                "/{}.{}",
                template.name, template.locations[reference.location]
            )
        })
        .collect();
    format!("|view{places}|")
}

struct Writer<'c, 'a> {
    cases: &'c Cases<'a>,
    lemmas: &'c [Vec<Linear>],
    text: String,
}

impl Writer<'_, '_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The name of a variable. Quoted symbols may have anything in them but bars and backslashes.
    fn name(&self, variable: Variable) -> String {
        let name = self.cases.table.name(self.cases.family, variable);
        format!("|{}|", name.replace('|', "!"))
    }

    fn case(&mut self, case: &Case) {
        let family = self.cases.family;
        self.line(&match &case.origin {
            Origin::Initial => "; at first".to_owned(),
            Origin::Step {
                mover,
                template,
                path,
                ..
            } => {
                let who = match mover {
                    Some(place) => format!("${place}"),
                    None => "another process".to_owned(),
                };
                let template = &family.templates[*template];
                let from = &template.locations[template.paths[*path].from];
                format!("; a step of {who} at {}.{from}", template.name)
            }
        });
        let mut used = BTreeSet::new();
        let mut head = predicate(self.cases, case.view);
        let variables = &self.cases.variables[case.view];
        for variable in variables {
            let value = match case.after.get(variable) {
                Some(value) => value.clone(),
                None => Form::variable(*variable),
            };
            used.extend(value.terms.iter().map(|(variable, _)| *variable));
            let value = sum(&value.terms, value.constant, &|v| self.name(v));
            let _ = write!(head, " {value}");
        }
        if !variables.is_empty() {
            head = format!("({head})");
        }
        self.clause(&case.facts, &case.assumed, &head, &used);
    }

    /// A clause with this head, which has these variables.
    fn clause(
        &mut self,
        facts: &[Linear],
        assumed: &[Instantiation],
        head: &str,
        used: &BTreeSet<Variable>,
    ) {
        let mut used = used.clone();
        let mut body: Vec<String> = Vec::new();
        let mut formulas: Vec<Linear> = Vec::new();
        for instantiation in assumed {
            let view = instantiation.view;
            let mut application = predicate(self.cases, view);
            for variable in &self.cases.variables[view] {
                let renamed = instantiation.renaming.get(variable).unwrap_or(variable);
                used.insert(*renamed);
                let _ = write!(application, " {}", self.name(*renamed));
            }
            if !self.cases.variables[view].is_empty() {
                application = format!("({application})");
            }
            // Two processes that look alike say the same.
            if !body.contains(&application) {
                body.push(application);
            }
            let lemmas = self.lemmas.get(view).into_iter().flatten();
            formulas.extend(lemmas.map(|lemma| Cases::renamed(lemma, &instantiation.renaming)));
        }
        formulas.extend(facts.iter().cloned());
        let mut written = BTreeSet::new();
        for formula in &formulas {
            // What is known twice is written once.
            if formula.truth() != Some(true) && written.insert(formula) {
                used.extend(variables(formula));
                let name = &|variable| self.name(variable);
                body.push(SmtLib { formula, name }.to_string());
            }
        }
        let bound: Vec<String> = used
            .iter()
            .map(|variable| format!("({} Int)", self.name(*variable)))
            .collect();
        let body = match body.as_slice() {
            [] => "true".to_owned(),
            [one] => one.clone(),
            several => format!("(and {})", several.join("\n      ")),
        };
        let clause = format!("(=> {body}\n    {head})");
        match bound.is_empty() {
            true => self.line(&format!("(assert {clause})")),
            false => self.line(&format!(
                "(assert (forall ({})\n  {clause}))",
                bound.join(" ")
            )),
        }
    }
}
