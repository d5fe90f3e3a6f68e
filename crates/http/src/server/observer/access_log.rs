//! An access log with one line per exchange.

#[cfg(test)]
mod lines;

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use castile_soap::Step;
use castile_xml::visible;

use super::{Exchange, HandshakeFailure, Observer};

/// The most lines that wait to be written. A line has less than 200 bytes in addition to its path.
const WAITING: usize = 4_096;
/// How long writing pauses after a failure.
const PAUSE: Duration = Duration::from_millis(100);
/// How long dropping a log waits for the remaining lines.
const LAST_LINES: Duration = Duration::from_secs(2);
/// The most characters of a method and of a path in a line.
const METHOD: usize = 30;
const PATH: usize = 200;
/// The most characters of a reason in a line.
const REASON: usize = 200;

/// An access log: one line for each exchange, as plain text or as JSON.
///
/// ```text
/// 2026-11-25T23:06:14.310Z 127.0.0.1 POST /orders 200 Orders/place ok 512 B in 204 B out 1.204 ms
/// 2026-11-25T23:06:14.377Z 127.0.0.1 POST /orders 500 Orders/place fault Receiver 512 B in 391 B out 0.310 ms
/// ```
///
/// The log contains no queries, headers or messages. A separate thread writes the lines, so a slow file or terminal
/// doesn't delay requests. Lines that don't fit in the queue, or that can't be written, are counted, and the log
/// reports their number. The thread ends when the reading end of a pipe is closed. Dropping the log writes the waiting
/// lines, for at most 2 s.
///
/// A TLS handshake that failed has its own line: the time, the peer, and `TLS handshake failed: found plain HTTP,
/// expected TLS`. As JSON it is an object of `time`, `peer` and `tls_failure`.
///
/// JSON also has the steps: `time`, `peer`, `method`, `path`, `status`, `service`, `operation`, `outcome`, `fault`,
/// `request_bytes`, `response_bytes`, `elapsed_s`, `read_s`, `queue_s`, `decode_s`, `handle_s`, `encode_s` and
/// `write_s`. Unknown values are left out.
pub struct AccessLog {
    /// `None` when the log is being dropped.
    lines: Option<SyncSender<String>>,
    lost: Arc<AtomicU64>,
    is_json: bool,
    writer: Option<JoinHandle<()>>,
}

impl AccessLog {
    /// Creates a log of plain text.
    ///
    /// # Errors
    /// The writing thread can't be started.
    pub fn text(out: impl Write + Send + 'static) -> io::Result<Self> {
        AccessLog::start(out, false)
    }

    /// Creates a log of JSON, with one object per line.
    ///
    /// # Errors
    /// The writing thread can't be started.
    pub fn json(out: impl Write + Send + 'static) -> io::Result<Self> {
        AccessLog::start(out, true)
    }

    fn start(out: impl Write + Send + 'static, is_json: bool) -> io::Result<Self> {
        let (lines, waiting) = mpsc::sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let not_written = lost.clone();
        let write = move || write(out, &waiting, &not_written, is_json);
        let writer = thread::Builder::new().name("access-log".to_owned()).spawn(write)?;
        Ok(AccessLog { lines: Some(lines), lost, is_json, writer: Some(writer) })
    }

    fn add(&self, line: String) {
        // If the thread has ended, nobody reads the log, and the line doesn't count as lost.
        if let Some(Err(TrySendError::Full(_))) = self.lines.as_ref().map(|lines| lines.try_send(line)) {
            self.lost.fetch_add(1, Relaxed);
        }
    }
}

/// Writes lines until the log is dropped or nobody reads them.
fn write(mut out: impl Write, lines: &Receiver<String>, lost: &AtomicU64, is_json: bool) {
    let mut is_cut = false;
    while let Ok(line) = lines.recv() {
        // The last line may have been written in part.
        let mut written = if is_cut { out.write_all(b"\n") } else { Ok(()) };
        // Write at most the waiting lines before the lost ones are reported, because new lines may arrive without end.
        for line in iter::once(line).chain(lines.try_iter().take(WAITING)) {
            written = written.and_then(|()| out.write_all(line.as_bytes()));
            lost.fetch_add(u64::from(written.is_err()), Relaxed);
        }
        if written.is_ok()
            && let count @ 1.. = lost.swap(0, Relaxed)
        {
            written = out.write_all(lost_line(is_json, count).as_bytes());
            lost.fetch_add(if written.is_err() { count } else { 0 }, Relaxed);
        }
        is_cut = written.is_err();
        match written.and_then(|()| out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
            // A full disk may have space later.
            Err(_) => thread::sleep(PAUSE),
        }
    }
    // Lines lost since the last report. If they can't be reported, nobody learns of them.
    if let count @ 1.. = lost.swap(0, Relaxed) {
        let _ = out.write_all(lost_line(is_json, count).as_bytes()).and_then(|()| out.flush());
    }
}

