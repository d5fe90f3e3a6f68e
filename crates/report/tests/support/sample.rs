//! Results of a fictitious bench: every method, every field, hundreds of figures, always the same.
//! They are used to test pages and tables, and to look at them.

use castile_report::{
    Build, Client, Interval, Lag, Latency, Machine, Method, Pass, Published, PublishedFigure, Quantile, Reason,
    Results, ResultsKind, Row, Spread, Step, Suite, Term,
};

/// Pseudorandom noise, the same each time.
pub struct Noise(pub u64);

impl Noise {
    /// Returns a factor close to 1.
    pub fn factor(&mut self, spread: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1.0 + ((self.0 >> 33) as f64 / f64::from(1_u32 << 31) - 0.5) * 2.0 * spread
    }
}

pub fn results() -> Results {
    results_of(7)
}

/// Returns results with the noise of this seed.
pub fn results_of(seed: u64) -> Results {
    let mut noise = Noise(seed);
    Results {
        castile: "0.1.0".into(),
        date: "2026-01-02T03:04:05Z".into(),
        command: "castile bench --profile standard".into(),
        kind: ResultsKind::Bench,
        build: Some(Build {
            commit: Some("0123456789ab".into()),
            changed: true,
            compiler: "rustc 1.95.0, x86_64-unknown-linux-gnu".into(),
            profile: "release, opt-level 3".into(),
            allocator: "an allocator".into(),
        }),
        incomplete: false,
        conditions: Vec::new(),
        targets: Vec::new(),
        workers: Vec::new(),
        machine: Machine {
            cpu: "A processor of the sample".into(),
            cores: 2,
            memory_bytes: Some(8_000_000_000),
            os: "linux 6.1".into(),
        },
        placement: "server on core 0, driver on core 1".into(),
        warmup_s: 5.0,
        duration_s: 20.0,
        runs: 4,
        slice_s: None,
        warnings: vec![
            "The driver, not the server, was the limit, so the server can do more than was measured: echoVoid \
             (castile), \
             echoInteger (castile)"
                .into(),
        ],
        suites: vec![
            wspex(&mut noise),
            seismic(&mut noise),
            benchmark1(&mut noise),
            wstest(&mut noise),
            styles(&mut noise),
        ],
    }
}

/// Returns a row of a closed load with this throughput and CPU time.
pub fn row(noise: &mut Noise, case: &str, target: &str, per_second: f64, cpu: f64) -> Row {
    let runs: Vec<f64> = (0..4).map(|_| per_second * noise.factor(0.02)).collect();
    let p50 = 32.0 / per_second * 1e6 * 0.93;
    let at = |quantile: f64| p50 * (1.0 + 0.35 * (-(1.0 - quantile).log10()).powf(1.7));
    let quantiles = (0..60).map(|index| 1.0 - 10_f64.powf(-f64::from(index) / 10.0));
    let requests = (per_second * 80.0) as u64;
    Row {
        case: case.into(),
        target: target.into(),
        network: None,
        client: Client::Raw,
        method: Method::Closed,
        style: None,
        connections: 32,
        opened: None,
        keep_alive: true,
        rhythm: None,
        rate: None,
        requests,
        part_of: None,
        errors: 0,
        not_sent: 0,
        verified: requests / 1000 + 128,
        unsent: 0,
        dropped: 0,
        requests_per_second: Spread::of(runs),
        latency_us: Latency {
            mean: Some(p50 * 1.08),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: at(0.999_999) * 1.4,
        },
        service_us: None,
        distribution: quantiles
            .filter(|quantile| (1.0 - quantile) * requests as f64 >= 1.0)
            .map(|quantile| Quantile { quantile, us: at(quantile) })
            .chain([Quantile { quantile: 1.0, us: at(0.999_999) * 1.4 }])
            .collect(),
        series: (1..=20)
            .map(|second| Interval {
                at_s: f64::from(second),
                requests_per_second: per_second * noise.factor(0.04),
                errors: 0,
                p50_us: Some(at(0.5) * noise.factor(0.05)),
                p99_us: Some(at(0.99) * noise.factor(0.2)),
                users: None,
                server_cpu_share: Some(0.97 * noise.factor(0.02)),
                server_rss_bytes: Some((14e6 + 1e5 * f64::from(second)) as u64),
                server_cpu_us_per_request: None,
            })
            .collect(),
        passes: Vec::new(),
        curve: Vec::new(),
        users_at_peak: None,
        users_at_exit: None,
        exit_reason: None,
        failed: None,
        matches: None,
        elapsed_s: None,
        bytes_out: None,
        bytes_in: None,
        server_cpu_us_per_request: Some(cpu),
        times_floor: None,
        server_peak_rss_bytes: Some(16_100_000),
        server_cpu_share: Some(0.98),
        driver_cpu_share: Some(0.62),
        driver_cpu_us_per_request: Some(6.1),
        lag_us: None,
        driver_limited: false,
        limited_by: None,
        search_end: None,
        disturbed: None,
        rising: false,
        request_bytes: (cpu * 30.0) as usize,
        response_bytes: (cpu * 31.0) as usize,
        reasons: Vec::new(),
    }
}

