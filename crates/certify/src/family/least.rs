//! The one who is least moves.
//!
//! Of the processes at a label, finitely many, one is least in an order if there is any. In the states that are deleted there is somebody at the label, and it is not the process that
//! waits that is least; the one that is has a step, and no step from the label is taken by it. Every live transition keeps the states, and leads nobody to the label who is less, or makes somebody there
//! less. So the same process is least all the time: it is scheduled, and does not move.
//!
//! Without the last condition it could be another process each time that is least, and every one of them would move before long.

use threadwise_evidence::arithmetic::Formula;
use threadwise_evidence::family::{DeletionPart, Least};

use super::compared::LeastAt;
use super::conditions::{Judge, Lister};
use super::fair::{Course, Edge, Mover, in_states, scheduled, stands};
use super::linear::{Linear, at_most};
use super::names::Symbol;
use crate::Error;

impl<J: Judge> Lister<'_, J> {
    pub(super) fn least(
        &mut self,
        course: &Course<'_>,
        least: &Least,
        states: &[Option<&Formula>],
    ) -> Result<(), Error> {
        let claim = self.claim;
        let least = LeastAt::new(self.family, &claim.compared, least)?;
        let who = (least.template, least.location);
        scheduled(course, who.0, who.1)?;
        self.order(least.comparison)?;
        let (zero, one) = (Linear::default(), Linear::number(1));
        let moves = |edge: &&Edge| {
            let from = course.path(**edge).map(|path| path.from);
            edge.mover == Mover::Other(who.0) && from == Some(who.1)
        };
        for edge in course.live.iter().filter(moves) {
            let Some(of) = states[edge.control] else {
                continue;
            };
            self.step(
                course,
                DeletionPart::Gone,
                *edge,
                &|translation, after, known| {
                    known.extend(in_states(translation, Some(of))?);
                    let fewer = least.less_than(translation, after.mover.number);
                    Ok(at_most(&fewer, &zero)?)
                },
            )?;
        }
        let at = Some(who.1.index());
        for (control, of) in states.iter().enumerate() {
            if of.is_none() {
                continue;
            }
            let own = course.reference().zip(course.locations[control]);
            let condition = course.condition(DeletionPart::Present, control, Some(who.0), at);
            self.state(course, control, None, condition, true, &|translation| {
                let mut known = in_states(translation, *of)?;
                let count = translation.count(who.0, who.1);
                let mut ways = vec![at_most(&count, &zero)?];
                if own == Some(who) {
                    let fewer = least.less_than(translation, 0);
                    ways.push(at_most(&fewer, &zero)?);
                }
                known.push(Formula::any(ways));
                Ok(known)
            })?;
            let condition = course.condition(DeletionPart::Enabled, control, Some(who.0), at);
            self.state(
                course,
                control,
                Some(who),
                condition,
                true,
                &|translation| {
                    let number = translation.scope.processes.len() as u32 - 1;
                    let mut known = in_states(translation, *of)?;
                    let fewer = least.less_than(translation, number);
                    known.push(at_most(&fewer, &zero)?);
                    known.extend(stands(translation, claim)?);
                    Ok(known)
                },
            )?;
        }
        for edge in &course.live {
            let Some(of) = states[edge.control] else {
                continue;
            };
            let number = u32::from(course.reference().is_some());
            self.step_beside(
                course,
                DeletionPart::Least,
                *edge,
                Some(who),
                &|translation, after, known| {
                    known.extend(in_states(translation, Some(of))?);
                    let fewer = least.less_than(translation, number);
                    known.push(at_most(&fewer, &zero)?);
                    let symbol = Symbol::Compared(least.symbol(number));
                    let after = after.value(translation, &symbol, known)?;
                    Ok(at_most(&one, &after)?)
                },
            )?;
        }
        self.persists(course, states)
    }
}
