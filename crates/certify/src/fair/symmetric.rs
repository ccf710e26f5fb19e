//! Conjuncts that are images of others: that a permutation of processes makes no difference.
//!
//! A permutation moves the cells of processes and of arrays over ids, and renames the ids that cells hold: a bijection of states. It is a *symmetry*
//! if it takes initial states to initial states, each step of each process to a step of the process's image from the same label, and the
//! assumptions of each alternative of the fairness to those of an alternative. Then it takes runs to runs, and fair ones to fair ones. So if it takes a conjunct to
//! another one, a fair run that violates the other one is the image of a fair run that violates the first, and proofs that there are no
//! such runs are enough for both.
//!
//! No type says so: it is compared. An expression over a state s is encoded as one over its image, by giving each cell, while the expression is encoded, the
//! value that its image has, with ids renamed back. What comes out must be the same as what the image's own expression comes to, for all states. Steps
//! are compared one by one, by their place in the template: who finds a symmetry that exchanges steps of one process is refused. Choices may be renamed as
//! ids are.
//!
//! Symmetries are a group. A cycle of all processes of a template and an exchange of its first two generate all permutations of them, so
//! that two comparisons are enough for as many images as there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use threadwise_evidence::certificate::{FairClaim, Symmetric};
use threadwise_lang::program::TemplateId;
use threadwise_model::eval::initial_value;
use threadwise_model::layout::{process_id, process_name};
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{CellDomain, DimKind, Expr, ProcessId, Scope, Step, System};
use threadwise_model::temporal::{FairnessKind, Formula, Liveness};

use crate::Error;
use crate::encode::{Encoder, Finite};
use crate::fair::judge::Reach;
use crate::fair::shape::Product;
use crate::logic::{Lit, Logic};
use crate::report::Counts;
use crate::report::Subject;
use crate::step::{self, Mover};
use crate::value::{Value, Writes};

/// How many ways to rename the choices of a step are tried.
const MOST_RENAMINGS: usize = 64;

/// Checks that conjuncts are images of those that they are said to be images of. The product is one with any automaton.
pub(super) fn check<'p, R: Reach<'p>>(
    subject: Subject<'p>,
    liveness: &Liveness,
    conjuncts: &[Formula<Expr>],
    claim: &FairClaim,
    product: &'p Product,
) -> Result<Counts, Error> {
    let (encoder, _) = R::new(product, &[], subject.cancel)?;
    let mut symmetries = Symmetries {
        system: subject.system,
        liveness,
        product,
        encoder,
        choices: HashMap::new(),
        steps: Vec::new(),
        alternatives: Vec::new(),
        whole: BTreeMap::new(),
        known: Vec::new(),
    };
    symmetries.prepare()?;
    for entry in &claim.symmetric {
        let permutation = permutation(subject.system, entry)?;
        if let Err(difference) = symmetries.is_symmetry(&permutation)? {
            return Err(Error::no_proof(format!(
                "conjunct {} is said to be an image of {}, and the program is not the same when processes are renamed: {difference}",
                entry.conjunct, entry.of
            )));
        }
        let (of, image) = (&conjuncts[entry.of], &conjuncts[entry.conjunct]);
        if !symmetries.takes(&permutation, of, image)? {
            return Err(Error::no_proof(format!(
                "conjunct {} is not the image of conjunct {} that it is said to be",
                entry.conjunct, entry.of
            )));
        }
    }
    symmetries.encoder.logic.go_on()?;
    Ok(symmetries.encoder.logic.counts())
}

/// The permutation of an entry.
fn permutation(system: &System, entry: &Symmetric) -> Result<Permutation, Error> {
    let mut whole = Permutation::default();
    let mut named = BTreeSet::new();
    for images in &entry.permutation {
        let name = &images.template;
        let mut templates = system.templates.iter_enumerated();
        let found = templates.find(|(_, template)| template.name == *name);
        let Some((id, template)) = found.filter(|_| named.insert(name)) else {
            return Err(Error::no_proof(format!(
                "a permutation names `{name}`, which is no template, or twice"
            )));
        };
        let index = |image: &i64| {
            let index = image.checked_sub(template.lowest_id)?;
            u32::try_from(index).ok()
        };
        let indices: Option<Vec<u32>> = images.images.iter().map(index).collect();
        let indices = indices.filter(|indices| indices.len() == template.count as usize);
        match indices.and_then(|indices| Permutation::of_template(id, indices)) {
            Some(one) => whole = whole.then(&one),
            None => {
                return Err(Error::no_proof(format!(
                    "the images of the processes of `{name}` are no permutation of them"
                )));
            }
        }
    }
    Ok(whole)
}

