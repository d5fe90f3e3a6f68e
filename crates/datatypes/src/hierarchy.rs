//! The derivation of the built-in types (XSD Part 2 §3).

/// Each built-in simple type with its base type.
const BASES: [(&str, &str); 45] = [
    ("anySimpleType", "anyType"),
    ("string", "anySimpleType"),
    ("boolean", "anySimpleType"),
    ("decimal", "anySimpleType"),
    ("float", "anySimpleType"),
    ("double", "anySimpleType"),
    ("duration", "anySimpleType"),
    ("dateTime", "anySimpleType"),
    ("time", "anySimpleType"),
    ("date", "anySimpleType"),
    ("gYearMonth", "anySimpleType"),
    ("gYear", "anySimpleType"),
    ("gMonthDay", "anySimpleType"),
    ("gDay", "anySimpleType"),
    ("gMonth", "anySimpleType"),
    ("hexBinary", "anySimpleType"),
    ("base64Binary", "anySimpleType"),
    ("anyURI", "anySimpleType"),
    ("QName", "anySimpleType"),
    ("NOTATION", "anySimpleType"),
    ("NMTOKENS", "anySimpleType"),
    ("IDREFS", "anySimpleType"),
    ("ENTITIES", "anySimpleType"),
    ("normalizedString", "string"),
    ("token", "normalizedString"),
    ("language", "token"),
    ("NMTOKEN", "token"),
    ("Name", "token"),
    ("NCName", "Name"),
    ("ID", "NCName"),
    ("IDREF", "NCName"),
    ("ENTITY", "NCName"),
    ("integer", "decimal"),
    ("nonPositiveInteger", "integer"),
    ("negativeInteger", "nonPositiveInteger"),
    ("long", "integer"),
    ("int", "long"),
    ("short", "int"),
    ("byte", "short"),
    ("nonNegativeInteger", "integer"),
    ("unsignedLong", "nonNegativeInteger"),
    ("unsignedInt", "unsignedLong"),
    ("unsignedShort", "unsignedInt"),
    ("unsignedByte", "unsignedShort"),
    ("positiveInteger", "nonNegativeInteger"),
];

/// Returns the local name of a built-in simple type's base. `None` if the type is not a built-in simple type.
pub fn base_of(name: &str) -> Option<&'static str> {
    BASES.iter().find(|(one, _)| *one == name).map(|(_, base)| *base)
}

/// Whether a built-in simple type is `from` or derived from it.
pub fn is_derived(name: &str, from: &str) -> bool {
    let Some(mut base) = base_of(name) else { return false };
    if name == from {
        return true;
    }
    while base != from {
        match base_of(base) {
            Some(next) => base = next,
            None => return false,
        }
    }
    true
}
