//! `threadwise explore`: a page on this machine to walk a program with, step by step.
//!
//! The server listens on the loopback interface alone, and serves only whoever knows the token that it has drawn, in the address that it prints. It keeps no walk: the page sends the one it
//! is about, and the interpreter finds its states again, from what it still knows of the last one. `http` has what is admitted at all, `api` what the page can ask, `walk` what a walk is.
//! The page is made of the same parts as the report of `check`.

mod api;
mod http;
mod walk;

use std::collections::VecDeque;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use threadwise::{Exit, Trace};

use crate::args::ExploreArgs;
use crate::explore::api::Explorer;
use crate::explore::http::{Request, Response, Status};
use crate::input;
use crate::simulate;
use crate::terminal::{Terminal, complain, say};
use threadwise_show::words::one_line;

/// How many connections may be there whose request has not come, or does not have the token; a browser opens six. When there is one more, the oldest is given up: whoever
/// opens connections and says nothing keeps nobody waiting.
const MOST_STRANGERS: usize = 32;
/// How many requests are answered at once; others that have the token wait for their turn.
const MOST_ANSWERED: usize = 32;

pub(crate) fn run(args: &ExploreArgs, terminal: &Terminal) -> Exit {
    let both = Some(Path::new("-"));
    if args.file == Path::new("-") && args.trace.as_deref() == both {
        terminal.error(&"the model and the trace cannot both be standard input");
        return Exit::Input;
    }
    let (session, values) =
        match simulate::given(&args.file, &args.language, &args.instance, terminal) {
            Ok(given) => given,
            Err(exit) => return exit,
        };
    if let Err(diagnostics) = session.instance(&values) {
        terminal.diagnostics(&diagnostics, session.name(), session.source());
        return Exit::Input;
    }
    let trace = match &args.trace {
        None => None,
        Some(path) => match read_trace(path) {
            Ok(trace) => Some(trace),
            Err(error) => {
                terminal.error(&error);
                return Exit::Input;
            }
        },
    };
    let explorer = Explorer::new(args.file.clone(), args.language.clone(), session, values);
    let explorer = match trace {
        None => explorer,
        Some(trace) => match explorer.beginning_with(&trace) {
            Ok(explorer) => explorer,
            Err(message) => {
                terminal.error(&format_args!(
                    "the trace does not replay: {}\n  help: was the model changed after the trace was written?",
                    one_line(&message)
                ));
                return Exit::Internal;
            }
        },
    };
    let listening = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .and_then(|listener| listener.local_addr().map(|at| (listener, at.port())));
    let (listener, port) = match listening {
        Ok(listening) => listening,
        Err(error) => {
            terminal.error(&format_args!(
                "port {} of 127.0.0.1 cannot be used: {error}\n  help: choose another with --port, or leave it out for any that is free",
                args.port
            ));
            return Exit::Input;
        }
    };
    let token = match token() {
        Ok(token) => token,
        Err(error) => {
            terminal.error(&format_args!("the system gives no random numbers: {error}"));
            return Exit::Internal;
        }
    };
    let address = format!("http://127.0.0.1:{port}/{token}/");
    say(format_args!("{address}\n"));
    complain(format_args!(
        "open this address in a browser on this machine; Ctrl-C ends the explorer\n"
    ));
    if !args.no_open && terminal.width.is_some() {
        open(&address);
    }
    serve(&listener, port, &token, &Arc::new(explorer));
    Exit::Proved
}

/// 128 random bits as hexadecimal digits.
fn token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn read_trace(path: &Path) -> Result<Trace, String> {
    let read = input::read_evidence(path, "trace").map_err(|error| error.to_string())?;
    Trace::from_json(&read.text).map_err(|error| {
        format!(
            "{}: {}\n  help: `threadwise check MODEL --trace DIR` writes traces",
            read.name,
            one_line(&error.to_string())
        )
    })
}

/// Asks the desktop to show an address. Whether it does is its own business: the address is printed anyway.
fn open(address: &str) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let started = Command::new(program)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Ok(mut child) = started {
        thread::spawn(move || child.wait());
    }
}

