//! Situations: a few different processes, and a set of values for each thing that is to be seen of them.
//!
//! What can be seen of processes in scope are *columns*: where one is, a shared variable, an entry of an array that belongs to one, a variable of its own, the order of two
//! ids. Each has few values, so a set of values is a mask. A cell with an id has the values `none`, each process in scope, and *somebody else*: whoever is not in scope. When
//! a process comes into scope, somebody else may be that process. Processes without equals (`process Directory`) are in every scope, first.
//!
//! A situation is the conjunction of its masks. It is about every way to pick its processes.

use threadwise_lang::program::{IdOrder, LocalId, Scalar, SharedId, TemplateId};
use threadwise_model::family::{Cell, Dimension, Family, FamilyVariable, Index, Population, Term};

use super::arrivals::Arrivals;
use super::ring;

/// A set of values: which of them, by position.
pub(crate) type Mask = u64;
/// A process in scope, by position.
pub(crate) type Who = u8;

/// The value of an id: none.
pub(crate) const NOBODY: Mask = 1;
/// The value of an id: whoever is not in scope.
pub(crate) const OTHER: Mask = 1 << 63;
/// Of two processes, not both are in the order in which they came.
pub(crate) const APART: Mask = 4;
/// Processes in scope at most.
pub(crate) const MOST: usize = 9;
/// Values that a column has at most.
const VALUES: usize = 60;

/// The value of an id: this process.
pub(crate) fn this(who: Who) -> Mask {
    2 << who
}

/// Where an index points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    /// There is no such dimension.
    Absent,
    /// A number.
    Position(i16),
    /// A process.
    Of(Who),
}

type Places = [Place; 2];

/// What can be seen of processes in scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Column {
    /// Where a process is.
    At(Who),
    /// The order of two processes, the first with the smaller position in scope: bit 0 if it has the smaller id.
    Order(Who, Who),
    /// Whether a process is the first of its template: bit 0 if not, bit 1 if so.
    First(Who),
    /// Whether it is the last.
    Last(Who),
    /// Who is beside a process on a ring: the next one, or the one before.
    Beside(Who, bool),
    /// Which of two processes came first, the first with the smaller position in scope: bit 0 if it came first, bit 1 if the other one did, bit 2 if not both are there.
    Came(Who, Who),
    /// A shared variable.
    Shared(SharedId, Places),
    /// A variable of a process.
    Own(Who, LocalId, Places),
    /// A value that a step chooses.
    Choice(u8),
}

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// The labels of a template, by position.
    Labels(u32),
    /// Consecutive integers.
    Numbers(i64, u32),
    /// Processes of a template, or of any for the holder of a mutex; and whether `none` is one.
    Processes(Option<TemplateId>, bool),
    /// Two values.
    Either,
    /// Who came first, or that not both are there.
    Came,
}

/// What is the same for all situations of a program.
#[derive(Clone, Debug)]
pub(crate) struct Frame<'f> {
    pub(crate) family: &'f Family,
    /// Templates with one process.
    pub(crate) singles: Vec<TemplateId>,
    /// Where processes are in the order in which they came there.
    pub(crate) arrivals: Option<Arrivals>,
    /// In which ways round a ring the program goes: to the next one, and to the one before.
    pub(crate) ways_round: Vec<bool>,
}

