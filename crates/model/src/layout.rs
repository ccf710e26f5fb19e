//! Between the two shapes of a state: the interpreter's, by template and process, and the flat
//! vector of cells that engines work on. Also the names of cells, as a reader of the source would write them.

use index_vec::IndexVec;
use threadwise_lang::program::{LocationId, TemplateId};

use crate::instance::Instance;
use crate::state::{FREE, ProcessRef, Processes, State};
use crate::system::{CellDomain, CellId, Dim, DimKind, ProcessId, Scope, System, SystemVar, VarId};

/// The number of a process in the system.
pub fn process_id(system: &System, process: ProcessRef) -> ProcessId {
    system.templates[process.template].first + process.index as usize
}

/// The process with this number.
pub fn process_ref(system: &System, process: ProcessId) -> ProcessRef {
    ProcessRef {
        template: system.template_of(process),
        index: system.index_of(process),
    }
}

/// A state as a vector of cells; `None` if a dynamic template has more processes than the system has room for.
pub fn flatten(system: &System, state: &State) -> Option<Vec<i64>> {
    let mut cells = vec![0; system.cells];
    let mut shared = state.shared.iter();
    for (id, var) in system.vars.iter_enumerated() {
        match var.scope {
            Scope::Shared => {
                for offset in 0..var.len {
                    cells[system.cell(id, 0, offset).index()] = code(system, var, *shared.next()?);
                }
            }
            Scope::Local(template) => {
                let processes = &state.templates[template];
                let shape = &system.templates[template];
                if processes.locations.len() > shape.count as usize {
                    return None;
                }
                let stride = var.stride as usize - 1;
                // The program counter is the first cell of a copy, and is kept apart in a `State`.
                let first = (var.first - system.vars[shape.pc].first).index();
                for copy in 0..shape.count {
                    let started = (copy as usize) < processes.locations.len();
                    for offset in 0..var.len {
                        let value = if id == shape.pc {
                            match processes.locations.get(copy as usize) {
                                Some(location) => i64::from(location.raw()),
                                None => shape.unstarted(),
                            }
                        } else if started {
                            let position = copy as usize * stride + first - 1 + offset as usize;
                            code(system, var, *processes.cells.get(position)?)
                        } else {
                            waiting(system, var)
                        };
                        cells[system.cell(id, copy, offset).index()] = value;
                    }
                }
            }
        }
    }
    Some(cells)
}

/// A vector of cells as a state.
pub fn unflatten(system: &System, cells: &[i64]) -> State {
    let mut state = State::default();
    for (id, var) in system.vars.iter_enumerated() {
        if var.scope == Scope::Shared {
            for offset in 0..var.len {
                let value = cells[system.cell(id, 0, offset).index()];
                state.shared.push(decode(system, var, value));
            }
        }
    }
    for (template, shape) in system.templates.iter_enumerated() {
        let mut processes = Processes::default();
        for copy in 0..shape.count {
            let pc = cells[system.cell(shape.pc, copy, 0).index()];
            if pc == shape.unstarted() {
                continue;
            }
            processes.locations.push(LocationId::new(pc as usize));
            for (id, var) in locals(system, template) {
                for offset in 0..var.len {
                    let value = cells[system.cell(id, copy, offset).index()];
                    processes.cells.push(decode(system, var, value));
                }
            }
        }
        state.templates.push(processes);
    }
    state
}

/// The local variables of a template, the program counter excepted.
fn locals(system: &System, template: TemplateId) -> impl Iterator<Item = (VarId, &SystemVar)> {
    let pc = system.templates[template].pc;
    system
        .vars
        .iter_enumerated()
        .skip(pc.index() + 1)
        .take_while(move |(_, var)| var.scope == Scope::Local(template))
        .filter(|(_, var)| !matches!(var.domain, CellDomain::Location(_)))
}

/// What a cell of a process that is not started yet holds.
fn waiting(system: &System, var: &SystemVar) -> i64 {
    match &var.initial {
        crate::system::CellInitial::Value(expr) => crate::eval::Context::of_state(system, &[])
            .value(expr)
            .unwrap_or(0),
        crate::system::CellInitial::Any => 0,
    }
}

