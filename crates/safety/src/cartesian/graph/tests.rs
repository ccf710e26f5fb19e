//! Graphs against sets of tuples as bits of a number: three threads with four local states each make 64 tuples.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_testgen::random::Random;

use super::*;

const THREADS: usize = 3;
/// The local states: on both sides of the end of a word of bits.
const LOCALS: [usize; 4] = [0, 1, 63, 64];

/// A set of tuples; the bit of a tuple is its number with base four.
type Tuples = u64;
/// A set of local states; bit k is the k-th of [`LOCALS`].
type Locals = u8;

fn digits(tuple: usize) -> [usize; THREADS] {
    [tuple / 16, tuple / 4 % 4, tuple % 4]
}

fn number(digits: [usize; THREADS]) -> usize {
    digits[0] * 16 + digits[1] * 4 + digits[2]
}

/// The numbers of the bits that are set.
fn bits(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |bit| set >> bit & 1 == 1)
}

fn tuple(number: usize) -> Vec<LocalId> {
    let digits = digits(number).into_iter();
    digits.map(|digit| LocalId::new(LOCALS[digit])).collect()
}

fn product_of(components: [Locals; THREADS]) -> Tuples {
    (0..64)
        .filter(|tuple| {
            let digits = digits(*tuple);
            (0..THREADS).all(|k| components[k] >> digits[k] & 1 == 1)
        })
        .fold(0, |all, tuple| all | 1 << tuple)
}

fn projections(set: Tuples) -> [Locals; THREADS] {
    let mut components = [0; THREADS];
    for tuple in bits(set) {
        for (component, digit) in components.iter_mut().zip(digits(tuple)) {
            *component |= 1 << digit;
        }
    }
    components
}

/// The tuple with another local state of one thread.
fn with(tuple: usize, thread: usize, local: usize) -> usize {
    let mut digits = digits(tuple);
    digits[thread] = local;
    number(digits)
}

/// Graphs with all sets that they stood for, to see that equal sets have equal nodes.
struct Known {
    graphs: Graphs,
    by_tuples: BTreeMap<Tuples, Node>,
}

impl Known {
    fn new() -> Self {
        Known {
            graphs: Graphs::new(THREADS),
            by_tuples: BTreeMap::from([(0, NONE)]),
        }
    }

    fn locals(&mut self, locals: Locals) -> SetId {
        let members = bits(u64::from(locals)).map(|bit| LocalId::new(LOCALS[bit]));
        self.graphs.sets.of(members)
    }

    fn all_locals(&mut self, components: [Locals; THREADS]) -> Vec<SetId> {
        components.map(|locals| self.locals(locals)).to_vec()
    }

    /// What a set of local states is made of.
    fn members(&self, set: SetId) -> Locals {
        let members = self.graphs.sets.members(set).into_iter();
        members.fold(0, |all, member| {
            let place = LOCALS.iter().position(|local| *local == member.index());
            all | 1 << place.expect("a local state of these")
        })
    }

    /// A set, made of its tuples one at a time.
    fn node(&mut self, set: Tuples) -> Node {
        let mut node = NONE;
        for tuple in bits(set) {
            let components = digits(tuple).map(|digit| 1 << digit);
            let components = self.all_locals(components);
            let single = self.graphs.product(&components);
            node = self.graphs.union(node, single);
        }
        self.expect("one at a time", node, set)
    }

    /// Sees that a node stands for a set, and that it is the one that always did.
    fn expect(&mut self, what: &str, node: Node, set: Tuples) -> Node {
        for number in 0..64 {
            let inside = self.graphs.contains(node, &tuple(number));
            let wanted = set >> number & 1 == 1;
            assert_eq!(inside, wanted, "{what}: {:?} in {set:#x}", digits(number));
        }
        let known = *self.by_tuples.entry(set).or_insert(node);
        assert_eq!(node, known, "{what}: two nodes for {set:#x}");
        node
    }
}

fn some_locals(random: &mut Random) -> Locals {
    random.below(16) as Locals
}

/// Some products, some single tuples, or what these leave.
fn some_tuples(random: &mut Random) -> Tuples {
    let mut set = 0;
    for _ in 0..random.below(4) {
        set |= product_of([0; THREADS].map(|_| some_locals(random)));
    }
    for _ in 0..random.below(5) {
        set |= 1 << random.below(64);
    }
    if random.percent(15) { !set } else { set }
}

