//! Excluded situations in the words of the model: what never holds of any few processes, all different.

use threadwise_evidence::family::{Excluded, Fact, FamilyClaim};
use threadwise_evidence::{Expression, Outline};
use threadwise_lang::program::{Program, Scalar, TemplateId};
use threadwise_model::family::{Family, Term};

use super::letters;
use super::words::process;
use crate::scope::single;

/// What is excluded, as an outline; nothing if it is not about the family.
pub(super) fn outline(family: &Family, claim: &FamilyClaim) -> Option<Outline> {
    let excluded = claim.excluded.as_ref()?;
    let letters = letters(family);
    let mut outline = Outline {
        whole: true,
        ..Outline::default()
    };
    for situation in excluded {
        outline.always.push(never(family, &letters, situation)?);
    }
    // Situations of one process are easier to read than those of several.
    outline
        .always
        .sort_by_key(|text| (text.matches(" in ").count(), text.len()));
    for queue in claim.arrivals.iter().flat_map(|arrivals| &arrivals.0) {
        let one = process(
            family,
            family
                .templates
                .iter_enumerated()
                .find(|(_, template)| template.name == queue.template)?
                .0,
            "i",
        );
        let defined = format!(
            "An auxiliary order: from when {one} comes to {{{}}} until it leaves them, it is after whoever was there.",
            queue.labels.join(", ")
        );
        outline.argument.push(defined);
    }
    if excluded.is_empty() {
        let nothing = "No invariant is needed.";
        outline.argument.push(nothing.to_owned());
    }
    Some(outline)
}

/// A reference: its template, and what it is called.
struct Called {
    template: TemplateId,
    id: String,
    process: String,
}

/// The processes of a situation.
fn called(family: &Family, letters: &[String], excluded: &Excluded) -> Option<Vec<Called>> {
    let mut names = letters.iter();
    let mut called: Vec<Called> = Vec::new();
    for name in &excluded.references {
        let mut templates = family.templates.iter_enumerated();
        let (template, _) = templates.find(|(_, template)| template.name == *name)?;
        let id = match single(family, template) {
            true => name.clone(),
            false => names
                .next()
                .cloned()
                .unwrap_or_else(|| format!("i{}", called.len())),
        };
        let process = process(family, template, &id);
        called.push(Called {
            template,
            id,
            process,
        });
    }
    Some(called)
}

/// A situation, fact by fact.
pub(super) fn situation(family: &Family, excluded: &Excluded) -> Option<String> {
    let called = called(family, &letters(family), excluded)?;
    let facts = excluded.facts.iter();
    let facts = facts.map(|fact| Some(words(family, &called, fact)?.to_string()));
    Some(facts.collect::<Option<Vec<String>>>()?.join(", "))
}

fn never(family: &Family, letters: &[String], excluded: &Excluded) -> Option<String> {
    let called = called(family, letters, excluded)?;
    let facts = excluded
        .facts
        .iter()
        .map(|fact| words(family, &called, fact));
    let facts: Vec<Expression> = facts.collect::<Option<_>>()?;
    let never = Expression::Not(Box::new(Expression::and(facts)));
    let open = called.iter().filter(|one| !single(family, one.template));
    let open: Vec<&Called> = open
        .filter(|one| mentions(&never.to_string(), &one.id))
        .collect();
    if open.is_empty() {
        return Some(never.to_string());
    }
    let each = open
        .iter()
        .map(|one| format!("{} in {}", one.id, family.templates[one.template].name));
    let each: Vec<String> = each.collect();
    let mut different = Vec::new();
    for (position, one) in open.iter().enumerate() {
        let alike = open[..position]
            .iter()
            .filter(|other| other.template == one.template);
        different.extend(
            alike.map(|other| Expression::Comparison(format!("{} != {}", other.id, one.id))),
        );
    }
    let body = match different.is_empty() {
        true => never,
        false => Expression::Implies(Box::new(Expression::and(different)), Box::new(never)),
    };
    Some(format!("forall {}: {body}", each.join(", ")))
}

fn mentions(text: &str, name: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word == name)
}

fn comparison(text: String) -> Expression {
    Expression::Comparison(text)
}

fn not(it: Expression) -> Expression {
    Expression::Not(Box::new(it))
}

fn words(family: &Family, called: &[Called], fact: &Fact) -> Option<Expression> {
    Some(match fact {
        Fact::At { reference, labels } => {
            let process = &called.get(*reference)?.process;
            comparison(match labels.as_slice() {
                [label] => format!("{process} at {label}"),
                labels => format!("{process} at {{{}}}", labels.join(", ")),
            })
        }
        Fact::Value { cell, values } => value(family.program(), called, cell, values)?,
        Fact::Id {
            cell,
            none,
            references,
            other,
        } => {
            let named = Named {
                scalar: scalar(family.program(), called, cell)?,
                text: in_words(called, cell)?,
            };
            named.among(called, *none, references, *other)
        }
        Fact::Before { first, second } => comparison(format!(
            "{} < {}",
            called.get(*first)?.id,
            called.get(*second)?.id
        )),
        Fact::Came {
            first,
            second,
            before,
            after,
            apart,
        } => came(
            called.get(*first)?,
            called.get(*second)?,
            (*before, *after, *apart),
        ),
        Fact::Beside {
            reference,
            forward,
            references,
            other,
        } => {
            let way = if *forward { "next" } else { "prev" };
            beside(called, called.get(*reference)?, way, references, *other)
        }
        Fact::First { reference, holds } => {
            let one = called.get(*reference)?;
            let Term::Number(lowest) = family.templates[one.template].lowest_id else {
                return None;
            };
            let sign = if *holds { "==" } else { "!=" };
            comparison(format!("{} {sign} {lowest}", one.id))
        }
        Fact::Last { reference, holds } => {
            let one = called.get(*reference)?;
            let template = &family.templates[one.template].name;
            let all = format!("forall x in {template}: x <= {}", one.id);
            let last = Expression::Atom(format!("({all})"));
            if *holds { last } else { not(last) }
        }
    })
}

