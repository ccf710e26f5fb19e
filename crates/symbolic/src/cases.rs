//! Expressions as diagrams.
//!
//! A truth value is a set of states. An integer is a list of cases: each value it can have, with the
//! states in which it has it; the sets of a list are disjoint and cover all valid states. That is
//! enough, because variables have few values.

use std::collections::BTreeMap;

use threadwise_lang::program::{CompareOp, FoldKind};
use threadwise_model::exclusion::AtMostOne;
use threadwise_model::system::{CellId, Expr, Place, Scope, System};

use crate::Error;
use crate::diagrams::{Bdd, Diagrams};
use crate::encoding::Encoding;

/// The values of an expression, ascending, each with its states.
pub type Cases = Vec<(i64, Bdd)>;

/// A choice between cells is kept together as long as only so many of them stand above the one that chooses.
const FEW_ABOVE: usize = 6;
/// More cases than this are not computed with.
const MAX_CASES: usize = 1 << 16;

/// What expressions are translated with.
#[derive(Clone, Copy)]
pub struct Translator<'a> {
    /// The system.
    pub system: &'a System,
    /// The diagrams.
    pub diagrams: &'a Diagrams<'a>,
    /// The encoding of the cells.
    pub encoding: &'a Encoding,
    /// The ranges of the step's choices.
    pub choices: &'a [(i64, i64)],
    /// Cells with values that they are taken to have: what is translated holds where they do.
    pub given: &'a [(CellId, i64)],
}

/// The values of bound variables, innermost last.
type Bindings = Vec<(u32, i64)>;

