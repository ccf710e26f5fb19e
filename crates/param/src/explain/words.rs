//! What an assertion says, in the words of the source.
//!
//! Equations and inequalities are arranged as people write them. Truth values, members of enumerations, ids and holders of mutexes are integers in an assertion, and are written as what they are. What has
//! no such form is not written at all, and whoever asks is told.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use threadwise_evidence::Expression;
use threadwise_evidence::arithmetic::{Atom, Formula as Linear, Variable};
use threadwise_lang::program::{Domain, EnumId, LocationId, Scalar, TemplateId};
use threadwise_model::family::Family;
use threadwise_model::state::{FREE, NONE};

use crate::scope::{ComparedAt, Form, Ghosts, Place, Table, Var, single};

/// Adds a multiple of something to a sum, or a number.
pub(super) fn add_to(sum: &mut String, factor: i64, text: &str) {
    sum.push_str(match (factor < 0, sum.is_empty()) {
        (true, true) => "-",
        (true, false) => " - ",
        (false, true) => "",
        (false, false) => " + ",
    });
    match (factor.unsigned_abs(), text.is_empty()) {
        (1, false) => {}
        (many, true) => sum.push_str(&many.to_string()),
        (many, false) => sum.push_str(&format!("{many} * ")),
    }
    sum.push_str(text);
}

/// A way to write something that the language does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// `#l`
    Number,
    /// `#P.l`
    NumberOf,
    /// `#(l: p)`
    Counted,
    /// `#(k at l: p)`
    CountedByName,
    /// `sum(l: e)`
    Sum,
    /// `sum(P: e)`
    SumOfAll,
    /// `#(other k at l: p)`
    Compared,
    /// `a before b from c`
    Round,
    /// A truth value in a sum.
    Truth,
    /// `none` in an order.
    Order,
}

impl Sign {
    /// What it means.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Sign::Number => "#l is the number of processes at l",
            Sign::NumberOf => "#P.l is the number of processes of P at l",
            Sign::Counted => "#(l: p) is the number of processes at l of which p holds",
            Sign::CountedByName => "#(k at l: p) is the number of processes k at l with p",
            Sign::Sum => "sum(l: e) is the sum of e over the processes at l",
            Sign::SumOfAll => "sum(P: e) is the sum of e over all processes of P",
            Sign::Round => {
                "a before b from c: counting up from c, and round, a is met before b; `not after`: before b or at b"
            }
            Sign::Compared => "#(other k at l: p) is the number of other processes k at l with p",
            Sign::Truth => "a truth value counts 1 if it is true",
            Sign::Order => "none comes before all ids",
        }
    }
}

/// How a sum compares with 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtMost,
    Equal,
    Differs,
}

impl Relation {
    fn holds(self, sum: i128) -> bool {
        match self {
            Relation::AtMost => sum <= 0,
            Relation::Equal => sum == 0,
            Relation::Differs => sum != 0,
        }
    }
}

/// What the value of a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Truth,
    Number,
    Count,
    Member(EnumId),
    Id { optional: bool },
    Mutex,
}

/// A part of a conjunction or a disjunction.
enum Part<'f> {
    /// Two inequalities that make an equation, or its opposite.
    Both(&'f Atom, i64),
    One(&'f Linear),
}

/// A multiple in a sum.
#[derive(Clone, Debug)]
struct Piece {
    factor: i64,
    text: String,
    /// What comes first: variables of a process, shared ones, numbers of processes, ids, parameters.
    rank: u8,
}

impl Piece {
    fn is_count(&self) -> bool {
        self.rank == COUNTS
    }
}

const COUNTS: u8 = 2;

/// Writes what is said about some processes.
pub(super) struct Words<'a> {
    pub(super) family: &'a Family,
    pub(super) table: &'a Table,
    pub(super) ghosts: &'a Ghosts,
    /// For each template, the number that people see for the id 0.
    pub(super) lowest: &'a IndexVec<TemplateId, Form>,
    /// The processes: the template of each, and its name.
    pub(super) references: Vec<(TemplateId, String)>,
    /// Whether variables of the first process need not say whose they are.
    pub(super) own: bool,
    /// What was used that has to be explained.
    pub(super) signs: BTreeSet<Sign>,
    /// A name for a process that is counted.
    pub(super) somebody: String,
}

