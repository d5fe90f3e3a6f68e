//! Cookies that a file stores between calls.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use castile::http::client::Transport;
use http::Uri;
use tempfile::NamedTempFile;

use super::files;

/// The cookie file, and the temporary file that replaces it after the answer. Only the user may read the new file, because a cookie may be
/// a login.
pub(super) struct Jar {
    transport: Transport,
    file: PathBuf,
    next: NamedTempFile,
}

impl Jar {
    /// Loads the cookies of a file, which need not exist, into `transport`.
    ///
    /// # Errors
    /// The file isn't a cookie file, or no file can be created in its folder.
    pub(super) fn open(transport: &Transport, file: &Path) -> anyhow::Result<Self> {
        if file.try_exists().with_context(|| format!("{} can't be read", file.display()))? {
            let kept = transport.keep_cookies(&files::text(file)?);
            kept.with_context(|| format!("{} is not a cookie file", file.display()))?;
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let next = NamedTempFile::new_in(folder).with_context(|| format!("{} can't be written", file.display()))?;
        Ok(Jar { transport: transport.clone(), file: file.to_owned(), next })
    }

    /// Returns the `Cookie` header that the transport sends to a URL, without the values. `None` if it sends none.
    pub(super) fn shown(&self, url: &str) -> Option<String> {
        shown(&self.transport.cookies(), url)
    }

    /// Writes the current cookies of the transport to the file.
    pub(super) fn save(mut self) -> anyhow::Result<()> {
        let written = self.next.write_all(self.transport.cookies().as_bytes());
        let kept = written.and_then(|()| self.next.persist(&self.file).map_err(|error| error.error));
        kept.with_context(|| format!("{} can't be written", self.file.display()))?;
        Ok(())
    }
}

/// Returns the names of the cookies for a URL. The input has a line for each cookie: the URL that set it, a tab, and `NAME=VALUE;
/// Path=PATH`.
fn shown(cookies: &str, url: &str) -> Option<String> {
    let url: Uri = url.parse().ok()?;
    let origin = origin(&url)?;
    let mut sent: Vec<(&str, &str)> = Vec::new();
    for line in cookies.lines() {
        let Some((of, cookie)) = line.split_once('\t') else { continue };
        let is_of_origin = of.parse().is_ok_and(|of| self::origin(&of).as_ref() == Some(&origin));
        let Some((pair, rest)) = cookie.split_once("; Path=").filter(|_| is_of_origin) else { continue };
        let path = rest.split(';').next().unwrap_or_default();
        let behind = url.path().strip_prefix(path);
        if behind.is_some_and(|behind| behind.is_empty() || path.ends_with('/') || behind.starts_with('/')) {
            sent.push((path, pair.split('=').next().unwrap_or_default()));
        }
    }
    // The cookie with the more specific path comes first.
    sent.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    let shown: Vec<String> = sent.iter().map(|(_, name)| format!("{name}=…")).collect();
    (!shown.is_empty()).then(|| shown.join("; "))
}

fn origin(url: &Uri) -> Option<(String, String, u16)> {
    let scheme = url.scheme_str()?.to_ascii_lowercase();
    let port = url.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some((scheme, url.host()?.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dry_run_shows_the_names_of_the_cookies_that_would_be_sent() {
        let cookies = "http://a.example:80\tone=secret; Path=/\n\
                       http://a.example:80\ttwo=secret=; Path=/sdk; Expires=Thu, 26 Nov 2026 12:00:00 GMT\n\
                       https://a.example:443\tthree=secret; Path=/\n";
        for (url, expected) in [
            ("http://A.example/", Some("one=…")),
            ("http://a.example/sdk/x", Some("two=…; one=…")),
            ("http://a.example:80/sdks", Some("one=…")),
            ("https://a.example/", Some("three=…")),
            ("http://a.example:8080/", None),
            ("a.example", None),
        ] {
            assert_eq!(shown(cookies, url).as_deref(), expected, "{url}");
        }
    }
}
