//! Runs the commands that a page of the documentation shows, and compares what they print with what the page says.
//!
//! A block marked `console` has commands after `$ `, each followed by what it prints, standard output and standard error as they come, as on a
//! terminal. Durations may differ, and `[..]` stands for anything. All commands of a page run in one directory of its own, in their
//! order. A block marked `tw,file=NAME` is a file there, from its place on the page on, and models of the library and programs of the tests are there
//! under their names. Besides threadwise there is `echo $?`, the status of the command before; `> FILE` keeps what a command prints.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::common::{Place, stable};

/// The workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the workspace.
pub fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether pages are to be rewritten.
pub fn write() -> bool {
    std::env::var_os("THREADWISE_WRITE_BOOK").is_some_and(|value| value != "0")
}

/// The pages of the book, from the workspace, in order of their names, without the table of contents.
pub fn chapters() -> Vec<String> {
    let folder = root().join("docs/book/src");
    let files = std::fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .map(|name| format!("docs/book/src/{name}"))
        .collect();
    names.sort();
    names
}

/// A fenced block of a page.
#[derive(Debug)]
pub struct Block<'a> {
    /// The line of its first fence, from 1.
    pub line: usize,
    /// What stands behind the fence.
    pub mark: &'a str,
    /// What is between the fences.
    pub text: &'a str,
}

impl Block<'_> {
    /// Whether it is of this language.
    pub fn is(&self, language: &str) -> bool {
        self.mark.split(',').next() == Some(language)
    }

    /// What the mark says after `name=`.
    pub fn says(&self, name: &str) -> Option<&str> {
        let mut words = self.mark.split(',').skip(1);
        words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }
}

/// The blocks of a page, in their order.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, &str, usize)> = None;
    let mut place = 0;
    for (number, line) in page.split_inclusive('\n').enumerate() {
        if let Some(mark) = line.strip_prefix("```") {
            match open.take() {
                None => open = Some((number + 1, mark.trim_end(), place + line.len())),
                Some((line, mark, from)) => blocks.push(Block {
                    line,
                    mark,
                    text: &page[from..place],
                }),
            }
        }
        place += line.len();
    }
    assert!(open.is_none(), "a block has no end: {open:?}");
    blocks
}

/// What became of the commands of a page.
#[derive(Debug, Default)]
pub struct Followed {
    /// How many were run.
    pub commands: usize,
    /// What is not as the page says.
    pub complaints: Vec<String>,
    /// The page with what the commands print; what is left out with `[..]` stays as it is.
    pub mended: String,
}

/// Runs the commands of a page.
pub fn follow(name: &str, page: &str) -> Followed {
    let mut followed = Followed::default();
    let mut shell = Shell::new();
    let mut copied = 0;
    for block in blocks(page) {
        if let Some(file) = block.says("file") {
            shell.place.file(file, block.text);
        }
        if !block.is("console") {
            continue;
        }
        let from = block.text.as_ptr() as usize - page.as_ptr() as usize;
        followed.mended.push_str(&page[copied..from]);
        copied = from + block.text.len();
        let mut parts = block.text.split_inclusive('\n').peekable();
        let mut line = block.line;
        while let Some(first) = parts.next() {
            line += 1;
            followed.mended.push_str(first);
            let mut shown = String::new();
            let begins = line;
            while let Some(next) = parts.next_if(|next| !next.starts_with("$ ")) {
                shown.push_str(next);
                line += 1;
            }
            let printed = first
                .strip_prefix("$ ")
                .ok_or_else(|| "no command".to_owned())
                .and_then(|command| shell.run(command.trim_end()));
            let place = format!("{name}:{begins}: {}", first.trim_end());
            match printed {
                Err(problem) => {
                    followed.complaints.push(format!("{place}\n{problem}"));
                    followed.mended.push_str(&shown);
                }
                Ok(printed) => {
                    followed.commands += 1;
                    if is_as_shown(&stable(printed.trim_end()), &stable(shown.trim_end())) {
                        followed.mended.push_str(&shown);
                        continue;
                    }
                    followed
                        .complaints
                        .push(format!("{place}\nprints\n{printed}"));
                    let keep = shown.contains("[..]");
                    let gap = if parts.peek().is_some() { "\n" } else { "" };
                    let mended = format!("{}\n{gap}", printed.trim_end());
                    let mended = if printed.is_empty() { gap } else { &mended };
                    followed.mended.push_str(if keep { &shown } else { mended });
                }
            }
        }
    }
    followed.mended.push_str(&page[copied..]);
    followed
}

/// Where the commands of a page are run.
struct Shell {
    place: Place,
    status: i32,
}

impl Shell {
    fn new() -> Shell {
        Shell {
            place: Place::new(),
            status: 0,
        }
    }

    /// Runs a command; what it prints, or why it cannot be run.
    fn run(&mut self, command: &str) -> Result<String, String> {
        let (command, file) = match command.split_once(" > ") {
            Some((command, file)) => (command, Some(file)),
            None => (command, None),
        };
        let words: Vec<&str> = command.split(' ').collect();
        let printed = match words.as_slice() {
            ["echo", "$?"] => format!("{}\n", self.status),
            ["threadwise", args @ ..] => {
                let ours = ["models/", "tests/promela/", "tests/c/"];
                let ours = |word: &&&str| ours.iter().any(|begin| word.starts_with(begin));
                for model in args.iter().filter(ours) {
                    if root().join(model).is_file() {
                        self.place.file(model, read(model));
                    }
                }
                let (printed, status) = self.threadwise(args, file);
                self.status = status;
                printed
            }
            _ => return Err("this cannot be run here".to_owned()),
        };
        Ok(printed)
    }

    /// Runs threadwise: what comes to the terminal, and the status.
    fn threadwise(&self, args: &[&str], file: Option<&str>) -> (String, i32) {
        let (mut screen, writer) = std::io::pipe().unwrap();
        let mut command = self.place.command(args);
        match file {
            Some(file) => command.stdout(File::create(self.place.path().join(file)).unwrap()),
            None => command.stdout(writer.try_clone().unwrap()),
        };
        let mut child = command.stderr(writer).spawn().unwrap();
        // It holds the writing ends; the screen ends when the last of them is closed.
        drop(command);
        let mut printed = String::new();
        screen.read_to_string(&mut printed).unwrap();
        (printed, child.wait().unwrap().code().unwrap_or(-1))
    }
}

/// Whether the text is as shown: `[..]` stands for anything.
pub fn is_as_shown(text: &str, shown: &str) -> bool {
    let Some((first, shown)) = shown.split_once("[..]") else {
        return text == shown;
    };
    let (middle, last) = shown.rsplit_once("[..]").unwrap_or(("", shown));
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    for part in middle.split("[..]") {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}
