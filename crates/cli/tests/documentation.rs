//! The documentation names every command and every option there is, and the table of benchmarks that it shows can be used.

use crate::common::Place;

/// The options that a help text lists.
fn options(help: &str) -> Vec<String> {
    let words = help.split_whitespace();
    let options = words.filter(|word| word.starts_with("--") && word.len() > 2);
    let letters = |c: char| c.is_ascii_lowercase() || c == '-';
    options
        .map(|word| word.chars().take_while(|c| letters(*c)).collect())
        .collect()
}

#[test]
fn the_page_on_the_command_line_is_complete() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/book/src/command-line.md"
    );
    let page = std::fs::read_to_string(path).unwrap();
    let place = Place::new();
    let help = place.run(&["--help"]).expect(0).stdout;
    let commands = help.split("Commands:").nth(1).unwrap();
    let commands = commands.split("Options:").next().unwrap();
    let commands: Vec<&str> = commands
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.len() >= 10, "{commands:?}");
    for command in &commands {
        assert!(
            page.contains(&format!("`threadwise {command}")),
            "{command}"
        );
    }
    let check = options(&place.run(&["check", "--help"]).expect(0).stdout);
    assert!(check.len() > 15, "{check:?}");
    for option in check
        .iter()
        .filter(|o| !["--help", "--version"].contains(&o.as_str()))
    {
        assert!(
            page.contains(&format!("`{option}")),
            "{option} is not on the page"
        );
    }
    // And nothing is on the page that does not exist.
    let mut known = check;
    for command in &commands {
        known.extend(options(&place.run(&[command, "--help"]).expect(0).stdout));
    }
    known.push("--help".to_owned());
    for option in options(&page.replace('`', " ")) {
        assert!(known.contains(&option), "{option} does not exist");
    }
}

#[test]
fn the_table_of_the_page_on_benchmarking_is_one() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let page = std::fs::read_to_string(format!("{root}/docs/benchmarking.md")).unwrap();
    let table = page.split("```toml\n").nth(1).unwrap();
    let table = table.split("```").next().unwrap();
    let place = Place::new();
    let model = std::fs::read(format!("{root}/models/mux_sem_count.tw")).unwrap();
    place.file("models/mux_sem_count.tw", model);
    place.file("benchmarks/page.toml", table);
    place
        .run(&["bench", "--list", "benchmarks/page.toml"])
        .expect(0)
        .says("  row count: N=20, M=10; N=50, M=10; N=100, M=10\n")
        .says("  column forward\n  column in layers\n  column SPIN -DNOREDUCE\n");
}
