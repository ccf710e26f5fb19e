//! Names that checking does not come across: those in directives, and in macros that nobody calls.
//!
//! A macro is read when it is called, since its parameters have no meaning before. What is written in one that is not called is not
//! checked, but an editor wants to know its names all the same: its parameters, what it binds, its labels, and whatever is global.

use super::stmt::label_scope;
use super::*;
use crate::syntax::names;

impl Checker {
    pub(super) fn names_beside(&mut self) {
        for index in 0..self.macros.len() {
            if !self.macros[index].called {
                self.uncalled(&self.macros[index].node.clone());
            }
        }
        let known = self
            .names
            .by_name(&[SymbolKind::Property, SymbolKind::Param]);
        for (kind, word, used) in std::mem::take(&mut self.in_directives) {
            if let Some(declared) = known.get(&(kind, word)) {
                self.names.resolve(used, *declared);
            }
        }
    }

    fn uncalled(&mut self, body: &SyntaxNode) {
        for node in body.descendants() {
            let (kind, scope) = match node.kind() {
                SyntaxKind::Label => {
                    let scope = names(&node).next().and_then(|label| label_scope(&label));
                    (SymbolKind::Label, scope)
                }
                SyntaxKind::For | SyntaxKind::ChooseIn => (SymbolKind::Bound, Some(span(&node))),
                SyntaxKind::Group => {
                    let around = node.ancestors().nth(2);
                    (SymbolKind::Bound, around.map(|around| span(&around)))
                }
                _ => continue,
            };
            for name in names(&node) {
                let at = token_span(&name);
                self.names
                    .declare(name.text(), at, kind, scope.unwrap_or(at), None);
            }
        }
        let own = self.names.within(span(body));
        for node in body.descendants() {
            let wanted = matches!(
                node.kind(),
                SyntaxKind::NameExpr | SyntaxKind::CallExpr | SyntaxKind::Start | SyntaxKind::Goto
            );
            for name in names(&node).filter(|_| wanted) {
                let at = token_span(&name);
                let inside = |scope: Span| scope.start <= at.start && at.end <= scope.end;
                let visible = own.get(name.text()).into_iter().flatten();
                let visible = visible.filter(|(scope, _)| inside(*scope));
                let innermost = visible.min_by_key(|(scope, _)| scope.end - scope.start);
                let global = || self.globals.get(name.text()).map(|(_, at)| *at);
                let declared = innermost.map(|(_, at)| *at).or_else(global);
                if let Some(declared) = declared {
                    self.names.resolve(at, declared);
                }
            }
        }
    }
}
