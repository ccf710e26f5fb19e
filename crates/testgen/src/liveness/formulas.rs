//! Formulas and runs to try translations of formulas on: random ones, and those of the literature.

use threadwise_lang::program::CompareOp;
use threadwise_model::lower::lower;
use threadwise_model::system::{Expr, SystemPropertyKind};
use threadwise_model::temporal::Formula;

use crate::random::Random;

/// A run without end over atoms with numbers: bit k of a position is the value of atom k there.
#[derive(Clone, Debug)]
pub struct Word {
    /// The positions. After the last it goes on from `loop_from`.
    pub positions: Vec<u32>,
    /// Where the loop begins.
    pub loop_from: usize,
}

impl Word {
    /// A random run over so many atoms, of at most so many positions.
    pub fn random(random: &mut Random, atoms: usize, most: usize) -> Word {
        let length = 1 + random.below(most);
        let mask = (1 << atoms) - 1;
        // Runs of little variety meet more of `G` and `U` than wholly random ones.
        let steady = random.percent(40);
        let mut positions: Vec<u32> = Vec::new();
        for _ in 0..length {
            let new = random.bits() as u32 & mask;
            positions.push(match positions.last() {
                Some(last) if steady => last ^ (new & random.bits() as u32 & random.bits() as u32),
                _ => new,
            });
        }
        Word {
            loop_from: random.below(length),
            positions,
        }
    }

    /// The value of an atom at a position.
    pub fn value(&self, atom: usize, position: usize) -> bool {
        self.positions[position] >> atom & 1 == 1
    }

    /// Whether a formula holds on it, by the direct meaning of formulas.
    pub fn satisfies(&self, formula: &Formula<usize>) -> bool {
        formula.holds(self.positions.len(), self.loop_from, &mut |atom, at| {
            self.value(*atom, at)
        })
    }
}

/// A random formula with so many operators over so many atoms.
pub fn random_formula(random: &mut Random, atoms: usize, operators: usize) -> Formula<usize> {
    if operators == 0 {
        return match random.below(20) {
            0 => Formula::TRUE,
            1 => Formula::FALSE,
            _ => Formula::Atom(random.below(atoms)),
        };
    }
    let left = operators - 1;
    let here = random.below(left + 1);
    let one = |random: &mut Random| Box::new(random_formula(random, atoms, left));
    match random.below(10) {
        0 | 1 => Formula::Not(one(random)),
        2 => Formula::Next(one(random)),
        3 => random_formula(random, atoms, left).always(),
        4 => random_formula(random, atoms, left).eventually(),
        kind => {
            let f = random_formula(random, atoms, here);
            let g = random_formula(random, atoms, left - here);
            match kind {
                5 => Formula::And(vec![f, g]),
                6 => Formula::Or(vec![f, g]),
                7 | 8 => Formula::Until(Box::new(f), Box::new(g)),
                _ => Formula::Release(Box::new(f), Box::new(g)),
            }
        }
    }
}

/// The atoms of [`PATTERNS`], by number.
const ATOMS: [&str; 9] = ["p", "q", "r", "s", "t", "u", "v", "y", "z"];

