//! The engines for any number of processes against explicit search: no proof contradicts it, every proof is accepted by the checker, and
//! every run is one of the program.

mod cegar;
mod common;
mod cubes;
mod damage;
mod deadlock;
mod library;
mod random;
mod ranking;
mod single;
mod spelling;
