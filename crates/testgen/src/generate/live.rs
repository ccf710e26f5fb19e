//! Random programs for liveness: few processes and few values, so that everything about them can be listed, and with much waiting: resources
//! that are taken and given back, places to rest, steps of any kind between them. No processes are started, which engines for liveness do not take. Fairness and properties speak of
//! labels at which processes wait, so that many properties hold only because of some assumption.

use super::{Draft, Form, Generator, Scope, Ty, Var};
use crate::random::Random;

/// Something that processes wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resource {
    /// One at a time has it.
    Semaphore,
    /// Some at a time have it.
    Counter,
    Lock,
    /// Goes round a ring.
    Token,
    /// Everybody raises a flag of their own, and somebody's is waited for.
    Flags,
}

/// The liveness program with this seed.
pub fn generate_live(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x006c_6976_656e_6573);
    let careful = random.percent(85);
    let n = match random.below(10) {
        0 => 1,
        1..7 => 2,
        _ => 3,
    };
    let mut generator = Generator {
        random,
        careful,
        n,
        templates: Vec::new(),
        shared: Vec::new(),
        defs: Vec::new(),
        sharp: false,
        holds: false,
        names: 0,
        any_cells: 0,
        any: Vec::new(),
        everybody: false,
        hidden: Vec::new(),
        loops: 0,
    };
    generator.live_program()
}

/// What a term or a formula is about: a process, and a quantifier if it is any process of a template.
struct About {
    template: usize,
    who: String,
    over: Option<String>,
}

/// The position of a label that fairness and formulas both like to speak of, so that they have to do with each other.
#[derive(Clone, Copy)]
struct Focus(usize);

impl Generator {
    fn live_program(&mut self) -> String {
        let mut text = format!("param N = {0} where N >= {0};\n", self.n);
        text.push_str("enum Colour { red, green, blue }\ntype Small = 0..3;\n");
        self.draft_live();
        let resource = match self.random.below(10) {
            0..3 => Resource::Semaphore,
            3 => Resource::Counter,
            4 | 5 => Resource::Lock,
            6 | 7 => Resource::Flags,
            _ if self.templates[0].form == Form::Ring => Resource::Token,
            _ => Resource::Semaphore,
        };
        match resource {
            Resource::Semaphore => text.push_str("shared free: bool = true;\n"),
            Resource::Counter => text.push_str("shared room: 0..2 = 2;\n"),
            Resource::Lock => text.push_str("shared door: mutex;\n"),
            Resource::Token => text.push_str("shared token: P = 1;\n"),
            Resource::Flags => text.push_str("shared flag: array[P] of bool = false;\n"),
        }
        for _ in 0..self.random.below(3) {
            let var = self.live_variable("s");
            text.push_str(&self.declaration("shared", &var, None));
            self.shared.push(var);
        }
        if self.random.percent(30) {
            text.push_str(&self.definition());
        }
        text.push_str("macro set(place, value) { place := value; }\n");
        text.push_str("macro pause(condition) { await condition; skip; }\n");
        text.push_str("macro hop(place, value) { hop1: skip; hop2: set(place, value); }\n");
        for template in 0..self.templates.len() {
            text.push_str(&self.live_template(template, resource));
        }
        text.push_str(&self.live_properties());
        text
    }

    fn draft_live(&mut self) {
        let mut forms = vec![match self.random.below(10) {
            0..5 => Form::Unordered,
            5..7 => Form::Ordered,
            _ if self.n > 1 => Form::Ring,
            _ => Form::Unordered,
        }];
        if self.n < 3 && self.random.percent(35) {
            forms.push(Form::Single);
        }
        for (position, form) in forms.iter().enumerate() {
            self.templates.push(Draft {
                name: ["P", "Q"][position].to_owned(),
                form: *form,
                count: match form {
                    Form::Single => 1,
                    _ => self.n,
                },
                upper: "N".to_owned(),
                locals: Vec::new(),
                given: 0,
                labels: Vec::new(),
            });
        }
        for template in 0..self.templates.len() {
            if self.random.percent(35) {
                let var = self.live_variable("v");
                self.templates[template].locals.push(Var {
                    dims: Vec::new(),
                    ..var
                });
            }
        }
    }

    fn live_variable(&mut self, stem: &str) -> Var {
        let ty = match self.random.below(10) {
            0..6 => Ty::Bool,
            6..9 => Ty::Range(0, self.random.between(1, 2)),
            _ => Ty::Enum,
        };
        let array = ty == Ty::Bool && self.random.percent(15);
        Var {
            name: self.fresh(stem),
            dims: match array {
                true => vec![self.dimension()],
                false => Vec::new(),
            },
            ty,
        }
    }

    fn live_template(&mut self, template: usize, resource: Resource) -> String {
        let draft = self.templates[template].clone();
        let resource = match draft.form {
            // A token goes round `P`, and flags are of `P`.
            Form::Single if matches!(resource, Resource::Token | Resource::Flags) => None,
            _ => self.random.percent(80).then_some(resource),
        };
        let mut text = format!("{} {{\n", self.header(template));
        for var in &draft.locals {
            text.push_str(&self.declaration("local", var, Some(template)));
        }
        let body = match resource {
            Some(resource) => self.protocol(template, resource),
            None => self.body(template),
        };
        text.push_str(&body);
        text.push_str("}\n");
        text
    }

