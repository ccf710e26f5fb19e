//! The formatter keeps every token and comment, and is stable.

use std::fs;
use std::path::{Path, PathBuf};

use crate::invariants;

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut paths: Vec<PathBuf> = [folder.join("any"), folder]
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).expect("the model library"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "tw"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 55, "only {} models", paths.len());
    paths
}

/// Formats a text, and checks that the formatter does what it must.
fn check(text: &str) -> String {
    invariants::formatter(text);
    threadwise_lang::format(text).expect("no syntax errors")
}

#[test]
fn the_model_library_is_formatted() {
    for path in models() {
        let text = fs::read_to_string(&path).expect("readable");
        assert_eq!(check(&text), text, "{} is not formatted", path.display());
    }
}

#[test]
fn squeezed_models_keep_their_tokens() {
    for path in models() {
        let text = fs::read_to_string(&path).expect("readable");
        // Every token on its own line, and all on one line where comments allow it.
        let pieces = invariants::essence(&text);
        for (separator, comments) in [("\n", true), (" ", false)] {
            let squeezed: Vec<&str> = pieces
                .iter()
                .filter(|(kind, _)| comments || !kind.is_trivia())
                .map(|(_, text)| text.as_str())
                .collect();
            check(&squeezed.join(separator));
        }
    }
}

#[test]
fn a_comment_may_stand_between_any_two_tokens() {
    for path in models() {
        let text = fs::read_to_string(&path).expect("readable");
        let tokens: Vec<String> = invariants::essence(&text)
            .into_iter()
            .filter(|(kind, _)| !kind.is_trivia())
            .map(|(_, text)| text)
            .collect();
        for comment in [" // c\n", "\n// c\n", " /* c */ ", "\n/* c */\n"] {
            check(&tokens.join(comment));
        }
    }
    assert_eq!(
        check("process P { a // c\n: skip; }"),
        "process P {\n    a // c\n        : skip;\n}\n"
    );
}

#[test]
fn spacing_alignment_and_comments() {
    let text = "\
param   N=4 where N>=2 ;


shared x:bool=true; // the semaphore
shared  last :P?=none;   // who was in last
enum Phase{idle,busy}
process P [i :1..N]{
  local k:0..3=0;

  loop{

    idle:stay;
    request:await x;x,last:=false,i;   // one step
    // before the critical section
    critical:choose{skip;}or{k:=-k+(1*2)%3;}
    leave:if !x&&k!=0{x:=true;}
    else{
      x:=true; /* odd */ k:=0;
    }
  }
}
def inside(i:P)=P[i] at{critical,leave};
invariant mutex:forall i,j in P:i!=j->
!(inside(i)&&inside(j));
liveness access:G(x->F(min(1,2)<2));
";
    insta::assert_snapshot!(check(text));
}

#[test]
fn texts_with_errors_are_not_touched() {
    let errors = threadwise_lang::format("shared x bool;").expect_err("a syntax error");
    assert_eq!(errors.len(), 1);
}

#[test]
fn empty_blocks_stay_on_their_line() {
    let text = "process P {\n    a: loop { }\n    b: choose k in 0..2\n    {}\n}\n";
    let formatted = "process P {\n    a: loop {}\n    b: choose k in 0..2 {}\n}\n";
    assert_eq!(check(text), formatted);
}

#[test]
fn an_empty_text_stays_empty() {
    assert_eq!(check(""), "");
    assert_eq!(check("\n\n"), "");
    assert_eq!(check("// only a comment"), "// only a comment\n");
}
