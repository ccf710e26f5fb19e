//! Sums: shared numbers in terms of how many processes are where.
//!
//! `readers == (count i in P: P[i] at {read, depart})` says at once what takes many facts about two processes. All linear equations
//! between shared numbers and numbers of processes with a certain sight are found from states: those that hold in a few states are computed, a
//! state of the invariant that violates one is added, until all hold. The same is done where a shared truth value is true, or false.

use std::collections::BTreeMap;

use threadwise_evidence::Expression;
use threadwise_lang::program::TemplateId;
use threadwise_model::system::{CellDomain, CellId};
use threadwise_symbolic::{Bdd, Halt};

use super::super::minimise::LONGEST;
use super::super::terms::{Literal, Naming, domain};
use super::{Finder, Sight};

/// More numbers than this are not related to each other.
const MOST_NUMBERS: usize = 40;
/// More values than this a sum should not have.
const MOST_SUMS: usize = 1_000;
/// Nobody would read larger coefficients.
const LARGEST: u128 = 1_000;

/// Something that is counted.
enum Number {
    /// The value of a shared cell.
    Cell(CellId),
    /// How many processes of a template show a sight.
    Shown(TemplateId, usize),
}

/// Coefficients of one and of numbers, whose sum is zero.
type Equation = Vec<i128>;

