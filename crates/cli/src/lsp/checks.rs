//! Checks of properties from the editor: each in a process of its own, this same binary started as `threadwise check -`.
//!
//! So a check never makes other requests wait, and it can be ended at any time: when its request is cancelled, when the text changes, or
//! when the server ends. One check runs at a time, for it may use all cores; the others wait in line. What it found is kept
//! together with the text it is about, so it is current whenever that is the text again.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::Sender;
use std::thread;

use serde_json::{Value, json};

use super::Event;
use threadwise_bench::process::keep_beginning;

/// More output than this is not read.
const MOST_OUTPUT: u64 = 64 << 20;
/// Of what a check says on its error stream, this much is kept.
const WORDS_KEPT: usize = 4096;
/// More steps than this are not listed with a violation.
const MOST_STEPS: usize = 100;
/// A longer reason is cut.
const LONGEST_REASON: usize = 160;

/// A check that was asked for.
pub(super) struct Wanted {
    /// The request that waits for it.
    pub(super) request: Value,
    pub(super) uri: String,
    /// The property; all of them, if none is named.
    pub(super) property: Option<String>,
    pub(super) text: Rc<str>,
    /// Where progress is reported, if the client wants to hear of it.
    pub(super) progress: Option<Value>,
}

impl Wanted {
    /// What is checked, for people.
    pub(super) fn title(&self) -> String {
        match &self.property {
            Some(property) => format!("checking {property}"),
            None => "checking all properties".to_owned(),
        }
    }
}

/// The check that is running, and those that wait for it.
pub(super) struct Checks {
    events: Sender<Event>,
    running: Option<Running>,
    waiting: VecDeque<Wanted>,
    started: u64,
}

struct Running {
    number: u64,
    child: Child,
    wanted: Wanted,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only if the process has ended already. Its workers end when it does.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a check printed.
pub(super) struct Printed {
    pub(super) number: u64,
    output: Vec<u8>,
    words: String,
}

impl Checks {
    pub(super) fn new(events: Sender<Event>) -> Checks {
        Checks {
            events,
            running: None,
            waiting: VecDeque::new(),
            started: 0,
        }
    }

    pub(super) fn add(&mut self, wanted: Wanted) {
        self.waiting.push_back(wanted);
    }

    /// Starts the next check if none is running. What cannot be started comes back with the reason.
    pub(super) fn start_next(&mut self, seconds: f64) -> Option<Result<&Wanted, (Wanted, String)>> {
        if self.running.is_some() {
            return None;
        }
        let wanted = self.waiting.pop_front()?;
        self.started += 1;
        match start(&wanted, self.started, seconds, self.events.clone()) {
            Ok(child) => {
                let running = self.running.insert(Running {
                    number: self.started,
                    child,
                    wanted,
                });
                Some(Ok(&running.wanted))
            }
            Err(error) => Some(Err((
                wanted,
                format!("the check cannot be started: {error}"),
            ))),
        }
    }

    /// The check that has printed this, if it was not ended meanwhile.
    pub(super) fn finish(&mut self, number: u64) -> Option<Wanted> {
        let mut running = self.running.take_if(|running| running.number == number)?;
        let nothing = Wanted {
            request: Value::Null,
            uri: String::new(),
            property: None,
            text: "".into(),
            progress: None,
        };
        Some(std::mem::replace(&mut running.wanted, nothing))
    }

    /// Ends the checks that are unwanted now, and takes those that wait out of the line.
    pub(super) fn end(&mut self, unwanted: impl Fn(&Wanted) -> bool) -> Vec<Wanted> {
        let mut ended = Vec::new();
        if let Some(number) = (self.running.as_ref())
            .filter(|running| unwanted(&running.wanted))
            .map(|running| running.number)
        {
            ended.extend(self.finish(number));
        }
        let waiting = std::mem::take(&mut self.waiting);
        for wanted in waiting {
            match unwanted(&wanted) {
                true => ended.push(wanted),
                false => self.waiting.push_back(wanted),
            }
        }
        ended
    }

