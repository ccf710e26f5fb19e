//! A state of an instance, in the shape of the source: the shared cells, and for each template
//! its processes with their locations and local cells.
//!
//! Cells hold integers: truth values are 0 and 1, members of an enumeration count from 0, ids are
//! positions in their template with -1 for `none`, and a mutex is [`FREE`] or the
//! [code](ProcessRef::mutex_code) of its holder. A state is plain data and knows nothing of its
//! instance; `names` prints and parses it in source terms.

use index_vec::IndexVec;
use threadwise_lang::program::{LocationId, TemplateId};

/// `none`, in a cell of an optional id.
pub const NONE: i64 = -1;
/// A free mutex.
pub const FREE: i64 = -1;

/// A process: its template and its position there, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessRef {
    /// The template.
    pub template: TemplateId,
    /// The position among the template's processes.
    pub index: u32,
}

impl ProcessRef {
    /// What a mutex holds while this process has it. It does not depend on how many processes a
    /// dynamic template has by now.
    pub fn mutex_code(self) -> i64 {
        (i64::from(self.template.raw()) << 32) | i64::from(self.index)
    }

    /// The process that a mutex with this value is held by, or nothing if it is free.
    pub fn from_mutex_code(code: i64) -> Option<ProcessRef> {
        let template = u32::try_from(code >> 32).ok()?;
        Some(ProcessRef {
            template: TemplateId::from_raw(template),
            index: (code & 0xffff_ffff) as u32,
        })
    }
}

/// The processes of one template.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Processes {
    /// Where each process is.
    pub locations: Vec<LocationId>,
    /// The local cells, process after process.
    pub cells: Vec<i64>,
}

/// A state of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// The cells of the shared variables, one variable after the other, arrays row by row.
    pub shared: Vec<i64>,
    /// The processes of each template.
    pub templates: IndexVec<TemplateId, Processes>,
}

impl State {
    /// How many processes a template has in this state.
    pub fn count(&self, template: TemplateId) -> u32 {
        self.templates[template].locations.len() as u32
    }

    /// Where a process is.
    pub fn location(&self, process: ProcessRef) -> LocationId {
        self.templates[process.template].locations[process.index as usize]
    }

    /// Every process, template by template.
    pub fn processes(&self) -> impl Iterator<Item = ProcessRef> + '_ {
        self.templates.indices().flat_map(|template| {
            (0..self.count(template)).map(move |index| ProcessRef { template, index })
        })
    }
}
