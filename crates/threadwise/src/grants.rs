//! How much work a job may do before it waits to be granted more.
//!
//! The one who does the work asks every few milliseconds whether to go on, and is kept waiting there: an engine need not know that it is one of several
//! that take turns.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a job was granted so far.
#[derive(Debug, Default)]
pub struct Grants {
    /// The same as in the state, to be read often.
    granted: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    granted: u64,
    /// Up to what grant it was said that the job waits.
    told: u64,
    closed: bool,
}

impl Grants {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can fail half way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the job go on until it has done so much in all.
    pub fn grant(&self, work: u64) {
        let mut state = self.state();
        state.granted = state.granted.max(work);
        self.granted.store(state.granted, Ordering::Release);
        self.changed.notify_all();
    }

    /// Lets the job wait no more: nobody wants to know.
    pub fn close(&self) {
        self.state().closed = true;
        self.granted.store(0, Ordering::Release);
        self.changed.notify_all();
    }

    /// Keeps a job waiting that has done what it was granted; `tell` hears that it waits, and with what grant. Whether to go on.
    pub fn wait(&self, done: u64, tell: &dyn Fn(u64)) -> bool {
        if done < self.granted.load(Ordering::Acquire) {
            return true;
        }
        let mut state = self.state();
        loop {
            if state.closed {
                return false;
            }
            if done < state.granted {
                return true;
            }
            if state.told < state.granted {
                state.told = state.granted;
                tell(state.granted);
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn a_job_stops_where_its_grant_ends() {
        let grants = Grants::default();
        let (send, told) = mpsc::channel();
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let mut done = 0;
                while grants.wait(done, &|granted| send.send((granted, done)).unwrap()) {
                    done += 3;
                }
                done
            });
            grants.grant(10);
            assert_eq!(told.recv(), Ok((10, 12)));
            // A grant that is not more than what was done changes nothing, but the job says that it waits.
            grants.grant(11);
            assert_eq!(told.recv(), Ok((11, 12)));
            grants.grant(13);
            assert_eq!(told.recv(), Ok((13, 15)));
            grants.close();
            assert_eq!(worker.join().unwrap(), 15);
        });
    }
}
