/// A text counts as one more for each 64 bytes, because it is copied wherever it is used.
pub(crate) const BYTES_OF_TEXT: usize = 64;

/// Limits on the resources that a contract may use.
///
/// The defaults are many times what the largest contracts in use need. They keep the cost of any contract of one
/// megabyte within seconds and some hundred megabytes.
///
/// If a contract exceeds a limit, a diagnostic names the limit, the actual count and the position, and the rest of the
/// contract is ignored. One limit is not in this struct: elements nest at most 512 deep, as in every XML document that
/// is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of documents, including imported ones.
    pub documents: usize,
    /// Maximum total size of all documents in bytes.
    pub document_bytes: usize,
    /// Maximum number of schemas. A document that is included into several namespaces counts once for each.
    pub schemas: usize,
    /// Maximum number of types, elements, attributes and groups; and, counted separately, of imports and includes. A
    /// document that is included into several namespaces counts its references for each of them, and one per 64 bytes
    /// for each further one.
    pub components: usize,
    /// Maximum number of derivation steps between a type and a built-in type, of lists and unions nested in one
    /// another, and of elements that substitute for one another in a chain.
    pub derivation: usize,
    /// Maximum size of a type: the number of its particles, attributes, facets and member types.
    ///
    /// Those of bases and groups count as often as they are used, and substitutable elements count too. Names, default
    /// and fixed values, facet values and documentation count one per 64 bytes.
    pub type_size: usize,
    /// Maximum total size of all types, counted like `type_size`. It also counts, for each element, the elements and
    /// types that can replace it.
    pub total_size: usize,
    /// Maximum nesting depth of types: an element whose type has an element whose type has an element, and so on. It
    /// limits what is generated.
    pub type_depth: usize,
    /// Maximum number of generated fields, variants, attributes, facets, operations, parts, header blocks and faults. A
    /// type counts as ten, a service as fifty.
    pub generated: usize,
    /// Maximum number of bytes shown of a contract, and of bytes generated for its names, values and documentation.
    pub output: usize,
    /// Maximum number of diagnostics stored for each severity. Further ones are only counted.
    pub diagnostics: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            documents: 10_000,
            document_bytes: 256 << 20,
            schemas: 20_000,
            components: 500_000,
            derivation: 200,
            type_size: 100_000,
            total_size: 2_000_000,
            type_depth: 2_000,
            generated: 150_000,
            output: 32_000_000,
            diagnostics: 1_000,
        }
    }
}