/// Steps of threads: where each leads from each local state.
type Steps = [[Locals; 4]; THREADS];

fn some_steps(random: &mut Random) -> Steps {
    // Often some threads do not move, the last ones among them.
    [0; THREADS].map(|_| {
        let moves = random.percent(70);
        [0; 4].map(|_| {
            if moves && random.percent(50) {
                some_locals(random)
            } else {
                0
            }
        })
    })
}

/// Where steps lead from a tuple.
fn after(tuple: usize, steps: &Steps) -> Tuples {
    let mut set = 0;
    for (thread, steps) in steps.iter().enumerate() {
        for local in bits(u64::from(steps[digits(tuple)[thread]])) {
            set |= 1 << with(tuple, thread, local);
        }
    }
    set
}

fn moves(known: &mut Known, steps: &Steps) -> Moves {
    let mut moves = Moves::default();
    for (thread, steps) in steps.iter().enumerate() {
        for (from, to) in steps.iter().enumerate() {
            for to in bits(u64::from(*to)) {
                let (from, to) = (LocalId::new(LOCALS[from]), LocalId::new(LOCALS[to]));
                moves.add(&mut known.graphs.sets, thread, from, to);
            }
        }
    }
    moves
}

#[test]
fn sets_are_joined_cut_and_compared() {
    let mut random = Random::new(1);
    let mut known = Known::new();
    let (mut overlapping, mut subsets) = (0, 0);
    for _ in 0..600 {
        let a = some_tuples(&mut random);
        let b = if random.percent(20) {
            a | some_tuples(&mut random)
        } else {
            some_tuples(&mut random)
        };
        let (left, right) = (known.node(a), known.node(b));
        let union = known.graphs.union(left, right);
        known.expect("union", union, a | b);
        let meet = known.graphs.meet(left, right);
        known.expect("meet", meet, a & b);
        let minus = known.graphs.minus(left, right);
        known.expect("minus", minus, a & !b);
        assert_eq!(known.graphs.is_subset(left, right), a & !b == 0);
        let picked = known.graphs.pick(left);
        assert_eq!(picked.is_some(), a != 0);
        if let Some(picked) = picked {
            assert!(known.graphs.contains(left, &picked));
        }
        overlapping += usize::from(a & b != 0 && a & !b != 0 && b & !a != 0);
        subsets += usize::from(a & !b == 0 && a != 0 && a != b);
    }
    assert!(known.by_tuples.len() >= 1_000, "{}", known.by_tuples.len());
    assert!(overlapping >= 200, "{overlapping} overlapping pairs");
    assert!(subsets >= 50, "{subsets} subsets");
    // Results are only remembered to save time.
    known.graphs.forget_results_beyond(0);
    let (a, b) = (some_tuples(&mut random), some_tuples(&mut random));
    let (left, right) = (known.node(a), known.node(b));
    let union = known.graphs.union(left, right);
    known.expect("union", union, a | b);
}

#[test]
fn products_and_the_least_product_around() {
    let mut random = Random::new(2);
    let mut known = Known::new();
    let mut void = 0;
    for _ in 0..300 {
        let components = [0; THREADS].map(|_| some_locals(&mut random));
        let sets = known.all_locals(components);
        let product = known.graphs.product(&sets);
        void += usize::from(components.contains(&0));
        known.expect("product", product, product_of(components));
        let set = some_tuples(&mut random);
        let node = known.node(set);
        let around = known.graphs.components(node);
        let around: Vec<Locals> = around.into_iter().map(|set| known.members(set)).collect();
        assert_eq!(around, projections(set), "{set:#x}");
    }
    assert!((20..150).contains(&void), "{void} products are empty");
}

