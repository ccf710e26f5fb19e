//! The benchmark harness: tables in, a page out; runs are kept, and differences between columns are loud.

#![cfg(unix)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{BROKEN, ENDLESS, LOCK, Place};
use serde_json::Value;

const TABLE: &str = "\
title = 'Locks'
text = 'What it is about.'
runs = 1
[[column]]
engine = 'forward'
[[column]]
engine = 'explicit'
options = ['--threads', '1']
name = 'explicit'
[[published]]
label = 'Paper'
citation = 'A. Author, A paper (2007), Table 1'
[[row]]
model = '../lock.tw'
property = 'mutex'
set = { N = [2, 3] }
published = { Paper = [0.5, '> 1 h'] }
[[row.target]]
column = 'forward'
at = 3
below = 1000
";

fn place() -> Place {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place.file("tables/locks.toml", TABLE);
    place
}

fn lines(place: &Place) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path().join("bench-results.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Makes the kept runs take the CPU seconds that a function of column and size gives.
fn pretend(place: &Place, seconds: impl Fn(&str, f64) -> f64) {
    let text: String = lines(place)
        .into_iter()
        .map(|mut line| {
            let size = line["values"]["N"].as_f64().unwrap_or_default();
            let taken = seconds(line["column"].as_str().unwrap(), size);
            line["run"]["cpu_seconds"] = taken.into();
            format!("{line}\n")
        })
        .collect();
    std::fs::write(place.path().join("bench-results.jsonl"), text).unwrap();
}

#[test]
fn a_table_becomes_a_page_with_plots() {
    let place = place();
    let args = ["bench", "tables/locks.toml", "--output", "docs/page.md"];
    // A directory that is missing is refused before anything runs.
    place
        .run(&args)
        .expect(2)
        .complains("docs: there is no such directory");
    assert!(!place.path().join("bench-results.jsonl").exists());
    std::fs::create_dir(place.path().join("docs")).unwrap();
    let ran = place.run(&args).expect(0);
    // Not a terminal: no progress, and the page is in the file.
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let page = std::fs::read_to_string(place.path().join("docs/page.md")).unwrap();
    for part in [
        "threadwise bench --output docs/page.md tables/locks.toml",
        "## Locks\n\nWhat it is about.\n\nOne run for each figure, with at most 60 CPU seconds and 4096 MiB.",
        "| model | verdict | `forward` | `explicit` | Paper |",
        "| lock N=2 | proved | 0.",
        "| > 1 h |\n",
        "- Paper: A. Author, A paper (2007), Table 1\n",
        "- lock N=3, forward: below 1000 CPU s: met (",
        "| lock N=3 | explicit | proved | 0.",
        "![CPU time of lock against N, both logarithmic](plots/locks-lock.svg)",
    ] {
        assert!(page.contains(part), "no `{part}` in {page}");
    }
    let folder = place.path().to_string_lossy().into_owned();
    assert!(!page.contains(&folder), "{page}");
    let plot = std::fs::read_to_string(place.path().join("docs/plots/locks-lock.svg")).unwrap();
    for part in [
        "<title id=\"title\">lock: CPU seconds against N</title>",
        "<desc id=",
        "prefers-color-scheme:dark",
        "<polyline points=",
    ] {
        assert!(plot.contains(part), "no `{part}` in {plot}");
    }
}

#[test]
fn liveness_is_measured_without_safety() {
    let place = place();
    let table = "\
title = 'Liveness'
runs = 1
[[column]]
engine = 'liveness-monolithic'
[[column]]
engine = 'fair-local-liveness-b'
options = ['--learn', 'N=2']
[[row]]
model = '../lock.tw'
property = 'access'
set = { N = [2, 3] }
expect = 'violated'
";
    place.file("tables/live.toml", table);
    place.run(&["bench", "tables/live.toml"]).expect(0);
    for line in lines(&place) {
        let run = &line["run"];
        assert_eq!(run["outcome"], "violated", "{line}");
        assert!(run["engine_cpu_seconds"].as_f64().unwrap() > 0.0);
        assert!(run["nodes"].as_u64().unwrap() > 0);
    }
}

#[test]
fn what_was_run_is_not_run_again() {
    let place = place();
    place.run(&["bench", "tables/locks.toml"]).expect(0);
    let first = lines(&place);
    assert_eq!(first.len(), 4);
    for line in &first {
        let run = &line["run"];
        assert_eq!(run["outcome"], "proved");
        assert!(run["cpu_seconds"].as_f64().unwrap() > 0.0);
        assert!(run["engine_cpu_seconds"].as_f64().unwrap() > 0.0);
        assert!(run["cpu_seconds"].as_f64() >= run["engine_cpu_seconds"].as_f64());
        assert!(run["peak_mib"].as_f64().unwrap() > 1.0);
        assert_eq!(run["rechecked"], true);
        let states = if line["values"]["N"] == 2 { 12 } else { 32 };
        assert_eq!(run["states"], states);
    }
    let page = place.run(&["bench", "tables/locks.toml"]).expect(0).stdout;
    assert_eq!(lines(&place), first);
    // Another pass over the same results gives the same page.
    let again = place.run(&["bench", "tables/locks.toml"]).expect(0).stdout;
    assert_eq!(page, again);
    // Where more runs are wanted, those that are missing are made.
    place
        .run(&["bench", "tables/locks.toml", "--runs", "2"])
        .expect(0)
        .says("Medians of 2 runs");
    assert_eq!(lines(&place).len(), 8);
    // A model that has changed is measured again, a line that was cut short is dropped.
    place.file("lock.tw", format!("{LOCK}// changed\n"));
    let results = place.path().join("bench-results.jsonl");
    let mut text = std::fs::read_to_string(&results).unwrap();
    text.push_str("{\"key\":\"12");
    std::fs::write(&results, text).unwrap();
    place.run(&["bench", "tables/locks.toml"]).expect(0);
    assert_eq!(lines(&place).len(), 12);
}

#[test]
fn verdicts_that_differ_are_loud() {
    let place = place();
    place.run(&["bench", "tables/locks.toml"]).expect(0);
    let path = place.path().join("bench-results.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    // One result is made a lie.
    let lie = text.replacen("\"outcome\":\"proved\"", "\"outcome\":\"violated\"", 1);
    assert_ne!(text, lie);
    std::fs::write(&path, lie).unwrap();
    place
        .run(&["bench", "tables/locks.toml"])
        .expect(4)
        .complains("locks: lock N=2: the verdicts differ: forward: violated; explicit: proved")
        .says("| lock N=2 | **DIFFERENT** |");
    // An expectation counts like a column.
    std::fs::write(&path, text).unwrap();
    place.file(
        "tables/locks.toml",
        TABLE.replace("[[row]]", "[[row]]\nexpect = 'violated'"),
    );
    place
        .run(&["bench", "tables/locks.toml"])
        .expect(4)
        .complains("lock N=3: the verdicts differ: expected: violated; forward: proved");
}

#[test]
fn a_cell_at_its_limit_says_so_and_larger_ones_are_skipped() {
    let place = Place::new();
    place.file("endless.tw", ENDLESS);
    place.file(
        "limits.toml",
        "title = 'T'\ntimeout = 1\n[[column]]\nengine = 'explicit'\n\
         [[row]]\nmodel = 'endless.tw'\nset = { N = [2, 3, 4] }\n",
    );
    let ran = place.run(&["bench", "limits.toml"]).expect(0);
    // Less than a second if the machine was too busy to give it one.
    let ran = ran
        .says("| endless N=2 | undecided | > ")
        .says("| endless N=3 | undecided | skipped |")
        .says("| endless N=4 | undecided | skipped |");
    assert!(!ran.stdout.contains("growth"), "{}", ran.stdout);
    // Once, although the table asks for three.
    let lines = lines(&place);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["run"]["outcome"], "time");
    let memory = "title = 'T'\nruns = 1\nmemory = 64\n[[column]]\nengine = 'explicit'\n\
         [[row]]\nmodel = 'endless.tw'\n";
    place.file("memory.toml", memory);
    place
        .run(&["bench", "memory.toml"])
        .expect(0)
        .says("| undecided | > 64 MiB |");
}

#[test]
fn rows_and_columns_can_be_chosen_and_listed() {
    let place = place();
    place
        .run(&["bench", "tables/locks.toml", "--list"])
        .expect(0)
        .says("locks: Locks\n  row lock: N=2; N=3\n  column forward\n  column explicit\n");
    assert!(!place.path().join("bench-results.jsonl").exists());
    let args = ["bench", "tables/locks.toml", "--column", "explicit"];
    let ran = place.run(&[&args[..], &["--format", "json"]].concat());
    let value: Value = serde_json::from_str(&ran.expect(0).stdout).unwrap();
    let cells = value["tables"][0]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for cell in cells {
        assert_eq!(cell["column"], "explicit");
        assert_eq!(cell["outcome"], "proved");
        assert!(cell["medians"]["cpu"].as_f64().unwrap() > 0.0);
        assert_eq!(cell["runs"].as_array().unwrap().len(), 1);
    }
    place
        .run(&["bench", "tables/locks.toml", "--no-run"])
        .expect(0)
        .says("| lock N=2 | proved | not run | 0.");
    for (option, message) in [
        (
            "--column",
            "there is no column `x`; there are: forward, explicit",
        ),
        ("--row", "there is no row `x`; there are: lock"),
        ("--table", "there is no table `x`; there are: locks"),
    ] {
        place
            .run(&["bench", "tables/locks.toml", option, "x"])
            .expect(2)
            .complains(message);
    }
}

#[test]
fn a_table_that_cannot_be_used_is_refused_with_its_place() {
    let place = place();
    place.file("bad.toml", "title = 'T'\nrwos = 3\n");
    place
        .run(&["bench", "bad.toml"])
        .expect(2)
        .complains("bad.toml:2:1: unknown field `rwos`");
    place.file("bad.toml", TABLE.replace("../lock.tw", "../lok.tw"));
    place
        .run(&["bench", "bad.toml"])
        .expect(2)
        .complains("bad.toml:13:1: ../lok.tw: there is no such file");
    // What `check` would refuse.
    for (column, message) in [
        ("engine = 'forwards'", "there is no engine `forwards`"),
        (
            "engine = 'forward'\noptions = ['--fast']",
            "unexpected argument '--fast'",
        ),
        (
            "engine = 'forward'\noptions = ['--symmetry']",
            "`--symmetry` is for the engine `explicit`",
        ),
    ] {
        let text = format!("title = 'T'\nrow = []\n[[column]]\n{column}\n");
        place.file("bad.toml", text);
        place
            .run(&["bench", "bad.toml"])
            .expect(2)
            .complains(&format!("bad.toml:3:1: {message}"));
    }
    place
        .run(&["bench", "none.toml"])
        .expect(2)
        .complains("none.toml: there is no such file\n  help: tables are files");
    place.file("bench-results.jsonl", "{}\n");
    place
        .run(&["bench", "tables/locks.toml"])
        .expect(2)
        .complains("bench-results.jsonl:1: this is no result");
}

#[test]
fn results_survive_a_damaged_line_and_nothing_else_is_taken_for_results() {
    let place = place();
    place.run(&["bench", "tables/locks.toml"]).expect(0);
    let path = place.path().join("bench-results.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    // The first byte of the second line is no UTF-8, the third line is no result.
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[second] = 0xff;
    bytes.extend(b"{}\n");
    std::fs::write(&path, &bytes).unwrap();
    place
        .run(&["bench", "tables/locks.toml"])
        .expect(0)
        .complains("bench-results.jsonl: no results in line 2, 5; left out");
    // The run that was lost was made again, behind what is there.
    let after = std::fs::read(&path).unwrap();
    assert!(after.starts_with(&bytes));
    let added = after[bytes.len()..].split_inclusive(|byte| *byte == b'\n');
    assert_eq!(added.count(), 1);
    for foreign in ["dear diary", "dear diary\n", "{}", "\u{feff}{\"key\":1}\n"] {
        place.file("other", foreign);
        place
            .run(&["bench", "tables/locks.toml", "--results", "other"])
            .expect(2)
            .complains("other:1: this is no result");
        let left = std::fs::read_to_string(place.path().join("other")).unwrap();
        assert_eq!(left, foreign);
    }
    for device in ["/dev/full", "/dev/zero", "."] {
        place
            .run(&["bench", "tables/locks.toml", "--results", device])
            .expect(2)
            .complains(&format!("{device}: this is no regular file"));
    }
}

#[test]
fn rows_are_divided_and_one_page_shows_all() {
    let place = place();
    let row =
        "[[row]]\nname = 'larger'\nmodel = '../lock.tw'\nproperty = 'mutex'\nset = { N = [4] }\n";
    place.file("tables/locks.toml", format!("{TABLE}{row}"));
    let bench = |more: &[&str]| {
        let all = [&["bench", "tables/locks.toml", "--results", "found"], more].concat();
        place.run(&all)
    };
    bench(&["--shard", "2/2"])
        .expect(0)
        .complains("2 runs made");
    bench(&["--shard", "1/2"])
        .expect(0)
        .complains("4 runs made");
    bench(&["--shard", "1/2"])
        .expect(0)
        .complains("0 runs made");
    let page = bench(&["--no-run", "--format", "json"]).expect(0).stdout;
    let page: Value = serde_json::from_str(&page).unwrap();
    let runs = page.to_string().matches("\"clock_seconds\":").count();
    assert_eq!(runs, 6, "{page:#}");
    // Nothing is written where nothing is run.
    let files = std::fs::read_dir(place.path().join("found")).unwrap();
    assert_eq!(files.count(), 2);
}

#[test]
fn refinements_are_counted_and_growth_is_a_target() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let table = "\
title = 'T'
runs = 1
grid = ['cpu', 'refinements', 'predicates']
list = ['refinements', 'predicates', 'extensions']
[[column]]
engine = 'forward'
[[column]]
engine = 'split'
[[row]]
model = 'lock.tw'
property = 'mutex'
set = { N = [2, 3] }
[[row.target]]
column = 'split'
growth_at_most = 2.3
[[row.target]]
column = 'split'
at = 3
ahead_of = 'forward'
";
    place.file("t.toml", table);
    let ran = place.run(&["bench", "t.toml"]).expect(0);
    let lines = lines(&place);
    let of = |column: &str, figure: &str| {
        let line = lines.iter().find(|line| line["column"] == column).unwrap();
        line["run"][figure].as_u64()
    };
    assert_eq!(of("forward", "refinements"), None);
    // `checks` comes first, and needs no refinement.
    let (refinements, predicates) = (of("split", "refinements"), of("split", "predicates"));
    let (refinements, predicates) = (refinements.unwrap(), predicates.unwrap());
    assert!(refinements > 0 && predicates > 0, "{lines:?}");
    let ran = ran
        .says("In each cell: CPU s / refinements / predicates.\n\n| model | verdict | `forward` | `split` |")
        .says(&format!(" / {refinements} / {predicates} |\n"))
        .says(&format!(
            "| lock N=2 | split | proved | {refinements} | {predicates} | 0 |"
        ))
        .says("| lock N=2 | forward | proved |  |  |  |")
        .says("- lock, split: growth at most N^2.3: open (too few runs");
    let first = ran
        .stdout
        .lines()
        .find(|line| line.starts_with("| lock N=2 |"));
    let cells: Vec<&str> = first.unwrap().split('|').map(str::trim).collect();
    // A method that does not refine has no figures of it.
    assert!(cells[3].parse::<f64>().is_ok(), "{cells:?}");
    // With runs that are long enough there is an exponent: here 3, which is too much.
    place.file("t.toml", table.replace("[2, 3]", "[2, 3, 4]"));
    place.run(&["bench", "t.toml"]).expect(0);
    pretend(&place, |column, size| {
        let times = if column == "split" { 1.0 } else { 2.0 };
        times * size.powi(3)
    });
    place
        .run(&["bench", "t.toml"])
        .expect(0)
        .says("- lock, split: growth at most N^2.3: **missed** (3.00)")
        .says("- lock N=3, split: ahead of forward: met (27.00; forward 54.0)");
    // Targets that speak of a column that was not chosen are left out with it.
    let alone = place.run(&["bench", "t.toml", "--column", "split"]);
    assert!(!alone.expect(0).stdout.contains("ahead of"));
    let swapped = table
        .replace("[2, 3]", "[2, 3, 4]")
        .replace("ahead_of = 'forward'", "ahead_of = 'split'")
        .replace("column = 'split'\nat", "column = 'forward'\nat");
    place.file("t.toml", swapped);
    place
        .run(&["bench", "t.toml"])
        .expect(0)
        .says("- lock N=3, forward: ahead of split: **missed** (54.00; split 27.0)");
}

#[test]
fn a_method_that_does_not_decide_has_figures() {
    let place = Place::new();
    let model = "shared a, b: 0..508 = 1;\n\
                 process P { loop { s: atomic { a, b := (a * b) % 509, (a + 1) % 509; } } }\n\
                 invariant other: a != 2 || b != 3;\n";
    place.file("m.tw", model);
    place.file(
        "t.toml",
        "title = 'T'\nruns = 2\ngrid = ['cpu', 'refinements']\nlist = ['cpu', 'states']\n\
         [[column]]\nengine = 'forward'\n[[row]]\nmodel = 'm.tw'\n",
    );
    place
        .run(&["bench", "t.toml"])
        .expect(0)
        .says("| m | undecided | unknown (")
        .says("| m | forward | unknown | ")
        .says("- forward, unknown (first for m): an expression has too many values");
    assert_eq!(lines(&place).len(), 1);
}

#[test]
fn a_plot_can_be_about_several_rows() {
    let place = place();
    let table = TABLE
        .replace("runs = 1", "runs = 1\ngrowth_from = 0.0001")
        .replace("[2, 3]", "[2, 3, 4]")
        .replace("published = { Paper = [0.5, '> 1 h'] }", "");
    let other = "[[row]]\nname = 'again'\nmodel = '../lock.tw'\nset = { N = [2, 5, 6] }\n\
                 [[plot]]\nname = 'the two'\nrows = ['lock', 'again']\ncolumns = ['forward']\n\
                 [[plot]]\nname = 'all'\nrows = ['lock', 'again']\ncolumns = ['forward', 'explicit']\n";
    place.file("tables/locks.toml", format!("{table}{other}"));
    let args = ["bench", "tables/locks.toml", "--plots", "plots"];
    // Runs of a few milliseconds count here, and the page says so.
    place
        .run(&args)
        .expect(0)
        .says("Growth is fitted to runs of at least 0.1 ms.\n")
        .says("| lock, growth |")
        .says("![CPU time of the two against N, both logarithmic](plots/locks-the-two.svg)")
        .says("![CPU time of lock against N, both logarithmic](plots/locks-lock.svg)");
    let read = |name: &str| std::fs::read_to_string(place.path().join("plots").join(name)).unwrap();
    let two = read("locks-the-two.svg");
    assert!(two.contains("<title id=\"title\">the two: CPU seconds against N</title>"));
    // One curve for each row, over the sizes of both.
    assert_eq!(two.matches("<polyline").count(), 2, "{two}");
    for size in [2, 3, 4, 5, 6] {
        assert!(two.contains(&format!(">{size}</text>")), "{two}");
    }
    for legend in [">lock: N^", ">again: N^"] {
        assert!(two.contains(legend), "no `{legend}` in {two}");
    }
    let all = read("locks-all.svg");
    assert_eq!(all.matches("<polyline").count(), 4, "{all}");
    assert!(all.contains(">again, explicit: N^"), "{all}");
    // A picture of a row that was not chosen has what is left.
    place
        .run(&[&args[..3], &["other", "--row", "lock"]].concat())
        .expect(0);
    let left = std::fs::read_to_string(place.path().join("other/locks-the-two.svg")).unwrap();
    assert_eq!(left.matches("<polyline").count(), 1, "{left}");
}

#[test]
fn no_table_commands_the_terminal() {
    let place = place();
    let table = TABLE
        .replace("'Locks'", "\"Lo\\u001b[31mcks\"")
        .replace("name = 'explicit'", "name = \"ex\\u001b[2Jplicit\"")
        .replace("[[row]]", "[[row]]\nname = \"lo\\rck\"");
    place.file("tables/locks.toml", table);
    let listed = place.run(&["bench", "tables/locks.toml", "--list"]);
    listed.expect(0).says("locks: Lo\\u{1b}[31mcks").plain();
    let page = place.run(&["bench", "tables/locks.toml", "--plots", "plots"]);
    page.expect(0).says("## Lo\\u{1b}[31mcks").plain();
    let plot = place.path().join("plots/locks-lo-ck.svg");
    let plot = std::fs::read_to_string(plot).unwrap();
    assert!(!plot.contains(['\u{1b}', '\r']), "{plot}");
    let unknown = place.run(&["bench", "tables/locks.toml", "--column", "x"]);
    unknown.expect(2).complains("ex\\u{1b}[2Jplicit").plain();
}

#[test]
fn the_tables_of_the_project_can_be_read() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Place::new().command(&["bench", "--list"]);
    let ran = command.current_dir(root).output().unwrap();
    let listed = crate::common::Ran::of(ran)
        .expect(0)
        .says("row mux_sem: N=20")
        .stdout;
    // What stands at the top of the page comes first.
    assert!(listed.starts_with("peers: "), "{listed}");
}

