//! Other languages in, other formats out.
//!
//! [`promela`] writes a lowered system as a Promela program for SPIN.

pub mod promela;
