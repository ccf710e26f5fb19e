//! The model as text, with the line of the original behind every line of it.

use super::flow;
use super::graph::Graph;
use super::ir::*;
use super::names::Names;
use super::properties;
use super::ranges;
use super::steps::{Found, Line, Steps};
use super::texts::{Added, Guard, Texts, Tracked, View, and, not, or, pid_only, scalar};
use super::visible;
use crate::from_promela::syntax::{At, Promela, Type};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a model.
const MAX_TEXT: usize = 4_000_000;

pub(super) type Locations = BTreeMap<(TemplateId, NodeId), String>;

/// Lines with the places they come from.
#[derive(Default)]
pub(super) struct Output {
    pub lines: Vec<(String, Option<At>)>,
    size: usize,
}

impl Output {
    pub(super) fn push(&mut self, text: impl Into<String>, at: Option<At>) {
        let text = text.into();
        self.size += text.len();
        self.lines.push((text, at));
    }

    pub(super) fn too_large(&self) -> bool {
        self.size > MAX_TEXT
    }
}

/// Whether a variable stands in the model.
pub(super) fn emitted(program: &Program, id: VarId) -> bool {
    let var = &program.vars[id.0];
    if var.owner.is_some_and(|t| !program.templates[t.0].present) || !var.used {
        return false;
    }
    // A parameter that can only be one channel.
    let chan = program.chans.iter().position(|c| c.var == Some(id));
    match chan {
        Some(at) => program.class_of[at].is_some_and(|(class, _)| program.classes[class.0].indexed),
        None => true,
    }
}

/// Everything that is needed to write the model.
pub(super) struct Plan<'p> {
    pub source: &'p Promela,
    pub program: Program,
    pub added: Added,
    pub tracked: Tracked,
    pub locations: Locations,
    pub found: Found,
    pub exclusive: bool,
    pub sender: bool,
    pub names: Names,
    /// Assignments that set initial values which a declaration cannot say.
    pub setup: Vec<(String, At)>,
    /// The never claims.
    pub claims: Vec<Graph>,
    /// The predicates of each formula.
    pub predicates: Vec<(usize, properties::Predicates)>,
}

impl Plan<'_> {
    pub(super) fn texts(&self) -> Texts<'_> {
        Texts {
            program: &self.program,
            added: &self.added,
            tracked: &self.tracked,
            no_timeout: false,
            locations: &self.locations,
        }
    }
}

/// Chooses names for everything but locations.
pub(super) fn name_all(program: &mut Program) -> (Names, Added) {
    let mut names = Names::default();
    for template in &mut program.templates {
        template.name = names.fresh(&template.original);
    }
    for var in program.vars.iter_mut().filter(|v| v.owner.is_none()) {
        var.name = names.fresh(&var.name);
    }
    for (name, _, new) in &mut program.members {
        *new = names.fresh(name);
    }
    let owners: Vec<String> = program.templates.iter().map(|t| t.name.clone()).collect();
    for var in &mut program.vars {
        if let (Some(owner), true) = (var.owner, var.shared) {
            var.name = names.fresh(&format!("{}_{}", owners[owner.0], var.name));
        }
    }
    let added = Added {
        exclusive: names.fresh("exclusive"),
        nr_pr: names.fresh("nr_pr"),
        stuck: names.fresh("nothing_executable"),
        sender: names.fresh("sender"),
        pid: names.fresh("pid"),
        other: names.fresh("other"),
        some: names.fresh("id"),
        once: names.fresh("once"),
        slot: names.stem("slot"),
        slot2: names.fresh("index"),
        setup: names.fresh("setup"),
        begin: "begin".into(),
        on: owners
            .iter()
            .map(|o| names.fresh(&format!("{o}_started")))
            .collect(),
        place: owners
            .iter()
            .map(|o| names.fresh(&format!("{o}_at")))
            .collect(),
    };
    for at in 0..program.templates.len() {
        let mut own = names.clone();
        for local in program.templates[at].locals.clone() {
            let var = &mut program.vars[local.0];
            if !var.shared {
                var.name = own.fresh(&var.name);
            }
        }
    }
    (names, added)
}

