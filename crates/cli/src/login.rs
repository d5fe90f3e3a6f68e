//! The identity of a client and the proxy to the server, for commands that send requests.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use castile::http::client;
use castile_load::{Along, Endpoint, Proxy};
use castile_xml::visible;

use crate::{errors, tls};

/// Header fields that the driver sets itself.
const DRIVER_HEADERS: [&str; 4] = ["host", "content-length", "connection", "transfer-encoding"];

/// How a client authenticates. Secrets are in files or typed at a prompt, because other users of the machine can see command lines, and
/// shells and reports store them.
#[derive(Debug, clap::Args)]
#[group(id = "login")]
#[command(next_help_heading = "Login")]
pub(crate) struct Arguments {
    /// Log in with this name (Basic); the password is asked for unless --password-file is given
    #[arg(short, long, value_name = "NAME", value_parser = name)]
    user: Option<String>,
    /// Read the password from the first line of this file; `-` is standard input
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
    /// Send the token in the first line of this file (Bearer); `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "user")]
    bearer: Option<PathBuf>,
    /// Store the cookies that answers set, separately for each user, and send them back
    #[arg(long)]
    cookies: bool,
    /// Use this HTTP proxy. Proxies from the environment are ignored, because the server is what is measured
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// Log in to the proxy with the NAME:PASSWORD in the first line of this file
    #[arg(long, value_name = "FILE", requires = "proxy")]
    proxy_login: Option<PathBuf>,
}

/// How a client authenticates, for a command that makes one call.
#[derive(Debug, clap::Args)]
#[group(id = "credentials")]
#[command(next_help_heading = "Login")]
pub(crate) struct Credentials {
    /// Log in with this name (Basic). If no password is given, it is asked for. Other users of this machine can see passwords on the
    /// command line
    #[arg(short, long, value_name = "NAME[:PASSWORD]")]
    user: Option<String>,
    /// Read the password from the first line of this file; `-` is standard input
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
    /// Send the token in the first line of this file (Bearer); `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "user")]
    bearer: Option<PathBuf>,
    /// Use Digest: wait for the challenge of the server and answer it
    #[arg(long, requires = "user")]
    digest: bool,
}

impl Credentials {
    /// Returns the credentials for the transport. A dry run sends nothing, so it doesn't ask for a password.
    pub(crate) fn credentials(&self, url: &str, is_dry: bool) -> anyhow::Result<Option<client::Credentials>> {
        // Digest doesn't send the password.
        if self.bearer.is_some() || self.user.is_some() && !self.digest {
            warn_in_clear(url);
        }
        if let Some(file) = &self.bearer {
            return Ok(Some(client::Credentials::bearer(&first_line(file)?)?));
        }
        let Some(user) = &self.user else { return Ok(None) };
        // A name contains no colon (RFC 7617 §2).
        let (user, password) = match (user.split_once(':'), &self.password_file) {
            (Some(_), Some(_)) => bail!("found a password in --user and in --password-file, expected one of them"),
            (Some((user, password)), None) => (user, password.to_owned()),
            (None, Some(file)) => (&**user, first_line(file)?),
            (None, None) if is_dry => return Ok(None),
            (None, None) => (&**user, prompt(&format!("password of {user}"))?),
        };
        Ok(Some(match self.digest {
            true => client::Credentials::digest(user, &password),
            false => client::Credentials::basic(user, &password),
        }))
    }

    /// Returns the value of `Authorization` in the first request, without the secret. Digest only answers a challenge, so its first request
    /// has none.
    pub(crate) fn shown(&self) -> Option<&'static str> {
        match (&self.bearer, &self.user) {
            (Some(_), _) => Some("Bearer …"),
            (None, Some(_)) if !self.digest => Some("Basic …"),
            _ => None,
        }
    }
}

/// The options of [`Arguments`], for error messages.
pub(crate) const OPTIONS: &str = "--user, --bearer, --cookies and --proxy";

impl Arguments {
    /// Returns whether any option is given.
    pub(crate) fn is_given(&self) -> bool {
        self.user.is_some() || self.bearer.is_some() || self.cookies || self.proxy.is_some()
    }