impl Translator<'_> {
    /// The states in which an expression is true.
    pub fn truth(&self, expr: &Expr) -> Result<Bdd, Error> {
        self.truth_in(expr, &mut Vec::new())
    }

    /// The states in which an expression is true when variables that it leaves open have these values.
    pub fn truth_with(&self, expr: &Expr, bound: &[(u32, i64)]) -> Result<Bdd, Error> {
        self.truth_in(expr, &mut bound.to_vec())
    }

    /// The values of an expression.
    pub fn cases(&self, expr: &Expr) -> Result<Cases, Error> {
        self.cases_in(expr, &mut Vec::new())
    }

    fn truth_in(&self, expr: &Expr, bindings: &mut Bindings) -> Result<Bdd, Error> {
        let d = self.diagrams;
        if let Some(found) = AtMostOne::of(expr) {
            // None and exactly one of the values looked at so far.
            let (mut none, mut one) = (d.all(), d.none());
            for value in (found.lo..=found.hi).rev() {
                bindings.push((found.bound, value));
                let holds = self.truth_in(&found.body, bindings)?;
                bindings.pop();
                one = d.ite(&holds, &none, &one)?;
                none = d.minus(&none, &holds)?;
            }
            return Ok(d.or(&none, &one)?);
        }
        Ok(match expr {
            Expr::Const(value) => d.constant(*value != 0),
            Expr::Not(e) => d.not(&self.truth_in(e, bindings)?)?,
            Expr::And(list) => {
                let mut result = d.all();
                for e in list {
                    if d.is_empty(&result) {
                        break;
                    }
                    result = d.and(&result, &self.truth_in(e, bindings)?)?;
                }
                result
            }
            Expr::Or(list) => {
                let mut result = d.none();
                for e in list {
                    result = d.or(&result, &self.truth_in(e, bindings)?)?;
                }
                result
            }
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.cases_in(a, bindings)?, self.cases_in(b, bindings)?);
                self.compare(*op, &a, &b)?
            }
            Expr::Ite(condition, a, b) => {
                let condition = self.truth_in(condition, bindings)?;
                let (a, b) = (self.truth_in(a, bindings)?, self.truth_in(b, bindings)?);
                d.ite(&condition, &a, &b)?
            }
            Expr::Fold {
                kind: kind @ (FoldKind::Forall | FoldKind::Exists),
                bound,
                lo,
                hi,
                body,
            } => {
                let forall = *kind == FoldKind::Forall;
                let mut result = d.constant(forall);
                // From the last value up: with the usual order of variables each step then adds on top.
                for value in (*lo..=*hi).rev() {
                    bindings.push((*bound, value));
                    let one = self.truth_in(body, bindings)?;
                    bindings.pop();
                    result = if forall {
                        d.and(&one, &result)?
                    } else {
                        d.or(&one, &result)?
                    };
                }
                result
            }
            other => {
                let mut result = d.none();
                for (value, states) in self.cases_in(other, bindings)? {
                    if value != 0 {
                        result = d.or(&result, &states)?;
                    }
                }
                result
            }
        })
    }

    fn cases_in(&self, expr: &Expr, bindings: &mut Bindings) -> Result<Cases, Error> {
        let d = self.diagrams;
        Ok(match expr {
            Expr::Const(value) => vec![(*value, d.all())],
            Expr::Own | Expr::OwnProcess => {
                return Err(Error::Internal("a step that is not of one process"));
            }
            Expr::Bound(bound) => {
                let value = bindings
                    .iter()
                    .rev()
                    .find(|(name, _)| name == bound)
                    .ok_or(Error::Internal("an unbound variable"))?
                    .1;
                vec![(value, d.all())]
            }
            Expr::Choice(choice) => {
                let (lo, hi) = self.choices[*choice as usize];
                (lo..=hi)
                    .enumerate()
                    .map(|(code, value)| Ok((value, self.encoding.choice(d, *choice, code)?)))
                    .collect::<Result<Cases, Error>>()?
            }
            Expr::Load(place) => {
                let mut parts = Vec::new();
                for (cell, states) in self.cells_in(place, bindings)? {
                    parts.push((states, self.cell(cell)?));
                }
                self.merge(parts)?
            }
            Expr::Neg(e) => {
                let mut cases = Vec::new();
                for (value, states) in self.cases_in(e, bindings)? {
                    cases.push((value.checked_neg().ok_or(Error::Overflow)?, states));
                }
                cases.reverse();
                cases
            }
            Expr::Arith(op, a, b) => {
                let (a, b) = (self.cases_in(a, bindings)?, self.cases_in(b, bindings)?);
                self.combine(&a, &b, |a, b| op.total(a, b))?
            }
            Expr::Ite(condition, a, b) => {
                let condition = self.truth_in(condition, bindings)?;
                let otherwise = d.not(&condition)?;
                let (a, b) = (self.cases_in(a, bindings)?, self.cases_in(b, bindings)?);
                self.merge(vec![(condition, a), (otherwise, b)])?
            }
            Expr::Fold {
                kind: kind @ (FoldKind::Count | FoldKind::Sum | FoldKind::Min | FoldKind::Max),
                bound,
                lo,
                hi,
                body,
            } => {
                let mut total: Option<Cases> = match kind {
                    FoldKind::Count | FoldKind::Sum => Some(vec![(0, d.all())]),
                    _ => None,
                };
                for value in *lo..=*hi {
                    bindings.push((*bound, value));
                    let one = match kind {
                        FoldKind::Count => self.as_number(self.truth_in(body, bindings)?)?,
                        _ => self.cases_in(body, bindings)?,
                    };
                    bindings.pop();
                    total = Some(match total {
                        None => one,
                        Some(total) => self.combine(&total, &one, |a, b| match kind {
                            FoldKind::Min => Some(a.min(b)),
                            FoldKind::Max => Some(a.max(b)),
                            _ => a.checked_add(b),
                        })?,
                    });
                }
                // `min` and `max` over nothing: a check excludes it, and any value will do.
                total.unwrap_or_else(|| vec![(0, d.all())])
            }
            truth => self.as_number(self.truth_in(truth, bindings)?)?,
        })
    }

    fn as_number(&self, truth: Bdd) -> Result<Cases, Error> {
        let no = self.diagrams.not(&truth)?;
        let mut cases = Vec::new();
        for (value, states) in [(0, no), (1, truth)] {
            if !self.diagrams.is_empty(&states) {
                cases.push((value, states));
            }
        }
        Ok(cases)
    }

    /// The same with values that cells are taken to have.
    pub fn giving<'b>(&'b self, given: &'b [(CellId, i64)]) -> Translator<'b> {
        Translator { given, ..*self }
    }

    /// Whether a cell chooses between so many others which stand above it that a step is better divided by its values. A diagram has to remember all of them
    /// until it comes to the one that chooses, which takes a number of nodes exponential in theirs.
    pub fn chooses_above(&self, cell: CellId, place: &Place) -> bool {
        let first = |cell: CellId| self.encoding.cells[cell].vars(false).next();
        let Some(here) = first(cell).filter(|_| self.given(cell).is_none()) else {
            return false;
        };
        let processes = match place.process.as_ref().map(|index| self.only(index)) {
            Some(Some(only)) => only.max(0)..self.copies(place).min(only + 1),
            _ => 0..self.copies(place),
        };
        let var = &self.system.vars[place.var];
        let cells = processes.flat_map(|process| (0..var.len).map(move |offset| (process, offset)));
        let above = cells.filter(|(process, offset)| {
            let one = self.system.cell(place.var, *process as u32, *offset);
            first(one).is_some_and(|var| var < here)
        });
        above.count() > FEW_ABOVE
    }

    fn given(&self, cell: CellId) -> Option<i64> {
        let (_, value) = self.given.iter().find(|(other, _)| *other == cell)?;
        Some(*value)
    }

    /// The only cell that a place can be, if nothing but given values says which.
    pub fn only_cell(&self, place: &Place) -> Option<CellId> {
        let index = |expr: &Option<Expr>| expr.as_ref().map_or(Some(0), |expr| self.only(expr));
        let (process, offset) = (index(&place.process)?, index(&place.offset)?);
        let var = &self.system.vars[place.var];
        let inside =
            (0..self.copies(place)).contains(&process) && (0..i64::from(var.len)).contains(&offset);
        inside.then(|| self.system.cell(place.var, process as u32, offset as u32))
    }

    /// The only value of an expression, if it is computed from given ones.
    fn only(&self, expr: &Expr) -> Option<i64> {
        match expr {
            Expr::Const(value) => Some(*value),
            Expr::Load(place) => self.given(self.only_cell(place)?),
            Expr::Arith(op, a, b) => op.total(self.only(a)?, self.only(b)?),
            _ => None,
        }
    }

    /// How many copies of a variable there are.
    fn copies(&self, place: &Place) -> i64 {
        match self.system.vars[place.var].scope {
            Scope::Shared => 1,
            Scope::Local(template) => i64::from(self.system.templates[template].count),
        }
    }

    /// The values of a cell.
    pub fn cell(&self, cell: CellId) -> Result<Cases, Error> {
        if let Some(value) = self.given(cell) {
            return Ok(vec![(value, self.diagrams.all())]);
        }
        self.encoding.cells[cell]
            .codes()
            .iter()
            .map(|(value, code)| {
                Ok((
                    *value,
                    self.encoding.code(self.diagrams, cell, *code, false)?,
                ))
            })
            .collect()
    }

    /// The cells that a place can be, each with its states. Indices outside the array, which
    /// checks exclude, are left out.
    pub fn cells(&self, place: &Place) -> Result<Vec<(CellId, Bdd)>, Error> {
        self.cells_in(place, &mut Vec::new())
    }

    fn cells_in(
        &self,
        place: &Place,
        bindings: &mut Bindings,
    ) -> Result<Vec<(CellId, Bdd)>, Error> {
        let var = &self.system.vars[place.var];
        let copies = self.copies(place);
        let index = |expr: &Option<Expr>, bindings: &mut Bindings| match expr {
            Some(expr) => self.cases_in(expr, bindings),
            None => Ok(vec![(0, self.diagrams.all())]),
        };
        let processes = index(&place.process, bindings)?;
        let offsets = index(&place.offset, bindings)?;
        let mut cells = Vec::new();
        for (process, when) in &processes {
            for (offset, then) in &offsets {
                let inside =
                    (0..copies).contains(process) && (0..i64::from(var.len)).contains(offset);
                let states = self.diagrams.and(when, then)?;
                if inside && !self.diagrams.is_empty(&states) {
                    let cell = self.system.cell(place.var, *process as u32, *offset as u32);
                    cells.push((cell, states));
                }
            }
        }
        Ok(cells)
    }

    /// Cases of which each part holds in its own states.
    fn merge(&self, parts: Vec<(Bdd, Cases)>) -> Result<Cases, Error> {
        let d = self.diagrams;
        let mut merged: BTreeMap<i64, Bdd> = BTreeMap::new();
        for (when, cases) in parts {
            for (value, states) in cases {
                self.add(&mut merged, value, d.and(&when, &states)?)?;
            }
        }
        Ok(merged.into_iter().collect())
    }

    fn add(&self, cases: &mut BTreeMap<i64, Bdd>, value: i64, states: Bdd) -> Result<(), Error> {
        if self.diagrams.is_empty(&states) {
            return Ok(());
        }
        let known = match cases.get(&value) {
            Some(known) => self.diagrams.or(known, &states)?,
            None => states,
        };
        cases.insert(value, known);
        if cases.len() > MAX_CASES {
            return Err(Error::TooManyValues {
                what: "an expression".to_owned(),
            });
        }
        Ok(())
    }

    fn combine(
        &self,
        a: &Cases,
        b: &Cases,
        op: impl Fn(i64, i64) -> Option<i64>,
    ) -> Result<Cases, Error> {
        let mut result = BTreeMap::new();
        for (x, when) in a {
            for (y, then) in b {
                let states = self.diagrams.and(when, then)?;
                if self.diagrams.is_empty(&states) {
                    continue;
                }
                self.add(&mut result, op(*x, *y).ok_or(Error::Overflow)?, states)?;
            }
        }
        Ok(result.into_iter().collect())
    }

    /// For each value of the first, the states in which the second compares: running unions over
    /// the sorted values instead of all pairs.
    fn compare(&self, op: CompareOp, a: &Cases, b: &Cases) -> Result<Bdd, Error> {
        let d = self.diagrams;
        let (a, b, op) = match op {
            CompareOp::Gt => (b, a, CompareOp::Lt),
            CompareOp::Ge => (b, a, CompareOp::Le),
            op => (a, b, op),
        };
        let mut result = d.none();
        match op {
            CompareOp::Eq | CompareOp::Ne => {
                let other: BTreeMap<i64, &Bdd> = b.iter().map(|(v, s)| (*v, s)).collect();
                for (value, states) in a {
                    if let Some(same) = other.get(value) {
                        result = d.or(&result, &d.and(states, same)?)?;
                    }
                }
                if op == CompareOp::Ne {
                    result = d.not(&result)?;
                }
            }
            _ => {
                // Values of b above the current value of a, from the greatest down.
                let strict = op == CompareOp::Lt;
                let mut above = d.none();
                let mut rest = b.iter().rev().peekable();
                for (value, states) in a.iter().rev() {
                    while let Some((other, when)) = rest.next_if(|(other, _)| {
                        if strict {
                            other > value
                        } else {
                            other >= value
                        }
                    }) {
                        let _ = other;
                        above = d.or(&above, when)?;
                    }
                    result = d.or(&result, &d.and(states, &above)?)?;
                }
            }
        }
        Ok(result)
    }
}