impl<'f> Frame<'f> {
    /// `None` if the program has processes that are started, or more labels than a mask.
    pub(crate) fn new(family: &'f Family, arrivals: Option<Arrivals>) -> Result<Frame<'f>, String> {
        let mut singles = Vec::new();
        for (id, template) in family.templates.iter_enumerated() {
            match &template.population {
                Population::Grows => {
                    return Err(format!("processes of `{}` are started", template.name));
                }
                Population::Between(lo, hi) if lo == hi => singles.push(id),
                Population::Between(..) => {}
            }
            if template.locations.len() > VALUES {
                return Err(format!("`{}` has more than {VALUES} labels", template.name));
            }
        }
        if singles.len() > MOST - 4 {
            return Err("there are many templates with one process".to_owned());
        }
        Ok(Frame {
            family,
            singles,
            arrivals,
            ways_round: ring::ways_round(family.program()),
        })
    }

    /// Whether a column says who came first, or whom an id names.
    pub(crate) fn links(&self, column: Column, scope: &[TemplateId]) -> bool {
        matches!(column, Column::Came(..))
            || matches!(self.domain(column, scope), Some(Domain::Processes(..)))
    }

    /// The labels of a template at which processes are in the order in which they came there.
    pub(crate) fn inside(&self, template: TemplateId) -> Mask {
        let arrivals = self.arrivals.as_ref();
        arrivals.map_or(0, |arrivals| arrivals.inside(template))
    }

    /// Whether processes of a template are on a ring that the program goes round.
    pub(crate) fn is_ring(&self, template: TemplateId) -> bool {
        self.family.program().templates[template].order == IdOrder::Ring
    }

    pub(crate) fn is_ordered(&self, template: TemplateId) -> bool {
        self.family.program().templates[template].order != IdOrder::Unordered
    }

    fn variable(
        &self,
        column: Column,
        scope: &[TemplateId],
    ) -> Option<(&'f FamilyVariable, &'f Scalar)> {
        let program = self.family.program();
        match column {
            Column::Shared(var, _) => Some((&self.family.shared[var], &program.shared[var].scalar)),
            Column::Own(who, var, _) => {
                let template = scope[usize::from(who)];
                let local = &self.family.templates[template].locals[var];
                Some((local, &program.templates[template].locals[var].scalar))
            }
            _ => None,
        }
    }

    /// The values of a column. `None` if these are not few. Those of a choice are known to whoever makes it.
    pub(crate) fn domain(&self, column: Column, scope: &[TemplateId]) -> Option<Domain> {
        match column {
            Column::At(who) => {
                let template = &self.family.templates[scope[usize::from(who)]];
                Some(Domain::Labels(template.locations.len() as u32))
            }
            Column::Order(..) | Column::First(_) | Column::Last(_) => Some(Domain::Either),
            Column::Came(..) => Some(Domain::Came),
            Column::Beside(who, _) => Some(Domain::Processes(Some(scope[usize::from(who)]), false)),
            Column::Choice(_) => None,
            Column::Shared(..) | Column::Own(..) => {
                let (variable, scalar) = self.variable(column, scope)?;
                match scalar {
                    Scalar::Id(template) => Some(Domain::Processes(Some(*template), false)),
                    Scalar::OptId(template) => Some(Domain::Processes(Some(*template), true)),
                    Scalar::Mutex => Some(Domain::Processes(None, true)),
                    _ => match (&variable.least, &variable.greatest) {
                        (Some(Term::Number(least)), Some(Term::Number(greatest))) => {
                            let values = i128::from(*greatest) - i128::from(*least) + 1;
                            let few = (1..=VALUES as i128).contains(&values);
                            few.then_some(Domain::Numbers(*least, values as u32))
                        }
                        _ => None,
                    },
                }
            }
        }
    }

    /// All values of a domain.
    pub(crate) fn all(&self, domain: Domain, scope: &[TemplateId]) -> Mask {
        match domain {
            Domain::Labels(values) | Domain::Numbers(_, values) => (1 << values) - 1,
            Domain::Either => 3,
            Domain::Came => 7,
            Domain::Processes(of, none) => {
                let mut mask = if none { NOBODY } else { 0 };
                for (who, template) in scope.iter().enumerate() {
                    if of.is_none_or(|of| of == *template) {
                        mask |= this(who as Who);
                    }
                }
                match of {
                    // There is no other one.
                    Some(of) if self.singles.contains(&of) => mask,
                    _ => mask | OTHER,
                }
            }
        }
    }

    /// The column of a cell whose indices are numbers and processes in scope.
    pub(crate) fn column(&self, cell: &Cell) -> Option<Column> {
        let places = |indices: &[Index]| {
            let mut places = [Place::Absent; 2];
            for (position, index) in indices.iter().enumerate() {
                *places.get_mut(position)? = match index {
                    Index::Position(position) => Place::Position(i16::try_from(*position).ok()?),
                    Index::Process(Term::Reference(who)) => Place::Of(*who as Who),
                    Index::Process(_) => return None,
                };
            }
            Some(places)
        };
        match cell {
            Cell::Shared { var, indices } => Some(Column::Shared(*var, places(indices)?)),
            Cell::Local {
                process,
                var,
                indices,
                ..
            } => match **process {
                Term::Reference(who) => Some(Column::Own(who as Who, *var, places(indices)?)),
                _ => None,
            },
        }
    }

    /// The cell of a column, if it is one.
    pub(crate) fn cell(&self, column: Column, scope: &[TemplateId]) -> Option<Cell> {
        let indices = |places: Places| {
            let each = places.iter().filter_map(|place| match place {
                Place::Absent => None,
                Place::Position(position) => Some(Index::Position(i64::from(*position))),
                Place::Of(who) => Some(Index::Process(Term::Reference(u32::from(*who)))),
            });
            each.collect()
        };
        match column {
            Column::Shared(var, places) => Some(Cell::Shared {
                var,
                indices: indices(places),
            }),
            Column::Own(who, var, places) => Some(Cell::Local {
                template: scope[usize::from(who)],
                process: Box::new(Term::Reference(u32::from(who))),
                var,
                indices: indices(places),
            }),
            _ => None,
        }
    }

    /// All columns of processes in scope, but for those with many values.
    pub(crate) fn columns(&self, scope: &[TemplateId]) -> Vec<Column> {
        let whos = || (0..scope.len() as Who).map(|who| (who, scope[usize::from(who)]));
        let mut columns = Vec::new();
        for (who, template) in whos() {
            columns.push(Column::At(who));
            let ordered = self.is_ordered(template) && !self.singles.contains(&template);
            if ordered {
                columns.extend([Column::First(who), Column::Last(who)]);
            }
            if ordered && self.is_ring(template) {
                let ways = self.ways_round.iter();
                columns.extend(ways.map(|forward| Column::Beside(who, *forward)));
            }
            for (other, of) in whos() {
                let queue = self.arrivals.is_some() && self.inside(template) != 0;
                if queue && self.inside(of) != 0 && who < other {
                    columns.push(Column::Came(who, other));
                }
                if ordered && of == template && who < other {
                    columns.push(Column::Order(who, other));
                }
            }
        }
        for (var, variable) in self.family.shared.iter_enumerated() {
            columns.extend(ways(&variable.dims, scope).map(|places| Column::Shared(var, places)));
        }
        for (who, template) in whos() {
            for (var, variable) in self.family.templates[template].locals.iter_enumerated() {
                let each = ways(&variable.dims, scope);
                columns.extend(each.map(|places| Column::Own(who, var, places)));
            }
        }
        columns.retain(|column| self.domain(*column, scope).is_some());
        columns.sort_unstable();
        columns
    }
}

/// All ways to index these dimensions by numbers and processes in scope; none if they are more than two.
fn ways(dims: &[Dimension], scope: &[TemplateId]) -> impl Iterator<Item = Places> + use<> {
    let each = |dim: Option<&Dimension>| -> Vec<Place> {
        match dim {
            None => vec![Place::Absent],
            Some(Dimension::Positions { lowest, size }) => (0..i64::from(*size))
                .filter_map(|offset| i16::try_from(lowest + offset).ok())
                .map(Place::Position)
                .collect(),
            Some(Dimension::Processes(template)) => (0..scope.len() as Who)
                .filter(|who| scope[usize::from(*who)] == *template)
                .map(Place::Of)
                .collect(),
        }
    };
    let (first, second) = match dims.len() {
        0..=2 => (each(dims.first()), each(dims.get(1))),
        _ => (Vec::new(), Vec::new()),
    };
    let pairs = first.into_iter().flat_map(move |a| {
        let second = second.clone();
        second.into_iter().map(move |b| [a, b])
    });
    pairs.collect::<Vec<_>>().into_iter()
}

impl Column {
    /// The processes that it is about.
    pub(crate) fn whos(self) -> impl Iterator<Item = Who> {
        let (first, places) = match self {
            Column::At(who) | Column::First(who) | Column::Last(who) | Column::Beside(who, _) => {
                (Some(who), None)
            }
            Column::Order(a, b) | Column::Came(a, b) => {
                (Some(a), Some([Place::Of(b), Place::Absent]))
            }
            Column::Shared(_, places) => (None, Some(places)),
            Column::Own(who, _, places) => (Some(who), Some(places)),
            Column::Choice(_) => (None, None),
        };
        let indexed = places
            .into_iter()
            .flatten()
            .filter_map(|place| match place {
                Place::Of(who) => Some(who),
                _ => None,
            });
        first.into_iter().chain(indexed)
    }

