//! Scenes: some processes, all different, of a state of an instance of any size, and what is known of them.
//!
//! A scene knows of *things* a list of values. A thing that is not listed has any value of its type. An id is none, a process in the scene, or one that is not. A
//! process that comes into the scene is any one that was not in it, so an id of somebody who was not may be of that process from then on. The processes of templates that have one
//! are in every scene, first.

use std::collections::BTreeMap;
use std::rc::Rc;

use threadwise_lang::program::{Scalar, TemplateId};
use threadwise_model::family::{Cell, Family, Formula, Index, Path, Population, Term};

use super::came::{self, Queues};

/// Values of a type that are listed at most. Those of greater ones are not.
const MAX_VALUES: i128 = 128;

/// What a scene can know of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Thing {
    /// The label of a process, by position.
    At(u32),
    /// Whether the id of a process is smaller than that of another one, of the same template.
    Before(u32, u32),
    /// Whether a process is the first of its template.
    First(u32),
    /// Whether it is the last.
    Last(u32),
    /// Who is beside a process on a ring: the next one (`true`), or the one before.
    Beside(u32, bool),
    /// Which of two processes came first to where the claim says, the first with the smaller position in the scene: [`FIRST`](came::FIRST), [`SECOND`](came::SECOND) or [`APART`](came::APART).
    Came(u32, u32),
    /// A variable, indexed by numbers and processes of the scene.
    Cell(Cell),
    /// A value that the step chooses.
    Choice(u32),
}

/// What a value is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Zero,
    /// The id of a process in the scene.
    Id(u32),
    /// The id of a process that is not in the scene, of this template, or of any.
    Other(Option<TemplateId>),
    /// The greatest id of a template.
    Last(TemplateId),
}

/// A value: so much more than something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) base: Base,
    pub(crate) more: i64,
}

impl Value {
    pub(crate) const NONE: Value = Value::number(-1);

    pub(crate) const fn number(more: i64) -> Value {
        Value {
            base: Base::Zero,
            more,
        }
    }

    pub(crate) const fn id(who: u32) -> Value {
        Value {
            base: Base::Id(who),
            more: 0,
        }
    }
}

/// A set of values.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// These numbers.
    Numbers(Vec<i64>),
    /// Ids: none, these processes, and all that are not known.
    Ids {
        none: bool,
        processes: Vec<u32>,
        other: bool,
        known: Vec<u32>,
    },
}

impl Values {
    /// Whether a number is one of them.
    pub(crate) fn holds(&self, number: i64) -> bool {
        self.has(Value::number(number)) == Some(true)
    }

    /// Whether a value is one of them, if that is clear.
    pub(crate) fn has(&self, value: Value) -> Option<bool> {
        match (self, value) {
            (
                Values::Numbers(numbers),
                Value {
                    base: Base::Zero,
                    more,
                },
            ) => Some(numbers.contains(&more)),
            (Values::Ids { none, .. }, Value::NONE) => Some(*none),
            (
                Values::Ids {
                    processes,
                    other,
                    known,
                    ..
                },
                Value {
                    base: Base::Id(who),
                    more: 0,
                },
            ) => Some(if known.contains(&who) {
                processes.contains(&who)
            } else {
                *other
            }),
            // All that are known are in the scene.
            (
                Values::Ids { other, .. },
                Value {
                    base: Base::Other(_),
                    more: 0,
                },
            ) => Some(*other),
            _ => None,
        }
    }
}

/// That a thing has one of some values.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    pub(crate) thing: Thing,
    pub(crate) values: Values,
}

