//! Lines of a source text.

/// The lines of a text.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'s>(Vec<&'s str>);

impl<'s> Lines<'s> {
    /// Finds the lines of a text.
    pub(crate) fn new(text: &'s str) -> Lines<'s> {
        Lines(text.lines().collect())
    }

    /// The text of a line by number, from 1, without the space around it; empty if there is none.
    pub(crate) fn line(&self, number: u32) -> &'s str {
        let line = self.0.get((number as usize).wrapping_sub(1));
        line.map_or("", |line| line.trim())
    }
}
