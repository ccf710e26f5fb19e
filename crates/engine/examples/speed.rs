//! Times the engine on systems built by hand: `speed NAME N`.
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;
use threadwise_engine::{Engine, Explicit, Limits, Silent};

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let n: u32 = args.next().and_then(|n| n.parse().ok()).unwrap_or(4);
    let system = match name.as_str() {
        "peterson" => support::peterson(n),
        "bakery" => support::bakery(n),
        "mux_sem_count" => support::mux_sem(n, Some(10)),
        _ => support::mux_sem(n, None),
    };
    let properties: Vec<_> = system.properties.iter().collect();
    let start = Instant::now();
    let threads = args.next().and_then(|n| n.parse().ok()).unwrap_or(1);
    let engine = Explicit {
        threads,
        ..Explicit::default()
    };
    let outcome = engine.check_all(&system, &properties, &Limits::NONE, &mut Silent);
    let time = start.elapsed().as_secs_f64();
    for (p, a) in properties.iter().zip(&outcome.answers) {
        let a = format!("{a:?}");
        println!("{}: {}", p.name, &a[..a.len().min(100)]);
    }
    println!("{:?}", outcome.stats);
    println!(
        "{time:.3}s {:.2} M states/s",
        outcome.stats.states.unwrap_or(0) as f64 / time / 1e6
    );
}
