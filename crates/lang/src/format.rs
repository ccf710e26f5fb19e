//! The formatter: indentation, spacing and alignment; the author's line breaks stay.
//!
//! It walks the tokens of the lossless tree and decides between neighbours: nothing, a space or a
//! new line. Line breaks of the source are kept where they make sense (so two statements that
//! share a line go on sharing it), at most one blank line in a row. Statements behind labels and
//! comments behind code are aligned over adjacent lines. Formatting a formatted text changes
//! nothing, and the tokens and comments are always those of the source.

use crate::diagnostics::Diagnostic;
use crate::syntax::{SyntaxKind, SyntaxNode, SyntaxToken, parse};

const INDENT: usize = 4;
/// Labels longer than this are not aligned.
const MAX_ALIGNED_LABEL: usize = 24;

/// Formats a text; a text with syntax errors is not touched.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(text);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let mut writer = Writer::default();
    for token in parsed
        .tree
        .descendants_with_tokens()
        .filter_map(|element| element.into_token())
    {
        match token.kind() {
            SyntaxKind::Whitespace => {
                writer.newlines += token.text().matches('\n').count();
            }
            SyntaxKind::LineComment | SyntaxKind::BlockComment => writer.comment(&token),
            _ => writer.token(&token),
        }
    }
    writer.end_line();
    Ok(writer.finish())
}

/// A line of output before alignment.
#[derive(Default)]
struct Line {
    blank_before: bool,
    indent: usize,
    /// A label with its colon, at the start of the line.
    label: Option<String>,
    body: String,
    comment: Option<String>,
}

impl Line {
    fn is_empty(&self) -> bool {
        self.label.is_none() && self.body.is_empty() && self.comment.is_none()
    }
}

#[derive(Default)]
struct Writer {
    lines: Vec<Line>,
    current: Line,
    /// Line breaks of the source since the last token or comment.
    newlines: usize,
    /// For each open brace, whether its contents stand on lines of their own.
    braces: Vec<bool>,
    previous: Option<SyntaxToken>,
    /// The last thing on the current line is a comment to the end of the line.
    after_line_comment: bool,
}

impl Writer {
    fn indent(&self) -> usize {
        self.braces.iter().filter(|multi_line| **multi_line).count()
    }

    /// Ends the current line, if there is anything on it.
    fn end_line(&mut self) {
        if !self.current.is_empty() {
            self.lines.push(std::mem::take(&mut self.current));
        }
        self.after_line_comment = false;
    }

    fn begin_line(&mut self, indent: usize) {
        self.end_line();
        self.current.indent = indent;
        self.current.blank_before =
            self.newlines > 1 && !self.lines.is_empty() && !self.after_open();
    }

    /// Directly after an opening brace no blank line stays.
    fn after_open(&self) -> bool {
        self.lines
            .last()
            .is_some_and(|line| line.comment.is_none() && line.body.ends_with('{'))
    }

    fn comment(&mut self, token: &SyntaxToken) {
        let text = token.text().trim_end();
        let own_line = self.newlines > 0 || self.current.is_empty();
        if token.kind() == SyntaxKind::BlockComment && !own_line {
            // Inside a line: a word among words.
            self.current.body.push(' ');
            self.current.body.push_str(text);
        } else if own_line {
            let closing = next_token(token).is_some_and(|next| closes(&next));
            let inside_statement = !closing && self.in_statement(token);
            self.begin_line(self.indent() + usize::from(inside_statement));
            self.current.body.push_str(text);
            self.after_line_comment = true;
        } else {
            self.current.comment = Some(text.to_owned());
            self.after_line_comment = true;
        }
        self.newlines = 0;
    }

    /// Whether a comment stands in the middle of a statement or item.
    fn in_statement(&self, comment: &SyntaxToken) -> bool {
        comment.parent().is_some_and(|parent| {
            !matches!(
                parent.kind(),
                SyntaxKind::File
                    | SyntaxKind::Block
                    | SyntaxKind::Process
                    | SyntaxKind::Enum
                    | SyntaxKind::Record
                    | SyntaxKind::Exception
                    | SyntaxKind::If
                    | SyntaxKind::Choose
            )
        })
    }

