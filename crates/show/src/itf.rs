//! A trace in the Informal Trace Format (ITF) of Apalache, for its viewers and tools, as its document ADR-015 describes it.
//!
//! Each variable is one ITF variable: a value, or a map from index to value. `P[2].k` is the entry
//! 2 of `P.k`, and `P.at` maps processes to their labels; of processes that have not been started yet, the maps have no entries. Integers are written
//! `{"#bigint": "3"}`, the only form that the document still admits, and each state is complete: it has every name in `vars`. Parameters are
//! set in the first state.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use threadwise_evidence::{Trace, Valuation, Value};

/// The trace as ITF.
pub fn to_itf(trace: &Trace) -> Json {
    let mut variables = Variables::default();
    // Every state has every variable, those of processes that are started later, too.
    for step in &trace.steps {
        for (process, _) in step.started.iter() {
            variables.announce(&format!("{process}.at"));
        }
        for (name, _) in step.changes.iter() {
            variables.announce(name);
        }
    }
    variables.locations(&trace.initial.locations);
    variables.cells(&trace.initial.variables);
    let mut first = variables.state(0);
    for (name, value) in &trace.params {
        first[name] = json_value(&Value::Int(*value));
    }
    let mut states = vec![first];
    for (position, step) in trace.steps.iter().enumerate() {
        variables.locations(&step.started);
        variables.set(
            &format!("{}.at", step.process),
            Value::Name(step.to.clone()),
        );
        variables.cells(&step.changes);
        let mut state = variables.state(position + 1);
        state["#meta"]["process"] = json!(step.process);
        if let Some(line) = step.line {
            state["#meta"]["line"] = json!(line);
        }
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
        "params": trace.params.keys().collect::<Vec<_>>(),
        "vars": variables.0.keys().collect::<Vec<_>>(),
        "states": states,
    });
    if let Some(loop_from) = trace.loop_from {
        // The loop goes from this state to the last one, which is followed by this one again. The last one is the same as the one after
        // `loop_from` steps, so what comes next is the state after that.
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

    /// Makes a variable known, without a value if it has indices.
    fn announce(&mut self, name: &str) {
        let (variable, indices) = parts(name);
        if !indices.is_empty() {
            self.0.entry(variable).or_insert_with(Node::empty);
        }
    }

    /// Sets `P[2].k[idle]`: the entry 2, and in it `idle`, of `P.k`.
    fn set(&mut self, name: &str, value: Value) {
        let (variable, indices) = parts(name);
        let mut node = self.0.entry(variable).or_insert_with(Node::empty);
        for index in indices {
            // A file may name one variable with and without an index; the last one counts.
            if let Node::Value(_) = node {
                *node = Node::empty();
            }
            let Node::Map(entries) = node else { return };
            node = entries.entry(index).or_insert_with(Node::empty);
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

/// The variable and the indices of `P[2].k[idle]`.
fn parts(name: &str) -> (String, Vec<Value>) {
    let mut variable = String::new();
    let mut indices = Vec::new();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('[') {
        variable.push_str(before);
        let (index, after) = after.split_once(']').unwrap_or((after, ""));
        let number = index.parse().map(Value::Int);
        indices.push(number.unwrap_or_else(|_| Value::Name(index.to_owned())));
        rest = after;
    }
    variable.push_str(rest);
    (variable, indices)
}

impl Node {
    fn empty() -> Node {
        Node::Map(BTreeMap::new())
    }

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
