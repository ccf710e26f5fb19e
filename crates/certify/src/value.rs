//! Symbolic values: the values that an integer can have, each with the literal that says it has it.
//!
//! In every solution exactly one of the literals is true, unless a computation before left 64
//! bits; then none may be. Domains of programs are small, and values computed one by one need no theory of
//! overflow: each result is computed with 64 bits, and the cases that leave them are collected in a
//! literal of their own.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use threadwise_lang::program::{ArithOp, CompareOp};

use crate::Error;
use crate::logic::{Lit, Logic};

/// The greatest number of values that a cell, a choice or an expression may have.
pub(crate) const MAX_VALUES: usize = 1 << 16;
/// The greatest number of pairs of values that one operation may go through.
const MAX_PAIRS: usize = 1 << 22;

/// What a step writes: the cells and their new values, in order of cells.
pub(crate) type Writes = Vec<(usize, Value)>;

/// A symbolic value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Value {
    /// This one.
    Const(i64),
    /// 1 if the literal is true, otherwise 0.
    Bool(Lit),
    /// One of several; their number in the table.
    Among(u32),
}

/// Values in ascending order, each with its literal.
pub(crate) type Items = Rc<[(i64, Lit)]>;

/// The symbolic values that there are: equal ones are one.
#[derive(Default)]
pub(crate) struct Values {
    items: Vec<Items>,
    known: HashMap<Items, u32>,
    arithmetic: HashMap<(ArithOp, Value, Value), (Value, Lit)>,
    comparisons: HashMap<(CompareOp, Value, Value), Lit>,
}

impl Values {
    /// The values and their literals.
    pub(crate) fn items(&self, value: Value) -> Items {
        match value {
            Value::Const(value) => Rc::new([(value, Lit::TRUE)]),
            Value::Bool(lit) => Rc::new([(0, !lit), (1, lit)]),
            Value::Among(number) => Rc::clone(&self.items[number as usize]),
        }
    }

    /// The value with these literals, of which exactly one is true.
    pub(crate) fn value(&mut self, items: impl IntoIterator<Item = (i64, Lit)>) -> Value {
        let items: Items = items
            .into_iter()
            .filter(|(_, lit)| *lit != Lit::FALSE)
            .collect();
        if let Some((value, _)) = items.iter().find(|(_, lit)| *lit == Lit::TRUE) {
            return Value::Const(*value);
        }
        match *items {
            [] => Value::Const(0),
            [(only, _)] => Value::Const(only),
            [(0, _), (1, lit)] => Value::Bool(lit),
            _ => {
                if let Some(number) = self.known.get(&items) {
                    return Value::Among(*number);
                }
                let number = self.items.len() as u32;
                self.items.push(Rc::clone(&items));
                self.known.insert(items, number);
                Value::Among(number)
            }
        }
    }

    /// That a value is not 0.
    pub(crate) fn truth(&self, value: Value) -> Lit {
        match value {
            Value::Const(value) => Lit::of(value != 0),
            Value::Bool(lit) => lit,
            Value::Among(_) => !self.is(value, 0),
        }
    }

    /// That a value is this one.
    pub(crate) fn is(&self, value: Value, wanted: i64) -> Lit {
        match value {
            Value::Const(value) => Lit::of(value == wanted),
            _ => {
                let items = self.items(value);
                match items.binary_search_by_key(&wanted, |(value, _)| *value) {
                    Ok(at) => items[at].1,
                    Err(_) => Lit::FALSE,
                }
            }
        }
    }

    /// If the condition is true the first, otherwise the second.
    pub(crate) fn ite(
        &mut self,
        logic: &mut impl Logic,
        condition: Lit,
        yes: Value,
        no: Value,
    ) -> Result<Value, Error> {
        match condition {
            Lit::TRUE => return Ok(yes),
            Lit::FALSE => return Ok(no),
            _ if yes == no => return Ok(yes),
            _ => {}
        }
        let mut both: BTreeMap<i64, (Lit, Lit)> = BTreeMap::new();
        for (value, lit) in self.items(yes).iter() {
            both.entry(*value).or_insert((Lit::FALSE, Lit::FALSE)).0 = *lit;
        }
        for (value, lit) in self.items(no).iter() {
            both.entry(*value).or_insert((Lit::FALSE, Lit::FALSE)).1 = *lit;
        }
        too_many(both.len())?;
        let items: Vec<(i64, Lit)> = both
            .into_iter()
            .map(|(value, (yes, no))| (value, logic.ite(condition, yes, no)))
            .collect();
        Ok(self.value(items))
    }

    /// One of several values, chosen by literals of which exactly one is true.
    pub(crate) fn select(
        &mut self,
        logic: &mut impl Logic,
        cases: &[(Lit, Value)],
    ) -> Result<Value, Error> {
        let mut results: BTreeMap<i64, Lit> = BTreeMap::new();
        let cases: Vec<(Lit, Items)> = cases
            .iter()
            .map(|(case, value)| (*case, self.items(*value)))
            .collect();
        for (_, items) in &cases {
            for (value, _) in items.iter() {
                results.entry(*value).or_insert(Lit::FALSE);
            }
        }
        too_many(results.len())?;
        if cases.len().saturating_mul(results.len()) > MAX_PAIRS {
            return Err(Error::unsupported("an array is too large to be encoded"));
        }
        for (value, lit) in &mut results {
            logic.go_on()?;
            let holds: Vec<(Lit, Vec<Lit>)> = cases
                .iter()
                .map(|(case, items)| {
                    let found = items.binary_search_by_key(value, |(value, _)| *value);
                    (*case, found.map(|at| items[at].1).into_iter().collect())
                })
                .collect();
            *lit = logic.cases(&holds);
        }
        Ok(self.value(results))
    }

