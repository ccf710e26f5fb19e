//! A trace in the Informal Trace Format (ITF) of Apalache, for its viewers and tools.
//!
//! Each variable is one ITF variable: a value, or a map from index to value. `P[2].k` is the entry
//! 2 of `P.k`, and `P.at` maps processes to their labels. Integers are written `{"#bigint": "3"}`, as
//! Apalache and Quint do, and each state is complete.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::trace::{Trace, Valuation, Value};

/// The trace as ITF.
pub fn to_itf(trace: &Trace) -> Json {
    let mut variables = Variables::default();
    variables.locations(&trace.initial.locations);
    variables.cells(&trace.initial.variables);
    let mut states = vec![variables.state(0)];
    for (position, step) in trace.steps.iter().enumerate() {
        variables.locations(&step.started);
        variables.set(
            &format!("{}.at", step.process),
            Value::Name(step.to.clone()),
        );
        variables.cells(&step.changes);
        let mut state = variables.state(position + 1);
        state["#meta"]["process"] = json!(step.process);
        states.push(state);
    }
    let description = match &trace.property {
        Some(property) => format!("a run that violates `{property}`, found by threadwise"),
        None => "a run simulated by threadwise".to_owned(),
    };
    let mut itf = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": description,
        },
        "params": [],
        "vars": variables.0.keys().collect::<Vec<_>>(),
        "states": states,
    });
    if let Some(loop_from) = trace.loop_from {
        // The last state is followed by this one. It is the same state as the one after `loop_from` steps, so what comes
        // next is the state after that.
        itf["loop"] = json!(loop_from.saturating_add(1));
    }
    itf
}

/// The variables of a state by name.
#[derive(Default)]
struct Variables(BTreeMap<String, Node>);

/// A value, or a map from indices to such.
enum Node {
    Value(Value),
    Map(BTreeMap<Value, Node>),
}

impl Variables {
    fn locations(&mut self, locations: &Valuation) {
        for (process, label) in locations.iter() {
            self.set(&format!("{process}.at"), label.clone());
        }
    }

    fn cells(&mut self, cells: &Valuation) {
        for (name, value) in cells.iter() {
            self.set(name, value.clone());
        }
    }

    /// Sets `P[2].k[idle]`: the entry 2, and in it `idle`, of `P.k`.
    fn set(&mut self, name: &str, value: Value) {
        let mut variable = String::new();
        let mut indices = Vec::new();
        let mut rest = name;
        while let Some((before, after)) = rest.split_once('[') {
            variable.push_str(before);
            let (index, after) = after.split_once(']').unwrap_or((after, ""));
            indices.push(
                index
                    .parse()
                    .map_or_else(|_| Value::Name(index.to_owned()), Value::Int),
            );
            rest = after;
        }
        variable.push_str(rest);
        let empty = || Node::Map(BTreeMap::new());
        let mut node = self.0.entry(variable).or_insert_with(empty);
        for index in indices {
            // A file may name one variable with and without an index; the last one counts.
            if let Node::Value(_) = node {
                *node = empty();
            }
            let Node::Map(entries) = node else { return };
            node = entries.entry(index).or_insert_with(empty);
        }
        *node = Node::Value(value);
    }

    fn state(&self, index: usize) -> Json {
        let mut state = Map::new();
        state.insert("#meta".to_owned(), json!({ "index": index }));
        for (name, node) in &self.0 {
            state.insert(name.clone(), node.json());
        }
        Json::Object(state)
    }
}

impl Node {
    fn json(&self) -> Json {
        match self {
            Node::Value(value) => json_value(value),
            Node::Map(entries) => {
                let entries: Vec<Json> = entries
                    .iter()
                    .map(|(index, node)| json!([json_value(index), node.json()]))
                    .collect();
                json!({ "#map": entries })
            }
        }
    }
}

fn json_value(value: &Value) -> Json {
    match value {
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!({ "#bigint": value.to_string() }),
        Value::Name(name) => json!(name),
    }
}
