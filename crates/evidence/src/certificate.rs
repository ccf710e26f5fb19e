//! Certificates: proofs that somebody else can check.
//!
//! A certificate names the property and the instance and makes a [`Claim`] from which the property
//! follows. It speaks of the program in source terms only (names of cells, values by position), so it
//! depends neither on the method that found it nor on that method's encoding. The format is
//! described in `docs/book/src/certificates.md`; reading a file of it ends in an error at worst.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use threadwise_model::layout::process_name;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{CellInitial, Clause, DimKind, Scope, System, SystemPropertyKind};

use crate::dag::{Builder, Dag, MOST_VALUES};
use crate::family::FamilyClaim;

/// The version of the certificate format that this library writes and reads.
pub const CERTIFICATE_VERSION: u32 = 1;

/// A proof that an independent checker can check: the claim, in a versioned envelope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The version of the format.
    #[serde(deserialize_with = "this_version")]
    pub version: u32,
    /// The property.
    pub property: String,
    /// The value of every parameter.
    #[serde(deserialize_with = "one_value_each")]
    pub params: BTreeMap<String, i64>,
    /// The [digest] of the model, so that a certificate of another model is refused with a
    /// message that says so. No proof rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is claimed.
    pub claim: Claim,
}

/// What a certificate claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Claim {
    /// This set contains the initial states, no step leads out of it, and the property holds in all
    /// of it. Cells are named as by [`cell_names`].
    Inductive(Dag),
    /// The same of the states that are in all of these sets at once. Together they can be far larger than one by one, and a step
    /// concerns few of them.
    Conjunction {
        /// The sets, in any order. Without any, all states are meant.
        parts: Vec<Dag>,
    },
    /// No fair run violates a liveness property.
    Fair(FairClaim),
    /// The property holds for all values of the parameters that `where` allows. Those that the certificate names a value of have that value.
    Family(Box<FamilyClaim>),
}

impl Claim {
    /// The sets whose common states are claimed to be inductive.
    pub fn parts(&self) -> &[Dag] {
        match self {
            Claim::Inductive(set) => std::slice::from_ref(set),
            Claim::Conjunction { parts } => parts,
            Claim::Fair(claim) => &claim.invariant,
            Claim::Family(_) => &[],
        }
    }
}

/// The claim that no fair run violates a liveness property.
///
/// The property is a list of conjuncts (`Formula::conjuncts`), and its fairness a list of alternatives. For each pair of them, a run that violates the
/// conjunct and meets the alternative is a run of the product of the program and an automaton. Proofs show that
/// there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FairClaim {
    /// Sets whose common states contain all initial states, and which no step leads out of.
    pub invariant: Vec<Dag>,
    /// For each conjunct and alternative, one proof for all runs, or one for each process that moves.
    pub proofs: Vec<FairProof>,
    /// Conjuncts that need no proofs of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symmetric: Vec<Symmetric>,
}

/// A conjunct that is another one with processes renamed. The program and the fairness are the same when they are, so the proofs of the other one,
/// renamed likewise, are proofs of this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symmetric {
    /// Which conjunct.
    pub conjunct: usize,
    /// Which one it is an image of; there are proofs of that.
    pub of: usize,
    /// Where processes are taken. Those of templates that are not listed stay.
    pub permutation: Vec<Images>,
}

/// Where the processes of a template are taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Images {
    /// The template's name.
    pub template: String,
    /// The number that each process is taken to, in the order of processes.
    pub images: Vec<i64>,
}

impl Symmetric {
    /// That a conjunct is the image of another one.
    pub fn new(
        system: &System,
        conjunct: usize,
        of: usize,
        permutation: &Permutation,
    ) -> Symmetric {
        let mut moved = Vec::new();
        for (id, template) in system.templates.iter_enumerated() {
            let images = (0..template.count).map(|index| permutation.index(id, index));
            if images.clone().ne(0..template.count) {
                let number = |index| template.lowest_id + i64::from(index);
                moved.push(Images {
                    template: template.name.clone(),
                    images: images.map(number).collect(),
                });
            }
        }
        Symmetric {
            conjunct,
            of,
            permutation: moved,
        }
    }
}

/// A proof that no run of the product of the program and the automaton of a negated conjunct is fair.
///
/// It deletes sets of states, layer by layer, until none are left. From some time on no fair run is in what was deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FairProof {
    /// Which conjunct is negated.
    pub conjunct: usize,
    /// Which alternative of the fairness is assumed.
    pub alternative: usize,
    /// The proof is for runs in which this process takes infinitely many steps from states that fulfil the first
    /// of the automaton's obligations (from any states, if there are none). Every run of the alternative is one of those for some process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mover: Option<String>,
    /// A set of states of the product that contains the initial ones, and which no step leads out of.
    pub start: Dag,
    /// What is deleted.
    pub layers: Vec<Layer>,
}

