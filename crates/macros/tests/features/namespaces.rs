//! Elements and attributes of several namespaces, and of none.

use crate::prelude::*;

pub(crate) mod imports {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:imports")]
    pub struct Value {
        text: String,
    }

    echo!("urn:imports");
}
