//! What is known of terms and formulas in a situation: a few values that a term can have, and whether a formula holds, if that is so whatever the rest is.
//!
//! A value is a number, the id of somebody in scope, of somebody else, or of the last process of a template, and a number more than one of these. All that is asked for beyond that
//! is not known. Whoever asks is told on which columns the answer depends.

use threadwise_lang::program::{Scalar, TemplateId};
use threadwise_model::family::{Cell, Formula, Index, Names, Population, Term};

use super::columns::{APART, Column, Domain, Frame, Mask, NOBODY, OTHER, Situation, Who, this};
use super::ring::neighbour;

/// Values that are told apart at most.
const MOST: usize = 64;

/// What a value is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Zero,
    /// The id of a process in scope.
    Id(Who),
    /// The id of somebody else, of this template if that is known.
    Other(Option<TemplateId>),
    /// The last id.
    Last(TemplateId),
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) base: Base,
    pub(crate) more: i64,
}

fn number(number: i64) -> Value {
    Value {
        base: Base::Zero,
        more: number,
    }
}

fn plain(base: Base) -> Value {
    Value { base, more: 0 }
}

/// A look at a situation.
pub(crate) struct Look<'a, 'f> {
    pub(crate) frame: &'a Frame<'f>,
    pub(crate) at: &'a Situation,
    pub(crate) choices: &'a [Option<Domain>],
    /// Columns with several values that were looked at.
    pub(crate) touched: Vec<Column>,
    /// An id of somebody else of whom something was asked.
    pub(crate) beyond: Option<Column>,
    /// Whether something was asked of somebody who may be somebody else.
    wanting: bool,
}

impl<'a, 'f> Look<'a, 'f> {
    pub(crate) fn new(
        frame: &'a Frame<'f>,
        at: &'a Situation,
        choices: &'a [Option<Domain>],
    ) -> Self {
        Look {
            frame,
            at,
            choices,
            touched: Vec::new(),
            beyond: None,
            wanting: false,
        }
    }

    fn mask(&mut self, column: Column) -> Option<Mask> {
        let mask = self.at.mask(self.frame, column)?;
        if mask.count_ones() > 1 && !self.touched.contains(&column) {
            self.touched.push(column);
        }
        Some(mask)
    }

    /// The values of a column.
    fn column(&mut self, column: Column) -> Option<Vec<Value>> {
        let mask = self.mask(column)?;
        let domain = self.at.domain(self.frame, self.choices, column)?;
        let mut values = Vec::new();
        match domain {
            Domain::Numbers(least, count) => {
                let held = (0..count).filter(|bit| mask & (1 << bit) != 0);
                values.extend(held.map(|bit| number(least + i64::from(bit))));
            }
            Domain::Processes(of, _) => {
                if mask & NOBODY != 0 {
                    values.push(number(-1));
                }
                let whos = 0..self.at.scope.len() as Who;
                let held = whos.filter(|who| mask & this(*who) != 0);
                values.extend(held.map(|who| plain(Base::Id(who))));
                if mask & OTHER != 0 {
                    values.push(plain(Base::Other(of)));
                }
            }
            Domain::Labels(_) | Domain::Either | Domain::Came => return None,
        }
        Some(values)
    }

