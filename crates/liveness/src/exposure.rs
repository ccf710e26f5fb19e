//! What everybody sees of processes: facts about their cells, as partitions of the values.
//!
//! Processes that a conjunct cannot tell apart are in one group. What is exposed of one is exposed of all in its group, so that assertions
//! remain images of each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::Exposed;
use threadwise_model::layout::{locate, owners, process_id};
use threadwise_model::partial::choose;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{CellId, Expr, ProcessId, System, SystemProperty, TemplateSymmetry};
use threadwise_model::temporal::{Formula, Liveness};
use threadwise_safety::split::fact;
use threadwise_symbolic::{Bdd, Halt, Hidden, Layout, Symbolic};

/// The facts that are exposed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exposure {
    /// For each cell of which something is, the class of each of its values.
    cells: BTreeMap<CellId, BTreeMap<i64, usize>>,
}

impl Exposure {
    /// Exposes whether a cell has one of some values; false if that was known.
    fn split(&mut self, symbolic: &Symbolic, cell: CellId, values: &BTreeSet<i64>) -> bool {
        let codes = symbolic.encoding.cells[cell].codes();
        let all = codes.iter().map(|(value, _)| (*value, 0));
        let classes = self.cells.entry(cell).or_insert_with(|| all.collect());
        let before = classes.values().collect::<BTreeSet<_>>().len();
        let mut renumbered: BTreeMap<(usize, bool), usize> = BTreeMap::new();
        for (value, class) in classes.iter_mut() {
            let key = (*class, values.contains(value));
            let next = renumbered.len();
            *class = *renumbered.entry(key).or_insert(next);
        }
        renumbered.len() > before
    }

    /// The same of all processes in the same group.
    pub(crate) fn expose(
        &mut self,
        symbolic: &Symbolic,
        groups: &Groups,
        cell: CellId,
        values: &BTreeSet<i64>,
    ) -> bool {
        let system = symbolic.system;
        let Some(process) = groups.owner(cell) else {
            return false;
        };
        let mut new = false;
        for other in groups.of(process) {
            let (cell, values) = match exchange(system, process, *other) {
                Some(exchange) => {
                    let (image, domain) = exchange.cells(system)[cell];
                    let values = values.iter();
                    let values = values.map(|value| exchange.value(system, domain, *value));
                    (image, values.collect())
                }
                None => (cell, values.clone()),
            };
            new |= self.split(symbolic, cell, &values);
        }
        new
    }

    /// Exposes, of the cells of a process, everything that a set depends on.
    pub(crate) fn expose_for(
        &mut self,
        symbolic: &Symbolic,
        groups: &Groups,
        process: ProcessId,
        set: &Bdd,
    ) -> Result<bool, Halt> {
        let whose = symbolic.encoding.cells_of_vars();
        let vars = symbolic.diagrams.support(set).into_iter();
        let cells: BTreeSet<CellId> = vars.filter_map(|var| whose[var as usize]).collect();
        let mut new = false;
        for cell in cells {
            if groups.owner(cell) == Some(process) {
                for values in alike(symbolic, set, cell)? {
                    new |= self.expose(symbolic, groups, cell, &values);
                }
            }
        }
        Ok(new)
    }

    /// The facts in words, one process for all in its group.
    pub(crate) fn listed(&self, symbolic: &Symbolic, groups: &Groups) -> Vec<String> {
        let mut told = Vec::new();
        for cell in self.cells.keys() {
            let first = groups.owner(*cell).map(|process| groups.of(process)[0]);
            if first != groups.owner(*cell) {
                continue;
            }
            for values in self.classes(*cell) {
                told.push(fact(symbolic, *cell, values.into_iter().collect()));
            }
        }
        told
    }

    /// The facts in a line; not more than a few.
    pub(crate) fn told(&self, symbolic: &Symbolic, groups: &Groups) -> String {
        const FEW: usize = 6;
        let mut told = self.listed(symbolic, groups);
        let more = told.len().saturating_sub(FEW);
        told.truncate(FEW);
        if more > 0 {
            told.push(format!("{more} more"));
        }
        if groups.groups.iter().any(|group| group.len() > 1) {
            told.push("and the same of processes like these".to_owned());
        }
        told.join(", ")
    }

