//! The models that the programs of `tests/promela` become are those of the golden files, `tests/golden/promela`.

use crate::common::golden;
use crate::from_promela::{corpus, ours};

#[test]
fn programs_become_the_models_of_the_golden_files() {
    // As the programs are tested from the command line.
    let three = |name: &str| (name.to_owned(), "3".to_owned());
    let defines = [three("SIZE"), three("N")];
    let each = corpus::models().into_iter().map(|model| {
        let file = format!("{}.pml", model.name);
        let outcome = ours::import(&file, &model.text, &defines);
        (model.name, golden::golden(&outcome))
    });
    golden::compare("promela", &each.collect::<Vec<_>>());
}
