//! The checker accepts proofs and refuses everything else: certificates of the library and of random programs, damaged ones, large ones.

mod damage;
mod fair;
mod family;
mod library;
mod parts;
mod random;
mod scale;
mod single;
mod smtlib;
mod support;
mod symmetric;