impl Words<'_> {
    /// A formula as an expression, if it has one.
    pub(super) fn formula(&mut self, formula: &Linear) -> Option<Expression> {
        match formula {
            Linear::Atom(atom) => self.compare(Relation::AtMost, &atom.terms, atom.constant),
            Linear::And(members) => {
                let parts = paired(members, 0);
                let parts = parts.iter().map(|part| match part {
                    Part::Both(atom, constant) => {
                        self.compare(Relation::Equal, &atom.terms, *constant)
                    }
                    Part::One(member) => self.formula(member),
                });
                Some(Expression::and(parts.collect::<Option<_>>()?))
            }
            Linear::Or(members) => self.clause(members),
        }
    }

    /// `a || b`, or `a -> b` if what is denied is easier to say.
    fn clause(&mut self, members: &[Linear]) -> Option<Expression> {
        // Two inequalities that leave one value out: one says less than it, the other more.
        let parts = paired(members, 2);
        let mut given = Vec::new();
        let mut either = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let text = match part {
                Part::Both(atom, constant) => {
                    self.compare(Relation::Differs, &atom.terms, *constant)?
                }
                Part::One(member) => self.formula(member)?,
            };
            let last = place + 1 == parts.len() && either.is_empty();
            if last || !denies(&text) {
                either.push(text);
                continue;
            }
            given.push(match part {
                Part::Both(atom, constant) => {
                    self.compare(Relation::Equal, &atom.terms, *constant)?
                }
                Part::One(member) => self.formula(&member.negation().ok()?)?,
            });
        }
        let either = Expression::or(either);
        Some(match given.is_empty() {
            true => either,
            false => Expression::Implies(Box::new(Expression::and(given)), Box::new(either)),
        })
    }

    /// That a variable has a value.
    pub(super) fn equals(&mut self, variable: Variable, value: i64) -> Option<Expression> {
        self.compare(Relation::Equal, &[(variable, 1)], value.checked_neg()?)
    }

    /// How a sum compares with 0.
    fn compare(
        &mut self,
        relation: Relation,
        terms: &[(Variable, i64)],
        constant: i64,
    ) -> Option<Expression> {
        let mut sorted = Vec::with_capacity(terms.len());
        for (variable, factor) in terms {
            // The id of a single process is 0.
            if let Var::Id(reference) = self.table.var(*variable)
                && single(self.family, self.references.get(*reference as usize)?.0)
            {
                continue;
            }
            sorted.push((*variable, *factor, self.sort(*variable)?));
        }
        let truths = sorted.iter().all(|(_, _, sort)| *sort == Sort::Truth);
        match sorted.as_slice() {
            [] => Some(truth(relation.holds(constant.into()))),
            [(a, factor, _)] if truths => {
                let at = |value: i64| {
                    let sum = i128::from(*factor) * i128::from(value) + i128::from(constant);
                    relation.holds(sum)
                };
                let name = self.truth(*a)?;
                Some(match (at(0), at(1)) {
                    (false, true) => name,
                    (true, false) => not(name),
                    (both, _) => truth(both),
                })
            }
            [(a, p, _), (b, q, _)] if truths => {
                let at = |a: i64, b: i64| {
                    let sum = i128::from(*p) * i128::from(a) + i128::from(*q) * i128::from(b);
                    relation.holds(sum + i128::from(constant))
                };
                let table = [at(0, 0), at(0, 1), at(1, 0), at(1, 1)];
                Some(connective(table, self.truth(*a)?, self.truth(*b)?))
            }
            [(variable, factor, Sort::Member(id))] => {
                let name = self.name(*variable)?;
                let members = self.family.program().enums[*id].members.iter().enumerate();
                let (inside, outside): (Vec<_>, Vec<_>) = members.partition(|(value, _)| {
                    let sum = i128::from(*factor) * *value as i128 + i128::from(constant);
                    relation.holds(sum)
                });
                let each = |list: Vec<(usize, &String)>, op: &str| -> Vec<Expression> {
                    let each = list.iter();
                    each.map(|(_, member)| comparison(&name, op, member))
                        .collect()
                };
                Some(match inside.len() <= outside.len() {
                    true => Expression::or(each(inside, "==")),
                    false => Expression::and(each(outside, "!=")),
                })
            }
            [(variable, factor, Sort::Id { optional: true })] => {
                match above_least(relation, *factor, constant, NONE) {
                    Some(some) => {
                        let op = if some { "!=" } else { "==" };
                        Some(comparison(&self.name(*variable)?, op, "none"))
                    }
                    None => self.arranged(relation, &sorted, constant),
                }
            }
            [(variable, factor, Sort::Mutex)] => {
                let name = self.name(*variable)?;
                match above_least(relation, *factor, constant, FREE) {
                    Some(locked) => {
                        let atom = Expression::Atom(format!("locked({name})"));
                        Some(if locked { atom } else { not(atom) })
                    }
                    None => {
                        let code = constant.checked_mul(factor.checked_neg()?)?;
                        let holder = self.holder(code)?;
                        held(relation, &holder, &name)
                    }
                }
            }
            [(a, p, sort), (b, q, other)] if (*sort == Sort::Mutex) != (*other == Sort::Mutex) => {
                let (mutex, p, id, q) = match sort {
                    Sort::Mutex => (*a, *p, *b, *q),
                    _ => (*b, *q, *a, *p),
                };
                let Var::Id(reference) = self.table.var(id) else {
                    return None;
                };
                let template = self.references.get(*reference as usize)?.0;
                let templates = self.family.templates.len() as i64;
                let code = i64::from(template.raw());
                // What it is while the process holds it, as `Family::mutex_code` says.
                let fits = p.abs() == 1
                    && q == p.checked_neg()?.checked_mul(templates)?
                    && constant == p.checked_neg()?.checked_mul(code)?;
                let holder = self.process(*reference)?;
                let name = self.name(mutex)?;
                fits.then(|| held(relation, &holder, &name)).flatten()
            }
            [(a, p, Sort::Member(id)), (b, q, Sort::Member(other))] if id == other => {
                let (a, b) = (self.name(*a)?, self.name(*b)?);
                let op = match (relation, p, q, constant) {
                    (Relation::Equal, 1, -1, 0) | (Relation::Equal, -1, 1, 0) => "==",
                    (Relation::Differs, 1, -1, 0) | (Relation::Differs, -1, 1, 0) => "!=",
                    _ => return None,
                };
                Some(comparison(&a, op, &b))
            }
            _ => self.arranged(relation, &sorted, constant),
        }
    }

    /// A sum of numbers, as people write it.
    fn arranged(
        &mut self,
        relation: Relation,
        terms: &[(Variable, i64, Sort)],
        constant: i64,
    ) -> Option<Expression> {
        let mut sum: BTreeMap<Variable, i64> = BTreeMap::new();
        let mut constant = constant;
        let add = |sum: &mut BTreeMap<Variable, i64>, variable, factor: i64| {
            let total = sum.entry(variable).or_default();
            *total = total.checked_add(factor)?;
            Some(())
        };
        for (variable, factor, sort) in terms {
            add(&mut sum, *variable, *factor)?;
            match sort {
                Sort::Truth => {
                    let counter = matches!(self.table.var(*variable), Var::Counter(..));
                    self.signs.extend((!counter).then_some(Sign::Truth));
                }
                Sort::Number | Sort::Count => {}
                Sort::Id { optional } => {
                    if *optional && relation == Relation::AtMost {
                        self.signs.insert(Sign::Order);
                    }
                    // Assertions count ids from 0, people from the lowest one.
                    let lowest = &self.lowest[self.template(*variable)?];
                    for (param, times) in &lowest.terms {
                        let by = times.checked_mul(factor.checked_neg()?)?;
                        add(&mut sum, *param, by)?;
                    }
                    constant = constant.checked_sub(factor.checked_mul(lowest.constant)?)?;
                }
                Sort::Member(_) | Sort::Mutex => return None,
            }
        }
        sum.retain(|_, factor| *factor != 0);
        let pieces = self.pieces(&sum)?;
        Some(match pieces.is_empty() {
            true => truth(relation.holds(constant.into())),
            false => arrange(relation, &pieces, constant),
        })
    }

    fn pieces(&mut self, sum: &BTreeMap<Variable, i64>) -> Option<Vec<Piece>> {
        let counters: BTreeMap<(TemplateId, LocationId), Variable> = sum
            .keys()
            .filter_map(|variable| match self.table.var(*variable) {
                Var::Counter(template, location) => Some(((*template, *location), *variable)),
                _ => None,
            })
            .collect();
        // Those at a label but for those with a predicate are those without it.
        let mut without = BTreeSet::new();
        let mut pieces = Vec::new();
        for (variable, factor) in sum {
            if let Var::Counted(number, template, location, _) = self.table.var(*variable)
                && let Some(counter) = counters.get(&(*template, *location))
                && !without.contains(counter)
                && Some(sum[counter]) == factor.checked_neg()
            {
                let text = self.counted(*number, *template, *location, false)?;
                without.extend([*variable, *counter]);
                pieces.push(Piece {
                    factor: sum[counter],
                    text,
                    rank: COUNTS,
                });
            }
        }
        for (variable, factor) in sum {
            if without.contains(variable) {
                continue;
            }
            let (rank, text) = match self.table.var(*variable) {
                Var::Local(..) => (0, self.name(*variable)?),
                Var::Shared(..) => (1, self.name(*variable)?),
                Var::Counter(template, location) => (COUNTS, self.number(*template, *location)),
                Var::Counted(number, template, location, _) => {
                    let text = self.counted(*number, *template, *location, true)?;
                    (COUNTS, text)
                }
                Var::Sum(number, template, location, _) => {
                    (COUNTS, self.summed(*number, *template, Some(*location))?)
                }
                Var::Compared(at, _) => (COUNTS, self.compared(*at)?),
                Var::Id(_) => (3, self.name(*variable)?),
                _ => (4, self.name(*variable)?),
            };
            pieces.push(Piece {
                factor: *factor,
                text,
                rank,
            });
        }
        pieces.sort_by_key(|piece| piece.rank);
        Some(pieces)
    }

    /// `sum(l: M - section)`: the sum of a term over the processes at a label, or over all.
    pub(super) fn summed(
        &mut self,
        number: u32,
        template: TemplateId,
        location: Option<LocationId>,
    ) -> Option<String> {
        let summed = self.table.summed.get(number as usize)?.clone();
        let declared = &self.family.templates[template];
        let several = self.family.templates.len() > 1;
        let place = match location {
            None => declared.name.clone(),
            Some(location) if several => {
                format!("{}.{}", declared.name, declared.locations[location])
            }
            Some(location) => declared.locations[location].clone(),
        };
        self.signs.insert(match location {
            None => Sign::SumOfAll,
            Some(_) => Sign::Sum,
        });
        let mut term = String::new();
        let pieces = summed.term.terms.iter().map(|(variable, factor)| {
            let text = match self.table.var(*variable) {
                Var::Local(_, template, var, _) => {
                    self.family.templates[*template].locals[*var].name.clone()
                }
                _ => self.name(*variable)?,
            };
            Some((text, *factor))
        });
        for (text, factor) in pieces.collect::<Option<Vec<_>>>()? {
            add_to(&mut term, factor, &text);
        }
        if summed.term.constant != 0 || term.is_empty() {
            add_to(&mut term, summed.term.constant, "");
        }
        Some(format!("sum({place}: {term})"))
    }

    fn sort(&self, variable: Variable) -> Option<Sort> {
        let program = self.family.program();
        let scalar = match self.table.var(variable) {
            Var::Param(_) => return Some(Sort::Number),
            Var::Counter(template, _) if single(self.family, *template) => {
                return Some(Sort::Truth);
            }
            Var::Counter(..) | Var::Counted(..) | Var::Compared(..) => return Some(Sort::Count),
            Var::Sum(..) => return Some(Sort::Number),
            Var::Id(_) => return Some(Sort::Id { optional: false }),
            Var::Shared(var, _) => &program.shared[*var].scalar,
            Var::Local(_, template, var, _) => &program.templates[*template].locals[*var].scalar,
            Var::Indicator(..)
            | Var::Choice(_)
            | Var::Opaque(_)
            | Var::Comparison(..)
            | Var::Blocker(..) => return None,
        };
        Some(match scalar {
            Scalar::Bool => Sort::Truth,
            Scalar::Int | Scalar::Range(..) => Sort::Number,
            Scalar::Enum(id) => Sort::Member(*id),
            Scalar::Id(_) => Sort::Id { optional: false },
            Scalar::OptId(_) => Sort::Id { optional: true },
            Scalar::Mutex => Sort::Mutex,
        })
    }

    /// The template that an id is of.
    fn template(&self, variable: Variable) -> Option<TemplateId> {
        let program = self.family.program();
        let scalar = match self.table.var(variable) {
            Var::Id(reference) => return Some(self.references.get(*reference as usize)?.0),
            Var::Shared(var, _) => &program.shared[*var].scalar,
            Var::Local(_, template, var, _) => &program.templates[*template].locals[*var].scalar,
            _ => return None,
        };
        match scalar {
            Scalar::Id(template) | Scalar::OptId(template) => Some(*template),
            _ => None,
        }
    }

    /// A truth value by itself.
    pub(super) fn truth(&self, variable: Variable) -> Option<Expression> {
        match self.table.var(variable) {
            Var::Counter(template, location) => {
                let template = &self.family.templates[*template];
                let label = &template.locations[*location];
                Some(Expression::Comparison(format!(
                    "{} at {label}",
                    template.name
                )))
            }
            _ => Some(Expression::Atom(self.name(variable)?)),
        }
    }

    /// What a variable is called.
    pub(super) fn name(&self, variable: Variable) -> Option<String> {
        let program = self.family.program();
        match self.table.var(variable) {
            Var::Param(param) => Some(program.params[*param].name.clone()),
            Var::Shared(var, places) => {
                let variable = &program.shared[*var];
                Some(format!(
                    "{}{}",
                    variable.name,
                    self.indices(&variable.dims, places)?
                ))
            }
            Var::Local(reference, template, var, places) => {
                let variable = &program.templates[*template].locals[*var];
                let indices = self.indices(&variable.dims, places)?;
                let shadows = program.shared.iter().any(|v| v.name == variable.name);
                let whose = match self.own && *reference == 0 && !shadows {
                    true => String::new(),
                    false => format!("{}.", self.process(*reference)?),
                };
                Some(format!("{whose}{}{indices}", variable.name))
            }
            Var::Id(reference) => Some(self.references.get(*reference as usize)?.1.clone()),
            _ => None,
        }
    }

    fn indices(&self, dims: &[Domain], places: &[Place]) -> Option<String> {
        let mut text = String::new();
        for (dim, place) in dims.iter().zip(places) {
            let index = match (dim, place) {
                (_, Place::Reference(reference)) => {
                    self.references.get(*reference as usize)?.1.clone()
                }
                (Domain::Enum(id), Place::Position(position)) => {
                    let members = &self.family.program().enums[*id].members;
                    members.get(usize::try_from(*position).ok()?)?.clone()
                }
                (_, Place::Position(position)) => position.to_string(),
            };
            text.push_str(&format!("[{index}]"));
        }
        Some(text)
    }

    /// What a process is called.
    pub(super) fn process(&self, reference: u32) -> Option<String> {
        let (template, name) = self.references.get(reference as usize)?;
        Some(process(self.family, *template, name))
    }

    /// Who holds a mutex with this value.
    fn holder(&self, code: i64) -> Option<String> {
        let templates = self.family.templates.len() as i64;
        let template = TemplateId::from_usize(usize::try_from(code.rem_euclid(templates)).ok()?);
        let index = code.div_euclid(templates);
        let lowest = &self.lowest[template];
        if single(self.family, template) {
            return (index == 0).then(|| self.family.templates[template].name.clone());
        }
        if index < 0 || !lowest.terms.is_empty() {
            return None;
        }
        let number = index.checked_add(lowest.constant)?;
        Some(process(self.family, template, &number.to_string()))
    }

    /// A label, with its template if others have such a label.
    fn label(&self, template: TemplateId, location: LocationId) -> (String, bool) {
        let label = &self.family.templates[template].locations[location];
        let mut templates = self.family.templates.iter_enumerated();
        let several = templates.any(|(other, t)| other != template && t.locations.contains(label));
        match several {
            true => {
                let template = &self.family.templates[template].name;
                (format!("{template}.{label}"), true)
            }
            false => (label.clone(), false),
        }
    }

    /// The number of processes at a label.
    pub(super) fn number(&mut self, template: TemplateId, location: LocationId) -> String {
        let (label, qualified) = self.label(template, location);
        self.signs.insert(match qualified {
            true => Sign::NumberOf,
            false => Sign::Number,
        });
        format!("#{label}")
    }

    /// The number of processes at a label of which a counted predicate holds, or does not.
    pub(super) fn counted(
        &mut self,
        number: u32,
        template: TemplateId,
        location: LocationId,
        holds: bool,
    ) -> Option<String> {
        let counted = self.ghosts.counted.get(number as usize)?;
        let predicate = match holds {
            true => counted.predicate.clone(),
            false => counted.predicate.negation().ok()?,
        };
        let named = predicate.terms.iter().any(|(variable, _)| {
            let places = match self.table.var(*variable) {
                Var::Id(_) => return true,
                Var::Shared(_, places) | Var::Local(_, _, _, places) => places,
                _ => return false,
            };
            places
                .iter()
                .any(|place| matches!(place, Place::Reference(_)))
        });
        let mut words = Words {
            references: vec![(template, self.somebody.clone())],
            own: true,
            signs: BTreeSet::new(),
            somebody: String::new(),
            ..*self
        };
        let text = words.compare(Relation::AtMost, &predicate.terms, predicate.constant)?;
        self.signs.append(&mut words.signs);
        let (label, _) = self.label(template, location);
        Some(match named {
            true => {
                self.signs.insert(Sign::CountedByName);
                format!("#({} at {label}: {text})", self.somebody)
            }
            false => {
                self.signs.insert(Sign::Counted);
                format!("#({label}: {text})")
            }
        })
    }

    /// The number of processes at a label that compare with a reference.
    pub(super) fn compared(&mut self, at: ComparedAt) -> Option<String> {
        let comparison = self.ghosts.compared.get(at.comparison as usize)?;
        let reference = self.references.get(at.reference as usize)?.clone();
        let mut words = Words {
            references: vec![(at.template, self.somebody.clone()), reference],
            own: false,
            signs: BTreeSet::new(),
            somebody: String::new(),
            ..*self
        };
        let text = match comparison.round(words.table) {
            Some(([one, other, first], strictly)) => {
                words.signs.insert(Sign::Round);
                let [one, other, first] = [one, other, first].map(|variable| words.name(variable));
                let before = if strictly { "before" } else { "not after" };
                format!("{} {before} {} from {}", one?, other?, first?)
            }
            None => words.formula(&comparison.predicate)?.to_string(),
        };
        self.signs.append(&mut words.signs);
        self.signs.insert(Sign::Compared);
        let (label, _) = self.label(at.template, at.location);
        Some(format!("#(other {} at {label}: {text})", self.somebody))
    }
}

