//! `castile serve`: shutdown, login, proxies, memory and TLS.
#![cfg(unix)]
#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

#[path = "../../http/tests/support/authority.rs"]
mod authority;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};

use authority::{Authority, Issued};
use castile::http::client::{Options, Roots, Tls, TlsOptions, Transport};
use castile::http::tls::{Identity, Pem};
use castile::http::{Body, ErrorKind};
use http_body_util::BodyExt;
use serde_json::Value;

struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
        command.args(["serve", "--addr", "127.0.0.1:0"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.as_mut().unwrap());
        output.read_line(&mut line).unwrap();
        let (_, address) = line.trim().strip_prefix("listening on ").unwrap().split_once("://").unwrap();
        let address = address.to_owned();
        Served { child, address }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// Returns the contract of a service, requested with `host`. More header fields may follow the host.
    fn contract(&self, host: &str) -> String {
        let mut client = self.connect();
        write!(client, "GET /wstest?wsdl HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut contract = String::new();
        let mut answer = BufReader::new(&client);
        while !contract.contains("</wsdl:definitions>") && !contract.contains("</definitions>") {
            assert!(answer.read_line(&mut contract).unwrap() > 0, "{contract}");
        }
        contract
    }

    /// Returns the answer to a GET, with its head. More header fields may follow, and `before` precedes the request.
    fn get(&self, before: &str, path: &str, headers: &str) -> String {
        let mut client = self.connect();
        let request = format!("{before}GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{headers}\r\n");
        // If the beginning of a request is rejected, the connection may close before all of it is written. The answer shows the result.
        let _ = client.write_all(request.as_bytes());
        let mut answer = Vec::new();
        // Unread parts of a request may reset the connection after the answer.
        let _ = client.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn signal(&self, signal: &str) {
        let killed = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }

    /// Sends SIGTERM. Returns the exit code and standard error.
    fn terminate(mut self) -> (i32, String) {
        self.signal("-TERM");
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (self.child.wait().unwrap().code().unwrap(), errors)
    }
}

/// Ends servers of failed tests.
impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_shutdown_that_cuts_off_a_request_reports_it_and_fails() {
    let served = Served::start(&["--grace", "1s"]);
    let mut client = served.connect();
    let head = "POST /wstest HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    client.write_all(head.as_bytes()).unwrap();
    // The status 100 shows that the request is in progress.
    let mut leave = [0; 12];
    client.read_exact(&mut leave).unwrap();
    assert_eq!(&leave, b"HTTP/1.1 100");
    let (code, errors) = served.terminate();
    assert_eq!(code, 3, "{errors}");
    assert!(errors.starts_with("warning: 1 request cut off after 1s\n  /wstest after "), "{errors}");
}

#[test]
fn a_shutdown_that_cuts_nothing_off_succeeds() {
    let served = Served::start(&[]);
    let contract = served.contract("evil.example");
    assert!(
        contract.contains(&format!("http://{}/wstest", served.address)) && !contract.contains("evil"),
        "{contract}"
    );
    let (code, errors) = served.terminate();
    assert_eq!((code, errors.as_str()), (0, ""));
}

#[test]
fn contracts_use_the_address_that_a_trusted_proxy_forwards() {
    let asked = "inner\r\nX-Forwarded-Host: api.example\r\nX-Forwarded-Proto: https";
    let trusted = ["--proxy-header", "x-forwarded-host", "--proxy-header", "x-forwarded-proto"];
    assert!(Served::start(&trusted).contract(asked).contains("location=\"https://api.example/wstest\""));
    assert!(!Served::start(&[]).contract(asked).contains("api.example"));
}

#[test]
fn requests_are_counted_and_logged() {
    let served = Served::start(&["--metrics", "--access-log", "json"]);
    served.contract("h");
    let mut client = served.connect();
    client.write_all(b"GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").unwrap();
    let mut metrics = String::new();
    client.read_to_string(&mut metrics).unwrap();
    let counted =
        "castile_requests_total{service=\"TestService\",operation=\"\",outcome=\"ok\",fault=\"\",status=\"200\"} 1";
    assert!(metrics.contains(counted), "{metrics}");
    assert!(
        metrics.contains("\ncastile_connections ") && metrics.contains("\ncastile_memory_limit_bytes "),
        "{metrics}"
    );
    let (code, log) = served.terminate();
    let logged: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let paths: Vec<_> = logged.iter().map(|line| line["path"].as_str().unwrap()).collect();
    assert_eq!((code, paths), (0, vec!["/wstest", "/metrics"]), "{log}");
}

#[test]
fn each_service_has_a_page() {
    let served = Served::start(&[]);
    let mut client = served.connect();
    client.write_all(b"GET /wstest HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    client.read_to_string(&mut page).unwrap();
    let curl = format!("curl &#39;http://{}/wstest&#39;", served.address);
    for expected in
        ["HTTP/1.1 200 OK", "content-security-policy: default-src 'none'", "<h2 id=\"o3\">GetOrder</h2>", &curl]
    {
        assert!(page.contains(expected), "{expected} in {page}");
    }
}

#[test]
fn probes_are_answered() {
    let served = Served::start(&[]);
    for path in ["/health", "/ready"] {
        let answer = served.get("", path, "");
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("ok\n"), "{answer}");
    }
}

/// Makes a file of users. The folder is deleted with the returned value.
fn users(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users");
    std::fs::write(&file, text).unwrap();
    (folder, file.display().to_string())
}

#[test]
fn nothing_is_served_without_a_login() {
    let (_folder, file) = users("# name:password\nada:correct horse\nbob:t0ken\n");
    let login = ["--auth", "basic", "--auth", "bearer", "--auth", "digest", "--users", &file, "--metrics"];
    let served = Served::start(&login);
    // ada:correct horse, ada:wrong, bob:t0ken
    for (credentials, status) in [
        ("", "401"),
        ("Authorization: Basic YWRhOmNvcnJlY3QgaG9yc2U=\r\n", "200"),
        ("Authorization: Basic YWRhOndyb25n\r\n", "401"),
        ("Authorization: Basic Ym9iOnQwa2Vu\r\n", "200"),
        ("Authorization: Bearer t0ken\r\n", "200"),
        ("Authorization: Bearer bob:t0ken\r\n", "401"),
    ] {
        for path in ["/wstest?wsdl", "/seismic?wsdl", "/metrics"] {
            let answer = served.get("", path, credentials);
            assert_eq!(answer.split(' ').nth(1), Some(status), "{credentials}{answer}");
        }
    }
    let answer = served.get("", "/wstest", "");
    for challenge in ["Basic realm=\"castile\"", "Bearer realm=\"castile\"", "Digest realm=\"castile\""] {
        assert!(answer.contains(challenge), "{challenge} in {answer}");
    }
    // Pages that list services, and paths that aren't services.
    for (path, status) in [("/", "404"), ("/seismic/binary", "404"), ("/health", "200"), ("/ready", "200")] {
        let answer = served.get("", path, "");
        assert_eq!(answer.split(' ').nth(1), Some(status), "{path}: {answer}");
    }
}

/// Digest is tested with curl, if it is installed.
#[test]
fn digest_authentication_is_supported() {
    let (_folder, file) = users("ada:correct horse\n");
    for scheme in ["digest", "digest-md5"] {
        let served = Served::start(&["--auth", scheme, "--users", &file]);
        for (user, status) in [("ada:correct horse", "200"), ("ada:wrong", "401")] {
            let url = format!("http://{}/wstest?wsdl", served.address);
            let mut curl = Command::new("curl");
            curl.args(["--silent", "--noproxy", "*", "--digest", "--user", user, "--output", "/dev/null"]);
            let Ok(output) = curl.args(["--write-out", "%{http_code}", &url]).output() else {
                println!("SKIPPED: there is no curl here");
                return;
            };
            assert_eq!(String::from_utf8_lossy(&output.stdout), status, "{scheme} {user}");
        }
    }
}

#[test]
fn a_file_of_users_that_is_wrong_is_refused() {
    let (_folder, file) = users("ada:a\nsecret\n");
    let said = refused(&["serve", "--addr", "127.0.0.1:0", "--auth", "basic", "--users", &file]);
    assert!(said.contains(":2: found no colon, expected NAME:PASSWORD") && !said.contains("secret"), "{said}");
    assert!(refused(&["serve", "--auth", "basic"]).contains("--users <FILE>"));
    assert!(refused(&["serve", "--users", &file]).contains("--auth <SCHEME>"));
}

#[test]
fn the_client_address_is_the_one_that_the_proxy_forwards() {
    let client = |served: &Served, before: &str, headers: &str| {
        let answer = served.get(before, "/client", headers);
        answer.split("\r\n\r\n").nth(1).unwrap_or_default().trim_end().to_owned()
    };
    let header = "Forwarded: for=192.0.2.9, for=192.0.2.2\r\nX-Forwarded-For: 192.0.2.1\r\n";
    for (arguments, expected) in [
        (&[][..], "127.0.0.1"),
        (&["--proxy-header", "forwarded"], "127.0.0.1"),
        (&["--proxy-header", "forwarded", "--trusted-proxy", "127.0.0.1"], "192.0.2.2"),
        (&["--proxy-header", "x-forwarded-for", "--trusted-proxy", "127.0.0.0/8"], "192.0.2.1"),
        (&["--proxy-header", "x-forwarded-for", "--trusted-proxy", "10.0.0.0/8"], "127.0.0.1"),
    ] {
        assert_eq!(client(&Served::start(arguments), "", header), expected, "{arguments:?}");
    }
    let served = Served::start(&["--proxy-protocol", "127.0.0.1"]);
    assert_eq!(client(&served, "PROXY TCP4 192.0.2.3 198.51.100.1 1 2\r\n", header), "192.0.2.3");
    assert_eq!(client(&served, "", header), "");
    for (arguments, said) in [
        (&["--proxy-header", "x-forwarded-for"][..], "expected --trusted-proxy"),
        (
            &["--proxy-header", "x-forwarded-host", "--trusted-proxy", "::1"],
            "--trusted-proxy requires one --proxy-header",
        ),
        (
            &["--proxy-header", "forwarded", "--proxy-header", "x-forwarded-for", "--trusted-proxy", "::1"],
            "found forwarded and x-forwarded-for",
        ),
        (&["--trusted-proxy", "::1"], "--proxy-header <HEADER>"),
        (
            &["--proxy-header", "forwarded", "--trusted-proxy", "a.example"],
            "--trusted-proxy: found \"a.example\", expected an address or a network",
        ),
        (&["--proxy-protocol", "10.0.0.0/33"], "--proxy-protocol: found \"10.0.0.0/33\", expected an address"),
    ] {
        let said_of = refused(&[&["serve", "--addr", "127.0.0.1:0"], arguments].concat());
        assert!(said_of.contains(said), "{said} in {said_of}");
    }
}

#[test]
fn gzip_is_accepted_and_used_on_request() {
    let status = |served: &Served| {
        let mut client = served.connect();
        let head = "POST /wstest HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Encoding: gzip\r\nConnection: close\r\n";
        write!(client, "{head}Content-Length: 1\r\n\r\n\x1f").unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(status(&Served::start(&["--gzip-ratio", "0"])), "415");
    let served = Served::start(&["--gzip-above", "1KiB"]);
    assert_eq!(status(&served), "400");
    let body = |count: usize| {
        let trees = "<tree/>".repeat(count);
        format!(
            "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>\
             <echoAny xmlns='urn:castile:open'>{trees}</echoAny></e:Body></e:Envelope>"
        )
    };
    for (count, is_gzip) in [(1, false), (1_000, true)] {
        let (mut client, body) = (served.connect(), body(count));
        let head = "POST /open HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nAccept-Encoding: gzip\r\nConnection: close\r\n";
        write!(client, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        let head = String::from_utf8_lossy(&answer[..200]).to_lowercase();
        assert_eq!(head.contains("content-encoding: gzip"), is_gzip, "{head}");
        assert!(!is_gzip || answer.len() < 1_000, "{} bytes", answer.len());
    }
}

#[test]
fn contracts_name_the_hosts_that_are_allowed() {
    let served = Served::start(&["--host", "example.org", "--host", "example.net:8080"]);
    for (asked, told) in [
        ("example.org", "example.org"),
        ("Example.NET:8080", "example.net:8080"),
        ("example.net", "example.org"),
        ("evil.example", "example.org"),
    ] {
        let contract = served.contract(asked);
        assert!(contract.contains(&format!("\"http://{told}/wstest\"")) && !contract.contains("evil"), "{contract}");
    }
    assert_eq!(served.terminate(), (0, String::new()));
    for wrong in ["", "user@example.org", "http://example.org", "example.org/path"] {
        let output = Command::new(env!("CARGO_BIN_EXE_castile")).args(["serve", "--host", wrong]).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && errors.contains("expected HOST or HOST:PORT"), "{wrong}: {errors}");
    }
}

/// A burst of connections once waited a second or more, because the backlog was 128.
#[cfg(target_os = "linux")]
#[test]
fn a_burst_of_connections_is_let_in_while_the_server_is_busy() {
    use std::time::{Duration, Instant};

    let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
    if most.trim().parse::<u32>().is_ok_and(|most| most < 500) {
        println!("SKIPPED: the system lets {} connections wait, expected 500", most.trim());
        return;
    }
    let served = Served::start(&[]);
    let signal = |name: &str| {
        let process = served.child.id().to_string();
        assert!(Command::new("kill").args([name, &process]).status().unwrap().success());
    };
    signal("-STOP");
    let address = served.address.parse().unwrap();
    let start = Instant::now();
    let connected: Result<Vec<_>, _> =
        (0..500).map(|_| TcpStream::connect_timeout(&address, Duration::from_millis(500))).collect();
    signal("-CONT");
    assert!(connected.is_ok(), "{connected:?} after {:?}", start.elapsed());
}

/// The memory of requests is limited for the process.
#[test]
fn a_request_without_memory_is_answered_503() {
    let served = Served::start(&["--memory", "2MiB"]);
    let ask = |count: usize| {
        let mut client = served.connect();
        let tree = "<tree/>".repeat(count);
        let message = format!(
            "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>\
             <takeTree xmlns='urn:castile:open'>{tree}</takeTree></e:Body></e:Envelope>"
        );
        let length = message.len();
        let head = format!(
            "POST /open HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        client.write_all(head.as_bytes()).unwrap();
        client.write_all(message.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    };
    for (count, status) in [(100, "200"), (150_000, "503"), (100, "200")] {
        let answer = ask(count);
        assert_eq!(answer.split(' ').nth(1), Some(status), "{answer}");
    }
    let (code, errors) = served.terminate();
    assert_eq!((code, errors.as_str()), (0, ""));
}

/// Returns the contract of a service over https, or the error.
fn contract_over_tls(address: &str, tls: &TlsOptions) -> Result<String, castile::http::Error> {
    use tower_service::Service;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut options = Options::default();
        options.tls = Tls::with_options(tls.clone())?;
        let request =
            http::Request::get(format!("https://{address}/wstest?wsdl")).body(Body::from(String::new())).unwrap();
        let response = Transport::with_options(options).call(request).await?;
        let body = response.into_body().collect().await?.to_bytes();
        Ok(String::from_utf8(body.to_vec()).unwrap())
    })
}

/// Reads standard error up to this line. Files are checked every few seconds, so other lines may precede it.
fn await_error(errors: &mut BufReader<ChildStderr>, expected: &str) {
    let mut seen = String::new();
    while seen.lines().next_back() != Some(expected) {
        assert_ne!(errors.read_line(&mut seen).unwrap(), 0, "found {seen:?}, expected {expected:?}");
    }
}

#[test]
fn tls_is_served_and_reloaded() {
    served_and_reloaded(&[]);
}

#[test]
fn tls_is_served_and_reloaded_on_all_threads() {
    served_and_reloaded(&["--per-core"]);
}

/// The system once gave each of two servers with `--per-core` a part of the connections.
#[test]
fn a_port_of_another_server_is_taken() {
    let served = Served::start(&["--per-core"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
    command.args(["serve", "--per-core", "--addr", &served.address]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut second = Served { child: command.spawn().unwrap(), address: served.address.clone() };
    let (mut output, mut errors) = (String::new(), String::new());
    BufReader::new(second.child.stdout.take().unwrap()).read_line(&mut output).unwrap();
    assert_eq!(output, "");
    second.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(errors.contains(&format!("can't listen on {}: ", served.address)), "{errors}");
    assert!(errors.contains("Address already in use"), "{errors}");
    assert_eq!(second.child.wait().unwrap().code(), Some(2));
}

fn served_and_reloaded(more: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let write = |issued: &Issued| {
        std::fs::write(path("chain.pem"), &issued.chain).unwrap();
        std::fs::write(path("key.pem"), &issued.key).unwrap();
    };
    let (authority, renewed) = (Authority::new("a"), Authority::new("b"));
    std::fs::write(path("clients.pem"), authority.root()).unwrap();
    write(&authority.issue("127.0.0.1", |_| {}));
    let (chain, key, clients) = (path("chain.pem"), path("key.pem"), path("clients.pem"));
    let options = ["--tls-cert", &chain, "--tls-key", &key, "--client-ca", &clients];
    let mut served = Served::start(&[&options, more].concat());
    let mut errors = BufReader::new(served.child.stderr.take().unwrap());
    // Sent as soon as the URL is printed.
    served.signal("-HUP");
    await_error(&mut errors, "TLS: the files are unchanged");

    let client = authority.issue("client", |_| {});
    let mut options = TlsOptions::default();
    options.roots = Roots::Only(vec![Pem::bytes(authority.root())]);
    let error = contract_over_tls(&served.address, &options).unwrap_err().to_string();
    assert!(error.contains("it expects a client certificate and got none"), "{error}");
    options.identity = Some(Identity::new(Pem::bytes(&client.chain), Pem::bytes(&client.key)));
    let contract = contract_over_tls(&served.address, &options).unwrap();
    assert!(contract.contains(&format!("https://{}/wstest", served.address)), "{contract}");

    std::fs::write(&key, "").unwrap();
    served.signal("-HUP");
    let expected = format!(
        "warning: TLS: found no private key that is not encrypted in {key}: it contains nothing; the previously loaded files \
         stay in use"
    );
    await_error(&mut errors, &expected);
    contract_over_tls(&served.address, &options).unwrap();

    write(&renewed.issue("127.0.0.1", |_| {}));
    served.signal("-HUP");
    await_error(&mut errors, "TLS: loaded new files");
    assert_eq!(contract_over_tls(&served.address, &options).unwrap_err().kind(), ErrorKind::Connect);
    options.roots = Roots::Only(vec![Pem::bytes(renewed.root())]);
    contract_over_tls(&served.address, &options).unwrap();

    // Commands that call servers have the same options.
    let (roots, client_chain, client_key) = (path("roots.pem"), path("client.pem"), path("client.key"));
    std::fs::write(&roots, renewed.root()).unwrap();
    std::fs::write(&client_chain, &client.chain).unwrap();
    std::fs::write(&client_key, &client.key).unwrap();
    let tls = ["--ca", &roots, "--client-cert", &client_chain, "--client-key", &client_key];
    let (url, bundle) = (format!("https://{}/wstest", served.address), path("wstest.castile"));
    castile(&[&["bundle", &format!("{url}?wsdl"), "--fetch", "-o", &bundle], &tls[..]].concat());
    let load = ["load", &bundle, "--operation", "EchoVoid", "--url", &url, "--users", "2", "--requests", "10"];
    castile(&[&load, &tls[..]].concat());
    // An alert after the handshake was once reported in the words of rustls, with all causes.
    let unknown = "the other end sent the alert CertificateRequired: it expects a client certificate and got none";
    let first = refused(&[&load[..], &["--ca", &roots]].concat());
    assert!(
        first.ends_with(&format!("no other was sent: connection lost: {unknown}, at {}\n", served.address)),
        "{first}"
    );
    let called = refused(&["call", &bundle, "EchoVoid", "--url", &url, "--ca", &roots]);
    assert!(called.ends_with(&format!("{unknown}\n")), "{called}");
    // The message was once that of rustls, without advice.
    let fetched = refused(&["bundle", &format!("{url}?wsdl"), "--fetch", "-o", &path("again.castile")]);
    let said = "is not issued by a trusted authority; --ca FILE trusts other certificates\n";
    assert!(fetched.ends_with(said), "{fetched}");

    // Options without effect are rejected.
    let plain = ["load", &bundle, "--operation", "EchoVoid", "--url", "http://127.0.0.1:1/", "--requests", "1"];
    let said = "--ca, --client-cert and --server-name require https, but the URL is http://127.0.0.1:1/";
    assert!(refused(&[&plain, &tls[..]].concat()).contains(said));
    let said = "--ca and --client-cert require --fetch";
    assert!(refused(&[&["bundle", &bundle, "-o", &path("again.castile")], &tls[..]].concat()).contains(said));
    let said = "--ca, --client-cert and --server-name can only be used with --url";
    assert!(refused(&["bench", "wstest", "--ca", &roots, "--out", &path("report")]).contains(said));
}

/// `bundle --fetch` once rejected a certificate that `call` accepts: a self-signed server certificate that is also an authority, as
/// `openssl req -x509` makes it.
#[test]
fn a_server_s_own_certificate_is_trusted_by_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    std::fs::write(path("own.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(path("key.pem"), key.serialize_pem()).unwrap();
    let served = Served::start(&["--tls-cert", &path("own.pem"), "--tls-key", &path("key.pem")]);
    let (url, bundle, own) = (format!("https://{}/wstest", served.address), path("a.castile"), path("own.pem"));
    castile(&["bundle", &format!("{url}?wsdl"), "--fetch", "-o", &bundle, "--ca", &own]);
    castile(&["call", &bundle, "EchoVoid", "--url", &url, "--ca", &own]);

    // All commands report failures in the same words.
    std::fs::write(path("other.pem"), Authority::new("other").root()).unwrap();
    let plain = Served::start(&[]);
    let plain = format!("https://{}/wstest", plain.address);
    for (url, authority, expected) in [
        (
            &url,
            "other.pem",
            "the certificate is that of an authority, which is only accepted for a server if it is itself one of the \
             roots",
        ),
        (&plain, "own.pem", "found plain HTTP, expected TLS"),
    ] {
        let authority = path(authority);
        let fetched =
            refused(&["bundle", &format!("{url}?wsdl"), "--fetch", "-o", &path("b.castile"), "--ca", &authority]);
        let called = refused(&["call", &bundle, "EchoVoid", "--url", url, "--ca", &authority]);
        for told in [fetched, called] {
            assert!(told.contains("no connection to ") && told.contains(expected), "{told}");
        }
    }
}

/// Returns the message of a command that fails.
fn refused(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_castile")).args(arguments).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Runs a command that succeeds.
fn castile(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_castile")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn with_a_runtime_for_each_core_all_options_hold() {
    for options in [&[][..], &["--proxy-protocol", "127.0.0.0/8"]] {
        let served = Served::start(&[&["--per-core", "--metrics"], options].concat());
        let before = if options.is_empty() { "" } else { "PROXY TCP4 192.0.2.1 192.0.2.2 1 80\r\n" };
        for _ in 0..8 {
            let answer = served.get(before, "/health", "");
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
        let metrics = served.get(before, "/metrics", "");
        assert!(metrics.contains("\ncastile_connections "), "{metrics}");
        assert_eq!(served.terminate(), (0, String::new()));
    }
}