fn wspex(noise: &mut Noise) -> Suite {
    let names = [
        ("echoVoid", 19_620.673, 48.772),
        ("echoInteger", 17_798.787, 18.859),
        ("echoStruct", 16_753.703, 90.206),
        ("echoSynthetic4K", 7_701.041, 18.397),
        ("echoArray40", 2_375.238, 1.419),
        ("echoOrder200", 715.522, 2.389),
        ("echoOrder500", 284.707, 0.192),
    ];
    let mut cases = Vec::new();
    for (name, published, _) in names {
        let cpu = 12.0 + 4e5 / published / 2.0;
        let raw = 9.2e5 / cpu;
        let passes = |noise: &mut Noise, mean: f64| -> Vec<Pass> {
            (0..4)
                .map(|pass| Pass {
                    requests_per_second: mean * noise.factor(if pass < 2 { 0.08 } else { 0.01 }),
                    discarded: pass < 2,
                })
                .collect()
        };
        let limited = published > 17_000.0;
        let typed = row(noise, name, "castile", raw * 0.7, cpu * 1.02);
        let passes = passes(noise, raw * 0.7);
        cases.push(Row {
            client: Client::Typed,
            driver_limited: limited,
            limited_by: limited.then(|| "its cores were 99 % busy".into()),
            driver_cpu_share: Some(0.99),
            passes,
            ..typed
        });
        cases.push(row(noise, name, "castile", raw, cpu));
        cases.push(row(noise, name, "floor", 9.3e5 / (11.0 + cpu * 0.1), 11.0 + cpu * 0.1));
    }
    let figure = |(case, requests_per_second, stddev): (&str, f64, f64)| PublishedFigure {
        case: case.into(),
        requests_per_second: Some(requests_per_second),
        stddev: Some(stddev),
        ..PublishedFigure::default()
    };
    Suite {
        published: vec![Published {
            system: "JAX-WS RI 2.1".into(),
            source: "an article of 2007".into(),
            machine: "server with 4 processors, client with 8".into(),
            method: Method::Closed,
            figures: names.into_iter().map(figure).collect(),
        }],
        ..Suite::new("wspex".into(), cases)
    }
}

fn seismic(noise: &mut Noise) -> Suite {
    let sets = [
        (".01x200", 200.0, 905, 0.09),
        (".05x100", 100.0, 11_917, 0.11),
        (".2x20", 20.0, 37_902, 0.2),
        (".5x10", 10.0, 121_289, 0.55),
    ];
    let styles = [("document", 1.0), ("rpc-encoded", 3.4), ("binary", 0.6)];
    let mut cases = Vec::new();
    for (name, requests, matches, elapsed) in sets {
        for (style, factor) in styles {
            let elapsed = elapsed * factor;
            let sequence = row(noise, name, "castile", requests / elapsed, 400.0 * factor);
            cases.push(Row {
                client: Client::Typed,
                method: Method::Sequence,
                style: Some(style.into()),
                connections: 1,
                opened: None,
                requests: requests as u64 * 4,
                matches: Some(matches),
                elapsed_s: Some(elapsed),
                bytes_out: Some((requests * 370.0 * factor) as u64),
                bytes_in: Some((f64::from(u32::try_from(matches).unwrap_or(0)) * 145.0 * factor) as u64),
                series: Vec::new(),
                ..sequence
            });
        }
    }
    let term = |(name, meaning): (&str, &str)| Term { name: name.into(), meaning: meaning.into() };
    let terms = [
        (".01x200", "200 queries, each for about 1 % of time and area"),
        ("rpc-encoded", "rpc style in SOAP encoding"),
        ("nothing", "what no row has"),
    ];
    Suite {
        about: Some("One client asks for earthquakes in a box of time and place.".into()),
        terms: terms.map(term).into(),
        ..Suite::new("seismic".into(), cases)
    }
}

