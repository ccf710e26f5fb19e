//! `threadwise bench`: tables that are described as data are run, and written as a page, as JSON and as plots.
//!
//! `table` reads what is to be measured, `campaign` runs what has no result yet, each run in a process of its own (`measure`),
//! and keeps it (`results`); `summary` makes medians of runs, and `markdown` and `plot` show them. Verdicts that differ between
//! columns are an error of somebody, and the loudest thing that is said.

mod arguments;
mod campaign;
mod figures;
mod fit;
pub mod journal;
mod machine;
mod markdown;
mod measure;
mod peers;
mod plot;
pub mod process;
mod results;
pub mod share;
mod summary;
mod table;
mod target;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use threadwise::Exit;

pub use crate::arguments::{BenchArgs, BenchFormat, mebibytes, seconds};
pub use crate::measure::serve;

use crate::arguments::TABLES;
use crate::campaign::{
    Campaign, Cell, Cells, Found, Stop, disagreements, failures, lines, no_cells,
};
use crate::figures::Figure;
use crate::measure::MeasureError;
use crate::peers::Peer;
pub use crate::results::fingerprint;

use crate::results::Results;
use crate::share::Share;
use crate::summary::growth;
use crate::table::{Table, Tool};
use crate::target::{Aim, targets};
use threadwise_show::words::{counted, one_line, printable};

/// The program that this is a part of: it reads files, shows texts, and knows what `check` takes.
pub trait Host {
    /// The text of a table, or why there is none.
    fn table(&self, path: &Path) -> Result<String, String>;
    /// The text of a model, or why there is none.
    fn model(&self, path: &Path) -> Result<String, String>;
    /// Whether `check` takes an engine with these options.
    fn column(&self, engine: &str, options: &[String]) -> Result<(), String>;
    /// Writes to standard output.
    fn say(&self, text: &str);
    /// Reports an error.
    fn error(&self, message: &dyn Display);
    /// Makes a remark.
    fn note(&self, message: &dyn Display);
    /// Whether a line of progress can be redrawn on standard error.
    fn progress(&self) -> bool;
}

/// Draws the line of progress anew.
fn redraw(line: &str) {
    // Nobody needs to know that nobody sees it.
    let _ = write!(io::stderr().lock(), "\r\x1b[K{line}");
}

/// Everything that was measured, for those who show it.
struct Measurements {
    command: String,
    machine: String,
    version: &'static str,
    /// The peers that the tables name.
    peers: Vec<Found>,
    tables: Vec<(Table, Cells)>,
}

/// Runs what has no result yet, and writes what there is.
pub fn run(args: &BenchArgs, host: &dyn Host, interrupted: &AtomicBool) -> Exit {
    let tables = match tables(args, host) {
        Ok(tables) => tables,
        Err(message) => {
            host.error(&message);
            return Exit::Input;
        }
    };
    if args.list {
        list(&tables, host);
        return Exit::Proved;
    }
    // Before hours of runs, not after them.
    if let Some(folder) = args.output.as_deref().and_then(Path::parent)
        && folder != Path::new("")
        && !folder.is_dir()
    {
        host.error(&format_args!(
            "{}: there is no such directory\n  help: create it, or name another file with --output",
            folder.display()
        ));
        return Exit::Input;
    }
    let peers: Vec<Found> = Peer::ALL
        .into_iter()
        .filter(|peer| {
            let mut columns = tables.iter().flat_map(|table| &table.columns);
            columns.any(|column| column.tool == Tool::Peer(*peer))
        })
        .map(|peer| (peer, peer.version()))
        .collect();
    let program = std::env::current_exe().and_then(fs::read);
    let program = match program {
        Ok(bytes) => fingerprint([bytes.as_slice()]),
        Err(error) => {
            host.error(&format_args!("this program cannot be read: {error}"));
            return Exit::Internal;
        }
    };
    let results = match args.no_run && args.results.is_dir() {
        true => Results::read(&args.results),
        false => Results::open(&args.results, args.shard),
    };
    let results = match results {
        Ok(results) => results,
        Err(error) => {
            host.error(&error);
            return Exit::Input;
        }
    };
    for (file, lines) in results.damaged() {
        let numbers: Vec<String> = lines.iter().map(usize::to_string).collect();
        host.note(&format_args!(
            "{}: no results in line {}; left out",
            file.display(),
            numbers.join(", ")
        ));
    }
    let mut campaign = Campaign {
        results,
        peers: peers.clone(),
        machine: machine::machine(),
        program,
        no_run: args.no_run,
        progress: host.progress(),
        interrupted,
        made: 0,
        share: args.shard.unwrap_or(Share::ALL),
        rows: 0,
    };
    let mut exit = Exit::Proved;
    let mut measured: Vec<(Table, Cells)> = Vec::new();
    let mut stopped = false;
    for table in tables {
        let mut cells = no_cells(&table);
        if !stopped && let Err(stop) = campaign.table(&table, &mut cells) {
            stopped = true;
            exit = exit.and(match stop {
                Stop::Measure(MeasureError::Interrupted) => Exit::Interrupted,
                other => {
                    host.error(&other);
                    Exit::Internal
                }
            });
        }
        measured.push((table, cells));
    }
    if host.progress() {
        redraw("");
    }
    for (table, cells) in &measured {
        for message in disagreements(table, cells) {
            host.error(&message);
            exit = exit.and(Exit::Internal);
        }
        for message in failures(table, cells) {
            host.error(&message);
            exit = exit.and(Exit::Internal);
        }
    }
    if let Some(share) = args.shard {
        host.note(&format_args!(
            "share {share}: {} made; `--no-run --results {}` writes the page of all",
            counted(campaign.made as u64, "run"),
            args.results.display()
        ));
        return exit;
    }
    let measurements = Measurements {
        command: command(args),
        machine: campaign.machine,
        version: env!("CARGO_PKG_VERSION"),
        peers,
        tables: measured,
    };
    match write(args, &measurements, host) {
        Ok(()) => exit,
        Err(message) => {
            host.error(&message);
            exit.and(Exit::Input)
        }
    }
}

