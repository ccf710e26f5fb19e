//! Random programs that the front end accepts, over the whole language.
//!
//! A program is text, written from the top: templates are drafted first, since types mention them,
//! then variables, definitions and macros, then bodies, then properties that know the labels. Half of the
//! programs are *careful*: they clamp what they write, index only where it is safe, and claim little, so that many of
//! them have no violation. The others do as they please.
//!
//! Blocking statements stand only where the language allows them: at the beginning of a step, behind
//! conditions that cannot fail.

mod body;
mod everybody;
mod expr;
mod live;
mod sharp;

pub use live::generate_live;

use crate::random::Random;

/// A type of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ty {
    Bool,
    Range(i64, i64),
    Int,
    Enum,
    Id(usize),
    Opt(usize),
    Mutex,
}

/// What an array dimension or a bound variable ranges over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dom {
    Range(i64, i64),
    Enum,
    Template(usize),
}

#[derive(Clone, Debug)]
struct Var {
    name: String,
    dims: Vec<Dom>,
    ty: Ty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Unordered,
    Ordered,
    Ring,
    Single,
    Dynamic,
}

#[derive(Clone, Debug)]
struct Draft {
    name: String,
    form: Form,
    count: i64,
    /// The upper bound as it is written.
    upper: String,
    locals: Vec<Var>,
    /// How many of them, the first ones, are given by whoever starts a process.
    given: usize,
    labels: Vec<String>,
}

#[derive(Clone, Debug)]
struct Def {
    name: String,
    params: Vec<Ty>,
    result: Ty,
    /// Says where processes are: for properties only.
    property: bool,
    /// What it says, and what the definitions say that it calls.
    body: String,
}

const MEMBERS: [&str; 3] = ["red", "green", "blue"];

/// Where an expression or statement stands.
#[derive(Clone, Debug)]
struct Scope {
    /// The template whose text it is; `None` in definitions and properties.
    own: Option<usize>,
    property: bool,
    /// Whether evaluation may fail a check.
    may_fail: bool,
    bound: Vec<(String, Ty)>,
}

impl Scope {
    fn safe(&self) -> Scope {
        Scope {
            may_fail: false,
            ..self.clone()
        }
    }

    fn with(&self, name: &str, ty: Ty) -> Scope {
        let mut scope = self.clone();
        scope.bound.push((name.to_owned(), ty));
        scope
    }
}

struct Generator {
    random: Random,
    careful: bool,
    n: i64,
    templates: Vec<Draft>,
    shared: Vec<Var>,
    defs: Vec<Def>,
    /// Whether quantifiers stand where a misreading of one shows.
    sharp: bool,
    /// Whether the definition `holds` is there, which is always true and says so with quantifiers.
    holds: bool,
    /// Names given out so far.
    names: usize,
    /// Cells that begin with any value: few, or there are too many initial states.
    any_cells: usize,
    /// The variables that begin with any value, with their owners.
    any: Vec<(Var, Option<usize>)>,
    /// Whether there are loops for everybody, and arrays for them.
    everybody: bool,
    /// Variables that may not be mentioned now.
    hidden: Vec<String>,
    /// Loops for everybody since the last label: what is read after several of them is large.
    loops: usize,
}

/// The program with this seed.
pub fn generate(seed: u64) -> String {
    program(seed, false, false)
}

/// The program with this seed, with quantifiers in which every slip shows: see `sharp.rs`.
pub fn generate_sharp(seed: u64) -> String {
    program(seed, true, false)
}

/// The program with this seed, with loops for everybody: see `everybody.rs`.
pub fn generate_for_everybody(seed: u64) -> String {
    program(seed, false, true)
}

fn program(seed: u64, sharp: bool, everybody: bool) -> String {
    let mut random = Random::new(seed);
    let careful = random.percent(55);
    let n = random.between(2, 3);
    let mut generator = Generator {
        random,
        careful,
        n,
        templates: Vec::new(),
        shared: Vec::new(),
        defs: Vec::new(),
        sharp,
        holds: false,
        names: 0,
        any_cells: 0,
        any: Vec::new(),
        everybody,
        hidden: Vec::new(),
        loops: 0,
    };
    generator.program()
}

