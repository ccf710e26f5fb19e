//! The page: what it comes to at a glance, then tables, notes and references to plots, as Markdown. What is only looked up
//! (all figures, plots, targets that are met) is folded.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::Measurements;
use crate::campaign::{Cell, Cells, Line, lines};
use crate::figures::{Figure, short_time};
use crate::fit::LEAST_SECONDS;
use crate::plot::{self, Picture};
use crate::summary::{growth, loads};
use crate::table::{Column, Decided, Glance, Table, Tool};
use crate::target::{Aim, fastest, targets};

/// The whole page. `plots` is the folder of the plots as seen from the page, if there are any.
pub(crate) fn page(measurements: &Measurements, plots: Option<&str>) -> String {
    let mut page = String::from("# Benchmarks\n\n");
    let _ = write!(
        page,
        "This page is the output of the command below; `docs/benchmarking.md` of threadwise describes its tables.\n\n```\n{}\n```\n\n",
        measurements.command
    );
    let at_a_glance = page.len();
    page.push_str("## How it was measured\n\n");
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
    page.insert_str(at_a_glance, &glance(&measurements.tables));
    for (table, cells) in &measurements.tables {
        page.push('\n');
        section(&mut page, table, cells, plots);
    }
    page
}

/// The top of the page: comparisons that tables want there, how many targets are met, and what tables there are.
fn glance(tables: &[(Table, Cells)]) -> String {
    let mut page = String::from("## At a glance\n\n");
    for (table, cells) in tables {
        if let Some(glance) = &table.glance {
            comparison(&mut page, table, cells, glance);
        }
    }
    let mut counts = Counts::default();
    let mut failing: Vec<String> = Vec::new();
    let mut contents = String::new();
    head(
        &mut contents,
        1,
        ["table", "targets met"].map(str::to_owned).into(),
    );
    for (table, cells) in tables {
        let link = format!("[{}](#{})", table.title, anchor(&table.title));
        let aims = targets(table, cells);
        let own = Counts::of(&aims);
        let met = match own.all() {
            0 => String::new(),
            all => format!("{} of {all}", own.met),
        };
        line(&mut contents, [link.clone(), met]);
        for (words, aim) in aims {
            if !matches!(aim, Aim::Met(_)) {
                failing.push(format!("{link}: {}", aimed(&words, &aim)));
            }
        }
        counts = counts.and(own);
    }
    if counts.all() > 0 {
        let _ = writeln!(page, "**Targets:** {}\n", counts.words());
        bullets(&mut page, &failing);
    }
    page + &contents + "\n"
}

/// How many targets came out in which way.
#[derive(Clone, Copy, Default)]
struct Counts {
    met: usize,
    missed: usize,
    open: usize,
}

impl Counts {
    fn of(aims: &[(String, Aim)]) -> Counts {
        let mut counts = Counts::default();
        for (_, aim) in aims {
            match aim {
                Aim::Met(_) => counts.met += 1,
                Aim::Missed(_) => counts.missed += 1,
                Aim::Open(_) => counts.open += 1,
            }
        }
        counts
    }

    fn and(self, other: Counts) -> Counts {
        Counts {
            met: self.met + other.met,
            missed: self.missed + other.missed,
            open: self.open + other.open,
        }
    }

    fn all(self) -> usize {
        self.met + self.missed + self.open
    }

    fn words(self) -> String {
        let mut words = format!("{} of {} met, {} missed", self.met, self.all(), self.missed);
        if self.open > 0 {
            let _ = write!(words, ", {} open", self.open);
        }
        words + "."
    }
}

/// One column beside the fastest of others, at the largest size of each row.
fn comparison(page: &mut String, table: &Table, cells: &Cells, glance: &Glance) {
    let title = &table.title;
    let beside: Vec<&str> = glance
        .beside
        .iter()
        .map(|rival| rival.name(table))
        .collect();
    let own = column_head(&table.columns[glance.column]);
    let _ = write!(
        page,
        "[{title}](#{}): each model at its largest size, CPU seconds of the fastest of {} and of {own}, and how many times faster that is.\n\n",
        anchor(title),
        beside.join(", "),
    );
    let mut heads = ["model", "verdict", "fastest other"]
        .map(str::to_owned)
        .to_vec();
    heads.extend([own, "times faster".to_owned()]);
    heads.extend(
        glance
            .also
            .iter()
            .map(|column| column_head(&table.columns[*column])),
    );
    head(page, 2, heads);
    for each in lines(table, cells) {
        if each.instance + 1 != each.row.instances.len() {
            continue;
        }
        let of = glance.beside.iter().copied();
        let of = of.filter(|rival| each.row.has(*rival, each.instance));
        let fastest = fastest(table, &each, &of.collect::<Vec<_>>());
        let cell = &each.cells[glance.column];
        let ratio = match (&fastest, cell.median(Figure::Cpu)) {
            (Ok(other), Some(own)) if own > 0.0 => {
                let ratio = other.seconds / own;
                let shown = if ratio < 9.95 {
                    format!("{ratio:.1}")
                } else {
                    format!("{ratio:.0}")
                };
                match other.more {
                    true => format!("> {shown}"),
                    // Where it is slower, it is said loudly.
                    false if ratio < 1.0 => format!("**{shown}**"),
                    false => shown,
                }
            }
            _ => String::new(),
        };
        let shown = |cell: &Cell| cell.shown(&[Figure::Cpu], table.limits);
        let mut line_of = vec![each.label(), verdict(table, &each)];
        line_of.push(fastest.map_or_else(|why| why, |fastest| fastest.shown));
        line_of.extend([shown(cell), ratio]);
        line_of.extend(glance.also.iter().map(|column| shown(&each.cells[*column])));
        line(page, line_of);
    }
    page.push('\n');
}

