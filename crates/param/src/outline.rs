//! A proof for all instances as a person would write it.
//!
//! The assertions are inequalities over numbers, in the notation of certificates. Here they are expressions of the language again: two opposite inequalities are an
//! equation, a number from 0 to 1 is a truth value, and `$0` is the process `P[i]`. Only `#l`, the number of processes at `l`, is not of the language. Every assertion
//! has its place: about no process in particular, about one at a label, or about two.

use std::collections::BTreeMap;

use threadwise_evidence::arithmetic::{Atom, Formula};
use threadwise_evidence::family::{FamilyClaim, Reference, ViewClaim};
use threadwise_evidence::{LabelOutline, OtherOutline, Outline, ProcessOutline};
use threadwise_lang::program::{
    EnumId, Instances, Program, Scalar, Template, TemplateId, Variable,
};

/// Names for processes, if those that the model uses are taken.
const NAMES: [&str; 8] = ["i", "j", "k", "m", "n", "p", "q", "r"];
/// What is said of the notation.
const COUNTS: &str = "#l is the number of processes at l; a truth value counts 1 if it is true";

/// What is said of a proof without assertions.
const NOTHING: &str = "Nothing has to be known for it: it follows from the text.";

/// The outline of a claim about a program.
pub(crate) fn outline(program: &Program, claim: &FamilyClaim) -> Outline {
    let mut outline = Outline {
        whole: true,
        ..Outline::default()
    };
    // By the templates of the references, with labels by their position in the program.
    let mut places: BTreeMap<Vec<TemplateId>, Vec<LabelOutline>> = BTreeMap::new();
    // By the templates and the label of the first: labels of the second, and what holds at all of them.
    let mut pairs: BTreeMap<(Vec<TemplateId>, String), Vec<LabelOutline>> = BTreeMap::new();
    for view in &claim.views {
        let Some(writer) = Writer::new(program, claim, &view.references) else {
            outline.whole = false;
            continue;
        };
        let facts = writer.facts(view);
        match view.references.as_slice() {
            [] => outline.always.extend(facts),
            [one] => places
                .entry(writer.templates())
                .or_default()
                .push(holding(one, facts)),
            [one, other] => {
                let place = (writer.templates(), one.location.clone());
                let pairs = pairs.entry(place).or_default();
                match pairs.iter_mut().find(|known| known.holds == facts) {
                    Some(known) => known.labels.push(other.location.clone()),
                    None => pairs.push(holding(other, facts)),
                }
            }
            _ => outline.whole = false,
        }
    }
    for ((templates, one), pairs) in pairs {
        let names = names(program, &templates);
        let other = &program.templates[templates[1]];
        let other = written(other, names[1].as_deref());
        let holds = pairs.into_iter().map(|second| {
            let at = match second.labels.as_slice() {
                [label] => label.clone(),
                labels => format!("{{{}}}", labels.join(", ")),
            };
            format!("{other} at {at} -> {}", second.holds.join(" && "))
        });
        let label = LabelOutline {
            labels: vec![one],
            holds: holds.collect(),
            omitted: None,
        };
        places.entry(templates).or_default().push(label);
    }
    for (templates, labels) in places {
        outline.processes.push(process(program, &templates, labels));
    }
    let labels = outline.processes.iter().flat_map(|process| &process.labels);
    let mut facts = labels.flat_map(|label| &label.holds).chain(&outline.always);
    if facts.clone().next().is_none() && outline.whole {
        outline.argument.push(NOTHING.to_owned());
    }
    let counts = facts.any(|fact| fact.contains('#'));
    outline.notation = counts.then(|| COUNTS.to_owned());
    outline
}

/// What holds while a process is where a reference says.
fn holding(reference: &Reference, holds: Vec<String>) -> LabelOutline {
    LabelOutline {
        labels: vec![reference.location.clone()],
        holds,
        omitted: None,
    }
}

/// What holds of one process, or of two.
fn process(
    program: &Program,
    templates: &[TemplateId],
    labels: Vec<LabelOutline>,
) -> ProcessOutline {
    let names = names(program, templates);
    let shown = |place: usize| {
        let template = &program.templates[templates[place]];
        let name = names[place].as_deref();
        let binder = name.map(|name| format!("{name} in {}", template.name));
        (written(template, name), binder)
    };
    let (process, binder) = shown(0);
    let other = (templates.len() > 1).then(|| {
        let (process, binder) = shown(1);
        let same = templates[0] == templates[1];
        let condition = match (&names[0], &names[1]) {
            (Some(one), Some(other)) if same => Some(format!("{other} != {one}")),
            _ => None,
        };
        OtherOutline {
            process,
            binder,
            among: Vec::new(),
            condition,
        }
    });
    ProcessOutline {
        process,
        binder,
        among: Vec::new(),
        other,
        labels: joined(&program.templates[templates[0]], labels),
    }
}

