//! Random programs about any number of processes, and at which instances their properties hold.
//!
//! A program of random statements is wrong with one process, or for no reason right. So these are put together from *devices* (`devices`), such as a counter that
//! is raised and lowered again, a semaphore, a lock with an owner, a barrier, a bakery, children that are started: each comes with claims that hold for every
//! number of processes, because something is counted or because any two processes exclude each other. What becomes of them depends on the *mood* of the program:
//!
//! - right: the devices work, and the claims hold;
//! - bounded: the devices work, and the claims have constants up to 8, so that they are wrong from some number of processes on;
//! - broken: something of a device is wrong, such as a comparison, a quantifier, an initial value, a range, or that a step is two.
//!
//! The mood is a leaning and no verdict: devices disturb each other, a broken one may happen to work, and small values that `where` allows may
//! be enough to refute what was meant to be right. What is true is for [`verdicts`] to say, by explicit search.

mod arrays;
mod caches;
mod devices;
mod mutants;
mod oracle;
mod queues;
mod rings;
mod structures;
mod waiting;

pub use arrays::generate_arrays;
pub use caches::generate_caches;
pub use mutants::{liveness_mutant, safety_mutant};
pub use oracle::{AtInstance, Truth, verdicts};
pub use queues::generate_queues;
pub use rings::generate_rings;
pub use structures::{generate_buffers, generate_levels, generate_structures};
pub use waiting::waiting;

use crate::random::Random;

/// What becomes of the claims of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Right,
    Bounded,
    Broken,
}

/// How many processes of a template there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As many as a parameter says.
    Many(&'static str),
    Single,
    /// As many as are started.
    Dynamic,
}

struct Template {
    name: &'static str,
    form: Form,
    /// Whether it begins again at its end.
    repeats: bool,
    /// The parameters, in brackets, of one whose processes are started.
    given: String,
    locals: Vec<String>,
    /// The statements of each step, without the label.
    steps: Vec<String>,
}

/// A stretch of a template: the labels from one step to another, or to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    template: usize,
    from: usize,
    to: Option<usize>,
}

/// Something that a device claims.
enum Claim {
    /// In every state.
    Always(String),
    /// While a process is in the stretch.
    Inside(Stretch, String),
    /// No two processes are in the stretch.
    Alone(Stretch),
    /// Somebody is elsewhere.
    Outside(Stretch),
    /// At most so many are.
    AtMost(Stretch, String),
    /// As many are as the expression says.
    Exactly(Stretch, String),
    /// If all processes are in the stretch (or some, if that is how the quantifier came out).
    When(&'static str, Stretch, String),
    /// Nobody is in the second stretch while somebody is in the first.
    Apart(Stretch, Stretch),
}

struct Writer {
    random: Random,
    mood: Mood,
    declarations: Vec<String>,
    templates: Vec<Template>,
    claims: Vec<Claim>,
    /// Shared integers that only grow, with the number of processes that raise them once.
    arrivals: Vec<(String, &'static str)>,
    names: usize,
}

/// The program with this seed.
pub fn generate(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mood = match random.below(100) {
        0..30 => Mood::Right,
        30..65 => Mood::Bounded,
        _ => Mood::Broken,
    };
    let shape = random.below(12);
    let mut writer = Writer {
        random,
        mood,
        declarations: Vec::new(),
        templates: Vec::new(),
        claims: Vec::new(),
        arrivals: Vec::new(),
        names: 0,
    };
    writer.program(shape)
}

impl Writer {
    fn program(&mut self, shape: usize) -> String {
        let mut parameters = vec![format!(
            "param N = 3 where N >= {};",
            self.random
                .one(&[0, 0, 1, 1, 1, 2, 3])
                .copied()
                .unwrap_or(1)
        )];
        self.template("P", Form::Many("N"));
        match shape {
            0..3 => {
                let least = self.random.below(2);
                parameters.push(format!("param M = 1 where M >= {least};"));
                self.template("Q", Form::Many("M"));
            }
            3..5 => self.template("Server", Form::Single),
            5 => self.template("Child", Form::Dynamic),
            _ => {}
        }
        if shape == 5 {
            self.family();
        } else {
            for template in 0..self.templates.len() {
                if self.templates[template].form == Form::Single {
                    self.watch(template);
                } else {
                    // Two templates with two devices each have more states than are worth visiting.
                    let most = if shape < 3 { 1 } else { 2 };
                    for _ in 0..self.random.between(1, most) {
                        self.device(template, 1);
                    }
                }
            }
            if shape < 3 && self.random.percent(40) {
                self.across();
            }
        }
        self.text(&parameters)
    }