#[test]
fn steps_lead_forwards_and_back() {
    let mut random = Random::new(3);
    let mut known = Known::new();
    let (mut images, mut preimages, mut idle) = (0, 0, 0);
    for _ in 0..400 {
        let steps = some_steps(&mut random);
        let moves = moves(&mut known, &steps);
        let (from, to) = (some_tuples(&mut random), some_tuples(&mut random));
        let (left, right) = (known.node(from), known.node(to));
        let image = known.graphs.image(left, &moves);
        let expected = bits(from).fold(0, |all, tuple| all | after(tuple, &steps));
        known.expect("image", image, expected);
        let preimage = known.graphs.preimage(left, right, &moves);
        let leading = bits(from).filter(|tuple| after(*tuple, &steps) & to != 0);
        let leading = leading.fold(0, |all, tuple| all | 1 << tuple);
        known.expect("preimage", preimage, leading);
        images += usize::from(expected != 0 && expected & !from != 0);
        preimages += usize::from(leading != 0 && leading != from);
        idle += usize::from(steps[THREADS - 1] == [0; 4] && expected != 0);
    }
    assert!(images >= 200, "{images} images with something new");
    assert!(preimages >= 100, "{preimages} preimages of a part");
    assert!(idle >= 30, "{idle} images by the first threads alone");
}

#[test]
fn tuples_with_a_local_state_of_a_kind() {
    let mut random = Random::new(4);
    let mut known = Known::new();
    let (mut some, mut none) = (0, 0);
    for _ in 0..300 {
        let set = some_tuples(&mut random);
        let node = known.node(set);
        let any = [0; THREADS].map(|_| some_locals(&mut random) & some_locals(&mut random));
        let sets = known.all_locals(any);
        let touching = known.graphs.touching(node, &sets);
        let touched = bits(set).filter(|tuple| {
            let digits = digits(*tuple);
            (0..THREADS).any(|k| any[k] >> digits[k] & 1 == 1)
        });
        let expected = touched.fold(0, |all, tuple| all | 1 << tuple);
        known.expect("touching", touching, expected);
        some += usize::from(expected != 0 && expected != set);
        none += usize::from(expected == 0 && set != 0);
    }
    assert!(some >= 100 && none >= 1, "{some} parts, {none} untouched");
}

/// The local states by which a thread's tuples are in a set, and those that it does not tell apart, by trying all.
fn essential_and_alike(
    set: Tuples,
    thread: usize,
    components: [Locals; THREADS],
) -> (Locals, BTreeSet<Locals>) {
    let contains = |tuple: usize| set >> tuple & 1 == 1;
    let mut essential = 0;
    let mut classes = BTreeSet::new();
    for local in bits(u64::from(components[thread])) {
        let mut class = 0;
        for other in bits(u64::from(components[thread])) {
            let mut differs = false;
            for tuple in (0..64).filter(|tuple| digits(*tuple)[thread] == local) {
                let (here, there) = (contains(tuple), contains(with(tuple, thread, other)));
                differs |= here != there;
                if here && !there {
                    essential |= 1 << local;
                }
            }
            if !differs {
                class |= 1 << other;
            }
        }
        classes.insert(class);
    }
    (essential, classes)
}

#[test]
fn what_makes_a_tuple_an_error() {
    let mut random = Random::new(5);
    let mut known = Known::new();
    let (mut not_all, mut grouped) = (0, 0);
    for _ in 0..400 {
        let components = [0; THREADS].map(|_| some_locals(&mut random));
        let set = some_tuples(&mut random) & product_of(components);
        let node = known.node(set);
        let sets = known.all_locals(components);
        let (essential, classes) = known.graphs.essentials(node, &sets);
        for thread in 0..THREADS {
            let (expected, alike) = essential_and_alike(set, thread, components);
            let found = known.members(essential[thread]);
            assert_eq!(found, expected, "{set:#x}, thread {thread}");
            let found = classes[thread].iter().map(|class| known.members(*class));
            let found: BTreeSet<Locals> = found.filter(|class| *class != 0).collect();
            assert_eq!(found, alike, "{set:#x}, thread {thread}");
            not_all += usize::from(expected != 0 && expected != components[thread]);
            grouped += usize::from(
                set != 0 && alike.len() > 1 && alike.iter().any(|class| class.count_ones() > 1),
            );
        }
    }
    assert!(not_all >= 100, "{not_all} essential parts");
    assert!(grouped >= 100, "{grouped} partitions that are not trivial");
}