    /// The values that a term can have; `None` for any. `holder` says that it is one of who holds a mutex.
    pub(crate) fn values(&mut self, term: &Term, holder: bool) -> Option<Vec<Value>> {
        let values = match term {
            Term::Number(value) => vec![number(*value)],
            Term::Reference(who) => vec![plain(Base::Id(*who as Who))],
            Term::Param(_) | Term::Population(_) => vec![self.size(term)?],
            Term::Choice(choice) => self.column(Column::Choice(*choice as u8))?,
            Term::Cell(cell) => {
                let mut values = Vec::new();
                for column in self.cells(cell)? {
                    for value in self.column(column)? {
                        if !values.contains(&value) {
                            values.push(value);
                        }
                    }
                }
                values
            }
            Term::Sum(_) | Term::Scaled(..) if holder => self.holder(term)?,
            Term::Sum(terms) => {
                let mut sums = vec![number(0)];
                for term in terms {
                    let each = self.values(term, false)?;
                    let pairs = sums
                        .iter()
                        .flat_map(|sum| each.iter().map(move |value| (sum, value)));
                    let mut further = Vec::new();
                    for (sum, value) in pairs {
                        let base = match (sum.base, value.base) {
                            (base, Base::Zero) | (Base::Zero, base) => base,
                            _ => return None,
                        };
                        let sum = Value {
                            base,
                            more: sum.more.checked_add(value.more)?,
                        };
                        if !further.contains(&sum) {
                            further.push(sum);
                        }
                    }
                    sums = further;
                    if sums.len() > MOST {
                        return None;
                    }
                }
                sums
            }
            Term::Scaled(factor, term) => {
                let mut values = self.values(term, false)?;
                for value in &mut values {
                    if value.base != Base::Zero {
                        return None;
                    }
                    value.more = value.more.checked_mul(*factor)?;
                }
                values
            }
            Term::If(..) if let Some((ring, forward, id)) = neighbour(term) => {
                self.beside(ring, forward, id)?
            }
            Term::If(condition, yes, no) => match self.truth(condition) {
                Some(true) => self.values(yes, holder)?,
                Some(false) => self.values(no, holder)?,
                None => {
                    let mut values = self.values(yes, holder)?;
                    for value in self.values(no, holder)? {
                        if !values.contains(&value) {
                            values.push(value);
                        }
                    }
                    values
                }
            },
            Term::Own
            | Term::Bound(_)
            | Term::Product(..)
            | Term::Quotient(..)
            | Term::Remainder(..)
            | Term::Fold { .. } => return None,
        };
        (values.len() <= MOST).then_some(values)
    }

