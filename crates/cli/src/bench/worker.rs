//! `castile bench --locust`: a worker of a Locust master, whose users send the requests of one case.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::bail;
use castile_load::{Bench, Driver, Interrupt, Load, Pace, Placement, Target};

use super::{adjust, schedule};
use crate::contracts::load::{locust, metrics, metrics::Live};
use crate::{login, measurement};

#[derive(clap::Args)]
// The group has its own id, because it is flattened into the arguments of a command.
#[group(id = "bench_worker")]
pub(super) struct Arguments {
    /// Be a worker of the Locust master at this address: its users send the requests of one case to the server at --url, and it gets the
    /// report [default port: 5557]
    #[arg(long, value_name = "HOST[:PORT]", value_parser = locust::address, requires = "url", conflicts_with_all = [
        "connections", "warmup", "duration", "runs", "think", "rate", "no_floor", "no_pin", "peers", "data", "dry_run", "fail_if", "junit",
        "csv", "out",
    ])]
    locust: Option<String>,
    /// The name of this worker for the master [default: the name of the machine and a random number]
    #[arg(long, value_name = "NAME", value_parser = locust::name, requires = "locust")]
    worker_name: Option<String>,
    /// Serve the figures of the driver at http://ADDR/metrics while it is a worker, in the text format of Prometheus
    #[arg(long, value_name = "ADDR", requires = "locust")]
    metrics: Option<SocketAddr>,
}

impl Arguments {
    /// Returns the address of the master.
    pub(super) fn address(&self) -> Option<&str> {
        self.locust.as_deref()
    }

    /// Works for the master until it quits. Returns the exit code.
    pub(super) fn work(&self, bench: Bench, address: &str) -> anyhow::Result<u8> {
        locust::work(bench, address, self.worker_name.clone(), Live::serve(self.metrics)?)
    }
}

/// Returns what a worker of a Locust master drives: one case, with users that send their next request after an answer.
pub(super) fn prepare(arguments: &super::Arguments) -> anyhow::Result<Bench> {
    let (Some(url), chosen) = (&arguments.url, super::suites(arguments)?) else { bail!("expected --url") };
    if let Some(suite) = chosen.iter().find(|suite| suite.sends_once) {
        bail!("the requests of {} are accepted once, and users of --locust repeat theirs", suite.name);
    }
    let loads = super::loads(arguments, &chosen, 1)?;
    let is_possible =
        |load: &&Load| load.plan.pace == Pace::Closed && load.search.is_none() && load.driver == Driver::Own;
    let mut possible: BTreeMap<String, &Load> = BTreeMap::new();
    for load in loads.iter().filter(is_possible) {
        let name = format!("{}, {}", schedule::case(load), adjust::method_name(load));
        // Methods of a suite differ in what a master decides, and in the connections, which are kept if that is possible.
        let same = possible.entry(name).or_insert(load);
        if load.plan.keep_alive {
            *same = load;
        }
    }
    let load = match possible.values().next() {
        Some(load) if possible.len() == 1 => load,
        Some(_) => {
            let names: Vec<_> = possible.into_keys().collect();
            bail!("found {}; expected one: choose it with --op, --client and --method", names.join("; "));
        }
        None => bail!("found no case whose users send their next request after an answer, expected one"),
    };
    let headers = login::headers(&arguments.headers)?;
    arguments.login.expect_no_other(&headers)?;
    let endpoint = arguments.login.endpoint(url, &arguments.tls, &headers)?;
    Ok(Bench {
        loads: vec![Load::new(
            load.case.clone(),
            locust::plan(load.plan.clone(), metrics::files(arguments.worker.metrics)),
        )],
        targets: vec![Target::external(url, endpoint)],
        placement: Placement::external(),
        repeats: 0,
        command: measurement::own_command(),
        interrupt: Interrupt::default(),
    })
}
