//! Tables as data: what is to be measured, read from TOML.
//!
//! A table has columns (ways to decide: an engine with options, or a peer) and rows (a model, the
//! property, values of parameters). At most one parameter of a row is a list: the sweep, along which
//! growth is measured. Everything that can be wrong is found here, with its place, before anything runs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use threadwise::{Kind, Only, Session, Values, properties, values_of};
use toml::Spanned;

use crate::Host;
use crate::figures::Figure;
use crate::fit::LEAST_SECONDS;
use crate::peers::Peer;
use crate::target::{Bound, Rival, Target, TargetForm};

/// A table, ready to be run.
#[derive(Debug)]
pub(crate) struct Table {
    /// The name of its file, without the ending: the name on the command line.
    pub(crate) name: String,
    pub(crate) title: String,
    /// What it is about, in Markdown, before the figures.
    pub(crate) text: String,
    /// What follows from it, in Markdown, after the figures.
    pub(crate) notes: String,
    pub(crate) limits: CellLimits,
    /// How many runs the median is of.
    pub(crate) runs: usize,
    /// The figures in a cell of the grid; none for no grid.
    pub(crate) grid: Vec<Figure>,
    /// The figures of each cell in the list below the grid; none for no list.
    pub(crate) list: Vec<Figure>,
    /// The shortest runs that count where growth is fitted.
    pub(crate) growth_from: f64,
    pub(crate) columns: Vec<Column>,
    pub(crate) sources: Vec<Source>,
    pub(crate) rows: Vec<Row>,
    /// Pictures over several rows.
    pub(crate) plots: Vec<Plot>,
    /// Where it stands among the tables of a folder: small numbers first.
    pub(crate) order: i64,
    /// What of it stands at the top of the page.
    pub(crate) glance: Option<Glance>,
}

/// One column beside the fastest of others, at the largest size of each row.
#[derive(Debug)]
pub(crate) struct Glance {
    /// By position.
    pub(crate) column: usize,
    pub(crate) beside: Vec<Rival>,
    /// Further columns, by position.
    pub(crate) also: Vec<usize>,
}

impl Table {
    /// Leaves only the columns with these names.
    pub(crate) fn choose_columns(&mut self, names: &[String]) {
        let kept: Vec<usize> = (0..self.columns.len())
            .filter(|column| names.contains(&self.columns[*column].name))
            .collect();
        let place = |old: &usize| kept.iter().position(|kept| kept == old);
        for row in &mut self.rows {
            row.columns = row.columns.iter().filter_map(place).collect();
            row.targets.retain_mut(|target| {
                let mut columns = vec![&mut target.column];
                if let Bound::Ahead { of, .. } = &mut target.bound {
                    columns.extend(of.iter_mut().filter_map(|rival| match rival {
                        Rival::Column(column) => Some(column),
                        Rival::Published(_) => None,
                    }));
                }
                columns.into_iter().all(|column| {
                    let new = place(column);
                    *column = new.unwrap_or(0);
                    new.is_some()
                })
            });
        }
        // A comparison without one of those compared would mislead.
        self.glance = self.glance.take().and_then(|glance| {
            let rival = |rival| match rival {
                Rival::Column(column) => Some(Rival::Column(place(&column)?)),
                published => Some(published),
            };
            Some(Glance {
                column: place(&glance.column)?,
                beside: glance
                    .beside
                    .into_iter()
                    .map(rival)
                    .collect::<Option<_>>()?,
                also: glance.also.iter().filter_map(place).collect(),
            })
        });
        self.columns.retain(|column| names.contains(&column.name));
    }
}

/// What a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct CellLimits {
    /// Processor time.
    pub(crate) seconds: f64,
    pub(crate) memory_mib: u64,
}

/// A way to decide a property.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) tool: Tool,
    pub(crate) options: Vec<String>,
    /// The parameter of a sweep is left open, and a proof counts if it is for all values.
    pub(crate) open: bool,
}

/// What decides.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tool {
    /// One of our engines.
    Engine(String),
    Peer(Peer),
}

/// Where published figures are from.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// The head of the column.
    pub(crate) label: String,
    /// The publication, with table or figure.
    pub(crate) citation: String,
}

