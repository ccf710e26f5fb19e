//! The words of the language.

/// Words that cannot be names. `in` can: it is a word of `for` only.
pub(super) fn is_keyword(word: &str) -> bool {
    ENDING.contains(&word) || is_open(word)
}

/// Words that something must follow: the end of a line after them is no semicolon.
pub(super) fn is_open(word: &str) -> bool {
    OPEN.contains(&word)
}

/// Words that a declaration of variables may begin with.
pub(super) fn begins_declaration(word: &str) -> bool {
    matches!(
        word,
        "bit"
            | "bool"
            | "byte"
            | "chan"
            | "hidden"
            | "int"
            | "local"
            | "mtype"
            | "pid"
            | "short"
            | "show"
            | "unsigned"
    )
}

/// Words that a statement may end with, or that are not Promela at all.
#[rustfmt::skip]
pub(super) const ENDING: &[&str] = &[
    "break", "c_code", "c_decl", "c_expr", "c_state", "c_track", "else",
    "false", "fi", "od", "skip", "timeout", "true",
];

#[rustfmt::skip]
pub(super) const OPEN: &[&str] = &[
    "active", "assert", "atomic", "bit", "bool", "byte", "D_proctype", "do",
    "chan", "empty", "enabled", "eval", "for", "full", "get_priority", "goto",
    "hidden", "if", "init", "inline", "int", "len", "local", "ltl", "mtype",
    "nempty", "never", "nfull", "notrace", "np_", "of", "pc_value", "pid",
    "printf", "printm", "priority", "proctype", "provided", "return", "run",
    "d_step", "select", "set_priority", "short", "trace", "show", "typedef",
    "unless", "unsigned", "xr", "xs",
];