/// Formulas of the literature, with where they are from.
pub const PATTERNS: &[(&str, &[&str])] = &[
    // M. Dwyer, G. Avrunin and J. Corbett, Property specification patterns for finite-state verification (FMSP 1998): for each pattern
    // globally, before r, after q, between q and r, after q until r.
    (
        "Dwyer, Avrunin and Corbett",
        &[
            // Absence.
            "G !p",
            "F r -> (!p U r)",
            "G (q -> G !p)",
            "G ((q && !r && F r) -> (!p U r))",
            "G (q && !r -> (!p W r))",
            // Existence.
            "F p",
            "!r W (p && !r)",
            "G !q || F (q && F p)",
            "G (q && !r -> (!r W (p && !r)))",
            "G (q && !r -> (!r U (p && !r)))",
            // Bounded existence.
            "!p W (p W (!p W (p W G !p)))",
            "F r -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U (r || (!p U r)))))))))",
            "F q -> (!q U (q && (!p W (p W (!p W (p W G !p))))))",
            "G ((q && F r) -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U (r || (!p U r))))))))))",
            "G (q -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U (r || (!p W r) || G p)))))))))",
            // Universality.
            "G p",
            "F r -> (p U r)",
            "G (q -> G p)",
            "G ((q && !r && F r) -> (p U r))",
            "G (q && !r -> (p W r))",
            // Precedence.
            "!p W s",
            "F r -> (!p U (s || r))",
            "G !q || F (q && (!p W s))",
            "G ((q && !r && F r) -> (!p U (s || r)))",
            "G (q && !r -> (!p W (s || r)))",
            // Response.
            "G (p -> F s)",
            "F r -> ((p -> (!r U (s && !r))) U r)",
            "G (q -> G (p -> F s))",
            "G ((q && !r && F r) -> ((p -> (!r U (s && !r))) U r))",
            "G (q && !r -> ((p -> (!r U (s && !r))) W r))",
            // Precedence chains.
            "F p -> (!p U (s && !p && X (!p U t)))",
            "F r -> (!p U (r || (s && !p && X (!p U t))))",
            "G !q || (!q U (q && (F p -> (!p U (s && !p && X (!p U t))))))",
            "G ((q && F r) -> (!p U (r || (s && !p && X (!p U t)))))",
            "G (q -> (F p -> (!p U (r || (s && !p && X (!p U t))))))",
            "F (s && X F t) -> (!s U p)",
            "F r -> (!(s && !r && X (!r U (t && !r))) U (r || p))",
            "G !q || (!q U (q && (F (s && X F t) -> (!s U p))))",
            "G ((q && F r) -> (!(s && !r && X (!r U (t && !r))) U (r || p)))",
            "G (q -> ((!(s && !r && X (!r U (t && !r))) U (r || p)) || G !(s && X F t)))",
            // Response chains.
            "G (s && X F t -> X F (t && F p))",
            "F r -> ((s && X (!r U t) -> X (!r U (t && F p))) U r)",
            "G (q -> G (s && X F t -> X (!t U (t && F p))))",
            "G ((q && F r) -> ((s && X (!r U t) -> X (!r U (t && F p))) U r))",
            "G (q -> ((s && X (!r U t) -> X (!r U (t && F p))) U (r || G (s && X (!r U t) -> X (!r U (t && F p))))))",
            "G (p -> F (s && X F t))",
            "F r -> ((p -> (!r U (s && !r && X (!r U t)))) U r)",
            "G (q -> G (p -> (s && X F t)))",
            "G ((q && F r) -> ((p -> (!r U (s && !r && X (!r U t)))) U r))",
            "G (q -> ((p -> (!r U (s && !r && X (!r U t)))) U (r || G (p -> (s && X F t)))))",
            // Constrained chains.
            "G (p -> F (s && !z && X (!z U t)))",
            "F r -> ((p -> (!r U (s && !r && !z && X ((!r && !z) U t)))) U r)",
            "G (q -> G (p -> (s && !z && X (!z U t))))",
            "G ((q && F r) -> ((p -> (!r U (s && !r && !z && X ((!r && !z) U t)))) U r))",
            "G (q -> ((p -> (!r U (s && !r && !z && X ((!r && !z) U t)))) U (r || G (p -> (s && !z && X (!z U t))))))",
        ],
    ),
    // K. Etessami and G. Holzmann, Optimizing Büchi automata (CONCUR 2000).
    (
        "Etessami and Holzmann",
        &[
            "p U (q && G r)",
            "p U (q && X (r U s))",
            "p U (q && X (r && F (s && X F (t && X F (u && X F v)))))",
            "F (p && X G q)",
            "F (p && X (q && X F r))",
            "F (q && X (p U r))",
            "F G q || G F p",
            "G (p -> (q U r))",
            "G (p && X F (q && X F (r && X F s)))",
            "G F p && G F q && G F r && G F s && G F t",
            "(p U (q U r)) || (q U (r U p)) || (r U (p U q))",
            "G (p -> (q U (G r || G s)))",
        ],
    ),
    // F. Somenzi and R. Bloem, Efficient Büchi automata from LTL formulae (CAV 2000).
    (
        "Somenzi and Bloem",
        &[
            "p U q",
            "p U (q U r)",
            "!(p U (q U r))",
            "G F p -> G F q",
            "F p U G q",
            "G p U q",
            "!(F F p <-> F p)",
            "!(G F p -> G F q)",
            "!(G F p <-> G F q)",
            "p R (p || q)",
            "(X p U X q) || !X (p U q)",
            "(X p U q) || !X (p U (p && q))",
            "G (p -> F q) && ((X p U q) || !X (p U (p && q)))",
            "G (p -> F q) && ((X p U X q) || !X (p U q))",
            "G (p -> F q)",
            "!G (p -> X (q R r))",
            "!(G F p || F G q)",
            "G (F p && F q)",
            "F p && F !p",
            "(X q && r) R X (((s U p) R r) U (s R r))",
            "(G (q || G F p) && G (r || G F !p)) || G q || G r",
            "(G (q || F G p) && G (r || F G !p)) || G q || G r",
            "!((G (q || G F p) && G (r || G F !p)) || G q || G r)",
            "!((G (q || F G p) && G (r || F G !p)) || G q || G r)",
            "G (q || X G p) && G (r || X G !p)",
            "G (q || (X p && X !p))",
            "(p U p) || (q U p)",
        ],
    ),
];

