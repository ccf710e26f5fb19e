//! Promela in, compared with SPIN: on models from the literature (`tests/promela`), on random programs, and on damaged
//! texts.
//!
//! A model says in its first lines what is expected of it; every such line comes from SPIN, and is compared with SPIN run
//! afresh where `spin` and a C compiler are installed. `PROMELA_WRITE=1` writes the lines anew.

mod constructs;
mod corpus;
mod damage;
mod files;
mod generator;
mod golden;
mod ours;
mod pairs;
mod random;
mod reduce;
mod small;
mod spin;
// How constructs are written is for the tests of the front end.
#[allow(dead_code)]
#[path = "../tables/promela.rs"]
mod table;
