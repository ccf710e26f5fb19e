//! A proof as invariants at lines of the program.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_evidence::Outline;

use super::facts;
use super::program::{Program, Template};
use super::yaml::Node;

/// What a proof says at the lines of a program, in C.
pub(crate) struct Proof {
    /// What holds whenever a thread is at a line.
    invariants: BTreeMap<u32, String>,
    /// The mutexes that the invariants mention, with their ghosts.
    ghosts: BTreeMap<String, String>,
}

impl Proof {
    pub(crate) fn new(program: &Program<'_>, outline: Option<&Outline>) -> Proof {
        let mut proof = Proof {
            invariants: BTreeMap::new(),
            ghosts: BTreeMap::new(),
        };
        let Some(outline) = outline else {
            return proof;
        };
        let mut writer = Writer {
            program,
            ghosts: BTreeMap::new(),
            counts: outline
                .always
                .iter()
                .filter_map(|f| Count::read(f))
                .collect(),
        };
        let always = outline.always.iter();
        let always: Vec<String> = always.filter_map(|fact| writer.fact(fact, None)).collect();
        // For each line, what holds at each of the labels that come from it.
        let mut lines: BTreeMap<u32, BTreeSet<Place>> = BTreeMap::new();
        for template in &program.templates {
            for (label, line) in &template.labels {
                let Some(line) = line else { continue };
                let place = writer.place(outline, template, label);
                lines.entry(*line).or_default().insert(place);
            }
        }
        for (line, places) in lines {
            // A line that no function has around it comes from elsewhere.
            let function = program.function(line);
            if !function.is_some_and(|function| program.is_once(function)) {
                continue;
            }
            let mut facts = always.clone();
            facts.extend(either(&places));
            if !facts.is_empty() {
                proof.invariants.insert(line, all(&facts));
            }
        }
        let used = |ghost: &String| {
            let mut invariants = proof.invariants.values();
            invariants.any(|invariant| invariant.contains(ghost.as_str()))
        };
        let ghosts = writer.ghosts.into_iter();
        proof.ghosts = ghosts.filter(|(_, ghost)| used(ghost)).collect();
        proof
    }

    /// The `content` of the invariants.
    pub(crate) fn invariants(&self, program: &Program<'_>) -> Node {
        let invariants = self.invariants.iter().map(|(line, invariant)| {
            Node::map([(
                "invariant",
                Node::map([
                    ("type", Node::text("location_invariant")),
                    ("location", location(program, *line, None)),
                    ("value", Node::text(invariant)),
                    ("format", Node::text("c_expression")),
                ]),
            )])
        });
        Node::List(invariants.collect())
    }

    /// The `content` of the ghosts, if there are any.
    pub(crate) fn ghosts(&self, program: &Program<'_>) -> Option<Node> {
        if self.ghosts.is_empty() {
            return None;
        }
        let constant = |value: &str| {
            Node::map([
                ("value", Node::text(value)),
                ("format", Node::text("c_expression")),
            ])
        };
        let variables = self.ghosts.values().map(|ghost| {
            Node::map([
                ("name", Node::text(ghost)),
                ("type", Node::text("int")),
                ("scope", Node::text("global")),
                ("initial", constant("0")),
            ])
        });
        let mut updates: BTreeMap<u32, Vec<Node>> = BTreeMap::new();
        for (mutex, ghost) in &self.ghosts {
            for (line, locks) in program.locking(mutex).unwrap_or_default() {
                updates.entry(line).or_default().push(Node::map([
                    ("variable", Node::text(ghost)),
                    ("value", Node::text(if locks { "1" } else { "0" })),
                    ("format", Node::text("c_expression")),
                ]));
            }
        }
        let updates = updates.into_iter().map(|(line, updates)| {
            Node::map([
                ("location", location(program, line, None)),
                ("updates", Node::List(updates)),
            ])
        });
        Some(Node::map([
            ("ghost_variables", Node::List(variables.collect())),
            ("ghost_updates", Node::List(updates.collect())),
        ]))
    }
}

/// A place in the program.
pub(crate) fn location(program: &Program<'_>, line: u32, column: Option<u32>) -> Node {
    let mut entries = vec![
        ("file_name".to_owned(), Node::text(program.file())),
        ("line".to_owned(), Node::Number(line)),
    ];
    if let Some(column) = column {
        entries.push(("column".to_owned(), Node::Number(column)));
    }
    if let Some(function) = program.function(line) {
        entries.push(("function".to_owned(), Node::text(function)));
    }
    Node::Map(entries)
}

