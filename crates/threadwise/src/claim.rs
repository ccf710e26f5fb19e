//! What a claim is about: every value that `where` allows, of the parameters that were given none. And at which instances it is looked at where no proof for all of them is found.
//!
//! A claim about finitely many instances can be decided one instance after the other. Whether they are finitely many is read off `where`, as intervals of the parameters: these contain every value that is
//! allowed, so a claim that is called finite is, and the instances below are all that it has. One that is called infinite may be finite all the same; then it is not proved that way.
//!
//! Of any other claim a number of instances is looked at, the smallest first, the one with the default values among them.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::{ArithOp, CompareOp, Expr, ExprKind, Program};
use threadwise_model::instance::Instance;
use threadwise_param::small::{self, Reach};

use crate::session::values_of;
use crate::setting::Values;

/// Instances that a finite claim may have at most.
const MOST_INSTANCES: usize = 64;
/// Combinations of values that are tried for that.
const MOST_COMBINATIONS: i128 = 10_000;

/// What is to be decided about the values of parameters.
#[derive(Debug)]
pub(crate) struct Claim {
    /// Parameters without a value, in the order of the program.
    pub(crate) open: Vec<String>,
    /// All instances that the claim is about, the smallest first, if these are few.
    pub(crate) all: Option<Vec<Values>>,
    /// The instance with the default values, if there is one.
    pub(crate) default: Option<Values>,
}

impl Claim {
    /// The claim of a program with these values of some parameters.
    pub(crate) fn new(program: &Arc<Program>, given: &Values) -> Claim {
        let open = program.params.iter();
        let open = open.filter(|param| given.get(&param.name).is_none());
        let default = Instance::new(Arc::clone(program), &given.map()).ok();
        Claim {
            open: open.map(|param| param.name.clone()).collect(),
            all: all(program, given),
            default: default.as_ref().map(values_of),
        }
    }

    /// Whether the claim is about the values that were given, and no others.
    pub(crate) fn is_instance(&self) -> bool {
        self.open.is_empty()
    }

    /// The instances to look at, the smallest first: all of a finite claim, and small ones and the default otherwise.
    pub(crate) fn instances(&self, program: &Arc<Program>, given: &Values) -> Vec<Values> {
        if let Some(all) = &self.all {
            return all.clone();
        }
        let fixed = given.map();
        let small = [Reach::Small, Reach::Larger].into_iter();
        let mut found: Vec<Instance> = small
            .flat_map(|reach| small::instances(program, &fixed, reach))
            .collect();
        if let Some(default) = &self.default
            && let Ok(default) = Instance::new(Arc::clone(program), &default.map())
        {
            found.push(default);
        }
        in_order(found, &self.open)
    }
}

/// Values of instances, the smallest first: those with the least values of these parameters together, then those with the fewest processes. Each once.
fn in_order(mut instances: Vec<Instance>, open: &[String]) -> Vec<Values> {
    instances.sort_by_cached_key(|instance| {
        let values = values_of(instance);
        let size = values.0.iter().filter(|(name, _)| open.contains(name));
        let size = size.fold(0u64, |sum, (_, value)| {
            sum.saturating_add(value.unsigned_abs())
        });
        (size, processes(instance), values)
    });
    let mut values: Vec<Values> = instances.iter().map(values_of).collect();
    values.dedup();
    values
}

/// How many processes an instance begins with.
pub(crate) fn processes(instance: &Instance) -> u32 {
    let templates = instance.program().templates.indices();
    templates.map(|template| instance.count(template)).sum()
}

