//! Texts say what formulas say: they are read back and compared at random values.

use super::*;
use crate::scope::{Place, Var};

const PROGRAM: &str = "
    param N = 5 where N >= 3;
    enum Phase { calm, busy, over }
    shared x, y: int = 0;
    shared flag, event: bool = false;
    shared phase, other_phase: Phase = calm;
    shared tail, head: P? = none;
    shared m: mutex;
    shared a: array[P] of int = 0;
    shared on: array[Phase] of bool = false;
    process P[i: 3..N] {
        local v: int = 0;
        local old: bool = false;
        first: v := x;
        second: lock m;
        third: unlock m;
    }
    process Q {
        local w: int = 0;
        first: w := x;
        last: skip;
    }
    invariant any: x == x;
";

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn between(&mut self, lo: i64, hi: i64) -> i64 {
        lo + self.below((hi - lo + 1) as u64) as i64
    }

    fn atom(&mut self, variables: &[Variable]) -> Atom {
        let many = [1, 1, 2, 2, 2, 3, 4][self.below(7) as usize];
        let terms: Vec<(Variable, i64)> = (0..many)
            .map(|_| {
                let factor = [-2, -1, -1, 1, 1, 2][self.below(6) as usize];
                (
                    variables[self.below(variables.len() as u64) as usize],
                    factor,
                )
            })
            .collect();
        Atom::at_most_zero(terms, self.between(-3, 3)).unwrap()
    }

    fn formula(&mut self, variables: &[Variable], depth: u32) -> Linear {
        let atom = self.atom(variables);
        let side = |by: i64| {
            let terms = atom.terms.iter().map(|(v, factor)| (*v, -factor));
            Atom::at_most_zero(terms.collect::<Vec<_>>(), by - atom.constant).unwrap()
        };
        match self.below(if depth == 0 { 5 } else { 8 }) {
            0..=1 => Linear::Atom(atom),
            2..=3 => Linear::And(vec![Linear::Atom(side(0)), Linear::Atom(atom)]),
            4 => Linear::Or(vec![Linear::Atom(side(2)), Linear::Atom(atom)]),
            kind => {
                let members = (0..2 + self.below(2)).map(|_| self.formula(variables, depth - 1));
                match kind {
                    5 => Linear::all(members),
                    _ => Linear::any(members),
                }
            }
        }
    }
}

/// What a text says, given the values of all that it can name.
struct Evaluator<'a> {
    text: &'a str,
    names: &'a [(String, i64)],
}