fn benchmark1(noise: &mut Noise) -> Suite {
    let mut cases = Vec::new();
    for operation in
        ["echoVoid", "echoInts", "echoDoubles", "echoStrings", "echoMeshInterfaceObjects", "echoSimpleEvents"]
    {
        for size in if operation == "echoVoid" { &[0][..] } else { &[1, 100, 500] } {
            let name = if *size > 0 { format!("{operation}-{size}") } else { operation.to_owned() };
            for keep_alive in [true, false] {
                let cpu = 13.0 + f64::from(*size) * 0.2 + if keep_alive { 0.0 } else { 45.0 };
                let floor = 11.0 + f64::from(*size) * 0.01 + if keep_alive { 0.0 } else { 44.0 };
                for (target, cpu) in [("castile", cpu), ("floor", floor)] {
                    let closed = row(noise, &name, target, 9.1e5 / cpu, cpu);
                    cases.push(Row { connections: 25, keep_alive, ..closed });
                }
            }
        }
    }
    Suite::new("benchmark1".into(), cases)
}

fn wstest(noise: &mut Noise) -> Suite {
    let mut cases = Vec::new();
    for (name, peak) in [("EchoVoid", 14_000.0), ("GetOrder", 9_000.0)] {
        let curve: Vec<Step> = (1..=12)
            .map(|step| {
                let users = f64::from(step) * peak / 9.0;
                let over = (users / peak).powi(8);
                Step {
                    users: Some(users as usize),
                    rate: None,
                    requests_per_second: users.min(peak) * noise.factor(0.01)
                        - if users > peak { users * 0.03 } else { 0.0 },
                    mean_us: 180.0 + 900.0 * over,
                    p99_us: 420.0 + 9_000.0 * over,
                    errors: 0,
                    server_cpu_share: Some((users / peak).min(1.0) * 0.98),
                }
            })
            .collect();
        let users = row(noise, name, "castile", peak, 70.0);
        cases.push(Row {
            method: Method::Users,
            connections: peak as usize,
            keep_alive: false,
            rhythm: Some("each thinks for 1s before a request, increased until throughput stops growing".into()),
            users_at_peak: Some(peak as usize),
            exit_reason: Some("throughput stopped growing".into()),
            curve,
            ..users
        });
    }
    for (name, cpu) in [("EchoVoid", 13.0), ("EchoStruct20", 19.0), ("EchoList100", 36.0), ("GetOrder", 42.0)] {
        for (target, cpu) in [("castile", cpu), ("floor", 11.0 + cpu * 0.07)] {
            let closed = row(noise, name, target, 9.1e5 / cpu, cpu);
            cases.push(Row { connections: 16, ..closed });
        }
    }
    Suite::new("wstest".into(), cases)
}

