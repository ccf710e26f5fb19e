//! Words that are keywords in some places and names in all others, as `count` and `unlock`.
//!
//! What stands beside such a word tells which of the two it is: `count j in P` counts, `count + 1` is a variable. So this is settled once, before
//! parsing, and neither the parser nor what reads the tree has to know of it.

use super::kind::SyntaxKind::{self, *};
use super::lexer::Token;

/// The words that can be names.
pub(crate) fn is_contextual(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        CountKw
            | SumKw
            | MinKw
            | MaxKw
            | LockKw
            | UnlockKw
            | StartKw
            | WeakKw
            | StrongKw
            | UnconditionalKw
            | UnderKw
            | OrderedKw
            | RingKw
            | RecordKw
            | QueueKw
            | InitiallyKw
    )
}

/// Makes names of the words that are no keywords where they stand.
pub(super) fn settle(text: &str, tokens: &mut [Token]) {
    let real: Vec<usize> = (0..tokens.len())
        .filter(|at| !tokens[*at].kind.is_trivia())
        .collect();
    let mut item = EndOfFile;
    // How many braces are open: items stand in none.
    let mut open = 0usize;
    for (place, at) in real.iter().enumerate() {
        let neighbour = |distance: isize| {
            let place = place.checked_add_signed(distance)?;
            real.get(place).map(|at| tokens[*at])
        };
        let kind = |distance| neighbour(distance).map_or(EndOfFile, |token| token.kind);
        let here = tokens[*at].kind;
        match here {
            LBrace => open += 1,
            RBrace => open = open.saturating_sub(1),
            InitiallyKw => {}
            kind if kind.starts_item() => item = kind,
            _ => {}
        }
        let word = |kind| kind == Name || is_contextual(kind);
        let binds = word(kind(1)) && matches!(kind(2), Comma | InKw);
        let begins = matches!(
            kind(-1),
            EndOfFile | Semicolon | LBrace | RBrace | Colon | RParen
        );
        // `lock U x` is a formula.
        let until = || {
            let next = neighbour(1).map_or("", |token| {
                &text[token.span.start as usize..token.span.end as usize]
            });
            item == LivenessKw && matches!(next, "U" | "R" | "W")
        };
        let keyword = match here {
            CountKw | SumKw => binds,
            MinKw | MaxKw => binds || kind(1) == LParen,
            LockKw | UnlockKw | StartKw => {
                begins && (word(kind(1)) && !until() || kind(1) == LParen)
            }
            WeakKw | StrongKw | UnconditionalKw => {
                item == FairnessKw && matches!(kind(-1), Colon | Comma | OrKw)
            }
            UnderKw => kind(-2) == LivenessKw,
            OrderedKw | RingKw => kind(1) == ProcessKw,
            RecordKw => {
                matches!(kind(-1), EndOfFile | Semicolon | RBrace)
                    && word(kind(1))
                    && kind(2) == LBrace
            }
            InitiallyKw => open == 0 && matches!(kind(-1), EndOfFile | Semicolon | RBrace),
            // What a type is of stands behind its index, and behind no other.
            QueueKw => kind(1) == LBracket && behind_index(tokens, &real[place + 1..]) == OfKw,
            _ => true,
        };
        if !keyword {
            tokens[*at].kind = Name;
        }
    }
}

/// How far it looks for the end of an index.
const MOST_AHEAD: usize = 1_000;

/// What follows the index that begins here.
fn behind_index(tokens: &[Token], rest: &[usize]) -> SyntaxKind {
    let mut open = 0usize;
    for (place, at) in rest.iter().enumerate().take(MOST_AHEAD) {
        match tokens[*at].kind {
            LBracket => open += 1,
            RBracket if open == 1 => {
                let next = rest.get(place + 1);
                return next.map_or(EndOfFile, |at| tokens[*at].kind);
            }
            RBracket => open -= 1,
            Semicolon => break,
            _ => {}
        }
    }
    EndOfFile
}
