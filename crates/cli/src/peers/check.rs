//! Checks the answers of a peer. A peer with wrong answers isn't measured.

use anyhow::ensure;
use bytes::Bytes;
use castile_load::{Bench, Case, Interrupt, Load, Placement, Plan, Requests, Target};
use castile_suites::{Suite, seismic};

use super::Peer;

/// Starts a peer, sends it each case once, and prints the result of each. Returns whether all answers are right.
pub(super) async fn peer(peer: &Peer) -> anyhow::Result<bool> {
    let placement = Placement::free();
    let mut target = Target::server(&peer.name, peer.start(&placement)?);
    out!("{peer}");
    let mut right = 0;
    let mut wrong = 0;
    for case in peer.suites().flat_map(cases).filter(|case| peer.serves(case)) {
        let who = match case.requests {
            Requests::Typed { .. } => "our client",
            _ => "message",
        };
        // Some case names already begin with the style.
        let style = case.style.as_deref().filter(|style| !case.name.starts_with(style));
        let style = style.map(|style| format!(" {style}")).unwrap_or_default();
        let named = format!("{} {}{style} ({who})", case.suite, case.name);
        // Each case is sent separately, so that each result is reported.
        match ask(&mut target, vec![Load::new(case, Plan::default())], &placement).await {
            Ok(()) => {
                right += 1;
                out!("  {named}: right");
            }
            Err(error) => {
                wrong += 1;
                out!("  {named}: WRONG: {}", castile_xml::visible_lines(&error.to_string()));
            }
        }
    }
    if let Some(time) = target.first_answer() {
        out!("  first answer after {:.2} s", time.as_secs_f64());
    }
    out!("{}: {right} right, {wrong} wrong", peer.name);
    Ok(wrong == 0)
}

/// Sends a peer the messages of these loads once.
///
/// # Errors
/// An answer is wrong or incomplete.
pub(crate) async fn ask(target: &mut Target, loads: Vec<Load>, placement: &Placement) -> anyhow::Result<()> {
    let bench = Bench {
        loads,
        targets: Vec::new(),
        placement: placement.clone(),
        repeats: 0,
        command: String::new(),
        interrupt: Interrupt::default(),
    };
    let answers = bench.ask_each(target).await?;
    bench.loads.iter().zip(&answers).try_for_each(|(load, answers)| check_complete(&load.case, answers))
}

/// Checks that answers contain all matching quakes of the catalogue that peers and Castile share. The judges of messages check everything
/// else. Answers to the typed client aren't stored; they are the same as those to raw messages.
fn check_complete(case: &Case, answers: &[Bytes]) -> anyhow::Result<()> {
    let expected = if answers.is_empty() { None } else { seismic::matches(&case.name) };
    let Some(expected) = expected else { return Ok(()) };
    let counted = case.messages().iter().zip(answers).map(|(message, answer)| (message.check)(answer));
    let found = counted.sum::<Result<u64, String>>().map_err(anyhow::Error::msg)?;
    ensure!(found == expected, "found {found} quakes, expected {expected}");
    Ok(())
}

/// Returns all cases of a suite: the published ones and the extra ones, as raw messages and, where available, with typed clients.
fn cases(suite: &Suite) -> impl Iterator<Item = Case> {
    let Suite { cases, extras, typed, .. } = suite;
    cases().into_iter().chain(extras()).chain(typed())
}