    fn token(&mut self, token: &SyntaxToken) {
        let closing = closes(token);
        if closing && self.braces.pop() == Some(true) {
            // A closing brace stands on its own line, without a blank line before it.
            self.newlines = 0;
            self.begin_line(self.indent());
        } else if !closing && self.breaks_before(token) {
            let continued = usize::from(!begins_line(token));
            self.begin_line(self.indent() + continued);
        } else if let Some(previous) = &self.previous
            && !self.current.is_empty()
            && space_between(previous, token)
        {
            self.current.body.push(' ');
        }
        self.newlines = 0;
        let label = token
            .parent()
            .is_some_and(|parent| parent.kind() == SyntaxKind::Label);
        if label && token.kind() == SyntaxKind::Name && self.current.is_empty() {
            self.current.label = Some(token.text().to_owned());
        } else if label
            && token.kind() == SyntaxKind::Colon
            && self.current.body.is_empty()
            && let Some(label) = &mut self.current.label
        {
            label.push(':');
        } else {
            self.current.body.push_str(token.text());
        }
        if opens(token) {
            self.braces.push(is_multi_line(token));
        }
        self.previous = Some(token.clone());
    }

    fn breaks_before(&self, token: &SyntaxToken) -> bool {
        if self.after_line_comment {
            return true;
        }
        let Some(previous) = &self.previous else {
            return false;
        };
        let in_label = |token: &SyntaxToken| {
            token.kind() == SyntaxKind::Colon && in_node(token, SyntaxKind::Label)
        };
        // These belong to the line before them, wherever they were.
        let joins = opens(token)
            || in_label(token)
            || in_label(previous)
            || matches!(
                token.kind(),
                SyntaxKind::Semicolon | SyntaxKind::Comma | SyntaxKind::ElseKw
            )
            || token.kind() == SyntaxKind::OrKw && in_node(token, SyntaxKind::Choose);
        if joins {
            return false;
        }
        if opens(previous) {
            return self.braces.last() == Some(&true);
        }
        let begins = begins_line(token);
        begins && in_node(token, SyntaxKind::File)
            || begins && closes(previous) && !on_one_line(previous)
            || self.newlines > 0
    }

