//! What the command line accepts, and what `--help` says about it.
//!
//! The types mirror the contract in the documentation: an option that has no implementation is
//! not accepted, so nothing is ever ignored silently. The help texts are meant to teach: each
//! command ends with examples that can be pasted.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use threadwise::{Only, Setting};
use threadwise_bench::share::Share;
use threadwise_bench::{BenchArgs, mebibytes, seconds};
use threadwise_lang::suggest::closest;

use crate::engine_args::EngineArgs;

const AFTER_HELP: &str = "\
Examples:
  threadwise new lock.tw                  write a commented starter model
  threadwise check lock.tw                check every property, for every N
  threadwise check lock.tw --set N=2..5   the same for N = 2, 3, 4 and 5
  threadwise simulate lock.tw --seed 7    watch a random execution
  threadwise test models                  run the expectations written in the models

Exit status: 0 every property proved; 1 some property violated; 2 usage or input error, or
nothing to check; 3 something unknown; 4 internal error, or evidence that does not hold up;
130 interrupted. If several occurred, the first of 130, 4, 2, 1, 3, 0 is the one.

Memory is sequentially consistent, and every verdict is about that.";

const CHECK_EXAMPLES: &str = "\
Examples:
  threadwise check peterson.tw
  threadwise check peterson.tw --set N=2..4 --only safety
  threadwise check peterson.tw --property mutex --trace traces
  threadwise check mux_sem.tw --only liveness --engine fair-local-liveness-b
  threadwise check peterson.tw bakery.tw --timeout 10 --memory 2048 --json
  threadwise check - < peterson.tw

A parameter stands for every value that its `where` allows. Without --set the claim is for all of
them, and `proved` means that it holds for all of them. What is not proved for all is looked at in
instances, the smallest first: a violation of one is one of the claim; otherwise the verdict is
`unknown`, with the values at which the property holds. --set N=4 claims less.

One search serves all safety properties of an instance, so the time it takes counts against each
of them: --timeout 10 ends the search of each instance after 10 seconds, and a property that was
decided before then keeps its verdict. Each liveness property has a search of its own.

Exit status: 0 all proved; 1 some violated; 2 usage or input error, or nothing to check; 3 some
unknown; 4 internal error; 130 interrupted. The first of 130, 4, 2, 1, 3, 0 that occurred counts.";

const TEST_EXAMPLES: &str = "\
Expectations are comments in a model:
  //@ expect mutex: proved for all N
  //@ expect mutex: proved at N=2..4
  //@ expect mutex: violated at N=3, M=2
  //@ states at N=2: 12

Examples:
  threadwise test models
  threadwise test models/peterson.tw --verbose

Exit status: 0 if all expectations are met; 1 if one is not; 2 if a file or an expectation cannot
be read, or there are none; 3 if a verdict was unknown; 4 for an internal error; 130 if interrupted;
the first of 130, 4, 2, 1, 3, 0 that occurred counts. An undecided expectation counts as failed.";

const MERGE_EXAMPLES: &str = "\
Examples:
  threadwise check models --shard 1/2 --results found --timeout 60
  threadwise check models --shard 2/2 --results found --timeout 60
  threadwise merge found
  threadwise merge found --json

The shares may be done anywhere that sees the directory, at the same time or one after the other, and
again after they were stopped: what is done is not done again. `merge` refuses if a unit is missing.

Exit status: that of the whole; 2 if the results cannot be read, do not belong together, or are not
complete.";

const CERTIFY_EXAMPLES: &str = "\
Examples:
  threadwise check lock.tw --certificate proofs    writes proofs/lock.mutex.N=4.cert.json
  threadwise certify lock.tw proofs/lock.mutex.N=4.cert.json
  threadwise certify lock.tw proofs/lock.mutex.N=4.cert.json --smtlib | z3 -in

Exit status: 0 if the certificate proves the property; 4 if it does not; 3 if the checker cannot
say; 2 if either file cannot be read.";

const REPLAY_EXAMPLES: &str = "\
Examples:
  threadwise check lock.tw --trace traces    writes traces/lock.mutex.N=4.json
  threadwise replay lock.tw traces/lock.mutex.N=4.json

Exit status: 0 if the trace is an execution of the model and ends as it claims; 4 if it is not;
2 if either file cannot be read.";

const SIMULATE_EXAMPLES: &str = "\
Examples:
  threadwise simulate lock.tw
  threadwise simulate lock.tw --steps 100 --seed 7
  threadwise simulate lock.tw --set N=2 --interactive

