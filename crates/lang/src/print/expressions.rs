//! Expressions, formulas and types as text, with no more brackets than the grammar and the eye need.

use std::collections::HashSet;
use std::fmt::Write;

use crate::program::*;

// How tightly each level of the grammar binds.
const IFF: u8 = 0;
const IMPLIES: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const UNTIL: u8 = 4;
const COMPARE: u8 = 5;
const SUM: u8 = 6;
const PRODUCT: u8 = 7;
const UNARY: u8 = 8;
const POSTFIX: u8 = 9;

/// What the names of a program are, where we are in it.
pub(super) struct Names<'p> {
    pub program: &'p Program,
    /// The template whose variables can be named without saying whose they are.
    pub template: Option<TemplateId>,
    /// Names that mean something everywhere.
    global: HashSet<&'p str>,
    /// Bound variables in scope with the names they go by; a loop's counter has a name and no id.
    bound: Vec<(Option<BoundId>, String)>,
}

impl<'p> Names<'p> {
    pub fn new(program: &'p Program) -> Self {
        let mut global: HashSet<&str> = HashSet::new();
        global.extend(program.params.iter().map(|p| p.name.as_str()));
        for known in &program.enums {
            global.insert(&known.name);
            global.extend(known.members.iter().map(String::as_str));
        }
        global.extend(program.shared.iter().map(|v| v.name.as_str()));
        global.extend(program.templates.iter().map(|t| t.name.as_str()));
        global.extend(program.defs.iter().map(|d| d.name.as_str()));
        Names {
            program,
            template: None,
            global,
            bound: Vec::new(),
        }
    }

    /// The name of a bound variable that comes into scope: its own, unless something in scope has it.
    pub fn bind(&mut self, id: BoundId) -> String {
        let wish = &self.program.bounds[id].name;
        let mut name = wish.clone();
        let mut number = 2;
        while self.is_taken(&name) {
            name = format!("{wish}_{number}");
            number += 1;
        }
        self.bound.push((Some(id), name.clone()));
        name
    }

    /// The counter of a loop comes into scope.
    pub fn count(&mut self, name: &str) {
        self.bound.push((None, name.to_owned()));
    }

    /// A bound variable is written so.
    pub fn stands_for(&mut self, id: BoundId, value: &str) {
        self.bound.push((Some(id), value.to_owned()));
    }

    /// What came into scope last goes out of it.
    pub fn unbind(&mut self) {
        self.bound.pop();
    }

    fn is_taken(&self, name: &str) -> bool {
        let own = self.template.is_some_and(|id| {
            let template = &self.program.templates[id];
            let declared = |local: &Variable| !local.loop_counter && local.name == name;
            template.id_name.as_deref() == Some(name) || template.locals.iter().any(declared)
        });
        own || self.global.contains(name) || self.bound.iter().any(|(_, known)| known == name)
    }

    fn bound(&self, id: BoundId) -> &str {
        let found = self
            .bound
            .iter()
            .rev()
            .find(|(known, _)| *known == Some(id));
        found.map_or(&self.program.bounds[id].name, |(_, name)| name)
    }

    // ---- types ----

    pub fn scalar(&mut self, scalar: &Scalar) -> String {
        match scalar {
            Scalar::Bool => "bool".to_owned(),
            Scalar::Int => "int".to_owned(),
            Scalar::Range(lo, hi) => self.range(lo, hi),
            Scalar::Enum(id) => self.program.enums[*id].name.clone(),
            Scalar::Id(id) => self.program.templates[*id].name.clone(),
            Scalar::OptId(id) => format!("{}?", self.program.templates[*id].name),
            Scalar::Mutex => "mutex".to_owned(),
        }
    }

    pub fn domain(&mut self, domain: &Domain) -> String {
        match domain {
            Domain::Range(lo, hi) => self.range(lo, hi),
            Domain::Enum(id) => self.program.enums[*id].name.clone(),
            Domain::Template(id) => self.program.templates[*id].name.clone(),
        }
    }

