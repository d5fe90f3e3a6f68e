//! The contract of the codec payloads: what decoding and encoding cost, without a network.

/// The contract, generated.
pub mod contract {
    castile::include_contract!("codec");
}