    /// The same of other processes; and whether the order is the other way round.
    pub(crate) fn renamed(self, to: &[Who]) -> (Column, bool) {
        let one = |who: Who| to[usize::from(who)];
        let each = |places: Places| {
            places.map(|place| match place {
                Place::Of(who) => Place::Of(one(who)),
                other => other,
            })
        };
        let column = match self {
            Column::At(who) => Column::At(one(who)),
            Column::First(who) => Column::First(one(who)),
            Column::Last(who) => Column::Last(one(who)),
            Column::Beside(who, forward) => Column::Beside(one(who), forward),
            Column::Order(a, b) if one(a) > one(b) => return (Column::Order(one(b), one(a)), true),
            Column::Order(a, b) => Column::Order(one(a), one(b)),
            Column::Came(a, b) if one(a) > one(b) => return (Column::Came(one(b), one(a)), true),
            Column::Came(a, b) => Column::Came(one(a), one(b)),
            Column::Shared(var, places) => Column::Shared(var, each(places)),
            Column::Own(who, var, places) => Column::Own(one(who), var, each(places)),
            Column::Choice(_) => self,
        };
        (column, false)
    }
}

/// A few different processes, and what holds of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Situation {
    /// Their templates; those with one process come first.
    pub(crate) scope: Vec<TemplateId>,
    /// The values of columns that do not have all of them, sorted.
    pub(crate) masks: Vec<(Column, Mask)>,
}

