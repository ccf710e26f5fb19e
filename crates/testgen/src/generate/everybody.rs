//! Loops over all processes of a template whose rounds do not influence one another.
//!
//! A few arrays over the template are written, each in one dimension at the loop's variable. While the body is made they are hidden, so that expressions mention
//! everything else, also entries of others and definitions that read none of them; their own cells are put in by name.

use super::{Dom, Generator, Scope, Ty, Var};

/// An array that a loop writes.
#[derive(Clone)]
struct Written {
    var: Var,
    /// The dimension where its index is the loop's variable.
    at: usize,
}

impl Generator {
    /// The dimensions of a variable, more often over processes than otherwise.
    pub(super) fn dimensions_for_everybody(&mut self, ty: Ty) -> Vec<Dom> {
        let ids = self.id_templates();
        let template = match self.random.one(&ids) {
            Some(template) if self.random.percent(45) => *template,
            _ => return Vec::new(),
        };
        let mut dims = vec![Dom::Template(template)];
        if ty == Ty::Bool && self.random.percent(75) {
            let place = self.random.below(2);
            let other = match self.random.below(3) {
                0 => Dom::Range(0, 1),
                _ => Dom::Template(*self.random.one(&ids).unwrap_or(&template)),
            };
            dims.insert(place, other);
        }
        dims
    }

