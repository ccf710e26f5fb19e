//! Moves of the product by the SAT solver.
//!
//! The state after a move is the state before with other values in the cells that are written, and bits of its own. Sets and predicates are
//! encoded in it as in the state before, for each move.

use std::collections::HashMap;

use threadwise_evidence::dag::{Child, Dag};

use crate::Error;
use crate::encode::Encoder;
use crate::fair::judge::Reach;
use crate::fair::product::{Move, Region, Set, Source};
use crate::fair::shape::Product;
use crate::logic::{Lit, Logic};
use crate::solver::Solver;
use crate::value::Writes;

/// The product as clauses.
pub(crate) struct Clauses<'a> {
    product: &'a Product,
    /// For moves and sets: that the state after is in the set.
    after: HashMap<(usize, usize), Lit>,
    /// For moves: that the demands of the bits are met.
    demands: HashMap<usize, Lit>,
}

impl<'a> Reach<'a> for Clauses<'a> {
    type Logic = Solver<'a>;

    fn new(
        product: &'a Product,
        _: &[(&Dag, &[usize])],
        cancel: &'a dyn Fn() -> bool,
    ) -> Result<(Encoder<'a, Solver<'a>>, Clauses<'a>), Error> {
        let encoder = Encoder::new(&product.system, Solver::new(cancel))?;
        let clauses = Clauses {
            product,
            after: HashMap::new(),
            demands: HashMap::new(),
        };
        Ok((encoder, clauses))
    }

    fn graph(
        &mut self,
        encoder: &mut Encoder<'a, Solver<'a>>,
        dag: &Dag,
        cells: &[usize],
    ) -> Result<Lit, Error> {
        let leaf = |child: Child| Lit::of(child == Child::TRUE);
        let mut nodes: Vec<Lit> = Vec::with_capacity(dag.len());
        for node in dag.nodes() {
            encoder.logic.go_on()?;
            let cell = cells[node.cell];
            let value = encoder.cell(cell);
            let items = encoder.values.items(value);
            let mut from = i128::from(encoder.cells[cell].lo);
            let mut parts = Vec::with_capacity(node.runs.len());
            for run in node.runs {
                let to = from + i128::from(run.count);
                let child = run.child.node().map_or(leaf(run.child), |at| nodes[at]);
                if child != Lit::FALSE {
                    let here = items
                        .iter()
                        .filter(|(value, _)| (from..to).contains(&i128::from(*value)));
                    let here = encoder.logic.any(here.map(|(_, lit)| *lit).collect());
                    parts.push(encoder.logic.and(here, child));
                }
                from = to;
            }
            nodes.push(encoder.logic.any(parts));
        }
        let root = dag.root();
        Ok(root.node().map_or(leaf(root), |at| nodes[at]))
    }

    fn joined(
        &mut self,
        encoder: &mut Encoder<'a, Solver<'a>>,
        sets: &[Lit],
    ) -> Result<Option<Lit>, Error> {
        Ok(Some(encoder.logic.all(sets.to_vec())))
    }

    fn reaches(
        &mut self,
        encoder: &mut Encoder<'a, Solver<'a>>,
        (number, choice): (usize, &Move<'a>),
        from: &[Lit],
        to: &Region,
        sets: &[Set<'a>],
    ) -> Result<bool, Error> {
        let mut all = from.to_vec();
        all.push(choice.when);
        for clause in &to.clauses {
            let mut any = Vec::with_capacity(clause.len());
            for (set, inside) in clause {
                let lit = match self.after.get(&(number, *set)) {
                    Some(known) => *known,
                    None => self.set_after(encoder, &choice.writes, sets[*set].source)?,
                };
                self.after.insert((number, *set), lit);
                any.push(if *inside { lit } else { !lit });
            }
            all.push(encoder.logic.any(any));
        }
        if all.contains(&Lit::FALSE) {
            return Ok(false);
        }
        let demands = match self.demands.get(&number) {
            Some(known) => *known,
            None => {
                let product = self.product;
                encoder.after(&choice.writes, |encoder| product.demands(encoder))?
            }
        };
        self.demands.insert(number, demands);
        all.push(demands);
        encoder.logic.solve(&all)
    }

    fn solution(
        &mut self,
        encoder: &mut Encoder<'a, Solver<'a>>,
        (_, choice): (usize, &Move<'a>),
        _: &[Lit],
        _: &Region,
        _: &[Set<'a>],
    ) -> Result<Option<Vec<i64>>, Error> {
        let mut found = encoder.solution();
        let logic = &encoder.logic;
        found.extend(choice.choices.iter().map(|choice| choice.solution(logic)));
        Ok(Some(found))
    }
}

impl<'a> Clauses<'a> {
    /// That the state after these writes is in a set.
    fn set_after(
        &mut self,
        encoder: &mut Encoder<'a, Solver<'a>>,
        writes: &Writes,
        source: Source<'a>,
    ) -> Result<Lit, Error> {
        let product = self.product;
        let mut writes = writes.clone();
        for (bit, after) in product.bits().zip(product.bits_after()) {
            let value = encoder.cell(after);
            writes.push((bit, value));
        }
        encoder.after(&writes, |encoder| match source {
            Source::Graph(dag, cells) => self.graph(encoder, dag, cells),
            Source::Predicate(expr) => Ok(product.predicate(encoder, expr)?.0),
        })
    }
}
