//! Pieces of Promela text that know between which values they lie, so that what is constant is
//! folded and what may leave 32 bits is refused.

use std::collections::BTreeSet;

use threadwise_lang::program::{ArithOp, CompareOp, TemplateId};
use threadwise_model::system::{Expr, VarId};

use super::{ExportError, MOST_BYTES};

/// The text of an expression, and between which values it lies.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) lo: i128,
    pub(super) hi: i128,
}

/// Where an expression stands.
pub(super) struct Scene<'a> {
    /// For messages.
    pub(super) what: &'a str,
    /// Within the text of a template.
    pub(super) template: Option<TemplateId>,
    pub(super) bounds: Vec<(u32, i64)>,
    pub(super) choices: &'a [i64],
    /// Bytes written so far for this expression.
    pub(super) size: usize,
}

impl<'a> Scene<'a> {
    pub(super) fn new(what: &'a str, template: Option<TemplateId>, choices: &'a [i64]) -> Self {
        Scene {
            what,
            template,
            bounds: Vec::new(),
            choices,
            size: 0,
        }
    }
}

pub(super) fn constant(value: i128) -> Written {
    let text = if value < 0 {
        format!("({value})")
    } else {
        value.to_string()
    };
    Written {
        text,
        lo: value,
        hi: value,
    }
}

pub(super) fn truth(text: String) -> Written {
    Written { text, lo: 0, hi: 1 }
}

pub(super) fn not(written: Written) -> Written {
    match written.text.as_str() {
        "0" => constant(1),
        "1" => constant(0),
        // `!!` is an operator of its own in Promela. Whatever `!` stands before is in brackets or one word.
        text => truth(
            text.strip_prefix('!')
                .map_or_else(|| format!("!{text}"), str::to_owned),
        ),
    }
}

pub(super) fn join(parts: Vec<Written>, and: bool) -> Written {
    let (neutral, decisive) = if and { ("1", "0") } else { ("0", "1") };
    let mut texts: Vec<String> = Vec::new();
    for part in parts {
        if part.text == neutral {
            continue;
        }
        let decides = part.text == decisive;
        texts.push(part.text);
        if decides {
            break;
        }
    }
    match &texts[..] {
        [] => constant(i128::from(and)),
        [one] => truth(one.clone()),
        all if all.last().is_some_and(|last| last == decisive) => constant(i128::from(!and)),
        all => truth(format!("({})", all.join(if and { " && " } else { " || " }))),
    }
}

pub(super) fn compare(op: CompareOp, left: &Written, right: &Written) -> Written {
    let (symbol, always, never) = match op {
        CompareOp::Eq => (
            "==",
            left.lo == left.hi && right.lo == right.hi && left.lo == right.lo,
            disjoint(left, right),
        ),
        CompareOp::Ne => (
            "!=",
            disjoint(left, right),
            left.lo == left.hi && right.lo == right.hi && left.lo == right.lo,
        ),
        CompareOp::Lt => ("<", left.hi < right.lo, left.lo >= right.hi),
        CompareOp::Le => ("<=", left.hi <= right.lo, left.lo > right.hi),
        CompareOp::Gt => (">", left.lo > right.hi, left.hi <= right.lo),
        CompareOp::Ge => (">=", left.lo >= right.hi, left.hi < right.lo),
    };
    if always || never {
        return constant(i128::from(always));
    }
    truth(format!("({} {symbol} {})", left.text, right.text))
}

pub(super) fn disjoint(left: &Written, right: &Written) -> bool {
    left.hi < right.lo || right.hi < left.lo
}

pub(super) fn add(left: Written, right: i128, scene: &Scene) -> Result<Written, ExportError> {
    if right < 0 {
        return arith(ArithOp::Sub, left, constant(-right), scene);
    }
    arith(ArithOp::Add, left, constant(right), scene)
}