/// The difference that a permutation makes, if it does.
type Compared = Result<(), String>;

/// When something is written, and for each cell its new values.
type Written = (Lit, BTreeMap<usize, Vec<(i64, Lit)>>);

/// A step as it is compared.
#[derive(Clone)]
struct Encoded {
    /// That it can be taken; that it fails; that a computation leaves 64 bits.
    conditions: [Lit; 3],
    /// What it writes where it can be taken.
    cases: Vec<Written>,
}

/// An assumption as it is compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    Scheduled(ProcessId),
    Weak([Lit; 2]),
    Strong([Lit; 2], [Lit; 2]),
}

/// What a permutation does with states.
struct Action {
    /// Where each cell is taken, if not to itself, or with other values: these, by position.
    cells: BTreeMap<usize, (usize, Vec<i64>)>,
    /// The value of each such cell, in terms of the state that the state is taken to.
    view: Writes,
}

impl Action {
    /// Where a cell is taken, and the value that it holds then.
    fn image(&self, cell: usize, lo: i64, value: i64) -> (usize, i64) {
        let Some((to, values)) = self.cells.get(&cell) else {
            return (cell, value);
        };
        let position = usize::try_from(i128::from(value) - i128::from(lo)).ok();
        // What is no value of the type stays.
        let image = position.and_then(|position| values.get(position));
        (*to, image.copied().unwrap_or(value))
    }
}

struct Symmetries<'a, 'p, L> {
    system: &'a System,
    liveness: &'a Liveness,
    product: &'p Product,
    encoder: Encoder<'p, L>,
    /// The choices of steps, by their numbers and ranges.
    choices: HashMap<(usize, i64, i64), (Finite, Value)>,
    /// The steps of every process; nothing for one with a choice from nothing.
    steps: Vec<Vec<Option<Encoded>>>,
    alternatives: Vec<BTreeSet<Term>>,
    /// Whether all permutations of a template are symmetries.
    whole: BTreeMap<TemplateId, Compared>,
    /// Other symmetries.
    known: Vec<Permutation>,
}