/// Which values a cell has.
fn value(program: &Program, called: &[Called], cell: &str, values: &[i64]) -> Option<Expression> {
    let scalar = scalar(program, called, cell)?;
    let cell = in_words(called, cell)?;
    let each = values.iter().map(|value| match scalar {
        Scalar::Bool if *value == 0 => not(Expression::Atom(cell.clone())),
        Scalar::Bool => Expression::Atom(cell.clone()),
        Scalar::Enum(id) => {
            let members = &program.enums[*id].members;
            let member = usize::try_from(*value)
                .ok()
                .and_then(|value| members.get(value));
            comparison(format!("{cell} == {}", member.map_or("?", String::as_str)))
        }
        _ => comparison(format!("{cell} == {value}")),
    });
    Some(Expression::or(each.collect()))
}

/// A cell that names a process, or a mutex that one may hold.
struct Named<'p> {
    scalar: &'p Scalar,
    text: String,
}

impl Named<'_> {
    /// That it names one of these references, or nobody; or, with `other`, somebody else.
    fn among(
        &self,
        called: &[Called],
        none: bool,
        references: &[usize],
        other: bool,
    ) -> Expression {
        let all = called.iter().enumerate();
        let all = all.filter(|(who, one)| self.fits(one) && references.contains(who) != other);
        let each = all.map(|(_, one)| self.is(one, !other));
        if other {
            let optional = !matches!(self.scalar, Scalar::Id(_));
            let held = (optional && !none).then(|| self.nobody(false));
            Expression::and(held.into_iter().chain(each).collect())
        } else {
            let free = none.then(|| self.nobody(true));
            Expression::or(free.into_iter().chain(each).collect())
        }
    }

    fn fits(&self, one: &Called) -> bool {
        match self.scalar {
            Scalar::Id(template) | Scalar::OptId(template) => one.template == *template,
            _ => true,
        }
    }

    fn is(&self, one: &Called, equal: bool) -> Expression {
        let text = &self.text;
        match self.scalar {
            Scalar::Mutex => {
                let holds = comparison(format!("{} holds {text}", one.process));
                if equal { holds } else { not(holds) }
            }
            _ => {
                let sign = if equal { "==" } else { "!=" };
                comparison(format!("{text} {sign} {}", one.id))
            }
        }
    }

    fn nobody(&self, equal: bool) -> Expression {
        let text = &self.text;
        match (self.scalar, equal) {
            (Scalar::Mutex, true) => not(Expression::Atom(format!("locked({text})"))),
            (Scalar::Mutex, false) => Expression::Atom(format!("locked({text})")),
            (_, true) => comparison(format!("{text} == none")),
            (_, false) => comparison(format!("{text} != none")),
        }
    }
}

/// Who of two came first, as far as it is known: the one, the other, or not both came.
fn came(one: &Called, other: &Called, known: (bool, bool, bool)) -> Expression {
    let before = |a: &Called, b: &Called| comparison(format!("{} before {}", a.process, b.process));
    let (one_first, other_first) = (before(one, other), before(other, one));
    match known {
        (true, true, true) => Expression::and(Vec::new()),
        (true, true, false) => Expression::or(vec![one_first, other_first]),
        (true, false, true) => not(other_first),
        (false, true, true) => not(one_first),
        (true, false, false) => one_first,
        (false, true, false) => other_first,
        (false, false, true) => Expression::and(vec![not(one_first), not(other_first)]),
        (false, false, false) => Expression::or(Vec::new()),
    }
}

/// Who is next to `one` on the ring: one of these references, or, with `other`, somebody else.
fn beside(
    called: &[Called],
    one: &Called,
    way: &str,
    references: &[usize],
    other: bool,
) -> Expression {
    let sign = if other { "!=" } else { "==" };
    let all = called.iter().enumerate();
    let all =
        all.filter(|(who, of)| of.template == one.template && references.contains(who) != other);
    let each = all.map(|(_, of)| comparison(format!("{way}({}) {sign} {}", one.id, of.id)));
    if other {
        Expression::and(each.collect())
    } else {
        Expression::or(each.collect())
    }
}

/// The type of a cell.
fn scalar<'p>(program: &'p Program, called: &[Called], cell: &str) -> Option<&'p Scalar> {
    let name = |text: &str| text.split('[').next().unwrap_or_default().to_owned();
    match cell.strip_prefix('$') {
        None => program
            .shared
            .iter()
            .find(|variable| variable.name == name(cell))
            .map(|variable| &variable.scalar),
        Some(rest) => {
            let (reference, local) = rest.split_once('.')?;
            let template = called.get(reference.parse::<usize>().ok()?)?.template;
            let mut locals = program.templates[template].locals.iter();
            locals
                .find(|variable| variable.name == name(local))
                .map(|variable| &variable.scalar)
        }
    }
}

/// A cell with the names of processes in it.
fn in_words(called: &[Called], cell: &str) -> Option<String> {
    let mut text = cell.to_owned();
    for (who, one) in called.iter().enumerate() {
        text = text.replace(&format!("[${who}]"), &format!("[{}]", one.id));
        if let Some(rest) = text.strip_prefix(&format!("${who}.")) {
            text = format!("{}.{rest}", one.process);
        }
    }
    (!text.contains('$')).then_some(text)
}