The same seed gives the same execution.

Exit status: 0 if nothing was violated; 1 if the execution fails a check, violates an invariant, or
ends in a deadlock and the model claims `deadlock_free`; 2 usage or input error; 3 if the execution
cannot be continued (a number beyond 64 bits); 4 internal error.";

const EXPLORE_EXAMPLES: &str = "\
Examples:
  threadwise explore lock.tw
  threadwise explore lock.tw --set N=2 --no-open
  threadwise explore lock.tw --trace traces/lock.mutex.N=4.json

The page is served on 127.0.0.1 alone, to whoever knows the address that is printed. Ctrl-C ends it.

Exit status: 2 usage or input error; 4 if the trace does not replay, or an internal error.";

const FMT_EXAMPLES: &str = "\
Examples:
  threadwise fmt lock.tw            rewrites the file
  threadwise fmt --check models     lists files that would change, and exits with 1
  threadwise fmt - < lock.tw        prints the result";

const NEW_EXAMPLES: &str = "\
Examples:
  threadwise new lock.tw
  threadwise check lock.tw";

const LSP_HELP: &str = "\
An editor starts it and talks to it: messages as one types, hovers, definitions, references, new
names, completion, symbols, layout, and a check of each property with its verdict above it.
docs/book/src/editors.md says how to set up VS Code, Neovim, Helix and Emacs.

Exit status: 0 after `shutdown` and `exit`; 1 if the editor leaves without them.";

const EXPORT_EXAMPLES: &str = "\
Examples:
  threadwise export lock.tw --to promela --set N=3 > lock.pml
  threadwise export lock.tw --to smv --set N=3 > lock.smv
  threadwise export lock.tw --to blif --set N=3 --property mutex > lock.blif
  threadwise export lock.tw --to hoa --set N=3 --property access > access.hoa
  threadwise export lock.tw --to chc --property mutex --with-lemmas | z3 -in
  threadwise export lock.tw --to dot | dot -Tsvg > lock.svg";

const IMPORT_EXAMPLES: &str = "\
Examples:
  threadwise import peterson.pml > peterson.tw
  threadwise import counter.c -DTHREADS=3 --integers machine -o counter.tw

Other commands read such files themselves: `threadwise check peterson.pml`.

Exit status: 0 if the model was written; 2 if the program cannot be read, or has what cannot be
brought over.";

const BENCH_EXAMPLES: &str = "\
Examples:
  threadwise bench --output docs/benchmarks.md
  threadwise bench --list
  threadwise bench --row peterson --column forward benchmarks/peers.toml

Every run is kept in the file of results, and the next invocation goes on from there. What is
measured again: what has changed (program, model, limits, machine), and what failed.

Exit status: 0 all was run, whatever the verdicts; 2 a table or the results cannot be read; 4 the
verdicts of two columns differ, or a run of threadwise failed; 130 interrupted, after writing what
there is.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  threadwise completions bash > ~/.local/share/bash-completion/completions/threadwise
  threadwise completions fish > ~/.config/fish/completions/threadwise.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  threadwise man | man -l -
  threadwise man check | man -l -";

/// Proofs of concurrent programs, one thread at a time.
#[derive(Parser, Debug)]
#[command(name = "threadwise", version, after_help = AFTER_HELP)]
#[command(about = "Proofs of concurrent programs, one thread at a time")]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = false, propagate_version = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Check the properties of models
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Box<CheckArgs>),
    /// Run the expectations written inside models
    #[command(after_help = TEST_EXAMPLES)]
    Test(TestArgs),
    /// Put the shares of a divided `check` or `test` together
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Check a certificate with the independent checker
    #[command(after_help = CERTIFY_EXAMPLES)]
    Certify(CertifyArgs),
    /// Replay a trace with the interpreter
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(ReplayArgs),
    /// Run a model at random, or step by step
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(SimulateArgs),
    /// Walk a model in a browser
    #[command(after_help = EXPLORE_EXAMPLES)]
    Explore(ExploreArgs),
    /// Format models
    #[command(after_help = FMT_EXAMPLES)]
    Fmt(FmtArgs),
    /// Write a commented starter model
    #[command(after_help = NEW_EXAMPLES)]
    New(NewArgs),
    /// Serve editors, by the language server protocol on standard input and output
    #[command(after_help = LSP_HELP)]
    Lsp {
        /// Use standard input and output, as is done anyway: some editors ask for it
        #[arg(long)]
        stdio: bool,
    },
    /// List the engines and what each can do
    Engines,
    /// Translate a model to another tool's language
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// Translate a program from Promela or C to a model
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(ImportArgs),
    /// Run tables of benchmarks, beside other tools where they are installed
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(BenchArgs),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page of threadwise or of one of its commands
    #[command(after_help = MAN_EXAMPLES)]
    Man {
        /// The command; without it, the page of threadwise itself
        command: Option<String>,
        /// Print one page about all commands instead, in Markdown
        #[arg(long, conflicts_with = "command")]
        markdown: bool,
    },
    /// Run one engine on one instance, for the parent process: a job on standard input, events out
    #[command(hide = true)]
    Worker,
    /// Run one command and measure it, for the parent process: the command on standard input, figures out
    #[command(hide = true)]
    Measure,
}

