//! A warm reader allocates nothing, neither when it tokenises nor when it recognises cached tags.
//!
//! Allocations of the whole process are counted. So there is no test harness, whose own thread allocates at any time.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use castile_xml::{CachedReader, Limits, Memory, Reader, SlotId, Token};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Returns a document with attributes, declarations, a value to be normalised, more attributes than are compared in
/// pairs, and a comment.
fn document(number: usize) -> String {
    let many: String = (0..20).map(|index| format!(" a{index}='{number}'")).collect();
    let items: String =
        (0..100).map(|index| format!("<n:item><n:i>{index}</n:i><s xmlns='urn:{index}' t='a\tb'/></n:item>")).collect();
    format!(
        "<?xml version='1.0'?><e:E xmlns:e='urn:e' xmlns:n='urn:n'><e:B>{items}<n:m{many}/><!-- {number} --></e:B></e:E>"
    )
}

fn main() {
    let documents: Vec<String> = (0..30).map(document).collect();
    let _profiler = dhat::Profiler::builder().testing().build();
    let mut memory = Memory::default();
    let mut warm = None;
    for (number, document) in documents.iter().enumerate() {
        tokenise(document, &mut memory);
        recognise(document, &mut memory);
        if number == 1 {
            warm = Some(dhat::HeapStats::get().total_blocks);
        }
    }
    let blocks = dhat::HeapStats::get().total_blocks;
    dhat::assert!(blocks > 0, "allocations are counted");
    dhat::assert_eq!(Some(blocks), warm, "blocks allocated after 30 documents and after 2");
}

fn tokenise(document: &str, memory: &mut Memory) {
    let mut reader = Reader::with_memory(document.as_bytes(), Limits::default(), memory).unwrap();
    let mut attributes = 0;
    while reader.next().unwrap() != Token::End {
        attributes += reader.attributes().count();
    }
    assert!(attributes > 100);
    *memory = reader.into_memory();
}

/// Reads as a decoder does, which knows the slots from a schema.
fn recognise(document: &str, memory: &mut Memory) {
    let slot = |index: u16| SlotId { index, owner: 1 + usize::from(index) };
    let mut reader = CachedReader::with_memory(document.as_bytes(), Limits::default(), memory).unwrap();
    if reader.cached_prologue().is_none() {
        let Ok(Token::StartTag(root)) = reader.next() else { panic!("no root element") };
        let Ok(Token::StartTag(body)) = reader.next() else { panic!("no body") };
        reader.cache_prologue(body, root.namespace);
    }
    reader.use_cached_tags();
    let mut depth = 0;
    while reader.depth() > 1 {
        if reader.cached_start(slot(0)) {
            depth += 1;
        } else if depth > 0 && reader.cached_end(slot(0)) {
            depth -= 1;
        } else {
            match reader.next().unwrap() {
                Token::StartTag(tag) if tag.name.local() == "item" => {
                    reader.cache_start(slot(0));
                    depth += 1;
                }
                Token::EndTag(name) if name.local() == "item" => {
                    reader.cache_end(slot(0), false);
                    depth -= 1;
                }
                _ => {}
            }
        }
    }
    if !reader.cached_epilogue() {
        reader.cache_epilogue(|reader| reader.next().and_then(|_| reader.next()).map(|_| ())).unwrap();
    }
    *memory = reader.into_memory();
}