#[test]
fn a_directory_is_all_of_its_tables_in_order() {
    let place = place();
    place.file("tables/first.toml", format!("order = -1\n{TABLE}"));
    place.file("tables/notes.txt", "no table");
    let ran = place.run(&["bench", "tables", "--list"]).expect(0);
    let names = ran.stdout.lines().filter(|line| !line.starts_with(' '));
    assert_eq!(names.collect::<Vec<_>>(), ["first: Locks", "locks: Locks"]);
    place
        .run(&["bench", "--list"])
        .expect(2)
        .complains("benchmarks: there is no such file\n  help: tables are files");
    std::fs::create_dir(place.path().join("benchmarks")).unwrap();
    place
        .run(&["bench"])
        .expect(2)
        .complains("benchmarks: there are no tables");
    place.file("lock.tw", LOCK);
    place.file("benchmarks/locks.toml", TABLE);
    // The page repeats what was typed.
    place
        .run(&["bench", "--column", "forward"])
        .expect(0)
        .says("```\nthreadwise bench --column forward\n```");
}

/// Targets of a whole table: `forward` against the fastest of the others.
const RIVALS: &str = "\
title = 'Who is fastest, and where?'
runs = 1
[[column]]
engine = 'forward'
[[column]]
engine = 'split'
[[column]]
engine = 'explicit'
[[published]]
label = 'Noted'
citation = 'notes'
[[row]]
model = 'lock.tw'
property = 'mutex'
set = { N = [2, 3, 4] }
published = { Noted = ['', '3 (SPIN)', '> 9'] }
[[row]]
name = 'alone'
model = 'lock.tw'
property = 'mutex'
set = { N = 5 }
columns = ['forward']
[[target]]
column = 'forward'
ahead_of = ['split', 'explicit', 'Noted']
times = 0.5
times_at_largest = 0.1
from = 1
[[target]]
column = 'forward'
ahead_of = ['split', 'explicit', 'Noted']
enough = 0.3
until = 1
[[target]]
column = 'forward'
ahead_of = ['split', 'explicit']
times = 2
plus = 0.5
[glance]
column = 'forward'
beside = ['split', 'explicit', 'Noted']
also = ['explicit']
";