/// Labels at which the same holds, together; in the order of the text.
fn joined(template: &Template, mut labels: Vec<LabelOutline>) -> Vec<LabelOutline> {
    let place = |label: &LabelOutline| {
        let first = label.labels.first();
        let named = |name: &String| template.locations.iter().position(|l| l.name == *name);
        first.and_then(named)
    };
    labels.sort_by_key(place);
    let mut grouped: Vec<LabelOutline> = Vec::new();
    for label in labels {
        match grouped.iter_mut().find(|l| l.holds == label.holds) {
            Some(same) => same.labels.extend(label.labels),
            None => grouped.push(label),
        }
    }
    grouped
}

/// Names for the processes of these templates, as far as they have any: that of the text first.
fn names(program: &Program, templates: &[TemplateId]) -> Vec<Option<String>> {
    let mut taken: Vec<String> = Vec::new();
    taken.extend(program.params.iter().map(|param| param.name.clone()));
    taken.extend(program.shared.iter().map(|shared| shared.name.clone()));
    let mut names = Vec::new();
    for template in templates {
        let template = &program.templates[*template];
        if matches!(template.instances, Instances::Single) {
            names.push(None);
            continue;
        }
        let own = template.id_name.iter().map(String::as_str);
        let name = own
            .chain(NAMES)
            .find(|name| !taken.iter().any(|t| t == name));
        let name = name.map_or_else(|| format!("i{}", names.len()), str::to_owned);
        taken.push(name.clone());
        names.push(Some(name));
    }
    names
}

/// `P[i]`, or `Server`.
fn written(template: &Template, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{}[{name}]", template.name),
        None => template.name.clone(),
    }
}

/// What a number stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Integer,
    /// How many processes there are somewhere.
    Count,
    Truth,
    /// The number of a process, or -1 for none.
    Id,
    Member(EnumId),
}

/// Writes the assertions of a view.
struct Writer<'a> {
    program: &'a Program,
    claim: &'a FamilyClaim,
    references: Vec<(TemplateId, Option<String>)>,
}

