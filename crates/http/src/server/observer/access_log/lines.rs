//! Tests of log lines with unusual requests.

use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Instant;

use http::{Method, Request, StatusCode, Uri};

use super::*;
use crate::server::observer::Observers;

/// A writer that collects the log for the test.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Parses a request of the form `METHOD TARGET`.
fn request(text: &[u8]) -> Option<Request<()>> {
    let space = text.iter().position(|byte| *byte == b' ')?;
    let method = Method::from_bytes(&text[..space]).ok()?;
    let target = Uri::try_from(&text[space + 1..]).ok()?;
    Request::builder().method(method).uri(target).body(()).ok()
}

fn observe(observers: &Observers, request: &Request<()>, status: Option<StatusCode>) {
    let peer = IpAddr::from([192, 0, 2, 7]);
    let mut observation = observers.begin(request, Instant::now, || Some(peer)).unwrap();
    if let Some(status) = status {
        observation.answered(status, true);
    }
}

/// Splits off a JSON string, without its quotes.
fn string(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('"')?;
    let (mut is_escaped, mut digits) = (false, 0);
    for (at, c) in text.char_indices() {
        match c {
            _ if !(' '..='~').contains(&c) => return None,
            _ if digits > 0 => digits -= c.is_ascii_hexdigit().then_some(1)?,
            'u' if is_escaped => (is_escaped, digits) = (false, 4),
            '"' | '\\' if is_escaped => is_escaped = false,
            _ if is_escaped => return None,
            '\\' => is_escaped = true,
            '"' => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

/// Returns the names in a JSON object of strings and numbers.
fn names(line: &str) -> Option<Vec<&str>> {
    let (mut rest, mut names) = (line.strip_prefix('{')?, Vec::new());
    loop {
        let (name, behind) = string(rest)?;
        let behind = behind.strip_prefix(':')?;
        let behind = match string(behind) {
            Some((_, behind)) => behind,
            None => behind.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'),
        };
        names.push(name);
        match behind {
            "}\n" => return Some(names),
            _ => rest = behind.strip_prefix(',')?,
        }
    }
}

/// Whatever a client requests, it gets one line with a fixed number of fields and a limited length.
#[test]
fn changed_requests_have_a_line_each() {
    let seeds: [&[u8]; 9] = [
        b"GET /a?b=c",
        b"POST /%0D%0A2026-11-25T23:06:14.310Z",
        "GET /é\u{2003}200\u{a0}Orders/place\u{3000}ok".as_bytes(),
        "GET /\u{85}\u{2028}\u{202e}\u{9b}2J".as_bytes(),
        b"GET /\x7f\"\\\"',{}",
        b"CONNECT a.example:80",
        b"OPTIONS *",
        b"GET http://a.example",
        b"M-SEARCH!#$%&'*+.^_`|~ /x",
    ];
    let lines = Arc::new(Mutex::new(Vec::new()));
    let (all, written) = (lines.clone(), [Written::default(), Written::default()]);
    let mut observers = Observers::default();
    observers.add(Arc::new(move |exchange: &Exchange<'_>| {
        all.lock().unwrap().push((text(exchange), json(exchange)));
    }));
    observers.add(Arc::new(AccessLog::text(written[0].clone()).unwrap()));
    observers.add(Arc::new(AccessLog::json(written[1].clone()).unwrap()));
    let mut count = 0;
    crate::mutations::check_mutations(&seeds, |text, random| {
        let mut text = text.to_vec();
        if random.u32(0..20) == 0 {
            // A method or a path may be as long as a head.
            text.splice(0..0, b"X".repeat(random.usize(1..60_000)));
            text.extend("é".repeat(random.usize(1..2_000)).into_bytes());
        }
        let Some(request) = request(&text) else { return };
        observe(&observers, &request, [None, Some(StatusCode::OK), Some(StatusCode::NOT_FOUND)][random.usize(..3)]);
        count += 1;
        let (text, json) = lines.lock().unwrap().pop().unwrap();
        assert_eq!((text.matches('\n').count(), text.ends_with(" ms\n")), (1, true), "{text:?}");
        assert!(!text.trim_end_matches('\n').contains(|c: char| c.is_control()), "{text:?}");
        assert_eq!(text.split_whitespace().count(), 15, "{text:?}");
        let fields: Vec<_> = text.split(' ').collect();
        assert_eq!((fields.len(), fields[1], fields[7]), (15, "192.0.2.7", "0"), "{text:?}");
        assert!(text.len() < 3_000 && json.len() < 3_000, "{} and {} bytes", text.len(), json.len());
        let names = names(&json).unwrap_or_else(|| panic!("{json:?}"));
        assert_eq!(names[..4], ["time", "peer", "method", "path"], "{json}");
        assert!(names.iter().enumerate().all(|(at, name)| !names[..at].contains(name)), "{json}");
    });
    drop(observers);
    for written in written {
        // The thread may write more slowly than this test makes requests. Lost lines are reported in a separate line.
        let written = written.text();
        let reports = written.lines().filter(|line| line.contains("lost")).count();
        let lines = written.lines().count();
        assert!(lines == count || (reports > 0 && lines < count + reports), "{lines} lines of {count} requests");
    }
}

/// A terminal that is stopped.
struct Stopped(mpsc::Receiver<()>, Written);

impl Write for Stopped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Continues forever once the sender is dropped.
        let _ = self.0.recv();
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stopped terminal blocks nobody, and the lost lines are reported.
#[test]
fn lines_are_written_or_reported_as_lost() {
    const ALL: usize = 10_000;
    for is_json in [false, true] {
        let (go_on, stopped) = mpsc::channel();
        let written = Written::default();
        let mut observers = Observers::default();
        observers.add(Arc::new(AccessLog::start(Stopped(stopped, written.clone()), is_json).unwrap()));
        let request = request(b"GET /a").unwrap();
        for _ in 0..ALL {
            observe(&observers, &request, Some(StatusCode::OK));
        }
        drop(go_on);
        drop(observers);
        let written = written.text();
        let lost = |line: &str| -> Option<usize> {
            let (before, behind) = match is_json {
                true => ("\"lost_lines\":", "}"),
                false => ("Z ", " lines were lost: they could not be written in time"),
            };
            line.split_once(before)?.1.strip_suffix(behind)?.parse().ok()
        };
        let all_lost: usize = written.lines().filter_map(lost).sum();
        let kept = written.lines().filter(|line| lost(line).is_none()).count();
        assert!(kept >= WAITING, "{kept}");
        assert_eq!(kept + all_lost, ALL);
    }
}

/// A line that is lost while the log reports others is reported at the end.
#[test]
fn lines_lost_at_the_end_are_reported() {
    let written = Written::default();
    let log = AccessLog::text(written.clone()).unwrap();
    log.lost.store(3, Relaxed);
    drop(log);
    assert!(written.text().contains(" 3 lines were lost"), "{}", written.text());
}

/// Regression: the end of the process waited forever as well.
#[test]
fn a_log_without_a_reader_ends() {
    let (_reader, stopped) = mpsc::channel();
    let log = AccessLog::text(Stopped(stopped, Written::default())).unwrap();
    log.add("a line".to_owned());
    let begun = Instant::now();
    drop(log);
    assert!(begun.elapsed() < 5 * LAST_LINES, "{:?}", begun.elapsed());
}
