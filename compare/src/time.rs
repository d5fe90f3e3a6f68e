//! Measures processor time of all contestants in turns.

use std::hint::black_box;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use crate::documents::Document;

/// How long a contestant reads before the next one takes its turn.
const TURN: Duration = Duration::from_millis(20);
const ROUNDS: usize = 15;

/// Returns nanoseconds per document for each contestant: the median of rounds in which all take turns, so that
/// other load of the machine affects all of them equally.
pub fn measure(document: &mut Document, quick: bool) -> Result<Vec<f64>, String> {
    let (turn, rounds) = if quick { (Duration::ZERO, 1) } else { (TURN, ROUNDS) };
    let text = &document.text;
    let mut samples = vec![Vec::new(); document.contestants.len()];
    for _ in 0..rounds {
        for (contestant, samples) in document.contestants.iter_mut().zip(&mut samples) {
            let start = now()?;
            let mut count = 0;
            loop {
                black_box((contestant.run)(black_box(text))?);
                count += 1;
                let passed = now()?.saturating_sub(start);
                if passed >= turn {
                    samples.push(passed.as_nanos() as f64 / f64::from(count));
                    break;
                }
            }
        }
    }
    let median = |mut samples: Vec<f64>| {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    };
    Ok(samples.into_iter().map(median).collect())
}

/// Returns the processor time of this thread, which does all of the work, so the time of other threads doesn't
/// count.
fn now() -> Result<Duration, String> {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).map_err(|error| error.to_string())
}
