//! The abstraction as constrained Horn clauses in SMT-LIB 2, for solvers such as Z3 (Spacer) and Eldarica.
//!
//! Each view is a predicate over its variables. Each way for the states of a view to come about is a clause: what holds before, with the predicates of all views on the processes in scope,
//! implies the predicate after. Each way to violate the property is a query. Whatever satisfies the clauses is a proof, as assertions of views are: `sat` means that the property
//! holds. `unsat` says less: there is a violation of the abstraction, which need not be one of the program.
//!
//! The equations that `Inference` finds hold of all reachable states, so adding them to the bodies of clauses changes no answer. It makes many clauses easy that solvers do not
//! come to an end with otherwise.
//!
//! As published (Definitions 3 to 5 of Pani, Weissenbacher and Zuleger, FMCAD 2020), clauses know less: those who are followed are as many from the first to the last, the counters
//! count the others alone, and the own variables of another one that moves may have any values. Each clause has one predicate in its body then, that of the state before.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::sync::Arc;

use threadwise_engine::{Limits, Silent};
use threadwise_evidence::CHECKS;
use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Variable};
use threadwise_lang::program::Program;
use threadwise_model::family::{Family, Unsupported};
use threadwise_show::{SmtLib, sum};

use crate::candidates::Modes;
use crate::cegar::{Before, Summary, Transitions};
use crate::conditions::{Case, Cases, Goal, Instantiation, Origin, TooMuch, form_after};
use crate::counter::Claimed;
use crate::engine::{QUESTIONS, SAMPLES};
use crate::infer::{Inference, variables};
use crate::points::Points;
use crate::questions::Halt;
use crate::scope::{Form, Ghosts, Table, Var};
use crate::small;

/// What clauses say of the processes that are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// What is known of the one that moves is what is known of every process.
    Known,
    /// The same, and equations that hold of all reachable states.
    WithLemmas,
    /// As published: whatever its text allows, its own variables having any values, and counters are about the others alone.
    Anything,
}

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
    others: Others,
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
    let equations = match others {
        Others::Known | Others::Anything => Vec::new(),
        Others::WithLemmas => {
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
    let text = match others {
        Others::Anything => published(&cases, &goals).map_err(|e| too_much(e.into()))?,
        Others::Known | Others::WithLemmas => clauses(&cases, &goals, &equations),
    };
    Ok(Horn { text, left_out })
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
    let arity = properties.iter().map(|(_, claimed)| claimed.arity());
    let arity = arity.max().unwrap_or(1);
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
        counted: "",
        text: String::new(),
    };
    writer.begin(0..cases.views.len());
    for case in &cases.cases {
        writer.case(case);
    }
    for (name, goals) in goals {
        for goal in goals {
            writer.line(&format!("; a violation of {name}"));
            writer.clause(&goal.facts, &goal.assumed, "false", &BTreeSet::new());
        }
    }
    writer.end()
}

/// The clauses as published.
fn published(cases: &Cases, goals: &[(String, Vec<Goal>)]) -> Result<String, Overflow> {
    let all: Vec<Goal> = goals.iter().flat_map(|(_, goals)| goals.clone()).collect();
    let system = Transitions::new(cases, &all, Summary::Anything);
    let mut writer = Writer {
        cases,
        lemmas: &[],
        counted: "other ",
        text: String::new(),
    };
    writer.begin(system.views.iter().copied());
    for (number, edge) in system.edges.iter().enumerate() {
        let case = system.case(number);
        writer.origin(case);
        // Counters of the scope count everybody who was there before.
        let map = followed(
            cases,
            edge.before.as_ref().map_or(case.view, |before| before.view),
        );
        let mut used = BTreeSet::new();
        let after = followed(cases, case.view);
        let mut values = Vec::new();
        for (variable, value) in cases.variables[case.view].iter().zip(system.values(number)) {
            let value = form_after(&value.terms, value.constant, &map)?;
            let here = after.get(variable).map_or(0, |form| form.constant);
            values.push(value.add(-here)?);
        }
        let head = writer.application(case.view, &values, &mut used);
        writer.step(&edge.facts, edge.before.as_ref(), &map, &head, used)?;
    }
    for target in &system.targets {
        writer.line("; a violation");
        let (before, map) = (&target.before, followed(cases, target.before.view));
        writer.step(&target.facts, Some(before), &map, "false", BTreeSet::new())?;
    }
    Ok(writer.end())
}

