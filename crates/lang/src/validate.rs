//! Whether a program is one: everything that the rest of threadwise relies on, and that the checker sees to in programs that are read from a text.
//!
//! Front ends build programs without the checker, so this is what stands between their mistakes and a wrong verdict. It knows no text: it asks of each node what its ids
//! stand for, what its type must be by its parts (so that every coercion is there), and whether what it says may be said where it stands. The control flow is judged by
//! the checker's own analyses. What it accepts can be printed, and the checker accepts the text.

mod body;
mod expressions;

use std::collections::BTreeSet;

use index_vec::IndexVec;

use crate::check::{MAX_BOUND, literal};
use crate::program::*;

/// What a program breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Rule {
    /// An id stands for something.
    #[error("an id stands for nothing")]
    Id,
    /// Names are words of the language that mean nothing else, and are declared once.
    #[error("a name is declared twice, or cannot be a name")]
    Name,
    /// An expression has the type that its parts give, and stands where one of this type is expected: every coercion is explicit.
    #[error("an expression has another type than is expected here")]
    Type,
    /// Numbers are ids only of ordered templates, or constants in properties.
    #[error("a number and an id of an unordered template are mixed")]
    Order,
    /// Bounds, defaults and initial values are constant.
    #[error("a value is not constant")]
    Constant,
    /// A bound variable is used inside what binds it, and bound once; the own id and locals, inside their template.
    #[error("a variable is used outside of its scope, or bound twice")]
    Scope,
    /// Only properties speak of other processes, and only fairness and liveness of steps.
    #[error("this cannot be said here")]
    Site,
    /// A cell has one index for each dimension.
    #[error("a variable has another number of indices")]
    Indices,
    /// What is written is a variable of the right kind, and no cell twice.
    #[error("this cannot be written")]
    Write,
    /// Labels stand once, outside of steps, and jumps lead to them.
    #[error("a label is missing, stands twice, or stands inside of one step")]
    Label,
    /// A process begins at a label, loops pass one, and only the beginning of a step may wait.
    #[error("the control flow is no sequence of steps")]
    Flow,
    /// `break` stands in a loop, and a loop's counter belongs to it.
    #[error("a loop is not formed as one")]
    Loop,
    /// Definitions do not lead back to themselves.
    #[error("a definition leads back to itself")]
    Recursion,
    /// Nothing is nested too deeply.
    #[error("something is nested too deeply")]
    Depth,
    /// Lists have as many members as they must, templates and processes what they need.
    #[error("something is missing, or too much")]
    Form,
    /// A constant fits the range that it is stored in.
    #[error("a constant does not fit its range")]
    Range,
}

/// What is wrong with a program, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}")]
pub struct Invalid {
    /// The rule that is broken.
    pub rule: Rule,
    /// The place of the part that breaks it.
    pub span: Span,
}

type Valid<T = ()> = Result<T, Invalid>;

fn ensure(holds: bool, rule: Rule, span: Span) -> Valid {
    match holds {
        true => Ok(()),
        false => Err(Invalid { rule, span }),
    }
}

/// Says whether a program is one, or the first thing that is wrong with it.
pub fn validate(program: &Program) -> Valid {
    let mut validator = Validator {
        program,
        domains: program.bounds.iter().map(|_| None).collect(),
        bound: program.bounds.iter().map(|_| Binding::None).collect(),
        facts: IndexVec::new(),
        depth: 0,
    };
    validator.names()?;
    validator.declarations()?;
    validator.definitions()?;
    for id in program.templates.indices() {
        validator.template(id)?;
    }
    validator.properties()
}

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    Constant,
    Initial(Option<TemplateId>),
    Program(TemplateId),
    Def,
    Property,
    Fairness,
}

/// What became of a bound variable so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binding {
    None,
    InScope,
    Over,
}

/// What a definition says.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    /// Something that only properties may say.
    property: bool,
    /// Something that only fairness and liveness may say.
    fairness: bool,
    /// How deep it is, with the definitions it calls.
    height: usize,
}

struct Validator<'p> {
    program: &'p Program,
    domains: IndexVec<BoundId, Option<Domain>>,
    bound: IndexVec<BoundId, Binding>,
    /// Of the definitions that were looked at.
    facts: IndexVec<DefId, Facts>,
    depth: usize,
}

