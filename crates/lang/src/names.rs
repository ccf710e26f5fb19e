//! Which name stands for what: an index for editors.
//!
//! The checker writes it while it resolves names, so there is one resolver and the index cannot disagree with it. A declaration is known by the
//! place of its name; a use is a pair of places. With errors in the text the index holds what was understood: what stands in a part that was not
//! read is missing from it, never wrong.
//!
//! One use may stand for several declarations: a macro is read once for each of its calls, and `goto l` in it leads to the label of each
//! caller.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::{IndexVec, define_index_type};

use crate::program::Span;

define_index_type! { /// A declared name.
pub struct SymbolId = u32; }

/// What a name was declared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// `param N`
    Param,
    /// `enum Phase`
    Enum,
    /// A member of an enumeration.
    Member,
    /// `type Index = ..`, or a record
    Type,
    /// A field of a record.
    Field,
    /// `shared x`
    Shared,
    /// `local x`
    Local,
    /// `process P`
    Process,
    /// The `i` of `process P[i: ..]`.
    OwnId,
    /// A variable of a quantifier, of `choose .. in`, or of `for` without labels inside.
    Bound,
    /// The variable of `for` with labels inside, which is also a local variable of the process.
    Counter,
    /// `def d`
    Def,
    /// A parameter of a definition.
    DefParam,
    /// `macro m`
    Macro,
    /// A parameter of a macro.
    MacroParam,
    /// A label.
    Label,
    /// `fairness f`
    Fairness,
    /// `invariant p` or `liveness p`
    Property,
}

impl SymbolKind {
    /// What it is called in messages.
    pub fn words(self) -> &'static str {
        match self {
            SymbolKind::Param => "parameter",
            SymbolKind::Enum => "enumeration",
            SymbolKind::Member => "member of an enumeration",
            SymbolKind::Type => "type",
            SymbolKind::Field => "field of a record",
            SymbolKind::Shared => "shared variable",
            SymbolKind::Local => "local variable",
            SymbolKind::Process => "process template",
            SymbolKind::OwnId => "own id of the process",
            SymbolKind::Bound => "bound variable",
            SymbolKind::Counter => "loop counter",
            SymbolKind::Def => "definition",
            SymbolKind::DefParam => "parameter of a definition",
            SymbolKind::Macro => "macro",
            SymbolKind::MacroParam => "parameter of a macro",
            SymbolKind::Label => "label",
            SymbolKind::Fairness => "fairness",
            SymbolKind::Property => "property",
        }
    }
}

/// A declared name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Where it is declared: the name alone.
    pub span: Span,
    /// Where it can be used by its plain name. For a label of a macro that is the macro.
    pub scope: Span,
    /// The templates whose local, label or id it is; for a member, its enumeration. A label of a macro belongs to every template that calls it.
    pub owners: Vec<SymbolId>,
    /// Its type in words, where that is not written at the declaration: of definitions.
    pub ty: Option<String>,
}

/// All names of a text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    symbols: IndexVec<SymbolId, Symbol>,
    /// Declarations and uses, by their place.
    places: Vec<(Span, SymbolId)>,
}

impl Names {
    /// The symbols in the order of their declarations.
    pub fn symbols(&self) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        self.symbols.iter_enumerated()
    }

    /// A symbol.
    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id]
    }

    /// Every place that was resolved, with what stands there, in the order of the text; declarations are among them.
    pub fn places(&self) -> &[(Span, SymbolId)] {
        &self.places
    }

    /// What the name at a byte stands for, with the place of the name; the byte just behind a name counts as the name's. Almost always it is one
    /// symbol.
    pub fn at(&self, at: u32) -> Option<(Span, Vec<SymbolId>)> {
        let inside = |span: Span| span.start <= at && at <= span.end;
        let before = self.places.partition_point(|(span, _)| span.start <= at);
        // Names do not overlap, so the last one that begins here or earlier is the one.
        let (span, _) = *self.places[..before].last()?;
        let span = Some(span).filter(|span| inside(*span))?;
        Some((span, self.resolved(span).collect()))
    }

    /// What stands at exactly this place.
    pub fn resolved(&self, span: Span) -> impl Iterator<Item = SymbolId> {
        let first = self.places.partition_point(|(known, _)| *known < span);
        self.places[first..]
            .iter()
            .take_while(move |(known, _)| *known == span)
            .map(|(_, id)| *id)
    }

    /// Every place of a symbol, its declaration included.
    pub fn places_of(&self, id: SymbolId) -> impl Iterator<Item = Span> {
        self.places
            .iter()
            .filter(move |(_, known)| *known == id)
            .map(|(span, _)| *span)
    }

    /// The symbols that share a use with these, directly or through others: a new name for one is a new name for all.
    pub fn tied(&self, ids: &[SymbolId]) -> BTreeSet<SymbolId> {
        let mut tied: BTreeSet<SymbolId> = ids.iter().copied().collect();
        loop {
            let before = tied.len();
            let mut first = 0;
            while let Some((span, _)) = self.places.get(first) {
                let group = self.places[first..].iter();
                let group = group.take_while(|(known, _)| known == span);
                let group: Vec<SymbolId> = group.map(|(_, id)| *id).collect();
                first += group.len();
                if group.len() > 1 && group.iter().any(|id| tied.contains(id)) {
                    tied.extend(group);
                }
            }
            if tied.len() == before {
                return tied;
            }
        }
    }
}