/// What a process with a name is called.
pub(super) fn process(family: &Family, template: TemplateId, name: &str) -> String {
    match single(family, template) {
        true => family.templates[template].name.clone(),
        false => format!("{}[{name}]", family.templates[template].name),
    }
}

fn truth(holds: bool) -> Expression {
    Expression::Atom(holds.to_string())
}

fn not(expression: Expression) -> Expression {
    match expression {
        Expression::Not(inner) => *inner,
        other => Expression::Not(Box::new(other)),
    }
}

fn comparison(left: &str, op: &str, right: &str) -> Expression {
    Expression::Comparison(format!("{left} {op} {right}"))
}

fn held(relation: Relation, holder: &str, mutex: &str) -> Option<Expression> {
    let holds = comparison(holder, "holds", mutex);
    match relation {
        Relation::Equal => Some(holds),
        Relation::Differs => Some(not(holds)),
        Relation::AtMost => None,
    }
}

/// Whether an expression says that something is not so, or that nobody is somewhere.
fn denies(expression: &Expression) -> bool {
    match expression {
        Expression::Not(_) => true,
        Expression::Comparison(text) => {
            text.contains(" != ") || text.starts_with('#') && text.ends_with(" == 0")
        }
        _ => false,
    }
}

/// Whether `factor * x + constant` compares with 0 just if `x` is more than the least value that it can have, or just if it is that value.
fn above_least(relation: Relation, factor: i64, constant: i64, least: i64) -> Option<bool> {
    let value = constant.checked_mul(factor.checked_neg()?)?;
    match (relation, factor) {
        (Relation::Equal, 1 | -1) | (Relation::AtMost, 1) => (value == least).then_some(false),
        (Relation::Differs, 1 | -1) => (value == least).then_some(true),
        (Relation::AtMost, -1) => (value == least.checked_add(1)?).then_some(true),
        _ => None,
    }
}

