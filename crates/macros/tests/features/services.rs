//! Operations: versions of SOAP, styles, faults, header blocks.

use crate::prelude::*;

/// Features that are called, and have no messages in files.
pub(crate) const CALLED: &[&str] = &[];

pub(crate) mod binding_alone {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:binding_alone")]
    pub struct Value {
        a: i32,
    }

    echo!("urn:binding_alone");
}

pub(crate) mod both_versions {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:both_versions")]
    pub struct Value {
        a: i32,
    }

    echo!("urn:both_versions", echo(Value), #[soap(name = "withVersion")] of_version(Value));
}
