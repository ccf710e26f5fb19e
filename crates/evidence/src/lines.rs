//! Lines of a source text.

use std::collections::BTreeSet;

use threadwise_lang::program::Span;

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'s> {
    text: &'s str,
    starts: Vec<usize>,
}

impl<'s> Lines<'s> {
    pub(crate) fn new(text: &'s str) -> Lines<'s> {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0)
            .chain(after_breaks.map(|(at, _)| at + 1))
            .collect();
        Lines { text, starts }
    }

    /// The number, from 1, of the line that a byte lies in.
    pub(crate) fn number(&self, byte: u32) -> u32 {
        self.starts.partition_point(|start| *start <= byte as usize) as u32
    }

    /// The numbers of the lines that places lie in, each once, in the order of the places.
    pub(crate) fn numbers(&self, places: &[Span]) -> Vec<u32> {
        let mut known = BTreeSet::new();
        let numbers = places.iter().map(|place| self.number(place.start));
        numbers.filter(|number| known.insert(*number)).collect()
    }

    /// The text of a span in one line.
    pub(crate) fn text(&self, span: Span) -> String {
        let text = self.text.get(span.start as usize..span.end as usize);
        let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
        words.join(" ")
    }

    /// The text of a line by number, without the space around it; empty if there is none.
    pub(crate) fn line(&self, number: u32) -> &'s str {
        let position = (number as usize).wrapping_sub(1);
        let Some(start) = self.starts.get(position) else {
            return "";
        };
        let end = self
            .starts
            .get(position + 1)
            .copied()
            .unwrap_or(self.text.len());
        self.text.get(*start..end).unwrap_or("").trim()
    }
}