    /// Returns the option whose secret is asked for or on standard input, if there is one.
    pub(crate) fn asks(&self) -> Option<&'static str> {
        let files = [
            ("--password-file -", &self.password_file),
            ("--bearer -", &self.bearer),
            ("--proxy-login -", &self.proxy_login),
        ];
        let of_input = files.into_iter().find(|(_, file)| file.as_deref().is_some_and(is_input));
        let prompts = self.user.is_some() && self.password_file.is_none();
        of_input.map(|(option, _)| option).or(prompts.then_some("--user without --password-file"))
    }

    /// Returns the endpoint at a URL with these options and the additional header fields.
    pub(crate) fn endpoint(&self, url: &str, tls: &tls::ClientArguments, headers: &str) -> anyhow::Result<Endpoint> {
        let proxy = self.proxy.as_deref().map(|proxy| self.resolved(proxy)).transpose()?;
        let endpoint = tls.endpoint(url, proxy)?;
        if self.user.is_some() || self.bearer.is_some() {
            warn_in_clear(url);
        }
        let mut lines = headers.to_owned();
        if let Some(authorization) = self.authorization()? {
            lines += &format!("Authorization: {authorization}\r\n");
        }
        Ok(endpoint.with(Along { headers: lines.into(), cookies: self.cookies }))
    }

    /// Returns an error if the header fields contain an `Authorization` that these options set.
    pub(crate) fn expect_no_other(&self, headers: &str) -> anyhow::Result<()> {
        let has = |name: &str| headers.lines().any(|line| line.split(':').next().is_some_and(|found| found == name));
        if (self.user.is_some() || self.bearer.is_some()) && has("authorization") {
            bail!("found the header Authorization in --header and also --user or --bearer, expected one of them");
        }
        Ok(())
    }

    fn authorization(&self) -> anyhow::Result<Option<String>> {
        if let Some(file) = &self.bearer {
            let token = first_line(file)?;
            if token.contains(|c: char| !c.is_ascii_graphic()) {
                bail!("{} has a token with characters that are not allowed in a header", file.display());
            }
            return Ok(Some(format!("Bearer {token}")));
        }
        let Some(user) = &self.user else { return Ok(None) };
        let password = match &self.password_file {
            Some(file) => first_line(file)?,
            None => prompt(&format!("password of {user}"))?,
        };
        Ok(Some(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))))
    }

    fn resolved(&self, url: &str) -> anyhow::Result<Proxy> {
        let mut proxy = Proxy::resolve(url)?;
        if let Some(file) = &self.proxy_login {
            let login = first_line(file)?;
            let Some((name, password)) = login.split_once(':') else {
                bail!("the first line of {} has no colon, expected NAME:PASSWORD", file.display());
            };
            proxy.login = Some((name.to_owned(), password.to_owned()));
        }
        Ok(proxy)
    }
}

/// Warns that a login is sent to this URL without encryption.
pub(crate) fn warn_in_clear(url: &str) {
    let Some(host) = host_in_clear(url) else { return };
    let style = errors::WARNING;
    note!("{style}warning{style:#}: the login goes to {} in clear text, expected a URL of https", visible(&host));
}

/// Returns the host of a URL without TLS, unless the host is this machine.
fn host_in_clear(url: &str) -> Option<String> {
    let uri: http::Uri = url.parse().ok()?;
    let host = uri.host().filter(|_| uri.scheme_str() == Some("http"))?;
    let is_near = match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    };
    (!is_near).then(|| host.to_owned())
}

/// Parses a name, which must not contain a password.
fn name(text: &str) -> Result<String, String> {
    match text.split_once(':') {
        None if text.is_empty() => Err("expected a name".to_owned()),
        None => Ok(text.to_owned()),
        Some(_) => {
            Err("found a colon, expected a name: the password is read from the terminal or from --password-file"
                .to_owned())
        }
    }
}

