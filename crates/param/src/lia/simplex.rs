//! The simplex method in the form that is made for searches (Dutertre and de Moura, "A fast linear-arithmetic solver for DPLL(T)", 2006), over exact fractions.
//!
//! Every form with a bound has a place in a tableau, as a column or as a row; a row is a sum of columns. All of them have values such that the rows' equations hold, and those of
//! columns keep their bounds. A row whose value breaks a bound is exchanged with a column that can give way; if none can, the bounds in
//! that row contradict each other, and its coefficients are the factors with which they add up to a contradiction. Rows and columns are chosen by least number (Bland), which ends.
//!
//! Bounds may be taken back at any time without telling the tableau: that keeps what it needs. Forms can be taken back as well. It is a complete test for fractions; for
//! integers a contradiction is one, but values need not be whole.

use std::cmp::Ordering;

use index_vec::IndexVec;

use super::Why;
use super::number::Rational;
use super::store::{FormId, Side, Store};

/// Where a form stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Absent,
    Column,
    Row(u32),
}

/// A form as a sum of columns.
#[derive(Debug)]
struct Row {
    form: FormId,
    /// Sorted by column; no coefficient is 0.
    terms: Vec<(FormId, Rational)>,
}

impl Row {
    fn coefficient(&self, column: FormId) -> Option<&Rational> {
        let position = (self.terms).binary_search_by_key(&column, |(column, _)| *column);
        position.ok().map(|position| &self.terms[position].1)
    }

    /// Adds a multiple of other terms. Says whether a number became big.
    fn add(&mut self, factor: &Rational, other: &[(FormId, Rational)]) -> bool {
        let mut big = false;
        let mut sum = Vec::with_capacity(self.terms.len() + other.len());
        let mut mine = std::mem::take(&mut self.terms).into_iter().peekable();
        for (column, coefficient) in other {
            while let Some(term) = mine.next_if(|(earlier, _)| earlier < column) {
                sum.push(term);
            }
            let mut total = factor.times(coefficient);
            if let Some((_, before)) = mine.next_if(|(same, _)| same == column) {
                total = total.plus(&before);
            }
            big |= total.is_big();
            if !total.is_zero() {
                sum.push((*column, total));
            }
        }
        sum.extend(mine);
        self.terms = sum;
        big
    }
}

/// What is known of the values of forms.
pub(super) trait Bounds {
    /// The bound of a form on a side.
    fn bound(&self, form: FormId, side: Side) -> Option<i64>;
}

/// Bounds that add up to a contradiction, each so many times; the factors are positive.
pub(super) type Contradiction = Vec<(FormId, Side, Rational)>;

/// How many exchanges may still be made.
pub(super) struct Budget<'a> {
    pub(super) pivots: u64,
    pub(super) stop: &'a dyn Fn() -> bool,
}

/// The tableau.
#[derive(Debug, Default)]
pub(super) struct Simplex {
    places: IndexVec<FormId, Place>,
    values: IndexVec<FormId, Rational>,
    rows: Vec<Row>,
    /// Whether a number in it became big.
    pub(super) big: bool,
}

impl Simplex {
    /// Gives a form a place, and the variables in it.
    pub(super) fn add(&mut self, form: FormId, store: &mut Store) {
        if self.place(form) != Place::Absent {
            return;
        }
        if store.variable(form).is_some() {
            self.set(form, Place::Column, Rational::ZERO);
            return;
        }
        let mut row = Row {
            form,
            terms: Vec::new(),
        };
        let mut value = Rational::ZERO;
        for (variable, coefficient) in store.terms(form).to_vec() {
            let part = store.variable_form(variable);
            self.add(part, store);
            let coefficient = Rational::from(coefficient);
            value = value.plus(&coefficient.times(&self.values[part]));
            self.big |= match self.places[part] {
                Place::Row(position) => row.add(&coefficient, &self.rows[position as usize].terms),
                _ => row.add(&coefficient, &[(part, Rational::ONE)]),
            };
        }
        self.set(form, Place::Row(self.rows.len() as u32), value);
        self.rows.push(row);
    }

    fn place(&self, form: FormId) -> Place {
        self.places.get(form).copied().unwrap_or(Place::Absent)
    }

    fn set(&mut self, form: FormId, place: Place, value: Rational) {
        while self.places.len() <= form.index() {
            self.places.push(Place::Absent);
            self.values.push(Rational::ZERO);
        }
        self.places[form] = place;
        self.values[form] = value;
    }

    /// The value of a form, whether it has a place or not.
    pub(super) fn value(&self, form: FormId, store: &Store) -> Rational {
        if self.place(form) != Place::Absent {
            return self.values[form].clone();
        }
        let mut sum = Rational::ZERO;
        for (variable, coefficient) in store.terms(form) {
            if let Some(value) = store
                .find_variable(*variable)
                .and_then(|id| self.values.get(id))
            {
                sum = sum.plus(&Rational::from(*coefficient).times(value));
            }
        }
        sum
    }