impl Finder<'_, '_, '_> {
    /// States linear equations.
    pub(super) fn sums(&mut self) -> Result<(), Halt> {
        let system = self.writer.system();
        let mut shown: BTreeMap<TemplateId, Vec<Vec<Sight>>> = BTreeMap::new();
        let mut numbers = Vec::new();
        for template in system.templates.indices() {
            let all = self.shown_by_all(template)?;
            if let Some(sights) = all.first()
                && all.len() > 1
            {
                numbers.extend((0..sights.len()).map(|sight| Number::Shown(template, sight)));
                shown.insert(template, all);
            }
        }
        // Cells come last: what depends on numbers before it is expressed by them.
        let counts = numbers.len();
        let mut conditions: Vec<Option<Literal>> = vec![None];
        for &cell in &self.writer.view.shared {
            match domain(system, cell) {
                CellDomain::Range(..) | CellDomain::Int => numbers.push(Number::Cell(cell)),
                CellDomain::Bool => conditions.extend([1, 0].map(|value| {
                    Some(Literal::In {
                        cell,
                        values: [value].into(),
                    })
                })),
                _ => {}
            }
        }
        if counts == 0 || numbers.len() == counts || numbers.len() > MOST_NUMBERS {
            return Ok(());
        }
        for condition in conditions {
            if self.complete() {
                return Ok(());
            }
            self.sums_where(condition.as_ref(), &numbers, &shown)?;
        }
        Ok(())
    }

    /// States the linear equations that hold under a condition.
    fn sums_where(
        &mut self,
        condition: Option<&Literal>,
        numbers: &[Number],
        shown: &BTreeMap<TemplateId, Vec<Vec<Sight>>>,
    ) -> Result<(), Halt> {
        let d = &self.writer.symbolic.diagrams;
        let mut within = self.inside.clone();
        let mut unless = d.none();
        if let Some(condition) = condition {
            let holds = condition.states(self.writer.symbolic)?;
            within = d.and(&within, &holds)?;
            unless = d.not(&holds)?;
        }
        let processes = self.writer.view.own.indices();
        let exposed: Vec<CellId> = processes
            .flat_map(|process| self.writer.exposed_cells(process))
            .collect();
        let within = d.and(&within, &self.writer.valid(&exposed)?)?;
        let mut points: Vec<Vec<i128>> = Vec::new();
        let mut open = within.clone();
        let mut equations: Vec<(Equation, Bdd)> = Vec::new();
        while let Some(state) = self.writer.symbolic.pick(&open) {
            (self.writer.breathe)()?;
            points.push(values(&state, numbers, shown));
            equations.clear();
            open = d.none();
            let Some(candidates) = kernel(points.clone(), numbers.len() + 1) else {
                return Ok(());
            };
            for mut equation in candidates {
                simplify(&mut equation, numbers, shown);
                if equation.iter().all(|coefficient| *coefficient == 0) {
                    continue;
                }
                let Some(states) = self.solutions(&equation, numbers, shown)? else {
                    return Ok(());
                };
                open = d.minus(&within, &states)?;
                if !d.is_empty(&open) {
                    break;
                }
                equations.push((equation, states));
            }
        }
        for (equation, states) in equations {
            let sum = self.words_of(&equation, numbers, shown)?;
            let formula = match condition {
                Some(condition) => {
                    let minimiser = self.writer.minimiser(Vec::new(), Vec::new());
                    let condition = minimiser.literal(condition, &minimiser.naming());
                    Expression::Implies(Box::new(condition), Box::new(sum))
                }
                None => sum,
            };
            if formula.length() <= LONGEST {
                self.add(&d.or(&unless, &states)?, &formula)?;
            }
        }
        Ok(())
    }

    /// Where an equation holds; `None` if its sums have too many values.
    fn solutions(
        &self,
        equation: &Equation,
        numbers: &[Number],
        shown: &BTreeMap<TemplateId, Vec<Vec<Sight>>>,
    ) -> Result<Option<Bdd>, Halt> {
        let symbolic = self.writer.symbolic;
        let d = &symbolic.diagrams;
        let mut sums: BTreeMap<i128, Bdd> = BTreeMap::from([(equation[0], d.all())]);
        let mut terms: Vec<Vec<(i128, Bdd)>> = Vec::new();
        for (number, coefficient) in numbers.iter().zip(&equation[1..]) {
            if let Number::Cell(cell) = number
                && *coefficient != 0
            {
                let mut term = Vec::new();
                for (value, code) in symbolic.encoding.cells[*cell].codes() {
                    let here = symbolic.encoding.code(d, *cell, *code, false)?;
                    term.push((coefficient * i128::from(*value), here));
                }
                terms.push(term);
            }
        }
        for (template, all) in shown {
            let groups = by_coefficient(*template, equation, numbers);
            if groups.keys().all(|coefficient| *coefficient == 0) {
                continue;
            }
            for own in all {
                let mut term = Vec::new();
                for (coefficient, sights) in &groups {
                    let sights: Vec<Sight> = sights.iter().map(|s| own[*s].clone()).collect();
                    term.push((*coefficient, self.shows(&sights)?));
                }
                terms.push(term);
            }
        }
        for term in terms {
            (self.writer.breathe)()?;
            let mut next: BTreeMap<i128, Bdd> = BTreeMap::new();
            for (sum, states) in &sums {
                for (value, here) in &term {
                    let both = d.and(states, here)?;
                    if !d.is_empty(&both) {
                        let known = next.entry(sum + value).or_insert_with(|| d.none());
                        *known = d.or(known, &both)?;
                    }
                }
            }
            if next.len() > MOST_SUMS {
                return Ok(None);
            }
            sums = next;
        }
        Ok(Some(sums.remove(&0).unwrap_or_else(|| d.none())))
    }

    /// An equation in words, with nothing negative on either side.
    fn words_of(
        &self,
        equation: &Equation,
        numbers: &[Number],
        shown: &BTreeMap<TemplateId, Vec<Vec<Sight>>>,
    ) -> Result<Expression, Halt> {
        let system = self.writer.system();
        let letter = &Naming::letters(system)[0];
        let mut sides: [Vec<String>; 2] = [Vec::new(), Vec::new()];
        let mut add = |coefficient: i128, text: String| {
            let side = &mut sides[usize::from(coefficient < 0)];
            match coefficient.abs() {
                0 => {}
                1 => side.push(text),
                times => side.push(format!("{times} * {text}")),
            }
        };
        for (number, coefficient) in numbers.iter().zip(&equation[1..]) {
            if let Number::Cell(cell) = number {
                add(*coefficient, Naming::plain(system).cell(*cell));
            }
        }
        for (template, all) in shown {
            let shape = &system.templates[*template];
            let naming = Naming::plain(system).with((*template, 0), letter);
            let alike = self.writer.stands_for_all(shape.first);
            for (coefficient, sights) in by_coefficient(*template, equation, numbers) {
                if coefficient != 0 {
                    let sights: Vec<Sight> = sights.iter().map(|s| all[0][*s].clone()).collect();
                    let words = self.words(shape.first, &sights, &naming, alike)?;
                    let count = format!("(count {letter} in {}: {words})", shape.name);
                    add(coefficient, count);
                }
            }
        }
        let one = equation[0];
        if one != 0 {
            sides[usize::from(one < 0)].push(one.abs().to_string());
        }
        let [left, right] = sides.map(|side| match side.as_slice() {
            [] => "0".to_owned(),
            side => side.join(" + "),
        });
        Ok(Expression::Comparison(format!("{left} == {right}")))
    }
}

/// One and the numbers in a state.
fn values(
    state: &[i64],
    numbers: &[Number],
    shown: &BTreeMap<TemplateId, Vec<Vec<Sight>>>,
) -> Vec<i128> {
    let shows = |sight: &Sight| {
        sight.iter().all(|literal| match literal {
            Literal::In { cell, values } => values.contains(&state[cell.index()]),
            Literal::Compare { left, op, right } => {
                op.holds(state[left.index()], state[right.index()])
            }
        })
    };
    let number = |number: &Number| match number {
        Number::Cell(cell) => i128::from(state[cell.index()]),
        Number::Shown(template, sight) => {
            let all = shown[template].iter();
            all.filter(|own| shows(&own[*sight])).count() as i128
        }
    };
    std::iter::once(1)
        .chain(numbers.iter().map(number))
        .collect()
}

