//! What the language brings along: its functions and the location `done`, for hovers, completion and the help on arguments.

/// A built-in function, or the location `done`.
pub(super) struct BuiltIn {
    pub(super) name: &'static str,
    /// How it is written.
    pub(super) form: &'static str,
    /// What it means.
    pub(super) about: &'static str,
}

const ALL: &[BuiltIn] = &[
    BuiltIn {
        name: "cas",
        form: "cas(x, old, new)",
        about: "Compare and swap, in one step: if `x == old`, `x` becomes `new` and the result is `true`; otherwise the result is `false`.",
    },
    BuiltIn {
        name: "swap",
        form: "swap(x, value)",
        about: "Writes `value` to `x`; the result is what `x` held before.",
    },
    BuiltIn {
        name: "fetch_add",
        form: "fetch_add(x, amount)",
        about: "Adds `amount` to `x`; the result is what `x` held before.",
    },
    BuiltIn {
        name: "next",
        form: "next(i)",
        about: "The next id on the ring; after the last comes the first.",
    },
    BuiltIn {
        name: "prev",
        form: "prev(i)",
        about: "The previous id on the ring; before the first comes the last.",
    },
    BuiltIn {
        name: "locked",
        form: "locked(m)",
        about: "Whether somebody holds the mutex `m`.",
    },
    BuiltIn {
        name: "enabled",
        form: "enabled(P[i], label)",
        about: "Process `i` is at the label and has a step other than resting. In fairness and liveness.",
    },
    BuiltIn {
        name: "taken",
        form: "taken(P[i], label)",
        about: "The last step was one of process `i` from the label. In fairness and liveness.",
    },
    BuiltIn {
        name: "send",
        form: "send(q, message)",
        about: "Waits until the queue `q` is not full, and puts the message behind the others.",
    },
    BuiltIn {
        name: "receive",
        form: "receive(q)",
        about: "Waits until the queue `q` is not empty, and takes the oldest message: `x := receive(q);`.",
    },
    BuiltIn {
        name: "length",
        form: "length(q)",
        about: "The number of messages in the queue `q`.",
    },
    BuiltIn {
        name: "empty",
        form: "empty(q)",
        about: "Whether the queue `q` has no message.",
    },
    BuiltIn {
        name: "full",
        form: "full(q)",
        about: "Whether the queue `q` has room for no further message.",
    },
    BuiltIn {
        name: "peek",
        form: "peek(q)",
        about: "The oldest message of the queue `q`, which stays in it; checked to be there.",
    },
    BuiltIn {
        name: "ended",
        form: "ended(Child)",
        about: "Whether all processes of the template that were started so far have ended. In program text of a template that begins empty.",
    },
    BuiltIn {
        name: "done",
        form: "done",
        about: "The location of a process that has ended.",
    },
];

/// What a name means to the language itself.
pub(super) fn about(name: &str) -> Option<&'static BuiltIn> {
    ALL.iter().find(|known| known.name == name)
}

/// The functions.
pub(super) fn functions() -> impl Iterator<Item = &'static BuiltIn> {
    ALL.iter().filter(|known| known.form.contains('('))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_function_is_described() {
        let known: Vec<&str> = functions().map(|known| known.name).collect();
        let own = threadwise_lang::built_in().iter();
        let all: Vec<&str> = own
            .chain(threadwise_lang::free_functions())
            .copied()
            .collect();
        assert_eq!(known, all);
    }
}
