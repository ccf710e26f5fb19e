//! A set of states as a few short facts.
//!
//! Given a target and a care set, it looks for facts whose conjunction contains the target within the care set, and nothing else of the
//! care set if possible. What people look for comes first: the values of one cell, then comparisons of two cells, then these with an
//! exception (`y[j] == 0 || y[i] < y[j]`), then with an exception about a third cell if that makes it shorter. What is left is minimised as clauses or as cases, whichever is
//! shorter: from a state that is still to be excluded (or covered), cells are left out one by one, then sets of values widened, as in
//! two-level minimisation of multi-valued functions (Rudell and Sangiovanni-Vincentelli, 1987). A
//! fact about another process is stated of all others if it holds of all. In the end facts that follow from the others go.
//!
//! Every fact contains the target within the care set by construction, and is tested again before it is stated. Nothing here is exact if it
//! would take too long: the result says whether it is.

use std::collections::BTreeSet;

use threadwise_evidence::{Expression, Omission};
use threadwise_lang::program::TemplateId;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{CellDomain, CellId};
use threadwise_symbolic::{Bdd, Halt, Symbolic};

use super::terms::{Id, Literal, Naming, Op, all_values, domain, indices};

/// Cells with more values are left out of facts.
const MOST_VALUES: usize = 512;
/// With more cells they are not compared with each other.
const MOST_COMPARED: usize = 24;
/// Pairs of values of two cells that are compared.
const MOST_PAIRS: usize = 1024;
/// Clauses, or cases, that are looked for.
const MOST_PARTS: usize = 24;
/// Larger diagrams are not taken apart.
const MOST_NODES: usize = 20_000;
/// A fact about more combinations of other processes is stated about the one.
const MOST_INSTANCES: usize = 2_000;
/// Facts about more other processes are not stated.
const MOST_OTHERS: usize = 3;
/// Facts with more words and signs are not stated.
pub(crate) const LONGEST: usize = 72;

/// A fact, for one process or for all others.
#[derive(Clone)]
pub(crate) struct Fact {
    /// One of these cases holds, and all of its literals.
    cases: Vec<Vec<Literal>>,
    /// The processes in it that stand for all others of their template.
    others: Vec<Id>,
    /// Where it holds, for all others.
    pub(crate) states: Bdd,
}

/// What is known of a set.
pub(crate) struct Facts {
    pub(crate) facts: Vec<Fact>,
    /// What they leave out.
    pub(crate) omitted: Option<Omission>,
}

impl Facts {
    /// Whether they say all.
    pub(crate) fn is_complete(&self) -> bool {
        self.omitted.is_none()
    }
}

/// What facts leave out: where they hold, and the smaller set that they should describe, as combinations of values of these variables.
pub(crate) fn omission(
    symbolic: &Symbolic,
    (said, inside): (&Bdd, &Bdd),
    vars: usize,
    of: &str,
) -> Option<Omission> {
    let count = |set: &Bdd| {
        let vars = u32::try_from(vars).unwrap_or(u32::MAX);
        symbolic.diagrams.count(set, vars).to_string()
    };
    (said != inside).then(|| Omission {
        of: of.to_owned(),
        allowed: count(said),
        asserted: count(inside),
    })
}

/// Looks for facts, seen from a process, or from none.
pub(crate) struct Minimiser<'a, 's> {
    /// Says whether to go on.
    pub(crate) breathe: &'a dyn Fn() -> Result<(), Halt>,
    pub(crate) symbolic: &'a Symbolic<'s>,
    /// These have names of their own.
    pub(crate) named: Vec<Id>,
    /// So many letters are names already.
    pub(crate) letters: usize,
    /// Of these templates the first that is named stands for all: a fact that names others of them by number is none.
    pub(crate) for_all: Vec<TemplateId>,
}

