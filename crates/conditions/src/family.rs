//! The conditions of a claim about all values of the parameters as SMT-LIB, for another solver.
//!
//! They are the hypotheses and negated goals that proofs are checked against; the proofs play no part. So a solver that answers `unsat` to every
//! question confirms the claim without them.

use std::collections::HashSet;
use std::fmt::{self, Write};
use std::sync::Arc;

use threadwise_certify::{Error, Judge, Table, list_family};
use threadwise_evidence::Certificate;
use threadwise_evidence::arithmetic::{Formula, Variable};
use threadwise_evidence::family::Condition;
use threadwise_lang::program::{Program, Span};
use threadwise_show::SmtLib;

/// Writes the conditions of a certificate about all values of the parameters as SMT-LIB 2: each `check-sat` must be answered `unsat`.
pub fn smtlib_family(
    program: &Arc<Program>,
    certificate: &Certificate,
    property: &str,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut writer = Writer {
        out,
        declared: HashSet::new(),
    };
    writer.line(format_args!(
        "; Written by threadwise: a certificate of {property}. Each check-sat must be answered unsat."
    ))?;
    writer.line(format_args!("(set-option :global-declarations true)"))?;
    writer.line(format_args!("(set-logic ALL)"))?;
    list_family(program, certificate, property, writer)?;
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
        written.map_err(|_| Error::Unsupported("the conditions cannot be written".to_owned()))
    }

    /// Declares the variables of a formula, once and for all conditions.
    fn declare(&mut self, table: &Table, formula: &Formula) -> Result<(), Error> {
        match formula {
            Formula::Atom(atom) => atom.terms.iter().try_for_each(|(variable, _)| {
                if self.declared.insert(*variable) {
                    let name = table.name(*variable);
                    self.line(format_args!("(declare-const v{variable} Int) ; {name}"))?;
                }
                Ok(())
            }),
            Formula::And(members) | Formula::Or(members) => {
                let mut members = members.iter();
                members.try_for_each(|member| self.declare(table, member))
            }
        }
    }
}

impl Judge for Writer<'_> {
    fn push(&mut self, table: &Table, formulas: &[Formula]) -> Result<(), Error> {
        self.line(format_args!("(push 1)"))?;
        for formula in formulas {
            self.declare(table, formula)?;
            let name = &|variable| format!("v{variable}");
            self.line(format_args!("(assert {})", SmtLib { formula, name }))?;
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
