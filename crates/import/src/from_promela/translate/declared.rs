//! What the model declares: for everything of the program its number there.
//!
//! It is written before the steps are, since expressions name things by number. What may turn out not to be needed is declared as well, and dropped by
//! `finish` if nothing speaks of it.

use std::collections::BTreeSet;

use threadwise_lang::program as model;
use threadwise_lang::program::{
    Bound, BoundId, Def, DefId, Domain, ExprType, IdOrder, Initial, Instances, LocationId, Scalar,
    SharedId, VarRef, Variable,
};

use super::build::{NOWHERE, int, range, truth};
use super::ir::*;
use super::names::Names;
use super::ranges::clip;
use super::terms::Tracked;
use crate::from_promela::syntax::{At, Type};
use crate::front::source::Sources;

/// Names that the translation adds.
pub(super) struct Added {
    exclusive: String,
    nr_pr: String,
    stuck: String,
    sender: String,
    /// The id of a process in its own text.
    pid: String,
    other: String,
    /// The id of a process in a property.
    some: String,
    once: String,
    slot: String,
    index: String,
    setup: String,
    /// Of each template: whether a process is there; where it is.
    on: Vec<String>,
    place: Vec<String>,
}

/// The model without bodies, definitions' values and properties, and what is where in it.
#[derive(Debug)]
pub(super) struct Declared {
    pub model: model::Program,
    /// Of each template that has processes.
    pub templates: Vec<Option<model::TemplateId>>,
    pub vars: Vec<Option<VarRef>>,
    /// Shared variables that stand in the model whether anything speaks of them or not.
    pub kept: BTreeSet<SharedId>,
    /// Members of `mtype`, as the program has them.
    pub members: Vec<DefId>,
    /// Whether nothing can be executed.
    pub stuck: DefId,
    pub nr_pr: SharedId,
    pub exclusive: SharedId,
    pub sender: SharedId,
    /// Of each template: whether a process is there; where it is.
    pub on: Vec<SharedId>,
    pub place: Vec<SharedId>,
    /// What only counts how often something is true.
    pub once: BoundId,
    /// A slot of a channel, and another one.
    pub slot: BoundId,
    pub index: BoundId,
    /// For loops over the elements of an array, by how many dimensions are left.
    pub loops: Vec<BoundId>,
    /// A process of each template, in the text of another and in a property.
    pub other: Vec<BoundId>,
    pub some: Vec<BoundId>,
    /// The process that sets initial values.
    pub setup: String,
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
    let of_each = |names: &mut Names, what: &str| {
        let all = owners.iter().map(|o| names.fresh(&format!("{o}_{what}")));
        all.collect()
    };
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
        index: names.fresh("index"),
        setup: names.fresh("setup"),
        on: of_each(&mut names, "started"),
        place: of_each(&mut names, "at"),
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

/// Declares everything; initial values that are no constants, and the range of who may move, come later.
pub(super) fn declare(
    program: &Program,
    sources: &Sources,
    added: Added,
    tracked: &Tracked,
    asked: bool,
) -> Declared {
    let mut model = model::Program::default();
    let templates = processes(program, sources, &added.pid, &mut model);
    let mut bind = |name: &str, ty| {
        let name = name.to_owned();
        model.bounds.push(Bound { name, ty })
    };
    let once = bind(&added.once, ExprType::Int);
    let slot = bind(&added.slot, ExprType::Int);
    let index = bind(&added.index, ExprType::Int);
    let most = program.vars.iter().map(|v| v.dims.len()).max().unwrap_or(0);
    let loops = (0..most.max(1)).map(|left| bind(&format!("{}{left}", added.slot), ExprType::Int));
    let loops = loops.collect();
    let mut of_each = |name: &str| {
        let ids = templates.iter();
        ids.map(|id| bind(name, id.map_or(ExprType::Int, ExprType::Id)))
            .collect()
    };
    let (other, some) = (of_each(&added.other), of_each(&added.some));
    let mut define = |name: &str, body| {
        model.defs.push(Def {
            name: name.to_owned(),
            params: Vec::new(),
            body,
            span: NOWHERE,
        })
    };
    let members = program.members.iter();
    let members = members.map(|(_, value, name)| define(name, int(*value)));
    let members = members.collect();
    let stuck = define(&added.stuck, truth(false));
    let mut kept = BTreeSet::new();
    let vars = variables(program, sources, &templates, &mut model, &mut kept);
    let mut share = |name: &str, dims: Vec<Domain>, scalar, first: i64, at: Option<At>, keep| {
        let initial = Initial::Value(match scalar {
            Scalar::Bool => truth(false),
            _ => int(first),
        });
        let id = model.shared.push(Variable {
            name: name.to_owned(),
            dims,
            scalar,
            initial,
            loop_counter: false,
            span: at.map_or(NOWHERE, |at| sources.span(at)),
        });
        if keep {
            kept.insert(id);
        }
        id
    };
    let dies = program.templates.iter().any(|t| t.present && t.dies);
    let counted = dies || asked || program.templates.iter().any(|t| t.run);
    let up_to = |most| ranged(0, most);
    let nr_pr = share(
        &added.nr_pr,
        Vec::new(),
        up_to(program.most),
        program.started,
        None,
        counted,
    );
    let (mut on, mut place) = (Vec::new(), Vec::new());
    for (at, template) in program.templates.iter().enumerate() {
        let id = TemplateId(at);
        let each: Vec<Domain> = over_processes(program, &templates, id)
            .into_iter()
            .collect();
        let asked = template.present && template.run && program.ambiguous;
        on.push(share(
            &added.on[at],
            each.clone(),
            Scalar::Bool,
            0,
            Some(template.at),
            asked,
        ));
        let numbers = tracked.iter().filter(|((t, _), _)| *t == id);
        let most = numbers.map(|(_, n)| *n).max();
        let first = tracked.get(&(id, template.entry)).filter(|_| !template.run);
        let first = first.copied().unwrap_or(0);
        let asked = template.present && most.is_some();
        let scalar = up_to(most.unwrap_or(0));
        place.push(share(
            &added.place[at],
            each,
            scalar,
            first,
            Some(template.at),
            asked,
        ));
    }
    let exclusive = share(&added.exclusive, Vec::new(), up_to(0), 0, None, false);
    let sender = share(
        &added.sender,
        Vec::new(),
        up_to(program.most),
        0,
        None,
        false,
    );
    Declared {
        model,
        templates,
        vars,
        kept,
        members,
        stuck,
        nr_pr,
        exclusive,
        sender,
        on,
        place,
        once,
        slot,
        index,
        loops,
        other,
        some,
        setup: added.setup,
    }
}

/// The processes, without variables and bodies.
fn processes(
    program: &Program,
    sources: &Sources,
    pid: &str,
    model: &mut model::Program,
) -> Vec<Option<model::TemplateId>> {
    let each = program.templates.iter().map(|template| {
        let (low, high) = template.pids;
        let (id_name, order, instances) = match template.single() {
            true => (None, IdOrder::Unordered, Instances::Single),
            false => {
                let ids = Instances::Range(int(low), int(high));
                (Some(pid.to_owned()), IdOrder::Ordered, ids)
            }
        };
        template.present.then(|| {
            model.templates.push(model::Template {
                name: template.name.clone(),
                id_name,
                order,
                instances,
                locals: Default::default(),
                locations: Default::default(),
                entry: LocationId::new(0),
                body: Vec::new(),
                span: sources.span(template.at),
            })
        })
    });
    each.collect()
}

/// The index that says which process a shared variable belongs to.
fn over_processes(
    program: &Program,
    templates: &[Option<model::TemplateId>],
    of: TemplateId,
) -> Option<Domain> {
    // An id needs no check that it lies within the array.
    templates[of.0]
        .filter(|_| !program.templates[of.0].single())
        .map(Domain::Template)
}

/// The variables of the program.
fn variables(
    program: &Program,
    sources: &Sources,
    templates: &[Option<model::TemplateId>],
    model: &mut model::Program,
    kept: &mut BTreeSet<SharedId>,
) -> Vec<Option<VarRef>> {
    let mut all = Vec::new();
    for (at, var) in program.vars.iter().enumerate() {
        let id = VarId(at);
        let class =
            |c: &Class| c.fields.contains(&id) || c.length == Some(id) || c.which == Some(id);
        let needed = program.classes.iter().any(class) || emitted(program, id);
        let asked = program.classes.iter().any(|c| c.exists == Some(id));
        let owner = var.owner.and_then(|t| templates[t.0]);
        if !needed && !asked {
            all.push(None);
            continue;
        }
        let of = var.owner.filter(|_| var.shared);
        let outer = of.and_then(|t| over_processes(program, templates, t));
        let variable = Variable {
            name: var.name.clone(),
            dims: outer
                .into_iter()
                .chain(var.dims.iter().map(|(low, high)| range(*low, *high)))
                .collect(),
            scalar: scalar(var),
            initial: Initial::Value(match var.boolean {
                true => truth(false),
                false => int(0),
            }),
            loop_counter: false,
            span: sources.span(var.at),
        };
        all.push(match owner {
            Some(owner) if !var.shared => {
                Some(VarRef::Local(model.templates[owner].locals.push(variable)))
            }
            _ => {
                let shared = model.shared.push(variable);
                if needed {
                    kept.insert(shared);
                }
                Some(VarRef::Shared(shared))
            }
        });
    }
    all
}

/// Numbers between two.
pub(super) fn ranged(low: i64, high: i64) -> Scalar {
    Scalar::Range(int(low).into(), int(high).into())
}

/// The type of a variable's cells.
fn scalar(var: &Var) -> Scalar {
    if var.boolean && matches!(var.kind, Type::Bit | Type::Bool) {
        return Scalar::Bool;
    }
    let (low, high) = match var.kind {
        Type::Unsigned(_) => var.range,
        _ => clip(var.range),
    };
    ranged(low, high)
}