/// A set of states of the product that no fair run is in for ever again. All of this is meant of the states that are in the
/// invariant and not deleted yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Layer {
    /// No step leads from these states to any.
    Stuck {
        /// The states.
        remove: Dag,
    },
    /// No step leads out of these states, and none that starts in them and stays is what a run must do infinitely often.
    Unfair {
        /// What a run must do.
        lacks: Duty,
        /// The states.
        remove: Dag,
    },
    /// No step leads out of these states, and in none of them the second predicate of a strong assumption holds. Those in which
    /// the first one holds are deleted.
    Strong {
        /// Which assumption of the alternative.
        term: usize,
        /// The states.
        within: Dag,
    },
}

/// What a run must do infinitely often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// Fulfil this obligation of the automaton: be in a state in which it is not put off. With a mover, the first obligation is not meant by
    /// this, but by `mover`.
    Obligation(usize),
    /// Meet this assumption of the alternative, which is not a strong one: schedule the process, or be in a state in which the
    /// predicate holds.
    Term(usize),
    /// The mover takes a step from a state that fulfils the first obligation.
    Mover,
}

/// Why a text is not a certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// Another version of the format.
    #[error(
        "this is version {found} of the certificate format; this threadwise reads version {CERTIFICATE_VERSION}"
    )]
    Version {
        /// The version it has.
        found: u64,
    },
    /// Not JSON, or not of this form.
    #[error("this is not a certificate: {0}")]
    Form(#[from] serde_json::Error),
}

impl Certificate {
    /// The certificate that an inductive set proves a property of a system.
    pub fn inductive(system: &System, property: &str, set: Dag) -> Certificate {
        Certificate::of(system, property, Claim::Inductive(set))
    }

    /// The certificate that the states which are in all of these sets are an inductive set that proves a property.
    pub fn conjunction(system: &System, property: &str, parts: Vec<Dag>) -> Certificate {
        Certificate::of(system, property, Claim::Conjunction { parts })
    }

    /// The certificate that no fair run violates a liveness property.
    pub fn fair(system: &System, property: &str, claim: FairClaim) -> Certificate {
        Certificate::of(system, property, Claim::Fair(claim))
    }

    /// The certificate that a property holds whatever the parameters are, but for those that have a value here.
    pub fn family(
        property: &str,
        params: BTreeMap<String, i64>,
        claim: FamilyClaim,
    ) -> Certificate {
        Certificate {
            version: CERTIFICATE_VERSION,
            property: property.to_owned(),
            params,
            model: None,
            claim: Claim::Family(Box::new(claim)),
        }
    }

    fn of(system: &System, property: &str, claim: Claim) -> Certificate {
        Certificate {
            version: CERTIFICATE_VERSION,
            property: property.to_owned(),
            params: system.params.iter().cloned().collect(),
            model: Some(digest(system)),
            claim,
        }
    }

    /// Reads a certificate from JSON.
    pub fn from_json(text: &str) -> Result<Certificate, CertificateError> {
        // The version first: of another version nothing else need be as expected.
        #[derive(Deserialize)]
        struct Envelope {
            version: u64,
        }
        let envelope: Envelope = serde_json::from_str(text)?;
        if envelope.version != u64::from(CERTIFICATE_VERSION) {
            return Err(CertificateError::Version {
                found: envelope.version,
            });
        }
        Ok(serde_json::from_str(text)?)
    }

    /// The certificate as JSON, without spaces: a decision graph is not for reading.
    pub fn to_json(&self) -> String {
        // Maps with text keys and no floats: this cannot fail, and an empty text is no certificate.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn this_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        CERTIFICATE_VERSION => Ok(CERTIFICATE_VERSION),
        other => Err(D::Error::custom(format!(
            "version {other} instead of {CERTIFICATE_VERSION}"
        ))),
    }
}

/// A map by itself would keep the last of two values, and somebody else's checker perhaps the first.
fn one_value_each<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, i64>, D::Error> {
    struct OneValueEach;
    impl<'de> Visitor<'de> for OneValueEach {
        type Value = BTreeMap<String, i64>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object from parameters to integers")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut values = BTreeMap::new();
            while let Some((name, value)) = map.next_entry::<String, i64>()? {
                if values.contains_key(&name) {
                    return Err(A::Error::custom(format!("`{name}` has two values")));
                }
                values.insert(name, value);
            }
            Ok(values)
        }
    }
    deserializer.deserialize_map(OneValueEach)
}

