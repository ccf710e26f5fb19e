//! A program that was read: the place where everything begins.

use std::borrow::Cow;
use std::sync::Arc;

use threadwise_certify::{Error as CertifyError, Report as CertifyReport};
use threadwise_evidence::{Certificate, Claim, ReplayError, Trace, annotate};
use threadwise_lang::diagnostics::{Code, Diagnostic, Severity};
use threadwise_lang::print::{Layout, print};
use threadwise_lang::program::Program;
use threadwise_lang::render::LineIndex;
use threadwise_lang::source::{SourceLines, SourceMap};
use threadwise_model::instance::Instance;

use crate::checking::Checking;
use crate::foreign;
use crate::in_process::InProcess;
use crate::job::Executor;
use crate::judge::{self, fits};
use crate::plan::{Denied, Options, Plan, RequestError};
use crate::report::{Report, ReportedDiagnostic, Run, Scope, VerdictKind};
use crate::setting::Values;

/// A program and what the front end said about it.
#[derive(Clone, Debug)]
pub struct Session {
    name: String,
    /// What it was read from.
    source: Arc<SourceMap>,
    program: Option<Arc<Program>>,
    /// How the program is printed in our language, if it was made from another one.
    layout: Option<Layout>,
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
        let (name, text) = (name.into(), text.into());
        let checked = threadwise_lang::check(&text);
        let source = Arc::new(SourceMap::of(&name, &text));
        let program = checked.program.map(|program| {
            let source = Arc::clone(&source);
            Arc::new(Program { source, ..program })
        });
        Session {
            name,
            source,
            program,
            layout: None,
            diagnostics: checked.diagnostics,
        }
    }

    /// A program that a front end made from one of another language, how it is printed in ours, and what is to be said about the original.
    pub fn imported(
        name: impl Into<String>,
        mut program: Program,
        layout: Layout,
        notes: Vec<Diagnostic>,
    ) -> Session {
        program.directives = foreign::directives(program.source.text());
        Session {
            name: name.into(),
            source: Arc::clone(&program.source),
            program: Some(Arc::new(program)),
            layout: Some(layout),
            diagnostics: notes,
        }
    }

    /// A program of another language of which no model could be made, and why.
    pub fn refused(
        name: impl Into<String>,
        text: impl Into<String>,
        diagnostics: Vec<Diagnostic>,
    ) -> Session {
        let name = name.into();
        Session {
            source: Arc::new(SourceMap::foreign(&name, &text.into())),
            name,
            program: None,
            layout: None,
            diagnostics,
        }
    }

    /// The name it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text that somebody wrote: a model, or a program of another language. Diagnostics, and the lines of traces, are about this one.
    pub fn source(&self) -> &str {
        self.source.text()
    }

    /// The program as a model: what somebody wrote, or as it is printed.
    pub fn model(&self) -> Cow<'_, str> {
        match (&self.program, &self.layout) {
            (Some(program), Some(layout)) => Cow::Owned(print(program, layout)),
            _ => Cow::Borrowed(self.source()),
        }
    }

    /// Whether the program was made from one of another language.
    pub fn is_imported(&self) -> bool {
        self.layout.is_some()
    }

    /// Finds the lines of places in the program.
    pub fn lines(&self) -> SourceLines<'_> {
        self.source.lines()
    }

    /// Messages about the program as messages about what somebody wrote.
    fn about_source(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        match self.is_imported() {
            true => diagnostics
                .into_iter()
                .map(|diagnostic| foreign::diagnostic(&self.source, diagnostic))
                .collect(),
            false => diagnostics,
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
            let mut engines = InProcess::new(options.registry.clone());
            let mut run = match self.check_instance(&plan, values, &mut engines) {
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
        // From no initial state everything would follow.
        let none = |all: &[Diagnostic]| all.iter().any(|d| d.code == Code::NoInitialState);
        match &self.program {
            Some(program) if !program.initially.is_empty() => match self.build(values) {
                Err(all) if none(&all) => Checked::Rejected(self.about_source(all)),
                _ => self.about(Checking::new(self, plan, program, values, executor).run()),
            },
            Some(program) => self.about(Checking::new(self, plan, program, values, executor).run()),
            None => Checked::Rejected(self.diagnostics.clone()),
        }
    }

    /// What became of an instance, with what is to be done about it in terms of the source.
    fn about(&self, checked: Checked) -> Checked {
        match checked {
            Checked::Run(mut run) => {
                let advice = self.program.as_deref().and_then(foreign::advice);
                for result in &mut run.results {
                    if let (Some(advice), Some(reason)) = (&advice, &mut result.reason)
                        && result.verdict == VerdictKind::Unknown
                    {
                        // After a limit, a greater one is worth a try, too.
                        let before = reason.next.take().filter(|_| reason.code.is_limit());
                        reason.next = Some(match before {
                            Some(next) => format!("{next}; or {advice}"),
                            None => advice.clone(),
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
        let values = trace.params.iter();
        let values = Values(values.map(|(name, value)| (name.clone(), *value)).collect());
        let instance = self.instance(&values).map_err(ReplayFailure::Instance)?;
        Ok(annotate(&instance, trace)?)
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
            (Claim::Family(_), Some(program)) => judge::scope(program, &values),
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
            threadwise_conditions::smtlib_family(program, certificate, property, &mut text)?;
            return Ok(text);
        }
        let instance = self.instance(values).map_err(CertifyFailure::Instance)?;
        threadwise_conditions::smtlib(&instance, certificate, property, &mut text)?;
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