/// The sights of a template, by their coefficients.
fn by_coefficient(
    template: TemplateId,
    equation: &Equation,
    numbers: &[Number],
) -> BTreeMap<i128, Vec<usize>> {
    let mut groups: BTreeMap<i128, Vec<usize>> = BTreeMap::new();
    for (number, coefficient) in numbers.iter().zip(&equation[1..]) {
        if let Number::Shown(of, sight) = number
            && *of == template
        {
            groups.entry(*coefficient).or_default().push(*sight);
        }
    }
    groups
}

/// Every process shows something: of each template as few sights as possible are counted, and cells stand on the left.
fn simplify(
    equation: &mut Equation,
    numbers: &[Number],
    shown: &BTreeMap<TemplateId, Vec<Vec<Sight>>>,
) {
    for (template, all) in shown {
        let groups = by_coefficient(*template, equation, numbers);
        let most = groups.iter().max_by_key(|(coefficient, sights)| {
            let first = sights.first().copied().unwrap_or_default();
            (sights.len(), **coefficient == 0, std::cmp::Reverse(first))
        });
        let most = most.map_or(0, |(coefficient, _)| *coefficient);
        for (number, coefficient) in numbers.iter().zip(&mut equation[1..]) {
            if matches!(number, Number::Shown(of, _) if of == template) {
                *coefficient -= most;
            }
        }
        equation[0] += most * all.len() as i128;
    }
    let divisor = equation.iter().fold(0, |a, b| gcd(a, *b)).max(1);
    let cells = numbers.iter().zip(&equation[1..]);
    let mut cells =
        cells.filter(|(number, value)| matches!(number, Number::Cell(_)) && **value != 0);
    let sign = cells.next().map_or(1, |(_, value)| value.signum());
    for coefficient in equation.iter_mut() {
        *coefficient = *coefficient / divisor * sign;
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// A basis of the vectors that are orthogonal to some rows; `None` if numbers grow large.
fn kernel(mut rows: Vec<Vec<i128>>, columns: usize) -> Option<Vec<Equation>> {
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..columns {
        let rank = pivots.len();
        let Some(found) = (rank..rows.len()).find(|row| rows[*row][column] != 0) else {
            continue;
        };
        rows.swap(rank, found);
        let pivot = rows[rank].clone();
        for (place, row) in rows.iter_mut().enumerate() {
            if place == rank || row[column] == 0 {
                continue;
            }
            let (mine, theirs) = (row[column], pivot[column]);
            for (value, other) in row.iter_mut().zip(&pivot) {
                let (a, b) = (value.checked_mul(theirs)?, other.checked_mul(mine)?);
                *value = a.checked_sub(b)?;
            }
            let divisor = row.iter().fold(0, |a, b| gcd(a, *b)).max(1);
            row.iter_mut().for_each(|value| *value /= divisor);
        }
        pivots.push(column);
    }
    let mut basis = Vec::new();
    for free in (0..columns).filter(|column| !pivots.contains(column)) {
        let mut common: i128 = 1;
        for (row, column) in rows.iter().zip(&pivots) {
            common = common.checked_mul(row[*column] / gcd(common, row[*column]))?;
        }
        let mut vector = vec![0; columns];
        vector[free] = common;
        for (row, column) in rows.iter().zip(&pivots) {
            vector[*column] = row[free]
                .checked_mul(common / row[*column])?
                .checked_neg()?;
        }
        let divisor = vector.iter().fold(0, |a, b| gcd(a, *b)).max(1);
        vector.iter_mut().for_each(|value| *value /= divisor);
        if vector.iter().any(|value| value.unsigned_abs() > LARGEST) {
            return None;
        }
        basis.push(vector);
    }
    Some(basis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_orthogonal_and_large_enough() {
        let rows = vec![vec![1, 2, 3, 5], vec![1, 4, 9, 11], vec![2, 6, 12, 16]];
        let basis = kernel(rows.clone(), 4).expect("small numbers");
        assert_eq!(basis.len(), 2);
        for vector in &basis {
            assert!(vector.iter().any(|value| *value != 0));
            for row in &rows {
                let product: i128 = row.iter().zip(vector).map(|(a, b)| a * b).sum();
                assert_eq!(product, 0, "{row:?} {vector:?}");
            }
        }
    }
}
