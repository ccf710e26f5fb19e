//! What `auto` asks: which engines, in which order, and how the work is shared among them.
//!
//! Engines take turns in rounds. In each round, each may have done half as much again as in the one before, times its share; it keeps what it has done. The first in the order
//! that is conclusive in a round wins. So what it costs is bounded by what the winner needs, whatever the others would need, and the outcome does not
//! depend on how many are run side by side. `docs/book/src/choosing-an-engine.md` has the plans with the measurements that they are from.

use threadwise_engine::{Decides, EngineInfo, EngineOptions, Make};
use threadwise_explicit::EXPLICIT;
use threadwise_lang::program::{IdOrder, Instances, Program};
use threadwise_liveness::{FAIR_LOCAL_B, MONOLITHIC};
use threadwise_param::engine::{COUNTER, CUBES, GENERALISE, RANKING, by_solver};
use threadwise_safety::{FORWARD, SPLIT};

use crate::plan::Only;
use crate::report::Kind;

/// The choice that is made unless another is asked for.
pub static AUTO: EngineInfo = EngineInfo {
    name: "auto",
    about: "The default: several engines that take turns. Safety for all values of the parameters by `counter`, `cubes` and `generalise`; what they leave open at one instance by `explicit`, `forward` and `split`. Liveness for all values by `ranking`; at one instance by `liveness-monolithic` and `fair-local-liveness-b`.",
    decides: Decides::Both,
    explains: true,
    options: &[],
    make: Make::Several,
};

/// The engine that is asked alone about properties of a kind, where only one can do what is wanted.
pub(crate) fn alone(kind: Kind) -> &'static EngineInfo {
    match kind {
        Kind::Liveness => &MONOLITHIC,
        _ => &EXPLICIT,
    }
}

/// What the first round grants to a share, in units of work: some fifteen milliseconds, so that whatever is decided in an instant is.
const FIRST: u64 = 150_000;

/// An engine of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The engine.
    pub(crate) engine: &'static EngineInfo,
    /// Its share of the work.
    pub(crate) share: u64,
    /// The share that it begins with, if that is more: it keeps to it until its own share has grown to that.
    pub(crate) head_start: u64,
    /// The round that it joins in.
    pub(crate) from: u32,
    /// Whether it is to prove the claim for all instances, where one is asked about.
    pub(crate) lifted: bool,
    /// Whether it is to learn from a smaller instance first.
    pub(crate) learns: bool,
    /// Options of the engine that it is asked with.
    pub(crate) with: EngineOptions,
}

impl Entry {
    /// An engine with an equal share, from the first round on.
    pub(crate) fn new(engine: &'static EngineInfo) -> Entry {
        Entry {
            engine,
            share: 1,
            head_start: 1,
            from: 0,
            lifted: false,
            learns: false,
            with: EngineOptions::default(),
        }
    }

    fn share(self, share: u64) -> Entry {
        Entry { share, ..self }
    }

    fn from(self, from: u32) -> Entry {
        Entry { from, ..self }
    }

    /// The work that it may have done in all by the end of a round.
    pub(crate) fn grant(&self, round: u32) -> u64 {
        let share = self.share.saturating_mul(FIRST);
        let grown = (0..round).fold(share, |work, _| work.saturating_add(work / 2));
        grown.max(self.head_start.saturating_mul(FIRST))
    }

    /// For people: `forward (share 6, from round 2)`.
    pub(crate) fn describe(&self) -> String {
        let mut words = Vec::new();
        if self.lifted {
            words.push("for all instances".to_owned());
        }
        if self.learns {
            words.push("learning from a smaller instance".to_owned());
        }
        if self.share > 1 {
            words.push(format!("share {}", self.share));
        }
        if self.head_start > self.share {
            words.push(format!("at first {}", self.head_start));
        }
        match self.from {
            0 => {}
            LAST => words.push("when the others have given up".to_owned()),
            from => words.push(format!("from round {}", from + 1)),
        }
        let name = format!("{}{}", self.engine.name, self.with);
        match words.as_slice() {
            [] => name,
            words => format!("{name} ({})", words.join(", ")),
        }
    }
}

/// The round of whoever is asked when all others have given up.
const LAST: u32 = u32::MAX;

/// Properties of a half for all values of parameters.
pub(crate) fn for_all(half: Only) -> Vec<Entry> {
    match half {
        Only::Safety => vec![
            Entry::new(&COUNTER).share(4),
            Entry::new(&CUBES).share(4),
            Entry::new(&GENERALISE).from(5),
            Entry {
                with: by_solver(),
                ..Entry::new(&COUNTER).from(LAST)
            },
        ],
        Only::Liveness => vec![Entry::new(&RANKING)],
    }
}

/// So few processes that searching their states comes before anything else: the search of small instances that proofs for all begin with is not smaller.
const FEW: u32 = 4;

/// Safety at one instance with so many processes. `tried` says that the engines for all instances were asked before; `explain`, that a proof is to be read.
pub(crate) fn safety(program: &Program, processes: u32, tried: bool, explain: bool) -> Vec<Entry> {
    let alike = program.templates.iter().any(|template| {
        template.order == IdOrder::Unordered && matches!(template.instances, Instances::Range(..))
    });
    let mut plan = Vec::new();
    if !tried && !program.params.is_empty() {
        // Most of what it proves it proves at once, at any size; the others begin with something that grows with the instance.
        plan.push(Entry {
            lifted: true,
            head_start: 4,
            ..Entry::new(&COUNTER)
        });
    }
    // Engines that have nothing to show for a proof come when those that have are at the end of their wits.
    let late = if explain { 15 } else { 0 };
    let explicit = Entry::new(&EXPLICIT).share(3).from(late);
    match processes <= FEW {
        true => plan.insert(0, explicit),
        false => plan.push(explicit),
    }
    plan.push(Entry::new(&FORWARD).share(6).from(late));
    if alike || explain {
        plan.push(Entry::new(&SPLIT).from(if explain { 0 } else { 4 }));
    }
    plan
}

/// A liveness property at one instance. `smaller` says that there is an instance to learn from.
pub(crate) fn liveness(smaller: bool) -> Vec<Entry> {
    let mut plan = vec![Entry::new(&MONOLITHIC).share(4)];
    if smaller {
        plan.push(Entry {
            learns: true,
            ..Entry::new(&FAIR_LOCAL_B).from(6)
        });
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_grow_until_they_are_without_end() {
        let entry = Entry::new(&FORWARD).share(6);
        let grants: Vec<u64> = (0..120).map(|round| entry.grant(round)).collect();
        assert_eq!(grants[0], 6 * FIRST);
        assert!(grants.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!(grants[119], u64::MAX);
    }

    #[test]
    fn plans_are_described_in_words() {
        let words: Vec<String> = liveness(true).iter().map(Entry::describe).collect();
        assert_eq!(
            words,
            [
                "liveness-monolithic (share 4)",
                "fair-local-liveness-b (learning from a smaller instance, from round 7)"
            ]
        );
    }
}