/// Reads the tables, keeps what was chosen, and puts the limits of the command line in their place.
fn tables(args: &BenchArgs, host: &dyn Host) -> Result<Vec<Table>, String> {
    let mut tables = Vec::new();
    for path in &args.tables {
        tables.extend(tables_at(path, host)?);
    }
    let mut names = BTreeSet::new();
    for table in &tables {
        if !names.insert(&table.name) {
            return Err(format!("there are two tables named `{}`", table.name));
        }
    }
    let known = |wanted: &[String], names: Vec<&str>, what: &str| match wanted
        .iter()
        .find(|wanted| !names.contains(&wanted.as_str()))
    {
        None => Ok(()),
        Some(unknown) => Err(format!(
            "there is no {what} `{unknown}`; there are: {}",
            names.join(", ")
        )),
    };
    let names = tables.iter().map(|table| table.name.as_str()).collect();
    known(&args.table, names, "table")?;
    tables.retain(|table| args.table.is_empty() || args.table.contains(&table.name));
    let mut names: Vec<&str> = Vec::new();
    for column in tables.iter().flat_map(|table| &table.columns) {
        if !names.contains(&column.name.as_str()) {
            names.push(&column.name);
        }
    }
    known(&args.column, names, "column")?;
    let rows = tables.iter().flat_map(|table| &table.rows);
    known(
        &args.row,
        rows.map(|row| row.name.as_str()).collect(),
        "row",
    )?;
    for table in &mut tables {
        table.runs = args.runs.map_or(table.runs, usize::from);
        table.limits.seconds = args.timeout.unwrap_or(table.limits.seconds);
        table.limits.memory_mib = args.memory.unwrap_or(table.limits.memory_mib);
        table
            .rows
            .retain(|row| args.row.is_empty() || args.row.contains(&row.name));
        if !args.column.is_empty() {
            table.choose_columns(&args.column);
        }
    }
    tables.retain(|table| !table.rows.is_empty() && !table.columns.is_empty());
    Ok(tables)
}

/// The table in a file, or those in a directory: in their order, and those with the same in that of their names.
fn tables_at(path: &Path, host: &dyn Host) -> Result<Vec<Table>, String> {
    let read = |path: &Path| table::read(path, host).map_err(|error| error.to_string());
    if !path.is_dir() {
        return Ok(vec![read(path)?]);
    }
    let unread = |error: std::io::Error| format!("{}: cannot be read: {error}", path.display());
    let mut tables = Vec::new();
    for entry in fs::read_dir(path).map_err(unread)? {
        let file = entry.map_err(unread)?.path();
        if file.extension().is_some_and(|end| end == "toml") {
            tables.push(read(&file)?);
        }
    }
    if tables.is_empty() {
        let folder = path.display();
        return Err(format!(
            "{folder}: there are no tables (`.toml`) in this directory"
        ));
    }
    tables.sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
    Ok(tables)
}

/// The command as the page repeats it: without folders that mean something on this machine only.
fn command(args: &BenchArgs) -> String {
    let shown = |path: &Path| match path.is_relative() {
        true => path.display().to_string(),
        false => path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    };
    let mut words = vec!["threadwise".to_owned(), "bench".to_owned()];
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.push(format!("--{name} {value}"));
        }
    };
    option("runs", args.runs.map(|runs| runs.to_string()));
    option("timeout", args.timeout.map(|seconds| seconds.to_string()));
    option("memory", args.memory.map(|mib| mib.to_string()));
    for (name, values) in [
        ("table", &args.table),
        ("row", &args.row),
        ("column", &args.column),
    ] {
        for value in values {
            let quoted = if value.contains(' ') {
                format!("'{value}'")
            } else {
                value.clone()
            };
            option(name, Some(quoted));
        }
    }
    option("output", args.output.as_deref().map(shown));
    let named = args
        .tables
        .iter()
        .filter(|path| **path != Path::new(TABLES));
    words.extend(named.map(|path| shown(path)));
    words.join(" ")
}