    /// Who can be beside somebody on a ring.
    fn beside(&mut self, ring: TemplateId, forward: bool, id: &Term) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        for value in self.values(id, false)? {
            match value {
                Value {
                    base: Base::Id(who),
                    more: 0,
                } if self.at.scope[usize::from(who)] == ring => {
                    for value in self.column(Column::Beside(who, forward))? {
                        if !values.contains(&value) {
                            values.push(value);
                        }
                    }
                }
                // Nobody asks for the neighbour of none.
                Value {
                    base: Base::Zero,
                    more: ..0,
                } => {}
                Value {
                    base: Base::Other(_),
                    more: 0,
                } => {
                    self.wanting = true;
                    if let Some(column) = self.pointer(id) {
                        self.beyond = Some(column);
                    }
                    return None;
                }
                _ => return None,
            }
        }
        Some(values)
    }

    /// A parameter or a number of processes, counted from the last of a template of which somebody is in scope.
    fn size(&self, term: &Term) -> Option<Value> {
        let family = self.frame.family;
        for template in &self.at.scope {
            if *term == Term::Population(*template) {
                return Some(Value {
                    base: Base::Last(*template),
                    more: 1,
                });
            }
            if let Population::Between(Term::Number(least), greatest) =
                &family.templates[*template].population
                && greatest == term
            {
                return Some(Value {
                    base: Base::Last(*template),
                    more: *least,
                });
            }
        }
        None
    }

    /// Who holds a mutex, by the code for that.
    fn holder(&mut self, term: &Term) -> Option<Vec<Value>> {
        let templates = self.frame.family.templates.len() as i64;
        let (id, rest) = match term {
            Term::Sum(parts) => match parts.as_slice() {
                [Term::Scaled(factor, id), Term::Number(rest)] if *factor == templates => {
                    (&**id, *rest)
                }
                _ => return None,
            },
            Term::Scaled(factor, id) if *factor == templates => (&**id, 0),
            _ => return None,
        };
        let values = self.values(id, false)?;
        let fits = |value: &Value| match value.base {
            Base::Id(who) => {
                self.at.scope[usize::from(who)].index() as i64 == rest && value.more == 0
            }
            _ => false,
        };
        values.iter().all(fits).then_some(values)
    }

    /// The columns that a cell can be.
    fn cells(&mut self, cell: &Cell) -> Option<Vec<Column>> {
        let mut ways = vec![cell.clone()];
        let slots = match cell {
            Cell::Shared { indices, .. } | Cell::Local { indices, .. } => indices.len(),
        };
        for slot in 0..=slots {
            let mut further = Vec::new();
            for way in ways {
                let term = match (&way, slot.checked_sub(1)) {
                    (Cell::Local { process, .. }, None) => (**process).clone(),
                    (Cell::Shared { .. }, None) => {
                        further.push(way);
                        continue;
                    }
                    (Cell::Local { indices, .. } | Cell::Shared { indices, .. }, Some(place)) => {
                        match &indices[place] {
                            Index::Process(term) => term.clone(),
                            Index::Position(_) => {
                                further.push(way);
                                continue;
                            }
                        }
                    }
                };
                for who in self.whos(&term)? {
                    let mut way = way.clone();
                    let known = Term::Reference(u32::from(who));
                    match (&mut way, slot.checked_sub(1)) {
                        (Cell::Local { process, .. }, None) => **process = known,
                        (
                            Cell::Local { indices, .. } | Cell::Shared { indices, .. },
                            Some(place),
                        ) => {
                            indices[place] = Index::Process(known);
                        }
                        (Cell::Shared { .. }, None) => {}
                    }
                    further.push(way);
                }
            }
            ways = further;
        }
        ways.iter().map(|way| self.frame.column(way)).collect()
    }

    /// The processes that a term can be, if these are in scope.
    fn whos(&mut self, term: &Term) -> Option<Vec<Who>> {
        let values = self.values(term, false)?;
        let mut whos = Vec::new();
        for value in values {
            match value {
                Value {
                    base: Base::Id(who),
                    more: 0,
                } => whos.push(who),
                // Such an index fails a check, so nobody asks for what is there.
                Value {
                    base: Base::Zero,
                    more: ..0,
                } => {}
                Value {
                    base: Base::Other(_),
                    more: 0,
                } => {
                    self.wanting = true;
                    if let Some(column) = self.pointer(term) {
                        self.beyond = Some(column);
                    }
                    return None;
                }
                _ => return None,
            }
        }
        (!whos.is_empty()).then_some(whos)
    }

    /// The column that a term is the value of, if it says nothing but that this is somebody else.
    fn pointer(&mut self, term: &Term) -> Option<Column> {
        let column = match term {
            Term::Choice(choice) => Column::Choice(*choice as u8),
            Term::Cell(cell) => match self.cells(cell)?.as_slice() {
                [column] => *column,
                _ => return None,
            },
            Term::If(..) if let Some((ring, forward, id)) = neighbour(term) => {
                match self.values(id, false)?.as_slice() {
                    [
                        Value {
                            base: Base::Id(who),
                            more: 0,
                        },
                    ] if self.at.scope[usize::from(*who)] == ring => Column::Beside(*who, forward),
                    _ => return self.pointer(id),
                }
            }
            // As people number them.
            Term::Sum(parts) => match parts.as_slice() {
                [id, Term::Number(_)] => return self.pointer(id),
                _ => return None,
            },
            Term::If(condition, yes, no) => {
                return match self.truth(condition)? {
                    true => self.pointer(yes),
                    false => self.pointer(no),
                };
            }
            _ => return None,
        };
        let domain = self.at.domain(self.frame, self.choices, column)?;
        let known = matches!(domain, Domain::Processes(Some(_), _));
        (known && self.at.mask(self.frame, column) == Some(OTHER)).then_some(column)
    }

    /// Whether a formula holds, if that is known.
    pub(crate) fn truth(&mut self, formula: &Formula) -> Option<bool> {
        match formula {
            Formula::Constant(truth) => Some(*truth),
            Formula::AtMost(a, b) => self.compare(a, b, true),
            Formula::Equal(a, b) => self.compare(a, b, false),
            Formula::At {
                process, locations, ..
            } => {
                let values = self.whos(process)?;
                let mut inside = 0;
                for location in locations {
                    inside |= 1 << location.index();
                }
                let mut all = None;
                for who in values {
                    let mask = self.mask(Column::At(who))?;
                    let truth = match (mask & inside != 0, mask & !inside != 0) {
                        (true, false) => true,
                        (false, true) => false,
                        _ => return None,
                    };
                    if all.is_some_and(|all| all != truth) {
                        return None;
                    }
                    all = Some(truth);
                }
                all
            }
            Formula::Not(inner) => self.truth(inner).map(|truth| !truth),
            Formula::And(members) => self.all(members.iter(), true),
            Formula::Or(members) => self.all(members.iter(), false),
            Formula::ForAll(var, template, body) | Formula::Exists(var, template, body) => {
                let all = matches!(formula, Formula::ForAll(..));
                let scope = &self.at.scope;
                let whos = (0..scope.len()).filter(|who| scope[*who] == *template);
                let bodies: Vec<Formula> = whos
                    .map(|who| body.resolve(&Names::default().with(*var, who as u32)))
                    .collect();
                match self.all(bodies.iter(), all) {
                    // There are others.
                    Some(truth) if truth == all && !self.frame.singles.contains(template) => None,
                    known => known,
                }
            }
        }
    }

    /// Whether all hold, or (not `all`) one does.
    fn all<'m>(&mut self, members: impl Iterator<Item = &'m Formula>, all: bool) -> Option<bool> {
        let mut known = Some(all);
        for member in members {
            match self.truth(member) {
                Some(truth) if truth != all => return Some(truth),
                Some(_) => {}
                None => known = None,
            }
        }
        known
    }

    fn compare(&mut self, a: &Term, b: &Term, order: bool) -> Option<bool> {
        // Only whether they are the same is asked of holders.
        let holder = self.is_holder(a) || self.is_holder(b);
        let (touched, wanting) = (self.touched.len(), std::mem::take(&mut self.wanting));
        let both = self
            .values(a, holder)
            .and_then(|x| Some((x, self.values(b, holder)?)));
        let Some((left, right)) = both else {
            // Unless it is about somebody else, nothing that is split makes it known.
            if !self.wanting {
                self.touched.truncate(touched);
            }
            self.wanting |= wanting;
            return None;
        };
        self.wanting = wanting;
        let mut known = None;
        for x in &left {
            for y in &right {
                let truth = match (holder, order) {
                    (true, _) => holders(*x, *y).filter(|_| !order),
                    (false, true) => self.at_most(*x, *y),
                    (false, false) => self.equal(*x, *y),
                };
                let Some(truth) = truth else {
                    match (self.pointer(a), self.pointer(b)) {
                        (Some(column), Some(_)) => self.beyond = Some(column),
                        (Some(column), None) | (None, Some(column)) if order => {
                            self.beyond = Some(column)
                        }
                        _ => {}
                    }
                    return None;
                };
                if known.is_some_and(|known| known != truth) {
                    return None;
                }
                known = Some(truth);
            }
        }
        known
    }

    fn is_holder(&self, term: &Term) -> bool {
        let program = self.frame.family.program();
        match term {
            Term::Cell(Cell::Shared { var, .. }) => program.shared[*var].scalar == Scalar::Mutex,
            Term::Cell(Cell::Local { template, var, .. }) => {
                program.templates[*template].locals[*var].scalar == Scalar::Mutex
            }
            Term::If(_, yes, no) => self.is_holder(yes) || self.is_holder(no),
            _ => false,
        }
    }

    fn template(&self, base: Base) -> Option<TemplateId> {
        match base {
            Base::Zero => None,
            Base::Id(who) => Some(self.at.scope[usize::from(who)]),
            Base::Other(of) => of,
            Base::Last(of) => Some(of),
        }
    }

    fn equal(&mut self, a: Value, b: Value) -> Option<bool> {
        let apart = i128::from(b.more) - i128::from(a.more);
        match (a.base, b.base) {
            (Base::Zero, Base::Zero) => Some(apart == 0),
            (Base::Id(x), Base::Id(y)) if x == y => Some(apart == 0),
            (Base::Last(x), Base::Last(y)) if x == y => Some(apart == 0),
            (Base::Id(x), Base::Id(y))
                if self.at.scope[usize::from(x)] != self.at.scope[usize::from(y)] =>
            {
                None
            }
            (Base::Id(_), Base::Id(_)) if apart == 0 => Some(false),
            (Base::Id(x), Base::Id(y)) => {
                // One after the other, so the first is less.
                match (self.less(x, y), apart > 0) {
                    (Some(less), after) if less == after => Some(false),
                    _ => None,
                }
            }
            (Base::Id(_), Base::Other(of)) | (Base::Other(of), Base::Id(_)) => {
                let id = if matches!(a.base, Base::Id(_)) {
                    a.base
                } else {
                    b.base
                };
                let alike = of.is_none() || of == self.template(id);
                (apart == 0 && alike).then_some(false)
            }
            (Base::Zero, Base::Id(_) | Base::Other(_)) => self.equal(b, a),
            (Base::Id(_) | Base::Other(_), Base::Zero) if apart < 0 => Some(false),
            (Base::Id(who), Base::Zero) => match (self.end(Column::First(who)), apart) {
                (Some(first), 0) => Some(first),
                (Some(true), _) => Some(false),
                _ => None,
            },
            (Base::Last(_), Base::Id(_) | Base::Other(_)) => self.equal(b, a),
            (Base::Id(_) | Base::Other(_), Base::Last(of)) if self.template(a.base) != Some(of) => {
                None
            }
            (Base::Id(_) | Base::Other(_), Base::Last(_)) if apart > 0 => Some(false),
            (Base::Id(who), Base::Last(_)) => match (self.end(Column::Last(who)), apart) {
                (Some(last), 0) => Some(last),
                (Some(true), _) => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    fn at_most(&mut self, a: Value, b: Value) -> Option<bool> {
        let apart = i128::from(b.more) - i128::from(a.more);
        match (a.base, b.base) {
            (Base::Zero, Base::Zero) => Some(apart >= 0),
            (Base::Id(x), Base::Id(y)) if x == y => Some(apart >= 0),
            (Base::Last(x), Base::Last(y)) if x == y => Some(apart >= 0),
            (Base::Id(x), Base::Id(y))
                if self.at.scope[usize::from(x)] == self.at.scope[usize::from(y)] =>
            {
                // Ids of different processes are at least one apart.
                match (self.less(x, y)?, apart) {
                    (true, -1..) => Some(true),
                    (false, ..1) => Some(false),
                    _ => None,
                }
            }
            // No id is negative.
            (Base::Zero, Base::Id(_) | Base::Other(_) | Base::Last(_)) if apart >= 0 => Some(true),
            (Base::Id(_) | Base::Other(_) | Base::Last(_), Base::Zero) if apart < 0 => Some(false),
            (Base::Zero, Base::Id(who)) if apart == -1 => {
                self.end(Column::First(who)).map(|first| !first)
            }
            (Base::Id(who), Base::Zero) if apart == 0 => self.end(Column::First(who)),
            // And none is beyond the last.
            (Base::Id(_) | Base::Other(_), Base::Last(of)) if self.template(a.base) != Some(of) => {
                None
            }
            (Base::Last(of), Base::Id(_) | Base::Other(_)) if self.template(b.base) != Some(of) => {
                None
            }
            (Base::Id(_) | Base::Other(_), Base::Last(_)) if apart >= 0 => Some(true),
            (Base::Last(_), Base::Id(_) | Base::Other(_)) if apart < 0 => Some(false),
            (Base::Id(who), Base::Last(_)) if apart == -1 => {
                self.end(Column::Last(who)).map(|last| !last)
            }
            (Base::Last(_), Base::Id(who)) if apart == 0 => self.end(Column::Last(who)),
            _ => None,
        }
    }

    fn end(&mut self, column: Column) -> Option<bool> {
        let who = column.whos().next()?;
        if !self.frame.is_ordered(self.at.scope[usize::from(who)]) {
            return None;
        }
        match self.mask(column)? {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        }
    }

    /// Whether one process comes before another one.
    fn less(&mut self, a: Who, b: Who) -> Option<bool> {
        if !self.frame.is_ordered(self.at.scope[usize::from(a)]) {
            return None;
        }
        let (column, first) = if a < b {
            (Column::Order(a, b), 1)
        } else {
            (Column::Order(b, a), 2)
        };
        match self.mask(column)? {
            3 => None,
            mask => Some(mask == first),
        }
    }
}

impl Frame<'_> {
    /// The values that a column has at first; `None` if it is not known.
    pub(crate) fn begins(&self, column: Column, at: &Situation) -> Option<Mask> {
        if let Column::At(who) = column {
            return Some(
                1 << self.family.templates[at.scope[usize::from(who)]]
                    .entry
                    .index(),
            );
        }
        if let Column::Came(..) = column {
            return Some(APART);
        }
        let (initial, own) = match column {
            Column::Shared(var, _) => (&self.family.shared[var].initial, None),
            Column::Own(who, var, _) => {
                let template = &self.family.templates[at.scope[usize::from(who)]];
                (&template.locals[var].initial, Some(u32::from(who)))
            }
            _ => return None,
        };
        let initial = initial.as_ref()?.resolve(&Names {
            own,
            bound: Vec::new(),
        });
        let domain = self.domain(column, &at.scope)?;
        // What is known of the order stays as it is.
        let values = Look::new(self, at, &[])
            .values(&initial, matches!(domain, Domain::Processes(None, _)))?;
        as_mask(domain, &values, &at.scope)
    }
}

/// Whether a mutex is held by the same, or by nobody, as far as that is known.
fn holders(a: Value, b: Value) -> Option<bool> {
    match (a.base, b.base) {
        (Base::Zero, Base::Zero) => Some(a.more == b.more),
        (Base::Other(_), Base::Other(_)) => None,
        _ => Some(a == b),
    }
}

/// The mask of the values that a term can have, as those of a domain.
pub(crate) fn as_mask(domain: Domain, values: &[Value], scope: &[TemplateId]) -> Option<Mask> {
    let mut mask = 0;
    for value in values {
        mask |= match (domain, *value) {
            (
                Domain::Numbers(least, count),
                Value {
                    base: Base::Zero,
                    more,
                },
            ) => {
                let bit = more.checked_sub(least)?;
                // What does not fit fails a check.
                if (0..i64::from(count)).contains(&bit) {
                    1 << bit
                } else {
                    0
                }
            }
            (
                Domain::Processes(..),
                Value {
                    base: Base::Zero,
                    more: -1,
                },
            ) => NOBODY,
            (
                Domain::Processes(of, _),
                Value {
                    base: Base::Id(who),
                    more: 0,
                },
            ) if of.is_none_or(|of| of == scope[usize::from(who)]) => this(who),
            (
                Domain::Processes(..),
                Value {
                    base: Base::Other(_),
                    more: 0,
                },
            ) => OTHER,
            _ => return None,
        };
    }
    Some(mask)
}