impl<'a> Writer<'a> {
    fn new(
        program: &'a Program,
        claim: &'a FamilyClaim,
        references: &[Reference],
    ) -> Option<Writer<'a>> {
        let templates = references.iter().map(|r| template(program, &r.template));
        let templates: Vec<TemplateId> = templates.collect::<Option<_>>()?;
        let names = names(program, &templates);
        Some(Writer {
            program,
            claim,
            references: templates.into_iter().zip(names).collect(),
        })
    }

    fn templates(&self) -> Vec<TemplateId> {
        self.references
            .iter()
            .map(|(template, _)| *template)
            .collect()
    }

    fn process(&self, place: usize) -> String {
        match self.references.get(place) {
            Some((template, name)) => written(&self.program.templates[*template], name.as_deref()),
            None => format!("${place}"),
        }
    }

    fn facts(&self, view: &ViewClaim) -> Vec<String> {
        view.assertions.iter().map(|f| self.formula(f)).collect()
    }

    fn formula(&self, formula: &Formula) -> String {
        match formula {
            Formula::Atom(atom) => self.atom(atom),
            Formula::And(members) => match members.as_slice() {
                [] => "true".to_owned(),
                [Formula::Atom(one), Formula::Atom(other)] if opposite(one, other, 0) => {
                    self.compare(one, true)
                }
                members => {
                    let members = members.iter().map(|member| self.member(member));
                    members.collect::<Vec<_>>().join(" && ")
                }
            },
            Formula::Or(members) => match members.as_slice() {
                [] => "false".to_owned(),
                [Formula::Atom(one), Formula::Atom(other)] if opposite(one, other, 2) => {
                    self.differ(one)
                }
                members => {
                    let members = members.iter().map(|member| self.member(member));
                    members.collect::<Vec<_>>().join(" || ")
                }
            },
        }
    }

    /// A member of a conjunction or disjunction, in parentheses where there is something between its own members.
    fn member(&self, formula: &Formula) -> String {
        let written = self.formula(formula);
        match formula {
            Formula::Atom(_) => written,
            _ if written.contains("&&") || written.contains("||") => format!("({written})"),
            _ => written,
        }
    }

    /// An inequality, or what it says of a value that is no integer.
    fn atom(&self, atom: &Atom) -> String {
        if let [(variable, factor)] = atom.terms.as_slice()
            && let Some(written) = self.bound(*variable, *factor > 0, atom.constant)
        {
            return written;
        }
        self.compare(atom, false)
    }

    /// What it says of a single value that it is at most `-constant`, or at least `constant`, if that is better said otherwise.
    fn bound(&self, variable: u32, most: bool, constant: i64) -> Option<String> {
        let (name, sort) = self.variable(variable);
        match (sort, most, constant) {
            (Sort::Truth, true, 0) => Some(format!("!{name}")),
            (Sort::Truth, false, 1) => Some(name),
            (Sort::Count, true, 0) => Some(format!("{name} == 0")),
            (Sort::Id, true, 1) => Some(format!("{name} == none")),
            (Sort::Id, false, 0) => Some(format!("{name} != none")),
            (Sort::Member(id), _, _) => {
                let members = self.program.enums[id].members.iter().enumerate();
                let within = |position: i64| match most {
                    true => position <= -constant,
                    false => position >= constant,
                };
                let members = members.filter(|(position, _)| within(*position as i64));
                let members: Vec<String> = members.map(|(_, m)| format!("{name} == {m}")).collect();
                match members.as_slice() {
                    [] => None,
                    [one] => Some(one.clone()),
                    many => Some(format!("({})", many.join(" || "))),
                }
            }
            _ => None,
        }
    }

    /// That the two sides of an inequality are not equal; it is the strict one.
    fn differ(&self, atom: &Atom) -> String {
        let (left, right) = self.sides(&Atom {
            terms: atom.terms.clone(),
            constant: atom.constant - 1,
        });
        format!("{left} != {right}")
    }

    /// An inequality, or the equation of its sides.
    fn compare(&self, atom: &Atom, equal: bool) -> String {
        if let ([(variable, factor)], true) = (atom.terms.as_slice(), equal) {
            let (name, sort) = self.variable(*variable);
            let value = -atom.constant * factor;
            let member = |id: EnumId| {
                let members = &self.program.enums[id].members;
                members.get(usize::try_from(value).ok()?)
            };
            match (sort, value) {
                (Sort::Truth, 0) => return format!("!{name}"),
                (Sort::Truth, 1) => return name,
                (Sort::Id, -1) => return format!("{name} == none"),
                (Sort::Member(id), _) => {
                    if let Some(member) = member(id) {
                        return format!("{name} == {member}");
                    }
                }
                _ => {}
            }
        }
        if equal {
            // The first variable on the left.
            let terms = self.ordered(atom);
            let first = terms.first().is_some_and(|(_, factor)| *factor < 0);
            let turned = Atom {
                terms: atom.terms.iter().map(|(v, factor)| (*v, -factor)).collect(),
                constant: -atom.constant,
            };
            let (left, right) = self.sides(if first { &turned } else { atom });
            return format!("{left} == {right}");
        }
        // With a sum on both sides, `a + 1 <= b` is `a < b`.
        let both = atom.terms.iter().any(|(_, factor)| *factor > 0)
            && atom.terms.iter().any(|(_, factor)| *factor < 0);
        if both && atom.constant == 1 {
            let (left, right) = self.sides(&Atom {
                terms: atom.terms.clone(),
                constant: 0,
            });
            return format!("{left} < {right}");
        }
        if atom.terms.iter().all(|(_, factor)| *factor < 0) {
            let (_, sum) = self.sides(&Atom {
                terms: atom.terms.clone(),
                constant: 0,
            });
            return format!("{sum} >= {}", atom.constant);
        }
        let (left, right) = self.sides(atom);
        format!("{left} <= {right}")
    }

    /// The two sides of a sum that is compared with 0, each without minus.
    fn sides(&self, atom: &Atom) -> (String, String) {
        let mut sides = [Vec::new(), Vec::new()];
        for (variable, factor) in self.ordered(atom) {
            let (name, _) = self.variable(variable);
            let times = factor.unsigned_abs();
            sides[usize::from(factor < 0)].push(match times {
                1 => name,
                _ => format!("{times} * {name}"),
            });
        }
        let [mut left, mut right] = sides;
        let constant = atom.constant.unsigned_abs().to_string();
        if atom.constant < 0 {
            right.push(constant);
        } else if right.is_empty() {
            // What is left for the right side is a number.
            let sum = left.join(" + ");
            return (sum, (-atom.constant).to_string());
        } else if atom.constant > 0 {
            left.push(constant);
        }
        let side = |terms: Vec<String>| match terms.is_empty() {
            true => "0".to_owned(),
            false => terms.join(" + "),
        };
        (side(left), side(right))
    }

    /// The terms of a sum, what is counted last.
    fn ordered(&self, atom: &Atom) -> Vec<(u32, i64)> {
        let mut terms = atom.terms.clone();
        terms.sort_by_key(|(variable, _)| self.variable(*variable).1 == Sort::Count);
        terms
    }

    /// A variable in terms of the source, and what it stands for.
    fn variable(&self, variable: u32) -> (String, Sort) {
        let Some(name) = self.claim.variables.get(variable as usize) else {
            return (format!("?{variable}"), Sort::Integer);
        };
        if let Some(count) = name.strip_prefix('#') {
            return (self.count(count), Sort::Count);
        }
        if let Some(rest) = name.strip_prefix('$') {
            let (place, local) = rest.split_once('.').unwrap_or((rest, ""));
            let place: usize = place.parse().unwrap_or(usize::MAX);
            let Some((template, own)) = self.references.get(place) else {
                return (name.clone(), Sort::Integer);
            };
            if local.is_empty() {
                return (own.clone().unwrap_or_else(|| name.clone()), Sort::Id);
            }
            let locals = &self.program.templates[*template].locals;
            let sort = sort_of(locals.iter(), local);
            return (
                format!("{}.{}", self.process(place), self.named(local)),
                sort,
            );
        }
        (self.named(name), sort_of(self.program.shared.iter(), name))
    }

    /// A name with the references in its indices as processes.
    fn named(&self, name: &str) -> String {
        let mut name = name.to_owned();
        for (place, (_, own)) in self.references.iter().enumerate() {
            if let Some(own) = own {
                name = name.replace(&format!("[${place}]"), &format!("[{own}]"));
            }
        }
        name
    }

    /// How many processes are at a label, from `P.l`, or of how many of them a predicate holds, from `P.l[0]`.
    fn count(&self, name: &str) -> String {
        let (place, predicate) = match name.split_once('[') {
            Some((place, rest)) => (place, rest.strip_suffix(']')),
            None => (name, None),
        };
        let (of, label) = place.split_once('.').unwrap_or((place, ""));
        let counted = predicate.and_then(|p| self.claim.counted.get(p.parse::<usize>().ok()?));
        if let (Some(counted), Some(id)) = (counted, template(self.program, of)) {
            // Its name is none of those around it.
            let all: Vec<TemplateId> = self.templates().into_iter().chain([id]).collect();
            let name = names(self.program, &all).pop().flatten();
            let one = Writer {
                program: self.program,
                claim: self.claim,
                references: vec![(id, name.clone())],
            };
            let (process, holds) = (one.process(0), one.member(&counted.predicate));
            let name = name.unwrap_or_default();
            return format!("(count {name} in {of}: {process} at {label} && {holds})");
        }
        let templates = self.program.templates.iter();
        let owners = templates.filter(|t| t.locations.iter().any(|l| l.name == label));
        match owners.count() {
            1 => format!("#{label}"),
            _ => format!("#{of}.{label}"),
        }
    }
}