impl Situation {
    /// Nothing is known of the processes that are in every scope.
    pub(crate) fn empty(frame: &Frame) -> Situation {
        Situation {
            scope: frame.singles.clone(),
            masks: Vec::new(),
        }
    }

    /// The values that a column can have. `None` if it has many.
    pub(crate) fn mask(&self, frame: &Frame, column: Column) -> Option<Mask> {
        match self
            .masks
            .binary_search_by_key(&column, |(known, _)| *known)
        {
            Ok(place) => Some(self.masks[place].1),
            Err(_) => Some(frame.all(frame.domain(column, &self.scope)?, &self.scope)),
        }
    }

    /// Says that a column has one of these values. `false` if it cannot.
    pub(crate) fn restrict(&mut self, frame: &Frame, column: Column, mask: Mask) -> bool {
        let Some(before) = self.mask(frame, column) else {
            return true;
        };
        let after = before & mask;
        self.replace(frame, column, after);
        after != 0
    }

    /// Says which values a column has, whatever was said before.
    pub(crate) fn replace(&mut self, frame: &Frame, column: Column, mask: Mask) {
        let domain = frame.domain(column, &self.scope);
        let trivial = domain.is_some_and(|domain| mask == frame.all(domain, &self.scope));
        match self
            .masks
            .binary_search_by_key(&column, |(known, _)| *known)
        {
            Ok(place) if trivial => drop(self.masks.remove(place)),
            Ok(place) => self.masks[place].1 = mask,
            Err(_) if trivial => {}
            Err(place) => self.masks.insert(place, (column, mask)),
        }
    }

