//! Random Promela programs: small, with few values, so that most have between some dozens and some thousands of states.
//!
//! What SPIN refuses is not written: `else` beside guards that look at channels, a lone `skip` in a loop, a jump to a `d_step`.
//! One statement stands on each line, so that a program can be made smaller by leaving out lines.

pub mod constructs;
mod expressions;
mod more;
mod nested;
mod odd;
mod statements;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use threadwise_testgen::random::Random;

use constructs::Construct;

/// A program, and what is in it.
#[derive(Debug)]
pub struct Program {
    pub text: String,
    /// The constructs that occur, of [`CONSTRUCTS`].
    pub constructs: BTreeSet<&'static str>,
    /// Which constructs stand in which, the outer first.
    pub pairs: BTreeSet<(Construct, Construct)>,
    /// The names of its formulas.
    pub formulas: Vec<String>,
}

/// Everything that should occur now and then, with the least share of programs, in percent.
pub const CONSTRUCTS: &[(&str, usize)] = &[
    ("one process", 5),
    ("two processes", 20),
    ("three processes", 10),
    ("active", 30),
    ("active several", 5),
    ("init", 15),
    ("run", 15),
    ("run in an option", 1),
    ("run with parameters", 5),
    ("local", 20),
    ("parameter", 5),
    ("array", 15),
    ("local array", 3),
    ("record", 5),
    ("bit", 10),
    ("bool", 10),
    ("byte", 20),
    ("short", 5),
    ("int", 5),
    ("unsigned", 10),
    ("mtype", 15),
    ("rendezvous", 15),
    ("buffered", 15),
    ("channel array", 3),
    ("two fields", 8),
    ("send", 25),
    ("receive", 25),
    ("sorted send", 2),
    ("random receive", 2),
    ("copy receive", 2),
    ("eval", 5),
    ("constant pattern", 5),
    ("ignore pattern", 3),
    ("poll", 2),
    ("len", 2),
    ("full or empty", 3),
    ("if", 30),
    ("do", 30),
    ("break", 20),
    ("goto", 10),
    ("else", 20),
    ("timeout", 3),
    ("atomic", 25),
    ("atomic that may block", 10),
    ("rendezvous in atomic", 5),
    ("d_step", 10),
    ("assert", 30),
    ("end label", 10),
    ("progress label", 2),
    ("unless", 2),
    ("for", 4),
    ("select", 3),
    ("skip", 10),
    ("printf", 2),
    ("inline", 3),
    ("macro", 3),
    ("wrap-around", 8),
    ("conditional", 4),
    ("bit operator", 3),
    ("division", 3),
    ("truth value as number", 2),
    ("_pid", 10),
    ("_nr_pr", 1),
    ("blocking test", 20),
    ("formula", 15),
    ("remote label", 2),
    ("record in a message", 1),
    ("channel in a message", 1),
    ("channel from a message", 1),
    ("channel parameter", 1),
    ("computed argument", 2),
    ("computed channel", 1),
    ("else around a selection", 1),
    ("else of an inner selection", 1),
    ("else that is not last", 1),
    ("else in atomic", 1),
    ("goto into atomic", 2),
    ("goto out of atomic", 2),
    ("break out of for", 1),
    ("guard in d_step", 2),
    ("loop in d_step", 1),
    ("message in d_step", 1),
    ("message in unless", 2),
    ("weak until", 1),
    ("release", 1),
    ("nested until", 1),
    ("accept label", 2),
    ("goto from atomic to atomic", 1),
    ("break from atomic to atomic", 1),
    ("rendezvous in unless", 1),
    ("rendezvous behind unless", 1),
    ("loop in front", 1),
    ("timeout in atomic", 1),
    ("goto in d_step", 1),
    ("else beside a poll", 1),
    ("initial value of a pid", 1),
    ("eval in a poll", 1),
    ("nested", 10),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Unsigned,
    Mtype,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Kind::Bit => "bit",
            Kind::Bool => "bool",
            Kind::Byte => "byte",
            Kind::Short => "short",
            Kind::Int => "int",
            Kind::Unsigned => "unsigned",
            Kind::Mtype => "mtype",
        }
    }

    /// Numbers that values of it should have; for an mtype, those of its members.
    fn small(self) -> i64 {
        match self {
            Kind::Bit | Kind::Bool => 1,
            _ => 2,
        }
    }
}

