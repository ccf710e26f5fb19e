//! What `threadwise bench` is told.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::share::Share;

/// Where tables are unless the command line says otherwise.
pub(crate) const TABLES: &str = "benchmarks";

/// `threadwise bench`
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Tables (`.toml`), or directories of tables
    #[arg(default_value = TABLES, value_name = "TABLE")]
    pub tables: Vec<PathBuf>,
    /// Run this table only, named by its file without `.toml` (repeatable)
    #[arg(long, value_name = "NAME")]
    pub table: Vec<String>,
    /// Run this row only (repeatable)
    #[arg(long, value_name = "NAME")]
    pub row: Vec<String>,
    /// Run this column only (repeatable)
    #[arg(long, value_name = "NAME")]
    pub column: Vec<String>,
    /// List tables, rows and columns, and run nothing
    #[arg(long)]
    pub list: bool,
    /// Run nothing: show what the file of results has
    #[arg(long)]
    pub no_run: bool,
    /// Runs of each cell [default: as the table says]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub runs: Option<u16>,
    /// CPU seconds for each run [default: as the table says]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Memory for each run in MiB [default: as the table says]
    #[arg(long, value_name = "MIB", allow_hyphen_values = true, value_parser = mebibytes)]
    pub memory: Option<u64>,
    /// The file that runs are kept in, or a directory of such files
    #[arg(long, value_name = "FILE", default_value = "bench-results.jsonl")]
    pub results: PathBuf,
    /// Run the I-th of K shares of the rows, and keep the runs in the directory of --results; with --no-run and without --shard, the page shows all of them
    #[arg(long, value_name = "I/K", requires = "results", conflicts_with_all = ["no_run", "output"])]
    pub shard: Option<Share>,
    /// How the measurements are written
    #[arg(long, value_name = "FORM", value_enum, default_value_t = BenchFormat::Markdown)]
    pub format: BenchFormat,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write plots into this directory [default: `plots` beside a page in Markdown]
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
}

/// The form of measurements.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchFormat {
    /// A page for people
    Markdown,
    /// One object with every run
    Json,
}

/// A limit on time.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e9 => Ok(value),
        _ => Err("expected a positive number of seconds, such as 10 or 0.5".to_owned()),
    }
}

/// A limit on memory. Too little is an odd way to ask for nothing, so there is a least.
pub fn mebibytes(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 16;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_lowercase();
    let factor = match unit.trim_end_matches('b').trim_end_matches('i') {
        "g" => Some(1 << 10),
        "m" => Some(1),
        "t" => Some(1 << 20),
        _ => None,
    };
    let number: Option<u64> = digits.parse().ok();
    match (number, factor) {
        (Some(number), None) if unit.is_empty() && (LEAST..=1 << 40).contains(&number) => {
            Ok(number)
        }
        (Some(number), None) if unit.is_empty() && number < LEAST => Err(format!(
            "an engine needs at least {LEAST} MiB; leave the option out for the default limit"
        )),
        (Some(number), Some(factor)) if number.checked_mul(factor).is_some_and(|m| m >= LEAST) => {
            Err(format!(
                "write the number of MiB alone: --memory {}",
                number * factor
            ))
        }
        _ => Err("expected a number of MiB, such as 2048".to_owned()),
    }
}
