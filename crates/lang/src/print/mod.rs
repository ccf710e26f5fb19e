//! A checked program as text of our language: what `threadwise import` shows.
//!
//! The text says the program and nothing else: checking it gives the program again, but for places in the text, for macros (which are
//! expanded), and for names of bound variables where two of one name would hide each other. Coercions are not written, since the checker puts them
//! in; brackets stand where the grammar needs them, around conjunctions in disjunctions, and around quantifiers that are operands. Spaces and
//! alignment are left to the formatter, so that there is one opinion about them.

mod expressions;
mod statements;

use std::borrow::Cow;
use std::collections::HashSet;

use crate::program::*;
use expressions::Names;

/// An item of a text, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A comment on lines of its own.
    Comment(String),
    /// An empty line.
    Blank,
    /// A parameter.
    Param(ParamId),
    /// An enumeration.
    Enum(EnumId),
    /// A shared variable.
    Shared(SharedId),
    /// A definition.
    Def(DefId),
    /// A process template.
    Template(TemplateId),
    /// A fairness declaration.
    Fairness(FairnessId),
    /// A property, by its position.
    Property(usize),
    /// What holds in initial states.
    Initially,
    /// All exceptions.
    Exceptions,
}

/// In which order the items of a program are written, and what is written beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The items, each with the comment behind it.
    pub items: Vec<(Item, Option<String>)>,
    /// Whether an atomic block of one simple statement stands on one line.
    pub short_atomic: bool,
}

impl Layout {
    /// An order for a program without one: declarations by kind, then processes, then what is said about them.
    pub fn of(program: &Program) -> Layout {
        let mut layout = Layout {
            short_atomic: true,
            ..Layout::default()
        };
        for directive in &program.directives {
            layout.add(Item::Comment(format!("@ {}", directive.text)));
        }
        let groups: [Vec<Item>; 4] = [
            program.params.indices().map(Item::Param).collect(),
            program.enums.indices().map(Item::Enum).collect(),
            program.shared.indices().map(Item::Shared).collect(),
            program.defs.indices().map(Item::Def).collect(),
        ];
        for group in groups {
            layout.group(group);
        }
        for template in program.templates.indices() {
            layout.group(vec![Item::Template(template)]);
        }
        if !program.initially.is_empty() {
            layout.group(vec![Item::Initially]);
        }
        let fairness = program.fairness.indices().map(Item::Fairness);
        layout.group(fairness.collect());
        let mut said: Vec<Item> = (0..program.properties.len()).map(Item::Property).collect();
        if let Some(first) = program.exceptions.first() {
            let before = |property: &&Property| property.span < first.span;
            let position = program.properties.iter().take_while(before).count();
            said.insert(position, Item::Exceptions);
        }
        layout.group(said);
        layout
    }

    /// Adds an item behind the others.
    pub fn add(&mut self, item: Item) {
        self.items.push((item, None));
    }

    fn group(&mut self, items: Vec<Item>) {
        if !self.items.is_empty() && !items.is_empty() {
            self.add(Item::Blank);
        }
        items.into_iter().for_each(|item| self.add(item));
    }
}

/// A program as formatted text.
pub fn print(program: &Program, layout: &Layout) -> String {
    let program = &*plain(program);
    let mut printer = Printer {
        layout,
        names: Names::new(program),
        text: String::new(),
    };
    for (item, comment) in &layout.items {
        printer.item(item);
        if let Some(comment) = comment {
            printer.comment_behind(comment);
        }
    }
    // The formatter refuses only what does not parse; then something is wrong with the program, and the text shows it.
    crate::format(&printer.text).unwrap_or(printer.text)
}

/// The program with names that can be declared: the parts of records and queues have names of their own in a text, `q_length` for `q.length`.
pub fn plain(program: &Program) -> Cow<'_, Program> {
    let mut locals = program.templates.iter().flat_map(|t| &t.locals);
    if !program.shared.iter().any(is_part) && !locals.any(is_part) {
        return Cow::Borrowed(program);
    }
    let mut taken: HashSet<String> = HashSet::new();
    let variables = |program: &Program| -> Vec<String> {
        let locals = program.templates.iter().flat_map(|t| &t.locals);
        let all = program.shared.iter().chain(locals);
        all.map(|variable| variable.name.clone()).collect()
    };
    taken.extend(variables(program));
    taken.extend(program.params.iter().map(|known| known.name.clone()));
    taken.extend(program.enums.iter().map(|known| known.name.clone()));
    taken.extend(program.enums.iter().flat_map(|known| known.members.clone()));
    taken.extend(program.templates.iter().map(|known| known.name.clone()));
    taken.extend(program.templates.iter().filter_map(|t| t.id_name.clone()));
    taken.extend(program.defs.iter().map(|known| known.name.clone()));
    taken.extend(program.bounds.iter().map(|known| known.name.clone()));
    let mut program = program.clone();
    let locals = program.templates.iter_mut().flat_map(|t| &mut t.locals);
    for variable in program.shared.iter_mut().chain(locals) {
        if is_part(variable) {
            let mut name = variable.name.replace('.', "_");
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            variable.name = name;
        }
    }
    Cow::Owned(program)
}