/// A picture with a curve for each of some columns of some rows, all over the same parameter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plot {
    pub(crate) name: String,
    /// By their names; those that were not chosen on the command line are left out.
    pub(crate) rows: Vec<String>,
    /// In the same way.
    pub(crate) columns: Vec<String>,
}

/// A model at several sizes.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// The model's file.
    pub(crate) model: PathBuf,
    /// The model.
    pub(crate) model_text: String,
    /// The properties checked; none for all safety properties.
    pub(crate) properties: Vec<String>,
    /// What else is left out: with liveness alone, the built-in checks, which its engines do not take.
    pub(crate) only: Option<Only>,
    /// The parameter that is swept over, if there is one.
    pub(crate) sweep: Option<String>,
    /// The instances: those of the sweep in ascending order, or a single one.
    pub(crate) instances: Vec<Values>,
    /// The same with the default values of all other parameters: what engines are asked about that do not leave any open.
    pub(crate) settled: Vec<Values>,
    /// The columns that apply, by position.
    pub(crate) columns: Vec<usize>,
    /// What the verdict is known to be.
    pub(crate) expected: Option<Decided>,
    /// For each source, by position, a figure for each instance.
    pub(crate) published: Vec<Vec<String>>,
    pub(crate) targets: Vec<Target>,
}

impl Row {
    /// The row at an instance, as it is printed: `mux_sem N=20`.
    pub(crate) fn label(&self, instance: usize) -> String {
        match &self.instances[instance] {
            values if values.is_empty() => self.name.clone(),
            values => format!("{} {values}", self.name),
        }
    }

    /// Whether there can be a figure of somebody at an instance.
    pub(crate) fn has(&self, rival: Rival, instance: usize) -> bool {
        match rival {
            Rival::Column(column) => self.columns.contains(&column),
            Rival::Published(source) => !self.published[source][instance].is_empty(),
        }
    }

    /// The value of the swept parameter in an instance.
    pub(crate) fn size(&self, instance: usize) -> Option<i64> {
        self.instances[instance].get(self.sweep.as_deref()?)
    }
}

/// A verdict that decides.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decided {
    Proved,
    Violated,
}

impl Decided {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Decided::Proved => "proved",
            Decided::Violated => "violated",
        }
    }
}

/// Why a table cannot be used.
#[derive(Debug, Error)]
pub(crate) enum TableError {
    #[error("{0}")]
    Unreadable(String),
    #[error("{name}:{line}:{column}: {message}")]
    Wrong {
        name: String,
        line: usize,
        column: usize,
        message: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm {
    title: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    notes: String,
    #[serde(default = "default_timeout")]
    timeout: Spanned<f64>,
    #[serde(default = "default_memory")]
    memory: Spanned<u64>,
    #[serde(default = "default_runs")]
    runs: Spanned<usize>,
    #[serde(default = "default_growth_from")]
    growth_from: Spanned<f64>,
    #[serde(default = "default_grid")]
    grid: Vec<Figure>,
    #[serde(default = "default_list")]
    list: Vec<Figure>,
    column: Vec<Spanned<ColumnForm>>,
    #[serde(default)]
    published: Vec<Source>,
    row: Vec<Spanned<RowForm>>,
    #[serde(default)]
    plot: Vec<Spanned<Plot>>,
    /// For every row.
    #[serde(default)]
    target: Vec<Spanned<TargetForm>>,
    #[serde(default)]
    order: i64,
    glance: Option<Spanned<GlanceForm>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GlanceForm {
    column: String,
    beside: Vec<String>,
    #[serde(default)]
    also: Vec<String>,
}

fn default_timeout() -> Spanned<f64> {
    Spanned::new(0..0, 60.0)
}

fn default_memory() -> Spanned<u64> {
    Spanned::new(0..0, 4096)
}

fn default_runs() -> Spanned<usize> {
    Spanned::new(0..0, 3)
}

fn default_growth_from() -> Spanned<f64> {
    Spanned::new(0..0, LEAST_SECONDS)
}

fn default_grid() -> Vec<Figure> {
    vec![Figure::Cpu]
}

fn default_list() -> Vec<Figure> {
    use Figure::*;
    vec![Cpu, Proof, Recheck, Memory, States, Nodes]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnForm {
    name: Option<String>,
    engine: Option<String>,
    peer: Option<Peer>,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    open: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowForm {
    name: Option<String>,
    model: PathBuf,
    #[serde(default)]
    property: OneOrMore<String>,
    #[serde(default)]
    set: BTreeMap<String, OneOrMore<i64>>,
    columns: Option<Vec<String>>,
    expect: Option<Decided>,
    #[serde(default)]
    published: BTreeMap<String, OneOrMore<Published>>,
    #[serde(default)]
    target: Vec<TargetForm>,
}

/// A value, or a list of them.
#[derive(Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a value of the right type, or a list of them"
)]
pub(crate) enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> Default for OneOrMore<T> {
    fn default() -> OneOrMore<T> {
        OneOrMore::More(Vec::new())
    }
}

impl<T> OneOrMore<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            OneOrMore::One(value) => vec![value],
            OneOrMore::More(values) => values,
        }
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            OneOrMore::One(value) => std::slice::from_ref(value),
            OneOrMore::More(values) => values,
        }
    }
}