impl Observer for AccessLog {
    fn observe(&self, exchange: &Exchange<'_>) {
        self.add(if self.is_json { json(exchange) } else { text(exchange) });
    }

    fn handshake_failed(&self, failure: &HandshakeFailure<'_>) {
        self.add(handshake_line(self.is_json, failure));
    }
}

/// Writes the waiting lines, if somebody reads them.
impl Drop for AccessLog {
    fn drop(&mut self) {
        self.lines = None;
        let Some(writer) = self.writer.take() else { return };
        let until = Instant::now() + LAST_LINES;
        while !writer.is_finished() {
            if Instant::now() >= until {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        // The thread has already reported its panic.
        let _ = writer.join();
    }
}

impl fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessLog").field("is_json", &self.is_json).finish_non_exhaustive()
    }
}

fn lost_line(is_json: bool, lost: u64) -> String {
    let time = now();
    match is_json {
        true => format!("{{\"time\":\"{time}\",\"lost_lines\":{lost}}}\n"),
        false => format!("{time} {lost} lines were lost: they could not be written in time\n"),
    }
}

fn handshake_line(is_json: bool, failure: &HandshakeFailure<'_>) -> String {
    let HandshakeFailure { peer, reason } = failure;
    let (time, peer) = (now(), peer.map(|peer| peer.to_string()));
    let reason = shorten(reason, REASON);
    if is_json {
        let peer = peer.map_or_else(String::new, |peer| format!(",\"peer\":\"{peer}\""));
        return format!("{{\"time\":\"{time}\"{peer},\"tls_failure\":\"{}\"}}\n", Escaped(reason));
    }
    format!("{time} {} TLS handshake failed: {}\n", peer.as_deref().unwrap_or("-"), visible(reason))
}

/// Returns the first characters of a text.
fn shorten(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// Returns the beginning of the method, which may be any token.
pub(super) fn method<'e>(exchange: &'e Exchange<'_>) -> &'e str {
    shorten(exchange.method().as_str(), METHOD)
}

/// Returns the beginning of the path.
pub(super) fn path<'e>(exchange: &'e Exchange<'_>) -> &'e str {
    shorten(exchange.path(), PATH)
}

/// Formats a text as one field of a line: `-` if it is empty, and with white space characters as their numbers.
fn field(text: &str) -> Cow<'_, str> {
    match text.contains(char::is_whitespace) {
        _ if text.is_empty() => "-".into(),
        false => visible(text),
        true => {
            let escaped = text.chars().fold(String::new(), |mut escaped, c| {
                match c.is_whitespace() {
                    true => escaped.extend(c.escape_unicode()),
                    false => escaped.push(c),
                }
                escaped
            });
            visible(&escaped).into_owned().into()
        }
    }
}

/// Returns the current time in UTC (RFC 3339).
fn now() -> impl fmt::Display {
    humantime::format_rfc3339_millis(SystemTime::now())
}

fn text(exchange: &Exchange<'_>) -> String {
    let mut line = format!("{} ", now());
    // Writing to a `String` can't fail.
    let _ = match exchange.peer() {
        Some(peer) => write!(line, "{peer} "),
        None => write!(line, "- "),
    };
    let _ = write!(line, "{} {} ", method(exchange), field(path(exchange)));
    let _ = match exchange.status() {
        Some(status) => write!(line, "{} ", status.as_u16()),
        None => write!(line, "- "),
    };
    let _ = match (exchange.service(), exchange.operation()) {
        (Some(service), Some(operation)) => write!(line, "{}/{} ", service.name, operation.name),
        (Some(service), None) => write!(line, "{} ", service.name),
        _ => write!(line, "- "),
    };
    line.push_str(exchange.outcome().name());
    if let Some(fault) = exchange.fault() {
        let _ = write!(line, " {}", fault_name(fault));
    }
    let milliseconds = exchange.elapsed().as_secs_f64() * 1e3;
    let (came, sent) = (exchange.request_size(), exchange.response_size());
    let _ = writeln!(line, " {came} B in {sent} B out {milliseconds:.3} ms");
    line
}

