//! What a program has most of is serialised without the names of its fields: programs travel between processes, and most of them is expressions.
//!
//! Reading needs nothing of this: the derived readers take sequences as well as maps.

use serde::{Serialize, Serializer};

use crate::program::{Expr, Place, Span, Stmt};

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.start, self.end).serialize(serializer)
    }
}

impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.kind, self.ty, self.span).serialize(serializer)
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.var, &self.indices, self.span).serialize(serializer)
    }
}

impl Serialize for Stmt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.label, &self.kind, self.span, &self.note).serialize(serializer)
    }
}