/// A published figure is shown as it stands.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number or a text")]
enum Published {
    Whole(i64),
    Number(f64),
    Text(String),
}

impl Published {
    fn shown(self) -> String {
        match self {
            Published::Whole(number) => number.to_string(),
            Published::Number(number) => number.to_string(),
            Published::Text(text) => text,
        }
    }
}

/// A message and the bytes that it is about.
struct Wrong(Range<usize>, String);

/// Reads a table and the models that it names.
pub(crate) fn read(path: &Path, host: &dyn Host) -> Result<Table, TableError> {
    let table = host.table(path).map_err(TableError::Unreadable)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let model = |model: &Path| {
        let path = folder.join(model);
        let text = host.model(&path)?;
        Ok((path, text))
    };
    let takes = |engine: &str, options: &[String]| host.column(engine, options);
    parse(&table, &name, &model, &takes).map_err(|Wrong(span, message)| {
        let before = table.get(..span.start).unwrap_or_default();
        let start_of_line = before.rfind('\n').map_or(0, |at| at + 1);
        TableError::Wrong {
            name: path.display().to_string(),
            line: before.matches('\n').count() + 1,
            column: before[start_of_line..].chars().count() + 1,
            message,
        }
    })
}

/// Finds a model: its path from here, and its text.
type ReadModel<'a> = dyn Fn(&Path) -> Result<(PathBuf, String), String> + 'a;
/// Whether `check` takes an engine with options.
type Takes<'a> = dyn Fn(&str, &[String]) -> Result<(), String> + 'a;

