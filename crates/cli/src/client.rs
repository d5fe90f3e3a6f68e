//! `castile client`: Castile's generated client as a process, which `castile peers clients` starts. Clients of peers have the same
//! interface.

use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use castile_load::{Case, Endpoint, Requests, User};
use castile_suites::SUITES;

/// The timeout of a call.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Call a service as often as standard input requests: one number of calls per line. Each line is answered with the number of items in the
/// answers
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The URL of the endpoint
    url: String,
    /// The case of a suite, in the suite's first style
    case: String,
}

/// Returns the cases that clients are compared with: the typed cases of each suite, in its first style.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    SUITES.iter().flat_map(|suite| {
        let cases = (suite.typed)();
        let style = cases.first().and_then(|case| case.style.clone());
        cases.into_iter().filter(move |case| case.style == style)
    })
}

/// Makes calls until standard input ends.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Some(case) = cases().find(|case| case.name == arguments.case) else {
        let known: Vec<String> = cases().map(|case| case.name).collect();
        bail!("found case {:?}, expected one of {}", arguments.case, known.join(", "));
    };
    let Requests::Typed { count, connect } = case.requests else {
        bail!("the case {} can't be called by this client", case.name);
    };
    let user = User { number: 0, endpoint: Endpoint::resolve(&arguments.url)?, source: None, timeout: TIMEOUT };
    let failed = |error| anyhow!("{error}").context("the service gave no correct answer");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut client = connect(&user).map_err(failed)?;
        let mut numbers = (0..count).cycle();
        for line in std::io::stdin().lines() {
            let line = line.context("can't read the number of calls")?;
            let calls: usize = line.parse().with_context(|| format!("found {line:?}, expected the number of calls"))?;
            let mut items = 0;
            for number in numbers.by_ref().take(calls) {
                items += client.call(number).await.map_err(failed)?.matches;
            }
            out!("{items}");
        }
        Ok(())
    })
}