#[test]
fn targets_are_about_the_fastest_of_others_and_the_page_begins_with_them() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place.file("t.toml", RIVALS);
    place.run(&["bench", "t.toml"]).expect(0);
    pretend(&place, |column, size| match (column, size as i64) {
        ("forward", 2) => 0.2,
        ("forward", 3) => 1.6,
        ("forward", _) => 2.0,
        ("split", 2) => 0.1,
        ("split", 3) => 4.0,
        _ => 5.0,
    });
    let ran = place.run(&["bench", "t.toml"]).expect(0);
    for part in [
        "| alone N=5 | proved |  | 2.00 |  |  |\n",
        // The published figure is a limit, not a time.
        "| lock N=4 | proved | split 5.00 | 2.00 | 2.5 | 5.00 |\n",
        "**Targets:** 4 of 6 met, 2 missed.\n\n",
        "- [Who is fastest, and where?](#who-is-fastest-and-where): lock N=3, forward: below 0.5 times the fastest other: **missed** (1.60; Noted 3 (SPIN))\n",
        "lock N=4, forward: below 0.1 times the fastest other: **missed** (2.00; split 5.00)\n",
        "| [Who is fastest, and where?](#who-is-fastest-and-where) | 4 of 6 |\n",
        "Targets: 4 of 6 met, 2 missed.\n\n- lock N=3, forward: below 0.5",
        "<details><summary>Targets that are met</summary>\n\n- lock N=2, forward: ahead of the fastest other, or below 300 ms: met (0.20; split 0.10)\n",
        "- lock N=2, forward: below 2 times the fastest other and 500 ms: met (0.20; split 0.10)\n",
    ] {
        assert!(ran.stdout.contains(part), "no `{part}` in {}", ran.stdout);
    }
    // Nothing is aimed at in a row that has nobody to compare with.
    assert!(
        !ran.stdout.contains("alone N=5, forward:"),
        "{}",
        ran.stdout
    );
    // Without one of those compared there is no comparison.
    let chosen = [
        "bench", "t.toml", "--column", "forward", "--column", "split",
    ];
    let fewer = place.run(&chosen).expect(0);
    assert!(!fewer.stdout.contains("Targets"), "{}", fewer.stdout);
    assert!(!fewer.stdout.contains("fastest other"), "{}", fewer.stdout);
    // What was not run may be the fastest.
    std::fs::remove_file(place.path().join("bench-results.jsonl")).unwrap();
    place.run(&chosen).expect(0);
    place
        .run(&["bench", "t.toml", "--no-run"])
        .expect(0)
        .says("lock N=2, forward: below 0.5 times split, explicit: open (explicit not run)");
    let json = place.run(&["bench", "t.toml", "--no-run", "--format", "json"]);
    let value: Value = serde_json::from_str(&json.expect(0).stdout).unwrap();
    assert_eq!(value["tables"][0]["targets"][0]["state"], "open");
}