    pub fn range(&mut self, lo: &Expr, hi: &Expr) -> String {
        let mut text = self.at_level(lo, SUM);
        text.push_str("..");
        self.expr(hi, SUM, &mut text);
        text
    }

    pub fn ty(&self, ty: ExprType) -> String {
        match ty {
            ExprType::Bool => "bool".to_owned(),
            ExprType::Int => "int".to_owned(),
            ExprType::Enum(id) => self.program.enums[id].name.clone(),
            ExprType::Id(id) => self.program.templates[id].name.clone(),
            ExprType::OptId(id) => format!("{}?", self.program.templates[id].name),
        }
    }

    // ---- expressions ----

    /// An expression that stands alone.
    pub fn whole(&mut self, value: &Expr) -> String {
        self.at_level(value, IFF)
    }

    fn at_level(&mut self, value: &Expr, level: u8) -> String {
        let mut text = String::new();
        self.expr(value, level, &mut text);
        text
    }

    pub fn place(&mut self, place: &Place) -> String {
        let mut text = String::new();
        self.place_into(place, &mut text);
        text
    }

    fn place_into(&mut self, place: &Place, out: &mut String) {
        let program = self.program;
        out.push_str(match (place.var, self.template) {
            (VarRef::Shared(id), _) => &program.shared[id].name,
            (VarRef::Local(id), Some(template)) => &program.templates[template].locals[id].name,
            // Only a template's body has such a place.
            (VarRef::Local(_), None) => "",
        });
        self.indices(&place.indices, out);
    }

    fn indices(&mut self, indices: &[Expr], out: &mut String) {
        for index in indices {
            out.push('[');
            self.expr(index, IFF, out);
            out.push(']');
        }
    }

    fn process(&mut self, template: TemplateId, process: Option<&Expr>, out: &mut String) {
        out.push_str(&self.program.templates[template].name);
        self.indices(process.map_or(&[], std::slice::from_ref), out);
    }

    /// Writes an expression where what stands around it binds as tightly as `level`.
    fn expr(&mut self, value: &Expr, level: u8, out: &mut String) {
        let own = binding(&value.kind);
        if own < level {
            out.push('(');
            self.open(value, out);
            out.push(')');
        } else {
            self.open(value, out);
        }
    }

    /// Writes an expression without brackets around it.
    fn open(&mut self, value: &Expr, out: &mut String) {
        use ExprKind::*;
        let program = self.program;
        match &value.kind {
            Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Int(number) => out.push_str(&number.to_string()),
            Member(position) => {
                if let ExprType::Enum(id) = value.ty {
                    out.push_str(&program.enums[id].members[*position as usize]);
                }
            }
            None => out.push_str("none"),
            Param(id) => out.push_str(&program.params[*id].name),
            Own => {
                let template = self.template.map(|id| &program.templates[id]);
                out.push_str(template.and_then(|t| t.id_name.as_deref()).unwrap_or(""));
            }
            Bound(id) => out.push_str(self.bound(*id)),
            Read(place) => self.place_into(place, out),
            Locked(place) => {
                out.push_str("locked(");
                self.place_into(place, out);
                out.push(')');
            }
            Remote { .. } | At { .. } | Enabled { .. } | Taken { .. } => self.about(value, out),
            IntToId(inner) | IdToInt(inner) | IdToOpt(inner) | OptToId(inner) => {
                self.open(inner, out);
            }
            Around { forward, id } => {
                out.push_str(if *forward { "next(" } else { "prev(" });
                self.expr(id, IFF, out);
                out.push(')');
            }
            Not(inner) => {
                out.push('!');
                self.expr(inner, POSTFIX, out);
            }
            Neg(inner) => {
                out.push('-');
                self.expr(inner, POSTFIX, out);
            }
            And(list) => self.chain(list, "&&", AND + 1, out),
            // A conjunction in it gets brackets, for the eye.
            Or(list) => self.chain(list, "||", UNTIL, out),
            Implies(left, right) => {
                self.expr(left, OR, out);
                out.push_str(" -> ");
                self.expr(right, IMPLIES, out);
            }
            Iff(left, right) => self.pair(left, "<->", right, (IFF, IMPLIES), out),
            Compare(op, left, right) => self.pair(left, compare_sign(*op), right, (SUM, SUM), out),
            Arith(op @ (ArithOp::Min | ArithOp::Max), left, right) => {
                out.push_str(if *op == ArithOp::Min { "min(" } else { "max(" });
                self.expr(left, IFF, out);
                out.push_str(", ");
                self.expr(right, IFF, out);
                out.push(')');
            }
            Arith(op, left, right) => {
                let own = binding(&value.kind);
                self.pair(left, arith_sign(*op), right, (own, own + 1), out);
            }
            Fold { .. } => {
                if let Some(id) = self.all_ended(value) {
                    let _ = write!(out, "ended({})", program.templates[id].name);
                } else {
                    self.fold(value, out);
                }
            }
            Call(id, args) => {
                out.push_str(&program.defs[*id].name);
                if !args.is_empty() {
                    out.push('(');
                    self.list(args, out);
                    out.push(')');
                }
            }
        }
    }