/// A variable with how it is written, or an array with its length.
#[derive(Clone, Debug)]
struct Var {
    text: String,
    kind: Kind,
    length: Option<i64>,
}

#[derive(Clone, Debug)]
struct Chan {
    text: String,
    capacity: i64,
    fields: Vec<Kind>,
    /// The channels of an array.
    length: Option<i64>,
}

#[derive(Clone, Copy, Default)]
struct Place {
    depth: usize,
    in_loop: bool,
    in_atomic: bool,
    in_d_step: bool,
}

struct Generator {
    random: Random,
    constructs: BTreeSet<&'static str>,
    out: String,
    indent: usize,
    globals: Vec<Var>,
    locals: Vec<Var>,
    channels: Vec<Chan>,
    /// Processes to be started: name, parameters.
    dormant: Vec<(String, Vec<Argument>)>,
    /// Labels of the process that is written, and whether they are written already.
    labels: Vec<String>,
    statements: usize,
    /// Names of processes with a label that formulas may speak of.
    remote: Vec<(String, String)>,
    inline: bool,
    macros: bool,
    /// Whether there is a channel for records.
    records: bool,
    /// What is sent over the channel for channels.
    carrier: Option<Chan>,
    /// Whether the process that is written has a variable for a channel.
    holds: bool,
    /// Labels that were made so far.
    fresh: usize,
    /// `accept` or `progress`: SPIN looks for one kind of cycles at a time.
    cycles: &'static str,
    /// Whether a formula or a claim is written.
    in_formula: bool,
    /// The constructs around what is written.
    within: Vec<Construct>,
    pairs: BTreeSet<(Construct, Construct)>,
    /// Declarations and processes that were asked for by what came behind them.
    late: String,
    late_locals: Vec<String>,
    late_processes: String,
    /// Lines that have to stand before and behind a chain of constructs.
    before: Vec<String>,
    after: Vec<String>,
    /// What a partner has to offer, as guards.
    partners: Vec<String>,
    /// Whether the partner is looked at.
    seen: bool,
    /// Whether a loop must be left after one round.
    once: bool,
}

/// The form of a receive: `??`, `<..>`.
#[derive(Clone, Copy, Default)]
struct Form {
    random: bool,
    copy: bool,
}

/// What a process is given by `run`.
#[derive(Clone, Debug)]
enum Argument {
    Value(Kind),
    /// One of these channels.
    Channel(Vec<String>),
}

const MEMBERS: [&str; 3] = ["red", "green", "blue"];

/// The program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut generator = Generator::new(seed);
    let formulas = generator.program();
    generator.finish(formulas)
}

/// A program in which the one construct stands in the other, and other processes that interfere.
pub fn centred(outer: Construct, inner: Construct, seed: u64) -> Program {
    let mut generator = Generator::new(seed);
    let formulas = generator.centred(outer, inner);
    generator.finish(formulas)
}

impl Generator {
    fn new(seed: u64) -> Generator {
        Generator {
            random: Random::new(seed),
            constructs: BTreeSet::new(),
            out: String::new(),
            indent: 0,
            globals: Vec::new(),
            locals: Vec::new(),
            channels: Vec::new(),
            dormant: Vec::new(),
            labels: Vec::new(),
            statements: 0,
            remote: Vec::new(),
            inline: false,
            macros: false,
            records: false,
            carrier: None,
            holds: false,
            fresh: 0,
            cycles: "progress",
            in_formula: false,
            within: Vec::new(),
            pairs: BTreeSet::new(),
            late: String::new(),
            late_locals: Vec::new(),
            late_processes: String::new(),
            before: Vec::new(),
            after: Vec::new(),
            partners: Vec::new(),
            seen: false,
            once: false,
        }
    }