impl Literal {
    /// The same of other processes: `to[i]` instead of `i`.
    pub(crate) fn renamed(&self, to: &[u32]) -> Literal {
        let one = |who: u32| to[who as usize];
        let indices = |indices: &[Index]| {
            let each = indices.iter().map(|index| match index {
                Index::Process(Term::Reference(who)) => Index::Process(Term::Reference(one(*who))),
                other => other.clone(),
            });
            each.collect()
        };
        let thing = match &self.thing {
            Thing::At(who) => Thing::At(one(*who)),
            Thing::Before(a, b) => Thing::Before(one(*a), one(*b)),
            Thing::First(who) => Thing::First(one(*who)),
            Thing::Last(who) => Thing::Last(one(*who)),
            Thing::Beside(who, forward) => Thing::Beside(one(*who), *forward),
            Thing::Choice(choice) => Thing::Choice(*choice),
            Thing::Came(a, b) if one(*a) > one(*b) => Thing::Came(one(*b), one(*a)),
            Thing::Came(a, b) => Thing::Came(one(*a), one(*b)),
            Thing::Cell(Cell::Shared { var, indices: each }) => Thing::Cell(Cell::Shared {
                var: *var,
                indices: indices(each),
            }),
            Thing::Cell(Cell::Local {
                template,
                process,
                var,
                indices: each,
            }) => {
                let process = match **process {
                    Term::Reference(who) => Box::new(Term::Reference(one(who))),
                    _ => process.clone(),
                };
                Thing::Cell(Cell::Local {
                    template: *template,
                    process,
                    var: *var,
                    indices: indices(each),
                })
            }
        };
        let values = match &self.values {
            Values::Ids {
                none,
                processes,
                other,
                known,
            } => Values::Ids {
                none: *none,
                processes: processes.iter().map(|who| one(*who)).collect(),
                other: *other,
                known: known.iter().map(|who| one(*who)).collect(),
            },
            Values::Numbers(numbers) => Values::Numbers(match self.thing {
                Thing::Came(a, b) if one(a) > one(b) => {
                    numbers.iter().map(|value| came::turned(*value)).collect()
                }
                _ => numbers.clone(),
            }),
        };
        Literal { thing, values }
    }
}

/// An excluded situation.
#[derive(Clone, Debug)]
pub(crate) struct Situation {
    pub(crate) templates: Vec<TemplateId>,
    pub(crate) literals: Vec<Literal>,
}

/// Whether a template has one process whatever the parameters are.
pub(crate) fn is_single(family: &Family, template: TemplateId) -> bool {
    matches!(&family.templates[template].population, Population::Between(lo, hi) if lo == hi)
}

/// Values that a step can choose.
#[derive(Clone, Copy, Debug)]
enum Choice {
    Numbers(i64, i64),
    Ids(TemplateId, bool),
}

/// A scene.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// The templates of its processes.
    pub(crate) templates: Vec<TemplateId>,
    sets: BTreeMap<Thing, Vec<Value>>,
    choices: Vec<Option<Choice>>,
    /// Where processes are in the order in which they came there.
    pub(super) queues: Rc<Queues>,
}

impl Scene {
    /// The processes that are in every scene.
    pub(crate) fn new(family: &Family, queues: &Rc<Queues>) -> Scene {
        let templates = family.templates.indices();
        Scene {
            templates: templates
                .filter(|template| is_single(family, *template))
                .collect(),
            sets: BTreeMap::new(),
            choices: Vec::new(),
            queues: Rc::clone(queues),
        }
    }

    /// A scene with the processes of a situation, and who they are in it.
    pub(crate) fn of(
        family: &Family,
        queues: &Rc<Queues>,
        situation: &Situation,
    ) -> (Scene, Vec<u32>) {
        let mut scene = Scene::new(family, queues);
        let mut to = Vec::new();
        for template in &situation.templates {
            let known = scene.templates.iter().position(|known| known == template);
            let who = known.filter(|_| is_single(family, *template));
            to.push(who.unwrap_or_else(|| scene.grow(family, *template)) as u32);
        }
        (scene, to)
    }

    /// Brings in one more process, any one that is not there yet. Not of a template with one process.
    pub(crate) fn grow(&mut self, _: &Family, template: TemplateId) -> usize {
        let who = self.templates.len();
        self.templates.push(template);
        for values in self.sets.values_mut() {
            let may_be = values.iter().any(|value| match value.base {
                Base::Other(of) => of.is_none_or(|of| of == template),
                _ => false,
            });
            if may_be {
                values.push(Value::id(who as u32));
            }
        }
        who
    }

    /// The values that a path can choose, by its guard.
    pub(crate) fn choose(&mut self, path: &Path) {
        self.choices = (0..path.choices)
            .map(|choice| chosen(path, choice))
            .collect();
    }

    fn ids(&self, family: &Family, of: Option<TemplateId>, none: bool) -> Vec<Value> {
        let mut values: Vec<Value> = none.then_some(Value::NONE).into_iter().collect();
        for (who, template) in self.templates.iter().enumerate() {
            if of.is_none_or(|of| of == *template) {
                values.push(Value::id(who as u32));
            }
        }
        if !of.is_some_and(|of| is_single(family, of)) {
            values.push(Value {
                base: Base::Other(of),
                more: 0,
            });
        }
        values
    }