#[test]
fn who_does_not_end_has_missed_and_is_behind() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place.file("t.toml", RIVALS);
    place.run(&["bench", "t.toml"]).expect(0);
    let path = place.path().join("bench-results.jsonl");
    let ends = |slow: &'static str, others: f64| {
        let text: String = lines(&place)
            .into_iter()
            .map(|mut line| {
                let over = slow.contains(line["column"].as_str().unwrap());
                line["run"]["outcome"] = if over { "time" } else { "proved" }.into();
                line["run"]["cpu_seconds"] = if over { 60.0 } else { others }.into();
                format!("{line}\n")
            })
            .collect();
        std::fs::write(&path, text).unwrap();
        place.run(&["bench", "t.toml"]).expect(0)
    };
    ends("split explicit", 2.0)
        .says("- lock N=2, forward: below 0.5 times the fastest other: met (2.00; split > 60 s)")
        .says("| lock N=4 | proved | Noted > 9 | 2.00 | > 4.5 | skipped |");
    // How much longer the others would take is not known.
    ends("split explicit", 40.0)
        .says("- lock N=2, forward: below 0.5 times the fastest other: open (40.00; split > 60 s)");
    ends("forward", 2.0).says(
        "- lock N=2, forward: below 0.5 times the fastest other: **missed** (> 60 s; split 2.00)",
    );
}

