//! Evidence as it is shown: traces drawn as tables, lanes and diagrams, outlines of proofs in lines, formulas for other solvers.
//!
//! Nothing here decides anything, so nothing here has to be trusted for a verdict. [`Drawing`] and [`to_text`] draw a trace for people, [`to_conclusion`] says
//! what is wrong with it, [`to_itf`] and [`to_mermaid`] write it for other tools; [`to_outline`] is a proof to be read, and [`SmtLib`] a formula of linear arithmetic.

mod drawing;
mod fold;
mod grouping;
mod itf;
mod lanes;
mod lasso_text;
mod lines;
mod mermaid;
mod outline;
mod smtlib;
mod text;
pub mod words;

pub use drawing::{Drawing, Layout, Line, Mark, Piece, to_conclusion, to_text};
pub use itf::to_itf;
pub use lasso_text::for_values;
pub use mermaid::to_mermaid;
pub use outline::{assertion, to_outline};
pub use smtlib::{SmtLib, sum};