pub(super) fn arith(
    op: ArithOp,
    left: Written,
    right: Written,
    scene: &Scene,
) -> Result<Written, ExportError> {
    let ends = |f: fn(i128, i128) -> i128| {
        let all = [
            f(left.lo, right.lo),
            f(left.lo, right.hi),
            f(left.hi, right.lo),
            f(left.hi, right.hi),
        ];
        (
            all.into_iter().fold(i128::MAX, i128::min),
            all.into_iter().fold(i128::MIN, i128::max),
        )
    };
    let greatest = left.lo.abs().max(left.hi.abs());
    let (lo, hi) = match op {
        ArithOp::Add => ends(|a, b| a + b),
        ArithOp::Sub => ends(|a, b| a - b),
        ArithOp::Mul => ends(|a, b| a * b),
        ArithOp::Min => ends(i128::min),
        ArithOp::Max => ends(i128::max),
        // A quotient is no greater than the dividend, and a remainder has its sign.
        ArithOp::Div => (-greatest, greatest),
        ArithOp::Rem => (left.lo.min(0), left.hi.max(0)),
    };
    let fits = |value: i128| i32::try_from(value).is_ok();
    if !fits(lo) || !fits(hi) {
        return Err(ExportError::WideComputation(scene.what.to_owned()));
    }
    let constants = left.lo == left.hi && right.lo == right.hi;
    if constants && lo == hi {
        return Ok(constant(lo));
    }
    let is = |written: &Written, value: i128| written.lo == value && written.hi == value;
    let text = match op {
        ArithOp::Add if is(&left, 0) => right.text,
        ArithOp::Add | ArithOp::Sub if is(&right, 0) => left.text,
        ArithOp::Mul if is(&left, 1) => right.text,
        ArithOp::Mul if is(&right, 1) => left.text,
        ArithOp::Mul if is(&left, 0) || is(&right, 0) => "0".to_owned(),
        ArithOp::Add => format!("({} + {})", left.text, right.text),
        ArithOp::Sub => format!("({} - {})", left.text, right.text),
        ArithOp::Mul => format!("({} * {})", left.text, right.text),
        ArithOp::Div => format!("({} / {})", left.text, right.text),
        ArithOp::Rem => format!("({} % {})", left.text, right.text),
        ArithOp::Min => format!("({0} < {1} -> {0} : {1})", left.text, right.text),
        ArithOp::Max => format!("({0} > {1} -> {0} : {1})", left.text, right.text),
    };
    if text.len() > MOST_BYTES {
        return Err(ExportError::TooLong);
    }
    Ok(Written { text, lo, hi })
}

/// A minimum or maximum names its parts twice, so a balanced tree keeps the text short.
pub(super) fn balanced(
    op: ArithOp,
    mut parts: Vec<Written>,
    scene: &Scene,
) -> Result<Written, ExportError> {
    while parts.len() > 1 {
        let mut halved = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            halved.push(match rest.next() {
                Some(right) => arith(op, left, right, scene)?,
                None => left,
            });
        }
        parts = halved;
    }
    Ok(parts.pop().unwrap_or_else(|| constant(0)))
}

/// The variables that an expression reads.
pub(super) fn reads(expr: &Expr, vars: &mut BTreeSet<VarId>) {
    match expr {
        Expr::Const(_) | Expr::Own | Expr::OwnProcess | Expr::Bound(_) | Expr::Choice(_) => {}
        Expr::Load(place) => {
            vars.insert(place.var);
            for part in [&place.process, &place.offset].into_iter().flatten() {
                reads(part, vars);
            }
        }
        Expr::Not(inner) | Expr::Neg(inner) | Expr::Fold { body: inner, .. } => reads(inner, vars),
        Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|part| reads(part, vars)),
        Expr::Compare(_, left, right) | Expr::Arith(_, left, right) => {
            reads(left, vars);
            reads(right, vars);
        }
        Expr::Ite(cond, yes, no) => {
            reads(cond, vars);
            reads(yes, vars);
            reads(no, vars);
        }
    }
}

/// Words that mean something to SPIN or to the C compiler behind it.
pub(super) const RESERVED: &[&str] = &[
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "chan",
    "D_proctype",
    "d_step",
    "do",
    "else",
    "empty",
    "enabled",
    "eval",
    "false",
    "fi",
    "for",
    "full",
    "get_p",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "in",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "print",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "run",
    "select",
    "set_p",
    "set_priority",
    "short",
    "show",
    "skip",
    "STDIN",
    "timeout",
    "trace",
    "true",
    "typedef",
    "unless",
    "unsigned",
    "xr",
    "xs",
    "always",
    "eventually",
    "implies",
    "equivalent",
    "next",
    "release",
    "stronguntil",
    "until",
    "weakuntil",
    "auto",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "double",
    "enum",
    "extern",
    "float",
    "long",
    "main",
    "register",
    "return",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "union",
    "void",
    "volatile",
    "while",
    "now",
    "errno",
    "linux",
    "stderr",
    "stdin",
    "stdout",
    "uchar",
    "uint",
    "ulong",
    "unix",
    "ushort",
    "wasnew",
];

/// A name as SPIN may see it. What looks like a macro of the C compiler, of its library or of the verifier that SPIN writes
/// (`NULL`, `HAS_CODE`, `__LINE__`), or like a variable of SPIN's own (`_p`), would be replaced or refused; a letter in front keeps it apart.
pub(super) fn own(name: &str) -> String {
    let capitals = name.len() > 1 && !name.contains(|c: char| c.is_ascii_lowercase());
    if capitals || name.starts_with('_') {
        format!("v_{name}")
    } else {
        name.to_owned()
    }
}