/// Two truth values by the table of those that are allowed: neither, the second, the first, both.
fn connective(table: [bool; 4], a: Expression, b: Expression) -> Expression {
    let implies = |a, b| Expression::Implies(Box::new(a), Box::new(b));
    let iff = |a, b| Expression::Iff(Box::new(a), Box::new(b));
    match table {
        [false, false, false, false] => truth(false),
        [true, true, true, true] => truth(true),
        [true, false, false, true] => iff(a, b),
        [false, true, true, false] => iff(a, not(b)),
        [false, true, true, true] => Expression::or(vec![a, b]),
        [true, true, true, false] => not(Expression::and(vec![a, b])),
        [true, true, false, true] => implies(a, b),
        [true, false, true, true] => implies(b, a),
        [true, true, false, false] => not(a),
        [false, false, true, true] => a,
        [true, false, true, false] => not(b),
        [false, true, false, true] => b,
        [true, false, false, false] => Expression::and(vec![not(a), not(b)]),
        [false, true, false, false] => Expression::and(vec![not(a), b]),
        [false, false, true, false] => Expression::and(vec![a, not(b)]),
        [false, false, false, true] => Expression::and(vec![a, b]),
    }
}

/// Implications of the same as one.
pub(super) fn joined(facts: Vec<Expression>) -> Vec<Expression> {
    let mut joined: Vec<Expression> = Vec::new();
    for fact in facts {
        let Expression::Implies(given, then) = fact else {
            joined.push(fact);
            continue;
        };
        let known = joined.iter_mut().find_map(|known| match known {
            Expression::Implies(same, known) if *same == given => Some(known),
            _ => None,
        });
        match known {
            Some(known) => **known = Expression::and(vec![(**known).clone(), *then]),
            None => joined.push(Expression::Implies(given, then)),
        }
    }
    joined
}