/// Whether two inequalities have opposite terms, and constants with this sum.
fn opposite(one: &Atom, other: &Atom, sum: i64) -> bool {
    let negated = one
        .terms
        .iter()
        .map(|(variable, factor)| (*variable, -factor));
    negated.eq(other.terms.iter().copied()) && one.constant + other.constant == sum
}

fn template(program: &Program, name: &str) -> Option<TemplateId> {
    let mut templates = program.templates.iter_enumerated();
    templates.find(|(_, t)| t.name == name).map(|(id, _)| id)
}

/// What a cell of a variable stands for.
fn sort_of<'a>(mut variables: impl Iterator<Item = &'a Variable>, cell: &str) -> Sort {
    let name = cell.split('[').next().unwrap_or(cell);
    match variables.find(|variable| variable.name == name) {
        Some(variable) => match variable.scalar {
            Scalar::Bool => Sort::Truth,
            Scalar::Id(_) | Scalar::OptId(_) => Sort::Id,
            Scalar::Enum(id) => Sort::Member(id),
            Scalar::Int | Scalar::Range(..) | Scalar::Mutex => Sort::Integer,
        },
        None => Sort::Integer,
    }
}

#[cfg(test)]
mod tests {
    use threadwise_evidence::family::CountedPredicate;

    use super::*;

    const TEXT: &str = "
        param N = 2 where N >= 2;
        enum Phase { low, high }
        shared x: int = 0; shared free: bool = true; shared last: P? = none; shared ph: Phase = low;
        shared a: array[P] of int = 0;
        process P[i: 1..N] { local v: int = 0; idle: skip; busy: skip; }
        process Server { idle: skip; }
    ";

    struct Test {
        program: Program,
        claim: FamilyClaim,
    }

