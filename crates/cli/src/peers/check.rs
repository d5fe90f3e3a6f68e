//! Proves that a peer's answers are right: whoever answers wrongly has no figures.

use std::time::Instant;

use castile_load::{Bench, Case, Interrupt, Load, Placement, Plan, Requests, Target};
use castile_suites::Suite;

use super::Peer;

/// Starts a peer, sends it each case once, and prints what came of each. Whether all were answered rightly.
pub(super) async fn peer(peer: &Peer) -> anyhow::Result<bool> {
    let placement = Placement::free();
    let begun = Instant::now();
    let target = Target::server(&peer.name, peer.start(&placement)?);
    println!("{peer}");
    let mut right = 0;
    let mut wrong = 0;
    for case in peer.suites().flat_map(cases).filter(|case| peer.serves(case)) {
        let who = match case.requests {
            Requests::Typed { .. } => "our client",
            _ => "message",
        };
        let named = format!("{} {} ({who})", case.suite, case.name);
        // Each alone, so that each is told.
        let load = Load::new(case, Plan::default());
        let bench = Bench {
            loads: vec![load],
            targets: Vec::new(),
            placement: placement.clone(),
            command: String::new(),
            interrupt: Interrupt::default(),
        };
        match bench.ask_each(&target).await {
            Ok(_) => {
                right += 1;
                println!("  {named}: right");
            }
            Err(error) => {
                wrong += 1;
                println!("  {named}: WRONG: {error}");
            }
        }
        if right + wrong == 1 {
            println!("  first answer after {:.2} s", begun.elapsed().as_secs_f64());
        }
    }
    println!("{}: {right} right, {wrong} wrong", peer.name);
    Ok(wrong == 0)
}

/// All of a suite: those that were published and those beyond, as messages and, where there are any, through clients.
fn cases(suite: &Suite) -> impl Iterator<Item = Case> {
    let Suite { cases, extras, typed, .. } = suite;
    cases().into_iter().chain(extras()).chain(typed())
}