fn parse(
    text: &str,
    name: &str,
    read_model: &ReadModel<'_>,
    takes: &Takes<'_>,
) -> Result<Table, Wrong> {
    let form: FileForm = toml::from_str(text)
        .map_err(|error| Wrong(error.span().unwrap_or(0..0), error.message().to_owned()))?;
    let seconds = *form.timeout.get_ref();
    if !(seconds > 0.0 && seconds <= 1e6) {
        let message = "`timeout` is a positive number of seconds".to_owned();
        return Err(Wrong(form.timeout.span(), message));
    }
    let memory_mib = *form.memory.get_ref();
    if !(16..=1 << 20).contains(&memory_mib) {
        let message = "`memory` is a number of MiB from 16 on".to_owned();
        return Err(Wrong(form.memory.span(), message));
    }
    let runs = *form.runs.get_ref();
    if !(1..=1000).contains(&runs) {
        let message = "`runs` is a number from 1 to 1000".to_owned();
        return Err(Wrong(form.runs.span(), message));
    }
    let growth_from = *form.growth_from.get_ref();
    if !(growth_from > 0.0 && growth_from <= 1e6) {
        let message = "`growth_from` is a positive number of seconds".to_owned();
        return Err(Wrong(form.growth_from.span(), message));
    }
    let mut columns: Vec<Column> = Vec::new();
    for form in form.column {
        let span = form.span();
        let column =
            column(form.into_inner(), takes).map_err(|message| Wrong(span.clone(), message))?;
        if columns.iter().any(|other| other.name == column.name) {
            let message = format!("there are two columns named `{}`", column.name);
            return Err(Wrong(span, message));
        }
        columns.push(column);
    }
    let mut rows: Vec<Row> = Vec::new();
    for found in form.row {
        let span = found.span();
        let row = row(found.into_inner(), &columns, &form.published, read_model)
            .map_err(|message| Wrong(span.clone(), message))?;
        if rows.iter().any(|other| other.name == row.name) {
            let message = format!("there are two rows named `{}`: give one a `name`", row.name);
            return Err(Wrong(span, message));
        }
        rows.push(row);
    }
    for target in form.target {
        let span = target.span();
        let target = target.into_inner();
        let rival = |name: &String| rival(&columns, &form.published, name);
        let column = column_position(&columns, &target.column);
        for row in &mut rows {
            let targets = column.clone().and_then(|c| target.of_table(c, rival, row));
            let targets = targets.map_err(|message| Wrong(span.clone(), message))?;
            row.targets.extend(targets);
        }
    }
    let mut plots: Vec<Plot> = Vec::new();
    for found in form.plot {
        let span = found.span();
        let plot = found.into_inner();
        plot_fits(&plot, &columns, &rows, &plots).map_err(|message| Wrong(span, message))?;
        plots.push(plot);
    }
    let glance = form.glance.map(|found| {
        let span = found.span();
        let form_of = found.into_inner();
        glance(&form_of, &columns, &form.published).map_err(|message| Wrong(span, message))
    });
    Ok(Table {
        name: name.to_owned(),
        title: form.title,
        text: form.text,
        notes: form.notes,
        limits: CellLimits {
            seconds,
            memory_mib,
        },
        runs,
        grid: form.grid,
        list: form.list,
        growth_from,
        columns,
        sources: form.published,
        rows,
        plots,
        order: form.order,
        glance: glance.transpose()?,
    })
}

fn glance(form: &GlanceForm, columns: &[Column], sources: &[Source]) -> Result<Glance, String> {
    let position = |name: &String| column_position(columns, name);
    let rivals = form.beside.iter().map(|name| rival(columns, sources, name));
    Ok(Glance {
        column: position(&form.column)?,
        beside: rivals.collect::<Result<_, _>>()?,
        also: form.also.iter().map(position).collect::<Result<_, _>>()?,
    })
}

/// Whether a picture over several rows can be drawn; if not, why.
fn plot_fits(plot: &Plot, columns: &[Column], rows: &[Row], before: &[Plot]) -> Result<(), String> {
    let mut names = rows.iter().map(|row| &row.name);
    if names.any(|name| *name == plot.name) || before.iter().any(|other| other.name == plot.name) {
        return Err(format!(
            "there is a row or another plot named `{}`",
            plot.name
        ));
    }
    for name in &plot.columns {
        column_position(columns, name)?;
    }
    let mut sweep = None;
    for name in &plot.rows {
        let Some(row) = rows.iter().find(|row| row.name == *name) else {
            return Err(format!("there is no row `{name}`"));
        };
        let of_row = row.sweep.as_deref();
        let of_row = of_row.ok_or_else(|| format!("the row `{name}` has no sweep"))?;
        if *sweep.get_or_insert(of_row) != of_row {
            return Err("the rows of a plot are all over the same parameter".to_owned());
        }
    }
    Ok(())
}

/// The position of a column by its name.
fn column_position(columns: &[Column], name: &str) -> Result<usize, String> {
    let found = columns.iter().position(|column| column.name == *name);
    found.ok_or_else(|| {
        let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
        let names = names.join(", ");
        format!("there is no column `{name}`; there are: {names}")
    })
}

/// A column or published figures, by their name.
fn rival(columns: &[Column], sources: &[Source], name: &str) -> Result<Rival, String> {
    let source = sources.iter().position(|source| source.label == name);
    match source {
        Some(source) => Ok(Rival::Published(source)),
        None => column_position(columns, name).map(Rival::Column),
    }
}