    /// The domain of a column; `choices` are those of choices.
    pub(crate) fn domain(
        &self,
        frame: &Frame,
        choices: &[Option<Domain>],
        column: Column,
    ) -> Option<Domain> {
        match column {
            Column::Choice(choice) => choices.get(usize::from(choice)).copied().flatten(),
            _ => frame.domain(column, &self.scope),
        }
    }

    /// Brings one more process into scope.
    pub(crate) fn grow(
        &mut self,
        frame: &Frame,
        choices: &[Option<Domain>],
        template: TemplateId,
    ) -> Who {
        let who = self.scope.len() as Who;
        for place in 0..self.masks.len() {
            let (column, mask) = self.masks[place];
            if mask & OTHER != 0
                && let Some(Domain::Processes(of, _)) = self.domain(frame, choices, column)
                && of.is_none_or(|of| of == template)
            {
                self.masks[place].1 |= this(who);
            }
        }
        self.scope.push(template);
        who
    }

    /// What is left of it if only these processes stay in scope: what is known of the others is forgotten.
    pub(crate) fn of(&self, frame: &Frame, stay: &[bool]) -> Situation {
        let mut to = vec![Who::MAX; self.scope.len()];
        let mut left = Situation {
            scope: Vec::new(),
            masks: Vec::new(),
        };
        for (who, template) in self.scope.iter().enumerate() {
            if stay[who] {
                to[who] = left.scope.len() as Who;
                left.scope.push(*template);
            }
        }
        for (column, mask) in &self.masks {
            if matches!(column, Column::Choice(_))
                || column.whos().any(|who| !stay[usize::from(who)])
            {
                continue;
            }
            let mask = match frame.domain(*column, &self.scope) {
                Some(Domain::Processes(..)) => moved(*mask, &to),
                _ => *mask,
            };
            // Who stays keeps the order.
            let (column, _) = column.renamed(&to);
            left.replace(frame, column, mask);
        }
        left
    }

    /// The processes that something is said about, and those that are in every scope.
    pub(crate) fn mentioned(&self, frame: &Frame) -> Vec<bool> {
        let mut mentioned: Vec<bool> = (0..self.scope.len())
            .map(|who| who < frame.singles.len())
            .collect();
        for (column, mask) in &self.masks {
            for who in column.whos() {
                mentioned[usize::from(who)] = true;
            }
            if let Some(Domain::Processes(of, _)) = frame.domain(*column, &self.scope) {
                for (who, template) in self.scope.iter().enumerate() {
                    let told = (mask & this(who as Who) != 0) != (mask & OTHER != 0);
                    if told && of.is_none_or(|of| of == *template) {
                        mentioned[who] = true;
                    }
                }
            }
        }
        mentioned
    }

    /// With processes in the order of their templates, and nothing about choices or about processes of which nothing is known.
    pub(crate) fn tidy(&self, frame: &Frame) -> Situation {
        self.tidied(frame).0
    }