    /// All values of the type of a thing; `None` if they are not listed.
    fn of_type(&self, family: &Family, thing: &Thing) -> Option<Vec<Value>> {
        let numbers = |least: i64, greatest: i64| {
            let few = i128::from(greatest) - i128::from(least) < MAX_VALUES;
            few.then(|| (least..=greatest).map(Value::number).collect())
        };
        match thing {
            Thing::At(who) => {
                let template = &family.templates[self.templates[*who as usize]];
                numbers(0, template.locations.len() as i64 - 1)
            }
            Thing::Before(..) | Thing::First(_) | Thing::Last(_) => numbers(0, 1),
            Thing::Came(..) => numbers(0, 2),
            Thing::Beside(who, _) => {
                Some(self.ids(family, Some(self.templates[*who as usize]), false))
            }
            Thing::Choice(choice) => match (*self.choices.get(*choice as usize)?)? {
                Choice::Numbers(least, greatest) => numbers(least, greatest),
                Choice::Ids(of, none) => Some(self.ids(family, Some(of), none)),
            },
            Thing::Cell(cell) => {
                let program = family.program();
                let (variable, declared, owner) = match cell {
                    Cell::Shared { var, .. } => (&family.shared[*var], &program.shared[*var], None),
                    Cell::Local { template, var, .. } => (
                        &family.templates[*template].locals[*var],
                        &program.templates[*template].locals[*var],
                        Some(*template),
                    ),
                };
                let scalar = &declared.scalar;
                if let Scalar::Id(of) | Scalar::OptId(of) = scalar
                    && declared.loop_counter
                    && owner != Some(*of)
                {
                    // It rests at the least id, also where there is no process.
                    return None;
                }
                match (scalar, &variable.least, &variable.greatest) {
                    (Scalar::Id(of), ..) => Some(self.ids(family, Some(*of), false)),
                    (Scalar::OptId(of), ..) => Some(self.ids(family, Some(*of), true)),
                    (Scalar::Mutex, ..) => Some(self.ids(family, None, true)),
                    (_, Some(Term::Number(least)), Some(Term::Number(greatest))) => {
                        numbers(*least, *greatest)
                    }
                    _ => None,
                }
            }
        }
    }

    /// The values that a thing can have; `None` if they are not listed.
    pub(crate) fn values(&self, family: &Family, thing: &Thing) -> Option<Vec<Value>> {
        match self.sets.get(thing) {
            Some(values) => Some(values.clone()),
            None => self.of_type(family, thing),
        }
    }

    /// Says which values a thing has.
    pub(crate) fn set(&mut self, thing: &Thing, values: Vec<Value>) {
        self.sets.insert(thing.clone(), values);
    }

    /// Says that a literal holds. `false` if it cannot.
    pub(crate) fn restrict(&mut self, family: &Family, literal: &Literal) -> bool {
        if let Thing::Before(a, b) = literal.thing
            && a > b
        {
            return self.order(family, b, a, !literal.values.holds(1));
        }
        let Some(mut values) = self.values(family, &literal.thing) else {
            return true;
        };
        values.retain(|value| literal.values.has(*value) != Some(false));
        let possible = !values.is_empty();
        self.set(&literal.thing, values);
        possible
    }

    /// Whether a literal holds, if that is known.
    pub(crate) fn knows(&self, family: &Family, literal: &Literal) -> Option<bool> {
        if let Thing::Before(a, b) = literal.thing {
            let before = self.before(family, a, b)?;
            return literal.values.has(Value::number(i64::from(before)));
        }
        let values = self.values(family, &literal.thing)?;
        let mut known = None;
        for value in values {
            let holds = literal.values.has(value)?;
            if known.is_some_and(|known| known != holds) {
                return None;
            }
            known = Some(holds);
        }
        known
    }

    /// Whether a process is before another one of its template, if that is known.
    pub(crate) fn before(&self, family: &Family, a: u32, b: u32) -> Option<bool> {
        let (thing, turned) = if a < b {
            (Thing::Before(a, b), false)
        } else {
            (Thing::Before(b, a), true)
        };
        match self.values(family, &thing)?.as_slice() {
            [value] => Some((value.more == 1) != turned),
            _ => None,
        }
    }