/// Includes a stall and errors, as a service under load has them.
fn styles(noise: &mut Noise) -> Suite {
    let mut cases = Vec::new();
    for (name, users) in [("document-2KB", 700), ("document-50KB", 430), ("cdata-50KB", 410), ("attachment-200KB", 380)]
    {
        let ramp = row(noise, name, "castile", 900.0, 120.0);
        let failed = name == "cdata-50KB";
        let seconds: u16 = 30;
        let series: Vec<Interval> = (1..=seconds)
            .map(|second| {
                let stalled = failed && (20..23).contains(&second);
                Interval {
                    at_s: f64::from(second),
                    requests_per_second: if stalled { 0.0 } else { 30.0 * f64::from(second) * noise.factor(0.05) },
                    errors: if failed && second == 23 { 41 } else { 0 },
                    p50_us: (!stalled).then(|| 300.0 + 8.0 * f64::from(second)),
                    p99_us: (!stalled).then(|| 900.0 + 60.0 * f64::from(second)),
                    users: Some(users * usize::from(second) / usize::from(seconds)),
                    server_cpu_share: Some(f64::from(second) / 100.0),
                    server_rss_bytes: Some(14_000_000 + u64::from(second) * 300_000),
                    server_cpu_us_per_request: None,
                }
            })
            .collect();
        cases.push(Row {
            method: Method::Ramp,
            series,
            errors: if failed { 41 } else { 0 },
            failed: Some(if failed { 41 } else { 0 }),
            users_at_exit: Some(users),
            exit_reason: Some(if failed { "first failed request" } else { "the server used 30 % of its cores" }.into()),
            reasons: match failed {
                true => vec![Reason { count: 41, text: "status 500, expected 200: <script>alert(1)</script>".into() }],
                false => Vec::new(),
            },
            rhythm: Some("each sends a request every 120s, 25 more per minute".into()),
            ..ramp
        });
    }
    let scheduled = row(noise, "document-2KB", "castile", 2_000.0, 20.0);
    let latency = &scheduled.latency_us;
    let service = Latency {
        mean: latency.mean.map(|mean| mean / 9.0),
        p50: latency.p50 / 9.0,
        p90: latency.p90 / 9.0,
        p99: latency.p99 / 11.0,
        p999: latency.p999 / 12.0,
        max: latency.max / 12.0,
    };
    cases.push(Row {
        method: Method::Open,
        rate: Some(2_500.0),
        unsent: 1_200,
        dropped: 10_000,
        lag_us: Some(Lag { p99: 180.0, max: 2_400.0 }),
        service_us: Some(service),
        ..scheduled
    });
    Suite::new("styles".into(), cases)
}

/// Returns results of `castile load`: two operations in turn at one URL, with failures.
pub fn load() -> Results {
    let mut noise = Noise(3);
    let url = "http://services.example.org:8080/orders/v2/a-path-that-is-longer-than-a-telephone-is-wide/endpoint";
    let of = |noise: &mut Noise, case: &str, errors: u64| Row {
        method: Method::Users,
        rhythm: Some("each thinks for 20ms before a request".into()),
        connections: 50,
        opened: None,
        errors,
        server_cpu_us_per_request: None,
        server_cpu_share: None,
        server_peak_rss_bytes: None,
        lag_us: Some(Lag { p99: 40_000.0, max: 60_000.0 }),
        reasons: match errors {
            0 => Vec::new(),
            _ => vec![
                Reason { count: errors - 1, text: "status 500, expected 200: Server: order 17 is unknown".into() },
                Reason { count: 1, text: "no response within 10s".into() },
            ],
        },
        ..row(noise, case, url, 900.0, 20.0)
    };
    let whole = of(&mut noise, "GetOrder + EchoVoid", 41);
    let part = |noise: &mut Noise, case: &str, errors| Row {
        part_of: Some(whole.case.clone()),
        series: Vec::new(),
        ..of(noise, case, errors)
    };
    let parts = [part(&mut noise, "GetOrder", 41), part(&mut noise, "EchoVoid", 0)];
    let cases = std::iter::once(whole.clone()).chain(parts).collect();
    let mut results = Results {
        kind: ResultsKind::Load,
        command: format!("castile load orders.wsdl --operation GetOrder --operation EchoVoid --url {url} --users 50"),
        placement: "driver on any of the 2 cores of this machine".into(),
        runs: 1,
        warnings: Vec::new(),
        suites: vec![Suite::new("Orders".into(), cases)],
        ..results()
    };
    results.judge(&["p99>2s", "errors>0", "rps<100"].map(|text| text.parse().expect("it is a criterion")));
    results
}
