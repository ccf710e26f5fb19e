//! The control-flow graph that is read off the text has every step that the interpreter takes: in random walks of the model
//! library and of random programs.

use std::collections::BTreeSet;

use threadwise_lang::control_flow;
use threadwise_model::interpreter::Outcome;
use threadwise_model::simulate::{Event, Simulation};
use threadwise_testgen::generate::generate;
use threadwise_testgen::{instance, library, library_for_all};

/// How many edges of a program there are, and how many of them walks took. Panics if a walk took another.
fn walked(name: &str, text: &str, seeds: u64, steps: usize) -> Option<(usize, usize)> {
    let instance = instance(text, &[]).ok()?;
    let program = instance.program();
    let templates = program.templates.indices();
    let graphs: Vec<_> = templates.map(|id| control_flow(program, id)).collect();
    let mut taken = BTreeSet::new();
    for seed in 0..seeds {
        let mut simulation = Simulation::new(&instance, seed).ok()?;
        for _ in 0..steps {
            let Ok(Event::Step {
                process,
                from,
                outcome: Outcome::Move { to, .. },
                ..
            }) = simulation.advance()
            else {
                continue;
            };
            let template = process.template;
            assert!(
                graphs[template.index()].contains(&(from, to)),
                "{name}: {} to {}\n{text}",
                program.templates[template].locations[from].name,
                program.templates[template].locations[to].name,
            );
            taken.insert((template, from, to));
        }
    }
    Some((graphs.iter().map(BTreeSet::len).sum(), taken.len()))
}

#[test]
fn walks_of_the_library_stay_within_the_graph() {
    let (mut models, mut all, mut taken) = (0, 0, 0);
    for (name, text) in library().into_iter().chain(library_for_all()) {
        let (edges, walked) = walked(&name, &text, 12, 300).expect("models have walks");
        models += 1;
        all += edges;
        taken += walked;
    }
    println!("{models} models: {taken} of {all} edges taken");
    assert!(models >= 50 && all >= 300, "{models} models, {all} edges");
    // A graph with an edge from everywhere to everywhere would contain all walks, too.
    assert!(taken * 10 >= all * 9, "{taken} of {all} edges taken");
}

#[test]
fn walks_of_random_programs_stay_within_the_graph() {
    let (mut programs, mut all, mut taken) = (0, 0, 0);
    for seed in 0..300 {
        let text = generate(seed);
        if let Some((edges, walked)) = walked("random", &text, 10, 60) {
            programs += 1;
            all += edges;
            taken += walked;
        }
    }
    println!("{programs} programs: {taken} of {all} edges taken");
    assert!(
        programs >= 250 && all >= 1_000,
        "{programs} programs, {all} edges"
    );
    // Much of a random program is behind conditions that never hold, or behind checks that fail: 47 of 100 edges are taken.
    assert!(taken * 5 >= all * 2, "{taken} of {all} edges taken");
}