fn code(system: &System, var: &SystemVar, value: i64) -> i64 {
    match var.domain {
        CellDomain::Mutex => ProcessRef::from_mutex_code(value)
            .map_or(-1, |holder| i64::from(process_id(system, holder).raw())),
        _ => value,
    }
}

fn decode(system: &System, var: &SystemVar, value: i64) -> i64 {
    match (var.domain, u32::try_from(value)) {
        (CellDomain::Mutex, Ok(process)) => {
            process_ref(system, ProcessId::from_raw(process)).mutex_code()
        }
        (CellDomain::Mutex, Err(_)) => FREE,
        _ => value,
    }
}

/// The variable that a cell belongs to, the index of its copy, and the offset in it.
pub fn locate(system: &System, cell: CellId) -> Option<(VarId, u32, u32)> {
    system.vars.iter_enumerated().find_map(|(id, var)| {
        let distance = cell.index().checked_sub(var.first.index())? as u32;
        let (copy, offset) = match var.scope {
            Scope::Shared => (0, distance),
            Scope::Local(template) => {
                let copy = distance / var.stride;
                if copy >= system.templates[template].count {
                    return None;
                }
                (copy, distance % var.stride)
            }
        };
        (offset < var.len).then_some((id, copy, offset))
    })
}

/// The name of a cell: `x`, `turn[2]`, `P[3].ticket`, `P[3].pc`.
pub fn cell_name(instance: &Instance, system: &System, cell: CellId) -> String {
    let Some((id, copy, offset)) = locate(system, cell) else {
        return format!("cell {}", cell.index());
    };
    let var = &system.vars[id];
    let mut name = String::new();
    if let Scope::Local(template) = var.scope {
        name.push_str(&process_name(
            system,
            system.templates[template].first + copy as usize,
        ));
        name.push('.');
    }
    name.push_str(&var.name);
    let mut rest = offset;
    let mut indices = Vec::new();
    for dim in var.dims.iter().rev() {
        let index = i64::from(rest % dim.size);
        rest /= dim.size;
        indices.push(match dim.kind {
            DimKind::Range(lo) => (lo + index).to_string(),
            DimKind::Template(template) => {
                (system.templates[template].lowest_id + index).to_string()
            }
            DimKind::Enum(id) => instance
                .program()
                .enums
                .get(threadwise_lang::program::EnumId::from_raw(id))
                .and_then(|e| e.members.get(index as usize))
                .cloned()
                .unwrap_or_else(|| index.to_string()),
        });
    }
    for index in indices.iter().rev() {
        name.push_str(&format!("[{index}]"));
    }
    name
}

/// The name of a process: `P[3]`, or `Server` for a single one.
pub fn process_name(system: &System, process: ProcessId) -> String {
    let template = &system.templates[system.template_of(process)];
    if template.single {
        template.name.clone()
    } else {
        let index = process.raw() - template.first.raw();
        format!(
            "{}[{}]",
            template.name,
            template.lowest_id + i64::from(index)
        )
    }
}

/// The process that an array cell belongs to: by the first dimension whose indices are ids.
pub fn array_owner(dims: &[Dim], offset: u32) -> Option<(TemplateId, u32)> {
    let mut stride: u32 = dims.iter().map(|dim| dim.size).product();
    for dim in dims {
        stride /= dim.size.max(1);
        if let DimKind::Template(template) = dim.kind {
            return Some((template, offset / stride.max(1) % dim.size.max(1)));
        }
    }
    None
}

/// The process that each cell belongs to; `None` for shared cells.
pub fn owners(system: &System) -> IndexVec<CellId, Option<ProcessId>> {
    let mut owners = index_vec::index_vec![None; system.cells];
    for (id, var) in system.vars.iter_enumerated() {
        let Scope::Local(template) = var.scope else {
            continue;
        };
        for index in 0..system.templates[template].count {
            let process = system.templates[template].first + index as usize;
            for offset in 0..var.len {
                owners[system.cell(id, index, offset)] = Some(process);
            }
        }
    }
    owners
}