    /// Aligns and joins the lines.
    fn finish(mut self) -> String {
        self.align_labels();
        self.align_comments();
        let mut out = String::new();
        for line in &self.lines {
            if line.blank_before {
                out.push('\n');
            }
            let mut text = " ".repeat(line.indent * INDENT);
            text.push_str(&line.code());
            if let Some(comment) = &line.comment {
                text.push_str(comment);
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
        out
    }

    fn align_labels(&mut self) {
        let runs = self.runs(|line| line.label.is_some());
        for run in runs {
            let width = |line: &Line| line.label.as_ref().map_or(0, |label| label.len());
            let widest = self.lines[run.clone()].iter().map(width).max().unwrap_or(0);
            for line in &mut self.lines[run] {
                if let (Some(label), true) = (&mut line.label, widest <= MAX_ALIGNED_LABEL) {
                    let missing = widest - label.len();
                    label.push_str(&" ".repeat(missing));
                }
            }
        }
    }

    fn align_comments(&mut self) {
        let runs = self.runs(|line| line.comment.is_some());
        for run in runs {
            let width = |line: &Line| line.code().chars().count();
            let widest = self.lines[run.clone()].iter().map(width).max().unwrap_or(0);
            for line in &mut self.lines[run] {
                let missing = widest + 1 - line.code().chars().count();
                if let Some(comment) = &mut line.comment {
                    comment.insert_str(0, &" ".repeat(missing));
                }
            }
        }
    }

    /// Runs of adjacent lines of one indentation that satisfy a condition.
    fn runs(&self, wanted: impl Fn(&Line) -> bool) -> Vec<std::ops::Range<usize>> {
        let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            if !wanted(line) {
                continue;
            }
            match runs.last_mut() {
                Some(run)
                    if run.end == index
                        && !line.blank_before
                        && self.lines[index - 1].indent == line.indent =>
                {
                    run.end += 1;
                }
                _ => runs.push(index..index + 1),
            }
        }
        runs
    }
}

impl Line {
    /// The line without indentation and comment.
    fn code(&self) -> String {
        match (&self.label, self.body.trim_start()) {
            (Some(label), "") => label.trim_end().to_owned(),
            (Some(label), body) => format!("{label} {body}"),
            (None, body) => body.to_owned(),
        }
    }
}

/// Whether a token's node, or one around it, is of a kind and begins with the token.
fn in_node(token: &SyntaxToken, kind: SyntaxKind) -> bool {
    parents(token).any(|node| node.parent().is_some_and(|parent| parent.kind() == kind))
        || token.parent().is_some_and(|parent| parent.kind() == kind)
}

/// The nodes that begin with a token.
fn parents(token: &SyntaxToken) -> impl Iterator<Item = SyntaxNode> {
    let start = token.text_range().start();
    token
        .parent_ancestors()
        .take_while(move |node| node.text_range().start() == start)
        .filter(|node| node.kind() != SyntaxKind::File)
}

/// Whether a statement, item, local or member of a list of members begins with a token.
fn begins_line(token: &SyntaxToken) -> bool {
    parents(token).any(|node| {
        node.parent().is_some_and(|parent| {
            matches!(
                parent.kind(),
                SyntaxKind::File
                    | SyntaxKind::Block
                    | SyntaxKind::Process
                    | SyntaxKind::Record
                    | SyntaxKind::Exception
            ) && !matches!(
                node.kind(),
                SyntaxKind::ProcessIds | SyntaxKind::ProcessParams | SyntaxKind::Block
            )
        })
    }) || token.kind() == SyntaxKind::Name
        && token
            .parent()
            .is_some_and(|parent| parent.kind() == SyntaxKind::Enum)
}

/// Braces around statements, items and members; those of `at {a, b}` are not.
fn is_structure(token: &SyntaxToken) -> bool {
    token.parent().is_some_and(|parent| {
        matches!(
            parent.kind(),
            SyntaxKind::Block
                | SyntaxKind::Process
                | SyntaxKind::Enum
                | SyntaxKind::Record
                | SyntaxKind::Exception
        )
    })
}

fn opens(token: &SyntaxToken) -> bool {
    token.kind() == SyntaxKind::LBrace && is_structure(token)
}

fn closes(token: &SyntaxToken) -> bool {
    token.kind() == SyntaxKind::RBrace && is_structure(token)
}

/// Whether what a brace opens spans several lines in the source.
fn is_multi_line(open: &SyntaxToken) -> bool {
    let Some(parent) = open.parent() else {
        return false;
    };
    let start = open.text_range().start();
    parent
        .descendants_with_tokens()
        .filter_map(|element| element.into_token())
        .any(|token| token.text_range().start() > start && token.text().contains('\n'))
}

fn on_one_line(close: &SyntaxToken) -> bool {
    close
        .parent()
        .and_then(|parent| crate::syntax::token(&parent, SyntaxKind::LBrace))
        .is_none_or(|open| !is_multi_line(&open))
}

fn next_token(token: &SyntaxToken) -> Option<SyntaxToken> {
    let mut next = token.next_token();
    while let Some(token) = next {
        if !token.kind().is_trivia() {
            return Some(token);
        }
        next = token.next_token();
    }
    None
}

/// Whether two neighbours on one line have a space between them.
fn space_between(left: &SyntaxToken, right: &SyntaxToken) -> bool {
    use SyntaxKind::*;
    let unary = |token: &SyntaxToken| {
        matches!(token.kind(), Bang | Minus)
            && token
                .parent()
                .is_some_and(|parent| parent.kind() == UnaryExpr)
    };
    match (left.kind(), right.kind()) {
        (_, Semicolon | Comma | Colon | RParen | RBracket | Question | Dot | DotDot) => false,
        (LParen | LBracket | Dot | DotDot, _) => false,
        (LBrace, RBrace) => false,
        (LBrace, _) => is_structure(left),
        (_, RBrace) => is_structure(right),
        _ if unary(left) => false,
        (Name | ArrayKw | QueueKw | RBracket, LBracket) => false,
        // A call, but `G (..)` is an operator.
        (Name | MinKw | MaxKw, LParen) => !right
            .parent()
            .is_some_and(|parent| matches!(parent.kind(), CallExpr | Def | Macro | Start)),
        (RBracket, LParen) => right
            .parent()
            .is_none_or(|parent| parent.kind() != ProcessParams),
        _ => true,
    }
}