    /// What is said about a process.
    fn about(&mut self, value: &Expr, out: &mut String) {
        let program = self.program;
        match &value.kind {
            ExprKind::Remote {
                template,
                process,
                var,
                indices,
            } => {
                self.process(*template, process.as_deref(), out);
                let _ = write!(out, ".{}", program.templates[*template].locals[*var].name);
                self.indices(indices, out);
            }
            ExprKind::At {
                template,
                process,
                locations,
            } => {
                self.process(*template, process.as_deref(), out);
                let all = &program.templates[*template].locations;
                let names: Vec<&str> = locations.iter().map(|l| all[*l].name.as_str()).collect();
                let _ = match names.as_slice() {
                    [one] => write!(out, " at {one}"),
                    names => write!(out, " at {{{}}}", names.join(", ")),
                };
            }
            ExprKind::Enabled {
                template,
                process,
                location,
            }
            | ExprKind::Taken {
                template,
                process,
                location,
            } => {
                let asks = matches!(value.kind, ExprKind::Enabled { .. });
                out.push_str(if asks { "enabled(" } else { "taken(" });
                self.process(*template, process.as_deref(), out);
                let name = &program.templates[*template].locations[*location].name;
                let _ = write!(out, ", {name})");
            }
            _ => {}
        }
    }

    fn list(&mut self, values: &[Expr], out: &mut String) {
        for (position, value) in values.iter().enumerate() {
            if position > 0 {
                out.push_str(", ");
            }
            self.expr(value, IFF, out);
        }
    }

    /// Several expressions, with commas.
    pub fn values(&mut self, values: &[Expr]) -> String {
        let mut text = String::new();
        self.list(values, &mut text);
        text
    }

    fn chain(&mut self, list: &[Expr], sign: &str, level: u8, out: &mut String) {
        for (position, part) in list.iter().enumerate() {
            if position > 0 {
                let _ = write!(out, " {sign} ");
            }
            self.expr(part, level, out);
        }
    }

    fn pair(&mut self, left: &Expr, sign: &str, right: &Expr, levels: (u8, u8), out: &mut String) {
        self.expr(left, levels.0, out);
        let _ = write!(out, " {sign} ");
        self.expr(right, levels.1, out);
    }

    /// The template of which an expression is written as `ended`: in program text, and where it was written so.
    fn all_ended(&self, value: &Expr) -> Option<TemplateId> {
        let ExprKind::Fold { var, .. } = &value.kind else {
            return None;
        };
        let written = self.template.is_some() || self.program.bounds[*var].name == ENDED;
        self.program.ended(value).filter(|_| written)
    }

