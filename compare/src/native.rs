//! libxml2 and expat, called through a few lines of C in `native/`.

use crate::counts::Counts;

unsafe extern "C" {
    #[cfg(libxml2)]
    fn compare_libxml2(document: *const u8, length: usize, counts: *mut Counts) -> i32;
    #[cfg(expat)]
    fn compare_expat(document: *const u8, length: usize, counts: *mut Counts) -> i32;
}

#[cfg(libxml2)]
pub fn libxml2(document: &[u8]) -> Result<Counts, String> {
    // SAFETY: both live through the call, and nothing is kept behind it.
    read(|counts| unsafe { compare_libxml2(document.as_ptr(), document.len(), counts) })
}

#[cfg(expat)]
pub fn expat(document: &[u8]) -> Result<Counts, String> {
    // SAFETY: as above; there is one thread, so its parser is used by one call at a time.
    read(|counts| unsafe { compare_expat(document.as_ptr(), document.len(), counts) })
}

#[cfg(any(libxml2, expat))]
fn read(call: impl FnOnce(&mut Counts) -> i32) -> Result<Counts, String> {
    let mut counts = Counts::default();
    match call(&mut counts) {
        0 => Ok(counts),
        _ => Err("the document is not well-formed".into()),
    }
}
