//! What SPIN says about a program.
//!
//! The verifier is made without reductions: no partial orders, one step for each statement (`-o3`), variables kept when they
//! are dead (`-o1`) and when nobody reads them (`-o2`). Then a stored state of SPIN is a state of the program.

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use threadwise_testgen::tools::have;

/// Whether the comparison has to be left out; says so.
pub fn skip() -> bool {
    let missing = [have("spin"), compiler().is_some()];
    if missing == [true, true] {
        return false;
    }
    eprintln!("SKIPPED: comparison with SPIN, because spin or a C compiler is missing");
    true
}

/// `tcc` compiles a verifier ten times as fast as `gcc`.
fn compiler() -> Option<&'static str> {
    static COMPILER: OnceLock<Option<&'static str>> = OnceLock::new();
    *COMPILER.get_or_init(|| ["tcc", "gcc"].into_iter().find(|tool| have(tool)))
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// SPIN does not take the program.
    Refused(String),
    /// There are too many states for this test.
    TooLarge,
}

/// What SPIN finds in all states, without claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Safety {
    /// An assertion fails, or an index is out of range.
    pub checks_violated: bool,
    /// There is an invalid end state. Where checks fail SPIN goes on, and may find it behind the failure.
    pub ends_violated: bool,
    /// States stored.
    pub states: u64,
}

/// A program in a directory of its own.
pub struct Spin {
    dir: PathBuf,
    defines: Vec<String>,
    /// Little memory and depth, for programs that may be large.
    small: bool,
}

/// No verifier runs longer, small or not.
const SECONDS: [u64; 2] = [60, 3];

impl Spin {
    pub fn new(dir: &Path, text: &str, defines: &[(String, String)]) -> Spin {
        std::fs::create_dir_all(dir).unwrap();
        std::fs::write(dir.join("model.pml"), text).unwrap();
        std::fs::write(dir.join("unasserted.pml"), without_assertions(text)).unwrap();
        for line in text.lines() {
            let file = line
                .strip_prefix("#include \"")
                .and_then(|rest| rest.split('"').next());
            if let Some(file) = file {
                std::fs::copy(
                    crate::from_promela::ours::models().join(file),
                    dir.join(file),
                )
                .unwrap();
            }
        }
        Spin {
            dir: dir.to_owned(),
            defines: defines
                .iter()
                .map(|(name, value)| format!("-D{name}={value}"))
                .collect(),
            small: false,
        }
    }

    /// Gives up after some ten thousand states.
    pub fn small(mut self) -> Spin {
        self.small = true;
        self
    }

    pub fn safety(&self) -> Result<Safety, Failure> {
        self.generate("model.pml")?;
        self.compile(&["-DSAFETY", "-DNOCLAIM"])?;
        let report = self.verify(&["-c0"])?;
        let states = report
            .lines()
            .find_map(|line| line.split_once(" states, stored"));
        let states = states.and_then(|(number, _)| number.trim().parse().ok());
        let mut found = Safety {
            checks_violated: false,
            ends_violated: false,
            states: states.ok_or_else(|| Failure::Refused(report.clone()))?,
        };
        for message in messages(&report) {
            let fails = ["assertion violated", "ref to uninitialized chan"];
            if fails.iter().any(|words| message.starts_with(words)) {
                found.checks_violated = true;
            } else if message.starts_with("invalid end state") {
                found.ends_violated = true;
            } else {
                return Err(Failure::Refused(message.to_owned()));
            }
        }
        Ok(found)
    }

    /// Whether runs violate a formula; `None` is for a claim, or acceptance labels, that the program has. Assertions do not count.
    pub fn claim(&self, name: Option<&str>) -> Result<bool, Failure> {
        let mut arguments = vec!["-a"];
        if let Some(name) = name {
            arguments.extend(["-N", name]);
        }
        self.cycles(&[], &arguments)
    }

    /// Whether runs go on for ever without progress.
    pub fn non_progress(&self) -> Result<bool, Failure> {
        self.cycles(&["-DNP"], &["-l"])
    }

    fn cycles(&self, compile: &[&str], verify: &[&str]) -> Result<bool, Failure> {
        self.generate("unasserted.pml")?;
        self.compile(compile)?;
        let report = self.verify(verify)?;
        let mut violated = false;
        for message in messages(&report) {
            let known = [
                "assertion violated",
                "acceptance cycle",
                "accept stutter",
                "non-progress cycle",
                "end state in claim reached",
            ];
            if !known.iter().any(|known| message.starts_with(known)) {
                return Err(Failure::Refused(message.to_owned()));
            }
            violated = true;
        }
        Ok(violated)
    }

    fn generate(&self, file: &str) -> Result<(), Failure> {
        let output = Command::new("spin")
            .args(["-a", "-o1", "-o2", "-o3"])
            .args(&self.defines)
            .arg(file)
            .current_dir(&self.dir)
            .output()
            .unwrap();
        let said = said(&output);
        // Some errors leave the exit code at 0.
        if !output.status.success() || said.contains("Error:") || said.contains("syntax error") {
            return Err(Failure::Refused(said));
        }
        Ok(())
    }

    fn compile(&self, defines: &[&str]) -> Result<(), Failure> {
        let output = Command::new(compiler().unwrap())
            .args(["-w", "-DNOREDUCE", "-o", "pan"])
            .args(self.small.then_some("-DMEMLIM=16"))
            .args(defines)
            .arg("pan.c")
            .current_dir(&self.dir)
            .output()
            .unwrap();
        if !output.status.success() {
            return Err(Failure::Refused(said(&output)));
        }
        Ok(())
    }

    fn verify(&self, arguments: &[&str]) -> Result<String, Failure> {
        let report = self.dir.join("report");
        let file = std::fs::File::create(&report).unwrap();
        // A limit on the time of the processor also ends a verifier whose test is gone.
        let seconds = SECONDS[usize::from(self.small)];
        let command = format!("ulimit -t {seconds}; exec ./pan \"$@\"");
        let status = Command::new("sh")
            .args(["-c", &command, "pan", "-n", "-w18"])
            .arg(if self.small { "-m20000" } else { "-m200000" })
            .args(arguments)
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .status()
            .unwrap();
        let mut report = std::fs::read_to_string(&report).unwrap();
        let full = [
            "max search depth too small",
            "reached -DMEMLIM bound",
            "out of memory",
        ];
        // The first signal says that the time is over, the second that it is not heard.
        let late = matches!(status.signal(), Some(24 | 9));
        if late || full.iter().any(|words| report.contains(words)) {
            return Err(Failure::TooLarge);
        }
        if status.code().is_none() {
            let _ = write!(report, "the verifier crashed: {status}");
            return Err(Failure::Refused(report));
        }
        Ok(report)
    }
}

/// What a verifier complains about: `pan:1: message (at depth 3)`.
fn messages(report: &str) -> impl Iterator<Item = &str> {
    report.lines().filter_map(|line| {
        let (number, message) = line.strip_prefix("pan:")?.split_once(": ")?;
        number
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then_some(message)
    })
}

fn said(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}

/// The program without its assertions. Those of a claim stay: they are what the claim finds. (SPIN writes those that come of formulas behind the
/// preprocessor.)
fn without_assertions(text: &str) -> String {
    const HIDDEN: &str = "#define assert(x) true\n";
    let mut out = String::from(HIDDEN);
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with("never") {
            out.push_str("#undef assert\n");
            inside = true;
        }
        out.push_str(line);
        if inside && line.starts_with('}') {
            out.push_str(HIDDEN);
            inside = false;
        }
    }
    out
}
