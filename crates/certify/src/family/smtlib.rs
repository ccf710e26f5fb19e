//! The conditions of a claim about all values of the parameters as SMT-LIB, for another solver.
//!
//! They are the hypotheses and negated goals that proofs are checked against; the proofs play no part. So a solver that answers `unsat` to every
//! question confirms the claim without them.

use std::collections::HashSet;
use std::fmt::{self, Write};
use std::sync::Arc;

use threadwise_evidence::Certificate;
use threadwise_evidence::arithmetic::{Atom, Formula, Variable};
use threadwise_evidence::family::Condition;
use threadwise_lang::program::{Program, Span};

use super::Subject;
use super::conditions::Judge;
use super::names::Table;
use crate::Error;

/// Writes the conditions of a certificate about all values of the parameters as SMT-LIB 2: each `check-sat` must be answered `unsat`.
pub fn smtlib_family(
    program: &Arc<Program>,
    certificate: &Certificate,
    property: &str,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let subject = Subject::new(program, certificate, property)?;
    let mut writer = Writer {
        out,
        declared: HashSet::new(),
    };
    writer.line(format_args!(
        "; Written by threadwise: a certificate of {property}. Each check-sat must be answered unsat."
    ))?;
    writer.line(format_args!("(set-option :global-declarations true)"))?;
    writer.line(format_args!("(set-logic ALL)"))?;
    subject.list(writer, &|| false)?;
    Ok(())
}

/// A judge that asks somebody else.
struct Writer<'o> {
    out: &'o mut dyn Write,
    declared: HashSet<Variable>,
}

impl Writer<'_> {
    fn line(&mut self, line: fmt::Arguments<'_>) -> Result<(), Error> {
        let written = writeln!(self.out, "{line}");
        written.map_err(|_| Error::unsupported("the conditions cannot be written"))
    }

    /// Declares the variables of a formula, once and for all conditions.
    fn declare(&mut self, table: &Table, formula: &Formula) -> Result<(), Error> {
        super::mentioned(formula, &mut |variable| {
            if self.declared.insert(variable) {
                let name = table.name(variable);
                self.line(format_args!("(declare-const v{variable} Int) ; {name}"))?;
            }
            Ok(())
        })
    }
}

impl Judge for Writer<'_> {
    fn push(&mut self, table: &Table, formulas: &[Formula]) -> Result<(), Error> {
        self.line(format_args!("(push 1)"))?;
        for formula in formulas {
            self.declare(table, formula)?;
            self.line(format_args!("(assert {})", Text(formula)))?;
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<(), Error> {
        self.line(format_args!("(pop 1)"))
    }

    fn judge(
        &mut self,
        table: &Table,
        _: &Condition,
        about: &dyn Fn(&Table) -> (String, Option<Span>),
    ) -> Result<(), Error> {
        let (what, _) = about(table);
        self.line(format_args!("; {what}"))?;
        self.line(format_args!("(check-sat)"))
    }
}

/// A formula as SMT-LIB.
struct Text<'a>(&'a Formula);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, members) = match self.0 {
            Formula::Atom(atom) => return write_atom(atom, f),
            Formula::And(members) if members.is_empty() => return f.write_str("true"),
            Formula::Or(members) if members.is_empty() => return f.write_str("false"),
            Formula::And(members) => ("and", members),
            Formula::Or(members) => ("or", members),
        };
        write!(f, "({word}")?;
        for member in members {
            write!(f, " {}", Text(member))?;
        }
        f.write_str(")")
    }
}

fn write_atom(atom: &Atom, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("(<= (+ 0")?;
    for (variable, coefficient) in &atom.terms {
        write!(f, " (* {} v{variable})", Number(i128::from(*coefficient)))?;
    }
    write!(f, ") {})", Number(-i128::from(atom.constant)))
}

struct Number(i128);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 < 0 {
            true => write!(f, "(- {})", self.0.unsigned_abs()),
            false => write!(f, "{}", self.0),
        }
    }
}