fn column(form: ColumnForm, takes: &Takes<'_>) -> Result<Column, String> {
    let tool = match (form.engine, form.peer) {
        (Some(engine), None) => {
            // What `check` would refuse is refused here, before hours of runs.
            takes(&engine, &form.options)?;
            Tool::Engine(engine)
        }
        (None, Some(_)) if form.open => {
            return Err("`open` is for an engine".to_owned());
        }
        (None, Some(peer)) => Tool::Peer(peer),
        _ => return Err("a column has either `engine` or `peer`".to_owned()),
    };
    let own_name = match &tool {
        Tool::Engine(engine) => engine,
        Tool::Peer(peer) => peer.title(),
    };
    let name = form.name.unwrap_or_else(|| {
        let words = std::iter::once(own_name).chain(form.options.iter().map(|o| &**o));
        words.collect::<Vec<_>>().join(" ")
    });
    Ok(Column {
        name,
        tool,
        options: form.options,
        open: form.open,
    })
}

fn row(
    form: RowForm,
    columns: &[Column],
    sources: &[Source],
    read_model: &ReadModel<'_>,
) -> Result<Row, String> {
    let shown = form.model.display().to_string();
    let (model, model_text) =
        read_model(&form.model).map_err(|message| format!("{shown}: {message}"))?;
    let session = Session::new(shown.clone(), model_text.clone());
    let Some(program) = session.program() else {
        return Err(format!("{shown}: the model has errors"));
    };
    let wanted = form.property.into_vec();
    let known = properties(program);
    if let Some(unknown) = wanted.iter().find(|w| known.iter().all(|k| k.name != **w)) {
        return Err(format!("{shown} has no property `{unknown}`"));
    }
    let kind = |name: &String| known.iter().find(|k| k.name == *name).map(|k| k.kind);
    let only = match wanted.as_slice() {
        [] => Some(Only::Safety),
        names if names.iter().all(|n| kind(n) == Some(Kind::Liveness)) => Some(Only::Liveness),
        _ => None,
    };
    let (sweep, instances) = instances(form.set)?;
    for (name, _) in instances.iter().flat_map(|values| &values.0) {
        if program.params.iter().all(|param| param.name != *name) {
            return Err(format!("{shown} has no parameter `{name}`"));
        }
    }
    let mut settled = Vec::new();
    for values in &instances {
        match session.instance(values) {
            Ok(instance) => settled.push(values_of(&instance)),
            Err(diagnostics) => {
                let messages: Vec<&str> = diagnostics.iter().map(|d| &*d.message).collect();
                return Err(format!("{shown}: {}", messages.join("; ")));
            }
        }
    }
    let position = |name: &String| column_position(columns, name);
    let mut chosen: Vec<usize> = match &form.columns {
        Some(names) => names.iter().map(position).collect::<Result<_, _>>()?,
        None => (0..columns.len()).collect(),
    };
    chosen.sort_unstable();
    chosen.dedup();
    let mut published = vec![vec![String::new(); instances.len()]; sources.len()];
    for (label, figures) in form.published {
        let Some(source) = sources.iter().position(|source| source.label == label) else {
            return Err(format!(
                "there is no `[[published]]` with the label `{label}`"
            ));
        };
        let figures: Vec<String> = figures.into_vec().into_iter().map(|f| f.shown()).collect();
        if figures.len() != instances.len() {
            return Err(format!(
                "`{label}` has {} published figures for {} instances; an empty text is a gap",
                figures.len(),
                instances.len()
            ));
        }
        published[source] = figures;
    }
    let name = form.name.unwrap_or_else(|| {
        let stem = form.model.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    });
    let mut row = Row {
        name,
        model,
        model_text,
        properties: wanted,
        only,
        sweep,
        instances,
        settled,
        columns: chosen,
        expected: form.expect,
        published,
        targets: Vec::new(),
    };
    let rival = |name: &String| rival(columns, sources, name);
    for target in form.target {
        let target = target.of_row(position(&target.column)?, rival, &row)?;
        row.targets.push(target);
    }
    Ok(row)
}

