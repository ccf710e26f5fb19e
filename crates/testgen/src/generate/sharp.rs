//! Quantifiers that matter: truths about a few numbers and a cell that stop being true if a quantifier, a bound or an implication is misread.
//!
//! Random quantifiers say little: most bodies do not depend on what is bound, or the result is lost further up. These are true whatever
//! the state, so a program may use them anywhere, in guards and in claims, and behave as before; whoever misreads one of them sees
//! another program. Now and then one is changed a little, and then it depends on the state.

use super::{Generator, Scope, Ty};

/// How many kinds there are that need no process.
const KINDS: usize = 8;

impl Generator {
    /// A definition that is always true.
    pub(super) fn sharp_definition(&mut self) -> String {
        let scope = Scope {
            own: None,
            property: false,
            may_fail: false,
            bound: Vec::new(),
        };
        let holds = self.truths(&scope, 2);
        self.holds = true;
        format!("def holds = {holds};\n")
    }

    /// A claim, with some truths if programs are to have them.
    pub(super) fn sharpened(&mut self, claim: String, scope: &Scope, count: usize) -> String {
        match self.sharp {
            true => format!("({claim}) && {}", self.truths(scope, count)),
            false => claim,
        }
    }

    /// Some of them, joined.
    pub(super) fn truths(&mut self, scope: &Scope, count: usize) -> String {
        let parts: Vec<String> = (0..count).map(|_| self.sharp_part(scope)).collect();
        format!("({})", parts.join(" && "))
    }

    fn sharp_part(&mut self, scope: &Scope) -> String {
        if scope.property && self.random.percent(25) {
            return self.sharp_processes();
        }
        if self.holds && self.random.percent(25) {
            return "holds".to_owned();
        }
        // A cell with a range, and a part of the range: the cell is in it, or above.
        let (cell, lo, hi) = match self.cell(&scope.safe(), |ty| matches!(ty, Ty::Range(..))) {
            Some((cell, Ty::Range(lo, hi))) => (cell, lo, hi.min(lo + 2)),
            _ => ("1".to_owned(), 0, 2),
        };
        self.sharp_about(&cell, lo, hi)
    }

    /// One about an expression that is at least `lo`, and a range of more than one number.
    fn sharp_about(&mut self, cell: &str, lo: i64, hi: i64) -> String {
        let k = self.fresh("k");
        let near = format!("min({cell}, {hi})");
        let (size, total) = (hi - lo + 1, (lo..=hi).sum::<i64>());
        let equal = match self.random.percent(6) {
            true => ">=",
            false => "==",
        };
        match self.random.below(KINDS) {
            0 => format!("(exists {k} in {lo}..{hi}: {k} == {near})"),
            1 => format!("!(forall {k} in {lo}..{hi}: {k} == {near})"),
            2 => format!("((count {k} in {lo}..{hi}: {k} <= {cell}) {equal} {near} - {lo} + 1)"),
            3 => format!("((max {k} in {lo}..{hi}: {k} - {cell}) {equal} {hi} - {cell})"),
            4 => format!("((min {k} in {lo}..{hi}: {k} - {cell}) {equal} {lo} - {cell})"),
            5 => {
                format!("((sum {k} in {lo}..{hi}: {k} + {cell}) {equal} {total} + {size} * {cell})")
            }
            6 => format!("(forall {k} in {lo}..{hi}: {k} == {cell} -> {k} <= {cell})"),
            _ => {
                let j = self.fresh("k");
                format!("(exists {j} in {lo}..{hi}: forall {k} in {lo}..{hi}: {k} >= {j})")
            }
        }
    }

    /// One about where the processes of a template are.
    fn sharp_processes(&mut self) -> String {
        let ids = self.id_templates();
        let Some(template) = self.random.one(&ids).copied() else {
            return self.sharp_about("1", 0, 2);
        };
        let label = self.some_label(template);
        let process = self.templates[template].name.clone();
        let i = self.fresh("i");
        let at = format!("{i} in {process}: {process}[{i}] at {{{label}}}");
        match self.random.below(3) {
            0 => format!("((exists {at}) == ((count {at}) > 0))"),
            1 => format!("((forall {at}) == ((count {at}) == (count {i} in {process}: true)))"),
            _ => format!("((exists {at}) -> (count {at}) > 0)"),
        }
    }

    /// An initial value: the truth value given, in other words.
    pub(super) fn sharp_initial(&mut self, value: bool) -> String {
        let number = self.random.between(0, 2).to_string();
        let parts = [
            self.sharp_about(&number, 0, 2),
            self.sharp_about(&number, 0, 2),
        ];
        format!("{}({})", if value { "" } else { "!" }, parts.join(" && "))
    }
}