    fn template(&mut self, name: &'static str, form: Form) {
        let repeats = matches!(form, Form::Many(_)) && self.random.percent(35);
        self.templates.push(Template {
            name,
            form,
            repeats,
            given: String::new(),
            locals: Vec::new(),
            steps: Vec::new(),
        });
    }

    fn text(&self, parameters: &[String]) -> String {
        let mut lines = parameters.to_vec();
        lines.extend(self.declarations.iter().cloned());
        for template in &self.templates {
            lines.push(match template.form {
                Form::Many(count) => format!("process {}[i: 1..{count}] {{", template.name),
                Form::Single => format!("process {} {{", template.name),
                Form::Dynamic => format!("process {}[]{} {{", template.name, template.given),
            });
            lines.extend(template.locals.iter().map(|local| format!("    {local}")));
            let steps = template.steps.iter().enumerate();
            let steps = steps.map(|(number, step)| format!("l{number}: {step}"));
            if template.repeats {
                lines.push("    loop {".to_owned());
                lines.extend(steps.map(|step| format!("        {step}")));
                lines.push("    }".to_owned());
            } else {
                lines.extend(steps.map(|step| format!("    {step}")));
            }
            lines.push("}".to_owned());
        }
        let claims = self.claims.iter().enumerate();
        lines.extend(claims.map(|(number, claim)| {
            let claim = self.claim(claim);
            format!("invariant claim{number}: {claim};")
        }));
        lines.push("deadlock_free;".to_owned());
        lines.join("\n") + "\n"
    }

    /// That a process (by its index; not used for a single one) is in a stretch.
    fn at(&self, stretch: Stretch, index: &str) -> String {
        let template = &self.templates[stretch.template];
        let last = template.steps.len().saturating_sub(1);
        let mut labels: Vec<String> = (stretch.from..=stretch.to.unwrap_or(last).min(last))
            .map(|step| format!("l{step}"))
            .collect();
        if labels.is_empty() || (stretch.to.is_none() && !template.repeats) {
            labels.push("done".to_owned());
        }
        let labels = labels.join(", ");
        match template.form {
            Form::Single => format!("{} at {{{labels}}}", template.name),
            _ => format!("{}[{index}] at {{{labels}}}", template.name),
        }
    }

    fn claim(&self, claim: &Claim) -> String {
        let name = |stretch: &Stretch| self.templates[stretch.template].name;
        let single = |stretch: &Stretch| self.templates[stretch.template].form == Form::Single;
        match claim {
            Claim::Always(what) => what.clone(),
            Claim::Inside(stretch, what) if single(stretch) => {
                format!("{} -> {what}", self.at(*stretch, ""))
            }
            Claim::Inside(stretch, what) => format!(
                "forall i in {}: {} -> {what}",
                name(stretch),
                self.at(*stretch, "i")
            ),
            Claim::Alone(stretch) => format!(
                "forall i, j in {}: i != j -> !({} && {})",
                name(stretch),
                self.at(*stretch, "i"),
                self.at(*stretch, "j")
            ),
            Claim::Outside(stretch) => format!(
                "exists i in {}: !({})",
                name(stretch),
                self.at(*stretch, "i")
            ),
            Claim::AtMost(stretch, limit) => format!(
                "(count i in {}: {}) <= {limit}",
                name(stretch),
                self.at(*stretch, "i")
            ),
            Claim::Exactly(stretch, number) => format!(
                "{number} == count i in {}: {}",
                name(stretch),
                self.at(*stretch, "i")
            ),
            Claim::When(quantifier, stretch, what) => format!(
                "({quantifier} i in {}: {}) -> {what}",
                name(stretch),
                self.at(*stretch, "i")
            ),
            Claim::Apart(here, there) => format!(
                "forall i in {}, j in {}: !({} && {})",
                name(here),
                name(there),
                self.at(*here, "i"),
                self.at(*there, "j")
            ),
        }
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn shared(&mut self, stem: &str, rest: &str) -> String {
        let name = self.fresh(stem);
        self.declarations.push(format!("shared {name}: {rest};"));
        name
    }

    fn step(&mut self, template: usize, statements: impl Into<String>) {
        self.templates[template].steps.push(statements.into());
    }

    /// The number of the step that comes next.
    fn next(&self, template: usize) -> usize {
        self.templates[template].steps.len()
    }

    /// Whether to break something now.
    fn breaks(&mut self) -> bool {
        self.mood == Mood::Broken && self.random.percent(60)
    }

    /// A number that is more than most instances that are looked at have processes, or not much more.
    fn threshold(&mut self) -> i64 {
        self.random.between(1, 8)
    }

    /// A bound that holds, or a constant in its place.
    fn bound(&mut self, right: &str) -> String {
        if self.mood == Mood::Bounded && self.random.percent(80) {
            self.threshold().to_string()
        } else {
            right.to_owned()
        }
    }
}
