//! The page: tables, notes and references to plots, as Markdown.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::bench::Measurements;
use crate::bench::campaign::{Cell, Cells, lines};
use crate::bench::figures::{Figure, short_time};
use crate::bench::fit::LEAST_SECONDS;
use crate::bench::plot::{self, Picture};
use crate::bench::summary::{Aim, growth, loads, targets};
use crate::bench::table::{Decided, Table, Tool};

/// The whole page. `plots` is the folder of the plots as seen from the page, if there are any.
pub(crate) fn page(measurements: &Measurements, plots: Option<&str>) -> String {
    let mut page = String::from("# Benchmarks\n\n");
    let _ = write!(
        page,
        "This page is the output of the command below, which names the tables; `docs/benchmarking.md` of threadwise describes \
         them, and how it is measured.\n\n```\n{}\n```\n\n",
        measurements.command
    );
    let _ = writeln!(page, "- Machine: {}.", measurements.machine);
    if let Some((least, most)) = loads(measurements.tables.iter().map(|(_, cells)| cells)) {
        let _ = writeln!(
            page,
            "- Load of the machine during the runs (processes that want a core, averages of a minute): {least:.1} to {most:.1}."
        );
    }
    let _ = writeln!(page, "- threadwise {}.", measurements.version);
    for (peer, version) in &measurements.peers {
        match version {
            Some(version) => {
                let _ = writeln!(page, "- {version}.");
            }
            None => {
                let programs: Vec<String> =
                    peer.programs().iter().map(|p| format!("`{p}`")).collect();
                let _ = writeln!(
                    page,
                    "- {} is not on this machine ({} on the path), so its columns are empty.",
                    peer.title(),
                    programs.join(" and ")
                );
            }
        }
    }
    page.push_str(
        "\n**How to read it.** Unless a table says otherwise a figure is CPU seconds, user and system, from the start of the process to its end, \
         and the median of the runs. For threadwise that includes reading the model and rechecking the evidence; the list below each \
         table has the engine alone. For peers it is the search alone, without export and compilation. `> 60 s` and `> 4096 MiB` are limits that ended a \
         run; `skipped` means that the same column ended at a limit at a smaller size; figures after `unknown` are what it took to find that \
         the method does not decide. Growth is the exponent of a power of the size, fitted to \
         the runs of at least 50 ms (or as the table says), if there are three.\n",
    );
    for (table, cells) in &measurements.tables {
        page.push('\n');
        section(&mut page, table, cells, plots);
    }
    page
}

fn section(page: &mut String, table: &Table, cells: &Cells, plots: Option<&str>) {
    let _ = write!(page, "## {}\n\n", table.title);
    paragraph(page, &table.text);
    let runs = match table.runs {
        1 => "One run for each figure, with".to_owned(),
        runs => format!("Medians of {runs} runs, each with"),
    };
    let limits = table.limits;
    let _ = write!(
        page,
        "{runs} at most {} CPU seconds and {} MiB.",
        limits.seconds, limits.memory_mib
    );
    if table.growth_from != LEAST_SECONDS {
        let _ = write!(
            page,
            " Growth is fitted to runs of at least {}.",
            short_time(table.growth_from)
        );
    }
    page.push_str("\n\n");
    if !table.grid.is_empty() {
        grid(page, table, cells);
    }
    remarks(page, table, cells);
    let targets = targets(table, cells);
    if !targets.is_empty() {
        page.push_str("Targets:\n\n");
        for (words, aim) in targets {
            let _ = match aim {
                Aim::Met(value) => writeln!(page, "- {words}: met ({value:.2})"),
                Aim::Missed(value) => writeln!(page, "- {words}: **missed** ({value:.2})"),
                Aim::Open(why) => writeln!(page, "- {words}: open ({why})"),
            };
        }
        page.push('\n');
    }
    if !table.list.is_empty() {
        let folded = !table.grid.is_empty();
        if folded {
            page.push_str("<details><summary>All figures</summary>\n\n");
        }
        list(page, table, cells);
        if folded {
            page.push_str("</details>\n\n");
        }
    }
    if let Some(folder) = plots {
        for Picture {
            file, name, size, ..
        } in plot::pictures(table, cells)
        {
            let alt = format!("CPU time of {name} against {size}, both logarithmic");
            let _ = write!(page, "![{alt}]({folder}/{file})\n\n");
        }
    }
    paragraph(page, &table.notes);
    page.truncate(page.trim_end().len());
    page.push('\n');
}

fn paragraph(page: &mut String, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        let _ = write!(page, "{text}\n\n");
    }
}

/// A text inside a cell of a Markdown table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn line(page: &mut String, cells: impl IntoIterator<Item = String>) {
    for cell in cells {
        let _ = write!(page, "| {} ", escaped(&cell));
    }
    page.push_str("|\n");
}