    /// How many facts are exposed: for each cell, one less than there are classes.
    pub(crate) fn facts(&self) -> u64 {
        let classes = self.cells.values().map(|classes| {
            let classes: BTreeSet<_> = classes.values().collect();
            classes.len().saturating_sub(1) as u64
        });
        classes.sum()
    }

    /// A layout in which these facts are seen.
    pub(crate) fn layout(&self, layout: &Layout) -> Layout {
        let mut layout = layout.clone();
        layout.classes = self
            .cells
            .keys()
            .map(|cell| (*cell, self.classes(*cell)))
            .filter(|(_, classes)| !classes.is_empty())
            .collect();
        layout
    }

    /// The classes of a cell, the largest excepted.
    fn classes(&self, cell: CellId) -> Vec<Vec<i64>> {
        let mut classes: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        for (value, class) in self.cells.get(&cell).into_iter().flatten() {
            classes.entry(*class).or_default().push(*value);
        }
        let mut classes: Vec<Vec<i64>> = classes.into_values().collect();
        let largest = (0..classes.len()).max_by_key(|class| (classes[*class].len(), !*class));
        if let Some(largest) = largest {
            classes.remove(largest);
        }
        classes
    }

    /// The facts as those about a template's processes, to be used for another number of them. Ids mean nothing there.
    pub(crate) fn learnt(&self, system: &System, groups: &Groups) -> Vec<Exposed> {
        let mut facts = BTreeSet::new();
        for cell in self.cells.keys() {
            let (Some(process), Some((var, _, offset))) =
                (groups.owner(*cell), locate(system, *cell))
            else {
                continue;
            };
            let template = &system.templates[system.template_of(process)];
            for values in self.classes(*cell) {
                facts.insert(Exposed {
                    template: template.name.clone(),
                    variable: (template.pc != var).then(|| system.vars[var].name.clone()),
                    offset,
                    values,
                    mentioned: groups.mentioned.contains(&process),
                });
            }
        }
        facts.into_iter().collect()
    }

    /// Exposes facts that were learnt elsewhere, as far as they make sense here.
    pub(crate) fn learn(&mut self, symbolic: &Symbolic, groups: &Groups, facts: &[Exposed]) {
        let system = symbolic.system;
        for fact in facts {
            for (cell, process) in &groups.owners {
                let template = &system.templates[system.template_of(*process)];
                let Some((var, _, offset)) = locate(system, *cell) else {
                    continue;
                };
                let variable = (template.pc != var).then(|| &system.vars[var].name);
                let same = template.name == fact.template
                    && variable == fact.variable.as_ref()
                    && offset == fact.offset
                    && groups.mentioned.contains(process) == fact.mentioned;
                if same {
                    self.split(symbolic, *cell, &fact.values.iter().copied().collect());
                }
            }
        }
    }
}

/// The values of a cell, divided by what is left of a set when the cell has them. One class is left out.
fn alike(symbolic: &Symbolic, set: &Bdd, cell: CellId) -> Result<Vec<BTreeSet<i64>>, Halt> {
    let d = &symbolic.diagrams;
    let code = &symbolic.encoding.cells[cell];
    let forget = Hidden::new(d, code.vars(false))?;
    let mut classes: Vec<(Bdd, BTreeSet<i64>)> = Vec::new();
    for (value, number) in code.codes() {
        let here = symbolic.encoding.code(d, cell, *number, false)?;
        let left = forget.forget_and(d, set, &here)?;
        match classes.iter_mut().find(|(known, _)| *known == left) {
            Some((_, values)) => {
                values.insert(*value);
            }
            None => classes.push((left, BTreeSet::from([*value]))),
        }
    }
    classes.pop();
    Ok(classes.into_iter().map(|(_, values)| values).collect())
}

/// Processes that a conjunct cannot tell apart.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    /// The groups; everybody is in one, and the first member stands for the others.
    pub(crate) groups: Vec<Vec<ProcessId>>,
    /// The processes that the conjunct speaks of, in the order in which it does.
    pub(crate) mentioned: Vec<ProcessId>,
    owners: BTreeMap<CellId, ProcessId>,
}

