//! Initial states: the fixed values, and every combination of values for the cells that begin
//! with `any`, as far as `initially` allows them. They come one at a time, since there may be more than anybody wants to see.

use std::ops::RangeInclusive;

use threadwise_lang::program::Span;

use crate::expression::{Budget, Cell, Limit, Scope};
use crate::instance::{Instance, Shape, Start, Values};
use crate::state::{FREE, NONE, ProcessRef, Processes, State};

/// How many states are looked at to count or number those that `initially` allows.
const MOST_COUNTED: usize = 1 << 16;
/// How many combinations of values are looked through for those that `initially` allows.
const MOST_COMBINATIONS: u128 = 1 << 24;
/// How many states are looked at for one that `initially` allows.
const MOST_TRIED: usize = 1 << 17;

/// The initial states of an instance, in ascending order of their free cells.
#[derive(Clone, Debug)]
pub struct InitialStates<'a> {
    instance: &'a Instance,
    free: Vec<(Cell, Choices)>,
    /// The choice of each free cell in the next state.
    odometer: Vec<u128>,
    next: Option<State>,
}

impl<'a> InitialStates<'a> {
    pub(crate) fn new(instance: &'a Instance) -> Result<InitialStates<'a>, Limit> {
        let mut state = State {
            shared: Vec::with_capacity(instance.shared_cells()),
            templates: instance
                .program()
                .templates
                .iter_enumerated()
                .map(|(id, template)| Processes {
                    locations: vec![template.entry; instance.count(id) as usize],
                    cells: Vec::with_capacity(
                        instance.count(id) as usize * instance.local_cells(id),
                    ),
                })
                .collect(),
        };
        let mut free = Vec::new();
        let mut spans = Vec::new();
        for (id, variable) in instance.program().shared.iter_enumerated() {
            let shape = instance.shared(id);
            let value = shape.start.value(0).unwrap_or_default();
            state.shared.extend(std::iter::repeat_n(value, shape.len));
            if shape.start == Start::Any {
                free.extend(
                    positions(shape).map(|position| (Cell::Shared(position), shape.values)),
                );
                spans.extend(positions(shape).map(|_| variable.span));
            }
        }
        for (template, declaration) in instance.program().templates.iter_enumerated() {
            for index in 0..instance.count(template) {
                for (local, variable) in declaration.locals.iter_enumerated() {
                    let shape = instance.local(template, local);
                    let value = shape.start.value(index).unwrap_or_default();
                    state.templates[template]
                        .cells
                        .extend(std::iter::repeat_n(value, shape.len));
                    if shape.start == Start::Any {
                        let process = ProcessRef { template, index };
                        free.extend(
                            positions(shape)
                                .map(|position| (Cell::Local(process, position), shape.values)),
                        );
                        spans.extend(positions(shape).map(|_| variable.span));
                    }
                }
            }
        }
        let mut choices = Vec::with_capacity(free.len());
        for ((cell, values), span) in free.into_iter().zip(spans) {
            choices.push((cell, cell_values(values, &state, span)?));
        }
        for (cell, choices) in &choices {
            // The types of existing cells are not empty.
            cell.write(&mut state, instance, choices.get(0).unwrap_or_default());
        }
        Ok(InitialStates {
            instance,
            odometer: vec![0; choices.len()],
            free: choices,
            next: Some(state),
        })
    }

    /// The initial state in which `pick`, called with the number of choices of each free cell,
    /// says which one is taken.
    pub fn pick(&self, mut pick: impl FnMut(u128) -> u128) -> Option<State> {
        let mut state = self.next.clone()?;
        for (cell, choices) in &self.free {
            let value = choices.get(pick(choices.len()))?;
            cell.write(&mut state, self.instance, value);
        }
        admits(self.instance, &state).then_some(state)
    }

    /// Whether not every combination of values is an initial state.
    fn is_constrained(&self) -> bool {
        !self.instance.program().initially.is_empty()
    }

    /// The initial state with a number, in the order in which [`total`](Self::total) counts them; the cells that come first change fastest. With `initially`, those
    /// among the first combinations are numbered as they come.
    pub fn nth(&self, mut number: u128) -> Option<State> {
        if self.is_constrained() {
            return self.clone().few().nth(usize::try_from(number).ok()?);
        }
        let state = self.pick(|choices| {
            let digit = number % choices.max(1);
            number /= choices.max(1);
            digit
        });
        state.filter(|_| number == 0)
    }

    /// The number of an initial state, if it is one of them and its cells have not too many choices to look through.
    pub fn number(&self, state: &State) -> Option<u128> {
        const MOST_CHOICES: u128 = 1 << 20;
        if self.is_constrained() {
            let position = self.clone().few().position(|known| known == *state)?;
            return Some(position as u128);
        }
        let mut number = 0u128;
        let mut place = 1u128;
        for (cell, choices) in &self.free {
            let value = cell.read(state, self.instance);
            let mut digits = 0..choices.len().min(MOST_CHOICES);
            let digit = digits.find(|digit| choices.get(*digit) == Some(value))?;
            number = number.checked_add(digit.checked_mul(place)?)?;
            place = place.checked_mul(choices.len())?;
        }
        (self.nth(number).as_ref() == Some(state)).then_some(number)
    }

    /// How many there are, if that fits; with `initially`, how many have a number.
    pub fn total(&self) -> Option<u128> {
        if self.is_constrained() {
            return Some(self.clone().few().count() as u128);
        }
        self.combinations()
    }

    /// The initial states among the first combinations of values.
    fn few(mut self) -> impl Iterator<Item = State> {
        let instance = self.instance;
        let all = std::iter::from_fn(move || self.advance());
        let all = all.take(MOST_COUNTED);
        all.filter(move |state| admits(instance, state))
    }

    /// Whether there are more combinations of values than one looks through for those that `initially` allows.
    pub(crate) fn is_long(&self) -> bool {
        self.combinations()
            .is_none_or(|count| count > MOST_COMBINATIONS)
    }

    /// Whether there is one, as far as a few combinations of values tell; nothing if they do not.
    pub(crate) fn exists(mut self) -> Option<bool> {
        for _ in 0..MOST_TRIED {
            match self.advance() {
                Some(state) if admits(self.instance, &state) => return Some(true),
                Some(_) => {}
                None => return Some(false),
            }
        }
        None
    }

    /// How many combinations of values there are, whatever `initially` says, if that fits.
    pub fn combinations(&self) -> Option<u128> {
        self.free.iter().try_fold(1u128, |product, (_, choices)| {
            product.checked_mul(choices.len())
        })
    }
}

fn positions(shape: &Shape) -> std::ops::Range<usize> {
    shape.first..shape.first + shape.len
}

/// Whether a state is as `initially` says: where evaluating that fails a check or leaves 64 bits, it is not.
fn admits(instance: &Instance, state: &State) -> bool {
    let mut predicates = instance.program().initially.iter();
    predicates.all(|predicate| {
        let mut scope = Scope {
            instance,
            state: Some(state),
            own: None,
            last: None,
            bindings: &mut Vec::new(),
            budget: &mut Budget::default(),
        };
        scope.holds(predicate)
    })
}

impl Iterator for InitialStates<'_> {
    type Item = State;