    /// Whether a property is being checked, or will be.
    pub(super) fn is_wanted(&self, uri: &str, property: &str) -> bool {
        let running = self.running.iter().map(|running| &running.wanted);
        running.chain(&self.waiting).any(|wanted| {
            wanted.uri == uri && wanted.property.as_deref().is_none_or(|p| p == property)
        })
    }
}

fn start(
    wanted: &Wanted,
    number: u64,
    seconds: f64,
    events: Sender<Event>,
) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["check", "-", "--json", "--explain", "--with-parent"]);
    command.arg(format!("--total-timeout={seconds}"));
    if let Some(property) = &wanted.property {
        command.arg(format!("--property={property}"));
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        let text = wanted.text.as_bytes().to_vec();
        // A check that ends early closes the pipe; what it said is the better message.
        thread::spawn(move || input.write_all(&text));
    }
    let words = child.stderr.take();
    let words = words.map(|words| thread::spawn(move || keep_beginning(words, WORDS_KEPT)));
    let output = child.stdout.take();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(output) = output {
            // What is cut short is no JSON, and said to be none.
            let _ = output.take(MOST_OUTPUT).read_to_end(&mut bytes);
        }
        let words = words.and_then(|words| words.join().ok());
        // The server has ended if nobody listens.
        let _ = events.send(Event::Printed(Printed {
            number,
            output: bytes,
            words: words.unwrap_or_default(),
        }));
    });
    Ok(child)
}

/// What a check said about a property.
pub(super) struct Outcome {
    /// `proved`, `violated` or `unknown`.
    pub(super) verdict: String,
    /// The verdict with what it is about.
    pub(super) summary: String,
    /// If the proof is of one instance of the claim: ` at N=3`.
    pub(super) instance: String,
    /// The steps of a violation.
    pub(super) steps: Vec<Step>,
    outline: Value,
    text: Rc<str>,
}

/// A step of a violation.
pub(super) struct Step {
    /// As the command line counts lines, from 1.
    pub(super) line: usize,
    pub(super) text: String,
}

impl Outcome {
    /// Whether the verdict is about this text.
    pub(super) fn is_about(&self, text: &Rc<str>) -> bool {
        Rc::ptr_eq(&self.text, text) || self.text == *text
    }

    pub(super) fn is_violation(&self) -> bool {
        self.verdict == "violated"
    }

    /// What the proof says holds when a process of a template is at a label.
    pub(super) fn facts_at(&self, template: &str, label: &str) -> Vec<String> {
        let strings = |list: &Value| -> Vec<String> {
            let list = list.as_array().into_iter().flatten();
            list.filter_map(|fact| Some(fact.as_str()?.to_owned()))
                .collect()
        };
        let mut facts = Vec::new();
        for process in self.outline["processes"].as_array().into_iter().flatten() {
            let name = process["process"].as_str().unwrap_or_default();
            if name.split('[').next() != Some(template) {
                continue;
            }
            for group in process["labels"].as_array().into_iter().flatten() {
                if strings(&group["labels"]).iter().any(|known| known == label) {
                    facts.extend(strings(&group["holds"]));
                }
            }
        }
        // What holds always is worth a line where nothing more is known.
        if facts.is_empty() {
            facts = strings(&self.outline["always"]);
        }
        facts
    }
}

/// Reads what a check printed: an outcome for each property, or why there is none.
pub(super) fn read(printed: &Printed, text: &Rc<str>) -> Result<Vec<(String, Outcome)>, String> {
    let words = printed.words.lines().next().unwrap_or_default().trim();
    let output: Value = serde_json::from_slice(&printed.output).map_err(|_| match words {
        "" => "the check ended without an answer".to_owned(),
        words => words.to_owned(),
    })?;
    let run = &output["runs"][0];
    let results = run["results"].as_array().map_or(&[][..], Vec::as_slice);
    if results.is_empty() {
        let message = run["diagnostics"][0]["message"].as_str();
        return Err(message.unwrap_or("nothing was checked").to_owned());
    }
    let outcome = |result: &Value| {
        let name = result["property"].as_str()?.to_owned();
        let outcome = Outcome {
            verdict: result["verdict"].as_str()?.to_owned(),
            summary: summary(result),
            instance: at(&result["shown"]),
            steps: steps(&result["trace"]),
            outline: result["outline"].clone(),
            text: Rc::clone(text),
        };
        Some((name, outcome))
    };
    Ok(results.iter().filter_map(outcome).collect())
}

