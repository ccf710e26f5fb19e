//! What a scene says of terms and formulas.
//!
//! Of a term, a list that its value is in; of a formula, whether it holds. `None` means that it is not known. A value is a number, or so much more than the id of a process, or than the greatest id of a template. Ids are numbers from 0 on, different
//! for different processes of a template.

use threadwise_lang::program::{Scalar, TemplateId};
use threadwise_model::family::{Cell, Family, Formula, Index, Names, Population, Term};

use super::ring::neighbour;
use super::scene::{Base, Scene, Thing, Value};

/// Values that are listed at most.
const MAX_VALUES: usize = 128;

/// What the answers were from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// Things with several values.
    pub(crate) open: Vec<Thing>,
    /// An id, known to be that of a process that is not in the scene, of which more was asked.
    pub(crate) absent: Option<Thing>,
}

pub(crate) struct Reading<'a> {
    pub(crate) family: &'a Family,
    pub(crate) scene: &'a Scene,
    pub(crate) asked: Asked,
}

impl Reading<'_> {
    fn thing(&mut self, thing: Thing) -> Option<Vec<Value>> {
        let values = self.scene.values(self.family, &thing)?;
        if values.len() > 1 && !self.asked.open.contains(&thing) {
            self.asked.open.push(thing);
        }
        Some(values)
    }

    /// The values that a term can have. That of a mutex is its holder, by code, if `mutex`.
    pub(crate) fn term(&mut self, term: &Term, mutex: bool) -> Option<Vec<Value>> {
        let values = match term {
            Term::Number(number) => vec![Value::number(*number)],
            Term::Reference(who) => match mutex && self.family.templates.len() > 1 {
                // The code of a holder is more than its id then.
                true => return None,
                false => vec![Value::id(*who)],
            },
            Term::Choice(choice) => self.thing(Thing::Choice(*choice))?,
            Term::Param(_) | Term::Population(_) => vec![self.size(term)?],
            Term::Cell(cell) => {
                let mut values = Vec::new();
                for cell in self.cells(cell)? {
                    join(&mut values, self.thing(Thing::Cell(cell))?);
                }
                values
            }
            Term::If(..) if let Some((ring, forward, id)) = neighbour(term) => {
                let mut values = Vec::new();
                for who in self.processes(id)? {
                    if self.scene.templates[who as usize] != ring {
                        return None;
                    }
                    join(&mut values, self.thing(Thing::Beside(who, forward))?);
                }
                values
            }
            Term::If(condition, yes, no) => {
                let truth = self.formula(condition);
                let mut values = Vec::new();
                if truth != Some(false) {
                    join(&mut values, self.term(yes, mutex)?);
                }
                if truth != Some(true) {
                    join(&mut values, self.term(no, mutex)?);
                }
                values
            }
            Term::Sum(_) | Term::Scaled(..) if mutex => self.holder(term)?,
            Term::Sum(terms) => {
                let mut sums = vec![Value::number(0)];
                for term in terms {
                    let more = self.term(term, false)?;
                    let mut further = Vec::new();
                    for sum in &sums {
                        for value in &more {
                            join(&mut further, vec![add(*sum, *value)?]);
                        }
                    }
                    sums = further;
                }
                sums
            }
            Term::Scaled(factor, term) => {
                let mut values = self.term(term, false)?;
                for value in &mut values {
                    if value.base != Base::Zero {
                        return None;
                    }
                    value.more = value.more.checked_mul(*factor)?;
                }
                values
            }
            _ => return None,
        };
        (values.len() <= MAX_VALUES).then_some(values)
    }

    /// A parameter, or a number of processes, as so much more than the greatest id of a template. Somebody of the template is in the scene, so there is one.
    fn size(&self, term: &Term) -> Option<Value> {
        let mut templates = self.scene.templates.iter();
        templates.find_map(|template| {
            let more = match &self.family.templates[*template].population {
                _ if *term == Term::Population(*template) => 1,
                // There are as many as from the least number to the greatest, which is the parameter.
                Population::Between(Term::Number(least), greatest) if greatest == term => *least,
                _ => return None,
            };
            Some(Value {
                base: Base::Last(*template),
                more,
            })
        })
    }

    /// Who holds a mutex, by [the code](Family::mutex_code).
    fn holder(&mut self, term: &Term) -> Option<Vec<Value>> {
        let who = self
            .scene
            .templates
            .iter()
            .enumerate()
            .find(|(who, template)| {
                *term
                    == self
                        .family
                        .mutex_code(**template, Term::Reference(*who as u32))
            });
        Some(vec![Value::id(who?.0 as u32)])
    }

    /// The cells, by processes of the scene, that a cell can be.
    fn cells(&mut self, cell: &Cell) -> Option<Vec<Cell>> {
        let (owner, indices) = match cell {
            Cell::Shared { indices, .. } => (None, indices),
            Cell::Local {
                process, indices, ..
            } => (Some(&**process), indices),
        };
        let owners = match owner {
            Some(owner) => self.processes(owner)?,
            None => vec![0],
        };
        let mut ways: Vec<Vec<Index>> = vec![Vec::new()];
        for index in indices {
            let each = match index {
                Index::Position(_) => vec![index.clone()],
                Index::Process(term) => {
                    let processes = self.processes(term)?.into_iter();
                    processes
                        .map(|who| Index::Process(Term::Reference(who)))
                        .collect()
                }
            };
            let longer = ways.iter().flat_map(|way| {
                each.iter()
                    .map(move |index| way.iter().chain([index]).cloned().collect())
            });
            ways = longer.collect();
        }
        let mut cells = Vec::new();
        for owner in owners {
            for indices in &ways {
                cells.push(match cell {
                    Cell::Shared { var, .. } => Cell::Shared {
                        var: *var,
                        indices: indices.clone(),
                    },
                    Cell::Local { template, var, .. } => Cell::Local {
                        template: *template,
                        process: Box::new(Term::Reference(owner)),
                        var: *var,
                        indices: indices.clone(),
                    },
                });
            }
        }
        Some(cells)
    }

    /// The processes of the scene that a term can be the id of, if it is that of one for certain.
    fn processes(&mut self, term: &Term) -> Option<Vec<u32>> {
        let values = self.term(term, false)?;
        let mut processes = Vec::new();
        for value in &values {
            match (value.base, value.more) {
                (Base::Id(who), 0) => processes.push(who),
                (Base::Other(_), 0) => {
                    if values.len() == 1 {
                        self.asked.absent = self.id_thing(term).or(self.asked.absent.take());
                    }
                    return None;
                }
                _ => return None,
            }
        }
        Some(processes)
    }

    /// The thing that a term is the value of.
    fn id_thing(&mut self, term: &Term) -> Option<Thing> {
        match term {
            Term::Choice(choice) => Some(Thing::Choice(*choice)),
            Term::Cell(cell) => match self.cells(cell)?.as_slice() {
                [cell] => Some(Thing::Cell(cell.clone())),
                _ => None,
            },
            Term::If(..) if let Some((ring, forward, id)) = neighbour(term) => {
                match self.processes(id)?[..] {
                    [who] if self.scene.templates[who as usize] == ring => {
                        Some(Thing::Beside(who, forward))
                    }
                    _ => None,
                }
            }
            Term::Sum(terms) => match &terms[..] {
                [id, Term::Number(_)] => self.id_thing(id),
                _ => None,
            },
            Term::If(condition, yes, no) => match self.formula(condition)? {
                true => self.id_thing(yes),
                false => self.id_thing(no),
            },
            _ => None,
        }
    }

    /// Whether a formula holds.
    pub(crate) fn formula(&mut self, formula: &Formula) -> Option<bool> {
        match formula {
            Formula::Constant(truth) => Some(*truth),
            Formula::Not(inner) => Some(!self.formula(inner)?),
            Formula::And(members) => self.members(members.iter().cloned(), false),
            Formula::Or(members) => self.members(members.iter().cloned(), true),
            Formula::ForAll(var, template, body) | Formula::Exists(var, template, body) => {
                let decides = matches!(formula, Formula::Exists(..));
                let bodies = of_each(self.scene, *var, *template, body);
                let known = self.members(bodies.into_iter(), decides);
                // What holds of those in the scene may not hold of others, unless there are none.
                known.filter(|truth| {
                    *truth == decides || super::scene::is_single(self.family, *template)
                })
            }
            Formula::At {
                process, locations, ..
            } => {
                let mut known = None;
                for who in self.processes(process)? {
                    for value in self.thing(Thing::At(who))? {
                        let here = locations.iter().any(|at| at.index() as i64 == value.more);
                        agree(&mut known, here)?;
                    }
                }
                known
            }
            Formula::Equal(a, b) | Formula::AtMost(a, b) => {
                let before = self.asked.open.len();
                let mutex = self.is_mutex(a) || self.is_mutex(b);
                let values = self
                    .term(a, mutex)
                    .and_then(|x| Some((x, self.term(b, mutex)?)));
                let Some((left, right)) = values else {
                    if !self.asks_somebody(a, b) {
                        self.asked.open.truncate(before);
                    }
                    return None;
                };
                let equal = matches!(formula, Formula::Equal(..));
                let mut known = None;
                for x in &left {
                    for y in &right {
                        let truth = match (mutex, equal) {
                            (true, true) => holders_equal(*x, *y),
                            (true, false) => None,
                            (false, true) => self.equal(*x, *y),
                            (false, false) => self.at_most(*x, *y),
                        };
                        if truth.is_none() && (left.len(), right.len()) == (1, 1) {
                            // Whether two who are not in the scene are the same is known once one is, and who is first of those who are.
                            let absent = |value: &Value| matches!(value.base, Base::Other(_));
                            if absent(x) && (absent(y) || !equal) {
                                self.asked.absent = self.id_thing(a).or(self.asked.absent.take());
                            } else if absent(y) && !equal {
                                self.asked.absent = self.id_thing(b).or(self.asked.absent.take());
                            }
                        }
                        agree(&mut known, truth?)?;
                    }
                }
                known
            }
        }
    }

    /// Whether a comparison depends on the variables of somebody whose id is not known.
    fn asks_somebody(&self, a: &Term, b: &Term) -> bool {
        fn variable(term: &Term) -> bool {
            match term {
                Term::Cell(Cell::Shared { indices, .. }) => indices.iter().any(|index| {
                    matches!(index, Index::Process(term) if !matches!(term, Term::Reference(_)))
                }),
                Term::Cell(Cell::Local { process, .. }) => !matches!(**process, Term::Reference(_)),
                Term::If(..) => true,
                Term::Sum(terms) => terms.iter().any(variable),
                Term::Scaled(_, term) => variable(term),
                _ => false,
            }
        }
        variable(a) || variable(b)
    }

    /// Whether one of these is as it decides; or all are otherwise.
    fn members(&mut self, members: impl Iterator<Item = Formula>, decides: bool) -> Option<bool> {
        let mut all = true;
        for member in members {
            match self.formula(&member) {
                Some(truth) if truth == decides => return Some(decides),
                known => all &= known.is_some(),
            }
        }
        all.then_some(!decides)
    }

    fn is_mutex(&self, term: &Term) -> bool {
        let program = self.family.program();
        match term {
            Term::Cell(Cell::Shared { var, .. }) => program.shared[*var].scalar == Scalar::Mutex,
            Term::Cell(Cell::Local { template, var, .. }) => {
                program.templates[*template].locals[*var].scalar == Scalar::Mutex
            }
            Term::If(_, yes, no) => self.is_mutex(yes) || self.is_mutex(no),
            _ => false,
        }
    }

    fn template(&self, value: Value) -> Option<TemplateId> {
        match value.base {
            Base::Zero => None,
            Base::Id(who) => Some(self.scene.templates[who as usize]),
            Base::Other(of) => of,
            Base::Last(of) => Some(of),
        }
    }

    fn first(&mut self, who: u32) -> Option<bool> {
        let values = self.thing(Thing::First(who))?;
        (values.len() == 1).then(|| values[0].more == 1)
    }

    fn last(&mut self, who: u32) -> Option<bool> {
        let values = self.thing(Thing::Last(who))?;
        (values.len() == 1).then(|| values[0].more == 1)
    }

    fn before(&mut self, a: u32, b: u32) -> Option<bool> {
        self.thing(if a < b {
            Thing::Before(a, b)
        } else {
            Thing::Before(b, a)
        })?;
        self.scene.before(self.family, a, b)
    }

    /// Whether values are equal.
    fn equal(&mut self, a: Value, b: Value) -> Option<bool> {
        // With a and b = its base + `apart`, both less what a has more.
        let apart = b.more.checked_sub(a.more)?;
        let alike = self.template(a).is_some() && self.template(a) == self.template(b);
        match (a.base, b.base) {
            (Base::Other(_), Base::Other(_)) => None,
            (x, y) if x == y => Some(apart == 0),
            // Processes in the scene are different, and none of them is one that is not in it.
            (Base::Id(_), Base::Id(_) | Base::Other(_)) | (Base::Other(_), Base::Id(_))
                if alike && apart == 0 =>
            {
                Some(false)
            }
            (Base::Id(x), Base::Id(y)) if alike => match self.before(x, y)? {
                // x < y, and x = y + apart.
                true if apart > 0 => Some(false),
                false if apart < 0 => Some(false),
                _ => None,
            },
            (Base::Id(_) | Base::Other(_), Base::Zero) if apart < 0 => Some(false),
            (Base::Zero, Base::Id(_) | Base::Other(_)) if apart > 0 => Some(false),
            (Base::Id(who), Base::Zero) | (Base::Zero, Base::Id(who)) => match self.first(who)? {
                first if apart == 0 => Some(first),
                true => Some(false),
                false => None,
            },
            (Base::Id(_) | Base::Other(_), Base::Last(_)) if alike && apart > 0 => Some(false),
            (Base::Last(_), Base::Id(_) | Base::Other(_)) if alike && apart < 0 => Some(false),
            (Base::Id(who), Base::Last(_)) | (Base::Last(_), Base::Id(who)) if alike => {
                match self.last(who)? {
                    last if apart == 0 => Some(last),
                    true => Some(false),
                    false => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a value is at most another one.
    fn at_most(&mut self, a: Value, b: Value) -> Option<bool> {
        // a <= b + apart, both less what a has more.
        let apart = b.more.checked_sub(a.more)?;
        let alike = self.template(a).is_some() && self.template(a) == self.template(b);
        match (a.base, b.base) {
            (Base::Other(_), Base::Other(_)) => None,
            (x, y) if x == y => Some(apart >= 0),
            (Base::Id(x), Base::Id(y)) if alike => match self.before(x, y)? {
                // x <= y - 1.
                true if apart >= -1 => Some(true),
                // x >= y + 1.
                false if apart <= 0 => Some(false),
                _ => None,
            },
            (Base::Zero, Base::Id(_) | Base::Other(_) | Base::Last(_)) if apart >= 0 => Some(true),
            (Base::Id(_) | Base::Other(_) | Base::Last(_), Base::Zero) if apart < 0 => Some(false),
            (Base::Id(who), Base::Zero) if apart == 0 => self.first(who),
            (Base::Zero, Base::Id(who)) if apart == -1 => Some(!self.first(who)?),
            (Base::Id(_) | Base::Other(_), Base::Last(_)) if alike && apart >= 0 => Some(true),
            (Base::Last(_), Base::Id(_) | Base::Other(_)) if alike && apart < 0 => Some(false),
            (Base::Last(_), Base::Id(who)) if alike && apart == 0 => self.last(who),
            (Base::Id(who), Base::Last(_)) if alike && apart == -1 => Some(!self.last(who)?),
            _ => None,
        }
    }
}

/// The same formula of each process of a template in the scene.
pub(crate) fn of_each(
    scene: &Scene,
    var: threadwise_lang::program::BoundId,
    template: TemplateId,
    body: &Formula,
) -> Vec<Formula> {
    let whos = (0..scene.templates.len()).filter(|who| scene.templates[*who] == template);
    let each = whos.map(|who| body.resolve(&Names::default().with(var, who as u32)));
    each.collect()
}

/// Whether the holders of mutexes are the same, of whatever templates.
fn holders_equal(a: Value, b: Value) -> Option<bool> {
    match (a.base, b.base) {
        _ if (a == Value::NONE) != (b == Value::NONE) => {
            let other = if a == Value::NONE { b } else { a };
            // Whoever holds it has a code, which is not negative.
            (other.base != Base::Zero).then_some(false)
        }
        (Base::Zero, Base::Zero) => Some(a.more == b.more),
        (Base::Id(x), Base::Id(y)) if a.more == 0 && b.more == 0 => Some(x == y),
        (Base::Id(_), Base::Other(_)) | (Base::Other(_), Base::Id(_))
            if a.more == 0 && b.more == 0 =>
        {
            Some(false)
        }
        _ => None,
    }
}

fn add(a: Value, b: Value) -> Option<Value> {
    let base = match (a.base, b.base) {
        (base, Base::Zero) | (Base::Zero, base) => base,
        _ => return None,
    };
    Some(Value {
        base,
        more: a.more.checked_add(b.more)?,
    })
}

fn join(values: &mut Vec<Value>, more: Vec<Value>) {
    for value in more {
        if !values.contains(&value) {
            values.push(value);
        }
    }
}

/// Notes a truth value; `None` if another one was noted.
fn agree(known: &mut Option<bool>, truth: bool) -> Option<()> {
    match known {
        Some(known) if *known != truth => None,
        _ => {
            *known = Some(truth);
            Some(())
        }
    }
}
