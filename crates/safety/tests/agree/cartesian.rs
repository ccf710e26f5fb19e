//! Cartesian abstraction with exception sets: against the explicit engine.

use crate::common::{
    Engines, QUICK, Runs, SINGLED_OUT, models_up_to, random_ones_refined, the_given,
    the_library_up_to,
};
use threadwise_safety::{Cartesian, Exceptions};

fn engines() -> Engines {
    vec![(
        "cartesian",
        Box::new(Cartesian {
            exceptions: Exceptions::Computed,
            ..Cartesian::default()
        }),
    )]
}

#[test]
fn programs_that_single_out_one_thing_agree() {
    the_given(SINGLED_OUT, engines, Runs::Any);
}

#[test]
fn quick_models_agree() {
    models_up_to(5, |model| QUICK.contains(&model), engines, Runs::Any);
}

#[test]
fn the_library_agrees() {
    let (instances, all) = the_library_up_to(3, engines, Runs::Any);
    assert!(instances >= 50, "{instances} instances");
    assert!(all.proved >= 150 && all.violated >= 15, "{all:?}");
    assert!(all.refined >= 50, "{all:?}");
}

#[test]
fn random_programs_agree() {
    random_ones_refined(engines);
}