/// The parameters of an instance.
#[derive(Args, Debug, Default)]
pub(crate) struct InstanceArgs {
    /// Give a parameter a value, or sweep over a range (repeatable)
    #[arg(
        long = "set",
        value_name = "NAME=VALUE|LO..HI",
        allow_hyphen_values = true
    )]
    pub(crate) set: Vec<Setting>,
}

/// The parameters of the one instance that a command takes.
#[derive(Args, Debug, Default)]
pub(crate) struct OneInstanceArgs {
    /// Give a parameter a value (repeatable) [default: the value in the model]
    #[arg(long = "set", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub(crate) set: Vec<Setting>,
}

/// How programs of other languages are read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct LanguageArgs {
    /// In Promela and C, define a macro, as 1 if nothing else is said (repeatable)
    #[arg(short = 'D', help_heading = "Promela and C", value_name = "NAME[=VALUE]", value_parser = definition)]
    pub(crate) define: Vec<(String, String)>,
    /// In C, how integers behave [default: mathematical]
    #[arg(long, help_heading = "Promela and C", value_name = "HOW", value_enum)]
    pub(crate) integers: Option<IntegersArg>,
    /// In C, how wide `long` and pointers are [default: LP64]
    #[arg(
        long,
        help_heading = "Promela and C",
        value_name = "MODEL",
        value_enum,
        ignore_case = true
    )]
    pub(crate) data_model: Option<DataModelArg>,
}

/// How integers of C behave.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IntegersArg {
    /// Without wrap-around; that a signed value leaves its type is a failed check (not where there may be any number of threads)
    #[default]
    Mathematical,
    /// Of the machine's width: values wrap around
    Machine,
}

/// How wide the types of C are.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DataModelArg {
    /// 64 bits, as on 64-bit Linux
    #[default]
    #[value(name = "LP64")]
    Lp64,
    /// 32 bits, as on 32-bit Linux
    #[value(name = "ILP32")]
    Ilp32,
}

impl DataModelArg {
    /// What the software verification competition calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            DataModelArg::Lp64 => "LP64",
            DataModelArg::Ilp32 => "ILP32",
        }
    }
}

/// Limits on the effort.
#[derive(Args, Debug, Default)]
pub(crate) struct LimitArgs {
    /// Seconds for each property; then its verdict is `unknown`
    #[arg(long, help_heading = "Limits", value_name = "SECONDS", allow_hyphen_values = true, value_parser = seconds)]
    pub(crate) timeout: Option<f64>,
    /// Seconds for the whole invocation
    #[arg(long, help_heading = "Limits", value_name = "SECONDS", allow_hyphen_values = true, value_parser = seconds)]
    pub(crate) total_timeout: Option<f64>,
    /// Memory of an engine in MiB [default: three quarters of what the machine has free, 8192 at most]
    #[arg(long, help_heading = "Limits", value_name = "MIB", allow_hyphen_values = true, value_parser = mebibytes)]
    pub(crate) memory: Option<u64>,
    /// Threads of an engine [default: one for each core]
    #[arg(long, help_heading = "Limits", value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// A share of the work, for one of several processes.
#[derive(Args, Debug, Default)]
pub(crate) struct ShardArgs {
    /// Do the I-th of K shares of the work: files, and instances of a sweep
    #[arg(
        long,
        help_heading = "Several processes",
        value_name = "I/K",
        requires = "results"
    )]
    pub(crate) shard: Option<Share>,
    /// Keep what is found in this directory; what it has already is not done again
    #[arg(
        long,
        help_heading = "Several processes",
        value_name = "DIR",
        requires = "shard"
    )]
    pub(crate) results: Option<PathBuf>,
}

