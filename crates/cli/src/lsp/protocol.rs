//! The errors that the protocol has numbers for.

use serde_json::{Value, json};

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Failure {
    code: i64,
    message: String,
}

impl Failure {
    fn new(code: i64, message: impl Into<String>) -> Failure {
        Failure {
            code,
            message: message.into(),
        }
    }

    /// A body that is no JSON, or no message at all.
    pub(super) fn parse(message: impl Into<String>) -> Failure {
        Failure::new(-32700, message)
    }

    /// JSON that is no message, or a message at the wrong time.
    pub(super) fn invalid_request(message: impl Into<String>) -> Failure {
        Failure::new(-32600, message)
    }

    /// A method that there is not.
    pub(super) fn unknown_method(method: &str) -> Failure {
        Failure::new(-32601, format!("there is no method `{method}`"))
    }

    /// Parameters that do not fit the method.
    pub(super) fn invalid_params(message: impl Into<String>) -> Failure {
        Failure::new(-32602, message)
    }

    /// A mistake of this program.
    pub(super) fn internal(message: impl Into<String>) -> Failure {
        Failure::new(-32603, message)
    }

    /// A request before `initialize`.
    pub(super) fn not_initialized() -> Failure {
        Failure::new(-32002, "the first request is `initialize`")
    }

    /// A request that the client has withdrawn.
    pub(super) fn cancelled() -> Failure {
        Failure::new(-32800, "cancelled")
    }

    /// A result that would be about a text that is no more.
    pub(super) fn content_modified() -> Failure {
        Failure::new(-32801, "the text was changed")
    }

    /// A request that is in order, but cannot be met.
    pub(super) fn request_failed(message: impl Into<String>) -> Failure {
        Failure::new(-32803, message)
    }
}

/// The answer to a request.
pub(super) fn response(id: &Value, answer: Result<Value, Failure>) -> Value {
    match answer {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(failure) => json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": { "code": failure.code, "message": failure.message },
        }),
    }
}