/// Finds locations and who may hold the right to move, by writing the steps until nothing changes.
pub(super) fn settle(plan: &mut Plan<'_>, line_of: &dyn Fn(At) -> u32) -> Result<()> {
    let rendezvous = plan.program.classes.iter().any(|c| c.capacity == 0);
    let mut before = Found::default();
    for _ in 0..20 {
        let mut found = Found::default();
        let exclusive = rendezvous || !before.held.is_empty() || !plan.setup.is_empty();
        let mut locations = Locations::new();
        for (at, template) in plan.program.present() {
            let id = TemplateId(at);
            found.reach(id, template.entry);
            while let Some(node) = found.waiting.pop() {
                let texts = plan.texts();
                let mut steps = Steps {
                    texts: &texts,
                    template: id,
                    before: &before,
                    found: &mut found,
                    exclusive,
                    tracked: &plan.tracked,
                    sender: plan.sender,
                };
                steps.location(node)?;
            }
            name_locations(plan, id, &found, line_of, &mut locations);
        }
        let stable = found.locations == before.locations && found.held.is_subset(&before.held);
        plan.locations = locations;
        plan.exclusive = exclusive;
        if stable {
            plan.found = before;
            return Ok(());
        }
        before.locations = found.locations;
        before.held.extend(found.held);
    }
    refuse(
        plan.program.templates[0].at,
        "this program, whose atomic sequences are too entangled",
        "make them simpler",
    )
}

fn name_locations(
    plan: &Plan<'_>,
    id: TemplateId,
    found: &Found,
    line_of: &dyn Fn(At) -> u32,
    into: &mut Locations,
) {
    let template = &plan.program.templates[id.0];
    let mut names = plan.names.clone();
    for local in &template.locals {
        let var = &plan.program.vars[local.0];
        if !var.shared {
            names.fresh(&var.name);
        }
    }
    let here: Vec<NodeId> = found
        .locations
        .iter()
        .filter(|(t, _)| *t == id)
        .map(|(_, n)| *n)
        .collect();
    for node in &here {
        if let Some(label) = template.nodes[node.0].labels.first() {
            into.insert((id, *node), names.fresh(label));
        }
    }
    for node in here {
        let found = &template.nodes[node.0];
        if found.labels.is_empty() {
            let wanted = if found.end {
                "ended".to_string()
            } else {
                format!("l{}", line_of(found.at))
            };
            into.insert((id, node), names.fresh(&wanted));
        }
    }
}

