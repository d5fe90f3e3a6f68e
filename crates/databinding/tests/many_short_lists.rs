//! A vector reserves capacity after its first item. Many vectors with one item must not add up to much memory.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_xml::{Limits, Memory};
use common::{Tree, decode_with};

#[test]
fn memory_follows_the_size_of_the_document() {
    let document = format!("<root xmlns='urn:t'>{}</root>", "<n><n></n></n>".repeat(5_000));
    let (tree, memory) = decode_with::<Tree>(&document, Limits::default(), Memory::default()).unwrap();
    for tree in [tree, decode_with(&document, Limits::default(), memory).unwrap().0] {
        assert_eq!(tree.node.len(), 5_000);
        let lists = tree.node.iter().map(|node| node.node.capacity()).sum::<usize>() + tree.node.capacity();
        let bytes = lists * size_of_val(&tree.node[0]);
        assert!(bytes < 16 * document.len(), "{bytes} bytes for a document of {}", document.len());
    }
}