    /// A quantifier, with those of its kind right inside it.
    fn fold(&mut self, value: &Expr, out: &mut String) {
        let ExprKind::Fold { kind, .. } = &value.kind else {
            return;
        };
        out.push_str(match kind {
            FoldKind::Forall => "forall ",
            FoldKind::Exists => "exists ",
            FoldKind::Count => "count ",
            FoldKind::Sum => "sum ",
            FoldKind::Min => "min ",
            FoldKind::Max => "max ",
        });
        let mut binders = Vec::new();
        let mut inner = value;
        while let ExprKind::Fold {
            kind: same,
            var,
            domain,
            body,
        } = &inner.kind
            && same == kind
            && self.all_ended(inner).is_none()
        {
            binders.push((*var, domain));
            inner = body;
            if *kind == FoldKind::Count {
                break;
            }
        }
        self.binders(&binders, out);
        out.push_str(": ");
        self.expr(inner, IFF, out);
        binders.iter().for_each(|_| self.unbind());
    }

    /// `i, j in P, k in 1..3`: what is bound comes into scope.
    fn binders(&mut self, binders: &[(BoundId, &Domain)], out: &mut String) {
        let mut position = 0;
        while let Some((_, domain)) = binders.get(position) {
            // A range is constant, so it names nothing that is bound here.
            let over = self.domain(domain);
            if position > 0 {
                out.push_str(", ");
            }
            let same = |(_, other): &&(BoundId, &Domain)| same_domain(other, domain);
            let group: Vec<String> = binders[position..]
                .iter()
                .take_while(same)
                .map(|(var, _)| self.bind(*var))
                .collect();
            position += group.len();
            let _ = write!(out, "{} in {over}", group.join(", "));
        }
    }

    // ---- fairness and properties ----

    pub fn fairness(&mut self, fairness: &Fairness) -> String {
        let mut alternatives = Vec::new();
        for list in &fairness.alternatives {
            let terms: Vec<String> = list.iter().map(|term| self.fairness_term(term)).collect();
            alternatives.push(terms.join(", "));
        }
        format!("fairness {}: {};", fairness.name, alternatives.join(" or "))
    }

    fn fairness_term(&mut self, term: &FairnessTerm) -> String {
        let (word, bound) = match term {
            FairnessTerm::Unconditional => return "unconditional".to_owned(),
            FairnessTerm::Weak(bound, _) => ("weak ", bound),
            FairnessTerm::Strong(bound, ..) => ("strong ", bound),
        };
        let mut text = word.to_owned();
        if !bound.is_empty() {
            let binders: Vec<(BoundId, &Domain)> = bound.iter().map(|(v, d)| (*v, d)).collect();
            text.push_str("forall ");
            self.binders(&binders, &mut text);
            text.push_str(": ");
        }
        match term {
            FairnessTerm::Unconditional => {}
            FairnessTerm::Weak(_, condition) => {
                // A quantifier here would be the term's.
                let forall = matches!(&condition.kind, ExprKind::Fold { kind, .. } if *kind == FoldKind::Forall);
                let level = if forall && bound.is_empty() {
                    POSTFIX
                } else {
                    IFF
                };
                self.expr(condition, level, &mut text);
            }
            FairnessTerm::Strong(_, condition, then) => {
                text.push_str("if ");
                self.expr(condition, IFF, &mut text);
                text.push_str(" then ");
                self.expr(then, IFF, &mut text);
            }
        }
        bound.iter().for_each(|_| self.unbind());
        text
    }

    pub fn property(&mut self, property: &Property) -> String {
        let name = &property.name;
        match &property.kind {
            PropertyKind::Invariant(value) => format!("invariant {name}: {};", self.whole(value)),
            PropertyKind::DeadlockFree => "deadlock_free;".to_owned(),
            PropertyKind::Liveness { under, formula } => {
                let known = |id: &FairnessId| self.program.fairness[*id].name.as_str();
                let names: Vec<&str> = under.iter().map(known).collect();
                let under = match names.is_empty() {
                    true => String::new(),
                    false => format!(" under {}", names.join(", ")),
                };
                let mut text = String::new();
                self.formula(formula, IFF, &mut text);
                format!("liveness {name}{under}: {text};")
            }
        }
    }

