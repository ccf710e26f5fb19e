//! A model that was read: the place where everything begins.

use std::sync::Arc;

use threadwise_certify::{Error as CertifyError, Report as CertifyReport};
use threadwise_evidence::{Certificate, Claim, ReplayError, Trace, annotate};
use threadwise_lang::diagnostics::{Diagnostic, Severity};
use threadwise_lang::program::Program;
use threadwise_lang::render::LineIndex;
use threadwise_model::instance::Instance;

use crate::checking::Checking;
use crate::in_process::InProcess;
use crate::job::Executor;
use crate::judge::{self, fits};
use crate::origin::Origin;
use crate::plan::{Denied, Options, Plan, RequestError};
use crate::report::{Report, ReportedDiagnostic, Run, Scope, VerdictKind};
use crate::setting::Values;

/// A model with its text and what the front end said about it.
#[derive(Clone, Debug)]
pub struct Session {
    name: String,
    text: String,
    /// What the text was made from, if nobody wrote it.
    origin: Option<Origin>,
    program: Option<Arc<Program>>,
    diagnostics: Vec<Diagnostic>,
}

/// What became of one instance.
#[derive(Debug)]
pub enum Checked {
    /// It was checked.
    Run(Run),
    /// It does not exist, or cannot be built.
    Rejected(Vec<Diagnostic>),
    /// It is part of a sweep, and `where` excludes it.
    Excluded,
}

/// Why a trace could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayFailure {
    /// The model has no instance with the trace's parameter values.
    #[error("the model has no instance with the parameter values of the trace")]
    Instance(Vec<Diagnostic>),
    /// It is no execution of the model, or does not end as it claims.
    #[error(transparent)]
    Rejected(#[from] ReplayError),
}

/// Why a certificate was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum CertifyFailure {
    /// The model has no instance with these parameter values.
    #[error("the model has no instance with the parameter values of the certificate")]
    Instance(Vec<Diagnostic>),
    /// The checker cannot say.
    #[error(transparent)]
    Undecided(CertifyError),
    /// It does not prove the property.
    #[error(transparent)]
    Refused(CertifyError),
}

impl From<CertifyError> for CertifyFailure {
    fn from(error: CertifyError) -> CertifyFailure {
        match error {
            CertifyError::Unsupported(_) | CertifyError::Cancelled => {
                CertifyFailure::Undecided(error)
            }
            _ => CertifyFailure::Refused(error),
        }
    }
}

impl Session {
    /// Reads a model; `name` is for messages.
    ///
    /// ```
    /// let session = threadwise::Session::new("empty.tw", "shared x: bool = true;");
    /// assert!(session.program().is_some());
    /// ```
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Session {
        let text = text.into();
        let checked = threadwise_lang::check(&text);
        Session {
            name: name.into(),
            text,
            origin: None,
            program: checked.program.map(Arc::new),
            diagnostics: checked.diagnostics,
        }
    }

    /// A model that was made from a program of another language, and what is to be said about that. What it says of lines is about the original.
    pub fn imported(
        name: impl Into<String>,
        text: impl Into<String>,
        origin: Origin,
        notes: Vec<Diagnostic>,
    ) -> Session {
        let text = text.into();
        let checked = threadwise_lang::check(&text);
        // Warnings are for those who write models.
        let errors = checked.diagnostics.into_iter();
        let errors = errors.filter(|diagnostic| diagnostic.severity() == Severity::Error);
        let errors = errors.map(|diagnostic| origin.diagnostic(&text, diagnostic));
        let diagnostics = notes.into_iter().chain(errors).collect();
        let program = checked.program.map(|mut program| {
            program.directives = origin.directives();
            Arc::new(program)
        });
        Session {
            name: name.into(),
            text,
            origin: Some(origin),
            program,
            diagnostics,
        }
    }

    /// A program of another language of which no model could be made, and why.
    pub fn refused(
        name: impl Into<String>,
        text: impl Into<String>,
        diagnostics: Vec<Diagnostic>,
    ) -> Session {
        Session {
            name: name.into(),
            text: text.into(),
            origin: None,
            program: None,
            diagnostics,
        }
    }

