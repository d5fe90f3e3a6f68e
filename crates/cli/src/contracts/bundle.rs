//! `castile bundle`: writes a contract and everything it imports to one file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, bail};
use castile_wsdl::{Bundle, Definitions, Severity};
use castile_xml::visible;
use castile_xsd::{Recorder, Resolver};

use crate::contracts::fetch::{Fetch, Limits};
use crate::contracts::generate::is_same;
use crate::contracts::size::kilobytes;
use crate::contracts::{problems, source};
use crate::quantity::{count, positive_time};
use crate::{errors, outcome, output, tls};

/// Write a contract and everything it imports to one self-contained file
///
/// Nothing is fetched unless --fetch is given. Every command and build script that reads a WSDL reads the bundle as well, and then needs
/// neither network nor catalogs. Schemas that Castile has built in (SOAP, WS-Addressing, WS-Security, XML Signature and more) are not
/// fetched; the bundle contains them only if files or catalogs provide them. Generated code serves them in any case.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The contract: a WSDL 1.1 file, `-` for standard input, or with --fetch its URL
    #[arg(value_name = "WSDL|URL")]
    wsdl: String,
    /// Where to write the bundle; `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    catalogs: source::Catalogs,
    /// Show notes as well as errors and warnings: what was skipped without harm
    #[arg(long)]
    notes: bool,
    /// Fetch missing documents over http and https, from any host that the contract names
    #[arg(long)]
    fetch: bool,
    /// How long fetching one document may take, including redirects; a bare number is seconds
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = positive_time, requires = "fetch")]
    timeout: Duration,
    /// How long fetching all documents may take; a bare number is seconds
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = positive_time, requires = "fetch")]
    max_time: Duration,
    /// How much may be fetched in total, in megabytes (1,000,000 bytes)
    #[arg(long, value_name = "MB", default_value = "64", value_parser = count::<u32>, requires = "fetch")]
    max_size: u32,
    #[command(flatten)]
    trust: tls::Trust,
}

/// Writes the bundle, even if parts of the contract are broken, and reports the problems of the contract.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    if !arguments.fetch && arguments.trust.is_given() {
        bail!("--ca and --client-cert require --fetch");
    }
    let mut shown = arguments.wsdl;
    let mut files = arguments.catalogs.files()?;
    if shown == "-" {
        let (path, kind) = source::standard_input(&mut files)?;
        shown = path.display().to_string();
        if kind != source::Kind::Contract {
            bail!("{shown} is an XML Schema, expected a WSDL");
        }
    } else if !source::is_url(&shown) {
        source::expect_contract(Path::new(&shown))?;
        if is_same(Path::new(&shown), &arguments.out) {
            bail!("{shown} is the input, and the bundle would overwrite it: choose another output file");
        }
    } else if !arguments.fetch {
        bail!("{shown} is a URL, expected --fetch to read it");
    }
    // The output path is checked before anything is fetched.
    if arguments.out.as_os_str() != "-" {
        outcome::expect_place(&arguments.out)?;
        castile_report::expect_own(&arguments.out, Bundle::is_bundle)?;
    }
    let shown = &*shown;
    let limits = Limits {
        timeout: arguments.timeout,
        max_time: arguments.max_time,
        max_size: u64::from(arguments.max_size) * 1_000_000,
    };
    let network = arguments.fetch.then(|| Ok::<_, anyhow::Error>((limits, arguments.trust.for_fetching()?)));
    let fetch = Fetch::new(files, network.transpose()?);
    if source::is_url(shown) {
        // The document is checked before it is read as a contract. `fetch` caches it, so it is fetched only once.
        let bytes = fetch.read(shown).map_err(|error| anyhow::anyhow!("{shown} can't be read: {error}"))?;
        if source::kind_of(shown, &bytes)? != source::Kind::Contract {
            bail!("{shown} is an XML Schema, expected a WSDL");
        }
    }
    let recorder = Recorder::new(&fetch);
    let (definitions, mut diagnostics) = castile_wsdl::read(shown, &recorder);
    let is_defective = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    // As in other commands, defects become warnings if the rest of the contract can be used.
    if definitions.as_ref().is_some_and(Definitions::is_usable) {
        castile_wsdl::forgive(&mut diagnostics);
    }
    let mut bundle = definitions.and_then(|_| recorder.bundle(shown));
    if let Some(bundle) = &mut bundle {
        castile_dynamic::store_plan(bundle);
        let text = bundle.write();
        let documents = errors::counted(bundle.uris().len(), "document");
        if arguments.out.as_os_str() == "-" {
            output::text(&text);
        } else {
            outcome::write(&arguments.out, &text).map_err(outcome::incomplete)?;
            let out = arguments.out.display().to_string();
            out!("{}  {documents}, {}", visible(&out), kilobytes(text.len()));
        }
    }
    let missing = fetch.missing();
    let reported = problems::report(shown, &diagnostics, problems::min_severity(arguments.notes));
    if !missing.is_empty() {
        let style = errors::WARNING;
        let what = errors::counted(missing.len(), "imported document");
        note!("{style}warning{style:#}: the bundle lacks {what}");
        for location in &missing {
            note!("  {}", visible(location));
        }
        let may_be_fetched = !arguments.fetch && missing.iter().any(|location| source::is_url(location));
        let advice = match may_be_fetched {
            false => "--catalog FILE maps a location to a file",
            true => "--fetch fetches documents that have a URL; --catalog FILE maps a location to a file",
        };
        note!("  = note: {advice}");
    }
    if is_defective && bundle.is_some() && !missing.is_empty() {
        let error = reported.err().unwrap_or_else(|| anyhow!("the bundle lacks documents that the contract needs"));
        return Err(outcome::incomplete(error));
    }
    reported
}