    /// Says whether a process, `a`, is before another one, `b`. `false` if that cannot be.
    pub(super) fn order(&mut self, family: &Family, a: u32, b: u32, before: bool) -> bool {
        if self
            .before(family, a, b)
            .is_some_and(|known| known != before)
        {
            return false;
        }
        let (thing, value) = if a < b {
            (Thing::Before(a, b), before)
        } else {
            (Thing::Before(b, a), !before)
        };
        self.set(&thing, vec![Value::number(i64::from(value))]);
        true
    }

    /// The number that a thing is, if that is known.
    pub(super) fn known_of(&self, thing: &Thing) -> Option<i64> {
        match self.sets.get(thing)?.as_slice() {
            [value] => Some(value.more),
            _ => None,
        }
    }

    /// Whether a thing that is true or false is true, if that is known.
    pub(crate) fn truth(&self, thing: &Thing) -> Option<bool> {
        match self.sets.get(thing)?.as_slice() {
            [value] => Some(value.more == 1),
            _ => None,
        }
    }

    /// What something is known of.
    pub(super) fn things(&self) -> impl Iterator<Item = &Thing> {
        self.sets.keys()
    }

    /// Draws the conclusions from what is known of the order and of neighbours. `false` if it contradicts itself.
    pub(crate) fn close(&mut self, family: &Family) -> bool {
        loop {
            let known = self.known();
            let closed =
                self.close_order(family) && self.close_rings(family) && self.close_arrivals(family);
            if !closed {
                return false;
            }
            if self.known() == known {
                return true;
            }
        }
    }

    /// How much is known: of how many things, and how many values they have.
    fn known(&self) -> (usize, usize) {
        let values = self.sets.values().map(Vec::len);
        (self.sets.len(), values.sum())
    }

    fn close_order(&mut self, family: &Family) -> bool {
        let ordered =
            |thing: &Thing| matches!(thing, Thing::Before(..) | Thing::First(_) | Thing::Last(_));
        if !self.sets.keys().any(ordered) {
            return true;
        }
        let count = self.templates.len() as u32;
        loop {
            let known = self.order_known();
            for a in 0..count {
                for b in 0..count {
                    if a == b || self.templates[a as usize] != self.templates[b as usize] {
                        continue;
                    }
                    let ends = self.truth(&Thing::First(a)) == Some(true)
                        || self.truth(&Thing::Last(b)) == Some(true);
                    if ends && !self.order(family, a, b, true) {
                        return false;
                    }
                    if self.before(family, a, b) == Some(true) {
                        for thing in [Thing::First(b), Thing::Last(a)] {
                            if self.truth(&thing) == Some(true) {
                                return false;
                            }
                            self.set(&thing, vec![Value::number(0)]);
                        }
                        for c in 0..count {
                            let after = c != a
                                && c != b
                                && self.templates[c as usize] == self.templates[b as usize]
                                && self.before(family, b, c) == Some(true);
                            if after && !self.order(family, a, c, true) {
                                return false;
                            }
                        }
                    }
                }
            }
            if self.order_known() == known {
                return true;
            }
        }
    }

    /// How much is known of the order.
    fn order_known(&self) -> usize {
        let known = self.sets.iter().filter(|(thing, values)| {
            matches!(thing, Thing::Before(..) | Thing::First(_) | Thing::Last(_))
                && values.len() == 1
        });
        known.count()
    }
}

/// What a guard says of a value that is chosen. It may say more: all of it is assumed, too.
fn chosen(path: &Path, choice: u32) -> Option<Choice> {
    let is_chosen = |term: &Term| *term == Term::Choice(choice);
    let mut least = None;
    for formula in &path.guard {
        if let Formula::AtMost(Term::Number(number), term) = formula
            && is_chosen(term)
        {
            least = least.or(Some(*number));
        }
    }
    let least = least?;
    path.guard.iter().find_map(|formula| match formula {
        Formula::AtMost(term, Term::Number(greatest)) if is_chosen(term) => {
            Some(Choice::Numbers(least, *greatest))
        }
        Formula::AtMost(term, Term::Sum(sum)) if is_chosen(term) => match sum.as_slice() {
            // From none, or the first id, to the last.
            [Term::Population(of), Term::Number(-1)] if least == 0 || least == -1 => {
                Some(Choice::Ids(*of, least == -1))
            }
            _ => None,
        },
        _ => None,
    })
}