/// Writes the whole model.
pub(super) fn model(plan: &Plan<'_>, out: &mut Output) -> Result<()> {
    let mut body = Output::default();
    for (at, template) in plan.program.templates.iter().enumerate() {
        if template.present {
            process(plan, TemplateId(at), &mut body)?;
        }
        if body.too_large() {
            return refuse(
                template.at,
                "a program whose model would be too large",
                "make it smaller",
            );
        }
    }
    if !plan.setup.is_empty() {
        body.push("// Sets initial values before anybody else moves.", None);
        body.push(format!("process {} {{", plan.added.setup), None);
        body.push(format!("{}: atomic {{", plan.added.begin), None);
        body.push(
            format!(
                "await {} == {};",
                plan.added.exclusive,
                setting_up(&plan.program)
            ),
            None,
        );
        for (line, at) in &plan.setup {
            body.push(line.clone(), Some(*at));
        }
        body.push(format!("{} := 0;", plan.added.exclusive), None);
        body.push("}", None);
        body.push("}", None);
        body.push("", None);
    }
    if visible::timeouts(&plan.program) {
        let mut texts = plan.texts();
        texts.no_timeout = true;
        let at = plan.program.templates[0].at;
        body.push(
            "// Whether no process has a statement that can be executed: `timeout`.",
            None,
        );
        body.push(
            format!(
                "def {} = {};",
                plan.added.stuck,
                not(somebody_moves(plan, &texts)?).text()
            ),
            Some(at),
        );
        body.push("", None);
    }
    properties::write(plan, &mut body)?;
    let mut words: BTreeSet<&str> = BTreeSet::new();
    for (line, _) in &body.lines {
        words.extend(line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    }
    let mut any = false;
    for (_, value, name) in &plan.program.members {
        if words.contains(name.as_str()) {
            out.push(format!("def {name} = {value};"), None);
            any = true;
        }
    }
    if any {
        out.push("", None);
    }
    globals(plan, &words, out)?;
    out.lines.append(&mut body.lines);
    Ok(())
}

/// Whether some process has something to execute; used where every process is tracked.
fn somebody_moves(plan: &Plan<'_>, texts: &Texts<'_>) -> Result<Guard> {
    let mut all = Vec::new();
    for (at, template) in plan.program.present() {
        let id = TemplateId(at);
        let name = if template.single() {
            template.pids.0.to_string()
        } else {
            plan.added.some.clone()
        };
        let view = View::Other(id, name.clone());
        let mut here = Vec::new();
        for (_, node) in plan.found.locations.iter().filter(|(t, _)| *t == id) {
            let Some(number) = plan.tracked.get(&(id, *node)) else {
                continue;
            };
            let place = Guard::If(format!(
                "{} == {number}",
                texts.of_process(&plan.added.place[at], &view)
            ));
            here.push(and(place, texts.moves(id, *node, &view)?));
        }
        let any = or(here);
        if any == Guard::Never || template.single() {
            all.push(any);
        } else {
            all.push(Guard::If(format!(
                "(exists {name} in {}: {})",
                template.name,
                any.text()
            )));
        }
    }
    Ok(or(all))
}

/// The value of the variable that says who may move, while initial values are set.
fn setting_up(program: &Program) -> i64 {
    program.most + program.classes.len() as i64 + 1
}

/// What must be set before anybody moves: arrays whose elements begin with different values, and what is different for
/// processes that are there from the beginning.
pub(super) fn setup(plan: &Plan<'_>) -> Result<Vec<(String, At)>> {
    let program = &plan.program;
    let texts = plan.texts();
    let mut all = Vec::new();
    for (at, var) in program.vars.iter().enumerate() {
        let id = VarId(at);
        if !emitted(program, id) || (var.owner.is_some() && !var.shared) {
            continue;
        }
        let mut of = vec![None];
        if let Some(owner) = var.owner {
            let template = &program.templates[owner.0];
            of = (template.first..template.first + template.active)
                .map(|pid| Some((owner, pid)))
                .collect();
        }
        for process in of {
            let (name, view) = match process {
                None => (var.name.clone(), View::Nobody),
                Some((owner, pid)) => {
                    let view = View::Other(owner, pid.to_string());
                    (texts.of_process(&var.name, &view), view)
                }
            };
            if let Some(list) = &var.list {
                for (index, value) in list.iter().enumerate() {
                    let value = texts.stored(id, &Expr::Num(*value), &view)?.text;
                    all.push((format!("{name}[{index}] := {value};"), var.at));
                }
            } else if process.is_some() && var.initial.number().is_none() {
                if !var.dims.is_empty() {
                    return refuse(
                        var.at,
                        "an array whose initial value is no constant",
                        "set it by assignments",
                    );
                }
                all.push((
                    format!("{name} := {};", texts.stored(id, &var.initial, &view)?.text),
                    var.at,
                ));
            }
        }
    }
    for (at, template) in program
        .templates
        .iter()
        .enumerate()
        .filter(|(_, t)| t.present && t.run && t.active > 0)
    {
        for pid in template.first..template.first + template.active {
            let view = View::Other(TemplateId(at), pid.to_string());
            if program.ambiguous {
                all.push((
                    format!("{} := true;", texts.of_process(&plan.added.on[at], &view)),
                    template.at,
                ));
            }
            if let Some(number) = plan.tracked.get(&(TemplateId(at), template.entry)) {
                all.push((
                    format!(
                        "{} := {number};",
                        texts.of_process(&plan.added.place[at], &view)
                    ),
                    template.at,
                ));
            }
        }
    }
    Ok(all)
}

/// The type of an array; the first index may be a process.
fn dimensions(of: Option<&Template>, dims: &[(i64, i64)], scalar: &str) -> String {
    let mut text = String::new();
    // An id needs no check that it lies within the array.
    if let Some(template) = of.filter(|t| !t.single()) {
        text += &format!("array[{}] of ", template.name);
    }
    for (low, high) in dims {
        text += &format!("array[{low}..{high}] of ");
    }
    text + scalar
}

fn globals(plan: &Plan<'_>, words: &BTreeSet<&str>, out: &mut Output) -> Result<()> {
    let program = &plan.program;
    let texts = plan.texts();
    let class_var = |id: VarId| {
        program
            .classes
            .iter()
            .any(|c| c.fields.contains(&id) || c.length == Some(id) || c.which == Some(id))
    };
    for (at, var) in program.vars.iter().enumerate() {
        let id = VarId(at);
        if var.owner.is_some() && !var.shared {
            continue;
        }
        let asked = program.classes.iter().any(|c| c.exists == Some(id));
        if asked && words.contains(var.name.as_str()) {
            out.push(
                "// Asked before a rendezvous: there is such a channel.",
                None,
            );
        } else if !class_var(id) && !emitted(program, id) {
            continue;
        }
        let mut initial = var.initial.clone();
        let of = var.owner.map(|owner| &program.templates[owner.0]);
        if let Some(template) = of
            && initial.number().is_none()
            && (template.run || !template.single())
        {
            initial = Expr::Num(0);
        }
        let view = var.owner.map_or(View::Nobody, View::Own);
        let value = texts.stored(id, &initial, &view)?.text;
        out.push(
            format!(
                "shared {}: {} = {value};",
                var.name,
                dimensions(of, &var.dims, &scalar(var))
            ),
            Some(var.at),
        );
    }
    let dies = program.templates.iter().any(|t| t.present && t.dies);
    let mut asked = uses_nr_pr(program);
    let properties = plan.predicates.iter().flat_map(|(_, p)| p.values());
    for e in properties.chain(plan.claims.iter().flat_map(super::never::expressions)) {
        e.walk(&mut |part| asked |= matches!(part, Expr::NrPr));
    }
    if dies || asked || program.templates.iter().any(|t| t.run) {
        out.push(
            format!(
                "shared {}: 0..{} = {}; // how many processes there are",
                plan.added.nr_pr, program.most, program.started
            ),
            None,
        );
    }
    for (at, template) in program.present() {
        if template.run && program.ambiguous {
            out.push(
                format!(
                    "shared {}: {} = false;",
                    plan.added.on[at],
                    dimensions(Some(template), &[], "bool")
                ),
                Some(template.at),
            );
        }
        let numbers = plan
            .tracked
            .iter()
            .filter(|((t, _), _)| t.0 == at)
            .map(|(_, n)| *n)
            .max();
        if let Some(most) = numbers {
            let first = plan
                .tracked
                .get(&(TemplateId(at), template.entry))
                .copied()
                .unwrap_or(0);
            let first = if template.run { 0 } else { first };
            out.push(
                format!(
                    "shared {}: {} = {first}; // where its processes are",
                    plan.added.place[at],
                    dimensions(Some(template), &[], &format!("0..{most}"))
                ),
                Some(template.at),
            );
        }
    }
    if plan.exclusive {
        out.push("// Who alone may move: nobody (0), a process (its pid + 1), or whoever takes the message being handed over.", None);
        let first = if plan.setup.is_empty() {
            0
        } else {
            setting_up(program)
        };
        let most = first.max(program.most + program.classes.len() as i64);
        out.push(
            format!("shared {}: 0..{most} = {first};", plan.added.exclusive),
            None,
        );
    }
    if plan.sender {
        out.push(
            format!(
                "shared {}: 0..{} = 0; // who hands over a message: its pid + 1",
                plan.added.sender, program.most
            ),
            None,
        );
    }
    out.push("", None);
    Ok(())
}

pub(super) fn uses_nr_pr(program: &Program) -> bool {
    let mut uses = false;
    for (_, edge) in super::classes::actions(program) {
        for e in super::classes::expressions(&edge.action) {
            e.walk(&mut |part| uses |= matches!(part, Expr::NrPr));
        }
    }
    uses
}

fn process(plan: &Plan<'_>, id: TemplateId, out: &mut Output) -> Result<()> {
    let program = &plan.program;
    let template = &program.templates[id.0];
    let texts = plan.texts();
    let view = View::Own(id);
    let head = if template.single() {
        format!("process {} {{", template.name)
    } else {
        let (low, high) = template.pids;
        format!(
            "ordered process {}[{}: {low}..{high}] {{",
            template.name, plan.added.pid
        )
    };
    out.push(head, Some(template.at));
    for local in &template.locals {
        let var = &program.vars[local.0];
        if var.shared || !emitted(program, *local) {
            continue;
        }
        let value = if var.initial.number().is_none() && !pid_only(&var.initial) {
            return refuse(
                var.at,
                "an initial value that is not known before the program runs",
                "set it by an assignment",
            );
        } else {
            texts.stored(*local, &var.initial, &view)?.text
        };
        out.push(
            format!(
                "local {}: {} = {value};",
                var.name,
                dimensions(None, &var.dims, &scalar(var))
            ),
            Some(var.at),
        );
    }
    let mut order: Vec<NodeId> = plan
        .found
        .locations
        .iter()
        .filter(|(t, _)| *t == id)
        .map(|(_, n)| *n)
        .collect();
    // The first location is where the process begins.
    order.sort_by_key(|n| (*n != template.entry, *n));
    for (at, node) in order.iter().enumerate() {
        let mut scratch = Found::default();
        let mut steps = Steps {
            texts: &texts,
            template: id,
            before: &plan.found,
            found: &mut scratch,
            exclusive: plan.exclusive,
            tracked: &plan.tracked,
            sender: plan.sender,
        };
        let lines = steps.location(*node)?;
        let next = order.get(at + 1).copied();
        let label = plan
            .locations
            .get(&(id, *node))
            .cloned()
            .unwrap_or_default();
        let place = template.nodes[node.0].at;
        write_step(plan, id, &label, place, lines, next, out);
        if out.too_large() {
            break;
        }
    }
    out.push(
        "}",
        Some(
            template
                .nodes
                .iter()
                .find(|n| n.end)
                .map_or(template.at, |n| n.at),
        ),
    );
    out.push("", None);
    Ok(())
}

/// Removes the jump at the end of a way that leads to what follows anyway.
fn fall_through(lines: &mut Vec<Line>, next: Option<NodeId>) {
    match lines.last_mut() {
        Some(Line::Goto(target, _)) if Some(*target) == next => {
            lines.pop();
        }
        Some(Line::Return(_)) if next.is_none() => {
            lines.pop();
        }
        Some(Line::If(branches, other, _)) => {
            branches.iter_mut().for_each(|(_, b)| fall_through(b, next));
            fall_through(other, next);
        }
        Some(Line::Choose(branches, _)) => branches.iter_mut().for_each(|b| fall_through(b, next)),
        _ => {}
    }
}

fn plain_count(lines: &[Line]) -> usize {
    lines
        .iter()
        .map(|line| match line {
            Line::Plain(..) => 1,
            Line::Goto(..) | Line::Return(_) => 0,
            Line::Over(_, body, _) => 1 + plain_count(body),
            Line::If(branches, other, _) => {
                1 + branches
                    .iter()
                    .map(|(_, b)| plain_count(b))
                    .max()
                    .unwrap_or(0)
                    .max(plain_count(other))
            }
            Line::Choose(branches, _) => branches.iter().map(|b| plain_count(b)).max().unwrap_or(0),
        })
        .sum()
}

fn write_step(
    plan: &Plan<'_>,
    id: TemplateId,
    label: &str,
    at: At,
    mut lines: Vec<Line>,
    next: Option<NodeId>,
    out: &mut Output,
) {
    fall_through(&mut lines, next);
    // A final jump stands behind the block that is one step.
    let tail = match lines.last() {
        Some(Line::Goto(..) | Line::Return(_)) => lines.pop(),
        _ => None,
    };
    if lines.is_empty() {
        lines.push(Line::Plain("skip;".into(), at));
    }
    let coarse = plain_count(&lines) > 1
        || matches!(&lines[..], [Line::Plain(text, _)] if text.contains(['&', '|']));
    if let (true, [Line::Plain(text, place)]) = (coarse, &lines[..]) {
        out.push(format!("{label}: atomic {{ {text} }}"), Some(*place));
    } else if coarse {
        out.push(format!("{label}: atomic {{"), Some(at));
        write_lines(plan, id, &lines, out);
        out.push("}", None);
    } else {
        let mut inner = Output::default();
        write_lines(plan, id, &lines, &mut inner);
        for (n, (text, place)) in inner.lines.into_iter().enumerate() {
            out.push(
                if n == 0 {
                    format!("{label}: {text}")
                } else {
                    text
                },
                place,
            );
        }
    }
    if let Some(tail) = tail {
        write_lines(plan, id, &[tail], out);
    }
}

/// Lines inside braces: at least one.
fn write_block(plan: &Plan<'_>, id: TemplateId, lines: &[Line], at: At, out: &mut Output) {
    if lines.is_empty() {
        out.push("skip;", Some(at));
    }
    write_lines(plan, id, lines, out);
}

fn write_lines(plan: &Plan<'_>, id: TemplateId, lines: &[Line], out: &mut Output) {
    for line in lines {
        match line {
            Line::Plain(text, at) => out.push(text.clone(), Some(*at)),
            Line::Goto(target, at) => {
                let name = plan
                    .locations
                    .get(&(id, *target))
                    .cloned()
                    .unwrap_or_default();
                out.push(format!("goto {name};"), Some(*at));
            }
            Line::Return(at) => out.push("return;", Some(*at)),
            Line::If(branches, other, at)
                if branches.len() == 1 && branches[0].1.is_empty() && !other.is_empty() =>
            {
                let condition = not(Guard::If(branches[0].0.clone())).text();
                out.push(format!("if {condition} {{"), Some(*at));
                write_lines(plan, id, other, out);
                out.push("}", None);
            }
            Line::If(branches, other, at) => {
                for (n, (condition, body)) in branches.iter().enumerate() {
                    let start = if n == 0 { "if" } else { "} else if" };
                    out.push(format!("{start} {condition} {{"), Some(*at));
                    write_block(plan, id, body, *at, out);
                }
                if !other.is_empty() {
                    out.push("} else {", None);
                    write_lines(plan, id, other, out);
                }
                out.push("}", None);
            }
            Line::Choose(branches, at) => {
                for (n, body) in branches.iter().enumerate() {
                    out.push(if n == 0 { "choose {" } else { "} or {" }, Some(*at));
                    write_block(plan, id, body, *at, out);
                }
                out.push("}", None);
            }
            Line::Over(head, body, at) => {
                out.push(format!("{head} {{"), Some(*at));
                write_lines(plan, id, body, out);
                out.push("}", None);
            }
        }
    }
}

/// Ranges and truth values, once it is known who sees what.
pub(super) fn analyse(program: &mut Program, more: &[&Expr]) {
    flow::bound(program);
    for var in program.vars.iter_mut().filter(|v| v.lone) {
        if ranges::within(var.range, (0, 1)) {
            var.kind = Type::Bool;
        }
    }
    ranges::find_truth_values(program, more);
}