impl Validator<'_> {
    /// Names of declarations: words that mean nothing else.
    fn names(&self) -> Valid {
        let program = self.program;
        let mut global: BTreeSet<&str> = BTreeSet::new();
        let params = program.params.iter().map(|p| (&p.name, p.span));
        let enums = program.enums.iter().map(|e| (&e.name, e.span));
        let members = program.enums.iter();
        let members = members.flat_map(|e| e.members.iter().map(|name| (name, e.span)));
        let shared = program.shared.iter().map(|v| (&v.name, v.span));
        let templates = program.templates.iter().map(|t| (&t.name, t.span));
        let defs = program.defs.iter().map(|d| (&d.name, d.span));
        for (name, span) in shared {
            let fresh = is_part(name) && global.insert(name);
            ensure(fresh, Rule::Name, span)?;
        }
        let all = params.chain(enums).chain(members);
        for (name, span) in all.chain(templates).chain(defs) {
            let fresh = is_name(name) && global.insert(name);
            ensure(fresh, Rule::Name, span)?;
        }
        for def in &program.defs {
            // A call of it would be one of the built-in function.
            let called = !crate::built_in().contains(&def.name.as_str());
            ensure(called, Rule::Name, def.span)?;
        }
        for template in &program.templates {
            let mut own = global.clone();
            if let Some(name) = &template.id_name {
                ensure(is_name(name), Rule::Name, template.span)?;
                own.insert(name);
            }
            for local in &template.locals {
                let fresh = is_part(&local.name) && own.insert(&local.name);
                ensure(fresh, Rule::Name, local.span)?;
            }
            let mut labels: BTreeSet<&str> = BTreeSet::new();
            for (id, location) in template.locations.iter_enumerated() {
                let word = is_name(&location.name) || id == template.done();
                let fresh = word && labels.insert(&location.name);
                ensure(fresh, Rule::Name, location.span)?;
            }
            let done = template.locations.last().map(|done| done.name.as_str());
            ensure(done == Some("done"), Rule::Label, template.span)?;
        }
        let mut properties: BTreeSet<&str> = BTreeSet::from(["checks"]);
        for property in &program.properties {
            let fresh = properties.insert(&property.name);
            ensure(fresh, Rule::Name, property.span)?;
        }
        let mut fairness: BTreeSet<&str> = BTreeSet::new();
        for known in &program.fairness {
            ensure(fairness.insert(&known.name), Rule::Name, known.span)?;
        }
        Ok(())
    }

    fn declarations(&mut self) -> Valid {
        let program = self.program;
        for (id, param) in program.params.iter_enumerated() {
            if let Some(default) = &param.default {
                self.typed(default, ExprType::Int, Site::Constant)?;
                let mut earlier = true;
                default.walk(&mut |part| {
                    earlier &= !matches!(part.kind, ExprKind::Param(other) if other >= id);
                });
                ensure(earlier, Rule::Constant, default.span)?;
            }
            if let Some(condition) = &param.constraint {
                self.typed(condition, ExprType::Bool, Site::Constant)?;
            }
        }
        for known in &program.enums {
            ensure(!known.members.is_empty(), Rule::Form, known.span)?;
        }
        for variable in &program.shared {
            ensure(!variable.loop_counter, Rule::Loop, variable.span)?;
            self.variable(variable, None)?;
        }
        for (id, template) in program.templates.iter_enumerated() {
            let ids = match &template.instances {
                Instances::Range(lo, hi) => {
                    self.bounds(lo, hi)?;
                    template.id_name.is_some()
                }
                Instances::Single | Instances::Dynamic => {
                    template.id_name.is_none() && template.order == IdOrder::Unordered
                }
            };
            ensure(ids, Rule::Form, template.span)?;
            for variable in &template.locals {
                self.variable(variable, Some(id))?;
            }
        }
        Ok(())
    }

    fn variable(&mut self, variable: &Variable, owner: Option<TemplateId>) -> Valid {
        for dim in &variable.dims {
            self.domain(dim, Site::Constant, variable.span)?;
        }
        match &variable.scalar {
            Scalar::Bool | Scalar::Int | Scalar::Mutex => {}
            Scalar::Range(lo, hi) => self.bounds(lo, hi)?,
            Scalar::Enum(id) => self.known_enum(*id, variable.span)?,
            Scalar::Id(id) | Scalar::OptId(id) => {
                let template = self.known_template(*id, variable.span)?;
                let ids = matches!(template.instances, Instances::Range(..));
                ensure(ids, Rule::Form, variable.span)?;
            }
        }
        match (&variable.initial, variable.scalar.ty()) {
            (Initial::Free, None) => Ok(()),
            (Initial::Any, Some(_)) => Ok(()),
            (Initial::Given, Some(_)) => {
                let template = owner.and_then(|owner| self.program.templates.get(owner));
                let dynamic = template.is_some_and(|t| matches!(t.instances, Instances::Dynamic));
                let single = variable.dims.is_empty() && !variable.loop_counter;
                ensure(dynamic && single, Rule::Form, variable.span)
            }
            (Initial::Value(value), Some(ty)) => {
                let site = match variable.loop_counter {
                    // It begins with the lower bound of its domain, as an id if it is one.
                    true => Site::Property,
                    false => Site::Initial(owner),
                };
                self.typed(value, ty, site)?;
                fits(value, &variable.scalar)
            }
            _ => ensure(false, Rule::Form, variable.span),
        }
    }

    /// The ends of a range.
    fn bounds(&mut self, lo: &Expr, hi: &Expr) -> Valid {
        for end in [lo, hi] {
            self.typed(end, ExprType::Int, Site::Constant)?;
            let mut size = 0;
            end.walk(&mut |_| size += 1);
            // The upper end of a loop's counter is made of both ends of its domain.
            ensure(size <= 2 * MAX_BOUND + 1, Rule::Depth, end.span)?;
        }
        Ok(())
    }

    fn known_enum(&self, id: EnumId, span: Span) -> Valid {
        ensure(self.program.enums.get(id).is_some(), Rule::Id, span)
    }

    fn known_template(&self, id: TemplateId, span: Span) -> Valid<&Template> {
        let rule = Rule::Id;
        self.program.templates.get(id).ok_or(Invalid { rule, span })
    }

    fn domain(&mut self, domain: &Domain, site: Site, span: Span) -> Valid {
        match domain {
            Domain::Range(lo, hi) => self.bounds(lo, hi),
            Domain::Enum(id) => self.known_enum(*id, span),
            Domain::Template(id) => {
                let template = self.known_template(*id, span)?;
                let ranged = match template.instances {
                    Instances::Range(..) => true,
                    Instances::Single => false,
                    Instances::Dynamic => {
                        matches!(site, Site::Property | Site::Fairness | Site::Def)
                    }
                };
                ensure(ranged, Rule::Form, span)
            }
        }
    }

    /// Definitions, those that are called first: a definition calls only such that are there already, or are looked at on the way.
    fn definitions(&mut self) -> Valid {
        let program = self.program;
        let mut open = vec![false; program.defs.len()];
        self.facts = program.defs.iter().map(|_| Facts::default()).collect();
        let mut over = vec![false; program.defs.len()];
        for root in program.defs.indices() {
            let mut stack = vec![(root, false)];
            while let Some((id, inside)) = stack.pop() {
                let def = &program.defs[id];
                if inside {
                    self.definition(id)?;
                    open[id.index()] = false;
                    over[id.index()] = true;
                    continue;
                }
                if over[id.index()] {
                    continue;
                }
                ensure(!open[id.index()], Rule::Recursion, def.span)?;
                open[id.index()] = true;
                stack.push((id, true));
                let mut calls = Vec::new();
                def.body.walk(&mut |part| {
                    if let ExprKind::Call(callee, _) = part.kind {
                        calls.push((callee, part.span));
                    }
                });
                for (callee, span) in calls {
                    ensure(callee.index() < open.len(), Rule::Id, span)?;
                    ensure(!open[callee.index()], Rule::Recursion, span)?;
                    stack.push((callee, false));
                }
            }
        }
        Ok(())
    }

    fn definition(&mut self, id: DefId) -> Valid {
        let def = &self.program.defs[id];
        for param in &def.params {
            self.bind(*param, None, def.span)?;
        }
        self.expr(&def.body, Site::Def)?;
        for param in &def.params {
            self.bound[*param] = Binding::Over;
        }
        let mut facts = Facts {
            height: self.height(&def.body),
            ..Facts::default()
        };
        def.body.walk(&mut |part| self.add_facts(part, &mut facts));
        self.facts[id] = facts;
        ensure(
            facts.height <= crate::check::MAX_DEPTH,
            Rule::Depth,
            def.span,
        )
    }

    fn height(&self, value: &Expr) -> usize {
        let mut inner = match &value.kind {
            ExprKind::Call(id, _) => self.facts[*id].height,
            _ => 0,
        };
        value.children(&mut |child| inner = inner.max(self.height(child)));
        inner + 1
    }

    fn add_facts(&self, part: &Expr, facts: &mut Facts) {
        let program = self.program;
        match &part.kind {
            ExprKind::Remote { .. } | ExprKind::At { .. } => facts.property = true,
            ExprKind::Enabled { .. } | ExprKind::Taken { .. } => facts.fairness = true,
            ExprKind::IntToId(_) => {
                let unordered = |id: TemplateId| program.templates[id].order == IdOrder::Unordered;
                facts.property |= matches!(part.ty, ExprType::Id(id) if unordered(id));
            }
            ExprKind::Fold {
                domain: Domain::Template(id),
                ..
            } => {
                let dynamic = matches!(program.templates[*id].instances, Instances::Dynamic);
                facts.property |= dynamic;
            }
            ExprKind::Call(id, _) => {
                facts.property |= self.facts[*id].property;
                facts.fairness |= self.facts[*id].fairness;
            }
            _ => {}
        }
    }

    /// A variable comes into scope, for the only time.
    fn bind(&mut self, id: BoundId, domain: Option<&Domain>, span: Span) -> Valid {
        let program = self.program;
        let Some(bound) = program.bounds.get(id) else {
            return ensure(false, Rule::Id, span);
        };
        ensure(is_name(&bound.name), Rule::Name, span)?;
        ensure(self.bound[id] == Binding::None, Rule::Scope, span)?;
        if let Some(domain) = domain {
            ensure(domain.ty() == bound.ty, Rule::Type, span)?;
        }
        self.bound[id] = Binding::InScope;
        self.domains[id] = domain.cloned();
        Ok(())
    }

    // ---- properties ----

    fn properties(&mut self) -> Valid {
        let program = self.program;
        for fairness in &program.fairness {
            for term in fairness.alternatives.iter().flatten() {
                self.fairness_term(term, fairness.span)?;
            }
        }
        for property in &program.properties {
            match &property.kind {
                PropertyKind::Invariant(value) => {
                    self.typed(value, ExprType::Bool, Site::Property)?;
                }
                PropertyKind::DeadlockFree => {
                    let named = property.name == "deadlock_free";
                    ensure(named, Rule::Name, property.span)?;
                }
                PropertyKind::Liveness { under, formula } => {
                    let known = |id: &FairnessId| program.fairness.get(*id).is_some();
                    ensure(under.iter().all(known), Rule::Id, property.span)?;
                    self.formula(formula, property.span)?;
                }
            }
        }
        for predicate in program.initially.iter().chain(&program.exceptions) {
            self.typed(predicate, ExprType::Bool, Site::Property)?;
        }
        Ok(())
    }

    fn fairness_term(&mut self, term: &FairnessTerm, span: Span) -> Valid {
        let (bound, values): (&[(BoundId, Domain)], Vec<&Expr>) = match term {
            FairnessTerm::Unconditional => (&[], Vec::new()),
            FairnessTerm::Weak(bound, value) => (bound, vec![value]),
            FairnessTerm::Strong(bound, condition, then) => (bound, vec![condition, then]),
        };
        for (id, domain) in bound {
            self.domain(domain, Site::Fairness, span)?;
            self.bind(*id, Some(domain), span)?;
        }
        for value in values {
            self.typed(value, ExprType::Bool, Site::Fairness)?;
        }
        for (id, _) in bound {
            self.bound[*id] = Binding::Over;
        }
        Ok(())
    }

    fn formula(&mut self, formula: &Ltl, span: Span) -> Valid {
        self.deeper(span, |this| match formula {
            Ltl::State(value) => this.typed(value, ExprType::Bool, Site::Fairness),
            Ltl::Quantified {
                var, domain, body, ..
            } => {
                this.domain(domain, Site::Fairness, span)?;
                this.bind(*var, Some(domain), span)?;
                this.formula(body, span)?;
                this.bound[*var] = Binding::Over;
                Ok(())
            }
            Ltl::And(list) | Ltl::Or(list) if list.len() < 2 => ensure(false, Rule::Form, span),
            _ => formula
                .children()
                .into_iter()
                .try_for_each(|part| this.formula(part, span)),
        })
    }
}

/// Whether a word can name something.
/// Whether a word can name a variable, which may be a part of another: `r.a`.
fn is_part(word: &str) -> bool {
    word.split('.').all(is_name)
}

fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    letters.next().is_some_and(letter)
        && letters.all(|c| letter(c) || c.is_ascii_digit())
        && !crate::syntax::is_keyword(word)
}

/// Whether a constant fits constant bounds.
fn fits(value: &Expr, scalar: &Scalar) -> Valid {
    let Scalar::Range(lo, hi) = scalar else {
        return Ok(());
    };
    match (literal(value), literal(lo), literal(hi)) {
        (Some(value_of), Some(lo), Some(hi)) => {
            ensure(lo <= value_of && value_of <= hi, Rule::Range, value.span)
        }
        _ => Ok(()),
    }
}
