//! What is known of values before anything is computed.
//!
//! Diagrams have no codes for values that no step writes: a variable of type `0..5` that is only ever 0 or 1 takes one
//! bit. To the diagrams that goes without saying. A reader knows the types alone, so the outline says it.

use std::collections::BTreeSet;

use threadwise_model::system::{CellDomain, CellId, DimKind, Scope, SystemVar, VarId};

use super::Writer;
use super::terms::{Id, Literal, Naming};

/// More statements than this are too many.
const MOST: usize = 40;
/// Types with more values are spoken of by comparisons.
const FEW_VALUES: i64 = 64;

impl Writer<'_, '_> {
    /// What holds of values by the steps alone, and whether that is all.
    pub(super) fn ranges(&self) -> (Vec<String>, bool) {
        let mut ranges = Vec::new();
        for (id, var) in self.system().vars.iter_enumerated() {
            if matches!(var.domain, CellDomain::Location(_)) {
                continue;
            }
            self.ranges_of(id, var, &mut ranges);
            if ranges.len() > MOST {
                ranges.truncate(MOST);
                return (ranges, false);
            }
        }
        (ranges, true)
    }

    /// The same for the cells of a variable, those of all processes at once if they are alike.
    fn ranges_of(&self, id: VarId, var: &SystemVar, ranges: &mut Vec<String>) {
        let system = self.system();
        let plain = Naming::plain(system);
        let letter = &Naming::letters(system)[0];
        let copies = match var.scope {
            Scope::Shared => 1,
            Scope::Local(template) => system.templates[template].count,
        };
        let cells = |offset: u32| (0..copies).map(move |copy| system.cell(id, copy, offset));
        let all: Vec<CellId> = (0..var.len).flat_map(cells).collect();
        let Some(&first) = all.first() else {
            return;
        };
        let values = |cell: CellId| self.symbolic.encoding.cells[cell].codes().len();
        let alike = all
            .iter()
            .all(|cell| self.range(*cell) == self.range(first));
        // Whose copy, or whose entry of an array, any of the cells is.
        let whose: Option<Id> = match (var.scope, &var.dims[..]) {
            (Scope::Local(template), []) => Some((template, 0)),
            (Scope::Shared, [dim]) => match dim.kind {
                DimKind::Template(template) => Some((template, 0)),
                DimKind::Range(_) | DimKind::Enum(_) => None,
            },
            _ => None,
        };
        // An id as a value must not be taken for the letter.
        let is_id = matches!(
            var.domain,
            CellDomain::Id(_) | CellDomain::OptId(_) | CellDomain::Mutex
        );
        if let Some(whose) = whose
            && alike
            && !is_id
            && all.len() > 1
        {
            let naming = Naming::plain(system).called(whose, letter);
            let template = &system.templates[whose.0].name;
            let said = self.said(&naming, first, var.domain, values(first));
            ranges.extend(said.map(|said| format!("forall {letter} in {template}: {said}")));
            return;
        }
        for cell in all {
            ranges.extend(self.said(&plain, cell, var.domain, values(cell)));
            if ranges.len() > MOST {
                return;
            }
        }
    }

    /// The least and the greatest value that has a code.
    fn range(&self, cell: CellId) -> Option<(i64, i64)> {
        let codes = self.symbolic.encoding.cells[cell].codes().iter();
        let values = codes.map(|(value, _)| *value);
        Some((values.clone().min()?, values.max()?))
    }

    /// That a cell has no other values than those with codes; `None` if its type has no others.
    fn said(
        &self,
        naming: &Naming,
        cell: CellId,
        domain: CellDomain,
        count: usize,
    ) -> Option<String> {
        let (least, greatest) = self.range(cell)?;
        let bounds = self.system().values(domain);
        if let Some((lo, hi)) = bounds
            && hi.checked_sub(lo).is_some_and(|size| size < FEW_VALUES)
        {
            let all: BTreeSet<i64> = (lo..=hi).collect();
            if all.len() == count {
                return None;
            }
            let codes = self.symbolic.encoding.cells[cell].codes().iter();
            let literal = Literal::In {
                cell,
                values: codes.map(|(value, _)| *value).collect(),
            };
            return Some(naming.literal(&literal, &all).to_string());
        }
        let name = naming.cell(cell);
        if least == greatest {
            return Some(format!("{name} == {least}"));
        }
        let above = bounds.is_none_or(|(lo, _)| lo < least);
        let below = bounds.is_none_or(|(_, hi)| greatest < hi);
        match (above, below) {
            (true, true) => Some(format!("{name} >= {least} && {name} <= {greatest}")),
            (true, false) => Some(format!("{name} >= {least}")),
            (false, true) => Some(format!("{name} <= {greatest}")),
            (false, false) => None,
        }
    }
}
