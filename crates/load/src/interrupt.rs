//! An early end of a bench.

use std::sync::Arc;

use tokio::sync::watch;

/// Ends a bench before its time, with what was measured by then: the run under way sends nothing more, and no other begins.
/// Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<watch::Sender<bool>>);

impl Interrupt {
    /// Ends the bench that has this, now or as soon as it runs.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Whether it is to end.
    pub fn came(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn wait(&self) {
        // The sender is here, so nothing can go wrong.
        let _ = self.0.subscribe().wait_for(|came| *came).await;
    }
}