    /// The same, and who of them is who.
    pub(crate) fn tidied(&self, frame: &Frame) -> (Situation, Vec<Who>) {
        let stay = self.mentioned(frame);
        let small = self.of(frame, &stay);
        let stayed: Vec<Who> = (0..stay.len())
            .filter(|who| stay[*who])
            .map(|who| who as Who)
            .collect();
        let mut order: Vec<Who> = (0..small.scope.len() as Who).collect();
        let singles = frame.singles.len();
        order[singles..].sort_by_key(|who| small.scope[usize::from(*who)]);
        let mut to = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            to[usize::from(*old)] = new as Who;
        }
        let scope = order
            .iter()
            .map(|who| small.scope[usize::from(*who)])
            .collect();
        let was = order.iter().map(|who| stayed[usize::from(*who)]).collect();
        (small.renamed(frame, scope, &to), was)
    }

    /// The same of other processes, those of another scope. Somebody else is somebody else there, or one of those in scope that this is not about.
    pub(crate) fn renamed(&self, frame: &Frame, scope: Vec<TemplateId>, to: &[Who]) -> Situation {
        let mut new = Situation {
            scope,
            masks: Vec::with_capacity(self.masks.len()),
        };
        for (column, mask) in &self.masks {
            let (column, mask) = self.literal(frame, *column, *mask, &new.scope, to);
            new.masks.push((column, mask));
        }
        new.masks.sort_unstable_by_key(|(column, _)| *column);
        new
    }

    fn literal(
        &self,
        frame: &Frame,
        column: Column,
        mask: Mask,
        scope: &[TemplateId],
        to: &[Who],
    ) -> (Column, Mask) {
        let (renamed, reversed) = column.renamed(to);
        let mask = match frame.domain(column, &self.scope) {
            _ if reversed => (mask & 1) << 1 | (mask & 2) >> 1 | mask & 4,
            Some(Domain::Processes(of, _)) => {
                let mut moved = moved(mask, to);
                if mask & OTHER != 0 {
                    for (who, template) in scope.iter().enumerate() {
                        let fits = of.is_none_or(|of| of == *template);
                        if fits && !to.contains(&(who as Who)) {
                            moved |= this(who as Who);
                        }
                    }
                }
                moved
            }
            _ => mask,
        };
        (renamed, mask)
    }

    /// Whether wherever another one is, this is, with some of its processes.
    pub(crate) fn covers(&self, frame: &Frame, other: &Situation) -> bool {
        self.within(frame, other).is_some()
    }

    /// The same, and which of the processes.
    pub(crate) fn within(&self, frame: &Frame, other: &Situation) -> Option<Vec<Who>> {
        if self.scope.len() > other.scope.len() {
            return None;
        }
        let mut to: Vec<Who> = (0..frame.singles.len() as Who).collect();
        self.cover_from(frame, other, &mut to).then_some(to)
    }

    fn cover_from(&self, frame: &Frame, other: &Situation, to: &mut Vec<Who>) -> bool {
        let Some(template) = self.scope.get(to.len()) else {
            return self.masks.iter().all(|(column, mask)| {
                let (column, mask) = self.literal(frame, *column, *mask, &other.scope, to);
                other
                    .mask(frame, column)
                    .is_some_and(|known| known & !mask == 0)
            });
        };
        let who = to.len() as Who;
        for candidate in frame.singles.len() as Who..other.scope.len() as Who {
            if other.scope[usize::from(candidate)] != *template || to.contains(&candidate) {
                continue;
            }
            // Where it is rules most of them out.
            if let Ok(place) = self
                .masks
                .binary_search_by_key(&Column::At(who), |(known, _)| *known)
            {
                let known = other
                    .mask(frame, Column::At(candidate))
                    .unwrap_or(Mask::MAX);
                if known & !self.masks[place].1 != 0 {
                    continue;
                }
            }
            to.push(candidate);
            if self.cover_from(frame, other, to) {
                return true;
            }
            to.pop();
        }
        false
    }
}

/// The values of an id by other names for processes; whoever has none is somebody else.
pub(crate) fn moved(mask: Mask, to: &[Who]) -> Mask {
    let mut moved = mask & (NOBODY | OTHER);
    for (who, new) in to.iter().enumerate() {
        if mask & this(who as Who) != 0 {
            moved |= if *new == Who::MAX { OTHER } else { this(*new) };
        }
    }
    moved
}