impl Evaluator<'_> {
    fn accept(&mut self, sign: &str) -> bool {
        self.text = self.text.trim_start();
        match self.text.strip_prefix(sign) {
            Some(rest) => {
                self.text = rest;
                true
            }
            None => false,
        }
    }

    fn expression(&mut self) -> i64 {
        let left = self.implication();
        match self.accept("<->") {
            true => i64::from((left != 0) == (self.implication() != 0)),
            false => left,
        }
    }

    fn implication(&mut self) -> i64 {
        let left = self.disjunction();
        match self.accept("->") {
            true => {
                let right = self.implication();
                i64::from(left == 0 || right != 0)
            }
            false => left,
        }
    }

    fn disjunction(&mut self) -> i64 {
        let mut value = self.conjunction();
        while self.accept("||") {
            let other = self.conjunction();
            value = i64::from(value != 0 || other != 0);
        }
        value
    }

    fn conjunction(&mut self) -> i64 {
        let mut value = self.comparison();
        while self.accept("&&") {
            let other = self.comparison();
            value = i64::from(value != 0 && other != 0);
        }
        value
    }

    fn comparison(&mut self) -> i64 {
        let left = self.sum();
        if self.text.trim_start().starts_with("<->") {
            return left;
        }
        let compare: fn(&i64, &i64) -> bool = if self.accept("==") {
            i64::eq
        } else if self.accept("!=") {
            i64::ne
        } else if self.accept("<=") {
            i64::le
        } else if self.accept(">=") {
            i64::ge
        } else if self.accept("<") {
            i64::lt
        } else if self.accept(">") {
            i64::gt
        } else {
            return left;
        };
        i64::from(compare(&left, &self.sum()))
    }

    fn sum(&mut self) -> i64 {
        let mut value = self.product();
        loop {
            if self.text.trim_start().starts_with("->") {
                return value;
            }
            if self.accept("+") {
                value += self.product();
            } else if self.accept("-") {
                value -= self.product();
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> i64 {
        let value = self.factor();
        match self.accept("*") {
            true => value * self.factor(),
            false => value,
        }
    }

    fn factor(&mut self) -> i64 {
        if self.accept("!") {
            return i64::from(self.factor() == 0);
        }
        if self.accept("-") {
            return -self.factor();
        }
        if self.accept("(") {
            let value = self.expression();
            assert!(self.accept(")"), "{}", self.text);
            return value;
        }
        self.text = self.text.trim_start();
        for (name, value) in self.names {
            if self.accept(name) {
                return *value;
            }
        }
        let digits = self.text.len()
            - self
                .text
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let (number, rest) = self.text.split_at(digits);
        self.text = rest;
        number
            .parse()
            .unwrap_or_else(|_| panic!("no number at {rest}"))
    }
}

fn value(formula: &Linear, of: &dyn Fn(Variable) -> i64) -> bool {
    match formula {
        Linear::Atom(atom) => {
            let terms = atom.terms.iter();
            terms.map(|(v, factor)| factor * of(*v)).sum::<i64>() + atom.constant <= 0
        }
        Linear::And(members) => members.iter().all(|member| value(member, of)),
        Linear::Or(members) => members.iter().any(|member| value(member, of)),
    }
}

/// Values of the variables of two processes of `P` with different ids, which counters and types allow.
fn values(
    random: &mut Random,
    family: &Family,
    table: &Table,
    variables: &[Variable],
) -> HashMap<Variable, i64> {
    let ids = [[0, 1], [2, 0], [1, 2]][random.below(3) as usize];
    let single = random.below(3) as usize;
    let program = family.program();
    let mut values = HashMap::new();
    for variable in variables {
        let name = table.name(family, *variable);
        let value = match table.var(*variable) {
            Var::Param(_) => random.between(5, 6),
            Var::Id(reference) => ids[*reference as usize],
            Var::Counter(template, location) if program.templates[*template].name == "Q" => {
                i64::from(location.index() == single)
            }
            Var::Counter(..) => random.between(1, 3),
            Var::Counted(..) => random.between(0, 1),
            _ => match name.split(['[', '.']).next_back().unwrap_or_default() {
                _ if name.starts_with("on") => random.between(0, 1),
                "flag" | "event" | "old" => random.between(0, 1),
                "phase" | "other_phase" => random.between(0, 2),
                "tail" | "head" => random.between(-1, 2),
                // Free, or held: the code is twice the number, and one more for `Q`.
                "m" => [-1, 0, 1, 2, 4][random.below(5) as usize],
                _ => random.between(-2, 3),
            },
        };
        values.insert(*variable, value);
    }
    values
}

/// What a text can name, with values; longer names first.
fn names(words: &mut Words, table: &Table, values: &HashMap<Variable, i64>) -> Vec<(String, i64)> {
    let mut names: Vec<(String, i64)> = [("true", 1), ("false", 0), ("none", 2)]
        .into_iter()
        .chain([("calm", 0), ("busy", 1), ("over", 2)])
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    for (variable, value) in values {
        match table.var(*variable) {
            Var::Counter(template, location) => {
                names.push((words.number(*template, *location), *value));
                if let Some(Expression::Comparison(text)) = words.truth(*variable) {
                    names.push((text, *value));
                }
            }
            Var::Counted(number, template, location, _) => {
                let all = values
                    .iter()
                    .find(|(v, _)| *table.var(**v) == Var::Counter(*template, *location))
                    .map_or(0, |(_, value)| *value);
                for (holds, value) in [(true, *value), (false, all - value)] {
                    let text = words.counted(*number, *template, *location, holds);
                    names.push((text.unwrap(), value));
                }
            }
            _ => {
                let name = words.name(*variable).unwrap();
                if name == "m" {
                    names.push(("locked(m)".to_owned(), i64::from(*value >= 0)));
                    for (number, holder) in [(0, "P[3]"), (1, "Q"), (2, "P[4]"), (4, "P[5]")] {
                        names.push((format!("{holder} holds m"), i64::from(*value == number)));
                    }
                    continue;
                }
                // Ids are numbered from 3 on.
                let id = matches!(table.var(*variable), Var::Id(_))
                    || ["tail", "head"].contains(&name.as_str());
                if let Var::Id(reference) = table.var(*variable) {
                    let process = words.process(*reference).unwrap();
                    let mutex = values
                        .iter()
                        .find(|(v, _)| words.name(**v).as_deref() == Some("m"));
                    let holds = mutex.is_some_and(|(_, m)| *m == 2 * value);
                    names.push((format!("{process} holds m"), i64::from(holds)));
                }
                names.push((name, if id { value + 3 } else { *value }));
            }
        }
    }
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    names
}

#[test]
fn texts_say_what_formulas_say() {
    let program = Arc::new(threadwise_lang::check(PROGRAM).program.unwrap());
    let family = Family::new(program, &BTreeMap::new()).unwrap();
    let mut random = Random(1);
    let (mut said, mut unsaid) = (0, 0);
    let mut signs = BTreeSet::new();
    for arity in 0..=2 {
        let template = TemplateId::from_usize(0);
        let location = family.templates[template].entry;
        let references = vec![Reference { template, location }; arity];
        let view = View { references };
        let mut table = Table::default();
        let local = table.number(Var::Local(0, template, 0.into(), Vec::new()));
        let shared = table.number(Var::Shared(0.into(), Vec::new()));
        let entry = table.number(Var::Shared(9.into(), vec![Place::Reference(0)]));
        let counted = [vec![(local, 1), (shared, -1)], vec![(entry, -1)]].map(|terms| Counted {
            template,
            predicate: Atom::at_most_zero(terms, 1).unwrap(),
        });
        let ghosts = Ghosts {
            counted: counted.into(),
            ..Ghosts::default()
        };
        let variables = view_variables(&family, &mut table, &ghosts, &view, true);
        let lowest = lowest_ids(&family, &mut table).unwrap();
        let writer = Writer {
            family: &family,
            table: &table,
            ghosts: &ghosts,
            lowest: &lowest,
            letters: letters(&family),
        };
        for _ in 0..6_000 {
            let formula = random.formula(&variables, 1);
            let mut words = writer.words(&view.references);
            let Some(text) = words.formula(&formula) else {
                unsaid += 1;
                continue;
            };
            said += 1;
            signs.append(&mut words.signs);
            let text = text.to_string();
            for _ in 0..5 {
                let values = values(&mut random, &family, &table, &variables);
                let names = names(&mut words, &table, &values);
                let mut evaluator = Evaluator {
                    text: &text,
                    names: &names,
                };
                let told = evaluator.expression() != 0;
                assert_eq!(evaluator.text.trim(), "", "{text}");
                let holds = value(&formula, &|variable| values[&variable]);
                assert_eq!(told, holds, "{text}: {formula:?} at {names:?}");
            }
        }
    }
    println!("{said} said, {unsaid} not");
    assert!(said > 2 * unsaid, "{said} said, {unsaid} not");
    assert!(signs.is_superset(&BTreeSet::from([
        Sign::Number,
        Sign::NumberOf,
        Sign::Counted,
        Sign::CountedByName,
        Sign::Truth,
        Sign::Order,
    ])));
}

#[test]
fn pairs_that_never_meet_are_said_once() {
    let at = |number: usize| LocationId::from_usize(number);
    let never = |pairs: &[(usize, usize)]| -> BTreeSet<(LocationId, LocationId)> {
        pairs.iter().map(|(a, b)| (at(*a), at(*b))).collect()
    };
    let clique = never(&[(1, 1), (1, 2), (2, 2)]);
    let both = vec![at(1), at(2)];
    assert_eq!(exclusions(&clique, true), [(both.clone(), both)]);
    // A star: what the centre says, the rays need not say again.
    let star = never(&[(0, 1), (0, 2), (0, 3)]);
    let rays = vec![at(1), at(2), at(3)];
    assert_eq!(exclusions(&star, true), [(vec![at(0)], rays.clone())]);
    assert_eq!(exclusions(&star, false), [(vec![at(0)], rays)]);
    // Between different templates the sides do not change places.
    let path = never(&[(0, 1), (1, 0)]);
    assert_eq!(exclusions(&path, false).len(), 2);
    assert_eq!(exclusions(&path, true).len(), 1);
}