/// The names of a system's cells, in their order: `x`, `flag[2]`, `P[1].k` for variables, and the name
/// of the process, `P[1]` or `Server`, for where it is.
pub fn cell_names(system: &System) -> Vec<String> {
    let mut names = vec![String::new(); system.cells];
    for (id, var) in system.vars.iter_enumerated() {
        let copies = match var.scope {
            Scope::Shared => 1,
            Scope::Local(template) => system.templates[template].count,
        };
        for copy in 0..copies {
            let mut base = String::new();
            if let Scope::Local(template) = var.scope {
                let template = &system.templates[template];
                base.push_str(&process_name(system, template.first + copy as usize));
                if template.pc == id {
                    names[system.cell(id, copy, 0).index()] = base;
                    continue;
                }
                base.push('.');
            }
            base.push_str(&var.name);
            for offset in 0..var.len {
                let mut indices = Vec::with_capacity(var.dims.len());
                let mut rest = offset;
                for dim in var.dims.iter().rev() {
                    indices.push((dim.kind, rest % dim.size));
                    rest /= dim.size;
                }
                let mut name = base.clone();
                for (kind, index) in indices.into_iter().rev() {
                    // Writing to a text cannot fail.
                    let _ = match kind {
                        DimKind::Range(lo) => write!(name, "[{}]", lo + i64::from(index)),
                        DimKind::Template(template) => {
                            let lowest = system.templates[template].lowest_id;
                            write!(name, "[{}]", lowest + i64::from(index))
                        }
                        DimKind::Enum(id) => {
                            let members = system.enums.get(id as usize);
                            match members.and_then(|members| members.get(index as usize)) {
                                Some(member) => write!(name, "[{member}]"),
                                None => write!(name, "[{index}]"),
                            }
                        }
                    };
                }
                names[system.cell(id, copy, offset).index()] = name;
            }
        }
    }
    names
}

/// For each cell of a system its least value and how many there are; `None` for a cell that is unbounded,
/// or has too many values for a certificate.
pub fn cell_values(system: &System) -> Vec<Option<(i64, u64)>> {
    let mut values = vec![None; system.cells];
    for (id, var) in system.vars.iter_enumerated() {
        let domain = system.values(var.domain).and_then(|(lo, hi)| {
            let size = i128::from(hi) - i128::from(lo) + 1;
            let size = u64::try_from(size.max(0)).ok()?;
            (size <= MOST_VALUES).then_some((lo, size))
        });
        let copies = match var.scope {
            Scope::Shared => 1,
            Scope::Local(template) => system.templates[template].count,
        };
        for copy in 0..copies {
            for offset in 0..var.len {
                values[system.cell(id, copy, offset).index()] = domain;
            }
        }
    }
    values
}

/// A builder of decision graphs over all cells of a system, in their order; `None` if some cell
/// cannot be part of a certificate.
pub fn builder(system: &System) -> Option<Builder> {
    let sizes: Option<Vec<u64>> = cell_values(system)
        .into_iter()
        .map(|values| values.map(|(_, size)| size))
        .collect();
    Some(Builder::new(cell_names(system).into_iter().zip(sizes?)))
}

/// A number of the model, as 32 hexadecimal digits: other steps, variables, values of parameters or
/// properties give another one; spaces, comments and the names of definitions do not.
pub fn digest(system: &System) -> String {
    let mut hash = Fnv::new();
    // Writing to the hash cannot fail.
    let _ = describe(system, &mut hash);
    format!("{:032x}", hash.0)
}

/// Everything of a system that is part of its meaning, and no places in the source.
fn describe(system: &System, out: &mut impl Write) -> fmt::Result {
    write!(out, "{:?}{:?}", system.params, system.enums)?;
    for var in &system.vars {
        write!(out, "{:?}{:?}", var.name, var.scope)?;
        write!(out, "{:?}{:?}", var.dims, var.domain)?;
        match &var.initial {
            CellInitial::Any => out.write_str("any")?,
            CellInitial::Value(value) => write!(out, "{value:?}")?,
        }
    }
    for predicate in &system.initially {
        write!(out, "initially{predicate:?}")?;
    }
    for template in &system.templates {
        write!(out, "{:?}{:?}", template.name, template.count)?;
        write!(out, "{:?}{:?}", template.lowest_id, template.locations)?;
        write!(out, "{:?}{:?}", template.entry, template.dynamic)?;
        for step in template.steps.iter().flatten() {
            write!(out, "{:?}{:?}{:?}", step.from, step.to, step.rest)?;
            write!(out, "{:?}{:?}", step.choices, step.starts)?;
            for clause in &step.clauses {
                match clause {
                    Clause::Guard(guard) => write!(out, "guard{guard:?}")?,
                    Clause::Check(check) => write!(out, "{:?}{:?}", check.kind, check.holds)?,
                }
            }
            write!(out, "{:?}", step.updates)?;
        }
    }
    for property in &system.properties {
        write!(out, "{:?}", property.name)?;
        match &property.kind {
            SystemPropertyKind::Checks => out.write_str("checks")?,
            SystemPropertyKind::DeadlockFree => out.write_str("deadlock")?,
            SystemPropertyKind::Invariant(expr) => write!(out, "{expr:?}")?,
            SystemPropertyKind::Liveness(liveness) => write!(out, "{liveness:?}")?,
        }
    }
    Ok(())
}

/// The hash FNV-1a with 128 bits: simple, and the same everywhere.
struct Fnv(u128);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 ^= u128::from(byte);
            self.0 = self
                .0
                .wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
        Ok(())
    }
}