impl Generator {
    fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn program(&mut self) -> String {
        let mut text = format!("param N = {0} where N >= {0};\n", self.n);
        text.push_str("enum Colour { red, green, blue }\ntype Small = 0..3;\n");
        self.draft_templates();
        let count = 3 + self.random.below(4);
        let mut declarations = String::new();
        for _ in 0..count {
            let var = self.variable("s", None);
            declarations.push_str(&self.declaration("shared", &var, None));
            self.shared.push(var);
        }
        let mutex = Var {
            name: self.fresh("m"),
            dims: if self.random.percent(25) {
                vec![Dom::Range(0, 1)]
            } else {
                vec![]
            },
            ty: Ty::Mutex,
        };
        declarations.push_str(&self.declaration("shared", &mutex, None));
        self.shared.push(mutex);
        text.push_str(&declarations);
        for _ in 0..1 + self.random.below(2) {
            text.push_str(&self.definition());
        }
        if self.sharp {
            text.push_str(&self.sharp_definition());
        }
        // `set` and `pause` fit every place and condition; `hop` has labels, so it is used once in a process.
        text.push_str("macro set(place, value) { place := value; }\n");
        text.push_str("macro pause(condition) { await condition; skip; }\n");
        text.push_str("macro hop(place, value) { hop1: skip; hop2: set(place, value); }\n");
        for template in 0..self.templates.len() {
            text.push_str(&self.template(template));
        }
        text.push_str(&self.properties());
        text
    }

    fn draft_templates(&mut self) {
        let mut forms = vec![match self.random.below(10) {
            0..5 => Form::Unordered,
            5..8 => Form::Ordered,
            _ => Form::Ring,
        }];
        match self.random.below(10) {
            0..3 => forms.push(Form::Single),
            3..5 => forms.push(Form::Dynamic),
            5 => forms.push(Form::Ordered),
            6 => forms.extend([Form::Single, Form::Dynamic]),
            _ => {}
        }
        for (position, form) in forms.iter().enumerate() {
            let many = match (form, position) {
                (Form::Single, _) => 1,
                (Form::Dynamic, _) => 0,
                (_, 0) => self.n,
                _ => self.random.between(1, 2),
            };
            let upper = if position == 0 {
                "N".to_owned()
            } else {
                many.to_string()
            };
            self.templates.push(Draft {
                name: ["P", "Q", "R"][position].to_owned(),
                form: *form,
                count: many,
                upper,
                locals: Vec::new(),
                given: 0,
                labels: Vec::new(),
            });
        }
        for template in 0..self.templates.len() {
            if self.grows(template) {
                for _ in 0..self.random.below(3) {
                    let var = Var {
                        name: self.fresh("v"),
                        dims: Vec::new(),
                        ty: self.scalar(None),
                    };
                    self.templates[template].locals.push(var);
                    self.templates[template].given += 1;
                }
            }
            for _ in 0..self.random.below(3) {
                let var = self.variable("v", Some(template));
                self.templates[template].locals.push(var);
            }
        }
    }

    /// Templates whose ids can be held: not single ones, which have none, nor those that grow.
    fn id_templates(&self) -> Vec<usize> {
        (0..self.templates.len())
            .filter(|t| !matches!(self.templates[*t].form, Form::Single | Form::Dynamic))
            .collect()
    }

    fn grows(&self, template: usize) -> bool {
        self.templates[template].form == Form::Dynamic
    }

    fn variable(&mut self, stem: &str, owner: Option<usize>) -> Var {
        let ty = self.scalar(owner);
        let mut dims = Vec::new();
        if self.everybody {
            dims.extend(self.dimensions_for_everybody(ty));
        }
        if dims.is_empty() && self.random.percent(if owner.is_some() { 10 } else { 35 }) {
            dims.push(self.dimension());
            if ty == Ty::Bool && self.random.percent(30) {
                dims.push(self.dimension());
            }
        }
        Var {
            name: self.fresh(stem),
            dims,
            ty,
        }
    }