/// Every instance that has the given values, the smallest first, if there are only a few. Values that `where` allows, and that have no instance, are a reason to say that this is not known.
fn all(program: &Arc<Program>, given: &Values) -> Option<Vec<Values>> {
    let mut combinations = vec![given.map()];
    for (param, bounds) in program.params.iter().zip(Bounds::of(program, given).params) {
        if given.get(&param.name).is_some() {
            continue;
        }
        let (low, high) = (bounds.low?, bounds.high?);
        let count = (high - low + 1).max(0) * combinations.len() as i128;
        if count > MOST_COMBINATIONS {
            return None;
        }
        let values = (low..=high).filter_map(|value| i64::try_from(value).ok());
        let values: Vec<i64> = values.collect();
        let with = |(known, value): (&BTreeMap<String, i64>, i64)| {
            let mut known = known.clone();
            known.insert(param.name.clone(), value);
            known
        };
        let pairs = |known| values.iter().map(move |value| (known, *value));
        combinations = combinations.iter().flat_map(pairs).map(with).collect();
    }
    let excluded = |all: &[Diagnostic]| {
        let none = [Code::WhereViolated, Code::NoInitialState];
        all.iter().all(|d| none.contains(&d.code))
    };
    let mut instances = Vec::new();
    for values in combinations {
        match Instance::new(Arc::clone(program), &values) {
            Ok(instance) => instances.push(instance),
            Err(diagnostics) if excluded(&diagnostics) => {}
            Err(_) => return None,
        }
        if instances.len() > MOST_INSTANCES {
            return None;
        }
    }
    let names = program.params.iter().map(|param| param.name.clone());
    let values = in_order(instances, &names.collect::<Vec<_>>());
    (!values.is_empty()).then_some(values)
}

/// Values between these, as far as they are bounded. What does not fit into 128 bits is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Interval {
    low: Option<i128>,
    high: Option<i128>,
}

impl Interval {
    fn point(value: i64) -> Interval {
        let value = Some(i128::from(value));
        Interval {
            low: value,
            high: value,
        }
    }

    fn plus(self, other: Interval) -> Interval {
        let add = |one: Option<i128>, other: Option<i128>| one?.checked_add(other?);
        Interval {
            low: add(self.low, other.low),
            high: add(self.high, other.high),
        }
    }

    fn negated(self) -> Interval {
        Interval {
            low: self.high.and_then(i128::checked_neg),
            high: self.low.and_then(i128::checked_neg),
        }
    }

    fn meet(self, other: Interval) -> Interval {
        let greater = |one: i128, other: i128| one.max(other);
        let less = |one: i128, other: i128| one.min(other);
        let both = |one: Option<i128>, other: Option<i128>, choose: fn(i128, i128) -> i128| match (
            one, other,
        ) {
            (Some(one), Some(other)) => Some(choose(one, other)),
            (one, other) => one.or(other),
        };
        Interval {
            low: both(self.low, other.low, greater),
            high: both(self.high, other.high, less),
        }
    }

    fn join(self, other: Interval) -> Interval {
        let both = |one: Option<i128>, other: Option<i128>| one.zip(other);
        Interval {
            low: both(self.low, other.low).map(|(one, other)| one.min(other)),
            high: both(self.high, other.high).map(|(one, other)| one.max(other)),
        }
    }
}

/// What `where` says of single parameters. Never excludes a value that is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bounds {
    params: Vec<Interval>,
}

impl Bounds {
    fn of(program: &Program, given: &Values) -> Bounds {
        let params = program.params.iter();
        let params = params.map(|param| given.get(&param.name).map(Interval::point));
        let mut bounds = Bounds {
            params: params.map(Option::unwrap_or_default).collect(),
        };
        // What is learnt of one parameter may bound another, and that the next.
        for _ in 0..program.params.len() {
            for constraint in program.params.iter().filter_map(|p| p.constraint.as_ref()) {
                bounds.learn(constraint);
            }
        }
        bounds
    }

    /// Whether no values are left.
    fn is_empty(&self) -> bool {
        let mut params = self.params.iter();
        params.any(|bounds| {
            bounds
                .low
                .zip(bounds.high)
                .is_some_and(|(low, high)| low > high)
        })
    }

    /// Takes in what is said to be true.
    fn learn(&mut self, constraint: &Expr) {
        match &constraint.kind {
            ExprKind::And(members) => members.iter().for_each(|member| self.learn(member)),
            ExprKind::Or(members) => {
                let each = members.iter().map(|member| {
                    let mut bounds = self.clone();
                    bounds.learn(member);
                    bounds
                });
                // A member that nothing fulfils allows nothing.
                let joined = each
                    .filter(|bounds| !bounds.is_empty())
                    .reduce(|one, other| Bounds {
                        params: (one.params.into_iter().zip(other.params))
                            .map(|(one, other)| one.join(other))
                            .collect(),
                    });
                if let Some(joined) = joined {
                    *self = joined;
                }
            }
            ExprKind::Compare(op, left, right) => {
                self.compare(*op, left, right);
                self.compare(op.mirrored(), right, left);
            }
            _ => {}
        }
    }