#[test]
fn sets_are_widened_by_classes() {
    let mut random = Random::new(6);
    let mut known = Known::new();
    let mut wider = 0;
    for _ in 0..300 {
        let set = some_tuples(&mut random);
        let node = known.node(set);
        // Two classes of each thread's local states; one more local state is in neither.
        let classes = [0; THREADS].map(|_| {
            let both = some_locals(&mut random);
            let one = both & some_locals(&mut random);
            [one, both & !one]
        });
        let sets = classes.map(|classes| classes.map(|class| known.locals(class)).to_vec());
        let widened = known.graphs.widened(node, &sets);
        let alike = |thread: usize, a: usize, b: usize| {
            let mut classes = classes[thread].iter();
            a == b || classes.any(|class| class >> a & class >> b & 1 == 1)
        };
        let stands_for = |a: usize, b: usize| {
            let (a, b) = (digits(a), digits(b));
            (0..THREADS).all(|k| alike(k, a[k], b[k]))
        };
        let expected = (0..64).filter(|a| bits(set).any(|b| stands_for(*a, b)));
        let expected = expected.fold(0, |all: Tuples, tuple| all | 1 << tuple);
        known.expect("widened", widened, expected);
        wider += usize::from(expected != set);
    }
    assert!(wider >= 150, "{wider} sets became wider");
}

/// The maximal products within a set, by trying all products.
fn maximal_products(
    set: Tuples,
    products: &BTreeMap<[Locals; THREADS], Tuples>,
) -> Vec<[Locals; THREADS]> {
    let within = |components: &[Locals; THREADS]| products[components] & !set == 0;
    let maximal = |components: &[Locals; THREADS]| {
        (0..THREADS).all(|thread| {
            bits(u64::from(!components[thread] & 15)).all(|local| {
                let mut larger = *components;
                larger[thread] |= 1 << local;
                !within(&larger)
            })
        })
    };
    let nonempty = products.iter().filter(|(_, tuples)| **tuples != 0);
    let components = nonempty.map(|(components, _)| *components);
    components.filter(|c| within(c) && maximal(c)).collect()
}

/// Malkis, Podelski and Rybalchenko, Proposition 8: the least product around a product without exceptions, read from the
/// maximal products of the exceptions. A component loses what it has of a maximal product that contains all the other components.
#[test]
fn the_best_abstraction_is_that_of_maximal_products() {
    let mut products = BTreeMap::new();
    for number in 0..16 * 16 * 16 {
        let components =
            [number / 256, number / 16 % 16, number % 16].map(|digit: u16| digit as Locals);
        products.insert(components, product_of(components));
    }
    let mut random = Random::new(8);
    let mut known = Known::new();
    let (mut cases, mut empty, mut smaller, mut several) = (0, 0, 0, 0);
    while cases < 500 {
        let mut exceptions = 0;
        for _ in 0..1 + random.below(3) {
            let wide = |random: &mut Random| some_locals(random) | some_locals(random);
            exceptions |= product_of([0; THREADS].map(|_| wide(&mut random)));
        }
        let components = [0; THREADS].map(|_| some_locals(&mut random));
        if components.contains(&0) {
            continue;
        }
        cases += 1;
        let maximal = maximal_products(exceptions, &products);
        let mut expected = components;
        for product in &maximal {
            let mut outside = (0..THREADS).filter(|k| components[*k] & !product[*k] != 0);
            match (outside.next(), outside.next()) {
                (None, _) => expected = [0; THREADS],
                (Some(k), None) => expected[k] &= !product[k],
                _ => {}
            }
        }
        let node = known.node(exceptions);
        let sets = known.all_locals(components);
        let product = known.graphs.product(&sets);
        let rest = known.graphs.minus(product, node);
        let found = known.graphs.components(rest);
        let found: Vec<Locals> = found.into_iter().map(|set| known.members(set)).collect();
        assert_eq!(found, expected, "{components:?} without {exceptions:#x}");
        empty += usize::from(expected == [0; THREADS]);
        smaller += usize::from(expected != components && expected != [0; THREADS]);
        several += usize::from(maximal.len() > 3);
    }
    assert!(empty >= 20, "{empty} products are exceptions altogether");
    assert!(smaller >= 50, "{smaller} products lose local states");
    assert!(
        several >= 50,
        "{several} times more maximal products than products"
    );
}