/// The counters of everybody, by those of the others: more by how many of a view are at the label.
fn followed(cases: &Cases, view: usize) -> HashMap<Variable, Form> {
    let mut map: HashMap<Variable, Form> = HashMap::new();
    for reference in &cases.views[view].references {
        let counter = Var::Counter(reference.template, reference.location);
        if let Some(variable) = cases.table.known(&counter) {
            let form = map.entry(variable);
            form.or_insert_with(|| Form::variable(variable)).constant += 1;
        }
    }
    map
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
    /// Whom the counters count, if that is not everybody.
    counted: &'static str,
    text: String,
}

impl Writer<'_, '_> {
    fn begin(&mut self, views: impl Iterator<Item = usize>) {
        self.line("; Written by threadwise: a thread-modular counter abstraction as Horn clauses.");
        self.line("; A predicate for each view: for processes at these labels. If the clauses are");
        self.line("; satisfiable, the property holds for all values of the parameters.");
        self.line("(set-logic HORN)");
        for view in views {
            let sorts = vec!["Int"; self.cases.variables[view].len()].join(" ");
            let name = predicate(self.cases, view);
            self.line(&format!("(declare-fun {name} ({sorts}) Bool)"));
        }
    }

    fn end(mut self) -> String {
        self.line("(check-sat)");
        self.line("(get-model)");
        self.text
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The name of a variable. Quoted symbols may have anything in them but bars and backslashes.
    fn name(&self, variable: Variable) -> String {
        let name = self.cases.table.name(self.cases.family, variable);
        let counted = match self.cases.table.var(variable) {
            Var::Counter(..) => self.counted,
            _ => "",
        };
        format!("|{counted}{}|", name.replace('|', "!"))
    }

    /// A predicate with values for the variables of its view.
    fn application(&self, view: usize, values: &[Form], used: &mut BTreeSet<Variable>) -> String {
        let mut application = predicate(self.cases, view);
        for value in values {
            used.extend(value.terms.iter().map(|(variable, _)| *variable));
            let value = sum(&value.terms, value.constant, &|v| self.name(v));
            let _ = write!(application, " {value}");
        }
        match values.is_empty() {
            true => application,
            false => format!("({application})"),
        }
    }

    /// A clause as published: from the state before, or from nowhere.
    fn step(
        &mut self,
        facts: &[Linear],
        before: Option<&Before>,
        map: &HashMap<Variable, Form>,
        head: &str,
        mut used: BTreeSet<Variable>,
    ) -> Result<(), Overflow> {
        let body = before.map(|before| {
            let variables = before.variables.iter().copied().map(Form::variable);
            self.application(before.view, &variables.collect::<Vec<_>>(), &mut used)
        });
        let facts = facts.iter().map(|fact| Cases::after(fact, map));
        let facts = facts.collect::<Result<Vec<_>, _>>()?;
        self.implies(body.into_iter().collect(), &facts, head, used);
        Ok(())
    }

    fn origin(&mut self, case: &Case) {
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
    }

    fn case(&mut self, case: &Case) {
        self.origin(case);
        let mut used = BTreeSet::new();
        let values = self.cases.variables[case.view].iter().map(|variable| {
            let value = case.after.get(variable);
            value.map_or_else(|| Form::variable(*variable), Form::clone)
        });
        let head = self.application(case.view, &values.collect::<Vec<_>>(), &mut used);
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
            let renamed = |variable| instantiation.renaming.get(variable).unwrap_or(variable);
            let variables = self.cases.variables[view].iter();
            let values = variables.map(|variable| Form::variable(*renamed(variable)));
            let application = self.application(view, &values.collect::<Vec<_>>(), &mut used);
            // Two processes that look alike say the same.
            if !body.contains(&application) {
                body.push(application);
            }
            let lemmas = self.lemmas.get(view).into_iter().flatten();
            formulas.extend(lemmas.map(|lemma| Cases::renamed(lemma, &instantiation.renaming)));
        }
        formulas.extend(facts.iter().cloned());
        self.implies(body, &formulas, head, used);
    }

    /// A clause with these predicates and formulas in its body.
    fn implies(
        &mut self,
        mut body: Vec<String>,
        formulas: &[Linear],
        head: &str,
        mut used: BTreeSet<Variable>,
    ) {
        let mut written = BTreeSet::new();
        for formula in formulas {
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