    fn finish(self, formulas: Vec<String>) -> Program {
        Program {
            text: self.out,
            constructs: self.constructs,
            pairs: self.pairs,
            formulas,
        }
    }
}

impl Generator {
    fn note(&mut self, construct: &'static str) {
        debug_assert!(
            CONSTRUCTS.iter().any(|&(name, _)| name == construct),
            "{construct}"
        );
        self.constructs.insert(construct);
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.random.percent(percent)
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        self.random.one(items).unwrap().clone()
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "\t".repeat(self.indent));
    }

    fn program(&mut self) -> Vec<String> {
        self.line("mtype = { red, green, blue };");
        if self.chance(15) {
            self.macros = true;
            self.line("#define TWICE(x) ((x) + (x))");
        }
        if self.chance(12) {
            self.inline = true;
            self.line("inline bump(v, by) {");
            self.line("\tv = (v + by) % 3");
            self.line("}");
        }
        if self.chance(50) {
            self.cycles = "accept";
        }
        self.declarations();
        let declared = std::mem::take(&mut self.out);
        let count = match self.random.below(100) {
            0..15 => 1,
            15..65 => 2,
            _ => 3,
        };
        self.note(["one process", "two processes", "three processes"][count - 1]);
        let with_init = self.chance(40);
        let mut texts = Vec::new();
        for at in 0..count {
            let active = !with_init || self.chance(40);
            // All that are to be started come first, so that those who start know them.
            let before = std::mem::take(&mut self.out);
            if active {
                self.active(at);
            } else {
                self.dormant(at);
            }
            texts.push(std::mem::replace(&mut self.out, before));
        }
        self.out.push_str(&texts.concat());
        if with_init {
            self.init();
        }
        if self.seen || !self.partners.is_empty() {
            self.partner();
        }
        self.assemble(&declared);
        self.formulas(None)
    }

    /// Puts what was asked for late where it belongs.
    fn assemble(&mut self, declared: &str) {
        let processes = std::mem::take(&mut self.out);
        self.out = format!("{declared}{}{processes}{}", self.late, self.late_processes);
    }

    fn centred(&mut self, outer: Construct, inner: Construct) -> Vec<String> {
        self.line("mtype = { red, green, blue };");
        self.declarations();
        let declared = std::mem::take(&mut self.out);
        let chain = [outer, inner];
        match outer {
            Construct::Never | Construct::Ltl => {
                self.active(0);
            }
            Construct::Init => self.around("init {", &chain),
            Construct::Started => {
                self.around("proctype P0(byte p) {", &chain);
                let value = self.constant(Kind::Byte);
                self.line(&format!("init {{ run P0({value}) }}"));
            }
            _ => self.around("active proctype P0() {", &chain),
        }
        self.locals.clear();
        let mut predicate = None;
        if outer == Construct::Ltl {
            self.within.push(outer);
            self.in_formula = true;
            predicate = Some(self.operand(&chain[1..]));
        }
        let mut claim = String::new();
        if outer == Construct::Never {
            claim = self.apart(|it| it.claim(&chain));
        }
        self.in_formula = false;
        self.partner();
        if self.chance(25) {
            self.line("active proctype P2() {");
            self.inside(|it| {
                it.test();
                it.assignment(Place::default());
                it.assertion();
            });
            self.line("}");
        }
        self.assemble(&declared);
        self.out.push_str(&claim);
        let labelled = ["accept", "progress", "never", "_nr_pr"];
        let other = labelled.iter().any(|word| self.out.contains(word));
        if predicate.is_none() && (other || self.chance(60)) {
            return Vec::new();
        }
        self.formulas(predicate)
    }

    /// A process around a chain of constructs.
    fn around(&mut self, head: &str, chain: &[Construct]) {
        self.line(head);
        self.indent += 1;
        let locals = self.apart(|it| it.locals());
        self.out.push_str(&locals);
        let text = self.apart(|it| {
            if it.chance(40) {
                it.assignment(Place::default());
            }
            it.nest(chain, Place::default());
            if it.chance(50) {
                it.assignment(Place::default());
            }
            if it.chance(60) {
                it.assertion();
            }
        });
        self.write_late_locals();
        self.out.push_str(&text);
        self.indent -= 1;
        self.line("}");
    }

    fn write_late_locals(&mut self) {
        for line in std::mem::take(&mut self.late_locals) {
            self.line(&line);
        }
    }

    /// A claim: a chain of constructs, and what then has to hold for ever.
    fn claim(&mut self, chain: &[Construct]) {
        self.in_formula = true;
        self.line("never {");
        if self.chance(50) {
            self.line("do");
            self.line(":: true");
            let guard = self.global_condition();
            self.line(&format!(":: {guard} -> break"));
            self.line("od;");
        }
        self.nest(chain, Place::default());
        self.line("accept:");
        self.line("do");
        let guard = self.global_condition();
        self.line(&format!(":: {guard}"));
        self.line("od");
        self.line("}");
    }

    fn kind(&mut self) -> Kind {
        let kinds = [
            Kind::Bit,
            Kind::Bool,
            Kind::Byte,
            Kind::Byte,
            Kind::Short,
            Kind::Int,
            Kind::Unsigned,
            Kind::Mtype,
            Kind::Mtype,
        ];
        let kind = self.pick(&kinds);
        self.note(match kind {
            Kind::Bit => "bit",
            Kind::Bool => "bool",
            Kind::Byte => "byte",
            Kind::Short => "short",
            Kind::Int => "int",
            Kind::Unsigned => "unsigned",
            Kind::Mtype => "mtype",
        });
        kind
    }

    /// A declaration, and the variable.
    fn variable(&mut self, name: &str, array: bool) -> (String, Var) {
        let kind = self.kind();
        let length = array.then(|| self.random.between(2, 3));
        let mut text = format!("{} {name}", kind.text());
        if kind == Kind::Unsigned {
            let bits = self.random.between(1, 2);
            let _ = write!(text, " : {bits}");
        } else if let Some(length) = length {
            let _ = write!(text, "[{length}]");
        }
        let length = length.filter(|_| kind != Kind::Unsigned);
        if self.chance(40) {
            let value = match kind {
                Kind::Mtype => self.pick(&MEMBERS).to_owned(),
                Kind::Byte if self.chance(15) => {
                    self.note("wrap-around");
                    "255".to_owned()
                }
                Kind::Short if self.chance(15) => {
                    self.note("wrap-around");
                    "32767".to_owned()
                }
                _ => self.random.between(0, kind.small().min(1)).to_string(),
            };
            let _ = write!(text, " = {value}");
        }
        let var = Var {
            text: name.to_owned(),
            kind,
            length,
        };
        (text, var)
    }

    fn declarations(&mut self) {
        if self.chance(15) {
            self.note("record");
            self.line("typedef Pair { byte first; bit second };");
            self.line("Pair pair;");
            for (text, kind) in [("pair.first", Kind::Byte), ("pair.second", Kind::Bit)] {
                let text = text.to_owned();
                let length = None;
                self.globals.push(Var { text, kind, length });
            }
        }
        for at in 0..1 + self.random.below(3) {
            let array = self.chance(25);
            let (text, var) = self.variable(&format!("g{at}"), array);
            if var.length.is_some() {
                self.note("array");
            }
            self.line(&format!("{text};"));
            self.globals.push(var);
        }
        for at in 0..self.random.below(3) {
            let capacity = [0, 0, 1, 1, 2][self.random.below(5)];
            self.note(if capacity == 0 {
                "rendezvous"
            } else {
                "buffered"
            });
            let mut fields = vec![self.pick(&[Kind::Bit, Kind::Byte, Kind::Mtype, Kind::Bool])];
            if self.chance(40) {
                self.note("two fields");
                fields.push(self.pick(&[Kind::Bit, Kind::Byte, Kind::Mtype]));
            }
            let types: Vec<&str> = fields.iter().map(|kind| kind.text()).collect();
            let length = self.chance(20).then_some(2);
            let text = format!("c{at}");
            let mut declared = text.clone();
            if let Some(length) = length {
                self.note("channel array");
                let _ = write!(declared, "[{length}]");
            }
            self.line(&format!(
                "chan {declared} = [{capacity}] of {{ {} }};",
                types.join(", ")
            ));
            self.channels.push(Chan {
                text,
                capacity,
                fields,
                length,
            });
        }
        if self.globals.iter().any(|var| var.text == "pair.first") && self.chance(50) {
            self.records = true;
            let capacity = self.random.below(2);
            self.line(&format!("chan cr = [{capacity}] of {{ Pair }};"));
        }
        let single = self.channels.iter().filter(|c| c.length.is_none());
        let single: Vec<Chan> = single.cloned().collect();
        if let Some(channel) = self.random.one(&single).cloned()
            && self.chance(45)
        {
            let capacity = self.random.below(2);
            self.line(&format!("chan carrier = [{capacity}] of {{ chan }};"));
            self.carrier = Some(channel);
        }
    }

    fn locals(&mut self) {
        self.holds = self.carrier.is_some() && self.chance(60);
        if self.holds {
            self.line("chan h;");
        }
        for at in 0..self.random.below(3) {
            let array = self.chance(10);
            let (mut text, var) = self.variable(&format!("x{at}"), array);
            if var.kind != Kind::Mtype && !array && !text.contains('=') && self.chance(15) {
                self.note("initial value of a pid");
                text += self.pick(&[" = _pid", " = 1 - _pid", " = _pid - 1"]);
            }
            self.note(if var.length.is_some() {
                "local array"
            } else {
                "local"
            });
            self.line(&format!("{text};"));
            self.locals.push(var);
        }
    }

    fn active(&mut self, at: usize) {
        let name = format!("P{at}");
        if self.chance(20) {
            self.note("active several");
            self.line(&format!("active [2] proctype {name}() {{"));
        } else {
            self.note("active");
            self.line(&format!("active proctype {name}() {{"));
        }
        self.body(&name, Vec::new());
    }

    fn dormant(&mut self, at: usize) {
        let name = format!("P{at}");
        let mut parameters = Vec::new();
        for at in 0..self.random.below(3) {
            self.note("parameter");
            let kind = self.pick(&[Kind::Byte, Kind::Bit, Kind::Mtype, Kind::Short]);
            parameters.push(Var {
                text: format!("p{at}"),
                kind,
                length: None,
            });
        }
        let mut texts: Vec<String> = parameters
            .iter()
            .map(|var| format!("{} {}", var.kind.text(), var.text))
            .collect();
        let mut arguments: Vec<Argument> = parameters
            .iter()
            .map(|var| Argument::Value(var.kind))
            .collect();
        let all = self.channels.clone();
        if let Some(channel) = self.random.one(&all).cloned()
            && channel.length.is_none()
            && self.chance(50)
        {
            self.note("channel parameter");
            texts.push("chan q".to_owned());
            let alike = all.iter().filter(|other| {
                let same = other.capacity == channel.capacity && other.fields == channel.fields;
                same && other.length.is_none()
            });
            arguments.push(Argument::Channel(alike.map(|c| c.text.clone()).collect()));
            let text = "q".to_owned();
            self.channels.push(Chan { text, ..channel });
        }
        self.line(&format!("proctype {name}({}) {{", texts.join("; ")));
        self.body(&name, parameters);
        self.channels = all;
        self.dormant.push((name, arguments));
    }

    fn body(&mut self, name: &str, locals: Vec<Var>) {
        self.indent += 1;
        self.locals = locals;
        self.labels.clear();
        self.locals();
        let head = std::mem::take(&mut self.out);
        self.statements = 4 + self.random.below(7);
        let labels = if self.chance(40) {
            1 + self.random.below(2)
        } else {
            0
        };
        self.labels = (0..labels).map(|at| format!("L{at}")).collect();
        let parts = 1 + self.random.below(3);
        let for_ever = self.chance(60);
        if for_ever {
            self.note("do");
            if self.chance(50) {
                self.note("end label");
                self.line("end:");
            } else if self.chance(15) {
                let label = self.cycles;
                self.note(if label == "accept" {
                    "accept label"
                } else {
                    "progress label"
                });
                self.line(&format!("{label}:"));
            }
            self.line("do");
            let place = Place {
                in_loop: true,
                depth: 1,
                ..Place::default()
            };
            for _ in 0..1 + self.random.below(3) {
                let guard = self.any_guard();
                self.line(&format!(":: {guard};"));
                self.inside(|it| {
                    it.block(place, 3);
                    it.line("skip");
                });
            }
            if self.chance(60) {
                self.note("break");
                let guard = self.any_guard();
                self.line(&format!(":: {guard} -> break"));
            }
            self.line("od;");
        }
        for part in 0..parts.max(labels) {
            if part < labels {
                let label = self.labels[part].clone();
                // A jump to a d_step is an error, so a label stands in front of a step of its own.
                self.line(&format!("{label}: skip;"));
                self.remote.push((name.to_owned(), label));
            } else if self.chance(10) {
                self.note("end label");
                self.line(&format!("end{part}:"));
                self.test();
                continue;
            } else if self.chance(5) {
                let label = self.cycles;
                self.note(if label == "accept" {
                    "accept label"
                } else {
                    "progress label"
                });
                self.line(&format!("{label}{part}:"));
                self.assignment(Place::default());
                continue;
            }
            self.statement(Place::default());
        }
        let text = std::mem::replace(&mut self.out, head);
        self.write_late_locals();
        self.out.push_str(&text);
        self.indent -= 1;
        self.line("}");
        self.locals.clear();
        self.labels.clear();
    }

    fn init(&mut self) {
        self.note("init");
        self.line("init {");
        self.indent += 1;
        self.labels.clear();
        self.holds = false;
        let head = std::mem::take(&mut self.out);
        self.statements = 2 + self.random.below(3);
        if self.chance(30) {
            self.statement(Place::default());
        }
        let starts: Vec<String> = (0..self.dormant.len()).map(|at| self.start(at)).collect();
        match self.random.below(4) {
            0 if starts.len() >= 2 => {
                self.note("run in an option");
                self.line("if");
                for start in &starts {
                    self.line(&format!(":: {start}"));
                }
                self.line("fi;");
            }
            1 | 2 if !starts.is_empty() => {
                self.line("atomic {");
                for start in &starts {
                    self.line(&format!("\t{start};"));
                }
                self.line("\tskip");
                self.line("};");
            }
            _ => {
                for start in &starts {
                    self.line(&format!("{start};"));
                }
            }
        }
        if self.chance(40) {
            self.statement(Place::default());
        }
        if self.chance(10) {
            self.note("_nr_pr");
            self.line("(_nr_pr <= 2);");
        }
        let text = std::mem::replace(&mut self.out, head);
        self.write_late_locals();
        self.out.push_str(&text);
        self.line("skip");
        self.indent -= 1;
        self.line("}");
    }

    fn start(&mut self, at: usize) -> String {
        self.note("run");
        let (name, wanted) = self.dormant[at].clone();
        let mut arguments = Vec::new();
        for argument in wanted {
            self.note("run with parameters");
            arguments.push(match argument {
                Argument::Channel(names) => self.pick(&names),
                Argument::Value(kind) if self.chance(30) => {
                    self.note("computed argument");
                    self.value(kind, 1)
                }
                Argument::Value(kind) => self.constant(kind),
            });
        }
        format!("run {name}({})", arguments.join(", "))
    }
}