    /// The name it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the model.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text that somebody wrote: the model's, or that of the program it was made from. Diagnostics, and the lines of traces, are about this one.
    pub fn source(&self) -> &str {
        self.origin
            .as_ref()
            .map_or(&self.text, |origin| &origin.text)
    }

    /// Whether the model was made from a program of another language.
    pub fn is_imported(&self) -> bool {
        self.origin.is_some()
    }

    /// Where the model comes from, if it was made from a program of another language.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// The line of the source that a line of the model comes from, both from 1.
    pub fn line(&self, line: u32) -> Option<u32> {
        match &self.origin {
            Some(origin) => origin.line(line),
            None => Some(line),
        }
    }

    /// A trace whose lines are those of the model, with those of the source.
    pub fn placed(&self, mut trace: Trace) -> Trace {
        if let Some(origin) = &self.origin {
            origin.trace(&self.text, &mut trace);
        }
        trace
    }

    /// Messages about the model as messages about the source.
    fn about_source(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        match &self.origin {
            Some(origin) => diagnostics
                .into_iter()
                .map(|diagnostic| origin.diagnostic(&self.text, diagnostic))
                .collect(),
            None => diagnostics,
        }
    }

    /// The program, if there was no error.
    pub fn program(&self) -> Option<&Arc<Program>> {
        self.program.as_ref()
    }

    /// Errors and warnings in source order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Diagnostics as a report has them.
    pub fn reported(&self, diagnostics: &[Diagnostic], denied: &Denied) -> Vec<ReportedDiagnostic> {
        let text = self.source();
        let lines = LineIndex::new(text);
        let each = diagnostics.iter();
        each.map(|diagnostic| {
            let denied = denied.contains(diagnostic.code);
            ReportedDiagnostic::of(diagnostic, denied, text, &lines)
        })
        .collect()
    }

    /// Whether the model can be checked: no errors, and no warnings that count as errors.
    pub fn accepted(&self, denied: &Denied) -> bool {
        self.program.is_some()
            && self.diagnostics.iter().all(|diagnostic| {
                diagnostic.severity() == Severity::Warning && !denied.contains(diagnostic.code)
            })
    }

    /// The instance with these values; parameters that are not named have their defaults.
    pub fn instance(&self, values: &Values) -> Result<Instance, Vec<Diagnostic>> {
        match &self.program {
            Some(_) => self.build(values).map_err(|all| self.about_source(all)),
            None => Err(self.diagnostics.clone()),
        }
    }

    /// The same, with messages about the model.
    pub(crate) fn build(&self, values: &Values) -> Result<Instance, Vec<Diagnostic>> {
        let Some(program) = &self.program else {
            return Err(self.diagnostics.clone());
        };
        Instance::new(Arc::clone(program), &values.map())
    }

    /// Checks everything in this process, with limits that are kept between operations only.
    pub fn check(&self, options: &Options) -> Result<Report, RequestError> {
        let denied = Denied::default();
        let mut first = Run {
            file: self.name.clone(),
            diagnostics: self.reported(&self.diagnostics, &denied),
            ..Run::default()
        };
        let Some(program) = &self.program else {
            return Ok(Report::new(vec![first]));
        };
        let plan = Plan::new(program, options)?;
        let mut runs = Vec::new();
        for values in &plan.instances {
            let mut run = match self.check_instance(&plan, values, &mut InProcess::default()) {
                Checked::Run(run) => run,
                Checked::Rejected(diagnostics) => Run {
                    file: self.name.clone(),
                    diagnostics: self.reported(&diagnostics, &denied),
                    ..Run::default()
                },
                Checked::Excluded => continue,
            };
            run.diagnostics.splice(0..0, first.diagnostics.drain(..));
            runs.push(run);
        }
        if runs.is_empty() {
            return Err(RequestError::AllExcluded);
        }
        Ok(Report::new(runs))
    }

    /// Checks one instance of a plan, or all that have these values; `executor` runs the engines.
    ///
    /// Parameters without a value stand for all of their values if the engine that was asked for is one for all instances, or if there is a choice. With a choice,
    /// what no engine decides for all of them is decided for the default values.
    pub fn check_instance(
        &self,
        plan: &Plan,
        values: &Values,
        executor: &mut dyn Executor,
    ) -> Checked {
        match &self.program {
            Some(program) => self.about(Checking::new(self, plan, program, values, executor).run()),
            None => Checked::Rejected(self.diagnostics.clone()),
        }
    }