/// Answers connections, each in a thread of its own, until the process is ended.
fn serve(listener: &TcpListener, port: u16, token: &str, explorer: &Arc<Explorer>) {
    let places = Arc::new(Places::default());
    let strangers = Arc::new(Strangers::default());
    for stream in listener.incoming() {
        // A connection that is gone before it is taken is none of ours.
        let Ok(mut stream) = stream else { continue };
        let Some(stranger) = Stranger::admitted(&strangers, &stream) else {
            continue;
        };
        let (token, explorer) = (token.to_owned(), Arc::clone(explorer));
        let places = Arc::clone(&places);
        let answer = move || {
            let (response, _place) = match request(&mut stream, port, &token) {
                Ok(request) => {
                    drop(stranger);
                    let place = Place::awaited(&places);
                    (answer(&request, &explorer), Some(place))
                }
                Err(_) if stranger.is_given_up() => (Response::refusal(Status::Timeout), None),
                Err(status) => (Response::refusal(status), None),
            };
            // Nothing can be done about a client that does not take its answer.
            let _ = http::write(&mut stream, &response);
        };
        // Without a thread the connection is closed, which is an answer, too.
        let _ = thread::Builder::new().spawn(answer);
    }
}

/// The connections that have not shown the token, oldest first.
#[derive(Default)]
struct Strangers(Mutex<VecDeque<Arc<TcpStream>>>);

/// A connection among them, until it is dropped.
struct Stranger {
    all: Arc<Strangers>,
    stream: Arc<TcpStream>,
}

impl Strangers {
    fn list(&self) -> MutexGuard<'_, VecDeque<Arc<TcpStream>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stranger {
    /// Adds a connection, and gives up the oldest if there are too many.
    fn admitted(all: &Arc<Strangers>, stream: &TcpStream) -> Option<Stranger> {
        let stream = Arc::new(stream.try_clone().ok()?);
        let mut list = all.list();
        list.push_back(Arc::clone(&stream));
        if list.len() > MOST_STRANGERS
            && let Some(oldest) = list.pop_front()
        {
            // The thread that reads from it learns that there is no more to come, and says so.
            let _ = oldest.shutdown(Shutdown::Read);
        }
        drop(list);
        let all = Arc::clone(all);
        Some(Stranger { all, stream })
    }

    /// Whether it had to make room for others.
    fn is_given_up(&self) -> bool {
        let list = self.all.list();
        !list.iter().any(|other| Arc::ptr_eq(other, &self.stream))
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let mut list = self.all.list();
        list.retain(|other| !Arc::ptr_eq(other, &self.stream));
    }
}

/// The places for those who are answered.
#[derive(Default)]
struct Places {
    taken: Mutex<usize>,
    left: Condvar,
}

/// One of the places, until it is dropped.
struct Place(Arc<Places>);

impl Place {
    fn awaited(places: &Arc<Places>) -> Place {
        let taken = places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let free = places
            .left
            .wait_while(taken, |taken| *taken >= MOST_ANSWERED);
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        Place(Arc::clone(places))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.left.notify_one();
    }
}

/// Reads a request, which must have the token.
fn request(stream: &mut TcpStream, port: u16, token: &str) -> Result<Request, Status> {
    let request = http::read(stream, port)?;
    let given = request.path.split('/').nth(1).unwrap_or_default();
    match http::same_secret(given, token) {
        true => Ok(request),
        false => Err(Status::Forbidden),
    }
}

fn answer(request: &Request, explorer: &Explorer) -> Response {
    match (request.post, request.path.splitn(3, '/').nth(2)) {
        (false, Some("")) => explorer.page(),
        (true, Some("api/state")) => explorer.state(&request.body),
        (true, Some("api/check")) => explorer.check(&request.body),
        (true, Some("api/trace")) => explorer.trace(&request.body),
        (true, Some("")) | (false, Some("api/state" | "api/check" | "api/trace")) => {
            Response::refusal(Status::MethodNotAllowed)
        }
        _ => Response::refusal(Status::NotFound),
    }
}
