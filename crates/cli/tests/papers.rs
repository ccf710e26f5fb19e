//! `docs/papers.md` is true: every command in it ends as it says, and what it quotes of the benchmarks is there. (Its links are followed in `book`, and the
//! names of functions in the tests of the crate `threadwise`.)
//!
//! `THREADWISE_WRITE_BOOK=1 cargo test -p threadwise-cli --test all papers::` brings the figures that it quotes up to date.

use std::collections::BTreeMap;

use crate::common::{Place, Ran};
use crate::pages::{read, root, write};

const PAGE: &str = "docs/papers.md";
const BENCHMARKS: &str = "docs/benchmarks.md";

/// The commands of a page, with the number of the line and the status that stands behind: `` `threadwise check ..` status 1 ``.
fn commands(page: &str) -> Vec<(usize, &str, i32)> {
    let mut found = Vec::new();
    for (number, line) in page.lines().enumerate() {
        let parts: Vec<&str> = line.split('`').collect();
        for pair in parts[1..].chunks(2) {
            if let [code, after @ ..] = pair
                && let Some(command) = code.strip_prefix("threadwise ")
            {
                let after = after.first().and_then(|rest| rest.strip_prefix(" status "));
                let status = after.map_or("", |rest| rest.split([' ', ',']).next().unwrap_or(""));
                found.push((number + 1, command, status.parse().unwrap_or(0)));
            }
        }
    }
    found
}

#[test]
fn every_command_ends_as_the_page_says() {
    let page = read(PAGE);
    let mut runs: BTreeMap<&str, (usize, i32)> = BTreeMap::new();
    for (line, command, status) in commands(&page) {
        let (first, known) = *runs.entry(command).or_insert((line, status));
        assert_eq!(status, known, "{PAGE}:{line} and {first}: {command}");
    }
    assert!(runs.len() >= 60, "only {} commands", runs.len());
    let place = Place::new();
    let wrong = runs.iter().filter_map(|(command, (line, status))| {
        let mut args: Vec<&str> = command.split(' ').collect();
        if args[0] == "bench" {
            // Whole tables take minutes: that they are there is enough.
            args.push("--list");
        }
        let ran = Ran::of(place.command(&args).current_dir(root()).output().unwrap());
        (ran.status != *status).then(|| {
            let output = ran.stdout.lines().take(8).collect::<Vec<_>>().join("\n");
            format!(
                "{PAGE}:{line}: {command}: {}\n{output}\n{}",
                ran.status, ran.stderr
            )
        })
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The cells of a row of a table.
fn cells(row: &str) -> Vec<&str> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|');
    row.split('|').map(str::trim).collect()
}

/// The first table of each section of the benchmarks: section, row and column to what is in the cell.
fn figures(page: &str) -> BTreeMap<(String, String, String), String> {
    let mut found = BTreeMap::new();
    for section in page.split("\n## ").skip(1) {
        let (title, text) = section.split_once('\n').expect("a title");
        let anchor = title.to_lowercase().replace(' ', "-");
        let rows = text.lines().skip_while(|line| !line.starts_with("| "));
        let rows: Vec<Vec<&str>> = rows
            .take_while(|line| line.starts_with('|'))
            .map(cells)
            .collect();
        let Some((head, rows)) = rows.split_first() else {
            continue;
        };
        for row in rows {
            for (column, cell) in head.iter().zip(row) {
                let key = (
                    anchor.clone(),
                    row[0].to_owned(),
                    column.trim_matches('`').to_owned(),
                );
                found.insert(key, (*cell).to_owned());
            }
        }
    }
    found
}

/// What does not depend on the machine: refinements and the like, or that a run decides nothing.
fn counts(cell: &str) -> &str {
    match cell.starts_with("unknown") {
        true => "unknown",
        false => cell.split_once(" / ").map_or("", |(_, counts)| counts),
    }
}

/// The row of the benchmarks that a row of the page is about: ``[`row`](benchmarks.md#section)`` in the first cell.
fn about(first: &str) -> Option<(&str, &str)> {
    let (_, rest) = first.split_once("[`")?;
    let (row, rest) = rest.split_once("`](benchmarks.md#")?;
    Some((rest.split_once(')')?.0, row))
}

/// Looks up each `column: figures` of a cell, and returns the cell as it should be. Published figures are as they are; of measured ones times may differ.
fn quoted(
    known: &BTreeMap<(String, String, String), String>,
    (section, row): (&str, &str),
    cell: &str,
    is_published: bool,
    complaints: &mut Vec<String>,
) -> String {
    let parts = cell.split("<br>").filter(|part| !part.is_empty());
    let present = parts.map(|part| {
        let (column, says) = part.split_once(": ").unwrap_or((part, ""));
        let key = (section.to_owned(), row.to_owned(), column.to_owned());
        let Some(figures) = known.get(&key) else {
            complaints.push(format!(
                "{section} has no row `{row}` with a column `{column}`"
            ));
            return part.to_owned();
        };
        let differs = match is_published {
            true => figures != says,
            false => counts(figures) != counts(says),
        };
        if differs {
            complaints.push(format!("{section}, {row}, {column}: {says}, now {figures}"));
        }
        format!("{column}: {figures}")
    });
    present.collect::<Vec<_>>().join("<br>")
}

#[test]
fn what_is_quoted_of_the_benchmarks_is_there() {
    let (page, known) = (read(PAGE), figures(&read(BENCHMARKS)));
    let mut complaints = Vec::new();
    let (mut rows, mut present) = (0, String::new());
    for line in page.lines() {
        let row = cells(line);
        if let Some(about) = about(row[0])
            && let [first, place, command, published, measured, differs] = row[..]
        {
            rows += 1;
            let published = quoted(&known, about, published, true, &mut complaints);
            let measured = quoted(&known, about, measured, false, &mut complaints);
            present += &format!(
                "| {first} | {place} | {command} | {published} | {measured} | {differs} |\n"
            );
        } else {
            present += &format!("{line}\n");
        }
    }
    assert!(rows >= 40, "only {rows} rows");
    if write() {
        std::fs::write(root().join(PAGE), &present).unwrap();
        return;
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_wrong_quotation_is_noticed() {
    let benchmarks = "\n## Some Table\n\ntext\n\n| model | `a --b` | c, 2007 |\n|---|--:|--:|\n| m N=2 | 0.1 / 2 / 4 | unknown (0.1) |\n\n| m N=2 | no |\n";
    let known = figures(benchmarks);
    assert_eq!(
        about("Table 1, [`m N=2`](benchmarks.md#some-table)"),
        Some(("some-table", "m N=2"))
    );
    let look_up = |cell: &str, is_published: bool| {
        let mut complaints = Vec::new();
        let about = ("some-table", "m N=2");
        let present = quoted(&known, about, cell, is_published, &mut complaints);
        (present, complaints.len())
    };
    let quoted = |cell: &str| look_up(cell, false);
    assert_eq!(look_up("a --b: 9 / 2 / 4", true).1, 1);
    assert_eq!(quoted("a --b: 9 / 2 / 4<br>c, 2007: unknown (7)").1, 0);
    assert_eq!(quoted("a --b: 9 / 2 / 4").0, "a --b: 0.1 / 2 / 4");
    assert_eq!(quoted("a --b: 0.1 / 3 / 4").1, 1);
    assert_eq!(quoted("c, 2007: 0.1").1, 1);
    assert_eq!(quoted("a: 0.1 / 2 / 4").1, 1);
    let page = "`threadwise x y` status 3 | `z` and `threadwise v`, or `w`";
    assert_eq!(commands(page), [(1, "x y", 3), (1, "v", 0)]);
}