/// Returns whether a path stands for standard input.
pub(crate) fn is_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the first line of a file or of standard input.
pub(crate) fn first_line(path: &Path) -> anyhow::Result<String> {
    // Limits the read, because another kind of file may have no line end. No token is as long.
    const MAX_LINE_LENGTH: u64 = 64 << 10;
    let mut line = String::new();
    let read = match is_input(path) {
        true => std::io::stdin().lock().take(MAX_LINE_LENGTH + 1).read_line(&mut line),
        false => File::open(path).and_then(|file| BufReader::new(file.take(MAX_LINE_LENGTH + 1)).read_line(&mut line)),
    };
    read.with_context(|| format!("{} can't be read", path.display()))?;
    if line.len() as u64 > MAX_LINE_LENGTH {
        bail!("the first line of {} has more than {} KiB, expected a secret", path.display(), MAX_LINE_LENGTH >> 10);
    }
    let line = line.trim_end_matches(['\r', '\n']);
    if line.is_empty() {
        bail!("the first line of {} is empty, expected a secret", path.display());
    }
    Ok(line.to_owned())
}

/// Reads a line from the terminal without echo.
#[cfg(unix)]
pub(crate) fn prompt(what: &str) -> anyhow::Result<String> {
    use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};

    let terminal = File::options().read(true).write(true).open("/dev/tty");
    let mut terminal = terminal.with_context(|| {
        format!("no terminal to ask for the {what}, expected a file with it: --password-file, or --wss-password-file")
    })?;
    let shown = tcgetattr(&terminal).context("the terminal can't be set up")?;
    let mut hidden = shown.clone();
    hidden.local_flags.remove(LocalFlags::ECHO);
    write!(terminal, "{}: ", castile_xml::visible(what))?;
    tcsetattr(&terminal, SetArg::TCSAFLUSH, &hidden).context("the terminal can't be set up")?;
    let mut line = String::new();
    let read = BufReader::new(&terminal).read_line(&mut line);
    tcsetattr(&terminal, SetArg::TCSAFLUSH, &shown).context("the terminal can't be set up")?;
    writeln!(terminal)?;
    read.context("the terminal can't be read")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(not(unix))]
pub(crate) fn prompt(what: &str) -> anyhow::Result<String> {
    bail!(
        "this system has no way to ask for the {what}, expected a file with it: --password-file, or --wss-password-file"
    )
}

/// Returns the header fields from the command line, each with its line end.
pub(crate) fn headers(given: &[String]) -> anyhow::Result<String> {
    let mut lines = String::new();
    for line in given {
        let wrong = || format!("found the header {line:?}, expected NAME: VALUE");
        let (name, value) = line.split_once(':').with_context(wrong)?;
        let name: http::HeaderName = name.trim().parse().with_context(wrong)?;
        let value: http::HeaderValue = value.trim().parse().with_context(wrong)?;
        let value = value.to_str().with_context(wrong)?;
        if DRIVER_HEADERS.contains(&name.as_str()) {
            bail!("the driver writes the header {name}, so it can't be set");
        }
        lines += &format!("{name}: {value}\r\n");
    }
    Ok(lines)
}

/// Returns whether the value of this header field may be a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    const SECRETS: [&str; 7] = ["auth", "cookie", "key", "password", "secret", "session", "token"];
    SECRETS.iter().any(|secret| name.to_ascii_lowercase().contains(secret))
}

