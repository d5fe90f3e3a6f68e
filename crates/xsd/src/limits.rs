/// A text counts as one more for each so many bytes: it is copied wherever it is used.
pub(crate) const BYTES_OF_TEXT: usize = 64;

/// What a contract may cost at most. The defaults are many times what the largest contracts in use need, and keep a
/// contract of a megabyte, however it is made, within seconds and some hundred megabytes.
///
/// A contract that goes beyond one gets a diagnostic that names the limit, what was found and where; what follows is left
/// out. One is no limit of this struct: elements nest 512 deep at most, as in every XML document that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How many documents a contract may have, those that it imports counted.
    pub documents: usize,
    /// How many bytes all documents may have together.
    pub document_bytes: usize,
    /// How many schemas a contract may have: a document that is included into several namespaces is one for each.
    pub schemas: usize,
    /// How many types, elements, attributes and groups there may be; and how many imports and includes, those of an included
    /// document once for each namespace. A document that is included into a further namespace counts one for each 64 bytes.
    pub components: usize,
    /// How many steps of derivation a type may be away from a built-in one, how many lists and unions may be made of one
    /// another, and how many elements may stand for one another in turn.
    pub derivation: usize,
    /// How many particles, attributes, facets and member types one type may have, those of its bases and groups counted
    /// as often as they are used, and with all elements that may stand for others. Names, default and fixed values, the
    /// values of facets and documentation count one for each 64 bytes.
    pub type_size: usize,
    /// How many particles, attributes, facets and member types all types have together, counted as `type_size` does. For
    /// each element it counts the elements and types that may stand in its place, too.
    pub total_size: usize,
    /// How many types may stand within one another: an element of a type that has an element of a type and so on. It
    /// limits what is generated.
    pub type_depth: usize,
    /// How many fields, variants, attributes, facets, operations, parts, header blocks and faults may be generated; a type
    /// counts as ten of them, a service as fifty.
    pub generated: usize,
    /// How many bytes may be shown of a contract, and how many bytes of its names, values and documentation may be generated.
    pub output: usize,
    /// How many diagnostics of each severity are kept; further ones are counted.
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
