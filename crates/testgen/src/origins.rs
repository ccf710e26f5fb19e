//! Where the lines of a program come from that a front end built.

use threadwise_lang::print::{Layout, print};
use threadwise_lang::program::{Program, Span};
use threadwise_lang::render::LineIndex;

/// For each line of the printed program the line of the original that its first part comes from, from 1. What comes from a file that the original
/// includes has the line of the `#include`; what the front end adds has none.
pub fn origins(program: &Program, layout: &Layout) -> Vec<Option<u32>> {
    let text = print(program, layout);
    let index = LineIndex::new(&text);
    let originals = program.source.lines();
    let mut first: Vec<Option<(u32, u32)>> = vec![None; text.lines().count()];
    // The text says the same program, so its parts are the same, in the same order.
    let written = threadwise_lang::check(&text).program.expect("a program");
    let (written, built) = (spans(&written), spans(program));
    assert_eq!(written.len(), built.len(), "{text}");
    for (here, there) in written.into_iter().zip(built) {
        if there != Span::default()
            && let Some(known) = first.get_mut(index.line(here.start) - 1)
            && known.is_none_or(|(start, _)| here.start < start)
        {
            *known = Some((here.start, originals.line(there)));
        }
    }
    let lines = first.into_iter();
    lines.map(|found| found.map(|(_, line)| line)).collect()
}

fn spans(program: &Program) -> Vec<Span> {
    let mut spans = Vec::new();
    program.clone().map_spans(&mut |span| {
        spans.push(span);
        span
    });
    spans
}