fn is_part(variable: &Variable) -> bool {
    variable.name.contains('.')
}

/// An expression that stands outside of templates' bodies.
pub fn expression(program: &Program, value: &Expr) -> String {
    Names::new(program).whole(value)
}

/// The same with values in the place of bound variables.
pub fn with_values(program: &Program, value: &Expr, values: &[(BoundId, String)]) -> String {
    let mut names = Names::new(program);
    for (bound, value) in values {
        names.stands_for(*bound, value);
    }
    names.whole(value)
}

/// A property on one line.
pub fn property(program: &Program, property: &Property) -> String {
    Names::new(program).property(property)
}

struct Printer<'p> {
    layout: &'p Layout,
    names: Names<'p>,
    text: String,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Puts a comment behind the last line, or behind the first line of a process.
    fn comment_behind(&mut self, comment: &str) {
        self.text.pop();
        self.line(&format!(" // {comment}"));
    }

    fn item(&mut self, item: &Item) {
        let program = self.names.program;
        match item {
            Item::Comment(text) => self.line(&format!("//{text}")),
            Item::Blank => self.line(""),
            Item::Param(id) => self.param(&program.params[*id]),
            Item::Enum(id) => {
                let known = &program.enums[*id];
                let members = known.members.join(", ");
                self.line(&format!("enum {} {{ {members} }}", known.name));
            }
            Item::Shared(id) => self.variable("shared", &program.shared[*id]),
            Item::Def(id) => self.def(&program.defs[*id]),
            Item::Template(id) => self.template(*id),
            Item::Fairness(id) => {
                let text = self.names.fairness(&program.fairness[*id]);
                self.line(&text);
            }
            Item::Property(position) => {
                let text = self.names.property(&program.properties[*position]);
                self.line(&text);
            }
            Item::Initially => {
                for predicate in &program.initially {
                    let text = self.names.whole(predicate);
                    self.line(&format!("initially {text};"));
                }
            }
            Item::Exceptions => {
                self.line("exception {");
                for predicate in &program.exceptions {
                    let text = self.names.whole(predicate);
                    self.line(&format!("{text};"));
                }
                self.line("}");
            }
        }
    }

    fn param(&mut self, param: &Param) {
        let mut text = format!("param {}", param.name);
        if let Some(value) = &param.default {
            text += &format!(" = {}", self.names.whole(value));
        }
        if let Some(condition) = &param.constraint {
            text += &format!(" where {}", self.names.whole(condition));
        }
        self.line(&format!("{text};"));
    }

    /// A declaration; `word` says whose.
    fn variable(&mut self, word: &str, variable: &Variable) {
        let mut ty = String::new();
        for dim in &variable.dims {
            ty += &format!("array[{}] of ", self.names.domain(dim));
        }
        ty += &self.names.scalar(&variable.scalar);
        let initial = match &variable.initial {
            Initial::Any => " = any".to_owned(),
            Initial::Value(value) => format!(" = {}", self.names.whole(value)),
            Initial::Free | Initial::Given => String::new(),
        };
        self.line(&format!("{word} {}: {ty}{initial};", variable.name));
    }

    fn def(&mut self, def: &Def) {
        let program = self.names.program;
        let params: Vec<String> = def
            .params
            .iter()
            .map(|id| {
                let ty = self.names.ty(program.bounds[*id].ty);
                format!("{}: {ty}", self.names.bind(*id))
            })
            .collect();
        let body = self.names.whole(&def.body);
        def.params.iter().for_each(|_| self.names.unbind());
        let params = match params.is_empty() {
            true => String::new(),
            false => format!("({})", params.join(", ")),
        };
        self.line(&format!("def {}{params} = {body};", def.name));
    }
}