    fn scalar(&mut self, owner: Option<usize>) -> Ty {
        let ids = self.id_templates();
        match self.random.below(12) {
            0..2 => Ty::Bool,
            2..6 => {
                let lo = self.random.between(0, 1);
                Ty::Range(lo, lo + self.random.between(1, 3))
            }
            6 => Ty::Int,
            7 => Ty::Enum,
            8..10 => match self.random.one(&ids).copied() {
                // A variable needs a value from the beginning.
                Some(template) if owner.is_none() || owner == Some(template) => Ty::Id(template),
                Some(template) => Ty::Opt(template),
                None => Ty::Bool,
            },
            _ => match self.random.one(&ids).copied() {
                Some(template) => Ty::Opt(template),
                None => Ty::Bool,
            },
        }
    }

    /// A dimension; arrays over templates that grow do not exist.
    fn dimension(&mut self) -> Dom {
        let ids = self.id_templates();
        match (self.random.below(3), self.random.one(&ids)) {
            (0, _) => Dom::Enum,
            (1, Some(template)) => Dom::Template(*template),
            _ => {
                let lo = self.random.between(0, 1);
                Dom::Range(lo, lo + self.random.between(1, 2))
            }
        }
    }

    fn dom_text(&self, dom: Dom) -> String {
        match dom {
            Dom::Range(lo, hi) => format!("{lo}..{hi}"),
            Dom::Enum => "Colour".to_owned(),
            Dom::Template(template) => self.templates[template].name.clone(),
        }
    }

    fn type_text(&self, ty: Ty) -> String {
        match ty {
            Ty::Bool => "bool".to_owned(),
            Ty::Range(0, 3) => "Small".to_owned(),
            Ty::Range(lo, hi) => format!("{lo}..{hi}"),
            Ty::Int => "int".to_owned(),
            Ty::Enum => "Colour".to_owned(),
            Ty::Id(template) => self.templates[template].name.clone(),
            Ty::Opt(template) => format!("{}?", self.templates[template].name),
            Ty::Mutex => "mutex".to_owned(),
        }
    }

    fn declaration(&mut self, word: &str, var: &Var, owner: Option<usize>) -> String {
        let scalar = self.type_text(var.ty);
        let ty = var.dims.iter().rev().fold(scalar, |ty, dim| {
            format!("array[{}] of {ty}", self.dom_text(*dim))
        });
        let initial = match self.initial(var, owner) {
            Some(value) => format!(" = {value}"),
            None => String::new(),
        };
        format!("{word} {}: {ty}{initial};\n", var.name)
    }

    fn initial(&mut self, var: &Var, owner: Option<usize>) -> Option<String> {
        let cells = var.dims.len() * 2 + 1;
        let finite = !matches!(var.ty, Ty::Int | Ty::Mutex);
        let any = |this: &mut Self| {
            // Each process has its own cells.
            this.any_cells += cells * owner.map_or(1, |_| 3);
            this.any.push((var.clone(), owner));
            Some("any".to_owned())
        };
        if finite && self.any_cells == 0 && cells == 1 && self.random.percent(15) {
            return any(self);
        }
        match var.ty {
            Ty::Bool if self.sharp && self.random.percent(60) => {
                let value = self.random.percent(50);
                Some(self.sharp_initial(value))
            }
            Ty::Bool => Some(
                if self.random.percent(50) {
                    "true"
                } else {
                    "false"
                }
                .to_owned(),
            ),
            Ty::Range(lo, hi) => {
                if let Some(owner) = owner
                    && self.templates[owner].form == Form::Ordered
                    && lo <= 1
                    && hi >= self.templates[owner].count
                    && self.random.percent(50)
                {
                    return Some("me".to_owned());
                }
                Some(self.random.between(lo, hi).to_string())
            }
            Ty::Int => Some(self.random.between(-1, 2).to_string()),
            Ty::Enum => Some(MEMBERS[self.random.below(3)].to_owned()),
            Ty::Id(template) => match (owner, self.templates[template].form) {
                (Some(owner), _) if owner == template => Some("me".to_owned()),
                (_, Form::Ordered | Form::Ring) => Some("1".to_owned()),
                _ => any(self),
            },
            Ty::Opt(_) => Some("none".to_owned()),
            Ty::Mutex => None,
        }
    }

