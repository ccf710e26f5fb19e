//! Takes out what is written to a process's own variables and never read: mostly values that a variable has before it gets its first.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::ir::{Code, Expr, LabelId, Model, Place, Statement, StatementKind, VarId};

type Live = BTreeSet<VarId>;

/// How often a process is gone through at most.
const MOST_ROUNDS: usize = 100;

/// Removes dead writes from all processes. `entered` are loops whose first round always happens.
pub(crate) fn remove(model: &mut Model, entered: &HashSet<LabelId>) {
    for position in 0..model.processes.len() {
        let body = std::mem::take(&mut model.processes[position].body);
        let mut liveness = Liveness {
            model,
            entered,
            at: HashMap::new(),
            exits: Vec::new(),
            changed: false,
        };
        let mut stable = false;
        for _ in 0..MOST_ROUNDS {
            liveness.changed = false;
            liveness.code(&body, Live::new());
            if !liveness.changed {
                stable = true;
                break;
            }
        }
        let body = match stable {
            true => liveness.without(body, Live::new()).0,
            false => body,
        };
        model.processes[position].body = body;
    }
}

struct Liveness<'m> {
    model: &'m Model,
    entered: &'m HashSet<LabelId>,
    /// What is live at each label.
    at: HashMap<LabelId, Live>,
    exits: Vec<Live>,
    changed: bool,
}

impl Liveness<'_> {
    fn read(&self, expr: &Expr, live: &mut Live) {
        expr.for_places(&mut |place| {
            if !self.model.is_shared(place.var) {
                live.insert(place.var);
            }
        });
    }

    fn reads(&self, statement: &Statement, live: &mut Live) {
        statement.for_expressions(&mut |expr| self.read(expr, live));
    }

    fn arrive(&mut self, label: LabelId, live: &Live) {
        let old = self.at.entry(label).or_default();
        let size = old.len();
        old.extend(live.iter().copied());
        self.changed |= old.len() > size;
    }

    fn is_own_scalar(&self, place: &Place) -> bool {
        !self.model.is_shared(place.var) && self.model.variable(place.var).dims.is_empty()
    }

    fn is_dead(&self, statement: &Statement, after: &Live) -> bool {
        match &statement.kind {
            StatementKind::Assign(place, value) => {
                self.is_own_scalar(place)
                    && !after.contains(&place.var)
                    && value.cannot_fail(self.model)
            }
            StatementKind::Havoc(place) => self.is_own_scalar(place) && !after.contains(&place.var),
            _ => false,
        }
    }

    /// What is live in front of code.
    fn code(&mut self, code: &[Statement], mut live: Live) -> Live {
        for statement in code.iter().rev() {
            live = self.before(statement, live);
        }
        live
    }

    fn before(&mut self, statement: &Statement, mut live: Live) -> Live {
        match &statement.kind {
            StatementKind::Assign(place, _) | StatementKind::Havoc(place) => {
                if self.is_dead(statement, &live) {
                    return live;
                }
                if self.is_own_scalar(place) {
                    live.remove(&place.var);
                }
                self.reads(statement, &mut live);
                live
            }
            StatementKind::If(condition, yes, no) => {
                let mut before = self.code(yes, live.clone());
                before.extend(self.code(no, live));
                self.read(condition, &mut before);
                before
            }
            StatementKind::Loop {
                head,
                condition,
                body,
            } => {
                let again = self.at.get(head).cloned().unwrap_or_default();
                self.exits.push(live.clone());
                let mut before = self.code(body, again);
                self.exits.pop();
                if let Some(condition) = condition {
                    self.read(condition, &mut before);
                }
                let first = before.clone();
                if condition.is_some() {
                    before.extend(live);
                }
                self.arrive(*head, &before);
                match self.entered.contains(head) {
                    true => first,
                    false => before,
                }
            }
            StatementKind::Break => self.exits.last().cloned().unwrap_or_default(),
            StatementKind::Goto(label) => self.at.get(label).cloned().unwrap_or_default(),
            StatementKind::Label(label) => {
                self.arrive(*label, &live);
                live
            }
            StatementKind::Return => Live::new(),
            StatementKind::Atomic(inner) => self.code(inner, live),
            StatementKind::Choose(blocks) => {
                let mut before = Live::new();
                for block in blocks {
                    before.extend(self.code(block, live.clone()));
                }
                before
            }
            _ => {
                self.reads(statement, &mut live);
                live
            }
        }
    }

    /// The code without dead writes, and what is live in front of it.
    fn without(&mut self, code: Code, mut live: Live) -> (Code, Live) {
        let mut output = Vec::new();
        for statement in code.into_iter().rev() {
            if self.is_dead(&statement, &live) {
                continue;
            }
            let before = self.before(&statement, live.clone());
            let Statement { at, kind } = statement;
            let kind = match kind {
                StatementKind::If(condition, yes, no) => {
                    let yes = self.without(yes, live.clone()).0;
                    let no = self.without(no, live).0;
                    let idle = yes.is_empty() && no.is_empty();
                    if idle && condition.cannot_fail(self.model) {
                        live = before;
                        // Its condition is not read any more, but that only keeps more alive.
                        continue;
                    }
                    StatementKind::If(condition, yes, no)
                }
                StatementKind::Loop {
                    head,
                    condition,
                    body,
                } => {
                    let again = self.at.get(&head).cloned().unwrap_or_default();
                    self.exits.push(live);
                    let body = self.without(body, again).0;
                    self.exits.pop();
                    StatementKind::Loop {
                        head,
                        condition,
                        body,
                    }
                }
                other => other.with_inner(&mut |inner| self.without(inner, live.clone()).0),
            };
            live = before;
            output.push(Statement { at, kind });
        }
        output.reverse();
        (output, live)
    }
}
