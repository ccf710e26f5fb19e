//! The command line: arguments in, results to standard output, everything else to standard error,
//! and an exit status that says how it went.
//!
//! All checking is the library's. What lives here is what touches the outside: files, terminals,
//! clocks, signals and processes. An engine runs in a worker process, this same binary started
//! again (see `supervise` and `worker`).

#![forbid(unsafe_code)]

mod args;
mod bench;
mod certify;
mod check;
mod engine_args;
mod expectations;
mod explore;
mod fmt;
mod horn_solver;
mod input;
mod lsp;
mod merge;
mod new;
mod pages;
mod progress;
mod replay;
mod shard;
mod simulate;
mod supervise;
mod terminal;
mod text;
mod traces;
mod translate;
mod watch;
mod witness;
mod worker;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use clap::error::ErrorKind;
use threadwise::{Exit, Registry};

use crate::args::{Cli, Command};
use crate::terminal::{Terminal, say};

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Set by the first Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Signals this close together are one: `timeout` sends one to the program and one to its group.
const SAME_SIGNAL: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    // The watch looks at them as long as there is a process.
    let cli = Cli::try_parse().unwrap_or_else(|error| not_understood(&error));
    let cli: &'static Cli = Box::leak(Box::new(cli));
    let terminal = Terminal::detect();
    if matches!(
        cli.command,
        Command::Check(_) | Command::Test(_) | Command::Bench(_)
    ) {
        // Without the handler Ctrl-C still ends the program, only less politely.
        let mut first = None;
        let _ = ctrlc::set_handler(move || {
            let again = first.get_or_insert_with(Instant::now).elapsed() > SAME_SIGNAL;
            if INTERRUPTED.swap(true, Ordering::Relaxed) && again {
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
        });
    }
    if let Command::Check(args) = &cli.command
        && args.with_parent
    {
        end_with_parent();
    }
    watch_memory(&cli.command, terminal);
    let exit = match &cli.command {
        Command::Check(args) => check::run(args, &terminal, &INTERRUPTED),
        Command::Test(args) => expectations::run(args, &terminal, &INTERRUPTED),
        Command::Merge(args) => merge::run(args, &terminal),
        Command::Certify(args) => certify::run(args, &terminal),
        Command::Replay(args) => replay::run(args, &terminal),
        Command::Simulate(args) => simulate::run(args, &terminal),
        Command::Explore(args) => explore::run(args, &terminal),
        Command::Fmt(args) => fmt::run(args, &terminal),
        Command::New(args) => new::run(args, &terminal),
        Command::Lsp { .. } => lsp::run(),
        Command::Engines => engines(&terminal),
        Command::Export(args) => translate::export(args, &terminal),
        Command::Import(args) => translate::import(args, &terminal),
        Command::Bench(args) => threadwise_bench::run(args, &bench::Host(terminal), &INTERRUPTED),
        Command::Completions { shell } => pages::completions(*shell),
        Command::Man { markdown: true, .. } => pages::reference(),
        Command::Man { command, .. } => pages::man(command.as_deref(), &terminal),
        Command::Worker => worker::run(),
        Command::Measure => threadwise_bench::serve(),
    };
    let exit = match terminal::output_lost() {
        true => exit.and(Exit::Internal),
        false => exit,
    };
    ExitCode::from(exit.code())
}

/// Says what is wrong with the arguments, and ends. A file where the command belongs is to be checked.
fn not_understood(error: &clap::Error) -> ! {
    let first = std::env::args_os().nth(1);
    let file = first.filter(|first| {
        let path = Path::new(first);
        let model = path
            .extension()
            .is_some_and(|ending| ["tw", "pml", "c", "i"].iter().any(|known| ending == *known));
        model || path.exists()
    });
    if let (ErrorKind::InvalidSubcommand, Some(file)) = (error.kind(), file) {
        let file = file.to_string_lossy();
        eprintln!(
            "error: `{file}` is not a command\n  help: to check it, write: threadwise check {file}"
        );
        std::process::exit(i32::from(Exit::Input.code()));
    }
    error.exit()
}

/// Keeps an eye on the memory of commands that have no limits of their own. Those that have some begin the watch themselves, and a worker is watched by its parent.
fn watch_memory(command: &Command, terminal: Terminal) {
    if matches!(
        command,
        Command::Check(_)
            | Command::Test(_)
            | Command::Bench(_)
            | Command::Worker
            | Command::Measure
    ) {
        return;
    }
    let limits = watch::Limits {
        memory: supervise::default_memory(),
        memory_alone: true,
        ..watch::Limits::default()
    };
    watch::start(limits, &INTERRUPTED, move |_| {
        let mib = limits.memory.unwrap_or_default() >> 20;
        terminal.error(&format_args!(
            "more memory would be needed than the {mib} MiB that may be used\n  help: use smaller parameters or a smaller program"
        ));
        Exit::Unknown
    });
}

/// `threadwise engines`
fn engines(terminal: &Terminal) -> Exit {
    let engines = || Registry::standard().engines();
    let width = engines().map(|engine| engine.name.len()).max();
    let width = width.unwrap_or(0);
    for engine in engines() {
        let name = terminal.paint(terminal::Style::Strong, &format!("{:width$}", engine.name));
        say(format_args!(
            "{name}  {}\n{:width$}  properties: {}; verdicts for: {}\n",
            engine.about,
            "",
            engine.decides.as_str(),
            engine.make.scope()
        ));
    }
    Exit::Proved
}

/// Ends this process as Ctrl-C would, once the one that started it is gone. Where that cannot be seen, limits of time end it.
fn end_with_parent() {
    #[cfg(unix)]
    // Asked for at once: by the time that the thread runs, it may be gone.
    let parent = std::os::unix::process::parent_id();
    #[cfg(unix)]
    std::thread::spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(Duration::from_millis(200));
        }
        INTERRUPTED.store(true, Ordering::Relaxed);
    });
}