fn json(exchange: &Exchange<'_>) -> String {
    let mut line = format!("{{\"time\":\"{}\"", now());
    let mut string = |name: &str, value: &str| {
        let _ = write!(line, ",\"{name}\":\"{}\"", Escaped(value));
    };
    if let Some(peer) = exchange.peer() {
        string("peer", &peer.to_string());
    }
    string("method", method(exchange));
    string("path", path(exchange));
    if let Some(service) = exchange.service() {
        string("service", service.name);
    }
    if let Some(operation) = exchange.operation() {
        string("operation", operation.name);
    }
    string("outcome", exchange.outcome().name());
    if let Some(fault) = exchange.fault() {
        string("fault", fault_name(fault));
    }
    if let Some(status) = exchange.status() {
        let _ = write!(line, ",\"status\":{}", status.as_u16());
    }
    let (came, sent) = (exchange.request_size(), exchange.response_size());
    let _ = write!(line, ",\"request_bytes\":{came},\"response_bytes\":{sent}");
    let mut time = |name: &str, value: Option<Duration>| {
        if let Some(value) = value {
            let _ = write!(line, ",\"{name}_s\":{:.6}", value.as_secs_f64());
        }
    };
    time("elapsed", Some(exchange.elapsed()));
    Step::ALL.into_iter().for_each(|step| time(step.name(), exchange.duration(step)));
    time("write", exchange.write());
    line.push_str("}\n");
    line
}

/// Returns the name of a fault code. All codes that SOAP doesn't define have one name, because services may set any
/// text.
pub(super) fn fault_name(code: &castile_soap::FaultCode) -> &'static str {
    use castile_soap::FaultCode;

    match code {
        FaultCode::VersionMismatch => "VersionMismatch",
        FaultCode::MustUnderstand => "MustUnderstand",
        FaultCode::DataEncodingUnknown => "DataEncodingUnknown",
        FaultCode::Sender => "Sender",
        FaultCode::Receiver => "Receiver",
        _ => "Other",
    }
}

/// The content of a JSON string (RFC 8259 §7).
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '"' => f.write_str("\\\""),
            '\\' => f.write_str("\\\\"),
            // Also escapes characters that control a terminal.
            ' '..='~' => f.write_char(character),
            _ => character.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// A disk that is full for a while.
    #[derive(Clone, Default)]
    struct Disk(Arc<(AtomicBool, AtomicU64, Mutex<Vec<u8>>)>);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (is_full, refused, written) = &*self.0;
            if is_full.load(Relaxed) {
                refused.fetch_add(1, Relaxed);
                return Err(io::ErrorKind::StorageFull.into());
            }
            written.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Regression: the log ended silently with the first line that could not be written.
    #[test]
    fn a_log_goes_on_when_there_is_room_again() {
        let disk = Disk::default();
        let (is_full, refused, written) = &*disk.0;
        let log = AccessLog::text(disk.clone()).unwrap();
        is_full.store(true, Relaxed);
        log.add("first\n".to_owned());
        while refused.load(Relaxed) == 0 {
            thread::yield_now();
        }
        is_full.store(false, Relaxed);
        // Lines that are written together with the first one are lost with it.
        let mut added = 1;
        while written.lock().unwrap().is_empty() {
            log.add("second\n".to_owned());
            added += 1;
            thread::sleep(PAUSE / 10);
        }
        drop(log);
        let written = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        let lines = written.strip_prefix('\n').unwrap().lines();
        let (seconds, others): (Vec<_>, Vec<_>) = lines.partition(|line| *line == "second");
        let [lost] = others[..] else { panic!("{written}") };
        let lost = lost.strip_suffix(" lines were lost: they could not be written in time").unwrap();
        let count: usize = lost.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(count > 0 && !seconds.is_empty());
        assert_eq!(count + seconds.len(), added);
        assert!(refused.load(Relaxed) < 10);
    }

    #[test]
    fn texts_are_cut_between_characters() {
        for (text, most, expected) in [("", 2, ""), ("äb", 2, "äb"), ("äöü", 2, "äö"), ("abc", 0, "")] {
            assert_eq!(shorten(text, most), expected);
        }
    }

    #[test]
    fn handshakes_that_fail_have_a_line() {
        let failure = HandshakeFailure { peer: Some([192, 0, 2, 7].into()), reason: "found \u{1b}[0m\n" };
        let line = handshake_line(false, &failure);
        assert!(line.contains(" 192.0.2.7 TLS handshake failed: found ") && !line.contains('\u{1b}'), "{line}");
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        let line = handshake_line(true, &failure);
        assert!(line.ends_with("\",\"peer\":\"192.0.2.7\",\"tls_failure\":\"found \\u001b[0m\\u000a\"}\n"), "{line}");
        let line = handshake_line(false, &HandshakeFailure { peer: None, reason: "" });
        assert!(line.contains(" - TLS handshake failed: "), "{line}");
    }
}