    fn next(&mut self) -> Option<State> {
        loop {
            let state = self.advance()?;
            if admits(self.instance, &state) {
                return Some(state);
            }
        }
    }
}

impl InitialStates<'_> {
    /// The next combination of values.
    fn advance(&mut self) -> Option<State> {
        let current = self.next.take()?;
        // The last cell turns fastest; one that has turned round carries over to the one before it.
        let mut following = current.clone();
        for ((cell, choices), turn) in self.free.iter().zip(&mut self.odometer).rev() {
            *turn += 1;
            let carry = *turn == choices.len();
            if carry {
                *turn = 0;
            }
            cell.write(
                &mut following,
                self.instance,
                choices.get(*turn).unwrap_or_default(),
            );
            if !carry {
                self.next = Some(following);
                break;
            }
        }
        Some(current)
    }
}

/// Whether a state, of the right shape, is initial.
pub(crate) fn is_initial(instance: &Instance, state: &State) -> bool {
    let program = instance.program();
    let begins = |shape: &Shape, index: u32, cells: &[i64]| match shape.start.value(index) {
        Some(value) => cells.iter().all(|cell| *cell == value),
        None => match cell_values(shape.values, state, Span::default()) {
            Ok(choices) => cells.iter().all(|cell| choices.contains(*cell)),
            Err(_) => true, // any integer
        },
    };
    let shared = program.shared.indices().all(|id| {
        let shape = instance.shared(id);
        begins(shape, 0, &state.shared[positions(shape)])
    });
    shared
        && admits(instance, state)
        && program.templates.iter_enumerated().all(|(id, template)| {
            let processes = &state.templates[id];
            let stride = instance.local_cells(id);
            processes.locations.len() == instance.count(id) as usize
                && processes
                    .locations
                    .iter()
                    .enumerate()
                    .all(|(index, location)| {
                        let cells = &processes.cells[index * stride..(index + 1) * stride];
                        *location == template.entry
                            && template.locals.indices().all(|local| {
                                let shape = instance.local(id, local);
                                begins(shape, index as u32, &cells[positions(shape)])
                            })
                    })
        })
}

/// The values a cell may take, without a list of them: a range, or free and the processes.
#[derive(Clone, Debug)]
pub(crate) enum Choices {
    Between(RangeInclusive<i64>),
    Mutex(Vec<i64>),
}

impl Choices {
    pub(crate) fn len(&self) -> u128 {
        match self {
            Choices::Between(range) => {
                (i128::from(*range.end()) - i128::from(*range.start()) + 1).max(0) as u128
            }
            Choices::Mutex(values) => values.len() as u128,
        }
    }

    fn get(&self, position: u128) -> Option<i64> {
        match self {
            Choices::Between(range) if position < self.len() => {
                i64::try_from(i128::from(*range.start()) + position as i128).ok()
            }
            Choices::Between(_) => None,
            Choices::Mutex(values) => values.get(usize::try_from(position).ok()?).copied(),
        }
    }

    fn contains(&self, value: i64) -> bool {
        match self {
            Choices::Between(range) => range.contains(&value),
            Choices::Mutex(values) => values.contains(&value),
        }
    }
}

impl IntoIterator for Choices {
    type Item = i64;
    type IntoIter = Box<dyn Iterator<Item = i64>>;

    fn into_iter(self) -> Self::IntoIter {
        match self {
            Choices::Between(range) => Box::new(range),
            Choices::Mutex(values) => Box::new(values.into_iter()),
        }
    }
}

/// Every value of a cell in a state.
pub(crate) fn cell_values(values: Values, state: &State, span: Span) -> Result<Choices, Limit> {
    match values {
        Values::Between(lo, hi) => Ok(Choices::Between(lo..=hi)),
        Values::Started { template, optional } => {
            let least = if optional { NONE } else { 0 };
            Ok(Choices::Between(
                least..=i64::from(state.count(template)) - 1,
            ))
        }
        Values::Integers => Err(Limit::Infinite { span }),
        Values::Mutex => {
            let holders = state.processes().map(ProcessRef::mutex_code);
            Ok(Choices::Mutex(
                std::iter::once(FREE).chain(holders).collect(),
            ))
        }
    }
}