impl Groups {
    /// The groups for a conjunct of a property. Fairness must not tell processes of a group apart either; that is part of what the
    /// property says about ids.
    pub(crate) fn new(
        symbolic: &Symbolic,
        property: &SystemProperty,
        liveness: &Liveness,
        conjunct: &Formula<Expr>,
        symmetric: bool,
    ) -> Result<Self, Halt> {
        let system = symbolic.system;
        let all = owners(system);
        let owners: BTreeMap<CellId, ProcessId> = all
            .iter_enumerated()
            .filter_map(|(cell, owner)| Some((cell, (*owner)?)))
            .collect();
        // What was taken is no part of these diagrams: the predicates as they are if it was and if it was not.
        let mut pinned: BTreeSet<ProcessId> = BTreeSet::new();
        let mut predicates = Vec::new();
        conjunct.for_atoms(&mut |atom| {
            for value in [0, 1] {
                predicates.push(choose(atom, &mut |taken| {
                    let taken = liveness.taken.get(taken as usize);
                    pinned.extend(taken.map(|taken| process_id(system, taken.process)));
                    Expr::Const(value)
                }));
            }
        });
        predicates.dedup();
        let sets: Vec<Bdd> = predicates
            .iter()
            .map(|predicate| symbolic.states(predicate))
            .collect::<Result<_, _>>()?;
        let whose = symbolic.encoding.cells_of_vars();
        let mut mentioned: Vec<ProcessId> = Vec::new();
        for set in &sets {
            for var in symbolic.diagrams.support(set) {
                let process = whose[var as usize].and_then(|cell| owners.get(&cell));
                if let Some(process) = process
                    && !mentioned.contains(process)
                {
                    mentioned.push(*process);
                }
            }
        }
        for process in &pinned {
            if !mentioned.contains(process) {
                mentioned.push(*process);
            }
        }
        let mut groups: Vec<Vec<ProcessId>> = Vec::new();
        for process in (0..system.processes()).map(ProcessId::from_raw) {
            let template = system.template_of(process);
            let free = |process: ProcessId| {
                let index = system.index_of(process);
                symmetric
                    && !pinned.contains(&process)
                    && system.templates[template].symmetry == TemplateSymmetry::Full
                    && !property.ids.ordered.contains(&template)
                    && !property.ids.named.contains(&(template, index))
            };
            let mut group = None;
            if free(process) {
                for (number, members) in groups.iter().enumerate() {
                    let first = members[0];
                    if system.template_of(first) == template
                        && free(first)
                        && alike_in(symbolic, &sets, first, process)?
                    {
                        group = Some(number);
                        break;
                    }
                }
            }
            match group {
                Some(number) => groups[number].push(process),
                None => groups.push(vec![process]),
            }
        }
        Ok(Groups {
            groups,
            mentioned,
            owners,
        })
    }

    /// The process whose a cell is.
    pub(crate) fn owner(&self, cell: CellId) -> Option<ProcessId> {
        self.owners.get(&cell).copied()
    }

    /// Everybody in the group of a process.
    pub(crate) fn of(&self, process: ProcessId) -> &[ProcessId] {
        let group = self.groups.iter().find(|group| group.contains(&process));
        group.map_or(&[], Vec::as_slice)
    }
}

/// Whether exchanging two processes leaves all of some sets as they are.
fn alike_in(
    symbolic: &Symbolic,
    sets: &[Bdd],
    first: ProcessId,
    second: ProcessId,
) -> Result<bool, Halt> {
    let Some(exchange) = exchange(symbolic.system, first, second) else {
        return Ok(true);
    };
    for set in sets {
        if symbolic.permute(set, &exchange)? != *set {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The permutation that exchanges two processes of a template; `None` if they are the same.
pub(crate) fn exchange(
    system: &System,
    first: ProcessId,
    second: ProcessId,
) -> Option<Permutation> {
    if first == second {
        return None;
    }
    let template = system.template_of(first);
    let mut images: Vec<u32> = (0..system.templates[template].count).collect();
    images.swap(
        system.index_of(first) as usize,
        system.index_of(second) as usize,
    );
    Permutation::of_template(template, images)
}
