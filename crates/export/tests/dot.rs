//! Control flow for Graphviz: `dot` reads what is written of every model of the library, and sees as many labels and ways as there are.

use std::io::Write;
use std::process::{Command, Stdio};

use threadwise_export::dot::dot;
use threadwise_lang::control_flow;
use threadwise_lang::program::{Program, Span};

/// Whether Graphviz is there.
fn have_dot() -> bool {
    Command::new("dot").arg("-V").output().is_ok()
}

fn program(text: &str) -> Program {
    let checked = threadwise_lang::check(text);
    let errors = checked.diagnostics;
    checked.program.unwrap_or_else(|| panic!("{errors:?}"))
}

/// How many nodes and edges `dot` lays out.
fn laid_out(graph: &str) -> (usize, usize) {
    let mut child = Command::new("dot")
        .args(["-Tplain"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = graph.to_owned();
    let writing = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && complaints.is_empty(),
        "{complaints}\n{graph}"
    );
    let plain = String::from_utf8(output.stdout).unwrap();
    let lines = |word: &str| plain.lines().filter(|line| line.starts_with(word)).count();
    (lines("node "), lines("edge "))
}

/// How many there should be: labels that are written, ends that are reached, and a point where each template begins.
fn expected(program: &Program) -> (usize, usize) {
    let (mut nodes, mut edges) = (0, 0);
    for (id, template) in program.templates.iter_enumerated() {
        let ways = control_flow(program, id);
        let ends = ways.iter().any(|(_, to)| *to == template.done());
        nodes += template.locations.len() - 1 + usize::from(ends) + 1;
        edges += ways.len() + 1;
    }
    (nodes, edges)
}

#[test]
fn graphviz_reads_the_library() {
    if !have_dot() {
        eprintln!("SKIPPED: graphs are not read by Graphviz, which is missing");
        return;
    }
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(models).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "tw") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            texts.push((name, std::fs::read_to_string(path).unwrap()));
        }
    }
    assert!(texts.len() > 20);
    for (name, text) in texts {
        let program = program(&text);
        let line = |span: Span| {
            let before = &text[..span.start as usize];
            let number = before.matches('\n').count();
            Some((number as u32 + 1, text.lines().nth(number)?.to_owned()))
        };
        let graph = dot(&name, &program, &line);
        assert_eq!(laid_out(&graph), expected(&program), "{name}\n{graph}");
    }
}

/// Quotes, backslashes, and lines that are very long.
#[test]
fn whatever_stands_in_a_line_is_text() {
    let program = program("process P { a: skip; }");
    let hostile = r#"" ] }; x -> y; \N \\" <b> "#.to_owned() + &"ä".repeat(500);
    let graph = dot("\"; } \\", &program, &|_| Some((1, hostile.clone())));
    assert!(
        graph.lines().all(|line| line.chars().count() < 200),
        "{graph}"
    );
    if have_dot() {
        assert_eq!(laid_out(&graph), (3, 2));
    }
}