    fn formula(&mut self, formula: &Ltl, level: u8, out: &mut String) {
        let own = match formula {
            Ltl::State(value) => return self.expr(value, level, out),
            Ltl::Not(_) | Ltl::Globally(_) | Ltl::Finally(_) | Ltl::Next(_) => UNARY,
            Ltl::And(_) => AND,
            Ltl::Or(_) => OR,
            Ltl::Implies(..) => IMPLIES,
            Ltl::Iff(..) | Ltl::Quantified { .. } => IFF,
            Ltl::Until(..) | Ltl::Release(..) | Ltl::WeakUntil(..) => UNTIL,
        };
        if own < level {
            out.push('(');
            self.open_formula(formula, out);
            out.push(')');
        } else {
            self.open_formula(formula, out);
        }
    }

    fn open_formula(&mut self, formula: &Ltl, out: &mut String) {
        let (sign, levels, left, right) = match formula {
            Ltl::State(value) => return self.open(value, out),
            Ltl::Not(inner) => return self.prefixed("!", inner, out),
            Ltl::Globally(inner) => return self.prefixed("G ", inner, out),
            Ltl::Finally(inner) => return self.prefixed("F ", inner, out),
            Ltl::Next(inner) => return self.prefixed("X ", inner, out),
            Ltl::And(list) => return self.formulas(list, " && ", UNTIL, out),
            Ltl::Or(list) => return self.formulas(list, " || ", UNTIL, out),
            Ltl::Quantified {
                forall,
                var,
                domain,
                body,
            } => {
                out.push_str(if *forall { "forall " } else { "exists " });
                self.binders(&[(*var, domain)], out);
                out.push_str(": ");
                self.formula(body, IFF, out);
                return self.unbind();
            }
            Ltl::Implies(left, right) => ("->", (OR, IMPLIES), left, right),
            Ltl::Iff(left, right) => ("<->", (IFF, IMPLIES), left, right),
            Ltl::Until(left, right) => ("U", (COMPARE, UNTIL), left, right),
            Ltl::Release(left, right) => ("R", (COMPARE, UNTIL), left, right),
            Ltl::WeakUntil(left, right) => ("W", (COMPARE, UNTIL), left, right),
        };
        self.formula(left, levels.0, out);
        let _ = write!(out, " {sign} ");
        self.formula(right, levels.1, out);
    }

    fn prefixed(&mut self, sign: &str, inner: &Ltl, out: &mut String) {
        out.push_str(sign);
        self.formula(inner, UNARY, out);
    }

    fn formulas(&mut self, list: &[Ltl], sign: &str, level: u8, out: &mut String) {
        for (position, part) in list.iter().enumerate() {
            if position > 0 {
                out.push_str(sign);
            }
            self.formula(part, level, out);
        }
    }
}

/// How tightly an expression binds what it consists of; a coercion is not seen.
fn binding(kind: &ExprKind) -> u8 {
    use ExprKind::*;
    match kind {
        IntToId(inner) | IdToInt(inner) | IdToOpt(inner) | OptToId(inner) => binding(&inner.kind),
        Iff(..) | Fold { .. } => IFF,
        Implies(..) => IMPLIES,
        Or(_) => OR,
        And(_) => AND,
        Compare(..) => COMPARE,
        Arith(ArithOp::Min | ArithOp::Max, ..) => POSTFIX,
        Arith(ArithOp::Add | ArithOp::Sub, ..) => SUM,
        // Brackets around a location, for the eye.
        Arith(..) | Neg(_) | At { .. } => PRODUCT,
        Int(number) if *number < 0 => PRODUCT,
        Not(_) => UNARY,
        _ => POSTFIX,
    }
}

fn compare_sign(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}

fn arith_sign(op: ArithOp) -> &'static str {
    match op {
        ArithOp::Add => "+",
        ArithOp::Sub => "-",
        ArithOp::Mul => "*",
        ArithOp::Div => "/",
        ArithOp::Rem | ArithOp::Min | ArithOp::Max => "%",
    }
}

/// Whether two domains are the same, wherever they are written.
fn same_domain(a: &Domain, b: &Domain) -> bool {
    match (a, b) {
        (Domain::Enum(a), Domain::Enum(b)) => a == b,
        (Domain::Template(a), Domain::Template(b)) => a == b,
        (Domain::Range(a, b), Domain::Range(c, d)) => a == c && b == d,
        _ => false,
    }
}