    /// What a comparison says of a parameter on its left.
    fn compare(&mut self, op: CompareOp, left: &Expr, right: &Expr) {
        let ExprKind::Param(param) = left.kind else {
            return;
        };
        let Interval { low, high } = self.value(right);
        let (above, below) = (
            low.and_then(|low| low.checked_add(1)),
            high.and_then(|high| high.checked_sub(1)),
        );
        let (low, high) = match op {
            CompareOp::Eq => (low, high),
            CompareOp::Ge => (low, None),
            CompareOp::Gt => (above, None),
            CompareOp::Le => (None, high),
            CompareOp::Lt => (None, below),
            CompareOp::Ne => (None, None),
        };
        let known = &mut self.params[param.index()];
        *known = known.meet(Interval { low, high });
    }

    fn value(&self, expr: &Expr) -> Interval {
        match &expr.kind {
            ExprKind::Int(value) => Interval::point(*value),
            ExprKind::Param(param) => self.params[param.index()],
            ExprKind::Neg(expr) => self.value(expr).negated(),
            ExprKind::Arith(ArithOp::Add, left, right) => self.value(left).plus(self.value(right)),
            ExprKind::Arith(ArithOp::Sub, left, right) => {
                self.value(left).plus(self.value(right).negated())
            }
            _ => Interval::default(),
        }
    }
}

/// Instances in a few words: `N=2..6, 8` for one parameter, `N=1..3, M=0..2` for all combinations of several, and otherwise one after the other.
pub(crate) fn listed(instances: &[Values]) -> String {
    /// More than this many are counted.
    const LISTED: usize = 12;
    let mut values: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for (name, value) in instances.iter().flat_map(|values| &values.0) {
        let known = values.entry(name).or_default();
        if !known.contains(value) {
            known.push(*value);
        }
    }
    let combinations = values.values().map(Vec::len).product::<usize>();
    if combinations == instances.len() {
        let names = instances.first().map_or(&[][..], |values| &values.0);
        let each = names.iter().map(|(name, _)| {
            let mut values = values[name.as_str()].clone();
            values.sort_unstable();
            format!("{name}={}", ranges(&values))
        });
        return each.collect::<Vec<_>>().join(", ");
    }
    let shown = instances.iter().take(LISTED).map(Values::to_string);
    let mut text = shown.collect::<Vec<_>>().join("; ");
    if instances.len() > LISTED {
        text.push_str(&format!(" and {} more", instances.len() - LISTED));
    }
    text
}