impl<'p, L: Logic> Symmetries<'_, 'p, L> {
    /// Encodes everything as it is.
    fn prepare(&mut self) -> Result<(), Error> {
        for (mover, steps) in step::movers(&self.product.system) {
            let mut own = Vec::with_capacity(steps.len());
            for step in steps {
                let values = self.choices(step)?;
                own.push(match values {
                    Some(values) => Some(self.step(mover, step, values, None)?),
                    None => None,
                });
            }
            self.steps.push(own);
        }
        let (system, liveness, product) = (self.system, self.liveness, self.product);
        let identity = Permutation::default();
        self.alternatives = terms(system, liveness, product, &mut self.encoder, &identity)?;
        self.encoder.logic.go_on()
    }

    /// The values of a step's choices; nothing if one is from nothing.
    fn choices(&mut self, step: &Step) -> Result<Option<Vec<Value>>, Error> {
        let mut values = Vec::with_capacity(step.choices.len());
        for (number, (lo, hi)) in step.choices.iter().enumerate() {
            if lo > hi {
                return Ok(None);
            }
            let key = (number, *lo, *hi);
            let choice = match self.choices.remove(&key) {
                Some(known) => known,
                None => self.encoder.choice(number, *lo, *hi)?,
            };
            values.push(choice.1);
            self.choices.insert(key, choice);
        }
        Ok(Some(values))
    }

    /// A step of a process; with an action, of a state in terms of the state that it is taken to, and what it writes there.
    fn step(
        &mut self,
        mover: Mover,
        step: &Step,
        choices: Vec<Value>,
        action: Option<&Action>,
    ) -> Result<Encoded, Error> {
        self.encoder.logic.go_on()?;
        let none = Writes::new();
        let view = action.map_or(&none, |action| &action.view);
        let (taken, cases) = self.encoder.after(view, |encoder| {
            let mut taken = step::take_with(encoder, mover, step, Vec::new(), choices)?;
            let cases = if step.rest || taken.passes == Lit::FALSE {
                Vec::new()
            } else {
                step::writes(encoder, mover, step, &mut taken)?
            };
            Ok::<_, Error>((taken, cases))
        })?;
        // Where a step is not taken it writes nothing, whatever its indices come to there.
        let mut encoded = Vec::with_capacity(cases.len());
        for case in cases {
            let when = self.encoder.logic.and(case.when, taken.passes);
            if when == Lit::FALSE {
                continue;
            }
            let mut writes = BTreeMap::new();
            for (cell, value) in case.writes {
                let lo = self.encoder.cells[cell].lo;
                let mut to = cell;
                let mut items: Vec<(i64, Lit)> = Vec::new();
                for (value, lit) in self.encoder.values.items(value).iter() {
                    let image =
                        action.map_or((cell, *value), |action| action.image(cell, lo, *value));
                    to = image.0;
                    let lit = self.encoder.logic.and(when, *lit);
                    if lit != Lit::FALSE {
                        items.push((image.1, lit));
                    }
                }
                items.sort_unstable();
                writes.insert(to, items);
            }
            encoded.push((when, writes));
        }
        Ok(Encoded {
            conditions: [taken.passes, taken.fails, taken.overflows],
            cases: encoded,
        })
    }

    /// What a permutation does with states; the reason if it is none of them.
    fn action(&mut self, permutation: &Permutation) -> Result<Result<Action, String>, Error> {
        let system = self.system;
        let sized = system.vars.iter().all(|var| {
            var.dims.iter().all(|dim| match dim.kind {
                DimKind::Template(template) => dim.size == system.templates[template].count,
                DimKind::Range(_) | DimKind::Enum(_) => true,
            })
        });
        if !sized {
            return Ok(Err("an array is not indexed by all processes".to_owned()));
        }
        let mut cells = BTreeMap::new();
        let mut hit = vec![false; system.cells];
        for (cell, (to, domain)) in permutation.cells(system).iter_enumerated() {
            let (cell, to) = (cell.index(), to.index());
            let (lo, size) = (self.encoder.cells[cell].lo, self.encoder.cells[cell].size());
            let there = &self.encoder.cells[to];
            if std::mem::replace(&mut hit[to], true) || (there.lo, there.size()) != (lo, size) {
                return Ok(Err("cells are not taken to cells alike".to_owned()));
            }
            let holds_ids = matches!(
                domain,
                CellDomain::Id(_) | CellDomain::OptId(_) | CellDomain::Mutex
            );
            if cell == to && !holds_ids {
                continue;
            }
            let values = lo..lo + size as i64;
            let images: Vec<i64> = values
                .clone()
                .map(|value| permutation.value(system, *domain, value))
                .collect();
            let mut sorted = images.clone();
            sorted.sort_unstable();
            if sorted.into_iter().ne(values) {
                return Ok(Err("values are not taken to values".to_owned()));
            }
            cells.insert(cell, (to, images));
        }
        if let Some(last) = self.product.last {
            let mut images = vec![0];
            for taken in &self.liveness.taken {
                let process = process_id(system, taken.process);
                let process = permutation.process(system, process);
                let image = self.liveness.taken.iter().position(|other| {
                    process_id(system, other.process) == process && other.location == taken.location
                });
                let Some(image) = image else {
                    let name = process_name(system, process);
                    return Ok(Err(format!(
                        "the property does not ask of {name} which steps it took"
                    )));
                };
                images.push(image as i64 + 1);
            }
            cells.insert(last, (last, images));
        }
        let mut view = Writes::new();
        for (cell, (to, images)) in &cells {
            let there = self.encoder.cell(*to);
            let lo = self.encoder.cells[*cell].lo;
            let items: Vec<(i64, Lit)> = (lo..)
                .zip(images)
                .map(|(value, image)| (value, self.encoder.values.is(there, *image)))
                .collect();
            view.push((*cell, self.encoder.values.value(items)));
        }
        Ok(Ok(Action { cells, view }))
    }

    /// Whether a permutation is a symmetry, directly or because others are.
    fn is_symmetry(&mut self, permutation: &Permutation) -> Result<Compared, Error> {
        let system = self.system;
        let mut moved = Vec::new();
        for (id, template) in system.templates.iter_enumerated() {
            let indices = 0..template.count;
            if indices
                .clone()
                .any(|index| permutation.index(id, index) != index)
            {
                moved.push(id);
            }
        }
        let mut all = true;
        for template in &moved {
            if !self.whole.contains_key(template) {
                let whole = self.is_whole(*template)?;
                self.whole.insert(*template, whole);
            }
            all &= self.whole.get(template).is_some_and(Result::is_ok);
        }
        if all
            || self
                .known
                .iter()
                .any(|known| is_power(system, known, permutation))
        {
            return Ok(Ok(()));
        }
        let compared = self.compare(permutation)?;
        if compared.is_ok() {
            self.known.push(permutation.clone());
        }
        Ok(compared)
    }

    /// Whether all permutations of a template are symmetries.
    fn is_whole(&mut self, template: TemplateId) -> Result<Compared, Error> {
        let count = self.system.templates[template].count;
        let cycle = |length: u32| {
            let next = |index: u32| match index {
                _ if index >= length => index,
                _ => (index + 1) % length,
            };
            Permutation::of_template(template, (0..count).map(next).collect())
        };
        for length in [2, count] {
            let Some(permutation) = cycle(length) else {
                return Ok(Err("there are too few processes".to_owned()));
            };
            let compared = self.compare(&permutation)?;
            if compared.is_err() {
                return Ok(compared);
            }
        }
        Ok(Ok(()))
    }

    /// Compares the program and the fairness with their images.
    fn compare(&mut self, permutation: &Permutation) -> Result<Compared, Error> {
        let system = self.system;
        let action = match self.action(permutation)? {
            Ok(action) => action,
            Err(reason) => return Ok(Err(reason)),
        };
        if !self.keeps_initial(&action) {
            return Ok(Err("initial values differ".to_owned()));
        }
        for (mover, steps) in step::movers(&self.product.system) {
            let image = permutation.process(system, mover.process);
            for (number, step) in steps.into_iter().enumerate() {
                if !self.keeps_step(permutation, &action, mover, (number, step), image)? {
                    let template = &system.templates[system.template_of(mover.process)];
                    return Ok(Err(format!(
                        "a step of {} from `{}` is not one of {}",
                        process_name(system, mover.process),
                        template.locations[step.from],
                        process_name(system, image),
                    )));
                }
            }
        }
        if !self.keeps_fairness(permutation, &action)? {
            return Ok(Err("the fairness is not the same".to_owned()));
        }
        self.encoder.logic.go_on()?;
        Ok(Ok(()))
    }

    /// Whether initial states are taken to initial states.
    fn keeps_initial(&self, action: &Action) -> bool {
        let system = self.system;
        if !system.initially.is_empty() {
            // What it says is not compared.
            return false;
        }
        let mut initial = vec![None; system.cells];
        for (id, var) in system.vars.iter_enumerated() {
            let copies = match var.scope {
                Scope::Shared => 1,
                Scope::Local(template) => system.templates[template].count,
            };
            for copy in 0..copies {
                let Ok(value) = initial_value(system, id, copy) else {
                    return false;
                };
                for offset in 0..var.len {
                    initial[system.cell(id, copy, offset).index()] = value;
                }
            }
        }
        initial.iter().enumerate().all(|(cell, value)| {
            let lo = self.encoder.cells[cell].lo;
            let (to, image) = action.image(cell, lo, value.unwrap_or(lo));
            initial[to] == value.map(|_| image)
        })
    }

    /// Whether a step of a process is taken to the same step of its image.
    fn keeps_step(
        &mut self,
        permutation: &Permutation,
        action: &Action,
        mover: Mover,
        (number, step): (usize, &'p Step),
        image: ProcessId,
    ) -> Result<bool, Error> {
        let Some(values) = self.choices(step)? else {
            return Ok(true);
        };
        let Some(wanted) = self.steps[image.index()][number].clone() else {
            return Ok(false);
        };
        // Each choice as it is, or renamed as the ids of a template.
        let mut renamings: Vec<Vec<Value>> = vec![Vec::new()];
        for ((lo, hi), value) in step.choices.iter().zip(values) {
            let mut ways = vec![value];
            for (id, template) in self.system.templates.iter_enumerated() {
                let last = i64::from(template.count) - 1;
                if *hi == last && (-1..=0).contains(lo) {
                    let domain = CellDomain::OptId(id);
                    let renamed = |value| permutation.value(self.system, domain, value);
                    let items: Vec<(i64, Lit)> = (*lo..=*hi)
                        .map(|own| (own, self.encoder.values.is(value, renamed(own))))
                        .collect();
                    ways.push(self.encoder.values.value(items));
                }
            }
            ways.dedup();
            renamings = renamings
                .iter()
                .flat_map(|before| ways.iter().map(|way| [&before[..], &[*way]].concat()))
                .collect();
            if renamings.len() > MOST_RENAMINGS {
                return Err(Error::unsupported(
                    "a step has too many choices to be compared with its images",
                ));
            }
        }
        for choices in renamings {
            let taken = self.step(mover, step, choices, Some(action))?;
            if self.same_step(&taken, &wanted)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn same_step(&mut self, one: &Encoded, other: &Encoded) -> Result<bool, Error> {
        for (a, b) in one.conditions.iter().zip(&other.conditions) {
            if !self.same(*a, *b)? {
                return Ok(false);
            }
        }
        // Cases are told apart by which cells are written and when. Each must be one of the others.
        let mut left: Vec<_> = other.cases.iter().collect();
        for case in &one.cases {
            let mut found = None;
            for (at, other) in left.iter().enumerate() {
                if self.same_case(case, other)? {
                    found = Some(at);
                    break;
                }
            }
            match found {
                Some(at) => drop(left.swap_remove(at)),
                None => return Ok(false),
            }
        }
        Ok(left.is_empty())
    }

    fn same_case(
        &mut self,
        (when, writes): &Written,
        (other_when, other_writes): &Written,
    ) -> Result<bool, Error> {
        if !writes.keys().eq(other_writes.keys()) || !self.same(*when, *other_when)? {
            return Ok(false);
        }
        for (items, other) in writes.values().zip(other_writes.values()) {
            let values = |items: &[(i64, Lit)]| items.iter().map(|(value, _)| *value).collect();
            let (these, those): (Vec<i64>, Vec<i64>) = (values(items), values(other));
            if these != those {
                return Ok(false);
            }
            for ((_, a), (_, b)) in items.iter().zip(other) {
                if !self.same(*a, *b)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether each alternative is the image of one.
    fn keeps_fairness(
        &mut self,
        permutation: &Permutation,
        action: &Action,
    ) -> Result<bool, Error> {
        let (system, liveness, product) = (self.system, self.liveness, self.product);
        let images = self.encoder.after(&action.view, |encoder| {
            terms(system, liveness, product, encoder, permutation)
        })?;
        for alternative in self.alternatives.clone() {
            if images.contains(&alternative) {
                continue;
            }
            let mut found = false;
            for image in &images {
                found = self.same_terms(image, &alternative)?;
                if found {
                    break;
                }
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn same_terms(
        &mut self,
        image: &BTreeSet<Term>,
        alternative: &BTreeSet<Term>,
    ) -> Result<bool, Error> {
        for (these, those) in [(image, alternative), (alternative, image)] {
            for term in these.difference(those) {
                let mut found = false;
                for other in those {
                    found = match (term, other) {
                        (Term::Weak(a), Term::Weak(b)) => self.same_lits(a, b)?,
                        (Term::Strong(a, b), Term::Strong(c, d)) => {
                            self.same_lits(a, c)? && self.same_lits(b, d)?
                        }
                        _ => false,
                    };
                    if found {
                        break;
                    }
                }
                if !found {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether a symmetry takes a formula to another one.
    fn takes(
        &mut self,
        permutation: &Permutation,
        of: &Formula<Expr>,
        image: &Formula<Expr>,
    ) -> Result<bool, Error> {
        let mut atoms = Vec::new();
        if !alike(of, image, &mut atoms) {
            return Ok(false);
        }
        let Ok(action) = self.action(permutation)? else {
            return Ok(false);
        };
        let product = self.product;
        for (atom, image) in atoms {
            let (a, first) = self
                .encoder
                .after(&action.view, |encoder| product.predicate(encoder, atom))?;
            let (b, second) = product.predicate(&mut self.encoder, image)?;
            if !self.same_lits(&[a, first], &[b, second])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn same_lits(&mut self, these: &[Lit], those: &[Lit]) -> Result<bool, Error> {
        for (a, b) in these.iter().zip(those) {
            if !self.same(*a, *b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether two literals are the same in all states.
    fn same(&mut self, a: Lit, b: Lit) -> Result<bool, Error> {
        Ok(a == b
            || !self.encoder.logic.satisfiable(&[a], &[!b])?
                && !self.encoder.logic.satisfiable(&[b], &[!a])?)
    }
}

/// The assumptions of each alternative, taken by a permutation.
fn terms(
    system: &System,
    liveness: &Liveness,
    product: &Product,
    encoder: &mut Encoder<'_, impl Logic>,
    permutation: &Permutation,
) -> Result<Vec<BTreeSet<Term>>, Error> {
    let mut alternatives = Vec::with_capacity(liveness.fairness.len());
    for terms in &liveness.fairness {
        let mut set = BTreeSet::new();
        for term in terms {
            let mut predicate = |expr: &Expr| {
                let (holds, overflow) = product.predicate(encoder, expr)?;
                Ok::<_, Error>([holds, overflow])
            };
            set.insert(match &term.kind {
                FairnessKind::Scheduled(process) => {
                    let process = process_id(system, *process);
                    Term::Scheduled(permutation.process(system, process))
                }
                FairnessKind::Weak(e) => Term::Weak(predicate(e)?),
                FairnessKind::Strong(p, q) => Term::Strong(predicate(p)?, predicate(q)?),
            });
        }
        alternatives.push(set);
    }
    Ok(alternatives)
}

/// Whether a permutation is another one, applied several times.
fn is_power(system: &System, known: &Permutation, wanted: &Permutation) -> bool {
    let images = |permutation: &Permutation| -> Vec<ProcessId> {
        let processes = (0..system.processes()).map(ProcessId::from_raw);
        let image = |process| permutation.process(system, process);
        processes.map(image).collect()
    };
    let (wanted, identity) = (images(wanted), images(&Permutation::default()));
    let mut power = known.clone();
    for _ in 0..=system.processes() {
        let now = images(&power);
        if now == wanted {
            return true;
        }
        if now == identity {
            return false;
        }
        power = power.then(known);
    }
    false
}

/// Whether two formulas differ in their predicates only; lists pairs of these.
fn alike<'f>(
    one: &'f Formula<Expr>,
    other: &'f Formula<Expr>,
    atoms: &mut Vec<(&'f Expr, &'f Expr)>,
) -> bool {
    match (one, other) {
        (Formula::Atom(a), Formula::Atom(b)) => {
            atoms.push((a, b));
            true
        }
        (Formula::Not(f), Formula::Not(g)) | (Formula::Next(f), Formula::Next(g)) => {
            alike(f, g, atoms)
        }
        (Formula::And(f), Formula::And(g)) | (Formula::Or(f), Formula::Or(g)) => {
            f.len() == g.len() && f.iter().zip(g).all(|(f, g)| alike(f, g, atoms))
        }
        (Formula::Until(f, g), Formula::Until(h, i))
        | (Formula::Release(f, g), Formula::Release(h, i)) => {
            alike(f, h, atoms) && alike(g, i, atoms)
        }
        _ => false,
    }
}