    /// A loop, where there is an array that it can write.
    pub(super) fn for_everybody(&mut self, scope: &Scope) -> Option<String> {
        let ids = self.id_templates();
        let template = *self.random.one(&ids)?;
        let mut arrays: Vec<Var> = self.visible(scope);
        arrays.retain(|var| var.dims.contains(&Dom::Template(template)) && var.ty != Ty::Mutex);
        let mut written = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let Some(var) = self.random.one(&arrays).cloned() else {
                break;
            };
            arrays.retain(|other| other.name != var.name);
            let mut places: Vec<usize> = (0..var.dims.len()).collect();
            places.retain(|at| var.dims[*at] == Dom::Template(template));
            let at = *self.random.one(&places)?;
            written.push(Written { var, at });
        }
        if written.is_empty() {
            return None;
        }
        self.loops += 1;
        let name = self.fresh("e");
        let inner = scope.with(&name, Ty::Id(template));
        let before = self.hidden.len();
        let names = written.iter().map(|array| array.var.name.clone());
        self.hidden.extend(names);
        let statements: Vec<String> = (0..1 + self.random.below(2))
            .map(|_| self.round(&inner, &name, &written, 2))
            .collect();
        self.hidden.truncate(before);
        let domain = self.templates[template].name.clone();
        Some(format!(
            "for {name} in {domain} {{ {} }}",
            statements.join(" ")
        ))
    }

    /// The cell of the round, the other indices being any.
    fn own_cell(&mut self, scope: &Scope, round: &str, array: &Written) -> Option<String> {
        let mut text = array.var.name.clone();
        for (position, dim) in array.var.dims.iter().enumerate() {
            let index = match position == array.at {
                true => round.to_owned(),
                false => self.index(scope, *dim)?,
            };
            text.push_str(&format!("[{index}]"));
        }
        Some(text)
    }

    /// A condition, mostly about a cell of the round.
    fn condition(&mut self, scope: &Scope, round: &str, written: &[Written]) -> String {
        let array = self.random.one(written).cloned();
        let cell = array.and_then(|array| {
            let cell = self.own_cell(scope, round, &array)?;
            Some((cell, array.var.ty))
        });
        let other = self.boolean(scope, 1);
        match cell {
            Some((cell, Ty::Bool)) if self.random.percent(80) => format!("({cell} != {other})"),
            Some((cell, Ty::Range(lo, hi))) if self.random.percent(80) => {
                format!("({cell} > {} || {other})", self.random.between(lo, hi))
            }
            _ => other,
        }
    }

    /// A cell of the round and what it gets.
    fn own_assignment(
        &mut self,
        scope: &Scope,
        round: &str,
        array: &Written,
    ) -> Option<(String, String)> {
        let cell = self.own_cell(scope, round, array)?;
        let ty = array.var.ty;
        let value = match ty {
            Ty::Bool if self.random.percent(50) => format!("{cell} != {}", self.boolean(scope, 1)),
            Ty::Range(..) | Ty::Int => self.value_for(scope, ty, &cell)?,
            _ => self.value(scope, ty)?,
        };
        Some((cell, value))
    }

    fn round(&mut self, scope: &Scope, round: &str, written: &[Written], depth: usize) -> String {
        let array = self.random.one(written).cloned();
        let Some(array) = array else {
            return "skip;".to_owned();
        };
        if array.var.dims.len() == 2
            && self.random.percent(35)
            && let Some(inner) = self.loop_in_round(scope, round, written, &array)
        {
            return inner;
        }
        let deeper = depth.saturating_sub(1);
        let found = match self.random.below(if depth == 0 { 6 } else { 12 }) {
            0..3 => {
                let assigned = self.own_assignment(scope, round, &array);
                assigned.map(|(cell, value)| format!("{cell} := {value};"))
            }
            3 => self.several_of_round(scope, round, written),
            4 => Some(format!("assert {};", self.truism(scope))),
            5 if !self.careful => {
                let condition = self.condition(scope, round, written);
                Some(format!("assert {condition};"))
            }
            6..11 => {
                let condition = self.condition(scope, round, written);
                let yes = self.round(scope, round, written, deeper);
                let no = self.round(scope, round, written, deeper);
                Some(match self.random.below(3) {
                    0 => format!("if {condition} {{ {yes} }}"),
                    1 => format!("if {condition} {{ {yes} }} else {{ {no} }}"),
                    _ => {
                        let other = self.condition(scope, round, written);
                        format!("if {condition} {{ {yes} }} else if {other} {{ {no} }}")
                    }
                })
            }
            _ => Some(format!(
                "atomic {{ {} }}",
                self.round(scope, round, written, deeper)
            )),
        };
        found.unwrap_or_else(|| "skip;".to_owned())
    }

    fn several_of_round(
        &mut self,
        scope: &Scope,
        round: &str,
        written: &[Written],
    ) -> Option<String> {
        let [first, second, ..] = written else {
            return None;
        };
        let (a, x) = self.own_assignment(scope, round, first)?;
        let (b, y) = self.own_assignment(scope, round, second)?;
        Some(format!("{a}, {b} := {x}, {y};"))
    }

    /// A loop over the other dimension of an array. Over processes its rounds must be independent, too, so all that it writes and reads of arrays that
    /// are written are its own cells.
    fn loop_in_round(
        &mut self,
        scope: &Scope,
        round: &str,
        written: &[Written],
        array: &Written,
    ) -> Option<String> {
        let other = (0..array.var.dims.len()).find(|position| *position != array.at)?;
        let dim = array.var.dims[other];
        let name = self.fresh("k");
        let ty = match dim {
            Dom::Range(lo, hi) => Ty::Range(lo, hi),
            Dom::Enum => Ty::Enum,
            Dom::Template(template) => Ty::Id(template),
        };
        let inner = scope.with(&name, ty);
        let mut cell = array.var.name.clone();
        for position in 0..array.var.dims.len() {
            let index = if position == array.at { round } else { &name };
            cell.push_str(&format!("[{index}]"));
        }
        let condition = match dim {
            Dom::Template(_) => self.boolean(&inner, 1),
            _ => self.condition(&inner, round, written),
        };
        let value = self.boolean(&inner, 1);
        let domain = self.dom_text(dim);
        Some(format!(
            "for {name} in {domain} {{ if {condition} {{ {cell} := {cell} != {value}; }} }}"
        ))
    }
}
