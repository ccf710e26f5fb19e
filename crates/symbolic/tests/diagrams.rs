//! The diagrams by themselves: operations against truth tables, budgets, garbage and deep recursion.

use std::sync::atomic::{AtomicU32, Ordering};

use threadwise_engine::{Stop, Work};
use threadwise_symbolic::{Bdd, Diagrams, GaveUp, OutOfNodes, Room, with_deep_stack};
use threadwise_testgen::random::Random;

/// Variables of the truth tables; a table is one number.
const VARS: u32 = 6;

/// The table of a variable: bit `row` is the variable's value in that row.
fn variable(var: u32) -> u64 {
    (0..64).fold(0, |table, row| table | (row >> var & 1) << row)
}

/// The table of a diagram.
fn table(d: &Diagrams, a: &Bdd) -> u64 {
    (0..64u64).fold(0, |table, row| {
        table | u64::from(d.contains(a, |var| row >> var & 1 == 1, VARS)) << row
    })
}

/// The table with a variable forgotten.
fn forget(table: u64, var: u32) -> u64 {
    (0..64).fold(0, |result, row| {
        let either = table >> (row | 1 << var) | table >> (row & !(1 << var));
        result | (either & 1) << row
    })
}

#[test]
fn operations_are_those_of_truth_tables() -> Result<(), GaveUp> {
    let d = Diagrams::new(VARS, 1 << 14);
    let mut random = Random::new(1);
    let mut known: Vec<(Bdd, u64)> = vec![(d.all(), u64::MAX), (d.none(), 0)];
    for var in 0..VARS {
        known.push((d.literal(var, true)?, variable(var)));
        known.push((d.literal(var, false)?, !variable(var)));
    }
    for _ in 0..1_500 {
        let mut one = || known[random.below(known.len())].clone();
        let ((a, x), (b, y), (c, z)) = (one(), one(), one());
        let vars: Vec<u32> = (0..VARS).filter(|_| random.percent(40)).collect();
        let cube = d.cube(&vars)?;
        let without = |table: u64| vars.iter().fold(table, |table, var| forget(table, *var));
        let (diagram, expected) = match random.below(7) {
            0 => (d.not(&a)?, !x),
            1 => (d.and(&a, &b)?, x & y),
            2 => (d.or(&a, &b)?, x | y),
            3 => (d.minus(&a, &b)?, x & !y),
            4 => (d.ite(&a, &b, &c)?, x & y | !x & z),
            5 => (d.exists(&a, &cube)?, without(x)),
            _ => (d.and_exists(&a, &b, &cube)?, without(x & y)),
        };
        assert_eq!(table(&d, &diagram), expected);
        assert_eq!(d.is_empty(&diagram), expected == 0);
        let count = d.count(&diagram, VARS);
        assert_eq!(
            u64::try_from(&count).ok(),
            Some(u64::from(expected.count_ones()))
        );
        match d.member(&diagram) {
            None => assert_eq!(expected, 0),
            Some(member) => {
                let row = (0..VARS).filter(|var| member[*var as usize] == Some(true));
                let row = row.fold(0, |row, var| row | 1 << var);
                assert_eq!(expected >> row & 1, 1);
            }
        }
        if let Some((var, no, yes)) = d.top(&diagram) {
            let (no, yes) = (table(&d, &no), table(&d, &yes));
            let top = variable(var);
            assert_eq!(top & yes | !top & no, expected);
        }
        known.push((diagram, expected));
    }
    // All at once: the first two change places, the third becomes the fourth.
    let renaming = d.renaming(&[0, 1, 2], &[1, 0, 3])?;
    for (diagram, before) in &known {
        let renamed = d.rename(diagram, &renaming)?;
        let expected = (0..64).fold(0, |result, row: u64| {
            let bit = |var: u32| row >> var & 1;
            let from = bit(1) | bit(0) << 1 | bit(3) << 2 | row & !7;
            result | (before >> from & 1) << row
        });
        assert_eq!(table(&d, &renamed), expected);
    }
    Ok(())
}

/// True if each of the first `n` variables equals the one `n` after it: a diagram with 2^n nodes in this order.
fn pairs(d: &Diagrams, n: u32) -> Result<Bdd, GaveUp> {
    let mut all = d.all();
    for var in 0..n {
        let (a, b) = (d.literal(var, true)?, d.literal(var + n, true)?);
        let same = d.ite(&a, &b, &d.not(&b)?)?;
        all = d.and(&all, &same)?;
    }
    Ok(all)
}

