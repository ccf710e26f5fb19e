//! States in source terms: `x`, `flag[2]`, `P[1].k`, `Server.k` for cells, and values as people
//! write them; and the way back, for states that come from files.

use std::fmt;

use threadwise_lang::program::{
    BoundId, Domain, ExprType, LocationId, Scalar, TemplateId, Variable,
};

use crate::instance::{Instance, Shape, Values};
use crate::state::{FREE, NONE, ProcessRef, Processes, State};

/// A value as people write it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// `true`, `false`
    Bool(bool),
    /// An integer, or the number of a process.
    Int(i64),
    /// A member of an enumeration, `none`, `free`, or a process: `P[2]`, `Server`.
    Name(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Name(name) => f.write_str(name),
        }
    }
}

/// Why names and values do not make a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Something that is no process.
    #[error("there is no process `{0}`")]
    NoProcess(String),
    /// A label that the process does not have.
    #[error("`{process}` has no label `{label}`")]
    NoLabel {
        /// The process.
        process: String,
        /// The label.
        label: String,
    },
    /// Something that is no cell.
    #[error("there is no variable `{0}`")]
    NoCell(String),
    /// A value outside the type.
    #[error("`{name}` cannot be {value}")]
    NotAValue {
        /// The cell.
        name: String,
        /// The value.
        value: Value,
    },
    /// Something said twice.
    #[error("`{0}` is there twice")]
    Twice(String),
    /// Something not said.
    #[error("`{0}` is missing")]
    Missing(String),
}

/// The names of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    instance: &'a Instance,
}

impl<'a> Names<'a> {
    /// The names of an instance.
    pub fn new(instance: &'a Instance) -> Self {
        Names { instance }
    }

    /// A process: `P[2]`, or `Server` for a single one.
    pub fn process(&self, process: ProcessRef) -> String {
        let name = &self.instance.program().templates[process.template].name;
        if self.instance.is_single(process.template) {
            name.clone()
        } else {
            format!(
                "{name}[{}]",
                self.number(process.template, i64::from(process.index))
            )
        }
    }

    /// The number that people see for the process with this index.
    fn number(&self, template: TemplateId, index: i64) -> i64 {
        // The last number of a range of ids is an `i64`, so that only ids of dynamic templates,
        // which count from 1, could saturate, and there are never so many.
        self.instance.lowest_id(template).saturating_add(index)
    }

    /// The process of this name among those of a state.
    pub fn parse_process(&self, name: &str, state: &State) -> Result<ProcessRef, NameError> {
        let unknown = || NameError::NoProcess(name.to_owned());
        let (template, number) = match name.split_once('[') {
            None => (name, None),
            Some((template, rest)) => (template, Some(rest.strip_suffix(']').ok_or_else(unknown)?)),
        };
        let template = self.template(template).ok_or_else(unknown)?;
        let index = match number {
            None if self.instance.is_single(template) => 0,
            Some(number) if !self.instance.is_single(template) => {
                self.index(template, number).ok_or_else(unknown)?
            }
            _ => return Err(unknown()),
        };
        match u32::try_from(index) {
            Ok(index) if index < state.count(template) => Ok(ProcessRef { template, index }),
            _ => Err(unknown()),
        }
    }

    /// Whether it is a template's name, with or without an index.
    fn is_template(&self, process: &str) -> bool {
        let name = process.split('[').next().unwrap_or_default();
        self.template(name).is_some()
    }

    fn template(&self, name: &str) -> Option<TemplateId> {
        let templates = &self.instance.program().templates;
        templates.indices().find(|id| templates[*id].name == name)
    }

    /// The index of the process with a number; it may be beyond those that exist.
    fn index(&self, template: TemplateId, number: &str) -> Option<i64> {
        let number: i64 = number.parse().ok()?;
        number.checked_sub(self.instance.lowest_id(template))
    }

