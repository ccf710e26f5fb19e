//! The plain and the optimised lowering have exactly the interpreter's transitions, and claimed symmetries
//! map programs onto themselves: every model of the library at small N, and texts that each single out one thing.

use std::path::PathBuf;

use threadwise_model::lower::lower;
use threadwise_testgen::{agree, instance, symmetry};

/// Room for each dynamic template.
const CAPACITY: u32 = 3;

fn library() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut models: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the model library is there")
        .map(|entry| entry.expect("a folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|e| e == "tw"))
        .map(|path| {
            let name = path
                .file_stem()
                .expect("a file has a name")
                .to_string_lossy()
                .into_owned();
            (
                name,
                std::fs::read_to_string(&path).expect("a model can be read"),
            )
        })
        .collect();
    models.sort();
    models
}

#[test]
fn library_models_agree() {
    let models = library();
    assert!(models.len() >= 25, "only {} models found", models.len());
    for (name, text) in models {
        for n in 2..=3 {
            let params: &[(&str, i64)] = if text.contains("param N") {
                &[("N", n)]
            } else {
                &[]
            };
            let instance = match instance(&text, params) {
                Ok(instance) => instance,
                // Some models begin at three.
                Err(error) if error.starts_with("E0503") => continue,
                Err(error) => panic!("{name} at N={n}: {error}"),
            };
            let findings = agree::compare(&instance, CAPACITY, 20_000)
                .unwrap_or_else(|e| panic!("{name} at N={n}: {e}"));
            assert_eq!(findings.limits, 0, "{name} at N={n}");
            let system = lower(&instance, CAPACITY).expect("it was lowered before");
            symmetry::check(&system, 1_000).unwrap_or_else(|e| panic!("{name} at N={n}: {e}"));
            println!("{name} N={n}: {findings:?}");
        }
    }
}
