//! libxml2 and expat, called through a few lines of C, as far as their development packages were found by `pkg-config`
//! when this was built.

mod counts;

pub use counts::Counts;

/// A parser of C: `None` if the document is not well-formed, or not with its namespaces.
pub type Parser = fn(&[u8]) -> Option<Counts>;

/// The name of each parser, and the parser if it is here.
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
    // SAFETY: both live through the call, and nothing is kept behind it.
    let failed = unsafe { compare_libxml2(document.as_ptr(), document.len(), &mut counts) };
    (failed == 0).then_some(counts)
}

#[cfg(expat)]
fn expat(document: &[u8]) -> Option<Counts> {
    let mut counts = Counts::default();
    // SAFETY: both live through the call; the parser that is kept is this thread's own.
    let failed = unsafe { compare_expat(document.as_ptr(), document.len(), &mut counts) };
    (failed == 0).then_some(counts)
}
