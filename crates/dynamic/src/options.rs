//! The options for reading a contract.

use castile_plan::{FaultTypes, Options as PlanOptions};

/// Options for reading a contract.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Whether values are checked against the facets of their types when they are read, and values that are not in an
    /// enumeration are rejected. Structure and lexical spaces are always checked.
    pub facets: bool,
    /// The operations to include, by name, with the types that they use. An empty list means all operations.
    pub operations: Vec<String>,
    /// Types that are included although no operation refers to them, with all types derived from them. Names are local
    /// names or `{namespace}local`.
    pub types: Vec<String>,
    /// Whether any error in the contract rejects the whole contract. Without it, the parts with errors and everything
    /// that depends on them are left out.
    pub strict: bool,
    /// Whether to keep the documents, for [`Contract::definitions`](crate::Contract::definitions) and for servers that
    /// serve them (`?wsdl`). Without them a large bundle is opened in a quarter of the time.
    pub documents: bool,
    /// Whether services have a page for people, which servers with the feature `page` serve.
    pub page: bool,
}

impl Options {
    /// Returns the options of a plan that correspond to these.
    pub(crate) fn of_plan(&self) -> PlanOptions {
        let mut of_plan = PlanOptions::default();
        of_plan.facets = self.facets;
        of_plan.operations.clone_from(&self.operations);
        of_plan.types.clone_from(&self.types);
        of_plan.strict = self.strict;
        of_plan.faults = FaultTypes::All;
        of_plan
    }

    /// Returns true if a stored plan, which is made with default options, isn't sufficient for these options.
    pub(crate) fn needs_documents(&self) -> bool {
        let Options { facets, operations: _, types, strict, documents, page } = self;
        *facets || *strict || *documents || *page || !types.is_empty()
    }
}
