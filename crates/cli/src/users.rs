//! Authentication of clients: HTTP schemes and a file of users.

use std::collections::{HashMap, HashSet};
use std::future::{Ready, ready};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castile::http::server::Authentication;
use sha2::{Digest, Sha256};

/// The realm that clients show to their users.
const REALM: &str = "castile";

/// How clients log in.
#[derive(clap::Args)]
#[group(id = "login")]
#[command(next_help_heading = "Authentication")]
pub(crate) struct Arguments {
    /// Serve only clients that log in with this scheme. If repeated, clients choose one of the schemes. Basic and Bearer send secrets
    /// unencrypted, so use them with TLS
    #[arg(long = "auth", value_name = "SCHEME", value_enum, requires = "users")]
    schemes: Vec<Scheme>,
    /// The users, one per line: NAME:PASSWORD, or NAME:TOKEN for Bearer. Empty lines and lines that begin with # are ignored. The file is
    /// read at start
    #[arg(long, value_name = "FILE", requires = "schemes")]
    users: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Scheme {
    /// A name and a password (RFC 7617)
    Basic,
    /// A token (RFC 6750)
    Bearer,
    /// A name and a proof of the password, with SHA-256 (RFC 7616)
    Digest,
    /// Digest, also with MD5 for clients that support nothing newer (RFC 2617)
    DigestMd5,
}

impl Arguments {
    /// Returns the required authentication, or `None` if none is configured.
    pub(crate) fn load(&self) -> anyhow::Result<Option<Authentication>> {
        let Some(file) = &self.users else { return Ok(None) };
        let text = std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
        let users = Users::read(&text, file)?;
        let schemes = self.schemes.iter().map(|scheme| users.authentication(*scheme, file));
        schemes.reduce(|all, next| Ok(all?.or(next?))).transpose()
    }
}

/// Names and their secrets, in the order of the file.
struct Users(Vec<(String, String)>);

impl Users {
    /// Parses a file of users. Errors don't quote the line, which may contain a password.
    fn read(text: &str, file: &Path) -> anyhow::Result<Self> {
        let file = file.display();
        let mut users: Vec<(String, String)> = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((name, secret)) = line.split_once(':') else {
                bail!("{file}:{number}: found no colon, expected NAME:PASSWORD or NAME:TOKEN");
            };
            if name.is_empty() || secret.is_empty() {
                let missing = if name.is_empty() { "name" } else { "password or token" };
                bail!("{file}:{number}: found no {missing}, expected NAME:PASSWORD or NAME:TOKEN");
            }
            if users.iter().any(|(other, _)| other == name) {
                bail!("{file}:{number}: found {name:?} a second time, expected each name once");
            }
            users.push((name.to_owned(), secret.to_owned()));
        }
        if users.is_empty() {
            bail!("{file}: found no users, expected at least one line NAME:PASSWORD or NAME:TOKEN");
        }
        Ok(Users(users))
    }

    fn authentication(&self, scheme: Scheme, file: &Path) -> anyhow::Result<Authentication> {
        Ok(match scheme {
            Scheme::Basic => {
                let known = self.hashes(|name, password| format!("{name}:{password}"));
                Authentication::basic(REALM, move |name, password| {
                    ready(known.contains(&hash(&format!("{name}:{password}"))).then_some(()))
                })
            }
            Scheme::Bearer => {
                let known = self.hashes(|_, token| token.to_owned());
                if known.len() < self.0.len() {
                    bail!("{}: found the same token for two names, expected different tokens", file.display());
                }
                Authentication::bearer(REALM, move |token| ready(known.contains(&hash(&token)).then_some(())))
            }
            Scheme::Digest => Authentication::digest(REALM, self.passwords()),
            Scheme::DigestMd5 => Authentication::digest_with_md5(REALM, self.passwords()),
        })
    }

    /// Returns the hashes of the credentials that clients send. The time of a lookup by hash reveals nothing about the credentials.
    fn hashes(&self, shown: impl Fn(&str, &str) -> String) -> HashSet<[u8; 32]> {
        self.0.iter().map(|(name, secret)| hash(&shown(name, secret))).collect()
    }

    fn passwords(&self) -> impl Fn(String) -> Ready<Option<(String, ())>> + Send + Sync + 'static {
        let known: HashMap<_, _> = self.0.iter().cloned().collect();
        move |name| ready(known.get(&name).map(|password| (password.clone(), ())))
    }
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Users> {
        Users::read(text, Path::new("users"))
    }

    #[test]
    fn each_line_is_a_user() {
        let users = read("# who\n\nada:correct horse\r\nbob::#:\n#eve:no\n").unwrap();
        let read: Vec<_> = users.0.iter().map(|(name, secret)| (&**name, &**secret)).collect();
        assert_eq!(read, [("ada", "correct horse"), ("bob", ":#:")]);
    }

    #[test]
    fn errors_do_not_show_secrets() {
        for (text, expected) in [
            ("a:b\nsecret", "users:2: found no colon, expected NAME:PASSWORD or NAME:TOKEN"),
            (":secret", "users:1: found no name, expected NAME:PASSWORD or NAME:TOKEN"),
            ("\nada:", "users:2: found no password or token, expected NAME:PASSWORD or NAME:TOKEN"),
            ("ada:secret\nada:secret", "users:2: found \"ada\" a second time, expected each name once"),
            ("# nobody", "users: found no users, expected at least one line NAME:PASSWORD or NAME:TOKEN"),
        ] {
            assert_eq!(read(text).err().unwrap().to_string(), expected, "{text}");
        }
        let users = read("ada:secret\nbob:secret").unwrap();
        assert!(users.authentication(Scheme::Basic, Path::new("users")).is_ok());
        let error = users.authentication(Scheme::Bearer, Path::new("users")).err().unwrap().to_string();
        assert_eq!(error, "users: found the same token for two names, expected different tokens");
    }

    /// Whatever the file contains, only the users in it can log in, and no secret is printed.
    #[test]
    fn changed_files_give_no_other_user_access() {
        let seeds = [
            "# who\n\nada:SECRET\r\nbob::#:\n#eve:no\n",
            "ada:SECRET\nada:SECRET\n",
            "ada:SECRET SECRET",
            "SECRET\nada:x\n",
            ":SECRET\n",
            "ada:\n",
        ];
        crate::mutations::check_mutations(&seeds, |text, random| {
            let begins = text
                .lines()
                .any(|line| line.split(':').next().is_some_and(|name| line.contains(':') && name.contains("SECRET")));
            let users = match read(text) {
                Ok(users) => users,
                Err(error) => {
                    let said = error.to_string();
                    assert!(begins || !said.contains("SECRET"), "{said}");
                    assert!(!said.contains(|c: char| c.is_control()), "{said:?}");
                    return;
                }
            };
            let known = users.hashes(|name, password| format!("{name}:{password}"));
            let (name, secret) = &users.0[random.below(users.0.len())];
            assert!(
                known.contains(&hash(&format!("{name}:{secret}"))) && !name.contains(':') && !secret.is_empty(),
                "{text:?}"
            );
            let lines: Vec<_> = text.lines().collect();
            assert!(lines.contains(&&*format!("{name}:{secret}")), "{text:?}");
            for (name, secret) in [("eve", "no"), ("ada", ""), ("", "SECRET"), ("ada", "other")] {
                let is_in = lines.contains(&&*format!("{name}:{secret}"));
                assert_eq!(
                    known.contains(&hash(&format!("{name}:{secret}"))),
                    is_in && !name.is_empty() && !secret.is_empty(),
                    "{text:?}"
                );
            }
        });
    }
}
