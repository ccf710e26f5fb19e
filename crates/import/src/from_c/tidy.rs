//! Makes code that was put together from functions and jumps plain again.
//!
//! Jumps to what comes next anyway go, what nothing leads to goes, and `if c { a; goto end } b; end:` becomes
//! `if c { a } else { b } end:`.

use std::collections::HashSet;

use super::ir::{Code, LabelId, Model, Statement, StatementKind, for_statements};

/// How deep branches may get by moving code into them.
const DEEPEST: usize = 12;

/// The same code, plainer.
pub(crate) fn processes(model: &mut Model) {
    for position in 0..model.processes.len() {
        let body = std::mem::take(&mut model.processes[position].body);
        model.processes[position].body = tidy(body, model);
    }
}

/// The same for some code.
pub(crate) fn tidy(mut code: Code, model: &Model) -> Code {
    loop {
        code = jumps(code, &HashSet::new(), model);
        let before = count(&code);
        code = structured(code, 0);
        code = reachable(code);
        code = jumps(code, &HashSet::new(), model);
        code = labels(code);
        if count(&code) >= before {
            return code;
        }
    }
}

fn count(code: &Code) -> usize {
    let mut count = 0;
    for_statements(code, &mut |statement| {
        count += match statement.kind {
            StatementKind::Goto(_) => 1000,
            _ => 1,
        };
    });
    count
}

/// Removes jumps to what comes next. `after` are the labels that are reached after this code without doing anything.
fn jumps(code: Code, after: &HashSet<LabelId>, model: &Model) -> Code {
    let mut following = after.clone();
    let mut output: Code = Vec::new();
    for Statement { at, kind } in code.into_iter().rev() {
        let kind = match kind {
            StatementKind::Goto(label) if following.contains(&label) => continue,
            StatementKind::Goto(label) => {
                following = HashSet::from([label]);
                StatementKind::Goto(label)
            }
            StatementKind::Label(label) => {
                following.insert(label);
                StatementKind::Label(label)
            }
            StatementKind::If(condition, yes, no) => {
                let (yes, no) = (jumps(yes, &following, model), jumps(no, &following, model));
                if yes.is_empty() && no.is_empty() && condition.cannot_fail(model) {
                    continue;
                }
                following.clear();
                match yes.is_empty() {
                    true if condition.cannot_fail(model) || !no.is_empty() => {
                        StatementKind::If(condition.not(), no, yes)
                    }
                    _ => StatementKind::If(condition, yes, no),
                }
            }
            StatementKind::Loop {
                head,
                condition,
                body,
            } => {
                let body = jumps(body, &HashSet::from([head]), model);
                following = HashSet::from([head]);
                StatementKind::Loop {
                    head,
                    condition,
                    body,
                }
            }
            StatementKind::Atomic(inner) => {
                let inner = jumps(inner, &following, model);
                if inner.is_empty() {
                    continue;
                }
                following.clear();
                StatementKind::Atomic(inner)
            }
            other => {
                let other = other.with_inner(&mut |block| jumps(block, &following, model));
                following.clear();
                other
            }
        };
        output.push(Statement { at, kind });
    }
    output.reverse();
    output
}

/// Moves what a branch jumps over into the other branch.
fn structured(code: Code, depth: usize) -> Code {
    let mut output: Code = Vec::new();
    let mut rest: std::collections::VecDeque<Statement> = code.into();
    while let Some(Statement { at, kind }) = rest.pop_front() {
        let kind = match kind {
            StatementKind::If(condition, mut yes, mut no) => {
                let target = |branch: &Code| {
                    match branch.last().map(|last| &last.kind) {
                    Some(StatementKind::Goto(label)) => rest.iter().position(
                        |statement| matches!(&statement.kind, StatementKind::Label(found) if found == label),
                    ),
                    _ => None,
                }
                };
                let jumped = match (target(&yes), target(&no)) {
                    (Some(position), _) => Some((position, true)),
                    (None, Some(position)) => Some((position, false)),
                    (None, None) => None,
                };
                let plain = |position: usize| {
                    let labels = |statement: &Statement| {
                        matches!(
                            statement.kind,
                            StatementKind::Label(_) | StatementKind::Exclusive(_)
                        )
                    };
                    !rest.iter().take(position).any(labels)
                };
                let ends = |branch: &Code| {
                    matches!(
                        branch.last().map(|last| &last.kind),
                        Some(StatementKind::Goto(_) | StatementKind::Break | StatementKind::Return)
                    )
                };
                if let Some((position, in_yes)) = jumped
                    && depth < DEEPEST
                    && plain(position)
                {
                    let (from, to) = match in_yes {
                        true => (&mut yes, &mut no),
                        false => (&mut no, &mut yes),
                    };
                    // What neither branch comes to may still be jumped into.
                    let stays = ends(to) && rest.iter().take(position).any(is_entered);
                    if !stays {
                        let moved: Code = rest.drain(..position).collect();
                        from.pop();
                        if !ends(to) {
                            to.extend(moved);
                        }
                    }
                }
                let yes = structured(yes, depth + 1);
                StatementKind::If(condition, yes, structured(no, depth + 1))
            }
            other => other.with_inner(&mut |inner| structured(inner, depth + 1)),
        };
        output.push(Statement { at, kind });
    }
    output
}

/// Whether control may come into a statement other than from the one before it.
fn is_entered(statement: &Statement) -> bool {
    let mut entered = matches!(statement.kind, StatementKind::Exclusive(_));
    for_statements(std::slice::from_ref(statement), &mut |inner| {
        entered |= matches!(inner.kind, StatementKind::Label(_));
    });
    entered
}

/// Removes what nothing leads to.
fn reachable(code: Code) -> Code {
    let mut output: Code = Vec::new();
    let mut dead = false;
    for statement in code {
        if dead && !is_entered(&statement) {
            continue;
        }
        let Statement { at, kind } = statement;
        dead = matches!(
            kind,
            StatementKind::Goto(_) | StatementKind::Break | StatementKind::Return
        );
        let kind = kind.with_inner(&mut reachable);
        output.push(Statement { at, kind });
    }
    output
}

/// Removes labels that no jump names.
fn labels(code: Code) -> Code {
    let mut named = HashSet::new();
    for_statements(&code, &mut |statement| {
        if let StatementKind::Goto(label) = statement.kind {
            named.insert(label);
        }
    });
    without(code, &named)
}

fn without(code: Code, named: &HashSet<LabelId>) -> Code {
    let mut output = Vec::new();
    for Statement { at, kind } in code {
        let kind = match kind {
            StatementKind::Label(label) if !named.contains(&label) => continue,
            other => other.with_inner(&mut |inner| without(inner, named)),
        };
        output.push(Statement { at, kind });
    }
    output
}