fn sources() -> impl Iterator<Item = &'static str> {
    PATTERNS.iter().flat_map(|(_, all)| *all).copied()
}

/// A model that has [`PATTERNS`] as its liveness properties, `f0` and so on.
pub fn patterns_model() -> String {
    let mut text = format!("shared {}: bool = any;\n", ATOMS.join(", "));
    text.push_str("process P { only: skip; }\n");
    for (number, source) in sources().enumerate() {
        text.push_str(&format!("liveness f{number}: {source};\n"));
    }
    text
}

/// [`PATTERNS`] as formulas over numbered atoms, read by the front end, with their texts.
pub fn patterns() -> Result<Vec<(&'static str, Formula<usize>)>, String> {
    let text = patterns_model();
    let instance = crate::instance(&text, &[])?;
    let system = lower(&instance, 1).map_err(|_| "not lowered")?;
    let mut formulas = Vec::new();
    for (source, property) in sources().zip(&system.properties[1..]) {
        let SystemPropertyKind::Liveness(liveness) = &property.kind else {
            return Err(format!("{source} is no liveness property"));
        };
        formulas.push((source, by_atoms(&liveness.formula)?));
    }
    Ok(formulas)
}

/// A formula whose predicates are combinations of shared variables, over these: atom k is the k-th variable.
fn by_atoms(formula: &Formula<Expr>) -> Result<Formula<usize>, String> {
    let many = |parts: &[Formula<Expr>]| parts.iter().map(by_atoms).collect::<Result<_, _>>();
    let one = |f: &Formula<Expr>| by_atoms(f).map(Box::new);
    Ok(match formula {
        Formula::Atom(expr) => predicate(expr)?,
        Formula::Not(f) => Formula::Not(one(f)?),
        Formula::And(parts) => Formula::And(many(parts)?),
        Formula::Or(parts) => Formula::Or(many(parts)?),
        Formula::Next(f) => Formula::Next(one(f)?),
        Formula::Until(f, g) => Formula::Until(one(f)?, one(g)?),
        Formula::Release(f, g) => Formula::Release(one(f)?, one(g)?),
    })
}

fn predicate(expr: &Expr) -> Result<Formula<usize>, String> {
    let many = |parts: &[Expr]| parts.iter().map(predicate).collect::<Result<_, _>>();
    let not = |f: &Formula<usize>| Formula::Not(Box::new(f.clone()));
    Ok(match expr {
        Expr::Const(0) => Formula::FALSE,
        Expr::Const(_) => Formula::TRUE,
        Expr::Load(place) => Formula::Atom(place.var.index()),
        Expr::Not(e) => Formula::Not(Box::new(predicate(e)?)),
        Expr::And(parts) => Formula::And(many(parts)?),
        Expr::Or(parts) => Formula::Or(many(parts)?),
        Expr::Compare(CompareOp::Eq, a, b) => {
            let (a, b) = (predicate(a)?, predicate(b)?);
            let both = Formula::And(vec![a.clone(), b.clone()]);
            Formula::Or(vec![both, Formula::And(vec![not(&a), not(&b)])])
        }
        other => return Err(format!("{other:?} is no combination of variables")),
    })
}