/// `threadwise merge`
#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// The directory that was given to --results
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Write a page about everything that was found, for a browser
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// How results are printed
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Print verdicts only: no traces, no advice
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print all statistics, why each verdict is what it is, and every step of long traces
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Print the proofs that were kept: those of shares with --explain
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) explain: bool,
}

/// `threadwise check`
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Models (`.tw`), Promela (`.pml`) or C (`.c`, `.i`), or directories that are searched for them; `-` is a model on standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) instance: InstanceArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    #[command(flatten)]
    pub(crate) shard: ShardArgs,
    /// Say that the claim is for every value of this parameter, which it is unless --set gives one (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) for_all: Vec<String>,
    /// Check this property only (repeatable); the built-in checks always run along
    #[arg(long, value_name = "NAME")]
    pub(crate) property: Vec<String>,
    /// Check properties of one kind only
    #[arg(long, value_name = "KIND", value_parser = only)]
    pub(crate) only: Option<Only>,
    /// Use this engine (`threadwise engines` lists them)
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) engine: String,
    #[command(flatten)]
    pub(crate) engine_options: EngineArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Do not replay counterexamples or check certificates before printing verdicts
    #[arg(long)]
    pub(crate) no_recheck: bool,
    /// Treat a warning as an error: a code, a name, or `all` (repeatable)
    #[arg(long, value_name = "WARNING")]
    pub(crate) deny: Vec<String>,
    /// Write each counterexample into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "shard")]
    pub(crate) trace: Option<PathBuf>,
    /// The form of the files that --trace writes [default: json]; `text` and `lanes` also say how traces are printed [default: lanes if they fit]
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) trace_format: Option<TraceFormat>,
    /// Write the certificate of each proof into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "shard")]
    pub(crate) certificate: Option<PathBuf>,
    /// For a C program, write what was found about its checks as a verification witness, for other tools to confirm
    #[arg(long, value_name = "FILE.yml", conflicts_with = "shard")]
    pub(crate) witness: Option<PathBuf>,
    /// Write a page about everything that was found, for a browser; implies --explain for what it shows
    #[arg(long, value_name = "FILE.html", conflicts_with = "shard")]
    pub(crate) report: Option<PathBuf>,
    /// How results are printed
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Format::Text, conflicts_with = "shard")]
    pub(crate) format: Format,
    /// Short for `--format json`
    #[arg(long, conflicts_with_all = ["format", "shard"])]
    pub(crate) json: bool,
    /// End when the process that started this one is gone: for the explorer and the language server
    #[arg(long, hide = true)]
    pub(crate) with_parent: bool,
    /// Print verdicts only: no traces, no advice, no warnings
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print all statistics, why each verdict is what it is, and every step of long traces
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Print each proof so that it can be read, if it is for all values of the parameters or by an engine
    /// that looks at processes one by one
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) explain: bool,
}

