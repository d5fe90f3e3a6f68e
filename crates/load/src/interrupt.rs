//! Ends a bench early.

use std::sync::Arc;

use tokio::sync::watch;

/// Ends a bench early, with what was measured until then. The current run sends nothing more, and no further run begins.
/// Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<watch::Sender<bool>>);

impl Interrupt {
    /// Ends the bench that has this interrupt, now or as soon as it starts.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Returns whether the bench is to end.
    pub fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn wait(&self) {
        // `self` holds the sender, so waiting can't fail.
        let _ = self.0.subscribe().wait_for(|came| *came).await;
    }
}
