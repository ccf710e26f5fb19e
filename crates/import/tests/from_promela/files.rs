//! Programs of your own: `PROMELA_FILES` names a directory, and each of its `.pml` files is compared with SPIN.

use std::path::PathBuf;

use crate::from_promela::random::{Comparison, compare};

#[test]
#[ignore = "compares the programs of the directory that PROMELA_FILES names"]
fn your_programs() {
    let directory = std::env::var_os("PROMELA_FILES").expect("PROMELA_FILES names a directory");
    let files = std::fs::read_dir(directory).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "pml"));
    files.sort();
    let mut wrong = Vec::new();
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let formulas: Vec<String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("ltl ")?.split_whitespace().next())
            .map(str::to_owned)
            .collect();
        let said = match compare(&format!("files-{name}"), &text, &[], &formulas) {
            Comparison::Spin(failure) => format!("SPIN does not answer: {failure:?}"),
            Comparison::Refused(why) => format!("refused: {why}"),
            Comparison::Compared(sample) if sample.differences.is_empty() => {
                format!("alike: {:?} {:?}", sample.safety, sample.formulas)
            }
            Comparison::Compared(sample) => {
                wrong.push(name.clone());
                format!("DIFFERENT: {}", sample.differences.join("; "))
            }
        };
        println!("{name}: {said}");
    }
    assert!(wrong.is_empty(), "of {} programs: {wrong:?}", files.len());
}
