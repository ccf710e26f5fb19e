//! Messages on a stream: a header with a length, and a body of that many bytes.
//!
//! A client that errs must not end the session. So what cannot be read as a message is reported once and skipped, up to the next header:
//! `Content-Length:` cannot stand at such a place in a body, because a line break inside a string of JSON is escaped.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// The longest message that is read.
const LONGEST: u64 = 64 << 20;
/// How much of a line is kept while a header is looked for.
const KEPT: usize = 256;

/// What is wrong with a part of the stream.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    /// Bytes where a header belongs.
    #[error("expected a header `Content-Length: ..`")]
    NoHeader,
    /// A length that is no number.
    #[error("the length of a message is a number")]
    NotALength,
    /// A length beyond all reason.
    #[error("a message of {0} bytes is too long: at most {LONGEST}")]
    TooLong(u64),
    /// A body that is no JSON.
    #[error("a message is not JSON: {0}")]
    NotJson(serde_json::Error),
}

/// The messages of a stream.
pub(super) struct Frames<R> {
    input: R,
    /// Whether what precedes the next header has been reported.
    reported: bool,
}

impl<R: BufRead> Frames<R> {
    pub(super) fn new(input: R) -> Self {
        Frames {
            input,
            reported: false,
        }
    }

    /// The end of the next line, without its line break; nothing at the end of the stream.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            line.extend_from_slice(&buffer[..end.unwrap_or(buffer.len())]);
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.input.consume(used);
            if line.len() > 2 * KEPT {
                line.drain(..line.len() - KEPT);
            }
            if end.is_some() {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(Some(line));
            }
        }
    }

    fn complain(&mut self, error: FrameError) -> Option<Result<Value, FrameError>> {
        match std::mem::replace(&mut self.reported, true) {
            false => Some(Err(error)),
            true => None,
        }
    }

    /// The next message, or what is wrong with what stands in its place; nothing at the end of the stream.
    fn read(&mut self) -> io::Result<Option<Result<Value, FrameError>>> {
        loop {
            let Some(line) = self.line()? else {
                return Ok(None);
            };
            let problem = match length(&line) {
                None if line.is_empty() => continue,
                None => FrameError::NoHeader,
                Some(None) => FrameError::NotALength,
                Some(Some(length)) if length > LONGEST => FrameError::TooLong(length),
                Some(Some(length)) => {
                    self.reported = false;
                    return self.body(length);
                }
            };
            if let Some(error) = self.complain(problem) {
                return Ok(Some(error));
            }
        }
    }

    fn body(&mut self, length: u64) -> io::Result<Option<Result<Value, FrameError>>> {
        // Other headers say nothing that matters here.
        while let Some(line) = self.line()? {
            if line.is_empty() {
                let mut body = Vec::new();
                let read = (&mut self.input).take(length).read_to_end(&mut body)?;
                if (read as u64) < length {
                    return Ok(None);
                }
                let message = serde_json::from_slice(&body);
                return Ok(Some(message.map_err(FrameError::NotJson)));
            }
        }
        Ok(None)
    }
}

impl<R: BufRead> Iterator for Frames<R> {
    type Item = Result<Value, FrameError>;

    fn next(&mut self) -> Option<Self::Item> {
        // A stream that cannot be read has ended.
        self.read().ok().flatten()
    }
}

/// The length that a header gives, if it is one that gives a length: a number, or not.
fn length(line: &[u8]) -> Option<Option<u64>> {
    const NAME: &str = "content-length:";
    let line = String::from_utf8_lossy(line).to_ascii_lowercase();
    let at = line.rfind(NAME)?;
    let number = line[at + NAME.len()..].trim();
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    // More digits than a number has are a length, too, and too long.
    Some(digits.then(|| number.parse().unwrap_or(u64::MAX)))
}

/// Writes a message.
pub(super) fn write(out: &mut dyn Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
    write!(out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a stream holds: messages, and in brackets what is wrong.
    fn all(stream: &str) -> Vec<String> {
        Frames::new(stream.as_bytes())
            .map(|message| match message {
                Ok(message) => message.to_string(),
                // Enough to know it by.
                Err(error) => format!(
                    "<{}>",
                    error.to_string().chars().take(20).collect::<String>()
                ),
            })
            .collect()
    }

    #[test]
    fn what_is_no_message_is_skipped() {
        let good = "Content-Length: 2\r\n\r\n{}";
        assert_eq!(all(&format!("{good}{good}")), ["{}", "{}"]);
        let typed = format!("content-length: 2\nContent-Type: x\n\n[]{good}");
        assert_eq!(all(&typed), ["[]", "{}"]);
        for (garbage, shown) in [
            ("hello\r\nworld\r\n", "<expected a header `C>"),
            ("Content-Length: -4\r\n\r\n", "<the length of a mess>"),
            ("Content-Length: x\r\n\r\n", "<the length of a mess>"),
            (
                "Content-Length: 99999999999999999999999\r\n\r\n{}",
                "<a message of 1844674>",
            ),
            (
                "Content-Length: 999999999\r\n\r\n",
                "<a message of 9999999>",
            ),
            ("Content-Length: 3\r\n\r\n{]}", "<a message is not JSO>"),
            ("Content-Length: 1\r\n\r\n{}", "<a message is not JSO>"),
        ] {
            let shown = shown.to_owned();
            assert_eq!(all(&format!("{garbage}{good}")), [shown, "{}".to_owned()]);
        }
        // Too long by some: the next message is lost with it, the one after that is not.
        let long = format!("Content-Length: 12\r\n\r\n{{}}{good}{good}");
        assert_eq!(all(&long).last().unwrap(), "{}");
        assert_eq!(all("Content-Length: 12\r\n\r\n{}"), Vec::<String>::new());
        let flood = format!("{}{good}", "x".repeat(1 << 20));
        assert_eq!(all(&flood).last().unwrap(), "{}");
    }
}