/// The parameter that is swept over, and the instances in ascending order.
fn instances(
    set: BTreeMap<String, OneOrMore<i64>>,
) -> Result<(Option<String>, Vec<Values>), String> {
    let mut sweep = None;
    let mut fixed = Vec::new();
    for (name, values) in set {
        match values {
            OneOrMore::One(value) => fixed.push((name, value)),
            OneOrMore::More(values) => {
                if values.is_empty() || !values.is_sorted_by(|a, b| a < b) {
                    return Err(format!("the values of `{name}` are not ascending"));
                }
                if sweep.is_some() {
                    return Err(
                        "only one parameter of a row may be a list; write more rows".to_owned()
                    );
                }
                sweep = Some((name, values));
            }
        }
    }
    let Some((name, values)) = sweep else {
        return Ok((None, vec![Values(fixed)]));
    };
    let instances = values.iter().map(|value| {
        let own = std::iter::once((name.clone(), *value));
        Values(own.chain(fixed.iter().cloned()).collect())
    });
    let instances = instances.collect();
    Ok((Some(name), instances))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "\
param N = 3 where N >= 2;
param M = 3;
shared x: 0..M = 0;
process P[i: 1..N] { loop { a: x := 0; } }
invariant small: x <= M;
";

    fn table(text: &str) -> Result<Table, String> {
        let model = |path: &Path| match path == Path::new("m.tw") {
            true => Ok((path.to_owned(), MODEL.to_owned())),
            false => Err("there is no such file".to_owned()),
        };
        let takes = |engine: &str, _: &[String]| match engine {
            "forwards" => Err("there is no such engine".to_owned()),
            _ => Ok(()),
        };
        parse(text, "t", &model, &takes).map_err(|Wrong(span, message)| {
            format!(
                "{}: {message}",
                text[..span.start].matches('\n').count() + 1
            )
        })
    }

    const HEAD: &str = "title = 'T'\n[[column]]\nengine = 'forward'\n";

    #[test]
    fn a_sweep_becomes_instances_in_order() {
        let text = format!(
            "{HEAD}[[column]]\nengine = 'explicit'\noptions = ['--threads', '1']\n\
             [[published]]\nlabel = 'A'\ncitation = 'B'\n\
             [[row]]\nmodel = 'm.tw'\nproperty = 'small'\nset = {{ M = 2, N = [2, 5] }}\n\
             columns = ['explicit --threads 1']\npublished = {{ A = [0.5, '> 1'] }}\n\
             [[row.target]]\ncolumn = 'forward'\nat = 5\nbelow = 2\n\
             [[row.target]]\ncolumn = 'forward'\ngrowth_at_most = 2.3\n"
        );
        let table = table(&text).unwrap();
        let row = &table.rows[0];
        let shown: Vec<String> = row.instances.iter().map(|i| i.to_string()).collect();
        assert_eq!(shown, ["N=2, M=2", "N=5, M=2"]);
        assert_eq!(row.sweep.as_deref(), Some("N"));
        assert_eq!(row.size(1), Some(5));
        assert_eq!(row.name, "m");
        assert_eq!(row.columns, [1]);
        assert_eq!(row.published, [["0.5", "> 1"]]);
        assert!(matches!(
            row.targets[..],
            [
                Target {
                    bound: Bound::Figure { instance: 1, .. },
                    ..
                },
                Target {
                    bound: Bound::Growth { .. },
                    ..
                }
            ]
        ));
        assert_eq!(table.runs, 3);
        assert_eq!(table.columns[1].options, ["--threads", "1"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let row = "[[row]]\nmodel = 'm.tw'\n";
        let plot = "[[plot]]\nname = 'p'\nrows = ['m']\n";
        for (text, message) in [
            ("titel = 'T'".to_owned(), "1: unknown field `titel`"),
            (
                "title = 'T'\nrow = []\n[[column]]\nengine = 'forwards'\n".to_owned(),
                "3: there is no such engine",
            ),
            (
                "title = 'T'\nrow = []\n[[column]]\noptions = []\n".to_owned(),
                "3: a column has either",
            ),
            (
                "title = 'T'\nrow = []\n[[column]]\npeer = 'spinn'\n".to_owned(),
                "4: unknown variant `spinn`",
            ),
            (
                format!("{HEAD}[[column]]\nengine = 'forward'\n{row}"),
                "4: there are two columns",
            ),
            (
                format!("{HEAD}[[row]]\nmodel = 'n.tw'\n"),
                "4: n.tw: there is no such file",
            ),
            (
                format!("{HEAD}{row}property = 'large'\n"),
                "4: m.tw has no property `large`",
            ),
            (
                format!("{HEAD}{row}set = {{ K = 1 }}\n"),
                "4: m.tw has no parameter `K`",
            ),
            (
                format!("{HEAD}{row}set = {{ N = [3, 2] }}\n"),
                "4: the values of `N` are not ascending",
            ),
            (
                format!("{HEAD}{row}set = {{ N = [2], M = [2] }}\n"),
                "4: only one parameter",
            ),
            (
                format!("{HEAD}{row}set = {{ N = [1, 2] }}\n"),
                "4: m.tw: `where` does not hold with N = 1",
            ),
            (
                format!("{HEAD}{row}columns = ['backward']\n"),
                "4: there is no column `backward`; there are: forward",
            ),
            (
                format!("{HEAD}{row}published = {{ A = [1] }}\n"),
                "4: there is no `[[published]]`",
            ),
            (format!("{HEAD}{row}{row}"), "6: there are two rows named"),
            (
                format!("runs = 0\n{HEAD}{row}"),
                "1: `runs` is a number from 1",
            ),
            (
                format!("timeout = -1\n{HEAD}{row}"),
                "1: `timeout` is a positive",
            ),
            (
                format!("{HEAD}{row}[[row.target]]\ncolumn = 'forward'\nbelow = nan\n"),
                "4: the bounds of a target are positive numbers",
            ),
            (
                format!("{HEAD}{row}[[row.target]]\ncolumn = 'forward'\nbelow = inf\n"),
                "4: the bounds of a target are positive numbers",
            ),
            (
                format!(
                    "{HEAD}{row}[[row.target]]\ncolumn = 'forward'\nbelow = 1\nor_times_proof = -inf\n"
                ),
                "4: the bounds of a target are positive numbers",
            ),
            (
                format!("{HEAD}{row}[[row.target]]\ncolumn = 'forward'\ngrowth_at_most = 2\n"),
                "4: `growth_at_most` is for a row with a sweep",
            ),
            (
                format!(
                    "{HEAD}{row}set = {{ N = [2, 3] }}\n\
                     [[row.target]]\ncolumn = 'forward'\nat = 3\ngrowth_at_most = 2\n"
                ),
                "4: a target has `below`, or `ahead_of` and perhaps",
            ),
            (
                format!("{HEAD}{row}[[row.target]]\ncolumn = 'forward'\nahead_of = 'backward'\n"),
                "4: there is no column `backward`",
            ),
            (
                format!("growth_from = 0\n{HEAD}{row}"),
                "1: `growth_from` is a positive",
            ),
            (
                format!("{HEAD}{row}{plot}columns = ['backward']\n"),
                "6: there is no column `backward`",
            ),
            (
                format!("{HEAD}{row}{plot}columns = ['forward']\n"),
                "6: the row `m` has no sweep",
            ),
            (
                format!(
                    "{HEAD}{row}{}columns = ['forward']\n",
                    plot.replace("'m'", "'n'")
                ),
                "6: there is no row `n`",
            ),
            (
                format!(
                    "{HEAD}{row}{}columns = ['forward']\n",
                    plot.replace("'p'", "'m'")
                ),
                "6: there is a row or another plot named `m`",
            ),
            (
                format!(
                    "{HEAD}{row}set = {{ N = [2, 3] }}\n{row}name = 'other'\nset = {{ M = [2, 3] }}\n\
                     {}columns = ['forward']\n",
                    plot.replace("['m']", "['m', 'other']")
                ),
                "11: the rows of a plot are all over the same parameter",
            ),
            (format!("{HEAD}{row}set = {{"), "6: "),
        ] {
            let error = table(&text).unwrap_err();
            assert!(error.contains(message), "`{error}` for {text}");
        }
    }
}