impl Minimiser<'_, '_> {
    /// Facts that hold in the target, as far as the care set goes. Both depend on these cells only.
    pub(crate) fn explain(
        &self,
        cells: &[CellId],
        target: &Bdd,
        care: &Bdd,
    ) -> Result<Facts, Halt> {
        let d = &self.symbolic.diagrams;
        let inside = d.and(target, care)?;
        let mut state = State {
            inside: inside.clone(),
            known: care.clone(),
            facts: Vec::new(),
        };
        let vars = self.symbolic.encoding.vars_of(cells, false);
        if d.size(&inside) > MOST_NODES || d.size(care) > MOST_NODES {
            return self.finished(state, (care, &vars));
        }
        let support = d.support(&inside);
        let looks = |cell: CellId| {
            let mut vars = self.symbolic.encoding.cells[cell].vars(false);
            vars.any(|var| support.contains(&var))
        };
        let few = |cell: CellId| self.symbolic.encoding.cells[cell].codes().len() <= MOST_VALUES;
        let cells: Vec<CellId> = cells
            .iter()
            .copied()
            .filter(|cell| looks(*cell) && few(*cell))
            .collect();
        for &cell in &cells {
            self.one_cell(&mut state, cell)?;
        }
        if cells.len() <= MOST_COMPARED {
            for (place, &left) in cells.iter().enumerate() {
                for &right in &cells[place + 1..] {
                    self.two_cells(&mut state, left, right)?;
                }
            }
        }
        if state.known == inside {
            return self.finished(state, (care, &vars));
        }
        let compared = self.compared(&state, &cells)?;
        self.two_level(&mut state, &cells)?;
        let facts = self.finished(state, (care, &vars))?;
        let Some(mut compared) = compared else {
            return Ok(facts);
        };
        if compared.known != inside {
            self.two_level(&mut compared, &cells)?;
        }
        let others = self.finished(compared, (care, &vars))?;
        // A comparison that is only a little shorter holds by chance more often than not.
        let effort =
            |facts: &Facts, times: usize| (!facts.is_complete(), times * self.total(&facts.facts));
        Ok(if effort(&others, 5) < effort(&facts, 4) {
            others
        } else {
            facts
        })
    }

    /// The facts without those that follow from the others, and whether they say all.
    fn finished(&self, mut state: State, (care, vars): (&Bdd, &[u32])) -> Result<Facts, Halt> {
        let d = &self.symbolic.diagrams;
        self.without_redundant(&mut state.facts, care)?;
        let mut said = care.clone();
        for fact in &state.facts {
            said = d.and(&said, &fact.states)?;
        }
        let of = "values";
        Ok(Facts {
            omitted: omission(self.symbolic, (&said, &state.inside), vars.len(), of),
            facts: state.facts,
        })
    }

    fn one_cell(&self, state: &mut State, cell: CellId) -> Result<(), Halt> {
        let must = self.values(cell, &state.inside)?;
        let now = self.values(cell, &state.known)?;
        if must != now {
            let literal = self.choose(cell, &must, &now);
            self.add(state, vec![vec![literal]])?;
        }
        Ok(())
    }

