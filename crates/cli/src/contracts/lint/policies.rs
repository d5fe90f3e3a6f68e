//! Rules for WS-SecurityPolicy: weak algorithms, and passwords without encryption.

use castile_wsdl::{Definitions, Extension};

use super::findings::Findings;
use super::rules;
use castile_wsdl::{Assertion, Policies};

pub(super) fn check(definitions: &Definitions, findings: &mut Findings<'_>) {
    let policies = Policies::of(definitions);
    for service in &definitions.services {
        for port in &service.ports {
            let binding = &definitions[port.binding];
            let port_type = &definitions[binding.port_type];
            let common = [&service.extensions, &port.extensions, &binding.extensions, &port_type.extensions];
            let asserted = assertions(&policies, &common);
            let address = port.address.as_deref().unwrap_or_default().trim();
            let is_https = address.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
            if !findings.spend(asserted.len() + binding.operations.len() + 1) {
                return;
            }
            suites(&asserted, findings);
            passwords(&asserted, is_https || is_protected(&asserted), findings);
            transport(&asserted, !address.is_empty() && !is_https, findings);
            timestamp(&asserted, findings);
            let mut whole = asserted.clone();
            for operation in &binding.operations {
                let messages = operation.input.iter().chain(&operation.output);
                let own: Vec<&Vec<Extension>> =
                    std::iter::once(&operation.extensions).chain(messages.map(|message| &message.extensions)).collect();
                let own = assertions(&policies, &own);
                if own.is_empty() {
                    continue;
                }
                if !findings.spend(own.len() + asserted.len()) {
                    return;
                }
                suites(&own, findings);
                passwords(&own, is_https || is_protected(&asserted) || is_protected(&own), findings);
                whole.extend(own);
            }
            encryption(&whole, findings);
        }
    }
    if policies.is_truncated() {
        findings.note_incomplete("the policies have too many references to follow");
    }
}

fn assertions(policies: &Policies<'_>, extensions: &[&Vec<Extension>]) -> Vec<Assertion> {
    let mut all: Vec<Assertion> = extensions.iter().flat_map(|one| policies.assertions(one)).collect();
    all.retain(|one| one.namespace.to_ascii_lowercase().contains("securitypolicy"));
    all
}

fn suites(asserted: &[Assertion], findings: &mut Findings<'_>) {
    for suite in asserted.iter().filter(|one| one.is_in("AlgorithmSuite")) {
        let name = suite.local();
        let base = name.trim_end_matches("Rsa15").trim_end_matches("Sha256");
        let is_suite = matches!(base, "Basic256" | "Basic192" | "Basic128" | "TripleDes");
        if !is_suite {
            continue;
        }
        if name.ends_with("Rsa15") {
            findings.add(&rules::RSA15, suite.location, format!("the suite is {name}"));
        }
        if base == "TripleDes" {
            findings.add(&rules::TRIPLE_DES, suite.location, format!("the suite is {name}"));
        }
        if !name.contains("Sha256") {
            findings.add(&rules::SHA1, suite.location, format!("the suite is {name}"));
        }
    }
}

/// Returns whether the transport encrypts the messages.
fn is_protected(asserted: &[Assertion]) -> bool {
    asserted.iter().any(|one| matches!(one.local(), "TransportBinding" | "HttpsToken"))
}

fn passwords(asserted: &[Assertion], is_protected: bool, findings: &mut Findings<'_>) {
    const ENCRYPTED: [&str; 4] = [
        "EncryptedSupportingTokens",
        "SignedEncryptedSupportingTokens",
        "EndorsingEncryptedSupportingTokens",
        "SignedEndorsingEncryptedSupportingTokens",
    ];
    for (index, token) in asserted.iter().enumerate().filter(|(_, one)| one.local() == "UsernameToken") {
        // Nested assertions follow their parent.
        let within = format!("{}/", token.path);
        let inner = asserted[index + 1..].iter().take_while(|one| one.path.starts_with(&within));
        let (mut has_none, mut has_digest) = (false, false);
        for one in inner {
            has_none |= one.local() == "NoPassword";
            has_digest |= one.local() == "HashPassword";
        }
        if has_digest {
            findings.add(&rules::DIGEST_PASSWORD, token.location, "a password is sent as a digest");
        } else if !has_none && !is_protected && !ENCRYPTED.iter().any(|outer| token.is_in(outer)) {
            findings.add(&rules::PLAIN_PASSWORD, token.location, "a password is sent as plain text, without TLS");
        }
    }
}

fn transport(asserted: &[Assertion], is_http: bool, findings: &mut Findings<'_>) {
    let required = |one: &&Assertion| one.local() == "TransportBinding" && !one.is_optional;
    if let Some(binding) = asserted.iter().find(required).filter(|_| is_http) {
        findings.add(
            &rules::TRANSPORT_HTTP,
            binding.location,
            "the policy asks for TLS, and a port has an http address",
        );
    }
}

fn timestamp(asserted: &[Assertion], findings: &mut Findings<'_>) {
    let has_timestamp = asserted.iter().any(|one| one.local() == "IncludeTimestamp");
    let is_signed = |one: &&Assertion| matches!(one.local(), "AsymmetricBinding" | "SymmetricBinding");
    if let Some(binding) = asserted.iter().find(is_signed).filter(|_| !has_timestamp) {
        findings.add(&rules::NO_TIMESTAMP, binding.location, format!("{} has no IncludeTimestamp", binding.local()));
    }
}

/// Checks for encryption without signatures. All operations of a port are taken together, because one may encrypt what another signs.
fn encryption(asserted: &[Assertion], findings: &mut Findings<'_>) {
    let is_signed = asserted.iter().any(|one| matches!(one.local(), "SignedParts" | "SignedElements"));
    let is_encrypted = |one: &&Assertion| matches!(one.local(), "EncryptedParts" | "EncryptedElements");
    if let Some(parts) = asserted.iter().find(is_encrypted).filter(|_| !is_signed) {
        findings.add(&rules::ENCRYPTED_UNSIGNED, parts.location, format!("{} without SignedParts", parts.local()));
    }
}