    /// The name of a label.
    pub fn location(&self, template: TemplateId, location: LocationId) -> &'a str {
        &self.instance.program().templates[template].locations[location].name
    }

    /// The label of this name.
    pub fn parse_location(&self, template: TemplateId, name: &str) -> Option<LocationId> {
        let locations = &self.instance.program().templates[template].locations;
        locations.indices().find(|id| locations[*id].name == name)
    }

    /// Where every process of a state is.
    pub fn locations(&self, state: &State) -> Vec<(String, &'a str)> {
        state
            .processes()
            .map(|process| self.place(state, process))
            .collect()
    }

    /// Every cell of a state with its value.
    pub fn cells(&self, state: &State) -> Vec<(String, Value)> {
        self.select(state, |_, _| true)
    }

    /// The cells whose values differ after a step, and those of processes that it started.
    pub fn changes(&self, before: &State, after: &State) -> Vec<(String, Value)> {
        self.select(after, |process, position| match process {
            None => before.shared[position] != after.shared[position],
            Some(process) => {
                let old = &before.templates[process.template].cells;
                let position =
                    process.index as usize * self.instance.local_cells(process.template) + position;
                old.get(position) != Some(&after.templates[process.template].cells[position])
            }
        })
    }

    /// The processes that a step started, and where they are.
    pub fn started(&self, before: &State, after: &State) -> Vec<(String, &'a str)> {
        after
            .processes()
            .filter(|process| process.index >= before.count(process.template))
            .map(|process| self.place(after, process))
            .collect()
    }

    fn place(&self, state: &State, process: ProcessRef) -> (String, &'a str) {
        let label = self.location(process.template, state.location(process));
        (self.process(process), label)
    }

    /// The cells for which `wanted` (called with the process, if local, and the position) is true.
    fn select(
        &self,
        state: &State,
        wanted: impl Fn(Option<ProcessRef>, usize) -> bool,
    ) -> Vec<(String, Value)> {
        let program = self.instance.program();
        let mut selected = Vec::new();
        for (id, variable) in program.shared.iter_enumerated() {
            let shape = self.instance.shared(id);
            for position in
                (shape.first..shape.first + shape.len).filter(|position| wanted(None, *position))
            {
                let name = format!(
                    "{}{}",
                    variable.name,
                    self.indices(variable, shape, position - shape.first)
                );
                selected.push((name, self.value(&variable.scalar, state.shared[position])));
            }
        }
        for process in state.processes() {
            let stride = self.instance.local_cells(process.template);
            let cells = &state.templates[process.template].cells[process.index as usize * stride..]
                [..stride];
            for (id, variable) in program.templates[process.template].locals.iter_enumerated() {
                let shape = self.instance.local(process.template, id);
                for position in
                    (shape.first..shape.first + shape.len).filter(|at| wanted(Some(process), *at))
                {
                    let name = format!(
                        "{}.{}{}",
                        self.process(process),
                        variable.name,
                        self.indices(variable, shape, position - shape.first)
                    );
                    selected.push((name, self.value(&variable.scalar, cells[position])));
                }
            }
        }
        selected
    }

    /// `[2][idle]`: the indices of the cell at an offset.
    fn indices(&self, variable: &Variable, shape: &Shape, offset: usize) -> String {
        let mut rest = offset;
        let mut indices = Vec::with_capacity(shape.dims.len());
        for (dim, domain) in shape.dims.iter().zip(&variable.dims).rev() {
            let index = dim.lowest + (rest % dim.size as usize) as i64;
            rest /= dim.size as usize;
            indices.push(format!("[{}]", self.element(domain, index)));
        }
        indices.reverse();
        indices.concat()
    }

    fn element(&self, domain: &Domain, index: i64) -> Value {
        match domain {
            Domain::Range(..) => Value::Int(index),
            Domain::Enum(id) => self.member(&self.instance.program().enums[*id].members, index),
            Domain::Template(template) => self.id(*template, index),
        }
    }

    fn member(&self, members: &[String], position: i64) -> Value {
        let name = usize::try_from(position)
            .ok()
            .and_then(|position| members.get(position));
        name.map_or(Value::Int(position), |name| Value::Name(name.clone()))
    }

    fn id(&self, template: TemplateId, index: i64) -> Value {
        if self.instance.is_single(template) {
            Value::Name(self.instance.program().templates[template].name.clone())
        } else {
            Value::Int(self.number(template, index))
        }
    }

    /// The value of a cell as people write it.
    pub fn value(&self, scalar: &Scalar, value: i64) -> Value {
        match scalar {
            Scalar::Bool => Value::Bool(value != 0),
            Scalar::Int | Scalar::Range(..) => Value::Int(value),
            Scalar::Enum(id) => self.member(&self.instance.program().enums[*id].members, value),
            Scalar::OptId(_) if value == NONE => Value::Name("none".to_owned()),
            Scalar::Id(template) | Scalar::OptId(template) => self.id(*template, value),
            Scalar::Mutex => {
                let templates = self.instance.program().templates.len();
                match ProcessRef::from_mutex_code(value) {
                    Some(holder) if holder.template.index() < templates => {
                        Value::Name(self.process(holder))
                    }
                    _ => Value::Name("free".to_owned()),
                }
            }
        }
    }

    /// A bound variable and its value as people write them.
    pub fn bound(&self, bound: BoundId, value: i64) -> (&'a str, Value) {
        let bound = &self.instance.program().bounds[bound];
        (&bound.name, self.typed(bound.ty, value))
    }

    /// The value of an expression of some type as people write it.
    pub fn typed(&self, ty: ExprType, value: i64) -> Value {
        match ty {
            ExprType::Bool => Value::Bool(value != 0),
            ExprType::Int => Value::Int(value),
            ExprType::Enum(id) => self.member(&self.instance.program().enums[id].members, value),
            ExprType::OptId(_) if value == NONE => Value::Name("none".to_owned()),
            ExprType::Id(template) | ExprType::OptId(template) => self.id(template, value),
        }
    }

    /// The state with these locations and cells, each there once.
    pub fn state<'n>(
        &self,
        locations: impl IntoIterator<Item = (&'n str, &'n str)>,
        cells: impl IntoIterator<Item = (&'n str, Value)>,
    ) -> Result<State, NameError> {
        let program = self.instance.program();
        let mut state = State {
            shared: vec![0; self.instance.shared_cells()],
            templates: program
                .templates
                .iter_enumerated()
                .map(|(id, template)| {
                    let count = self.instance.count(id) as usize;
                    Processes {
                        locations: vec![template.entry; count],
                        cells: vec![0; count * self.instance.local_cells(id)],
                    }
                })
                .collect(),
        };
        // The same shape, with 1 for what has been said.
        let mut said = state.clone();
        for template in &mut said.templates {
            template.locations.fill(LocationId::from_raw(0));
        }
        for (name, label) in locations {
            let process = self.parse_process(name, &state)?;
            let location = self
                .parse_location(process.template, label)
                .ok_or_else(|| NameError::NoLabel {
                    process: name.to_owned(),
                    label: label.to_owned(),
                })?;
            state.templates[process.template].locations[process.index as usize] = location;
            let mark = &mut said.templates[process.template].locations[process.index as usize];
            if std::mem::replace(mark, LocationId::from_raw(1)) == LocationId::from_raw(1) {
                return Err(NameError::Twice(name.to_owned()));
            }
        }
        if let Some(process) = said
            .processes()
            .find(|process| said.location(*process) == LocationId::from_raw(0))
        {
            return Err(NameError::Missing(self.process(process)));
        }
        for (name, value) in cells {
            let (process, variable, shape, position) = self.parse_cell(name, &state)?;
            let Some(code) = self.parse_value(variable, shape, &value, &state) else {
                return Err(NameError::NotAValue {
                    name: name.to_owned(),
                    value,
                });
            };
            let (cell, mark) = match process {
                None => (&mut state.shared[position], &mut said.shared[position]),
                Some(process) => {
                    let at = process.index as usize * self.instance.local_cells(process.template)
                        + position;
                    (
                        &mut state.templates[process.template].cells[at],
                        &mut said.templates[process.template].cells[at],
                    )
                }
            };
            *cell = code;
            if std::mem::replace(mark, 1) == 1 {
                return Err(NameError::Twice(name.to_owned()));
            }
        }
        let unsaid = self.select(&said, |process, position| match process {
            None => said.shared[position] == 0,
            Some(process) => {
                let at =
                    process.index as usize * self.instance.local_cells(process.template) + position;
                said.templates[process.template].cells[at] == 0
            }
        });
        match unsaid.into_iter().next() {
            Some((name, _)) => Err(NameError::Missing(name)),
            None => Ok(state),
        }
    }

    /// The cell of this name: its process if it is local, its variable, and its position.
    fn parse_cell(
        &self,
        name: &str,
        state: &State,
    ) -> Result<(Option<ProcessRef>, &'a Variable, &'a Shape, usize), NameError> {
        let unknown = || NameError::NoCell(name.to_owned());
        let program = self.instance.program();
        // What stands before the first full stop is a process, or a shared variable with parts. No process and no such variable have one name.
        let (process, rest) = match name.split_once('.') {
            Some((process, rest)) if self.is_template(process) => (
                Some(self.parse_process(process, state).map_err(|_| unknown())?),
                rest,
            ),
            _ => (None, name),
        };
        let (base, indices) = match rest.find('[') {
            None => (rest, ""),
            Some(at) => rest.split_at(at),
        };
        let (variable, shape) = match process {
            None => {
                let id = program
                    .shared
                    .indices()
                    .find(|id| program.shared[*id].name == base);
                let id = id.ok_or_else(unknown)?;
                (&program.shared[id], self.instance.shared(id))
            }
            Some(process) => {
                let locals = &program.templates[process.template].locals;
                let id = locals
                    .indices()
                    .find(|id| locals[*id].name == base)
                    .ok_or_else(unknown)?;
                (&locals[id], self.instance.local(process.template, id))
            }
        };
        let offset = self
            .parse_indices(variable, shape, indices)
            .ok_or_else(unknown)?;
        Ok((process, variable, shape, shape.first + offset))
    }

    fn parse_indices(&self, variable: &Variable, shape: &Shape, text: &str) -> Option<usize> {
        let mut rest = text;
        let mut offset = 0;
        for (dim, domain) in shape.dims.iter().zip(&variable.dims) {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            rest = after;
            let index = match domain {
                Domain::Range(..) => index.parse().ok()?,
                Domain::Enum(id) => {
                    let members = &self.instance.program().enums[*id].members;
                    members.iter().position(|member| member == index)? as i64
                }
                Domain::Template(template) if self.instance.is_single(*template) => {
                    (self.template(index)? == *template).then_some(0)?
                }
                Domain::Template(template) => self.index(*template, index)?,
            };
            offset = offset * dim.size as usize + dim.offset(index)?;
        }
        rest.is_empty().then_some(offset)
    }

    /// The code of a value of the variable's type, in a state with these processes.
    fn parse_value(
        &self,
        variable: &Variable,
        shape: &Shape,
        value: &Value,
        state: &State,
    ) -> Option<i64> {
        let single = |template: TemplateId| self.instance.is_single(template);
        let code = match (&variable.scalar, value) {
            (Scalar::Bool, Value::Bool(value)) => i64::from(*value),
            (Scalar::Int | Scalar::Range(..), Value::Int(value)) => *value,
            (Scalar::Enum(id), Value::Name(name)) => {
                let members = &self.instance.program().enums[*id].members;
                members.iter().position(|member| member == name)? as i64
            }
            (Scalar::OptId(_), Value::Name(name)) if name == "none" => NONE,
            (Scalar::Id(template) | Scalar::OptId(template), Value::Name(name))
                if single(*template) =>
            {
                (self.template(name)? == *template).then_some(0)?
            }
            (Scalar::Id(template) | Scalar::OptId(template), Value::Int(number))
                if !single(*template) =>
            {
                let index = number.checked_sub(self.instance.lowest_id(*template))?;
                (index >= 0).then_some(index)?
            }
            (Scalar::Mutex, Value::Name(name)) if name == "free" => FREE,
            (Scalar::Mutex, Value::Name(name)) => {
                self.parse_process(name, state).ok()?.mutex_code()
            }
            _ => return None,
        };
        let fits = match shape.values {
            Values::Between(lo, hi) => (lo..=hi).contains(&code),
            Values::Started { template, .. } => code < i64::from(state.count(template)),
            Values::Integers | Values::Mutex => true,
        };
        fits.then_some(code)
    }
}