    /// The comparisons that two cells allow, none if they have too many values.
    fn comparisons(&self, left: CellId, right: CellId) -> &'static [Op] {
        let system = self.symbolic.system;
        let count = |cell: CellId| self.symbolic.encoding.cells[cell].codes().len();
        if count(left) * count(right) > MOST_PAIRS {
            return &[];
        }
        match (domain(system, left), domain(system, right)) {
            (CellDomain::Range(..) | CellDomain::Int, CellDomain::Range(..) | CellDomain::Int) => {
                &Op::ALL
            }
            (
                CellDomain::Id(a) | CellDomain::OptId(a),
                CellDomain::Id(b) | CellDomain::OptId(b),
            ) if a == b => &[Op::Eq, Op::Ne],
            (CellDomain::Bool, CellDomain::Bool) => &[Op::Eq, Op::Ne],
            (CellDomain::Enum(a, _), CellDomain::Enum(b, _)) if a == b => &[Op::Eq, Op::Ne],
            _ => &[],
        }
    }

    /// Compares two cells unless a third one has certain values (`P[j] at wait || P[i].round == P[j].round`); `None` if that excludes nothing.
    /// Cells of different types are not compared: that would be short, but by chance.
    fn compared(&self, state: &State, cells: &[CellId]) -> Result<Option<State>, Halt> {
        if cells.len() > MOST_COMPARED {
            return Ok(None);
        }
        let d = &self.symbolic.diagrams;
        let system = self.symbolic.system;
        let mut compared = state.clone();
        for (place, &left) in cells.iter().enumerate() {
            let alike = |right: &&CellId| domain(system, left) == domain(system, **right);
            for &right in cells[place + 1..].iter().filter(alike) {
                for op in self.comparisons(left, right) {
                    (self.breathe)()?;
                    let compare = Literal::Compare {
                        left,
                        op: *op,
                        right,
                    };
                    let holds = compare.states(self.symbolic)?;
                    let apart = d.minus(&compared.inside, &holds)?;
                    for &cell in cells {
                        let open = d.minus(&compared.known, &holds)?;
                        let now = self.values(cell, &open)?;
                        let must = self.values(cell, &apart)?;
                        if cell == left || cell == right || must == now || must.is_empty() {
                            continue;
                        }
                        let except = self.choose(cell, &must, &now);
                        self.add(&mut compared, vec![vec![except], vec![compare.clone()]])?;
                    }
                }
            }
        }
        Ok((compared.known != state.known).then_some(compared))
    }

    /// Compares two cells, if that excludes something.
    fn two_cells(&self, state: &mut State, left: CellId, right: CellId) -> Result<(), Halt> {
        let ops = self.comparisons(left, right);
        if ops.is_empty() {
            return Ok(());
        }
        let count = |cell: CellId| self.symbolic.encoding.cells[cell].codes().len();
        let must = self.pairs(left, right, &state.inside)?;
        let mut now = self.pairs(left, right, &state.known)?;
        if must == now {
            return Ok(());
        }
        let holds = |op: &&Op| must.iter().all(|(a, b)| op.holds(*a, *b));
        let excludes = |op: &&Op| now.iter().any(|(a, b)| !op.holds(*a, *b));
        if let Some(op) = ops.iter().filter(holds).find(excludes) {
            self.add(
                state,
                vec![vec![Literal::Compare {
                    left,
                    op: *op,
                    right,
                }]],
            )?;
            now.retain(|(a, b)| op.holds(*a, *b));
        }
        // Two truth values with an exception are a clause without a comparison.
        if must == now || count(left) * count(right) <= 4 {
            return Ok(());
        }
        // With an exception, if that says all about the two.
        for op in ops {
            for cell in [left, right] {
                let of = |pair: &(i64, i64)| if cell == left { pair.0 } else { pair.1 };
                let apart: BTreeSet<i64> = must
                    .iter()
                    .filter(|(a, b)| !op.holds(*a, *b))
                    .map(of)
                    .collect();
                let mut wrong = now.difference(&must);
                if apart.len() == 1
                    && wrong.all(|pair| !apart.contains(&of(pair)) && !op.holds(pair.0, pair.1))
                {
                    let except = Literal::In {
                        cell,
                        values: apart,
                    };
                    let compare = Literal::Compare {
                        left,
                        op: *op,
                        right,
                    };
                    return self.add(state, vec![vec![except], vec![compare]]);
                }
            }
        }
        Ok(())
    }

    /// Excludes what is left by clauses, or covers what is there by cases.
    fn two_level(&self, state: &mut State, cells: &[CellId]) -> Result<(), Halt> {
        let d = &self.symbolic.diagrams;
        let mut cells = cells.to_vec();
        // The first are left out first: others' cells, then those with many values.
        cells.sort_by_key(|cell| {
            let other = indices(self.symbolic.system, *cell)
                .iter()
                .any(|id| !self.named.contains(id));
            let values = self.symbolic.encoding.cells[*cell].codes().len();
            std::cmp::Reverse((other, values, *cell))
        });
        let mut clauses = state.clone();
        for _ in 0..MOST_PARTS {
            (self.breathe)()?;
            let wrong = d.minus(&clauses.known, &clauses.inside)?;
            let Some(point) = self.symbolic.pick(&wrong) else {
                break;
            };
            let Some(cube) = self.cube(&cells, &point, &clauses.inside, &clauses.known)? else {
                break;
            };
            let clause = cube.into_iter().map(|(_, outside)| vec![outside]).collect();
            let before = clauses.known.clone();
            self.add(&mut clauses, clause)?;
            if clauses.known == before {
                break;
            }
        }
        let bad = d.minus(&state.known, &state.inside)?;
        let mut open = state.inside.clone();
        let mut cases = Vec::new();
        for _ in 0..MOST_PARTS {
            (self.breathe)()?;
            let Some(point) = self.symbolic.pick(&open) else {
                break;
            };
            let Some(cube) = self.cube(&cells, &point, &bad, &state.known)? else {
                break;
            };
            let says_something = |literal: &Literal| match literal {
                Literal::In { cell, values } => *values != all_values(self.symbolic, *cell),
                Literal::Compare { .. } => true,
            };
            let literals = cube.into_iter().map(|(inside, _)| inside);
            let case: Vec<Literal> = literals.filter(says_something).collect();
            let covered = self.cases(std::slice::from_ref(&case))?;
            open = d.minus(&open, &covered)?;
            cases.push(case);
        }
        let mut by_cases = state.clone();
        if d.is_empty(&open) {
            self.add(&mut by_cases, cases)?;
        }
        let length = |state: &State| self.total(&state.facts);
        let exact = |state: &State| state.known == state.inside;
        *state = if exact(&by_cases) && (!exact(&clauses) || length(&by_cases) < length(&clauses)) {
            by_cases
        } else {
            clauses
        };
        Ok(())
    }

    /// A large cube around a point, of which nothing is to be avoided. For each of its cells, the values inside
    /// and those outside, as literals.
    fn cube(
        &self,
        cells: &[CellId],
        point: &[i64],
        avoid: &Bdd,
        known: &Bdd,
    ) -> Result<Option<Vec<(Literal, Literal)>>, Halt> {
        let d = &self.symbolic.diagrams;
        let mut kept: Vec<Literal> = cells
            .iter()
            .map(|cell| Literal::In {
                cell: *cell,
                values: BTreeSet::from([point[cell.index()]]),
            })
            .collect();
        if !d.is_empty(&d.and(&self.all_of(&kept)?, avoid)?) {
            return Ok(None);
        }
        let mut place = 0;
        while place < kept.len() {
            let left_out = kept.remove(place);
            if !d.is_empty(&d.and(&self.all_of(&kept)?, avoid)?) {
                kept.insert(place, left_out);
                place += 1;
            }
        }
        let mut cube = Vec::new();
        for place in 0..kept.len() {
            let Literal::In { cell, .. } = kept[place] else {
                continue;
            };
            let rest: Vec<Literal> = kept
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != place)
                .map(|(_, literal)| literal.clone())
                .collect();
            let rest = self.all_of(&rest)?;
            let outside = self.values(cell, &d.and(&rest, avoid)?)?;
            let now = self.values(cell, &d.and(&rest, known)?)?;
            let all = all_values(self.symbolic, cell);
            let inside: BTreeSet<i64> = all.difference(&outside).copied().collect();
            let possible: BTreeSet<i64> = inside.intersection(&now).copied().collect();
            cube.push((
                self.choose(cell, &possible, &now),
                self.choose(cell, &outside, &now),
            ));
            kept[place] = Literal::In {
                cell,
                values: inside,
            };
        }
        // In the order of the source.
        cube.sort();
        Ok(Some(cube))
    }

    /// States a fact, of all others if it holds of all.
    fn add(&self, state: &mut State, cases: Vec<Vec<Literal>>) -> Result<(), Halt> {
        let d = &self.symbolic.diagrams;
        let mut ids: Option<BTreeSet<Id>> = Some(BTreeSet::new());
        for literal in cases.iter().flatten() {
            let found = literal.ids(self.symbolic, &self.named);
            ids = ids.zip(found).map(|(ids, found)| &ids | &found);
        }
        let general = match &ids {
            Some(ids) => self.general(&cases, ids, &state.inside)?,
            None => None,
        };
        let nameable =
            |ids: BTreeSet<Id>| ids.len() <= MOST_OTHERS && ids.iter().all(|id| self.can_name(*id));
        let fact = match general {
            Some(fact) => fact,
            None if !ids.is_some_and(nameable) => return Ok(()),
            None => Fact {
                states: self.cases(&cases)?,
                cases,
                others: Vec::new(),
            },
        };
        // What does not hold, or nobody would read, is not stated.
        let holds = d.is_empty(&d.minus(&state.inside, &fact.states)?);
        if holds && self.length(&fact) <= LONGEST {
            state.known = d.and(&state.known, &fact.states)?;
            state.facts.push(fact);
        }
        Ok(())
    }

    /// Whether a fact may speak of a process without a name: by number, or as a neighbour.
    fn can_name(&self, id: Id) -> bool {
        if !self.for_all.contains(&id.0) {
            return true;
        }
        let template = &self.symbolic.system.templates[id.0];
        let near = |own: &Id| {
            let distance = (id.1 + template.count).abs_diff(own.1) % template.count;
            distance == 1 || distance + 1 == template.count
        };
        let own = self.named.iter().find(|own| own.0 == id.0);
        template.ring && own.is_some_and(near)
    }

    /// The fact for all others instead of those that it speaks of, if it speaks of few of one template, and that holds.
    fn general(
        &self,
        cases: &[Vec<Literal>],
        ids: &BTreeSet<Id>,
        inside: &Bdd,
    ) -> Result<Option<Fact>, Halt> {
        let d = &self.symbolic.diagrams;
        let system = self.symbolic.system;
        let ids: Vec<Id> = ids.iter().copied().collect();
        let template = match ids.first() {
            Some((template, _)) if ids.iter().all(|id| id.0 == *template) => *template,
            _ => return Ok(None),
        };
        if ids.len() > MOST_OTHERS {
            return Ok(None);
        }
        let all = self.images(template, &ids);
        if all.len() > MOST_INSTANCES {
            return Ok(None);
        }
        let mut states = d.all();
        for images in all {
            (self.breathe)()?;
            let Some(permutation) = Permutation::of_template(template, images) else {
                return Ok(None);
            };
            let moved: Vec<Vec<Literal>> = cases
                .iter()
                .map(|case| {
                    case.iter()
                        .map(|literal| literal.moved(system, &permutation))
                        .collect()
                })
                .collect();
            let instance = self.cases(&moved)?;
            if !d.is_empty(&d.minus(inside, &instance)?) {
                return Ok(None);
            }
            states = d.and(&states, &instance)?;
        }
        Ok(Some(Fact {
            cases: cases.to_vec(),
            others: ids,
            states,
        }))
    }

    /// Permutations that take these ids to all combinations of different ones without a name; too many are cut short.
    fn images(&self, template: TemplateId, ids: &[Id]) -> Vec<Vec<u32>> {
        let count = self.symbolic.system.templates[template].count;
        let mut all: Vec<Vec<u32>> = vec![(0..count).collect()];
        for (position, id) in ids.iter().enumerate() {
            let before = &ids[..position];
            all = all
                .into_iter()
                .flat_map(|images| {
                    let taken: Vec<u32> = before.iter().map(|id| images[id.1 as usize]).collect();
                    let free = move |to: &u32| {
                        !taken.contains(to) && !self.named.contains(&(template, *to))
                    };
                    (0..count).filter(free).map(move |to| {
                        let mut images = images.clone();
                        if let Some(place) = images.iter().position(|image| *image == to) {
                            images.swap(id.1 as usize, place);
                        }
                        images
                    })
                })
                .take(MOST_INSTANCES + 1)
                .collect();
        }
        all
    }

    /// Leaves out facts that follow from the others, long ones first.
    fn without_redundant(&self, facts: &mut Vec<Fact>, care: &Bdd) -> Result<(), Halt> {
        let d = &self.symbolic.diagrams;
        let mut order: Vec<usize> = (0..facts.len()).collect();
        order.sort_by_key(|place| std::cmp::Reverse((self.length(&facts[*place]), *place)));
        let mut kept = vec![true; facts.len()];
        for place in order {
            (self.breathe)()?;
            let mut others = care.clone();
            for (other, fact) in facts.iter().enumerate() {
                if other != place && kept[other] {
                    others = d.and(&others, &fact.states)?;
                }
            }
            kept[place] = !d.is_empty(&d.minus(&others, &facts[place].states)?);
        }
        let mut kept = kept.into_iter();
        facts.retain(|_| kept.next().unwrap_or(true));
        Ok(())
    }

    /// A set of values with `must`, and nothing else of `now`, that is short to write.
    fn choose(&self, cell: CellId, must: &BTreeSet<i64>, now: &BTreeSet<i64>) -> Literal {
        let all = all_values(self.symbolic, cell);
        let may: BTreeSet<i64> = all
            .iter()
            .filter(|value| must.contains(value) || !now.contains(value))
            .copied()
            .collect();
        let mut ways = vec![must.clone(), may.clone()];
        if let (Some(lo), Some(hi)) = (must.first(), must.last()) {
            for range in [*lo..=i64::MAX, i64::MIN..=*hi, *lo..=*hi] {
                let part: BTreeSet<i64> = all.range(range).copied().collect();
                if part.is_subset(&may) {
                    ways.push(part);
                }
            }
        }
        let naming = self.naming();
        let values = ways.into_iter().min_by_key(|values| {
            let literal = Literal::In {
                cell,
                values: values.clone(),
            };
            naming.literal(&literal, &all).length()
        });
        Literal::In {
            cell,
            values: values.unwrap_or_default(),
        }
    }

    /// The values that a cell has in a set.
    pub(crate) fn values(&self, cell: CellId, set: &Bdd) -> Result<BTreeSet<i64>, Halt> {
        let d = &self.symbolic.diagrams;
        let mut values = BTreeSet::new();
        for (value, code) in self.symbolic.encoding.cells[cell].codes() {
            let here = self.symbolic.encoding.code(d, cell, *code, false)?;
            if !d.is_empty(&d.and(set, &here)?) {
                values.insert(*value);
            }
        }
        Ok(values)
    }

    fn pairs(&self, left: CellId, right: CellId, set: &Bdd) -> Result<BTreeSet<(i64, i64)>, Halt> {
        let d = &self.symbolic.diagrams;
        let mut pairs = BTreeSet::new();
        for (value, code) in self.symbolic.encoding.cells[left].codes() {
            let here = self.symbolic.encoding.code(d, left, *code, false)?;
            let with = self.values(right, &d.and(set, &here)?)?;
            pairs.extend(with.into_iter().map(|other| (*value, other)));
        }
        Ok(pairs)
    }

    /// Where all of these hold.
    pub(crate) fn all_of(&self, literals: &[Literal]) -> Result<Bdd, Halt> {
        let mut states = self.symbolic.diagrams.all();
        for literal in literals {
            let here = literal.states(self.symbolic)?;
            states = self.symbolic.diagrams.and(&states, &here)?;
        }
        Ok(states)
    }

    fn cases(&self, cases: &[Vec<Literal>]) -> Result<Bdd, Halt> {
        let mut states = self.symbolic.diagrams.none();
        for case in cases {
            let here = self.all_of(case)?;
            states = self.symbolic.diagrams.or(&states, &here)?;
        }
        Ok(states)
    }

    fn total(&self, facts: &[Fact]) -> usize {
        facts.iter().map(|fact| self.length(fact)).sum()
    }

    fn length(&self, fact: &Fact) -> usize {
        self.formula(fact, &self.naming()).length()
    }

    /// Letters for those who are named.
    pub(crate) fn naming(&self) -> Naming<'_> {
        let system = self.symbolic.system;
        let letters = Naming::letters(system);
        let named = self.named.iter().zip(&letters);
        named.fold(Naming::plain(system), |naming, (id, letter)| {
            naming.with(*id, letter)
        })
    }

    /// A fact as an expression.
    pub(crate) fn formula(&self, fact: &Fact, naming: &Naming) -> Expression {
        let system = self.symbolic.system;
        let letters = Naming::letters(system);
        let letters = &letters[self.letters..];
        // Neighbours are such only of those who are named, and not of any other.
        let mut naming = if fact.others.is_empty() {
            naming.clone()
        } else {
            naming.only(&self.named)
        };
        let mut apart = Vec::new();
        let mut bound: Vec<&str> = Vec::new();
        for (id, letter) in fact.others.iter().zip(letters) {
            for named in self.named.iter().filter(|named| named.0 == id.0) {
                apart.push(Expression::Comparison(format!(
                    "{letter} != {}",
                    naming.id(*named)
                )));
            }
            for other in &bound {
                apart.push(Expression::Comparison(format!("{other} != {letter}")));
            }
            bound.push(letter);
            naming = naming.called(*id, letter);
        }
        let cases = fact.cases.iter().map(|case| {
            let literals = case.iter().map(|literal| self.literal(literal, &naming));
            Expression::and(literals.collect())
        });
        let mut formula = Expression::or(cases.collect());
        if let Some((template, _)) = fact.others.first() {
            if !apart.is_empty() {
                formula = Expression::Implies(Box::new(Expression::and(apart)), Box::new(formula));
            }
            let name = &system.templates[*template].name;
            let head = format!("forall {} in {name}", bound.join(", "));
            formula = Expression::Quantified(head, Box::new(formula));
        }
        formula
    }

    /// A literal as an expression.
    pub(crate) fn literal(&self, literal: &Literal, naming: &Naming) -> Expression {
        let all = match literal {
            Literal::In { cell, .. } => all_values(self.symbolic, *cell),
            Literal::Compare { .. } => BTreeSet::new(),
        };
        naming.literal(literal, &all)
    }
}

impl Fact {
    /// The one literal that the fact is.
    pub(crate) fn single(&self) -> Option<&Literal> {
        match self.cases.as_slice() {
            [case] if self.others.is_empty() => match case.as_slice() {
                [literal] => Some(literal),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What is known of the target so far.
#[derive(Clone)]
struct State {
    /// The target, within the care set.
    inside: Bdd,
    /// The care set, as far as the facts allow.
    known: Bdd,
    facts: Vec<Fact>,
}