    /// What became of an instance, with the lines of the source.
    fn about(&self, checked: Checked) -> Checked {
        match checked {
            Checked::Run(mut run) => {
                for result in &mut run.results {
                    result.trace = result.trace.take().map(|trace| self.placed(trace));
                    if let (Some(origin), Some(reason)) = (&self.origin, &mut result.reason)
                        && result.verdict == VerdictKind::Unknown
                        && let Some(advice) = origin.advice(&self.text)
                    {
                        // After a limit, a greater one is worth a try, too.
                        let before = reason.next.take().filter(|_| reason.code.is_limit());
                        reason.next = Some(match before {
                            Some(next) => format!("{next}; or {advice}"),
                            None => advice,
                        });
                    }
                }
                Checked::Run(run)
            }
            Checked::Rejected(diagnostics) => Checked::Rejected(self.about_source(diagnostics)),
            Checked::Excluded => Checked::Excluded,
        }
    }

    /// Replays a trace with the interpreter, at the parameter values that the trace names; the trace with its lines and reasons as this
    /// model has them.
    pub fn replay(&self, trace: &Trace) -> Result<Trace, ReplayFailure> {
        Ok(self.placed(self.annotated(trace)?))
    }

    /// The same, with lines of the model.
    pub(crate) fn annotated(&self, trace: &Trace) -> Result<Trace, ReplayFailure> {
        let values = trace.params.iter();
        let values = Values(values.map(|(name, value)| (name.clone(), *value)).collect());
        let instance = self.instance(&values).map_err(ReplayFailure::Instance)?;
        Ok(annotate(&instance, trace, &self.text)?)
    }

    /// Has the independent checker check that a certificate proves a property, at these parameter values. If it is about all values of parameters, these
    /// are the values of the others.
    pub fn certify(
        &self,
        certificate: &Certificate,
        values: &Values,
        property: &str,
    ) -> Result<CertifyReport, CertifyFailure> {
        if let Claim::Family(_) = certificate.claim {
            let program = self.family(certificate, values)?;
            let checked =
                threadwise_certify::check_family(program, certificate, property, &|| false);
            return checked.map_err(CertifyFailure::from);
        }
        let instance = self.instance(values).map_err(CertifyFailure::Instance)?;
        let checked = threadwise_certify::check(&instance, certificate, property, &|| false);
        checked.map_err(CertifyFailure::from)
    }

    /// The program, of which a certificate is about all instances with these values.
    fn family(
        &self,
        certificate: &Certificate,
        values: &Values,
    ) -> Result<&Arc<Program>, CertifyFailure> {
        fits(certificate, values)?;
        let refused = || CertifyFailure::Instance(self.diagnostics.clone());
        self.program.as_ref().ok_or_else(refused)
    }

    /// What a certificate speaks of, in the words of this model.
    pub fn scope(&self, certificate: &Certificate) -> Scope {
        let params = certificate.params.iter();
        let values = Values(params.map(|(name, value)| (name.clone(), *value)).collect());
        match (&certificate.claim, &self.program) {
            (Claim::Family(_), Some(program)) => judge::scope(program, &self.text, &values),
            _ => Scope::Instance { values },
        }
    }

    /// The conditions of a certificate as SMT-LIB 2, for another solver.
    pub fn conditions(
        &self,
        certificate: &Certificate,
        values: &Values,
        property: &str,
    ) -> Result<String, CertifyFailure> {
        let mut text = String::new();
        if let Claim::Family(_) = certificate.claim {
            let program = self.family(certificate, values)?;
            threadwise_certify::smtlib_family(program, certificate, property, &mut text)?;
            return Ok(text);
        }
        let instance = self.instance(values).map_err(CertifyFailure::Instance)?;
        threadwise_certify::smtlib(&instance, certificate, property, &mut text)?;
        Ok(text)
    }
}

/// The value of every parameter, in source order.
pub fn values_of(instance: &Instance) -> Values {
    let params = instance.params();
    Values(
        params
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}