#[test]
fn no_room_is_an_error_and_everything_goes_on() {
    let capacity = 1 << 12;
    let d = Diagrams::new(64, capacity);
    for _ in 0..3 {
        assert_eq!(pairs(&d, 32).err(), Some(OutOfNodes { capacity }.into()));
        assert!(d.peak_nodes() > capacity / 2, "{}", d.peak_nodes());
        let small = pairs(&d, 5).expect("room for this");
        let count = d.count(&small, 10);
        assert_eq!(u64::try_from(&count).ok(), Some(1 << 5));
    }
}

#[test]
fn what_was_done_is_counted_before_each_question() {
    let work = Work::default();
    let stop = || (work.done() > 1000).then_some(Stop::Cancelled);
    let room = Room {
        capacity: 1 << 14,
        stop: Some(&stop),
        work: Some(&work),
    };
    let d = Diagrams::new(8, room);
    let done = (0..10_000).take_while(|at| d.literal(at % 8, true).is_ok());
    let done = done.count();
    // Whoever has so much to do that the search has not begun yet ends as well.
    assert!((10..1000).contains(&done), "{done} operations");
}

#[test]
fn operations_end_when_they_are_told_to() {
    for questions in [1, 3, 100] {
        let asked = AtomicU32::new(0);
        let stop =
            || (asked.fetch_add(1, Ordering::Relaxed) + 1 >= questions).then_some(Stop::Time);
        let room = Room {
            capacity: 1 << 14,
            stop: Some(&stop),
            work: None,
        };
        let d = Diagrams::new(8, room);
        let mut done = 0;
        let end = loop {
            match d.literal(done % 8, true) {
                Ok(_) => done += 1,
                Err(end) => break end,
            }
            assert!(done < 16 * questions, "nobody asks");
        };
        assert_eq!(end, GaveUp::Stopped(Stop::Time));
        assert_eq!(asked.load(Ordering::Relaxed), questions);
        assert_eq!(d.breathe(), Err(GaveUp::Stopped(Stop::Time)));
    }
}

#[test]
fn garbage_never_makes_an_operation_fail() {
    let d = Diagrams::new(40, 1 << 12);
    let mut random = Random::new(2);
    let kept = pairs(&d, 6).expect("small");
    let before = d.count(&kept, 12);
    for _ in 0..3_000 {
        let mut cube = d.all();
        for var in (0..40).rev() {
            let literal = d.literal(var, random.percent(50)).expect("room");
            cube = d.and(&literal, &cube).expect("room");
        }
        let both = d.or(&cube, &kept).expect("room");
        assert_eq!(d.minus(&both, &cube).expect("room") == kept, {
            let common = d.and(&kept, &cube).expect("room");
            d.is_empty(&common)
        });
    }
    assert_eq!(d.count(&kept, 12), before);
}

#[test]
fn thousands_of_variables_are_no_trouble() {
    with_deep_stack(|| {
        let n = 4_000;
        let d = Diagrams::new(n, 1 << 20);
        // Parity looks at every variable on every path.
        let mut odd = d.none();
        for var in (0..n).rev() {
            let bit = d.literal(var, true).expect("room");
            let even = d.not(&odd).expect("room");
            odd = d.ite(&bit, &even, &odd).expect("room");
        }
        let count = d.count(&odd, n);
        assert_eq!(count.to_string().len(), 1204);
        assert_eq!(d.count(&d.all(), n - 1), count);
        let all: Vec<u32> = (0..n).collect();
        let cube = d.cube(&all).expect("room");
        assert!(d.exists(&odd, &cube).expect("room") == d.all());
        let even = d.not(&odd).expect("room");
        let none = d.and_exists(&odd, &even, &cube).expect("room");
        assert!(d.is_empty(&none));
        assert!(!d.contains(&odd, |_| true, n));
        assert!(d.contains(&odd, |var| var == n - 1, n));
        let (from, to): (Vec<u32>, Vec<u32>) = (0..n / 2).map(|var| (2 * var, 2 * var + 1)).unzip();
        let renaming = d.renaming(&from, &to).expect("room");
        let half = d.cube(&from).expect("room");
        let renamed = d.rename(&half, &renaming).expect("room");
        assert!(renamed == d.cube(&to).expect("room"));
    });
}