/// What a link to a section has after `#`.
fn anchor(title: &str) -> String {
    let kept = title
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    let kept = kept.flat_map(char::to_lowercase);
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A target and what became of it.
fn aimed(words: &str, aim: &Aim) -> String {
    match aim {
        Aim::Met(value) => format!("{words}: met ({value})"),
        Aim::Missed(value) => format!("{words}: **missed** ({value})"),
        Aim::Open(why) => format!("{words}: open ({why})"),
    }
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
    sources(page, table);
    let aims = targets(table, cells);
    if !aims.is_empty() {
        let _ = write!(page, "Targets: {}\n\n", Counts::of(&aims).words());
        let (met, others): (Vec<_>, Vec<_>) =
            aims.iter().partition(|(_, aim)| matches!(aim, Aim::Met(_)));
        let shown = |aims: Vec<&(String, Aim)>| -> Vec<String> {
            let shown = aims.into_iter().map(|(words, aim)| aimed(words, aim));
            shown.collect()
        };
        bullets(page, &shown(others));
        folded(page, "Targets that are met", &shown(met), |page, met| {
            bullets(page, met);
        });
    }
    let remarks = remarks(table, cells);
    folded(
        page,
        "Why cells have no verdict",
        &remarks,
        |page, remarks| {
            bullets(page, remarks);
        },
    );
    if table.grid.is_empty() {
        list(page, table, cells);
    } else {
        folded(page, "All figures", &table.list, |page, _| {
            list(page, table, cells);
        });
    }
    if let Some(folder) = plots {
        let pictures = plot::pictures(table, cells);
        folded(page, "Plots", &pictures, |page, pictures| {
            for picture in pictures {
                let Picture {
                    file, name, size, ..
                } = picture;
                let alt = format!("CPU time of {name} against {size}, both logarithmic");
                let _ = write!(page, "![{alt}]({folder}/{file})\n\n");
            }
        });
    }
    paragraph(page, &table.notes);
    page.truncate(page.trim_end().len());
    page.push('\n');
}

/// A part about some items that is shown when it is asked for; nothing if there are none.
fn folded<T>(page: &mut String, title: &str, items: &[T], part: impl FnOnce(&mut String, &[T])) {
    if !items.is_empty() {
        let _ = write!(page, "<details><summary>{title}</summary>\n\n");
        part(page, items);
        page.push_str("</details>\n\n");
    }
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
    heads.extend(table.columns.iter().map(column_head));
    heads.extend(table.sources.iter().map(|source| source.label.clone()));
    head(page, 2, heads);
    let mut all = lines(table, cells);
    for (row, cells) in table.rows.iter().zip(cells) {
        for each in all.by_ref().take(row.instances.len()) {
            let mut shown = vec![each.label(), verdict(table, &each)];
            let figures = each.cells.iter();
            shown.extend(figures.map(|cell| cell.shown(&table.grid, table.limits)));
            let published = row.published.iter();
            shown.extend(published.map(|figures| figures[each.instance].clone()));
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

/// How a column is called in heads.
fn column_head(column: &Column) -> String {
    match &column.tool {
        Tool::Engine(_) => format!("`{}`", column.name),
        Tool::Peer(_) => column.name.clone(),
    }
}

/// What the columns of one line say together.
fn verdict(table: &Table, line: &Line<'_>) -> String {
    let mut verdicts: Vec<Decided> = line.verdicts(table).map(|(_, verdict)| verdict).collect();
    let decided = !verdicts.is_empty();
    verdicts.extend(line.row.expected);
    match verdicts.first() {
        Some(first) if verdicts.iter().any(|other| other != first) => "**DIFFERENT**".to_owned(),
        Some(first) if decided => first.word().to_owned(),
        _ => "undecided".to_owned(),
    }
}

/// Where published figures are from.
fn sources(page: &mut String, table: &Table) {
    let sources = table.sources.iter();
    let sources = sources.map(|source| format!("{}: {}", source.label, source.citation));
    bullets(page, &sources.collect::<Vec<_>>());
}

/// What the cells cannot say: failures, reasons for `unknown`, exports that are impossible.
fn remarks(table: &Table, cells: &Cells) -> Vec<String> {
    let mut remarks: Vec<String> = Vec::new();
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
    remarks
}

/// A list, if there is anything in it.
fn bullets(page: &mut String, items: &[String]) {
    for item in items {
        let _ = writeln!(page, "- {}", item.replace('\n', " "));
    }
    if !items.is_empty() {
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
