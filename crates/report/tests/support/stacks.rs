//! Results of a fictitious comparison: eleven targets and the floor, over three suites, with everything that can be wrong
//! with a row. The targets have names of trees, since the figures are made up.

use castile_report::{Client, Method, Reason, Results, Row, Suite, Target};

use crate::sample::{self, Noise};

/// Name, versions, language; CPU time of an empty call in microseconds, how many times as much a large call costs as one of
/// Castile, memory in megabytes, milliseconds to the first answer.
const STACKS: [(&str, &str, &str, f64, f64, f64, f64); 11] = [
    ("castile", "castile 0.1.0", "Rust", 14.0, 1.0, 9.0, 4.2),
    ("rowan", "Rowan 2.8 as it comes", "C++", 22.0, 9.0, 7.0, 6.0),
    ("larch", "Larch 0.9.1 and its code generator 1.4.2, on Jetty 9", "Java", 68.0, 8.0, 212.0, 710.0),
    ("hornbeam", "Hornbeam 1.4 on Jetty 9", "Java", 140.0, 44.0, 260.0, 822.0),
    ("elm", "Elm 1.8.2 on Jetty 9", "Java", 131.0, 21.0, 305.0, 1_240.0),
    ("cedar", "Cedar 4.1.3 on its Jetty 12", "Java", 122.0, 24.0, 330.0, 1_905.0),
    ("maple", "Maple 4.0.3 on Jetty 12", "Java", 97.0, 22.0, 298.0, 1_102.0),
    ("blackthorn", "blackthorn 1.13 on node's http", "JavaScript", 310.0, 120.0, 120.0, 340.0),
    ("poplar", "Poplar of Debian behind nginx", "PHP", 190.0, 60.0, 66.0, 88.0),
    ("yew", "yew 2.14, waitress 3.0", "Python", 1_150.0, 200.0, 92.0, 900.0),
    ("beech", "the remote calls of Java 21, no SOAP", "Java", 40.0, 12.0, 150.0, 400.0),
];

pub fn results() -> Results {
    let mut noise = Noise(5);
    let targets = STACKS.iter().map(|(name, versions, language, .., first)| Target {
        name: (*name).to_owned(),
        title: Some(name[..1].to_uppercase() + &name[1..]),
        versions: Some((*versions).to_owned()),
        language: Some((*language).to_owned()),
        first_answer_ms: Some(*first),
    });
    Results {
        command: "castile bench wspex wstest seismic --profile standard --peer all".into(),
        warnings: vec!["Other processes used the server's core in rows of elm: echoOrder500".into()],
        targets: targets.collect(),
        suites: vec![wspex(&mut noise), wstest(&mut noise), seismic(&mut noise)],
        ..sample::results()
    }
}

/// Returns a row of each stack and of the floor. The size of the message, from 0 for an empty one to 1, decides the cost.
fn rows(noise: &mut Noise, case: &str, size: f64) -> Vec<Row> {
    let mut rows = Vec::new();
    let (request_bytes, response_bytes) = ((300.0 + size * 9e3) as usize, (290.0 + size * 9e3) as usize);
    for (name, _, _, least, factor, memory, _) in STACKS {
        let cpu = (least + size * 40.0 * factor) * noise.factor(0.05);
        let row = sample::row(noise, case, name, 9e5 / cpu, cpu);
        rows.push(Row {
            server_peak_rss_bytes: Some((memory * 1e6) as u64),
            request_bytes,
            // Each stack has its own prefixes, of different lengths.
            response_bytes: response_bytes + (name.len() - "castile".len().min(name.len())) * 7,
            series: Vec::new(),
            ..row
        });
    }
    let cpu = 11.0 + size * 4.0;
    let floor = sample::row(noise, case, "floor", 9e5 / cpu, cpu);
    rows.push(Row { request_bytes, response_bytes, ..floor });
    rows
}

fn wspex(noise: &mut Noise) -> Suite {
    let cases = [("echoVoid", 0.0), ("echoStruct", 0.05), ("echoSynthetic4K", 0.1), ("echoOrder500", 1.0)];
    let mut rows: Vec<Row> = cases.iter().flat_map(|(case, size)| rows(noise, case, *size)).collect();
    for row in &mut rows {
        match (&*row.case, &*row.target) {
            // The largest message that can be handled by copying memory.
            ("echoSynthetic4K", "rowan") => row.server_cpu_us_per_request = Some(15.1),
            ("echoSynthetic4K", "poplar") => {
                row.errors = 12;
                row.reasons = vec![Reason { count: row.errors, text: "status 500, expected 200".to_owned() }];
            }
            ("echoOrder500", "cedar") => row.rising = true,
            ("echoOrder500", "elm") => row.disturbed = Some(0.31),
            ("echoVoid", "castile" | "floor") => {
                row.driver_limited = true;
                row.limited_by = Some("its cores were 99 % busy".to_owned());
            }
            _ => {}
        }
    }
    // The articles measured these with typed clients.
    let typed = rows.iter().filter(|row| row.target != "floor" && row.case == "echoStruct");
    let typed: Vec<Row> = typed.map(|row| Row { client: Client::Typed, ..row.clone() }).collect();
    rows.extend(typed);
    Suite::new("wspex".into(), rows)
}

fn wstest(noise: &mut Noise) -> Suite {
    let cases = [("EchoVoid", 0.0), ("EchoList100", 0.5), ("GetOrder", 0.6)];
    let mut rows: Vec<Row> = cases.iter().flat_map(|(case, size)| rows(noise, case, *size)).collect();
    // One stack has no lists.
    rows.retain(|row| (&*row.case, &*row.target) != ("EchoList100", "beech"));
    Suite::new("wstest".into(), rows)
}

/// Only some stacks, in two styles, with lists of requests.
fn seismic(noise: &mut Noise) -> Suite {
    let mut cases = Vec::new();
    for (name, size, requests) in [(".01x200", 0.05, 200), (".5x10", 60.0, 10)] {
        for style in ["document", "rpc-encoded"] {
            let serves = |row: &Row| match style {
                "document" => ["castile", "larch", "maple", "hornbeam", "beech"].contains(&&*row.target),
                _ => ["castile", "hornbeam"].contains(&&*row.target),
            };
            for row in rows(noise, name, size).into_iter().filter(serves) {
                let elapsed = f64::from(requests) / row.requests_per_second.mean;
                cases.push(Row {
                    client: Client::Typed,
                    method: Method::Sequence,
                    style: Some(style.into()),
                    connections: 1,
                    opened: None,
                    matches: Some(905),
                    elapsed_s: Some(elapsed),
                    ..row
                });
            }
        }
    }
    Suite::new("seismic".into(), cases)
}