    /// Arithmetic, and whether it leaves 64 bits. Dividing by zero, which a check excludes, gives zero.
    pub(crate) fn arith(
        &mut self,
        logic: &mut impl Logic,
        op: ArithOp,
        a: Value,
        b: Value,
    ) -> Result<(Value, Lit), Error> {
        if let Some(known) = self.arithmetic.get(&(op, a, b)) {
            return Ok(*known);
        }
        logic.go_on()?;
        let (left, right) = (self.items(a), self.items(b));
        if left.len().saturating_mul(right.len()) > MAX_PAIRS {
            return Err(Error::unsupported(
                "an arithmetic operation has too many cases",
            ));
        }
        let mut overflow = Vec::new();
        let mut results: BTreeMap<i64, Vec<(usize, usize)>> = BTreeMap::new();
        for (i, (x, x_lit)) in left.iter().enumerate() {
            for (j, (y, y_lit)) in right.iter().enumerate() {
                match op.total(*x, *y) {
                    Some(result) => results.entry(result).or_default().push((i, j)),
                    None => overflow.push(logic.and(*x_lit, *y_lit)),
                }
            }
        }
        too_many(results.len())?;
        let overflow = logic.any(overflow);
        // If one side is constant, so that its only literal is true, a result is a choice of the other's literals.
        let constant = left.len() == 1 || right.len() == 1;
        let mut items = Vec::with_capacity(results.len());
        for (result, pairs) in &results {
            let lit = if constant {
                let lits = pairs
                    .iter()
                    .map(|(i, j)| logic.and(left[*i].1, right[*j].1))
                    .collect::<Vec<_>>();
                logic.any(lits)
            } else {
                define(logic, &left, &right, pairs)
            };
            items.push((*result, lit));
        }
        let value = self.value(items);
        self.arithmetic.insert((op, a, b), (value, overflow));
        Ok((value, overflow))
    }

    /// Comparison.
    pub(crate) fn compare(
        &mut self,
        logic: &mut impl Logic,
        op: CompareOp,
        a: Value,
        b: Value,
    ) -> Result<Lit, Error> {
        // Two comparisons are enough: the others are these with sides or answers swapped.
        match op {
            CompareOp::Eq => self.equal(logic, a, b),
            CompareOp::Ne => Ok(!self.equal(logic, a, b)?),
            CompareOp::Lt => self.less(logic, a, b),
            CompareOp::Gt => self.less(logic, b, a),
            CompareOp::Le => Ok(!self.less(logic, b, a)?),
            CompareOp::Ge => Ok(!self.less(logic, a, b)?),
        }
    }

    fn equal(&mut self, logic: &mut impl Logic, a: Value, b: Value) -> Result<Lit, Error> {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            _ if a == b => return Ok(Lit::TRUE),
            (Value::Const(value), other) => return Ok(self.is(other, value)),
            _ => {}
        }
        if let Some(known) = self.comparisons.get(&(CompareOp::Eq, a, b)) {
            return Ok(*known);
        }
        logic.go_on()?;
        let items = self.items(a);
        let cases: Vec<(Lit, Vec<Lit>)> = items
            .iter()
            .map(|(value, lit)| (*lit, vec![self.is(b, *value)]))
            .collect();
        let result = logic.cases(&cases);
        self.comparisons.insert((CompareOp::Eq, a, b), result);
        Ok(result)
    }

    fn less(&mut self, logic: &mut impl Logic, a: Value, b: Value) -> Result<Lit, Error> {
        if a == b {
            return Ok(Lit::FALSE);
        }
        if let Some(known) = self.comparisons.get(&(CompareOp::Lt, a, b)) {
            return Ok(*known);
        }
        logic.go_on()?;
        let (left, right) = (self.items(a), self.items(b));
        let result = if let Value::Const(value) = b {
            let below = left.iter().filter(|(x, _)| *x < value);
            logic.any(below.map(|(_, lit)| *lit).collect())
        } else if let Value::Const(value) = a {
            let above = right.iter().filter(|(y, _)| value < *y);
            logic.any(above.map(|(_, lit)| *lit).collect())
        } else {
            let mut cases = Vec::with_capacity(left.len());
            // From the greatest values down: that the right side is above the left one's value.
            let mut above = Lit::FALSE;
            let mut rest = right.iter().rev().peekable();
            for (x, x_lit) in left.iter().rev() {
                while let Some((_, y_lit)) = rest.next_if(|(y, _)| x < y) {
                    above = logic.or(above, *y_lit);
                }
                cases.push((*x_lit, vec![above]));
            }
            logic.cases(&cases)
        };
        self.comparisons.insert((CompareOp::Lt, a, b), result);
        Ok(result)
    }
}

/// That two values are one of these pairs.
fn define(logic: &mut impl Logic, left: &Items, right: &Items, pairs: &[(usize, usize)]) -> Lit {
    // "The result and one operand fix the other" is said for the operand with fewer values.
    let by_left = left.len() <= right.len();
    let fewer = if by_left { left } else { right };
    let mut cases: Vec<(Lit, Vec<Lit>)> = fewer.iter().map(|(_, lit)| (*lit, vec![])).collect();
    for (i, j) in pairs {
        let (case, other) = if by_left {
            (*i, right[*j].1)
        } else {
            (*j, left[*i].1)
        };
        cases[case].1.push(other);
    }
    logic.cases(&cases)
}

fn too_many(values: usize) -> Result<(), Error> {
    if values > MAX_VALUES {
        return Err(Error::unsupported(format!(
            "an expression has more than {MAX_VALUES} values"
        )));
    }
    Ok(())
}
