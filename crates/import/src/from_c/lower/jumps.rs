//! Where the jumps of a function lead: back, and over declarations.
//!
//! A variable whose declaration is jumped over has any value, whatever its declaration says. That is refused if the variable may be read behind the jump.

use lang_c::ast::{
    BlockItem, Declaration, DeclarationSpecifier, Identifier, Label, LabeledStatement, Statement,
    StorageClassSpecifier, SwitchStatement,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};

use super::declare::name_of;

/// A variable of the function, from where it is declared until its block ends.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    end: usize,
}

/// A place that control goes to, or comes from, with the variables that there are.
struct Spot {
    name: String,
    span: Span,
    open: Vec<Variable>,
    /// Where the loops around it begin.
    loops: Vec<usize>,
    /// The items of blocks that it is in, from the outside.
    items: Vec<Span>,
}

/// The jumps of a function.
#[derive(Default)]
pub(super) struct Jumps {
    labels: Vec<Spot>,
    jumps: Vec<Spot>,
    mentioned: Vec<(String, usize)>,
    open: Vec<Variable>,
    loops: Vec<usize>,
    items: Vec<Span>,
    /// `switch` statements around, each by its number.
    switches: Vec<usize>,
    numbers: usize,
}

impl Jumps {
    pub(super) fn of(statement: &Node<Statement>) -> Jumps {
        let mut jumps = Jumps::default();
        jumps.visit_statement(&statement.node, &statement.span);
        jumps
    }

    /// Whether a `goto` leads back.
    pub(super) fn back(&self) -> bool {
        self.pairs()
            .any(|(jump, label)| label.span.start < jump.span.start)
    }

    /// The stretches of text that a `goto` may lead back over: whole items of the innermost block around the label and the `goto`.
    pub(super) fn repeated(&self) -> Vec<(usize, usize)> {
        self.pairs()
            .filter(|(jump, label)| label.span.start < jump.span.start)
            .map(|(jump, label)| {
                let mut items = label.items.iter().zip(&jump.items);
                match items.find(|(first, last)| first != last) {
                    Some((first, last)) => (first.start, last.end),
                    // One of them is in the item of the other.
                    None => match label.items.len().min(jump.items.len()) {
                        0 => (0, usize::MAX),
                        common => (label.items[common - 1].start, label.items[common - 1].end),
                    },
                }
            })
            .collect()
    }

    /// Where the jumps are, and the labels that they lead to.
    pub(super) fn leads(&self) -> Vec<(Span, Span)> {
        let each = self.pairs();
        each.map(|(jump, label)| (jump.span, label.span)).collect()
    }

    /// A jump over the declaration of a variable that may be read behind it.
    pub(super) fn over(&self) -> Option<(Span, &str)> {
        let back = self.back();
        self.pairs().find_map(|(jump, label)| {
            let skipped = label
                .open
                .iter()
                .filter(|variable| jump.open.iter().all(|open| open.end != variable.end));
            let read = |variable: &&Variable| {
                // A loop around the label may come to what stands in front of it.
                let outer = label.loops.iter().find(|begin| **begin >= variable.end);
                let begin = outer.copied().unwrap_or(label.span.start);
                let begin = if back { variable.end } else { begin };
                self.mentioned
                    .iter()
                    .any(|(name, at)| *name == variable.name && *at >= begin)
            };
            let variable = skipped.into_iter().find(read)?;
            Some((jump.span, variable.name.as_str()))
        })
    }

    fn pairs(&self) -> impl Iterator<Item = (&Spot, &Spot)> {
        self.jumps.iter().flat_map(|jump| {
            let leads = move |label: &&Spot| label.name == jump.name;
            self.labels
                .iter()
                .filter(leads)
                .map(move |label| (jump, label))
        })
    }

    fn spot(&self, name: String, span: Span) -> Spot {
        Spot {
            name,
            span,
            open: self.open.clone(),
            loops: self.loops.clone(),
            items: self.items.clone(),
        }
    }

    /// The name of the places in a `switch`, which no label has.
    fn of_switch(number: usize) -> String {
        format!("switch {number}")
    }
}

impl<'ast> Visit<'ast> for Jumps {
    fn visit_block_item(&mut self, node: &'ast BlockItem, span: &'ast Span) {
        self.items.push(*span);
        visit::visit_block_item(self, node, span);
        self.items.pop();
    }

    fn visit_statement(&mut self, node: &'ast Statement, span: &'ast Span) {
        let (open, loops) = (self.open.len(), self.loops.len());
        match node {
            Statement::Goto(name) => {
                self.jumps.push(self.spot(name.node.name.clone(), *span));
                return;
            }
            Statement::While(_) | Statement::DoWhile(_) | Statement::For(_) => {
                self.loops.push(span.start);
            }
            _ => {}
        }
        visit::visit_statement(self, node, span);
        self.open.truncate(open);
        self.loops.truncate(loops);
    }

    fn visit_declaration(&mut self, node: &'ast Declaration, span: &'ast Span) {
        visit::visit_declaration(self, node, span);
        let lasting = node.specifiers.iter().any(|specifier| {
            matches!(&specifier.node, DeclarationSpecifier::StorageClass(class)
                if matches!(class.node, StorageClassSpecifier::Static | StorageClassSpecifier::Extern | StorageClassSpecifier::Typedef))
        });
        if lasting {
            return;
        }
        for declared in &node.declarators {
            if let Some(name) = name_of(&declared.node.declarator.node) {
                self.open.push(Variable {
                    name: name.to_owned(),
                    end: declared.span.end,
                });
            }
        }
    }

    fn visit_labeled_statement(&mut self, node: &'ast LabeledStatement, span: &'ast Span) {
        let name = match &node.label.node {
            Label::Identifier(name) => Some(name.node.name.clone()),
            _ => self.switches.last().map(|number| Jumps::of_switch(*number)),
        };
        if let Some(name) = name {
            self.labels.push(self.spot(name, *span));
        }
        visit::visit_labeled_statement(self, node, span);
    }

    fn visit_switch_statement(&mut self, node: &'ast SwitchStatement, span: &'ast Span) {
        self.numbers += 1;
        let number = self.numbers;
        self.jumps.push(self.spot(Jumps::of_switch(number), *span));
        self.switches.push(number);
        visit::visit_switch_statement(self, node, span);
        self.switches.pop();
    }

    fn visit_identifier(&mut self, node: &'ast Identifier, span: &'ast Span) {
        self.mentioned.push((node.name.clone(), span.start));
        visit::visit_identifier(self, node, span);
    }
}