/// What holds at a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Nobody ever gets there.
    Never,
    /// All of these hold; possibly none.
    Facts(Vec<String>),
}

/// What holds if a thread is at one of several labels.
fn either(places: &BTreeSet<Place>) -> Option<String> {
    let mut cases = Vec::new();
    for place in places {
        match place {
            Place::Never => {}
            Place::Facts(facts) if facts.is_empty() => return None,
            Place::Facts(facts) => cases.push(all(facts)),
        }
    }
    match cases.as_slice() {
        [] => Some("0".to_owned()),
        [case] => Some(case.clone()),
        cases => {
            let cases: Vec<String> = cases.iter().map(|case| format!("({case})")).collect();
            Some(cases.join(" || "))
        }
    }
}

fn all(facts: &[String]) -> String {
    match facts {
        [fact] => fact.clone(),
        facts => {
            let facts: Vec<String> = facts.iter().map(|fact| format!("({fact})")).collect();
            facts.join(" && ")
        }
    }
}

struct Writer<'w, 'a> {
    program: &'w Program<'a>,
    /// The ghosts of mutexes.
    ghosts: BTreeMap<String, String>,
    counts: Vec<Count>,
}

/// That a variable is the number of threads at some labels. C cannot say that, but whoever is at one of them knows that it is not 0.
struct Count {
    variable: String,
    /// The labels, those of a template with its name in front.
    labels: Vec<String>,
}

impl Count {
    /// `x == #a + #b`
    fn read(fact: &str) -> Option<Count> {
        let (variable, sum) = fact.split_once(" == ")?;
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if variable.is_empty() || !variable.chars().all(name) {
            return None;
        }
        let labels = sum.split(" + ").map(|term| {
            let label = term.strip_prefix('#')?;
            let plain = !label.is_empty() && label.chars().all(|c| name(c) || c == '.');
            plain.then(|| label.to_owned())
        });
        Some(Count {
            variable: variable.to_owned(),
            labels: labels.collect::<Option<_>>()?,
        })
    }
}

impl Writer<'_, '_> {
    /// A fact about this process, if any, in C.
    fn fact(&mut self, fact: &str, process: Option<&str>) -> Option<String> {
        let (program, ghosts) = (self.program, &mut self.ghosts);
        let mut ghost = |mutex: &str| {
            program.locking(mutex)?;
            let name = format!("{mutex}_locked");
            // A name of the program's own.
            (!program.has(&name)).then(|| ghosts.entry(mutex.to_owned()).or_insert(name).clone())
        };
        match process.and_then(|process| facts::held(fact, process)) {
            Some(mutex) => ghost(mutex),
            None => facts::in_c(fact, program, &mut ghost),
        }
    }

    /// What an outline says about a label.
    fn place(&mut self, outline: &Outline, template: &Template, label: &str) -> Place {
        let of_template = outline.processes.iter().filter(|process| {
            let name = process.process.split('[').next();
            process.other.is_none() && name == Some(template.name.as_str())
        });
        let mut processes = of_template;
        // Only what holds for all processes of the template alike is used.
        let (Some(process), None) = (processes.next(), processes.next()) else {
            return Place::Facts(Vec::new());
        };
        let every = template.single || (process.binder.is_some() && process.among.is_empty());
        let mut labels = process.labels.iter();
        let holds = labels.find(|entry| entry.labels.iter().any(|name| name == label));
        let Some(holds) = holds.filter(|_| every) else {
            return Place::Facts(Vec::new());
        };
        if holds.holds == ["false"] {
            return Place::Never;
        }
        let facts = holds.holds.iter();
        let mut facts: Vec<String> = facts
            .filter_map(|fact| self.fact(fact, Some(&process.process)))
            .collect();
        facts.extend(self.counted(template, label));
        Place::Facts(facts)
    }

    /// What follows from the numbers of threads at labels for one that is at this label.
    fn counted(&self, template: &Template, label: &str) -> Vec<String> {
        // A label without its template is counted as that only if no other template has it.
        let templates = self.program.templates.iter();
        let having = templates.filter(|t| t.labels.iter().any(|(name, _)| name == label));
        let alone = having.count() == 1;
        let whole = format!("{}.{label}", template.name);
        let counts = self.counts.iter().filter_map(|count| {
            let mut labels = count.labels.iter();
            let here = labels.any(|name| *name == whole || (alone && name == label));
            let variable = self.program.global(&count.variable, false)?;
            Some(format!("{variable} >= {}", u8::from(here)))
        });
        counts.collect()
    }
}
