//! libxml2 and expat, called through a few lines of C, if `pkg-config` found their development packages at build time.

mod counts;

pub use counts::Counts;

/// A parser written in C. Returns `None` if the document is not well-formed or violates the rules of namespaces.
pub type Parser = fn(&[u8]) -> Option<Counts>;

/// Returns the name of each parser, and the parser if it is installed.
pub fn parsers() -> [(&'static str, Option<Parser>); 2] {
    #[allow(unused_mut, reason = "nothing is put in where neither is installed")]
    let mut parsers: [(&'static str, Option<Parser>); 2] = [("libxml2", None), ("expat", None)];
    #[cfg(libxml2)]
    (parsers[0].1 = Some(libxml2));
    #[cfg(expat)]
    (parsers[1].1 = Some(expat));
    parsers
}

unsafe extern "C" {
    #[cfg(libxml2)]
    fn compare_libxml2(document: *const u8, length: usize, counts: *mut Counts) -> i32;
    #[cfg(expat)]
    fn compare_expat(document: *const u8, length: usize, counts: *mut Counts) -> i32;
}

#[cfg(libxml2)]
fn libxml2(document: &[u8]) -> Option<Counts> {
    let mut counts = Counts::default();
    // SAFETY: both live through the call, and no pointer is retained after it.
    let failed = unsafe { compare_libxml2(document.as_ptr(), document.len(), &mut counts) };
    (failed == 0).then_some(counts)
}

#[cfg(expat)]
fn expat(document: &[u8]) -> Option<Counts> {
    let mut counts = Counts::default();
    // SAFETY: both live through the call; the parser that is retained belongs to this thread.
    let failed = unsafe { compare_expat(document.as_ptr(), document.len(), &mut counts) };
    (failed == 0).then_some(counts)
}