#[test]
fn a_parameter_can_be_left_open() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let table = "\
title = 'T'
runs = 1
[[column]]
engine = 'forward'
[[column]]
engine = 'counter'
open = true
name = 'all N'
[[column]]
engine = 'forward'
options = ['--no-recheck']
open = true
name = 'one N'
[[row]]
model = 'lock.tw'
property = 'mutex'
set = { N = [2, 3] }
";
    place.file("t.toml", table);
    place
        .run(&["bench", "t.toml"])
        .expect(0)
        .says("| lock N=2 | proved | 0.")
        .says("- one N, unknown (first for lock N=2): holds for N=3, not proved for every N");
    // One run for all sizes.
    let of = |column: &str| {
        let lines = lines(&place);
        lines.iter().filter(|line| line["column"] == column).count()
    };
    assert_eq!((of("forward"), of("all N"), of("one N")), (2, 1, 1));
    place.file(
        "t.toml",
        table.replace("engine = 'counter'", "peer = 'spin'"),
    );
    place
        .run(&["bench", "t.toml"])
        .expect(2)
        .complains("t.toml:5:1: `open` is for an engine");
}

#[test]
fn horn_clauses_are_for_z3() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let table = "\
title = 'T'
runs = 1
[[column]]
peer = 'z3'
[[column]]
peer = 'z3'
options = ['--with-lemmas', 'fp.xform.slice=false']
name = 'lemmas'
[[row]]
model = 'lock.tw'
property = 'mutex'
";
    place.file("t.toml", table);
    std::fs::create_dir(place.path().join("bin")).unwrap();
    let run = || {
        let mut command = place.command(&["bench", "t.toml"]);
        command.env("PATH", place.path().join("bin"));
        crate::common::Ran::of(command.output().unwrap()).expect(0)
    };
    run()
        .says("- Z3 is not on this machine (`z3` on the path), so")
        .says("| lock | undecided | absent | absent |");
    // A stand-in that says `sat` if it gets an option of its own, and keeps what it was given.
    let here = place.path().display().to_string();
    let script = format!(
        "[ \"$1\" = --version ] && echo 'Z3 version 4.0.0 - 64 bit' && exit
        /bin/cp model.smt2 {here}/given-$#.smt2
        [ $# = 1 ] && echo unsat && exit 1
        [ $1 = fp.xform.slice=false ] && echo sat"
    );
    place.script("z3", &script);
    run()
        .says("- Z3 4.0.0.\n")
        .says("| lock | proved | unknown (0.")
        .says("- Z3, unknown (first for lock): the clauses have no solution");
    let given = |count: u8| {
        let path = place.path().join(format!("given-{count}.smt2"));
        std::fs::read_to_string(path).unwrap()
    };
    assert!(given(1).contains("(set-logic HORN)"));
    assert!(given(2).len() > given(1).len());
}

