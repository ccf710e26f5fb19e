//! Pairs of processes, and which of them stand for all.
//!
//! Two pairs are alike if a symmetry of the program takes one to the other. Among processes of one template that all permutations
//! leave alike, there is one kind of pair; on a ring, one for each distance; between templates, one for each two kinds of processes.

use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{ProcessId, System, TemplateSymmetry};

use super::view::Representatives;

/// Two processes, in no order. A process without others makes up a pair with itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pair {
    lower: ProcessId,
    upper: ProcessId,
}

impl Pair {
    pub(crate) fn new(one: ProcessId, other: ProcessId) -> Self {
        Pair {
            lower: one.min(other),
            upper: one.max(other),
        }
    }

    pub(crate) fn lower(self) -> ProcessId {
        self.lower
    }

    /// Both, or the one that is alone.
    pub(crate) fn processes(self) -> impl Iterator<Item = ProcessId> + Clone {
        let upper = (self.upper != self.lower).then_some(self.upper);
        std::iter::once(self.lower).chain(upper)
    }

    pub(crate) fn contains(self, process: ProcessId) -> bool {
        self.lower == process || self.upper == process
    }
}

/// For which pairs assertions are computed, and how the others get theirs.
pub(crate) struct Pairs {
    /// The same for single processes.
    pub(crate) processes: Representatives,
    /// Those for which assertions are computed.
    pub(crate) wanted: Vec<Pair>,
    symmetric: bool,
}

impl Pairs {
    /// One pair for all that are alike, or every pair for itself.
    pub(crate) fn new(system: &System, symmetric: bool) -> Self {
        let mut pairs = Pairs {
            processes: Representatives::new(system, symmetric),
            wanted: Vec::new(),
            symmetric,
        };
        pairs.wanted = all(system)
            .filter(|pair| pairs.of(system, *pair).1.is_none())
            .collect();
        pairs
    }

    /// Which pair stands for this one, and a symmetry that takes that one to it; `None` if it stands for itself.
    pub(crate) fn of(&self, system: &System, pair: Pair) -> (Pair, Option<Permutation>) {
        let id = system.template_of(pair.lower);
        let template = &system.templates[id];
        let alone = pair.lower == pair.upper;
        if !self.symmetric || alone || system.template_of(pair.upper) != id {
            return self.of_two_kinds(pair);
        }
        let (lower, upper) = (system.index_of(pair.lower), system.index_of(pair.upper));
        let count = template.count;
        let (distance, images) = match template.symmetry {
            TemplateSymmetry::Identity => return (pair, None),
            TemplateSymmetry::Full => (1, taking_first_two_to(lower, upper, count)),
            TemplateSymmetry::Rotations => {
                // The shorter way round.
                let (distance, by) = if 2 * (upper - lower) <= count {
                    (upper - lower, lower)
                } else {
                    (count - (upper - lower), upper)
                };
                (distance, (0..count).map(|k| (k + by) % count).collect())
            }
        };
        let representative = Pair::new(template.first, template.first + distance as usize);
        if representative == pair {
            return (pair, None);
        }
        match Permutation::of_template(id, images) {
            Some(permutation) => (representative, Some(permutation)),
            None => (pair, None),
        }
    }

    /// The same where each process can be moved without the other.
    fn of_two_kinds(&self, pair: Pair) -> (Pair, Option<Permutation>) {
        let (lower, move_lower) = self.processes.of(pair.lower);
        let (upper, move_upper) = self.processes.of(pair.upper);
        let permutation = match (move_lower, move_upper) {
            (Some(lower), Some(upper)) => Some(lower.then(upper)),
            (one, other) => one.or(other).cloned(),
        };
        (Pair::new(lower, upper), permutation)
    }
}

/// A permutation of so many indices that takes 0 and 1 to two others.
fn taking_first_two_to(lower: u32, upper: u32, count: u32) -> Vec<u32> {
    let mut images: Vec<u32> = (0..count).collect();
    images.swap(0, lower as usize);
    // `upper` comes after `lower`, so that it is still at its place.
    images.swap(1, upper as usize);
    images
}

/// All pairs of a system.
pub(crate) fn all(system: &System) -> impl Iterator<Item = Pair> {
    let count = system.processes();
    let alone = (count == 1).then(|| Pair::new(ProcessId::from_raw(0), ProcessId::from_raw(0)));
    alone.into_iter().chain((0..count).flat_map(move |lower| {
        (lower + 1..count)
            .map(move |upper| Pair::new(ProcessId::from_raw(lower), ProcessId::from_raw(upper)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadwise_model::lower::lower;
    use threadwise_testgen::{instance, library};

    /// How many pairs stand for all, in each model of the library; every pair must come from one of them.
    fn kinds(n: i64) -> Vec<(String, usize)> {
        let mut kinds = Vec::new();
        for (name, text) in library() {
            let Ok(instance) = instance(&text, &[("N", n)]) else {
                continue;
            };
            let system = lower(&instance, 3).expect("small enough");
            let pairs = Pairs::new(&system, true);
            for pair in all(&system) {
                let (representative, permutation) = pairs.of(&system, pair);
                assert!(pairs.wanted.contains(&representative), "{name}: {pair:?}");
                let image = |process| match &permutation {
                    Some(permutation) => permutation.process(&system, process),
                    None => process,
                };
                let (lower, upper) = (image(representative.lower), image(representative.upper));
                assert_eq!(Pair::new(lower, upper), pair, "{name}");
            }
            kinds.push((name, pairs.wanted.len()));
        }
        kinds
    }

    #[test]
    fn every_pair_comes_from_a_representative() {
        let kinds = kinds(5);
        let of = |model: &str| {
            kinds
                .iter()
                .find(|(name, _)| name == model)
                .map(|(_, k)| *k)
        };
        // All alike.
        assert_eq!(of("mux_sem"), Some(1));
        // Two producers, two consumers, one of each.
        assert_eq!(of("bounded_buffer"), Some(3));
        // On a ring, next to each other or not.
        assert_eq!(of("wrong_dining"), Some(2));
        // In the order of ids, none like another.
        assert_eq!(of("szymanski"), Some(10));
    }

    #[test]
    fn a_single_process_is_a_pair() {
        let text =
            "shared x: bool = true; process P { loop { a: x := !x; } } invariant any: x || !x;";
        let instance = instance(text, &[]).expect("an instance");
        let system = lower(&instance, 3).expect("small enough");
        assert_eq!(Pairs::new(&system, true).wanted.len(), 1);
        assert_eq!(Pairs::new(&system, false).wanted.len(), 1);
    }
}