/// The index while it is written.
#[derive(Debug, Default)]
pub(crate) struct Record {
    symbols: BTreeMap<Span, Recorded>,
    uses: BTreeSet<(Span, Span)>,
}

#[derive(Debug)]
struct Recorded {
    name: String,
    kind: SymbolKind,
    scope: Span,
    owners: BTreeSet<Span>,
    ty: Option<String>,
}

/// The whole text, as a scope.
pub(crate) const EVERYWHERE: Span = Span {
    start: 0,
    end: u32::MAX,
};

impl Record {
    /// A declaration. It may be told again, with another owner.
    pub(crate) fn declare(
        &mut self,
        name: &str,
        at: Span,
        kind: SymbolKind,
        scope: Span,
        owner: Option<Span>,
    ) {
        let recorded = self.symbols.entry(at).or_insert_with(|| Recorded {
            name: name.to_owned(),
            kind,
            scope,
            owners: BTreeSet::new(),
            ty: None,
        });
        recorded.owners.extend(owner);
    }

    /// The name at a place stands for what is declared at another.
    pub(crate) fn resolve(&mut self, used: Span, declared: Span) {
        self.uses.insert((used, declared));
    }

    /// What is known of the type of a declaration.
    pub(crate) fn describe(&mut self, declared: Span, ty: String) {
        if let Some(symbol) = self.symbols.get_mut(&declared) {
            symbol.ty = Some(ty);
        }
    }

    /// The declarations of some kinds, by name; the first, if there are several of a name.
    pub(crate) fn by_name(&self, kinds: &[SymbolKind]) -> BTreeMap<(SymbolKind, String), Span> {
        let known = self.symbols.iter().rev();
        let known = known.filter(|(_, symbol)| kinds.contains(&symbol.kind));
        known
            .map(|(span, symbol)| ((symbol.kind, symbol.name.clone()), *span))
            .collect()
    }

    /// The declarations in a part of the text, by name, each with its scope.
    pub(crate) fn within(&self, part: Span) -> BTreeMap<String, Vec<(Span, Span)>> {
        let mut found: BTreeMap<String, Vec<(Span, Span)>> = BTreeMap::new();
        for (span, symbol) in self.symbols.range(part..) {
            if span.start >= part.end {
                break;
            }
            let places = found.entry(symbol.name.clone()).or_default();
            places.push((symbol.scope, *span));
        }
        found
    }

    pub(crate) fn finish(self) -> Names {
        let ids: BTreeMap<Span, SymbolId> = (self.symbols.keys().copied())
            .zip((0..).map(SymbolId::from_usize))
            .collect();
        let mut places: Vec<(Span, SymbolId)> = ids.iter().map(|(at, id)| (*at, *id)).collect();
        let uses = self.uses.into_iter();
        places.extend(uses.filter_map(|(used, declared)| Some((used, *ids.get(&declared)?))));
        places.sort();
        places.dedup();
        let symbols = self.symbols.into_iter().map(|(span, symbol)| Symbol {
            name: symbol.name,
            kind: symbol.kind,
            span,
            scope: symbol.scope,
            owners: (symbol.owners.iter())
                .filter_map(|owner| ids.get(owner).copied())
                .collect(),
            ty: symbol.ty,
        });
        Names {
            symbols: symbols.collect(),
            places,
        }
    }
}

/// The names in a directive: what kind of symbol each would be, with its bytes.
pub(crate) fn in_directive(text: &str) -> Vec<(SymbolKind, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    let words = words(text);
    let mut listing = false;
    for (number, range) in words.iter().enumerate() {
        let rest = text[range.end..].trim_start();
        let earlier = |back: usize| Some(&text[words.get(number.checked_sub(back)?)?.clone()]);
        if earlier(1) == Some("expect") && rest.starts_with(':') {
            found.push((SymbolKind::Property, range.clone()));
        } else if rest.starts_with('=') {
            found.push((SymbolKind::Param, range.clone()));
        } else if earlier(1) == Some("all") && earlier(2) == Some("for") || listing {
            found.push((SymbolKind::Param, range.clone()));
            listing = rest.starts_with(',');
        }
    }
    found
}

/// The words of a text that could be names.
fn words(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut words: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, c) in text.char_indices() {
        if c.is_ascii_alphanumeric() || c == '_' {
            match words.last_mut() {
                Some(word) if word.end == at => word.end = at + 1,
                _ => words.push(at..at + 1),
            }
        }
    }
    words.retain(|word| !text[word.clone()].starts_with(|c: char| c.is_ascii_digit()));
    words
}
