//! The order in which targets take turns, run by run or in slices of a run. A temporary slowdown of the machine then affects all
//! targets equally.

use std::time::Duration;

use super::limits::is_disturbed;
use super::participant::{Participant, Turn};
use crate::background::BackgroundLoad;
use crate::{Error, Progress};

/// The most slices in a measured window.
const MAX_SLICES: u32 = 100;
/// The shortest slice is this many times as long as the last answers arrive after its end. Less is sent in that time than
/// otherwise.
const TIMES_LATE: u32 = 4;

/// How a run is cut into slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slicing {
    /// The shortest length of a slice.
    least: Duration,
}

impl Slicing {
    pub(super) fn of(least: Duration) -> Self {
        Slicing { least }
    }

    /// Returns the number and length of the slices of a window, given how late the last answers of earlier slices arrived. All
    /// slices have the same length.
    fn slices(self, window: Duration, late: Duration) -> (u32, Duration) {
        let length = self.least.max(late * TIMES_LATE);
        let count = window.as_secs_f64() / length.as_secs_f64().max(f64::MIN_POSITIVE);
        let count = (count.round() as u32).clamp(1, MAX_SLICES);
        (count, window / count)
    }
}

/// Returns the order of targets in a round. Each round starts with another target, because a target that follows a busy one finds
/// the machine warmer, and so that a steady drift affects all targets equally.
fn order(round: usize, targets: usize) -> impl Iterator<Item = usize> {
    (0..targets).map(move |turn| (round + turn) % targets)
}

/// Makes one run against each target, one after the other. Returns whether the bench continues.
pub(super) async fn run_by_run(
    participants: &mut [Participant<'_>],
    run: usize,
    progress: &mut Progress,
) -> Result<bool, Error> {
    for next in order(run, participants.len()) {
        let participant = &mut participants[next];
        if participant.target.is_lost() {
            continue;
        }
        let driven = participant.drive(&participant.load.plan, run + 1, progress).await;
        let Some(driven) = participant.target.survives(driven, &participant.load.case.suite)? else { continue };
        let Some(driven) = driven else { return Ok(false) };
        participant.note(driven, run);
    }
    Ok(true)
}

/// Makes one run against all targets in turns, cut into slices: first slices for the warm-up, then slices that count. Returns
/// whether the bench continues.
pub(super) async fn in_slices(
    participants: &mut [Participant<'_>],
    slicing: Slicing,
    run: usize,
    progress: &mut Progress,
) -> Result<bool, Error> {
    let Some(Participant { load, placement, .. }) = participants.first() else { return Ok(true) };
    let (plan, placement) = (&load.plan, *placement);
    participants.iter_mut().for_each(|participant| participant.begin(run));
    let is_shared =
        placement.sides().is_some() && participants.iter().all(|participant| participant.target.process().is_some());
    let mut late: Option<Duration> = None;
    let mut left = plan.warmup;
    let mut number = run;
    while !left.is_zero() {
        let (_, length) = slicing.slices(left, late.unwrap_or_default());
        if !round(participants, number, Turn { run, length, planned: length, is_shared }, progress).await? {
            return Ok(false);
        }
        // The minimum is used: a slow target is late every time, a disturbed one isn't.
        let latest = participants.iter_mut().map(|participant| participant.discard_slice()).max().unwrap_or_default();
        late = Some(late.map_or(latest, |late| late.min(latest)));
        left = left.saturating_sub(length);
        number += 1;
    }
    let servers = participants.iter().filter_map(|participant| participant.target.process()).collect();
    let others = BackgroundLoad::among(servers, placement);
    let before = others.sample();
    let (count, length) = slicing.slices(plan.stop.after.unwrap_or_default(), late.unwrap_or_default());
    let turn = Turn { run, length, planned: length, is_shared };
    let whole = length * count * participants.len() as u32;
    let (goes_on, others) = loop {
        let goes_on = rounds(participants, &mut number, count, turn, progress).await?;
        let others = others.share_since(&before);
        // The more other processes disturb, the more pairs are needed.
        if !goes_on || !is_disturbed(others) || !participants.iter_mut().all(|participant| participant.repeats(whole)) {
            break (goes_on, others);
        }
        progress.again(whole);
    };
    participants.iter_mut().for_each(|participant| participant.end(run, others));
    Ok(goes_on)
}

/// Drives `count` rounds that count. Returns whether the bench continues.
async fn rounds(
    participants: &mut [Participant<'_>],
    number: &mut usize,
    count: u32,
    turn: Turn,
    progress: &mut Progress,
) -> Result<bool, Error> {
    for _ in 0..count {
        if !round(participants, *number, turn, progress).await? {
            return Ok(false);
        }
        participants.iter_mut().for_each(Participant::count_slice);
        *number += 1;
    }
    Ok(true)
}

/// Drives one slice of each target. Returns whether all of them were completed. An interrupted round gives no pairs.
async fn round(
    participants: &mut [Participant<'_>],
    number: usize,
    turn: Turn,
    progress: &mut Progress,
) -> Result<bool, Error> {
    for next in order(number, participants.len()) {
        let participant = &mut participants[next];
        if participant.target.is_lost() {
            continue;
        }
        let driven = participant.slice(turn, progress).await;
        if participant.target.survives(driven, &participant.load.case.suite)? == Some(false) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_target_begins_each_round() {
        let orders: Vec<Vec<usize>> = (0..4).map(|round| order(round, 3).collect()).collect();
        assert_eq!(orders, [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]);
        let pair: Vec<usize> = (0..4).flat_map(|round| order(round, 2)).collect();
        assert_eq!(pair, [0, 1, 1, 0, 0, 1, 1, 0], "each follows the other as often");
        assert_eq!(order(5, 0).count(), 0);
    }

    #[test]
    fn a_window_is_cut_evenly_and_a_slow_one_into_less() {
        let slicing = Slicing::of(Duration::from_millis(50));
        let table = [
            (400, 0, 8, 50),
            (400, 5, 8, 50),
            (410, 0, 8, 51),
            (400, 25, 4, 100),
            (400, 800, 1, 400),
            (30, 0, 1, 30),
            (60_000, 0, 100, 600),
        ];
        for (window, late, count, length) in table {
            let [window, late] = [window, late].map(Duration::from_millis);
            let (slices, each) = slicing.slices(window, late);
            assert_eq!((slices, each.as_millis()), (count, length), "{window:?}, {late:?}");
        }
    }
}
