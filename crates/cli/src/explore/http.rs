//! As much of HTTP as a page on this machine needs, and no more: one request a connection, `GET` and `POST`, bodies with a length.
//!
//! The other side may be anybody on this machine, and any page that runs in a browser here. So sizes and times are bounded, and a request is refused unless it
//! names this server as its host (a name that somebody's name server points here does not) and comes from no other origin. Whoever gets through must
//! still know the token, which is in the path.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest request line and headers.
const LONGEST_HEAD: usize = 16 << 10;
/// The largest number of headers.
const MOST_HEADERS: usize = 64;
/// The longest body: a trace of ten thousand steps fits.
const LONGEST_BODY: usize = 8 << 20;
/// How long a request may take to arrive, and a response to leave.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a request is not served, or how it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    BadRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Timeout,
    Conflict,
    LengthRequired,
    TooLarge,
    NotJson,
    HeadTooLarge,
    Internal,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Status::Ok => "200 OK",
            Status::BadRequest => "400 Bad Request",
            Status::Forbidden => "403 Forbidden",
            Status::NotFound => "404 Not Found",
            Status::MethodNotAllowed => "405 Method Not Allowed",
            Status::Timeout => "408 Request Timeout",
            Status::Conflict => "409 Conflict",
            Status::LengthRequired => "411 Length Required",
            Status::TooLarge => "413 Content Too Large",
            Status::NotJson => "415 Unsupported Media Type",
            Status::HeadTooLarge => "431 Request Header Fields Too Large",
            Status::Internal => "500 Internal Server Error",
        }
    }
}

/// A request that may be looked at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Whether it is a `POST`; otherwise it is a `GET`.
    pub(super) post: bool,
    /// The path, as it was sent: nothing in it is decoded.
    pub(super) path: String,
    /// What is posted: said to be JSON.
    pub(super) body: Vec<u8>,
}

/// What is answered.
pub(super) struct Response {
    pub(super) status: Status,
    pub(super) kind: &'static str,
    pub(super) body: String,
}

impl Response {
    /// A status alone.
    pub(super) fn refusal(status: Status) -> Response {
        Response {
            status,
            kind: "text/plain; charset=utf-8",
            body: format!("{}\n", status.line()),
        }
    }

    fn head(&self) -> String {
        format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
             Content-Security-Policy: frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n\r\n",
            self.status.line(),
            self.kind,
            self.body.len()
        )
    }
}

/// Reads a request to the server at this port.
pub(super) fn read(stream: &mut TcpStream, port: u16) -> Result<Request, Status> {
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if bytes.len() > LONGEST_HEAD {
            return Err(Status::HeadTooLarge);
        }
        more(stream, &mut bytes, deadline)?;
    };
    if head_end > LONGEST_HEAD {
        return Err(Status::HeadTooLarge);
    }
    let head = std::str::from_utf8(&bytes[..head_end]).map_err(|_| Status::BadRequest)?;
    let head = Head::parse(head, port)?;
    let (post, path) = (head.post, head.path);
    let length = match (post, head.length) {
        (true, None) => return Err(Status::LengthRequired),
        (false, Some(1..)) => return Err(Status::BadRequest),
        (_, length) => length.unwrap_or(0),
    };
    if length > LONGEST_BODY {
        return Err(Status::TooLarge);
    }
    if post && !head.json {
        return Err(Status::NotJson);
    }
    let mut body = bytes.split_off(head_end + 4);
    while body.len() < length {
        more(stream, &mut body, deadline)?;
    }
    body.truncate(length);
    Ok(Request { post, path, body })
}

/// Reads what has come, waiting until the deadline at most: a client that sends a byte now and then gets no more time.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, deadline: Instant) -> Result<(), Status> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Status::Timeout);
    }
    let mut piece = [0; 8 << 10];
    let read = stream
        .set_read_timeout(Some(left))
        .and_then(|()| stream.read(&mut piece));
    match read {
        Ok(0) => Err(Status::BadRequest),
        Ok(read) => {
            bytes.extend_from_slice(&piece[..read]);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
            ) =>
        {
            Err(Status::Timeout)
        }
        Err(_) => Err(Status::BadRequest),
    }
}

/// Request line and headers.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    post: bool,
    path: String,
    length: Option<usize>,
    json: bool,
}

impl Head {
    fn parse(head: &str, port: u16) -> Result<Head, Status> {
        let mut lines = head.split("\r\n");
        let line: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let [method, path, "HTTP/1.1" | "HTTP/1.0"] = line.as_slice() else {
            return Err(Status::BadRequest);
        };
        let post = match *method {
            "GET" => false,
            "POST" => true,
            _ => return Err(Status::MethodNotAllowed),
        };
        if !path.starts_with('/') || path.contains(|c: char| c.is_control()) {
            return Err(Status::BadRequest);
        }
        let (mut host, mut length, mut json) = (None, None, false);
        for (number, line) in lines.enumerate() {
            if number >= MOST_HEADERS {
                return Err(Status::HeadTooLarge);
            }
            let (name, value) = line.split_once(':').ok_or(Status::BadRequest)?;
            let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if name.is_empty() || !name.chars().all(token) {
                return Err(Status::BadRequest);
            }
            let value = value.trim_matches([' ', '\t']);
            if value.contains(|c: char| c.is_control() && c != '\t') {
                return Err(Status::BadRequest);
            }
            match name.to_ascii_lowercase().as_str() {
                "host" if host.is_some() => return Err(Status::BadRequest),
                "host" => host = Some(value),
                "origin" => {
                    let own = value.strip_prefix("http://");
                    if !own.is_some_and(|host| is_here(host, port)) {
                        return Err(Status::Forbidden);
                    }
                }
                // Browsers say here whether another site has to do with a request.
                "sec-fetch-site" if !matches!(value, "same-origin" | "none") => {
                    return Err(Status::Forbidden);
                }
                "content-length" => {
                    let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
                    let number = value.parse().ok().filter(|_| digits);
                    // A number that does not fit is a length that is too large.
                    let number = number.or(digits.then_some(usize::MAX));
                    if length.replace(number.ok_or(Status::BadRequest)?).is_some() {
                        return Err(Status::BadRequest);
                    }
                }
                "transfer-encoding" => return Err(Status::LengthRequired),
                "content-type" => {
                    let kind = value.split(';').next().unwrap_or_default().trim();
                    json = kind.eq_ignore_ascii_case("application/json");
                }
                _ => {}
            }
        }
        if !host.is_some_and(|host| is_here(host, port)) {
            return Err(Status::Forbidden);
        }
        Ok(Head {
            post,
            path: (*path).to_owned(),
            length,
            json,
        })
    }
}