    /// Taking a resource and giving it back.
    fn protocol(&mut self, template: usize, resource: Resource) -> String {
        let scope = Scope {
            own: Some(template),
            property: false,
            may_fail: !self.careful,
            bound: Vec::new(),
        };
        let mut steps = Vec::new();
        if self.random.percent(75) {
            let label = self.label(template);
            steps.push(match self.random.below(10) {
                0..6 => format!("{label}: stay;"),
                6..8 => format!("{label}: skip;"),
                _ => {
                    let effect = self.effects(&scope, 1, false).join(" ");
                    format!("{label}: {effect}")
                }
            });
        }
        let (take, give) = match resource {
            Resource::Semaphore => (
                "atomic { await free; free := false; }",
                "free := true;".to_owned(),
            ),
            Resource::Counter => (
                "atomic { await room > 0; room := room - 1; }",
                match self.random.below(2) {
                    0 => "atomic { room := min(room + 1, 2); }".to_owned(),
                    _ => "fetch_add(room, 1);".to_owned(),
                },
            ),
            Resource::Lock => ("lock door;", "unlock door;".to_owned()),
            Resource::Token => ("await token == me;", "token := next(token);".to_owned()),
            Resource::Flags => {
                let wait = match self.random.below(3) {
                    0 => {
                        "atomic { await (exists j in P: j != me && flag[j]) || flag[me]; flag[me] := false; }"
                    }
                    1 => "atomic { await forall j in P: j == me || !flag[j]; flag[me] := true; }",
                    _ => "atomic { await !flag[me]; flag[me] := true; }",
                };
                let give = match self.random.below(3) {
                    0 => "flag[me] := false;".to_owned(),
                    1 => "choose k in P { flag[k] := false; }".to_owned(),
                    _ => "flag[me] := !flag[me];".to_owned(),
                };
                (wait, give)
            }
        };
        let label = self.label(template);
        let rest = if self.random.percent(8) { "stay; " } else { "" };
        steps.push(format!("{label}: {rest}{take}"));
        for _ in 0..self.random.below(3) {
            steps.push(match self.random.below(6) {
                0..3 => format!("{}: skip;", self.label(template)),
                3 => format!("{}: stay;", self.label(template)),
                _ => {
                    let depth = self.random.below(2);
                    self.section(&scope, template, depth)
                }
            });
        }
        let label = self.label(template);
        steps.push(format!("{label}: {give}"));
        let text = steps.join("\n");
        let text = match self.random.percent(85) {
            true => format!("loop {{\n{text}\n}}\n"),
            false => format!("{text}\n"),
        };
        self.aim(template, &text)
    }

    /// A process, or any process of a template.
    fn about(&mut self) -> About {
        let template = self.random.below(self.templates.len());
        let draft = self.templates[template].clone();
        let (who, over) = match draft.form {
            Form::Single => (draft.name, None),
            _ if self.random.percent(80) => {
                let over = format!("i in {}", draft.name);
                (format!("{}[i]", draft.name), Some(over))
            }
            _ => {
                let id = self.random.between(1, draft.count.max(1));
                (format!("{}[{id}]", draft.name), None)
            }
        };
        About {
            template,
            who,
            over,
        }
    }

    /// Two labels of a template; often the second comes after the first in the text.
    fn two_labels(&mut self, focus: Focus, template: usize) -> (String, String) {
        let labels = self.templates[template].labels.clone();
        if labels.len() < 2 {
            let only = self.some_label(template);
            return (only, "done".to_owned());
        }
        let first = match self.random.percent(60) {
            true => focus.0 % labels.len(),
            false => self.random.below(labels.len()),
        };
        let second = match self.random.percent(80) {
            true => (first + 1) % labels.len(),
            // Rarely the same.
            false => (first + 2 + self.random.below(labels.len() - 1)) % labels.len(),
        };
        (labels[first].clone(), labels[second].clone())
    }

    fn live_condition(&mut self, focus: Focus) -> String {
        let scope = Scope {
            own: None,
            property: true,
            may_fail: !self.careful && self.random.percent(30),
            bound: Vec::new(),
        };
        let about = self.about();
        let (a, b) = self.two_labels(focus, about.template);
        let some = match &about.over {
            Some(over) => format!("(exists {over}: {} at {{{a}, {b}}})", about.who),
            None => format!("{} at {a}", about.who),
        };
        match self.random.below(8) {
            0..3 => some,
            3..6 => format!("!{some}"),
            _ => format!("({})", self.boolean(&scope, 1)),
        }
    }

