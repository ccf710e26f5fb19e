//! Labels, and what is said about processes that may be declared further down.
//!
//! A label of an inline's body belongs to one call of it: called twice, the inline gives two labels, and a `goto` inside
//! means the one of its own call. In the tree every label of a process has a name of its own: the second `l` becomes `l_2`.

use std::collections::{HashMap, HashSet};

use threadwise_lang::diagnostics::Code;
use threadwise_lang::suggest::closest;

use super::remarks::{Parsed, related, remark};
use super::scopes::Known;
use super::syntax::{At, Name, Statement, StatementKind};
use crate::Remark;

struct Label {
    at: At,
    text: String,
    /// Its name in the tree.
    unique: String,
}

/// The labels of one process, to be found by what the text says.
#[derive(Default)]
struct Table {
    labels: Vec<Label>,
    /// For each text, the labels that have it.
    named: HashMap<String, Vec<usize>>,
    of_call: HashMap<(String, u32), usize>,
    unique: HashSet<String>,
}

/// What is known of a process that was read.
pub(crate) struct Process {
    labels: Table,
    pub(crate) variables: Vec<(String, u32, Known)>,
}

pub(crate) struct Labels {
    /// For each call of an inline, the one it stands in.
    within: Vec<u32>,
    current: Table,
    /// The calls that the `goto`s of the current process stand in, in order of appearance.
    jumps: Vec<u32>,
    pub(crate) processes: HashMap<String, Process>,
    /// `P@label`, looked up at the end.
    pub(crate) remote: Vec<(Name, Name)>,
    /// `run P`, looked up at the end.
    pub(crate) run: Vec<(Name, usize)>,
}

impl Labels {
    pub(crate) fn new(within: Vec<u32>) -> Labels {
        Labels {
            within,
            current: Table::default(),
            jumps: Vec::new(),
            processes: HashMap::new(),
            remote: Vec::new(),
            run: Vec::new(),
        }
    }

    /// Declares a label of the current process, and gives its name in the tree.
    pub(crate) fn declare(&mut self, name: &Name, call: u32) -> Parsed<Name> {
        let text = &name.text;
        let table = &mut self.current;
        if let Some(earlier) = table.of_call.get(&(text.clone(), call)) {
            let earlier = &table.labels[*earlier];
            let message = format!("a second label `{text}` in this process");
            let message = remark(name.at, Code::LabelTwice, message, "rename one of them");
            return Err(related(message, earlier.at, "the first"));
        }
        let index = table.labels.len();
        let same = table.named.entry(text.clone()).or_default();
        same.push(index);
        let mut unique = if same.len() == 1 {
            text.clone()
        } else {
            format!("{text}_{}", same.len())
        };
        if !table.unique.insert(unique.clone()) {
            // Taken by the copy of another label: the place in the list makes it unlike all of these.
            unique = format!("{text}__{index}");
            while !table.unique.insert(unique.clone()) {
                unique.push('_');
            }
        }
        table.of_call.insert((text.clone(), call), index);
        table.labels.push(Label {
            at: name.at,
            text: text.clone(),
            unique: unique.clone(),
        });
        Ok(Name {
            at: name.at,
            text: unique,
        })
    }

    /// Notes the call that a `goto` stands in.
    pub(crate) fn jump(&mut self, call: u32) {
        self.jumps.push(call);
    }

    /// Ends the current process: its `goto`s get the names of their labels.
    pub(crate) fn finish(
        &mut self,
        process: &str,
        body: &mut [Statement],
        variables: Vec<(String, u32, Known)>,
    ) -> Vec<Remark> {
        let mut errors = Vec::new();
        let jumps = std::mem::take(&mut self.jumps);
        let mut jumps = jumps.iter();
        for_each_goto(body, &mut |target| {
            let call = jumps.next().copied().unwrap_or(0);
            match self.target(&target.text, call) {
                Some(label) => target.text = label.unique.clone(),
                // Enough is enough: each message looks for names that are close.
                None if errors.len() < 20 => errors.push(*self.unknown(target, &self.current)),
                None => {}
            }
        });
        let labels = std::mem::take(&mut self.current);
        self.processes
            .insert(process.to_string(), Process { labels, variables });
        errors
    }

    /// The label that a `goto` of a call means: that of the call itself, or of one around it.
    fn target(&self, text: &str, call: u32) -> Option<&Label> {
        let table = &self.current;
        let named = table.named.get(text)?;
        let mut around = call;
        loop {
            if let Some(found) = table.of_call.get(&(text.to_string(), around)) {
                return table.labels.get(*found);
            }
            if around == 0 {
                return if named.len() == 1 {
                    table.labels.get(named[0])
                } else {
                    None
                };
            }
            around = self.within.get(around as usize).copied().unwrap_or(0);
        }
    }

    fn unknown(&self, name: &Name, table: &Table) -> Box<Remark> {
        let several = table.named.contains_key(&name.text);
        let message = if several {
            format!("more than one label `{}` could be meant", name.text)
        } else {
            format!("there is no label `{}` in the process", name.text)
        };
        let help = match closest(
            &name.text,
            table.labels.iter().map(|label| label.text.clone()),
        ) {
            Some(close) if !several => format!("did you mean `{close}`?"),
            _ => "set the label in the process itself, outside inlines".to_string(),
        };
        remark(name.at, Code::UnknownLabel, message, help)
    }

    /// Looks at a `P@label` after the whole program was read.
    pub(crate) fn check_remote(&self, process: &Name, label: &Name) -> Parsed<()> {
        let found = self
            .processes
            .get(&process.text)
            .ok_or_else(|| self.unknown_process(process))?;
        // A single label keeps its name in the tree, unless a copy of another has it.
        match found.labels.named.get(&label.text).map(|named| &named[..]) {
            Some([only]) if found.labels.labels[*only].unique == label.text => Ok(()),
            _ => Err(self.unknown(label, &found.labels)),
        }
    }

    pub(crate) fn unknown_process(&self, name: &Name) -> Box<Remark> {
        let mut names: Vec<String> = self
            .processes
            .keys()
            .filter(|name| !name.contains(' '))
            .cloned()
            .collect();
        names.sort();
        let help = match closest(&name.text, names) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("declare it: `proctype {}(..) {{ .. }}`", name.text),
        };
        remark(
            name.at,
            Code::NotAProcess,
            format!("there is no proctype `{}`", name.text),
            help,
        )
    }
}

/// Visits the targets of `goto`s in order of appearance.
fn for_each_goto(statements: &mut [Statement], visit: &mut dyn FnMut(&mut Name)) {
    for statement in statements {
        match &mut statement.kind {
            StatementKind::Goto(name) => visit(name),
            StatementKind::If(options) | StatementKind::Do(options) => {
                for option in options {
                    for_each_goto(option, visit);
                }
            }
            StatementKind::Atomic(body)
            | StatementKind::DStep(body)
            | StatementKind::Block(body) => {
                for_each_goto(body, visit);
            }
            StatementKind::Unless(main, escape) => {
                for_each_goto(main, visit);
                for_each_goto(escape, visit);
            }
            StatementKind::Declare(_)
            | StatementKind::Assign(..)
            | StatementKind::Add(..)
            | StatementKind::Test(_)
            | StatementKind::Assert(_)
            | StatementKind::Print(_)
            | StatementKind::Else
            | StatementKind::Break
            | StatementKind::Send { .. }
            | StatementKind::Receive { .. } => {}
        }
    }
}
