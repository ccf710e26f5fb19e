//! Names in the model: those of the original where they can be had.

use std::collections::BTreeSet;

use crate::front::names::{free, identifier};

/// Names that are taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    words_too: bool,
}

impl Names {
    /// For properties, whose names are apart from all others and may be words of the language.
    pub(super) fn of_properties() -> Self {
        let taken = ["checks", "deadlock_free"].map(str::to_string).into();
        Names {
            taken,
            words_too: true,
        }
    }

    /// A name that is free together with the names that have a digit behind it.
    pub(super) fn stem(&mut self, wanted: &str) -> String {
        let mut stem = wanted.to_string();
        let digits = |stem: &str| (0..10).map(|n| format!("{stem}{n}")).collect::<Vec<_>>();
        while self.taken.contains(&stem)
            || digits(&stem).iter().any(|name| self.taken.contains(name))
        {
            stem.push('_');
        }
        for name in digits(&stem) {
            self.taken.insert(name);
        }
        self.fresh(&stem)
    }

    /// The name, or one like it.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let name = free(identifier(wanted, '_'), |name| {
            (!self.words_too && threadwise_lang::is_reserved(name)) || self.taken.contains(name)
        });
        self.taken.insert(name.clone());
        name
    }
}
