//! Affine hulls: the equations that hold of all points seen so far.
//!
//! It begins empty. The first point makes an equation for each variable; a point that is outside takes one equation away, and
//! turns the others so that they hold of it too. So there are never more equations than variables, and each new point
//! costs one: whoever adds points as long as there are new ones comes to an end soon.

use crate::scope::Form;
use threadwise_evidence::arithmetic::Variable;

/// Equations over some variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hull {
    /// Whether there was a point.
    pub(crate) reached: bool,
    /// Coefficients, in the order of the variables, and a constant: the sum is 0.
    rows: Vec<(Vec<i64>, i64)>,
}

impl Hull {
    /// Takes in a point, and says whether it was outside.
    pub(crate) fn add(&mut self, point: &[i64]) -> bool {
        if !self.reached {
            self.reached = true;
            self.rows = (0..point.len())
                .filter_map(|place| {
                    let mut row = vec![0; point.len()];
                    row[place] = 1;
                    Some((row, point[place].checked_neg()?))
                })
                .collect();
            return true;
        }
        let values: Vec<Option<i128>> = self
            .rows
            .iter()
            .map(|(row, constant)| value(row, *constant, point))
            .collect();
        // The sparsest equation that does not hold is the one that goes.
        let outside = (0..self.rows.len()).filter(|place| values[*place] != Some(0));
        let Some(pivot) = outside.min_by_key(|place| {
            let terms = self.rows[*place].0.iter().filter(|c| **c != 0).count();
            (values[*place].is_some(), terms, *place)
        }) else {
            return false;
        };
        let (gone, gone_constant) = self.rows[pivot].clone();
        let off = values[pivot];
        let rows = std::mem::take(&mut self.rows).into_iter().zip(values);
        self.rows = rows
            .enumerate()
            .filter(|(place, _)| *place != pivot)
            .filter_map(|(_, ((row, constant), value))| match (value, off) {
                (Some(0), _) => Some((row, constant)),
                // What does not fit into a number is left out: fewer equations are weaker.
                (Some(value), Some(off)) => {
                    combine(&row, constant, off, &gone, gone_constant, -value)
                }
                _ => None,
            })
            .collect();
        true
    }

    /// A hull that excludes nothing.
    pub(crate) fn everything() -> Hull {
        Hull {
            reached: true,
            rows: Vec::new(),
        }
    }

    /// The equations as linear forms that are 0, each solved for a variable that the others do not have.
    pub(crate) fn forms(&self, variables: &[Variable]) -> Vec<Form> {
        let mut forms: Vec<Form> = self
            .rows
            .iter()
            .map(|(row, constant)| {
                let terms = row.iter().zip(variables);
                let mut terms: Vec<(Variable, i64)> = terms
                    .filter(|(factor, _)| **factor != 0)
                    .map(|(factor, variable)| (*variable, *factor))
                    .collect();
                terms.sort_unstable_by_key(|(variable, _)| *variable);
                Form {
                    terms,
                    constant: *constant,
                }
            })
            .collect();
        forms.sort_by(|a, b| (a.terms.len(), &a.terms).cmp(&(b.terms.len(), &b.terms)));
        forms
    }

    /// Brings the equations into reduced form: each has a variable, as late as possible, that no other one has.
    pub(crate) fn reduce(&mut self) {
        let width = self.rows.first().map_or(0, |(row, _)| row.len());
        let mut done = 0;
        for column in (0..width).rev() {
            let candidates =
                (done..self.rows.len()).filter(|place| self.rows[*place].0[column] != 0);
            let Some(pivot) = candidates.min_by_key(|place| {
                let row = &self.rows[*place].0;
                (
                    row[column].unsigned_abs(),
                    row.iter().filter(|c| **c != 0).count(),
                )
            }) else {
                continue;
            };
            self.rows.swap(done, pivot);
            let (row, constant) = self.rows[done].clone();
            let mut reduced = self.rows.clone();
            let mut fits = true;
            for (place, (other, other_constant)) in self.rows.iter().enumerate() {
                if place != done && other[column] != 0 {
                    let off = i128::from(row[column]);
                    let factor = -i128::from(other[column]);
                    match combine(other, *other_constant, off, &row, constant, factor) {
                        Some(combined) => reduced[place] = combined,
                        None => fits = false,
                    }
                }
            }
            if fits {
                self.rows = reduced;
            }
            done += 1;
        }
    }
}

fn value(row: &[i64], constant: i64, point: &[i64]) -> Option<i128> {
    let mut sum = i128::from(constant);
    for (factor, value) in row.iter().zip(point) {
        sum = sum.checked_add(i128::from(*factor).checked_mul(i128::from(*value))?)?;
    }
    Some(sum)
}

/// `a * first + b * second`, divided by what all numbers in it have in common.
fn combine(
    first: &[i64],
    first_constant: i64,
    a: i128,
    second: &[i64],
    second_constant: i64,
    b: i128,
) -> Option<(Vec<i64>, i64)> {
    let one = |x: i64, y: i64| {
        let x = i128::from(x).checked_mul(a)?;
        x.checked_add(i128::from(y).checked_mul(b)?)
    };
    let row: Option<Vec<i128>> = first.iter().zip(second).map(|(x, y)| one(*x, *y)).collect();
    let row = row?;
    let constant = one(first_constant, second_constant)?;
    let divisor = row.iter().fold(0, |d, c| gcd(d, c.unsigned_abs()));
    let divisor = gcd(divisor, constant.unsigned_abs());
    let divisor = i128::try_from(divisor.max(1)).ok()?;
    let sign = match row.iter().find(|c| **c != 0) {
        Some(first) if *first < 0 => -1,
        _ => 1,
    };
    let divide = |c: i128| i64::try_from(sign * c / divisor).ok();
    let row: Option<Vec<i64>> = row.into_iter().map(divide).collect();
    Some((row?, divide(constant)?))
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_leave_the_equations_that_hold_of_all() {
        let mut hull = Hull::default();
        // x + y = z + 1
        for (x, y) in [(0, 0), (1, 0), (5, 2), (3, 3), (7, -1)] {
            hull.add(&[x, y, x + y - 1]);
        }
        let forms = hull.forms(&[10, 11, 12]);
        assert_eq!(forms.len(), 1);
        assert_eq!(forms[0].terms, [(10, 1), (11, 1), (12, -1)]);
        assert_eq!(forms[0].constant, -1);
        assert!(!hull.add(&[4, 4, 7]));
        assert!(hull.add(&[4, 4, 8]));
        assert!(hull.forms(&[10, 11, 12]).is_empty());
    }

    #[test]
    fn no_points_are_no_equations_and_are_told_apart() {
        let hull = Hull::default();
        assert!(!hull.reached && hull.forms(&[]).is_empty());
    }

    #[test]
    fn reduced_equations_are_solved() {
        let mut hull = Hull::default();
        for n in [2, 3, 5, 8] {
            // a = n, b = n - a, c = 2
            hull.add(&[n, n, 0, 2]);
        }
        hull.reduce();
        let forms = hull.forms(&[0, 1, 2, 3]);
        let sizes: Vec<usize> = forms.iter().map(|form| form.terms.len()).collect();
        assert_eq!(sizes, [1, 1, 2]);
    }
}