/// Heads and the line below: some columns of text, the others are figures.
fn head(page: &mut String, texts: usize, heads: Vec<String>) {
    let rule = "|---".repeat(texts) + &"|--:".repeat(heads.len() - texts) + "|\n";
    line(page, heads);
    page.push_str(&rule);
}

fn grid(page: &mut String, table: &Table, cells: &Cells) {
    let mut heads = vec!["model".to_owned(), "verdict".to_owned()];
    // CPU time alone is what the page says it is unless the table says otherwise.
    if table.grid[..] != [Figure::Cpu] {
        let figures: Vec<&str> = table.grid.iter().map(|figure| figure.head()).collect();
        let _ = write!(page, "In each cell: {}.\n\n", figures.join(" / "));
    }
    heads.extend(table.columns.iter().map(|column| match &column.tool {
        Tool::Engine(_) => format!("`{}`", column.name),
        Tool::Peer(_) => column.name.clone(),
    }));
    heads.extend(table.sources.iter().map(|source| source.label.clone()));
    head(page, 2, heads);
    for (row, cells) in table.rows.iter().zip(cells) {
        for (instance, cells) in cells.iter().enumerate() {
            let mut shown = vec![row.label(instance), verdict(row.expected, cells)];
            shown.extend(
                cells
                    .iter()
                    .map(|cell| cell.shown(&table.grid, table.limits)),
            );
            shown.extend(
                row.published
                    .iter()
                    .map(|figures| figures[instance].clone()),
            );
            line(page, shown);
        }
        let growths: Vec<Option<String>> = (0..table.columns.len())
            .map(|column| growth(table, row, cells, column))
            .collect();
        if growths.iter().any(Option::is_some) {
            let mut shown = vec![format!("{}, growth", row.name), String::new()];
            shown.extend(growths.into_iter().map(|growth| growth.unwrap_or_default()));
            shown.extend(table.sources.iter().map(|_| String::new()));
            line(page, shown);
        }
    }
    page.push('\n');
}

/// What the columns of one line say together.
fn verdict(expected: Option<Decided>, cells: &[Cell]) -> String {
    let runs = cells.iter().filter_map(|cell| match cell {
        Cell::Run(runs) => Some(runs),
        _ => None,
    });
    let mut verdicts: Vec<_> = runs
        .flatten()
        .filter_map(|run| run.outcome.decided())
        .collect();
    let decided = !verdicts.is_empty();
    verdicts.extend(expected);
    match verdicts.first() {
        Some(first) if verdicts.iter().any(|other| other != first) => "**DIFFERENT**".to_owned(),
        Some(first) if decided => first.word().to_owned(),
        _ => "undecided".to_owned(),
    }
}

/// What the cells cannot say: failures, exports that are impossible, sources of published figures.
fn remarks(page: &mut String, table: &Table, cells: &Cells) {
    let mut remarks: Vec<String> = Vec::new();
    for source in &table.sources {
        remarks.push(format!("{}: {}", source.label, source.citation));
    }
    // The same remark about several cells is one, with the first of them.
    let mut said = BTreeSet::new();
    for line in lines(table, cells) {
        for (column, cell) in table.columns.iter().zip(line.cells) {
            let Some(remark) = cell.remark() else {
                continue;
            };
            if said.insert((&column.name, remark)) {
                let (column, outcome) = (&column.name, cell.outcome(table.limits));
                let first = line.label();
                remarks.push(format!("{column}, {outcome} (first for {first}): {remark}"));
            }
        }
    }
    for remark in &remarks {
        let _ = writeln!(page, "- {}", remark.replace('\n', " "));
    }
    if !remarks.is_empty() {
        page.push('\n');
    }
}

fn list(page: &mut String, table: &Table, cells: &Cells) {
    let mut heads = vec!["model".to_owned(), "by".to_owned(), "outcome".to_owned()];
    heads.extend(table.list.iter().map(|figure| figure.head().to_owned()));
    head(page, 3, heads);
    for each in lines(table, cells) {
        for (column, cell) in table.columns.iter().zip(each.cells) {
            if matches!(
                cell,
                Cell::LeftOut | Cell::Skipped(_) | Cell::Absent | Cell::Refused(_)
            ) {
                continue;
            }
            let outcome = cell.outcome(table.limits);
            let mut shown = vec![each.label(), column.name.clone(), outcome];
            shown.extend(table.list.iter().map(|figure| {
                let value = cell.taken(*figure);
                value.map_or(String::new(), |value| figure.shown(value))
            }));
            line(page, shown);
        }
    }
    page.push('\n');
}