#[test]
fn absent_peers_are_said_and_present_ones_agree() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place.file("broken.tw", BROKEN);
    let columns: String = ["SPIN", "ABC", "NuSMV"]
        .iter()
        .map(|peer| format!("[[column]]\npeer = '{}'\n", peer.to_lowercase()))
        .collect();
    let rows: String = [("lock", "proved"), ("broken", "violated")]
        .iter()
        .map(|(model, verdict)| {
            format!(
                "[[row]]\nmodel = '{model}.tw'\nproperty = 'mutex'\nset = {{ N = [2, 3] }}\nexpect = '{verdict}'\n"
            )
        })
        .collect();
    place.file(
        "peers.toml",
        format!("title = 'T'\nruns = 1\n{columns}{rows}"),
    );
    let mut without = place.command(&["bench", "peers.toml"]);
    let ran = without.env("PATH", place.path()).output().unwrap();
    crate::common::Ran::of(ran)
        .expect(0)
        .says("- SPIN is not on this machine (`spin` and `gcc` on the path), so")
        .says("- NuSMV is not on this machine")
        .says("| lock N=2 | undecided | absent | absent | absent |");
    // Verdicts that are not the expected ones would end in status 4.
    let ran = place.run(&["bench", "peers.toml"]).expect(0);
    let mut present = 0;
    for peer in ["SPIN", "ABC", "NuSMV"] {
        if ran
            .stdout
            .contains(&format!("- {peer} is not on this machine"))
        {
            eprintln!("SKIPPED: {peer} is not installed");
            continue;
        }
        present += 1;
        let lines = lines(&place);
        let own = lines.iter().filter(|line| line["column"] == peer);
        let outcomes: Vec<&Value> = own.map(|line| &line["run"]["outcome"]).collect();
        assert_eq!(
            outcomes,
            ["proved", "proved", "violated", "violated"],
            "{peer}: {}",
            ran.stdout
        );
    }
    // The second pass exports, and runs nothing.
    place.run(&["bench", "peers.toml"]).expect(0);
    let results = std::fs::read_to_string(place.path().join("bench-results.jsonl")).unwrap();
    assert_eq!(results.lines().count(), 4 * present);
}

#[test]
fn an_interrupt_ends_the_run_and_writes_what_there_is() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place.file("endless.tw", ENDLESS);
    place.file(
        "long.toml",
        "title = 'T'\nruns = 1\n[[column]]\nengine = 'explicit'\n[[row]]\nmodel = 'lock.tw'\n\
         [[row]]\nmodel = 'endless.tw'\n",
    );
    let mut command = place.command(&["bench", "long.toml"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.unwrap();
    let results = place.path().join("bench-results.jsonl");
    let begun = Instant::now();
    while std::fs::read_to_string(&results)
        .unwrap_or_default()
        .is_empty()
    {
        assert!(begun.elapsed() < crate::common::PATIENCE, "no result");
        std::thread::sleep(Duration::from_millis(20));
    }
    // By now the second row has begun, or is about to.
    std::thread::sleep(Duration::from_millis(500));
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.unwrap().success());
    let ran = crate::common::Ran::of(child.wait_with_output().unwrap());
    ran.expect(130)
        .says("| lock | proved | 0.")
        .says("| endless | undecided | not run |");
}
