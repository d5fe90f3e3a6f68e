//! The seismic service that JibxSoap was measured with in 2004: one operation, which finds earthquakes in a catalogue held in
//! memory. Its answers have from none to 20,000 elements with attributes, in three styles: as documents, in SOAP encoding, and
//! in a compact binary form.
//!
//! ```
//! use castile_suites::seismic::catalogue::{Catalogue, Query};
//!
//! let line = "2000-01-01 01:50:08 70 -7.679 123.604 59.6 2.5 MB 273 24\n";
//! let catalogue = Catalogue::read(line.as_bytes())?;
//! let found = catalogue.find(&Query::default());
//! assert_eq!((found[0].area, found[0].regions[0], found[0].quakes.len()), (24, 273, 1));
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod binary;
pub mod catalogue;
pub mod document;
pub mod encoded;
mod judge;
mod made;
pub mod queries;
pub mod regions;
mod time;

use std::sync::{Arc, LazyLock};

use catalogue::Catalogue;

/// The service in all its styles: it finds what is asked for in its catalogue.
#[derive(Clone, Debug, Default)]
pub struct Service(Option<Arc<Catalogue>>);

impl Service {
    /// A service of this catalogue. The default one makes up its own when it is first asked.
    pub fn of(catalogue: Catalogue) -> Self {
        Service(Some(Arc::new(catalogue)))
    }

    fn catalogue(&self) -> &Catalogue {
        static MADE: LazyLock<Catalogue> = LazyLock::new(made::catalogue);
        self.0.as_deref().unwrap_or_else(|| &MADE)
    }
}