/// A verdict in a few words: `proved for all N where N >= 2, by counter`.
fn summary(result: &Value) -> String {
    let verdict = result["verdict"].as_str().unwrap_or("unknown");
    let mut out = verdict.to_owned();
    if verdict == "unknown" {
        let reason = result["reason"]["message"].as_str().unwrap_or_default();
        let cut: String = reason.chars().take(LONGEST_REASON).collect();
        let dots = if cut.len() < reason.len() { ".." } else { "" };
        let gap = &result["reason"]["missing"]["gap"];
        let missing = gap.as_str().map(|gap| format!("; missing: {gap}"));
        return format!("{out}: {cut}{dots}{}", missing.unwrap_or_default());
    }
    let scope = &result["scope"];
    if let Some(parameters) = scope["parameters"].as_array() {
        let names: Vec<&str> = parameters.iter().filter_map(Value::as_str).collect();
        out.push_str(&format!(" for all {}", names.join(", ")));
        if let Some(condition) = scope["where"].as_str().filter(|text| *text != "true") {
            out.push_str(&format!(" where {condition}"));
        }
    }
    out.push_str(&at(&scope["values"]));
    if verdict == "violated" {
        let count = result["trace"]["steps"].as_array().map_or(0, Vec::len);
        out.push_str(&format!(
            ", after {}",
            threadwise_show::words::counted(count as u64, "step")
        ));
    } else if let Some(engine) = result["engine"].as_str() {
        out.push_str(&format!(", by {engine}"));
    }
    out
}

/// Values of parameters, to follow what holds there: ` at N=3`, and nothing if there are none.
fn at(values: &Value) -> String {
    let values = values.as_object().into_iter().flatten();
    let values: Vec<String> = values
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    match values.is_empty() {
        true => String::new(),
        false => format!(" at {}", values.join(", ")),
    }
}

fn steps(trace: &Value) -> Vec<Step> {
    let steps = trace["steps"].as_array().into_iter().flatten();
    let line = |value: &Value| usize::try_from(value["line"].as_u64()?).ok();
    let step = |(number, step): (usize, &Value)| {
        let word = |name: &str| step[name].as_str().unwrap_or_default().to_owned();
        let mut text = format!("{}. {}", number + 1, word("process"));
        if step["to"].is_string() {
            text.push_str(&format!(": {} to {}", word("from"), word("to")));
        }
        let changes = step["changes"].as_object().into_iter().flatten();
        for (position, (cell, value)) in changes.enumerate() {
            let between = if position == 0 { "; " } else { ", " };
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            text.push_str(&format!("{between}{cell} = {value}"));
        }
        Some(Step {
            line: line(step)?,
            text,
        })
    };
    let mut out: Vec<Step> = steps
        .enumerate()
        .filter_map(step)
        .take(MOST_STEPS)
        .collect();
    // Where a check fails is one more place, for the step that fails is none of the run.
    if let Some(at) = line(&trace["ending"]) {
        let word = |name: &str| trace["ending"][name].as_str().unwrap_or_default();
        let text = format!(
            "here {} at {} fails a check: {}",
            word("process"),
            word("from"),
            word("check")
        );
        out.push(Step { line: at, text });
    }
    out
}

/// The answer to whoever asked for a check.
pub(super) fn answer(outcomes: &[(String, Outcome)]) -> Value {
    outcomes
        .iter()
        .map(|(property, outcome)| {
            json!({
                "property": property,
                "verdict": outcome.verdict,
                "summary": outcome.summary,
            })
        })
        .collect()
}
