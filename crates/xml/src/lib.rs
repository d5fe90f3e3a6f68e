//! placeholder
pub mod tree;