    /// Looks for values that keep all bounds. Those of columns that are not `changed` are kept already.
    pub(super) fn check(
        &mut self,
        changed: &[FormId],
        bounds: &impl Bounds,
        budget: &mut Budget,
    ) -> Result<Option<Contradiction>, Why> {
        for form in changed.iter().copied() {
            if self.places[form] == Place::Column
                && let Some((_, bound)) = self.broken(form, bounds)
            {
                self.move_column(form, bound);
            }
        }
        loop {
            let broken = (self.rows.iter().enumerate())
                .filter_map(|(position, row)| {
                    Some((row.form, position, self.broken(row.form, bounds)?))
                })
                .min_by_key(|(form, ..)| *form);
            let Some((form, position, (side, bound))) = broken else {
                return Ok(None);
            };
            let row = &self.rows[position];
            // The side on which a column with this coefficient has to have room.
            let needed = |coefficient: &Rational| match (side, coefficient.sign()) {
                (Side::Lower, Ordering::Greater) | (Side::Upper, Ordering::Less) => Side::Upper,
                _ => Side::Lower,
            };
            let entering = row.terms.iter().find(|(column, coefficient)| {
                let bound = bounds.bound(*column, needed(coefficient));
                bound.is_none_or(|bound| self.values[*column].compare(bound) != Ordering::Equal)
            });
            let Some((column, _)) = entering else {
                let mut sum = vec![(form, side, Rational::ONE)];
                sum.extend(row.terms.iter().map(|(column, coefficient)| {
                    (*column, needed(coefficient), coefficient.absolute())
                }));
                return Ok(Some(sum));
            };
            let column = *column;
            if budget.pivots == 0 {
                return Err(Why::Pivots);
            }
            budget.pivots -= 1;
            if (budget.stop)() {
                return Err(Why::Stopped);
            }
            self.exchange(position, column, bound);
        }
    }

    /// The bound that the value of a form breaks.
    fn broken(&self, form: FormId, bounds: &impl Bounds) -> Option<(Side, i64)> {
        let value = &self.values[form];
        if let Some(bound) = bounds.bound(form, Side::Lower)
            && value.compare(bound) == Ordering::Less
        {
            return Some((Side::Lower, bound));
        }
        if let Some(bound) = bounds.bound(form, Side::Upper)
            && value.compare(bound) == Ordering::Greater
        {
            return Some((Side::Upper, bound));
        }
        None
    }

    /// Gives a column another value.
    fn move_column(&mut self, column: FormId, value: i64) {
        let change = Rational::from(value).minus(&self.values[column]);
        self.shift(column, &change);
    }

    fn shift(&mut self, column: FormId, change: &Rational) {
        self.values[column] = self.values[column].plus(change);
        for row in &self.rows {
            if let Some(coefficient) = row.coefficient(column) {
                let value = self.values[row.form].plus(&coefficient.times(change));
                self.big |= value.is_big();
                self.values[row.form] = value;
            }
        }
    }

    /// Makes a row a column with this value, and the column a row.
    fn exchange(&mut self, position: usize, column: FormId, value: i64) {
        let leaving = self.rows[position].form;
        let mut row = std::mem::take(&mut self.rows[position].terms);
        let Ok(place) = row.binary_search_by_key(&column, |(column, _)| *column) else {
            // The caller has found the column in this row.
            self.rows[position].terms = row;
            return;
        };
        let (_, coefficient) = row.remove(place);
        let inverse = coefficient.inverse();
        let change = (Rational::from(value).minus(&self.values[leaving])).times(&inverse);
        // leaving = coefficient * column + rest, so column = inverse * leaving - inverse * rest.
        let factor = inverse.negated();
        for (_, coefficient) in &mut row {
            *coefficient = coefficient.times(&factor);
            self.big |= coefficient.is_big();
        }
        let place = row.partition_point(|(column, _)| *column < leaving);
        row.insert(place, (leaving, inverse));
        self.values[leaving] = Rational::from(value);
        self.shift(column, &change);
        for other in &mut self.rows {
            let found = (other.terms).binary_search_by_key(&column, |(column, _)| *column);
            if let Ok(found) = found {
                let (_, coefficient) = other.terms.remove(found);
                self.big |= other.add(&coefficient, &row);
            }
        }
        self.rows[position] = Row {
            form: column,
            terms: row,
        };
        self.places[leaving] = Place::Column;
        self.places[column] = Place::Row(position as u32);
    }

    /// Takes back the forms from this one on, which have no bounds any more.
    pub(super) fn forget(&mut self, first: FormId, bounds: &impl Bounds) {
        for form in (first.index()..self.places.len()).map(FormId::from_usize) {
            if let Place::Row(position) = self.places[form] {
                self.remove_row(position);
            }
        }
        for form in (first.index()..self.places.len()).map(FormId::from_usize) {
            if self.places[form] != Place::Column {
                continue;
            }
            // Another form takes its place, so that the rows do without it: the one with the shortest row, which spoils the others least.
            let rows = self.rows.iter().enumerate();
            let having = rows.filter(|(_, row)| row.coefficient(form).is_some());
            if let Some((position, row)) = having.min_by_key(|(_, row)| row.terms.len()) {
                let value = self.values[row.form].floor().unwrap_or_default();
                let [lower, upper] =
                    [Side::Lower, Side::Upper].map(|side| bounds.bound(row.form, side));
                let value = value.max(lower.unwrap_or(value));
                let value = value.min(upper.unwrap_or(value));
                self.exchange(position, form, value);
                self.remove_row(position as u32);
            }
        }
        self.places.truncate(first.index());
        self.values.truncate(first.index());
    }

    fn remove_row(&mut self, position: u32) {
        let removed = self.rows.swap_remove(position as usize);
        self.places[removed.form] = Place::Absent;
        if let Some(moved) = self.rows.get(position as usize) {
            self.places[moved.form] = Place::Row(position);
        }
    }

    /// The rows whose values are not whole: the form, its value, and its terms.
    pub(super) fn fractional(
        &self,
    ) -> impl Iterator<Item = (FormId, &Rational, &[(FormId, Rational)])> {
        // Columns only ever get values of bounds, and begin at 0: theirs are whole.
        (self.rows.iter())
            .map(|row| (row.form, &self.values[row.form], row.terms.as_slice()))
            .filter(|(_, value, _)| !value.is_integer())
    }
}