/// Returns the arguments of a command for its report, without the values of secret header fields.
pub(crate) fn without_secrets(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut is_header = false;
    let shown = |argument: String| {
        let (option, line) = match argument.strip_prefix("--header=") {
            Some(line) => ("--header=", line),
            None if is_header => ("", &*argument),
            None => {
                is_header = argument == "--header";
                return argument;
            }
        };
        is_header = false;
        let name = line.split(':').next().unwrap_or_default();
        match is_secret(name) {
            true => format!("{option}{name}: …"),
            false => argument,
        }
    };
    arguments.map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines_and_nothing_else() {
        let of = |line: &str| headers(&[line.to_owned()]);
        assert_eq!(of("X-A:  b c ").unwrap(), "x-a: b c\r\n");
        for wrong in ["X", "X Y: z", "X: a\r\nY: b", "Host: a", "content-length: 3", "X: ä\u{1}"] {
            assert!(of(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_report_holds_no_secret_of_the_command_line() {
        let given =
            ["load", "--header", "Authorization: Basic YTpi", "--header=X-Api-Key: k", "--header", "X-A: b", "a:b"];
        let shown = without_secrets(given.into_iter().map(str::to_owned));
        assert_eq!(
            shown,
            ["load", "--header", "Authorization: …", "--header=X-Api-Key: …", "--header", "X-A: b", "a:b"]
        );
    }

    #[test]
    fn logins_in_clear_text_are_warned_of() {
        for near in ["https://example.org/", "http://127.0.0.1:1/", "http://[::1]/", "http://localhost/", "nothing"] {
            assert_eq!(host_in_clear(near), None, "{near}");
        }
        for (far, host) in [
            ("http://example.org/a", "example.org"),
            ("HTTP://10.0.0.1:80/", "10.0.0.1"),
            ("http://[fe80::1]/", "[fe80::1]"),
        ] {
            assert_eq!(host_in_clear(far).as_deref(), Some(host), "{far}");
        }
    }

    #[test]
    fn passwords_are_not_in_the_recorded_command_line() {
        assert_eq!(name("ada"), Ok("ada".to_owned()));
        assert!(name("ada:x").unwrap_err().contains("--password-file"));
        assert!(name("").is_err());
    }

    #[test]
    fn a_secret_is_the_first_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (text, expected) in [("a b\r\nc\n", Some("a b")), ("a", Some("a")), ("\na", None), ("", None)] {
            std::fs::write(file.path(), text).unwrap();
            assert_eq!(first_line(file.path()).ok().as_deref(), expected, "{text:?}");
        }
        let endless = first_line(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(endless, "the first line of /dev/zero has more than 64 KiB, expected a secret");
    }

    /// Any `--header` argument is either one line with a name and a value, or an error.
    #[test]
    fn changed_headers_are_a_line_each() {
        let seeds = [
            "X-A: b c",
            "Authorization: Basic YTpi",
            "Host: a",
            "cookie:a=b",
            "X-Api-Key: k",
            ":",
            "Content-Length : 3",
        ];
        crate::mutations::check_mutations(&seeds, |text, _| {
            let Ok(lines) = headers(&[text.to_owned(), "X-Z: z".to_owned()]) else { return };
            let line = lines.strip_suffix("x-z: z\r\n").and_then(|line| line.strip_suffix("\r\n")).unwrap();
            assert!(!line.contains(['\r', '\n', '\0', '\u{1b}']), "{line:?}");
            let (name, _) = line.split_once(": ").unwrap();
            assert!(
                !DRIVER_HEADERS.contains(&name) && !name.contains(|c: char| !c.is_ascii_graphic() || c == ':'),
                "{line:?}"
            );
        });
    }

    /// A header field with a secret name never appears in a report, whatever the syntax of its option.
    #[test]
    fn changed_arguments_show_no_secret() {
        let seeds = [
            "Authorization: SECRET",
            "X-Session-Token:SECRET",
            "cookie: a=SECRET",
            "X-API-Key : SECRET",
            "Proxy-Authorization:  SECRET",
        ];
        let words = ["load", "--header", "--soap-header", "http://a/", "-c", "8", "--user", "ada", "--header=X-A: b"];
        crate::mutations::check_mutations(&seeds, |text, random| {
            // An invalid header ends the command before there is a report.
            if headers(&[text.to_owned()]).is_err() {
                return;
            }
            let name = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
            let is_secret = ["auth", "cookie", "key", "token", "session"].iter().any(|secret| name.contains(secret));
            // Options and values in pairs, as the command line parser reads them.
            let mut given: Vec<String> = Vec::new();
            for _ in 0..random.below(4) {
                match words[random.below(words.len())] {
                    option @ ("--header" | "--soap-header" | "-c" | "--user") => {
                        given.extend([option.to_owned(), "X-B: c".to_owned()])
                    }
                    word => given.push(word.to_owned()),
                }
            }
            match random.below(2) {
                0 => given.extend(["--header".to_owned(), text.to_owned()]),
                _ => given.push(format!("--header={text}")),
            }
            given.push("http://b/".to_owned());
            let count = given.len();
            let shown = without_secrets(given.into_iter());
            assert_eq!(shown.len(), count);
            let is_shown = shown.iter().any(|argument| argument.contains("SECRET"));
            assert!(!is_secret || !is_shown || name.contains("secret"), "{shown:?}");
        });
    }
}