/// Whether a host, with its port, is this server.
fn is_here(host: &str, port: u16) -> bool {
    let Some((name, given)) = host.rsplit_once(':') else {
        return false;
    };
    matches!(name, "127.0.0.1" | "localhost") && given == port.to_string()
}

/// Whether two secrets are the same; how long it takes does not tell how far they agree.
pub(super) fn same_secret(a: &str, b: &str) -> bool {
    let differ = a
        .bytes()
        .zip(b.bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differ) == 0
}

/// Writes a response and ends the connection.
pub(super) fn write(stream: &mut TcpStream, response: &Response) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(response.head().as_bytes())?;
    stream.write_all(response.body.as_bytes())?;
    stream.flush()?;
    stream.shutdown(std::net::Shutdown::Write)?;
    // Closing over what was not read would take the answer away from a client that is still sending.
    let deadline = Instant::now() + Duration::from_millis(300);
    let mut rest = Vec::new();
    while more(stream, &mut rest, deadline).is_ok() {
        rest.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(head: &str) -> Result<Head, Status> {
        Head::parse(&head.replace('\n', "\r\n"), 8000)
    }

    #[test]
    fn only_requests_for_this_server_from_this_server() {
        let fine = parsed("GET /a/ HTTP/1.1\nHost: 127.0.0.1:8000\nOrigin: http://localhost:8000");
        assert_eq!(fine.unwrap().path, "/a/");
        for (head, status) in [
            ("GET /a/ HTTP/1.1", Status::Forbidden),
            (
                "GET /a/ HTTP/1.1\nHost: evil.example:8000",
                Status::Forbidden,
            ),
            ("GET /a/ HTTP/1.1\nHost: 127.0.0.1", Status::Forbidden),
            ("GET /a/ HTTP/1.1\nHost: 127.0.0.1:80", Status::Forbidden),
            ("GET /a/ HTTP/1.1\nHost: 127.0.0.1:08000", Status::Forbidden),
            (
                "GET /a/ HTTP/1.1\nHost: 127.0.0.1:8000\nHost: evil.example",
                Status::BadRequest,
            ),
            (
                "POST /a/ HTTP/1.1\nHost: 127.0.0.1:8000\nOrigin: http://evil.example",
                Status::Forbidden,
            ),
            (
                "POST /a/ HTTP/1.1\nHost: 127.0.0.1:8000\nOrigin: null",
                Status::Forbidden,
            ),
            (
                "POST /a/ HTTP/1.1\nHost: 127.0.0.1:8000\nOrigin: https://127.0.0.1:8000",
                Status::Forbidden,
            ),
            (
                "GET /a/ HTTP/1.1\nHost: 127.0.0.1:8000\nSec-Fetch-Site: cross-site",
                Status::Forbidden,
            ),
            (
                "GET http://x/ HTTP/1.1\nHost: 127.0.0.1:8000",
                Status::BadRequest,
            ),
            (
                "GET  /a/ HTTP/1.1\nHost: 127.0.0.1:8000",
                Status::BadRequest,
            ),
            (
                "PUT /a/ HTTP/1.1\nHost: 127.0.0.1:8000",
                Status::MethodNotAllowed,
            ),
            ("GET /a/ HTTP/2\nHost: 127.0.0.1:8000", Status::BadRequest),
            (
                "GET /a/ HTTP/1.1\nHost : 127.0.0.1:8000",
                Status::BadRequest,
            ),
            (
                "GET /a/ HTTP/1.1\nHost: 127.0.0.1:8000\n folded",
                Status::BadRequest,
            ),
            (
                "POST /a/ HTTP/1.1\nHost: 127.0.0.1:8000\nTransfer-Encoding: chunked",
                Status::LengthRequired,
            ),
            (
                "POST /a/ HTTP/1.1\nHost: 127.0.0.1:8000\nContent-Length: +1",
                Status::BadRequest,
            ),
        ] {
            assert_eq!(parsed(head), Err(status), "{head}");
        }
        let many = "GET / HTTP/1.1\nHost: 127.0.0.1:8000".to_owned() + &"\nX: y".repeat(64);
        assert_eq!(parsed(&many), Err(Status::HeadTooLarge));
    }

    #[test]
    fn secrets_are_compared_as_a_whole() {
        assert!(same_secret("abc", "abc"));
        for other in ["", "ab", "abd", "abcd", "xbc"] {
            assert!(!same_secret("abc", other), "{other}");
        }
    }
}