    fn term(&mut self, focus: Focus, strong: bool) -> String {
        let about = self.about();
        let (a, b) = self.two_labels(focus, about.template);
        let who = &about.who;
        let over = match &about.over {
            Some(over) => format!("forall {over}: "),
            None => String::new(),
        };
        if !strong {
            let (over, what) = match self.random.below(10) {
                0..4 => (over, format!("!enabled({who}, {a}) || taken({who}, {a})")),
                4..6 => (over, format!("!({who} at {a})")),
                6 => (over, format!("taken({who}, {a})")),
                7 => (over, format!("{who} at {{{a}, {b}, done}}")),
                _ => (String::new(), self.live_condition(focus)),
            };
            return format!("weak {over}{what}");
        }
        let pairs = about.over.is_some() && self.random.percent(15);
        let (over, first, second) = match self.random.below(10) {
            _ if pairs => {
                let name = self.templates[about.template].name.clone();
                let over = format!("forall i, j in {name}: ");
                let first = format!("{name}[i] at {a} && {name}[j] at {{{a}, {b}}}");
                (over, first, format!("{name}[j] at {b}"))
            }
            0..4 => (
                over,
                format!("enabled({who}, {a})"),
                format!("taken({who}, {a})"),
            ),
            4 | 5 => (over, format!("{who} at {a}"), format!("{who} at {b}")),
            6 => {
                let condition = self.live_condition(focus);
                (
                    over,
                    format!("{who} at {a} && {condition}"),
                    format!("{who} at {b}"),
                )
            }
            7 => (over, format!("{who} at {a}"), "false".to_owned()),
            8 => (
                over,
                format!("taken({who}, {a})"),
                self.live_condition(focus),
            ),
            _ => (
                String::new(),
                self.live_condition(focus),
                self.live_condition(focus),
            ),
        };
        format!("strong {over}if {first} then {second}")
    }

    fn live_properties(&mut self) -> String {
        let mut text = String::new();
        // Who takes something mostly waits for it at one of the first labels.
        let focus = Focus(self.random.below(3));
        let mut under: Vec<&str> = Vec::new();
        if self.random.percent(92) {
            text.push_str("fairness scheduling: unconditional;\n");
            under.push("scheduling");
        }
        if self.random.percent(60) {
            let mut terms = self.term(focus, true);
            if self.random.percent(25) {
                terms = format!("{terms}, {}", self.term(focus, true));
            }
            if self.random.percent(15) {
                let strong = self.random.percent(50);
                terms = format!("{terms} or {}", self.term(focus, strong));
            }
            text.push_str(&format!("fairness strongly: {terms};\n"));
            under.push("strongly");
        }
        if self.random.percent(30) {
            let mut terms = self.term(focus, false);
            if self.random.percent(15) {
                terms = format!("{terms} or {}, unconditional", self.term(focus, false));
            }
            text.push_str(&format!("fairness weakly: {terms};\n"));
            under.push("weakly");
        }
        let under = match under.is_empty() {
            true => String::new(),
            false => format!(" under {}", under.join(", ")),
        };
        for number in 0..1 + usize::from(self.random.percent(35)) {
            let formula = self.live_formula(focus);
            text.push_str(&format!("liveness live{number}{under}: {formula};\n"));
        }
        text
    }

    fn live_formula(&mut self, focus: Focus) -> String {
        let about = self.about();
        let (a, b) = self.two_labels(focus, about.template);
        let who = &about.who;
        let over = match &about.over {
            Some(over) if self.random.percent(92) => format!("forall {over}: "),
            Some(over) => format!("exists {over}: "),
            None => String::new(),
        };
        match self.random.below(26) {
            0..14 => format!("{over}G ({who} at {a} -> F {who} at {b})"),
            14 | 15 => format!("{over}G F {who} at {b}"),
            16 => format!("{over}F ({who} at {b} || {who} at done)"),
            17 => format!("{over}G ({who} at {a} -> ({who} at {a} W {who} at {b}))"),
            18 | 19 => {
                let (a, b) = (self.live_condition(focus), self.live_condition(focus));
                format!("G ({a} -> F {b})")
            }
            20 => format!("F G {}", self.live_condition(focus)),
            21 => format!("G F {}", self.live_condition(focus)),
            22 => format!("{over}(F G !({who} at {a}) || G F {who} at {b})"),
            23 => format!(
                "G (taken({}, {a}) -> F {})",
                self.first_of(&about),
                self.live_condition(focus)
            ),
            _ => self.nested(focus, 3),
        }
    }

    /// One process where any is meant.
    fn first_of(&self, about: &About) -> String {
        about.who.replace("[i]", "[1]")
    }

    /// Any formula.
    fn nested(&mut self, focus: Focus, depth: usize) -> String {
        if depth == 0 {
            return self.live_condition(focus);
        }
        let f = self.nested(focus, depth - 1);
        match self.random.below(10) {
            0 => format!("G ({f})"),
            1 => format!("F ({f})"),
            2 => format!("X ({f})"),
            3 => format!("!({f})"),
            kind => {
                let less = self.random.below(depth);
                let g = self.nested(focus, less);
                let operator = ["U", "R", "W", "&&", "||", "->"][kind - 4];
                format!("(({f}) {operator} ({g}))")
            }
        }
    }
}
