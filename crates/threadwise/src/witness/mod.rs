//! Results about C programs in the format that the software verification competition exchanges, so that other tools can confirm them: verification witnesses, in YAML.
//!
//! A violation is a `violation_sequence` (version 2.2 of the format): the lines that the threads come to, in order, each with the number of its thread, and in the end the line
//! where the property is violated. The main thread is 0, the others are numbered as they are created. What a step does inside a statement has no place in the format, so a
//! statement is one waypoint however many steps it takes, and whoever replays it may have to try several interleavings of the statements.
//!
//! A proof is an `invariant_set` (version 2.1): what holds whenever a thread is at a line. It comes from the [outline](crate::Outline) of the proof. Facts that C cannot say there are
//! left out, so what is written is true and may be weaker than the proof: nothing is written about local variables (a function that is inlined twice has two of each), about
//! how many threads are where, and about what lies inside a statement. Mutexes that the program only ever locks and unlocks by name become ghost variables, in a
//! `ghost_instrumentation`.
//!
//! Nothing here reads a clock: the caller says when the witness was made. Its UUID is computed from what it says.

mod facts;
mod hash;
mod nodes;
mod program;
mod proof;
mod run;
mod yaml;

#[cfg(test)]
mod tests;

use threadwise_evidence::{CheckName, Ending, Trace};

use crate::plan::CHECKS;
use crate::report::{PropertyResult, VerdictKind};
use crate::session::Session;
use program::Program;
use yaml::Node;

/// Why there is no witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoWitness {
    /// The verdict is unknown.
    #[error("a witness shows why a verdict holds, and there is none")]
    Unknown,
    /// Another property than the built-in checks.
    #[error("witnesses are about assertions and overflows, not about other properties")]
    Property,
    /// A program of templates, or one that is not in C.
    #[error("witnesses are about C programs that begin with `main`")]
    Main,
    /// A check that the competition has no property for.
    #[error("the competition has no property that this violates: {0}")]
    Check(CheckName),
    /// The failing check has no line in the program.
    #[error("the run ends at a place that is not in the program's own text")]
    Place,
}

/// The witness for what a session of a C program found about the checks, in YAML. `data_model` is how wide types were read, by the competition's
/// name for it, and `time` is when it was made, as ISO 8601 has it.
pub fn witness(
    session: &Session,
    result: &PropertyResult,
    data_model: &str,
    time: &str,
) -> Result<String, NoWitness> {
    if result.property != CHECKS {
        return Err(NoWitness::Property);
    }
    let source = Program::of(session);
    if !source.defines("main") {
        return Err(NoWitness::Main);
    }
    match (result.verdict, &result.trace) {
        (VerdictKind::Violated, Some(trace)) => {
            let specification = violated(&source, trace)?;
            let content = run::segments(session, &source, trace)?;
            let entry = Entry {
                kind: "violation_sequence",
                version: "2.2",
                specification,
                content,
            };
            Ok(yaml::text(&[entry.node(&source, data_model, time)]))
        }
        (VerdictKind::Proved, _) => {
            let specification = source.specification();
            let proof = proof::Proof::new(&source, result.outline.as_ref());
            let mut entries = Vec::new();
            let mut entry = |kind, content| {
                let entry = Entry {
                    kind,
                    version: "2.1",
                    specification,
                    content,
                };
                entries.push(entry.node(&source, data_model, time));
            };
            if let Some(ghosts) = proof.ghosts(&source) {
                entry("ghost_instrumentation", ghosts);
            }
            entry("invariant_set", proof.invariants(&source));
            Ok(yaml::text(&entries))
        }
        _ => Err(NoWitness::Unknown),
    }
}

/// What the competition calls the property that a run violates.
fn violated(source: &Program<'_>, trace: &Trace) -> Result<&'static str, NoWitness> {
    let Ending::Check {
        check,
        line,
        meaning,
        ..
    } = &trace.ending
    else {
        return Err(NoWitness::Property);
    };
    let words = |word: &str| line.is_some_and(|line| source.mentions(line, word));
    let overflows = |meaning: &String| meaning.starts_with("signed overflow");
    match check {
        CheckName::Assert | CheckName::Range if meaning.as_ref().is_some_and(overflows) => {
            Ok(OVERFLOW)
        }
        CheckName::Assert if words("reach_error") => Ok(REACH_ERROR),
        CheckName::Assert if words("assert") || words("__assert_fail") => Ok(ASSERT),
        // One that stands for something else in the program, such as the release of a lock.
        CheckName::Assert if meaning.is_some() => Err(NoWitness::Check(*check)),
        CheckName::Assert => Ok(ASSERT),
        CheckName::Range => Ok(OVERFLOW),
        CheckName::Index => Ok(DEREFERENCE),
        check => Err(NoWitness::Check(*check)),
    }
}

const REACH_ERROR: &str = "CHECK( init(main()), LTL(G ! call(reach_error())) )";
const ASSERT: &str = "CHECK( init(main()), LTL(G ! call(__assert_fail())) )";
const OVERFLOW: &str = "CHECK( init(main()), LTL(G ! overflow) )";
const DEREFERENCE: &str = "CHECK( init(main()), LTL(G valid-deref) )";

/// An entry of a witness.
struct Entry {
    kind: &'static str,
    version: &'static str,
    specification: &'static str,
    content: Node,
}

impl Entry {
    fn node(self, source: &Program<'_>, data_model: &str, time: &str) -> Node {
        let file = source.file();
        let hash = hash::sha256(source.text().as_bytes());
        let producer = Node::map([
            ("name", Node::text("threadwise")),
            ("version", Node::text(env!("CARGO_PKG_VERSION"))),
        ]);
        let task = Node::map([
            ("input_files", Node::List(vec![Node::text(file)])),
            (
                "input_file_hashes",
                Node::Map(vec![(file.to_owned(), Node::text(&hash))]),
            ),
            ("specification", Node::text(self.specification)),
            ("data_model", Node::text(data_model)),
            ("language", Node::text("C")),
        ]);
        let identity = [
            self.kind,
            &hash,
            time,
            &yaml::text(std::slice::from_ref(&self.content)),
        ]
        .join("\n");
        let metadata = Node::map([
            ("format_version", Node::text(self.version)),
            ("uuid", Node::text(&hash::uuid(identity.as_bytes()))),
            ("creation_time", Node::text(time)),
            ("producer", producer),
            ("task", task),
        ]);
        Node::map([
            ("entry_type", Node::text(self.kind)),
            ("metadata", metadata),
            ("content", self.content),
        ])
    }
}