/// Numbers in ascending order, those that follow each other as ranges: `2..6, 8`.
fn ranges(values: &[i64]) -> String {
    let follows = |one: &i64, next: &i64| one.checked_add(1) == Some(*next);
    let parts = values.chunk_by(follows).map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}..{last}"),
        [] => String::new(),
    });
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(params: &str) -> Arc<Program> {
        let text = format!("{params} process P[i: 1..N] {{ a: skip; }}");
        let checked = threadwise_lang::check(&text);
        let program = checked.program;
        Arc::new(program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics)))
    }

    fn values(list: &[(&str, i64)]) -> Values {
        let pairs = list
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value));
        Values(pairs.collect())
    }

    fn finite(params: &str, given: &[(&str, i64)]) -> Option<String> {
        let claim = Claim::new(&program(params), &values(given));
        claim.all.map(|all| listed(&all))
    }

    #[test]
    fn finite_claims_are_known_by_where() {
        let said = |params: &str| finite(params, &[]);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(said("param N = 2 where N == 2;"), some("N=2"));
        assert_eq!(said("param N = 3 where 2 <= N && 5 > N;"), some("N=2..4"));
        assert_eq!(
            said("param N = 3 where N >= 1 && N < 9 && N != 4;"),
            some("N=1..3, 5..8")
        );
        assert_eq!(
            said("param N = 3 where N == 3 || N == 5 || N == 6;"),
            some("N=3, 5..6")
        );
        assert_eq!(
            said("param N = 2 where N >= 1; param M = 2 where N + M == 4 && M >= 1;"),
            // N is bounded by nothing that is an interval of M alone.
            None
        );
        assert_eq!(
            said("param N = 2 where N >= 1 && N < M; param M = 3 where M <= 3;"),
            some("N=1, M=2; N=1, M=3; N=2, M=3")
        );
        assert_eq!(said("param N = 2 where N >= 2;"), None);
        assert_eq!(said("param N = 2;"), None);
        assert_eq!(said("param N = 2 where N == 2 || N >= 7;"), None);
        assert_eq!(said("param N = 2 where N * N == 4;"), None);
        // As many as that are not gone through.
        assert_eq!(said("param N = 2 where N >= 1 && N <= 65;"), None);
        assert_eq!(
            said("param N = 2 where N >= 1 && N <= 64;"),
            some("N=1..64")
        );
        // There are as many processes as the range has values; but a variable has one.
        let some_or_none = "param N = 2 where N >= -1 && N <= 2;";
        assert_eq!(said(some_or_none), some("N=-1..2"));
        let variable = format!("{some_or_none} shared x: 0..N = 0;");
        assert_eq!(said(&variable), None);
    }

    #[test]
    fn what_is_given_bounds_the_rest() {
        let two = "param N = 2 where N >= 1; param M = 1 where M >= 0 && M <= N;";
        assert_eq!(finite(two, &[]), None);
        assert_eq!(finite(two, &[("N", 2)]), Some("N=2, M=0..2".to_owned()));
        assert_eq!(finite(two, &[("M", 2)]), None);
        assert_eq!(
            finite(two, &[("N", 3), ("M", 1)]),
            Some("N=3, M=1".to_owned())
        );
        assert!(Claim::new(&program(two), &values(&[("N", 3), ("M", 1)])).is_instance());
    }

    #[test]
    fn no_value_that_is_allowed_is_left_out_of_a_finite_claim() {
        // Every constraint that can be made of a few pieces, against its evaluation.
        let atoms = [
            "N <= 3",
            "N == M",
            "M < 4",
            "N >= -1",
            "N - 1 > M",
            "0 <= M",
            "M != 2",
            "-N >= -2",
        ];
        let mut finite = 0;
        for one in atoms {
            for two in atoms {
                for three in atoms {
                    for shape in [
                        format!("{one} && {two} && {three}"),
                        format!("{one} && ({two} || {three})"),
                        format!("({one} || {two}) && {three} && N > -2 && M > -2"),
                    ] {
                        let text =
                            format!("param N where {shape}; param M; process P {{ a: skip; }}");
                        let program = threadwise_lang::check(&text).program.unwrap();
                        let program = Arc::new(program);
                        let Some(all) = all(&program, &Values::default()) else {
                            continue;
                        };
                        finite += 1;
                        for n in -4..=8 {
                            for m in -4..=8 {
                                let values = values(&[("N", n), ("M", m)]);
                                let allowed =
                                    Instance::new(Arc::clone(&program), &values.map()).is_ok();
                                assert_eq!(all.contains(&values), allowed, "{shape}: {values}");
                            }
                        }
                    }
                }
            }
        }
        assert!(finite > 30, "{finite}");
    }

    #[test]
    fn instances_come_smallest_first_with_the_default() {
        let one = program("param N = 20 where N >= 2;");
        let claim = Claim::new(&one, &Values::default());
        let instances = claim.instances(&one, &Values::default());
        assert_eq!(listed(&instances), "N=2..12, 20");
        assert!(claim.default == Some(values(&[("N", 20)])) && !claim.is_instance());
    }

    #[test]
    fn instances_are_listed_in_a_few_words() {
        let n = |list: &[i64]| -> Vec<Values> {
            list.iter().map(|value| values(&[("N", *value)])).collect()
        };
        assert_eq!(listed(&n(&[4])), "N=4");
        assert_eq!(listed(&n(&[2, 3, 4, 7, 9, 10])), "N=2..4, 7, 9..10");
        let two = |list: &[(i64, i64)]| -> Vec<Values> {
            let each = list.iter().map(|(n, m)| values(&[("N", *n), ("M", *m)]));
            each.collect()
        };
        assert_eq!(
            listed(&two(&[(1, 1), (2, 1), (1, 2), (2, 2)])),
            "N=1..2, M=1..2"
        );
        assert_eq!(listed(&two(&[(1, 1), (2, 2)])), "N=1, M=1; N=2, M=2");
    }
}
