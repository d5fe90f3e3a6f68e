//! The kinds of changes, with their names in text and in JSON.

macro_rules! kinds {
    ($($name:ident $title:literal;)*) => {
        $(pub(crate) const $name: &str = $title;)*

        /// All kinds.
        pub const ALL: &[&str] = &[$($title),*];
    };
}

kinds! {
    SERVICE_ADDED "service added";
    SERVICE_REMOVED "service removed";
    SERVICE_RENAMED "service renamed";
    PORT_ADDED "port added";
    PORT_REMOVED "port removed";
    PORT_RENAMED "port renamed";
    ADDRESS "address changed";
    PROTOCOL "protocol changed";
    SOAP_VERSION "SOAP version changed";
    TRANSPORT "transport changed";
    ADDRESSING "WS-Addressing policy changed";
    ASSERTION_ADDED "policy assertion added";
    ASSERTION_REMOVED "policy assertion removed";
    OPERATION_ADDED "operation added";
    OPERATION_REMOVED "operation removed";
    OPERATION_RENAMED "operation renamed";
    PATTERN "message exchange pattern changed";
    STYLE "style changed";
    USE "use changed";
    SOAP_ACTION "SOAPAction changed";
    ACTION "wsa:Action changed";
    HEADER_ADDED "header block added";
    HEADER_REMOVED "header block removed";
    HEADER "header block changed";
    FAULT_ADDED "fault added";
    FAULT_REMOVED "fault removed";
    ATTACHMENT_ADDED "attachment added";
    ATTACHMENT_REMOVED "attachment removed";
    BODY "body changed";
    WRAPPER_NAMESPACE "namespace of the wrapper changed";
    PART_ADDED "part added";
    PART_REMOVED "part removed";
    PART_ORDER "order of parts changed";
    NAMESPACE "namespace changed";
    TYPE "type changed";
    ABSTRACT "type became abstract";
    CONCRETE "type is no longer abstract";
    MIXED "text between elements allowed";
    NOT_MIXED "text between elements no longer allowed";
    DERIVED_ADDED "derived type added";
    DERIVED_REMOVED "derived type removed";
    ELEMENT_ADDED_REQUIRED "required element added";
    ELEMENT_ADDED "optional element added";
    ELEMENT_REMOVED "element removed";
    ELEMENT_RENAMED "element renamed";
    REQUIRED "became required";
    OPTIONAL "became optional";
    NARROWED "occurrence narrowed";
    WIDENED "occurrence widened";
    OCCURRENCE "occurrence changed";
    ORDER "order changed";
    ORDER_FREE "any order allowed";
    ORDER_FIXED "any order no longer allowed";
    GROUPING "grouping changed";
    NILLABLE "became nillable";
    NOT_NILLABLE "no longer nillable";
    DEFAULT "default changed";
    FIXED "fixed value changed";
    ABSTRACT_ELEMENT "element became abstract";
    CONCRETE_ELEMENT "element is no longer abstract";
    SUBSTITUTE_ADDED "substitution member added";
    SUBSTITUTE_REMOVED "substitution member removed";
    WILDCARD_ADDED "wildcard added";
    WILDCARD_REMOVED "wildcard removed";
    WILDCARD "wildcard changed";
    ATTRIBUTE_ADDED_REQUIRED "required attribute added";
    ATTRIBUTE_ADDED "optional attribute added";
    ATTRIBUTE_REMOVED "attribute removed";
    VALUE_ADDED "value of enumeration added";
    VALUE_REMOVED "value of enumeration removed";
    TIGHTENED "facet tightened";
    LOOSENED "facet loosened";
    PATTERN_FACET "pattern changed";
    MEMBER_ADDED "member of union added";
    MEMBER_REMOVED "member of union removed";
}
