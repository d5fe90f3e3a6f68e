use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

/// The nodes that an encoder has written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The number of each node by its address. The nodes are kept alive so that no address is reused.
    pub(super) ids: HashMap<usize, (usize, Arc<dyn Any + Send + Sync>)>,
}