    impl Test {
        fn new() -> Test {
            let program = threadwise_lang::check(TEXT).program.unwrap();
            Test {
                program,
                claim: FamilyClaim::default(),
            }
        }

        /// The sum of these and a constant is at most 0.
        fn atom(&mut self, terms: &[(&str, i64)], constant: i64) -> Formula {
            let terms: Vec<(u32, i64)> = terms
                .iter()
                .map(|(name, factor)| {
                    let known = self.claim.variables.iter().position(|known| known == name);
                    let place = known.unwrap_or_else(|| {
                        self.claim.variables.push((*name).to_owned());
                        self.claim.variables.len() - 1
                    });
                    (place as u32, *factor)
                })
                .collect();
            Formula::Atom(Atom::at_most_zero(terms, constant).unwrap())
        }

        fn both(&mut self, terms: &[(&str, i64)], constant: i64) -> Formula {
            let turned: Vec<(&str, i64)> = terms.iter().map(|(n, f)| (*n, -f)).collect();
            let one = self.atom(terms, constant);
            let other = self.atom(&turned, -constant);
            Formula::And(vec![one, other])
        }

        fn view(&mut self, references: &[(&str, &str)], assertions: Vec<Formula>) {
            let references = references.iter().map(|(template, location)| Reference {
                template: (*template).to_owned(),
                location: (*location).to_owned(),
            });
            self.claim.views.push(ViewClaim {
                references: references.collect(),
                assertions,
            });
        }

        fn lines(&self) -> String {
            outline(&self.program, &self.claim).lines().join("\n")
        }
    }

    #[test]
    fn assertions_are_told_in_terms_of_the_source() {
        let mut test = Test::new();
        let always = vec![
            test.both(&[("x", 1), ("#P.busy", -1)], 0),
            test.both(&[("free", 1), ("#P.busy", 1), ("#Server.idle", 2)], -1),
            test.atom(&[("x", 1), ("N", -1)], 1),
            test.atom(&[("x", -1)], 0),
            test.atom(&[("#P.idle", 1)], 0),
            test.atom(&[("last", 1)], 1),
            test.both(&[("ph", 1)], -1),
        ];
        test.view(&[], always);
        let own = vec![
            test.both(&[("last", 1), ("$0", -1)], 0),
            test.atom(&[("free", 1)], 0),
            test.atom(&[("a[$0]", -1), ("$0.v", 1)], 0),
        ];
        test.view(&[("P", "busy")], own.clone());
        test.view(&[("P", "idle")], own);
        let (less, more) = (
            test.atom(&[("$0", 1), ("$1", -1)], 1),
            test.atom(&[("$0", -1), ("$1", 1)], 1),
        );
        let differ = Formula::Or(vec![less, more]);
        test.view(&[("P", "busy"), ("P", "idle")], vec![differ.clone()]);
        test.view(&[("P", "busy"), ("P", "busy")], vec![differ]);
        assert_eq!(
            test.lines(),
            "\
(#l is the number of processes at l; a truth value counts 1 if it is true)
Always
  x == #busy
  free + #busy + 2 * #Server.idle == 1
  x < N
  x >= 0
  #P.idle == 0
  last == none
  ph == high
P[i], for every i in P
  at idle, busy  last == i && !free && P[i].v <= a[i]
P[i], for every i in P, and every P[j] with j != i
  P[i] at busy  P[j] at {idle, busy} -> i != j
That is the whole invariant: it holds at the beginning, every step keeps it, and it implies the property."
        );
    }

    #[test]
    fn counted_predicates_are_counts() {
        let mut test = Test::new();
        let predicate = test.atom(&[("$0.v", -1), ("x", 1)], 0);
        test.claim.counted.push(CountedPredicate {
            template: "P".to_owned(),
            predicate,
        });
        let one = test.atom(&[("#P.busy[0]", -1)], 1);
        let other = test.atom(&[("x", 1)], -3);
        test.view(&[], vec![Formula::Or(vec![one, other])]);
        let lines = test.lines();
        let fact = "(count i in P: P[i] at busy && x <= P[i].v) >= 1 || x <= 3";
        assert!(lines.contains(fact), "{lines}");
        test.claim.views[0].references.push(Reference {
            template: "P".to_owned(),
            location: "idle".to_owned(),
        });
        let lines = test.lines();
        let fact = "(count j in P: P[j] at busy && x <= P[j].v) >= 1 || x <= 3";
        assert!(lines.contains(fact), "{lines}");
    }

    #[test]
    fn a_proof_without_assertions_says_so() {
        let lines = Test::new().lines();
        assert_eq!(lines, NOTHING);
    }
}