    fn definition(&mut self) -> String {
        let name = self.fresh("d");
        let mut scope = Scope {
            own: None,
            property: false,
            may_fail: !self.careful,
            bound: Vec::new(),
        };
        let ids = self.id_templates();
        let mut params = Vec::new();
        let mut header = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let ty = match (self.random.below(4), self.random.one(&ids)) {
                (0, _) => Ty::Bool,
                (1, Some(template)) => Ty::Id(*template),
                (2, _) => Ty::Enum,
                _ => Ty::Int,
            };
            let param = self.fresh("a");
            let text = match ty {
                Ty::Bool => "bool".to_owned(),
                Ty::Enum => "Colour".to_owned(),
                Ty::Id(template) => self.templates[template].name.clone(),
                _ => "int".to_owned(),
            };
            header.push(format!("{param}: {text}"));
            scope.bound.push((param, ty));
            params.push(ty);
        }
        let result = if self.random.percent(50) {
            Ty::Bool
        } else {
            Ty::Int
        };
        let body = match result {
            Ty::Bool => self.boolean(&scope, 2),
            _ => self.integer(&scope, 2),
        };
        let mut whole = body.clone();
        for def in &self.defs {
            if body.contains(&format!("{}(", def.name)) {
                whole.push_str(&def.body);
            }
        }
        self.defs.push(Def {
            name: name.clone(),
            params,
            result,
            property: false,
            body: whole,
        });
        format!("def {name}({}) = {body};\n", header.join(", "))
    }

    fn header(&self, template: usize) -> String {
        let draft = &self.templates[template];
        match draft.form {
            Form::Unordered => format!("process {}[me: 1..{}]", draft.name, draft.upper),
            Form::Ordered => format!("ordered process {}[me: 1..{}]", draft.name, draft.upper),
            Form::Ring => format!("ring process {}[me: 1..{}]", draft.name, draft.upper),
            Form::Single => format!("process {}", draft.name),
            Form::Dynamic => {
                let given = draft.locals[..draft.given].iter();
                let given = given.map(|var| format!("{}: {}", var.name, self.type_text(var.ty)));
                let given: Vec<String> = given.collect();
                let given = match given.is_empty() {
                    true => String::new(),
                    false => format!("({})", given.join(", ")),
                };
                format!("process {}[]{given}", draft.name)
            }
        }
    }

    fn template(&mut self, template: usize) -> String {
        let draft = self.templates[template].clone();
        let mut text = format!("{} {{\n", self.header(template));
        for var in &draft.locals[draft.given..] {
            text.push_str(&self.declaration("local", var, Some(template)));
        }
        text.push_str(&self.body(template));
        text.push_str("}\n");
        text
    }

    /// A label of a template; every template has some.
    fn some_label(&mut self, template: usize) -> String {
        let labels = self.templates[template].labels.clone();
        self.random
            .one(&labels)
            .cloned()
            .unwrap_or("done".to_owned())
    }

    /// What is said about initial values: some satisfy it, whatever else does.
    fn initially(&mut self, scope: &Scope) -> Option<String> {
        // The others are for engines and exports, of which not all take it.
        if !self.sharp {
            return None;
        }
        let (var, owner) = self.random.one(&self.any).cloned()?;
        if !var.dims.is_empty() || self.random.percent(30) {
            return None;
        }
        let said = |cell: &str| match var.ty {
            Ty::Bool => Some(cell.to_owned()),
            Ty::Range(lo, _) => Some(format!("{cell} != {lo}")),
            Ty::Enum => Some(format!("{cell} != {}", MEMBERS[0])),
            Ty::Opt(_) => Some(format!("{cell} == none")),
            _ => None,
        };
        let claim = match owner {
            None => said(&var.name)?,
            Some(template) => {
                let draft = self.templates[template].clone();
                let name = &draft.name;
                let each = said(&format!("{name}[k].{}", var.name))?;
                match (draft.form, self.random.below(3)) {
                    (Form::Dynamic, _) => return None,
                    (Form::Single, _) => said(&format!("{name}.{}", var.name))?,
                    (_, 0) => format!("(forall k in {name}: {each})"),
                    (_, 1) => format!("(exists k in {name}: {each})"),
                    _ => format!("(count k in {name}: {each}) == 1"),
                }
            }
        };
        Some(match self.random.percent(40) {
            true => format!("initially {claim} || ({});\n", self.boolean(scope, 1)),
            false => format!("initially {claim};\n"),
        })
    }

    fn properties(&mut self) -> String {
        let mut text = String::new();
        let scope = Scope {
            own: None,
            property: true,
            may_fail: !self.careful,
            bound: Vec::new(),
        };
        text.extend(self.initially(&scope));
        // A definition for properties only: it says where a process is.
        let named = self.id_templates();
        if let Some(template) = self.random.one(&named).copied() {
            let name = self.fresh("d");
            let label = self.some_label(template);
            let process = &self.templates[template].name;
            text.push_str(&format!(
                "def {name}(a: {process}) = {process}[a] at {{{label}, done}};\n"
            ));
            self.defs.push(Def {
                name,
                params: vec![Ty::Id(template)],
                result: Ty::Bool,
                property: true,
                body: String::new(),
            });
        }
        for number in 0..1 + self.random.below(2) {
            let condition = self.boolean(&scope, 3);
            let claim = if self.careful {
                let plain = self.truism(&scope);
                match self.random.below(3) {
                    0 => format!("({condition}) || ({plain})"),
                    1 => format!("({plain}) && (({plain}) || ({condition}))"),
                    _ => plain,
                }
            } else {
                condition
            };
            let claim = self.sharpened(claim, &scope, 2);
            text.push_str(&format!("invariant inv{number}: {claim};\n"));
        }
        if self.random.percent(if self.careful { 20 } else { 50 }) {
            text.push_str("deadlock_free;\n");
        }
        if self.random.percent(30)
            && let Some(template) = self.random.one(&named).copied()
        {
            // Two variables in one quantifier, and places of two processes.
            let process = self.templates[template].name.clone();
            let (a, b) = (self.some_label(template), self.some_label(template));
            let apart = format!("i != j -> !({process}[i] at {a} && {process}[j] at {b})");
            let claim = match self.careful {
                true => format!("({apart}) || {}", self.truism(&scope)),
                false => apart,
            };
            text.push_str(&format!(
                "invariant apart: forall i, j in {process}: {claim};\n"
            ));
        }
        if self.random.percent(if self.sharp { 50 } else { 20 }) {
            let (a, b) = (self.boolean(&scope, 1), self.boolean(&scope, 1));
            let (a, b) = (self.sharpened(a, &scope, 4), self.sharpened(b, &scope, 4));
            text.push_str(&format!(
                "fairness fair1: unconditional or weak ({a}), strong if ({b}) then ({a});\n\
                 liveness live1 under fair1: G (({a}) -> F ({b})) && (({a}) U ({b}) || X ({b}));\n"
            ));
            if let Some(template) = self.random.one(&named).copied() {
                let process = self.templates[template].name.clone();
                let (a, b) = (self.some_label(template), self.some_label(template));
                text.push_str(&format!(
                    "fairness fair2: strong forall i in {process}: if enabled({process}[i], {a}) then taken({process}[i], {a});\n\
                     liveness live2 under fair1, fair2: forall i in {process}: G ({process}[i] at {a} -> F {process}[i] at {b});\n"
                ));
            }
        }
        if self.random.percent(10) {
            let a = self.boolean(&scope, 1);
            text.push_str(&format!("exception {{ {a}; }}\n"));
        }
        text
    }
}