/// Takes two inequalities together that are about the same sum from both sides, if their constants add up to this: 0 for both sides of an equation, 2 for what leaves one value out.
fn paired(members: &[Linear], total: i64) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut taken = BTreeSet::new();
    for (place, member) in members.iter().enumerate() {
        if taken.contains(&place) {
            continue;
        }
        let other = members[place + 1..].iter().enumerate().find(|(_, other)| {
            matches!((member, other), (Linear::Atom(one), Linear::Atom(other))
                if opposite(one, other) && one.constant.checked_add(other.constant) == Some(total))
        });
        match (member, other) {
            (Linear::Atom(atom), Some((after, _))) => {
                taken.insert(place + 1 + after);
                parts.push(Part::Both(atom, atom.constant - total / 2));
            }
            _ => parts.push(Part::One(member)),
        }
    }
    parts
}

/// Whether two inequalities have the same terms with opposite signs.
pub(super) fn opposite(one: &Atom, other: &Atom) -> bool {
    let mut both = one.terms.iter().zip(&other.terms);
    one.terms.len() == other.terms.len()
        && both.all(|((v, p), (w, q))| v == w && Some(*p) == q.checked_neg())
}

/// A comparison with variables on one side and numbers of processes on the other if that needs no negative number, otherwise with positive
/// multiples on both sides; and constants at the right.
fn arrange(relation: Relation, pieces: &[Piece], constant: i64) -> Expression {
    let (counts, rest): (Vec<&Piece>, Vec<&Piece>) = pieces.iter().partition(|p| p.is_count());
    let up = counts.iter().all(|piece| piece.factor > 0);
    let down = counts.iter().all(|piece| piece.factor < 0);
    let separate = !counts.is_empty()
        && (up && rest.iter().any(|piece| piece.factor < 0)
            || down && rest.iter().any(|piece| piece.factor > 0));
    let (left, right, flipped) = if separate {
        (rest, counts, up)
    } else {
        let (plus, minus): (Vec<&Piece>, Vec<&Piece>) =
            pieces.iter().partition(|piece| piece.factor > 0);
        let rank = |side: &[&Piece]| side.iter().map(|piece| piece.rank).min();
        let flipped = plus.is_empty() || !minus.is_empty() && rank(&plus) > rank(&minus);
        match flipped {
            true => (minus, plus, true),
            false => (plus, minus, false),
        }
    };
    // The sum is left - right + constant, or the opposite if it is flipped.
    let sign = |side: &[&Piece], negate: bool| -> Vec<(i128, String)> {
        let each = side.iter().map(|piece| {
            let factor = i128::from(piece.factor);
            (if negate { -factor } else { factor }, piece.text.clone())
        });
        let mut each: Vec<(i128, String)> = each.collect();
        // A sum does not begin with a minus if it need not.
        each.sort_by_key(|(factor, _)| *factor < 0);
        each
    };
    let only_counts = left.iter().all(|piece| piece.is_count());
    let left = sign(&left, flipped);
    let right = sign(&right, !flipped);
    let constant = i128::from(constant);
    let offset = if flipped { constant } else { -constant };
    let (op, offset) = match (relation, flipped, offset) {
        (Relation::Equal, ..) => ("==", offset),
        (Relation::Differs, ..) => ("!=", offset),
        // There are never less than none.
        (Relation::AtMost, false, 0) if only_counts && right.is_empty() => ("==", 0),
        (Relation::AtMost, false, -1) => ("<", 0),
        (Relation::AtMost, false, _) => ("<=", offset),
        (Relation::AtMost, true, 1) => (">", 0),
        (Relation::AtMost, true, _) => (">=", offset),
    };
    comparison(&sum(&left, 0), op, &sum(&right, offset))
}

/// A sum as text.
fn sum(pieces: &[(i128, String)], constant: i128) -> String {
    let mut text = String::new();
    let constant = (constant != 0 || pieces.is_empty()).then(|| (constant, String::new()));
    for (factor, name) in pieces.iter().cloned().chain(constant) {
        match (text.is_empty(), factor < 0) {
            (true, true) => text.push('-'),
            (true, false) => {}
            (false, true) => text.push_str(" - "),
            (false, false) => text.push_str(" + "),
        }
        match (factor.unsigned_abs(), name.as_str()) {
            (number, "") => text.push_str(&number.to_string()),
            (1, name) => text.push_str(name),
            (number, name) => text.push_str(&format!("{number} * {name}")),
        }
    }
    text
}