/// `threadwise test`
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// Models, or directories that are searched for `*.tw`
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    #[command(flatten)]
    pub(crate) shard: ShardArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Print problems and the summary only
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print every expectation
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// `threadwise certify`
#[derive(Args, Debug)]
pub(crate) struct CertifyArgs {
    /// The model; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The certificate, as `check --certificate` writes it; `-` is standard input
    #[arg(value_name = "CERTIFICATE")]
    pub(crate) certificate: PathBuf,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// Insist on this value of a parameter (repeatable) [default: the value in the certificate]
    #[arg(long = "set", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub(crate) set: Vec<Setting>,
    /// The property that is to be proved, if not the one that the certificate names
    #[arg(long, value_name = "NAME")]
    pub(crate) property: Option<String>,
    /// Print the conditions as SMT-LIB for another solver, which must answer `unsat` to each, and check nothing
    #[arg(long)]
    pub(crate) smtlib: bool,
    /// Print nothing if the certificate is accepted
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// `threadwise replay`
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// The model; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The trace, in JSON as `check --trace` writes it; `-` is standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// How the trace is printed [default: lanes if they fit, otherwise text]
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) format: Option<TraceFormat>,
    /// Print nothing but the outcome
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print every step: fold nothing
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// `threadwise simulate`
#[derive(Args, Debug)]
pub(crate) struct SimulateArgs {
    /// The model; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) instance: OneInstanceArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// Watch this safety property only (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) property: Vec<String>,
    /// How many steps at most
    #[arg(long, value_name = "K", default_value_t = 50, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    pub(crate) steps: u64,
    /// The seed of the random choices
    #[arg(long, value_name = "S", default_value_t = 0, allow_hyphen_values = true, value_parser = seed)]
    pub(crate) seed: u64,
    /// Choose every step yourself
    #[arg(long, short)]
    pub(crate) interactive: bool,
    /// How the execution is printed [default: lanes if they fit, otherwise text]
    #[arg(long, value_name = "FORM", value_enum, conflicts_with = "interactive")]
    pub(crate) format: Option<TraceFormat>,
    /// Print every step: fold nothing
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// `threadwise explore`
#[derive(Args, Debug)]
pub(crate) struct ExploreArgs {
    /// The model; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) instance: OneInstanceArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// Begin with this trace, in JSON as `check --trace` writes it, at its values of the parameters
    #[arg(long, value_name = "TRACE")]
    pub(crate) trace: Option<PathBuf>,
    /// The port to listen on; 0 is any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Only print the address: start no browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// `threadwise fmt`
#[derive(Args, Debug)]
pub(crate) struct FmtArgs {
    /// Models, or directories that are searched for `*.tw`; `-` is standard input, formatted to standard output
    #[arg(required = true, value_name = "PATH")]
    pub(crate) files: Vec<PathBuf>,
    /// Change nothing: list the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
}

/// `threadwise new`
#[derive(Args, Debug)]
pub(crate) struct NewArgs {
    /// The file to write; `.tw` is added if it has no extension; `-` is standard output
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// `threadwise export`
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// The model; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The language
    #[arg(long, value_name = "LANGUAGE", value_enum)]
    pub(crate) to: Target,
    #[command(flatten)]
    pub(crate) instance: OneInstanceArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// Translate this property only (repeatable) [default: all that can be expressed]
    #[arg(long, value_name = "NAME")]
    pub(crate) property: Vec<String>,
    /// With `--to chc`: add what is known of views to the clauses, as equations, which makes many of them easier
    #[arg(long)]
    pub(crate) with_lemmas: bool,
    /// With `--to chc`: let the others do whatever their text allows, and count them alone, as the abstraction was published
    #[arg(long, conflicts_with = "with_lemmas")]
    pub(crate) as_published: bool,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `threadwise import`
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// The program, in Promela (`.pml`) or C (`.c`, `.i`)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The form of results.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One object, as the published schema says
    Json,
    /// SARIF 2.1.0, which code hosts and editors show beside the source
    Sarif,
}

/// The form of traces.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceFormat {
    /// For people: one line a step, with what it changes and its line of the source
    Text,
    /// For people: one column a process, time downwards
    Lanes,
    /// As `threadwise replay` reads it
    Json,
    /// The Informal Trace Format of the Apalache model checker
    Itf,
    /// A sequence diagram, for viewers of Markdown
    Mermaid,
}

impl TraceFormat {
    /// Whether a trace in this form can stand among the results.
    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, TraceFormat::Text | TraceFormat::Lanes)
    }

    /// Its name on the command line.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The ending of a file's name.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            TraceFormat::Text => "txt",
            TraceFormat::Lanes => "lanes.txt",
            TraceFormat::Json => "json",
            TraceFormat::Itf => "itf.json",
            TraceFormat::Mermaid => "mmd",
        }
    }
}

/// Languages that models are exported to.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The language of the SPIN model checker
    Promela,
    /// The language of the NuSMV model checker
    Smv,
    /// A circuit for ABC and other checkers of hardware, with one property
    Blif,
    /// The automaton of a negated liveness property, for Spot and other tools for automata
    Hoa,
    /// Constrained Horn clauses for Z3 and Eldarica, about all values of the parameters
    Chc,
    /// The control flow of each template, as a graph for Graphviz
    Dot,
}

/// `NAME` or `NAME=VALUE`.
fn definition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    if name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit()) {
        Ok((name.to_owned(), value.to_owned()))
    } else {
        Err("expected a name and, if it is not 1, its value, such as N=3".to_owned())
    }
}

fn seed(text: &str) -> Result<u64, String> {
    let most = u64::MAX;
    text.parse()
        .map_err(|_| format!("expected a number from 0 to {most}, such as 7"))
}

fn only(text: &str) -> Result<Only, String> {
    match text {
        "safety" => Ok(Only::Safety),
        "liveness" => Ok(Only::Liveness),
        _ => {
            let kinds = ["safety", "liveness"].map(str::to_owned);
            Err(match closest(text, kinds) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "expected `safety` or `liveness`".to_owned(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }
}
