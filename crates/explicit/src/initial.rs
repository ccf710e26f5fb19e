//! The initial states, one after the other: a variable that begins with any value multiplies
//! them, so there may be far too many to write down.

use threadwise_model::eval::initial_value;
use threadwise_model::system::{CellDomain, CellInitial, Scope, System};

use crate::layout::Layout;

/// The initial states of a system.
#[derive(Clone, Debug)]
pub(crate) struct Initial {
    cells: Vec<i64>,
    /// The cells that begin with any value, with the least and the greatest.
    free: Vec<(u32, i64, i64)>,
    exhausted: bool,
}

/// There are no initial states to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoInitial {
    /// The cell whose initial value is none of its values.
    pub cell: usize,
}

impl Initial {
    /// The initial states of a system. Integers without bounds that begin with any value are between these.
    pub fn new(
        system: &System,
        layout: &Layout,
        integers: (i64, i64),
    ) -> Result<Initial, NoInitial> {
        let mut cells = vec![0; system.cells];
        let mut free = Vec::new();
        for (id, var) in system.vars.iter_enumerated() {
            let copies = match var.scope {
                Scope::Shared => 1,
                Scope::Local(template) => system.templates[template].count,
            };
            for copy in 0..copies {
                let first = var.first.raw() + copy * var.stride;
                let value = initial_value(system, id, copy).ok().flatten();
                for cell in first..first + var.len {
                    let field = &layout.fields[cell as usize];
                    match &var.initial {
                        CellInitial::Any => {
                            let (least, greatest) = match var.domain {
                                CellDomain::Int => integers,
                                _ => {
                                    let least = field.base;
                                    (least, least.wrapping_add_unsigned(field.span))
                                }
                            };
                            cells[cell as usize] = least;
                            if least != greatest {
                                free.push((cell, least, greatest));
                            }
                        }
                        CellInitial::Value(_) => {
                            let value = value.filter(|&value| field.bits(value).is_some());
                            cells[cell as usize] = value.ok_or(NoInitial {
                                cell: cell as usize,
                            })?;
                        }
                    }
                }
            }
        }
        Ok(Initial {
            cells,
            free,
            exhausted: layout.empty,
        })
    }

    /// The next one.
    pub fn next(&mut self) -> Option<Vec<i64>> {
        if self.exhausted {
            return None;
        }
        let state = self.cells.clone();
        self.exhausted = true;
        for &(cell, least, greatest) in &self.free {
            let value = &mut self.cells[cell as usize];
            if *value < greatest {
                *value += 1;
                self.exhausted = false;
                break;
            }
            *value = least;
        }
        Some(state)
    }
}