/// Writes the page or the JSON, and the plots.
fn write(args: &BenchArgs, measurements: &Measurements, host: &dyn Host) -> Result<(), String> {
    let beside = |path: &Path| path.parent().unwrap_or(Path::new("")).join("plots");
    let plots = match (&args.plots, &args.output, args.format) {
        (Some(folder), _, _) => Some(folder.clone()),
        (None, Some(output), BenchFormat::Markdown) => Some(beside(output)),
        _ => None,
    };
    if let Some(folder) = &plots {
        fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
        for (table, cells) in &measurements.tables {
            for picture in plot::pictures(table, cells) {
                write_file(&folder.join(&picture.file), &plot::svg(&picture))?;
            }
        }
    }
    let text = match args.format {
        BenchFormat::Markdown => {
            // As seen from the page.
            let folder = match (&args.output, &plots) {
                (Some(output), Some(folder)) => output
                    .parent()
                    .and_then(|parent| folder.strip_prefix(parent).ok())
                    .or(Some(folder)),
                (None, folder) => folder.as_deref(),
                (Some(_), None) => None,
            };
            let folder = folder.map(|folder| folder.to_string_lossy());
            // Names and texts of tables, and messages of other programs, are in it.
            printable(&markdown::page(measurements, folder.as_deref())).into_owned()
        }
        BenchFormat::Json => match serde_json::to_string_pretty(&as_json(measurements)) {
            Ok(text) => text + "\n",
            Err(error) => return Err(format!("the results cannot be written: {error}")),
        },
    };
    match &args.output {
        None => host.say(&text),
        Some(path) => write_file(path, &text)?,
    }
    Ok(())
}

fn write_file(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &std::io::Error) -> String {
    format!("{}: cannot be written: {error}", path.display())
}

/// `--list`
fn list(tables: &[Table], host: &dyn Host) {
    for table in tables {
        let line = |text: &str| host.say(&format!("{}\n", one_line(text)));
        line(&format!("{}: {}", table.name, table.title));
        for row in &table.rows {
            let values: Vec<String> = row.instances.iter().map(|i| i.to_string()).collect();
            // Without parameters there is one instance, and nothing to say of it.
            let row = format!("  row {}: {}", row.name, values.join("; "));
            line(row.trim_end_matches(": "));
        }
        for column in &table.columns {
            line(&format!("  column {}", column.name));
        }
    }
}

/// Everything as one object.
fn as_json(measurements: &Measurements) -> Value {
    let peers: Vec<Value> = measurements
        .peers
        .iter()
        .map(|(peer, version)| json!({ "peer": peer.title(), "version": version }))
        .collect();
    let tables: Vec<Value> = measurements
        .tables
        .iter()
        .map(|(table, cells)| table_json(table, cells))
        .collect();
    json!({
        "schema": 1,
        "version": measurements.version,
        "command": measurements.command,
        "machine": measurements.machine,
        "peers": peers,
        "tables": tables,
    })
}

fn table_json(table: &Table, cells: &Cells) -> Value {
    let mut all = Vec::new();
    for line in lines(table, cells) {
        for (column, cell) in table.columns.iter().zip(line.cells) {
            if *cell == Cell::LeftOut {
                continue;
            }
            let runs = match cell {
                Cell::Run(runs) => runs.as_slice(),
                _ => &[],
            };
            let medians = Figure::ALL
                .into_iter()
                .filter_map(|figure| Some((figure.name().to_owned(), json!(cell.median(figure)?))));
            all.push(json!({
                "row": line.row.name,
                "values": line.row.instances[line.instance],
                "column": column.name,
                "outcome": cell.outcome(table.limits),
                "remark": cell.remark(),
                "medians": medians.collect::<serde_json::Map<_, _>>(),
                "runs": runs,
            }));
        }
    }
    let mut growths = Vec::new();
    for (row, cells) in table.rows.iter().zip(cells) {
        for (position, column) in table.columns.iter().enumerate() {
            if let Some(growth) = growth(table, row, cells, position) {
                growths.push(json!({ "row": row.name, "column": column.name, "growth": growth }));
            }
        }
    }
    let aims = targets(table, cells).into_iter().map(|(words, aim)| {
        let (state, figures) = match aim {
            Aim::Met(figures) => ("met", figures),
            Aim::Missed(figures) => ("missed", figures),
            Aim::Open(why) => ("open", why),
        };
        json!({ "target": words, "state": state, "figures": figures })
    });
    json!({
        "name": table.name,
        "title": table.title,
        "limits": table.limits,
        "cells": all,
        "growth": growths,
        "targets": aims.collect::<Vec<Value>>(),
        "published": table.sources,
        "disagreements": disagreements(table, cells),
    })
}
