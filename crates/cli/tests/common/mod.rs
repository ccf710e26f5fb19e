//! Running the binary in a directory of its own, and what every test asks of its output.

pub mod browser;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

/// A directory that is removed at the end of the test.
pub struct Place(PathBuf);

impl Place {
    pub fn new() -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("threadwise-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Writes a program for the shell: what stands in `bin` here under this name.
    #[cfg(unix)]
    pub fn script(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.file(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }

    /// The binary, to be run here.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadwise"));
        command.args(args).current_dir(&self.0);
        command.env_remove("NO_COLOR").stdin(Stdio::null());
        command
    }

    /// Runs the binary.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Runs the binary with this standard input.
    pub fn run_with(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // The program may end before it has read everything.
            let _ = stdin.write_all(&input);
        });
        let ran = Ran::of(child.wait_with_output().unwrap());
        writer.join().unwrap();
        ran
    }

    /// Runs the binary, and says how many seconds of the processor it took with all that it started. A busy machine takes longer by the clock, but
    /// not by this measure.
    #[cfg(unix)]
    pub fn measured(&self, args: &[&str]) -> (Ran, f64) {
        let script = "\"$0\" \"$@\"; status=$?; times > times; exit $status";
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_threadwise")]);
        command.args(args).current_dir(&self.0);
        command.env_remove("NO_COLOR").stdin(Stdio::null());
        let ran = Ran::of(command.output().unwrap());
        let times = std::fs::read_to_string(self.0.join("times")).unwrap();
        // The second line is about what the shell has waited for: `0m1.250s 0m0.030s`.
        let seconds = |word: &str| -> Option<f64> {
            let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
            Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
        };
        let words = times.lines().nth(1).unwrap_or_default().split_whitespace();
        let words: Vec<f64> = words.map(|word| seconds(word).unwrap()).collect();
        assert_eq!(words.len(), 2, "{times}");
        (ran, words.iter().sum())
    }

    /// Runs `check --json` and holds the output against the schema.
    pub fn json(&self, args: &[&str]) -> (Value, Ran) {
        let mut all = vec!["check", "--json"];
        all.extend(args);
        let ran = self.run(&all);
        let value = ran.json();
        (value, ran)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How long a test waits for what must happen, before it says that it does not: long enough for the busiest machine.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// What a run left behind.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The output as JSON, which must be as the schema says and have the right exit status in it.
    #[track_caller]
    pub fn json(&self) -> Value {
        let value: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert_schema(&value);
        assert_eq!(value["exit"], self.status, "{self:?}");
        value
    }

    #[track_caller]
    pub fn expect(self, status: i32) -> Ran {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// The error output must contain this.
    #[track_caller]
    pub fn complains(self, of: &str) -> Ran {
        assert!(self.stderr.contains(of), "no `{of}` in {self:?}");
        self
    }

    /// The output must contain this.
    #[track_caller]
    pub fn says(self, what: &str) -> Ran {
        assert!(self.stdout.contains(what), "no `{what}` in {self:?}");
        self
    }

    /// Nothing in the output is a command to a terminal.
    #[track_caller]
    pub fn plain(self) -> Ran {
        let command = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        assert!(
            !self.stdout.contains(command) && !self.stderr.contains(command),
            "{self:?}"
        );
        self
    }

    /// The output without what differs between two runs.
    pub fn stable(&self) -> String {
        stable(&self.stdout)
    }
}

/// A text with its durations replaced: `12 ms` and `0.3 s` become `TIME`.
pub fn stable(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let (unit, rest) = match word.split_at_checked(2) {
            Some(("ms", rest)) => ("ms", rest),
            _ => match word.split_at_checked(1) {
                Some(("s", rest)) => ("s", rest),
                _ => ("", ""),
            },
        };
        let number = words.last().is_some_and(|last| {
            !last.is_empty() && last.chars().all(|c| c.is_ascii_digit() || c == '.')
        });
        let ends = rest.chars().next().is_none_or(|c| !c.is_alphanumeric());
        if !unit.is_empty() && number && ends {
            words.pop();
            words.push(format!("TIME{rest}"));
        } else {
            words.push(word.to_owned());
        }
    }
    words.join(" ")
}

/// Holds a report against the published schema.
#[track_caller]
pub fn assert_schema(value: &Value) {
    static VALIDATOR: OnceLock<jsonschema::Validator> = OnceLock::new();
    let validator = VALIDATOR.get_or_init(|| {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/check.schema.json");
        let schema = std::fs::read_to_string(path).unwrap();
        jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap()
    });
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?} in {value:#}");
}

/// A report without its statistics.
pub fn without_stats(mut value: Value) -> Value {
    for run in value["runs"].as_array_mut().unwrap() {
        for result in run["results"].as_array_mut().unwrap() {
            result["stats"] = Value::Null;
        }
    }
    value
}

/// The result about a property in the first run.
#[track_caller]
pub fn result<'a>(report: &'a Value, property: &str) -> &'a Value {
    let results = report["runs"][0]["results"].as_array().unwrap();
    let found = results.iter().find(|result| result["property"] == property);
    found.unwrap_or_else(|| panic!("no `{property}` in {report:#}"))
}

/// A lock that works, and one liveness property.
pub const LOCK: &str = "\
param N = 3 where N >= 2;
shared busy: bool = false;
process P[i: 1..N] {
    loop {
        idle:     stay;
        enter:    atomic { await !busy; busy := true; }
        critical: skip;
        leave:    busy := false;
    }
}
invariant mutex: forall i, j in P: i != j -> !(P[i] at {critical, leave} && P[j] at {critical, leave});
deadlock_free;
fairness scheduling: unconditional;
liveness access under scheduling: forall i in P: G (P[i] at enter -> F P[i] at critical);
";

/// A lock that does not work: test and set are two steps.
pub const BROKEN: &str = "\
param N = 2 where N >= 2;
shared busy: bool = false;
process P[i: 1..N] {
    loop {
        idle:     stay;
        test:     await !busy;
        set:      busy := true;
        critical: skip;
        leave:    busy := false;
    }
}
invariant mutex: forall i, j in P: i != j -> !(P[i] at {critical, leave} && P[j] at {critical, leave});
";

/// A model that no engine decides soon: ten thousand million states, and numbers that no diagram is small for.
pub const SCATTERED: &str = "\
param N = 2;
shared a, b: 0..100002 = 1;
process P[i: 1..N] {
    loop {
        step: choose { a := (a * 1103 + 12345) % 100003; }
              or { b := (b * 3011 + 7) % 100003; }
    }
}
invariant apart: a != 5 || b != 5 || N < 1;
";

/// A counter that has more states than any limit in the tests allows.
pub const ENDLESS: &str = "\
param N = 4;
shared a, b, c: 0..100000 = 0;
process P[i: 1..N] {
    loop {
        step: choose { await a < 100000; a := a + 1; }
              or { await b < 100000; b := b + 1; }
              or { await c < 100000; c := c + 1; }
    }
}
invariant small: a <= 100000;
";
