#![no_main]

#[path = "../../crates/lang/tests/invariants.rs"]
#[allow(dead_code)]
mod invariants;

libfuzzer_sys::fuzz_target!(|text: &str| invariants::front_end(text));
