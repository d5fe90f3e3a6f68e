//! The rules: what each means, and how to fix a violation. docs/lint.md contains the same text.

use castile_wsdl::Severity;

/// A rule.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The name for `--allow`. Rules of the Basic Profile have its numbers.
    pub(crate) id: &'static str,
    pub(crate) severity: Severity,
    /// What the rule requires, or the consequence of a violation.
    pub(crate) meaning: &'static str,
    /// How to fix a violation.
    pub(crate) mend: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $meaning:literal $mend:literal;)*) => {
        $(pub(super) static $name: Rule = Rule {
            id: $id, severity: Severity::$severity, meaning: $meaning, mend: $mend,
        };)*

        /// All rules of the lint.
        pub(super) static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    // The Basic Profile 1.1, by its sections.
    R2001 "R2001" Warning
        "wsdl:import imports WSDL documents only"
        "import a schema with xs:import in an xs:schema of wsdl:types";
    R2003 "R2003" Warning
        "xs:import stands in an xs:schema only"
        "put an xs:schema around it";
    R2005 "R2005" Warning
        "the namespace of a wsdl:import is the targetNamespace of the imported document"
        "write the targetNamespace of the imported document";
    R2007 "R2007" Warning
        "a wsdl:import has a location"
        "add the location, for no stack can guess it";
    R2010 "R2010" Warning
        "a schema document is encoded in UTF-8 or UTF-16"
        "save it in UTF-8";
    R2022 "R2022" Warning
        "wsdl:import elements precede all others of WSDL but wsdl:documentation"
        "move the import to the beginning";
    R2023 "R2023" Warning
        "wsdl:types precedes all others of WSDL but wsdl:documentation and wsdl:import"
        "move the types behind the imports";
    R2026 "R2026" Warning
        "no extension is required (wsdl:required); PHP refuses the contract: Unknown required WSDL extension"
        "leave out wsdl:required, or offer a second contract without the extension";
    R2101 "R2101" Warning
        "a part refers to an element or type of a namespace that the document defines or imports"
        "add an xs:import of that namespace to an xs:schema in wsdl:types";
    R2102 "R2102" Warning
        "a schema refers to components of its own namespace or of one that it imports"
        "add an xs:import of that namespace to the schema";
    R2105 "R2105" Warning
        "an xs:schema in wsdl:types has a targetNamespace, unless it holds nothing but imports"
        "add a targetNamespace";
    R2110 "R2110" Warning
        "no type is derived from soapenc:Array"
        "use a sequence with one repeated element, and literal use";
    R2111 "R2111" Warning
        "wsdl:arrayType is not used"
        "use a sequence with one repeated element, and literal use";
    R2112 "R2112" Note
        "no element is called ArrayOf…"
        "name the element after what it holds";
    R2201 "R2201" Warning
        "a soap:body of document style names at most one part; wsimport can't call the operation"
        "make one element of the parts";
    R2203 "R2203" Warning
        "the parts in a soap:body of rpc style have a type"
        "write type= at the part, or use document style";
    R2204 "R2204" Warning
        "the parts in a soap:body of document style have an element; wsimport can't call the operation, and others differ in the name of what they send"
        "declare an element of the type, and write element= at the part";
    R2205 "R2205" Warning
        "the parts of header blocks and faults have an element"
        "declare an element of the type, and write element= at the part";
    R2209 "R2209" Note
        "all parts of a message are bound to the body, a header block, a fault or an attachment"
        "bind the part, or take it out of the message";
    R2210 "R2210" Warning
        "without parts= at a soap:body of document style, the message has at most one part; wsimport can't call the operation"
        "make one element of the parts, or write parts= where the others are header blocks";
    R2303 "R2303" Warning
        "operations are one-way or request-response"
        "put the input first; let a service of the client take what the server begins";
    R2304 "R2304" Warning
        "the operations of a port type have different names; zeep keeps one of those that share a name, and wsimport refuses the contract"
        "rename the operations";
    R2305 "R2305" Warning
        "parameterOrder leaves out at most one part of the output, the return value"
        "name the other parts, or leave out parameterOrder";
    R2306 "R2306" Error
        "a part has a type or an element, not both"
        "write element= for document style, type= for rpc style";
    R2401 "R2401" Note
        "bindings are those of SOAP 1.1. Others are beyond the profile"
        "keep a port of SOAP 1.1 for clients that speak nothing else";
    R2701 "R2701" Warning
        "a soap:binding says its transport; zeep passes the binding over otherwise"
        "write transport=\"http://schemas.xmlsoap.org/soap/http\"";
    R2702 "R2702" Warning
        "the transport is HTTP, by the URI of SOAP 1.1; PHP knows no other"
        "write transport=\"http://schemas.xmlsoap.org/soap/http\"";
    R2705 "R2705" Warning
        "the operations of a binding have one style; wsimport passes the port over without -extension"
        "make a binding for each style";
    R2706 "R2706" Warning
        "use is literal in bodies and header blocks; wsimport refuses the contract otherwise"
        "write use=\"literal\"";
    R2710 "R2710" Warning
        "operations of a binding differ in what stands in the body; wsimport refuses the contract without -extension"
        "let the request of each have an element of its own";
    R2711 "R2711" Note
        "ports have different addresses"
        "give each port an address of its own";
    R2716 "R2716" Warning
        "document style has no namespace= at bodies, header blocks and faults"
        "leave out namespace=, for the element has its own";
    R2717 "R2717" Warning
        "a soap:body of rpc style has a namespace=, an absolute URI"
        "write namespace=, usually the targetNamespace";
    R2718 "R2718" Warning
        "a binding has the operations of its port type, all and no others; PHP refuses one that the port type lacks"
        "bind the operation, or take it out of the port type";
    R2720 "R2720" Error
        "a header block names its part; wsimport, zeep and PHP refuse the contract otherwise"
        "write part=";
    R2721 "R2721" Warning
        "a soap:fault has a name"
        "write the name of the wsdl:fault around it";
    R2723 "R2723" Warning
        "use is literal in faults"
        "write use=\"literal\"";
    R2726 "R2726" Warning
        "rpc style has no namespace= at header blocks and faults"
        "leave out namespace=, for the element has its own";
    R2749 "R2749" Warning
        "a header block names its part with part=, not parts="
        "write part=";
    R2754 "R2754" Warning
        "a soap:fault has the name of the wsdl:fault around it"
        "write the same name";
    R2803 "R2803" Warning
        "the namespace of a wsdl:import is an absolute URI"
        "write the targetNamespace of the imported document, an absolute URI";
    R4003 "R4003" Warning
        "a WSDL document is encoded in UTF-8 or UTF-16"
        "save it in UTF-8";

    // Constructs that other stacks have problems with.
    NO_SERVICE "no-service" Warning
        "without a wsdl:service nobody knows where to call; wsimport and PHP refuse the contract"
        "add a service with a port";
    NO_ADDRESS "no-address" Warning
        "a port has an address; PHP refuses the contract if the element is missing"
        "add a soap:address";
    SAME_NAME "same-name" Warning
        "messages, port types, bindings and services differ in their local names, in all documents; PHP refuses the contract otherwise (already defined)"
        "rename one of them";
    STRAY_TEXT "stray-text" Warning
        "text among the elements of WSDL: wsimport and PHP refuse the contract"
        "make a comment of it, or a wsdl:documentation";
    FAULT_ALONE "fault-alone" Warning
        "an operation with a fault and without an output: wsimport refuses the contract"
        "add an output, or take out the fault";
    LOCAL_ADDRESS "local-address" Note
        "clients elsewhere can't call an address of the machine itself"
        "write the address that clients know";
    REDEFINE "redefine" Warning
        "xs:redefine: zeep refuses the contract (No visitor defined), PHP takes the components as they were"
        "write the redefined components into a schema of their own";
    DATASET "dataset" Warning
        "a reference to xs:schema (a DataSet of .NET): wsimport refuses the contract (src-resolve.4.2), .NET Core makes ArrayOfXElement of it, and nobody knows what is sent"
        "declare the elements of the rows";
    XML_ATTRIBUTE "xml-attribute" Warning
        "a reference to xml:lang or another attribute of that namespace, whose schema the contract lacks: wsimport refuses it (undefined attribute), and zeep if there is no import"
        "import a copy of http://www.w3.org/2001/xml.xsd, with its schemaLocation";
    DTD "dtd" Warning
        "a DTD: wsimport refuses the contract (disallow-doctype-decl), and zeep if entities are declared (EntitiesForbidden)"
        "take out the DTD, and write the text in place of its entities";
    JAVA_CLASS "java-class" Warning
        "two declarations of a namespace become one Java class or one method of its ObjectFactory: wsimport and xjc refuse the schema"
        "rename one, or customize the binding with jaxb:class or jaxb:factoryMethod";
    JAVA_PROPERTY "java-property" Warning
        "two members of a type become one Java property: wsimport and xjc refuse the schema (Property is already defined)"
        "rename one, or customize the binding with jaxb:property";
    LARGE_ENUMERATION "large-enumeration" Note
        "an enumeration of more than 256 values: xjc makes a String of it, unless typesafeEnumMaxMembers says more"
        "raise typesafeEnumMaxMembers, or keep the values as data";
    NESTED_ARRAY "nested-array" Warning
        "a repeated element that holds nothing but one repeated element: svcutil and xsd.exe make an array of arrays of it with a wrong XmlArrayItem, which fails at run time"
        "add an optional attribute to the inner type, or correct typeof(T) to typeof(T[]) in what is generated";
    GROUP "group" Note
        "xs:group: versions of node-soap before August 2026 leave out what the group holds"
        "write the elements of the group where it is used";

    // Policies.
    RSA15 "rsa15" Warning
        "a suite with RSA PKCS #1 v1.5 for keys, which Bleichenbacher's attack recovers"
        "use a suite with RSA-OAEP: Basic256Sha256";
    TRIPLE_DES "triple-des" Warning
        "a suite with Triple DES, whose blocks of 64 bits collide (Sweet32)"
        "use Basic256Sha256";
    SHA1 "sha1" Warning
        "a suite with SHA-1 for digests, for which collisions are known"
        "use Basic256Sha256";
    PLAIN_PASSWORD "plain-password" Warning
        "a UsernameToken with a password as plain text, and neither TLS nor encryption asked for"
        "put it into a TransportBinding with an HttpsToken, or into EncryptedSupportingTokens";
    DIGEST_PASSWORD "digest-password" Note
        "a password digest is SHA-1, can be tried out by who sees it, and makes the server keep the password itself"
        "send the password over TLS, or use certificates";
    TRANSPORT_HTTP "transport-http" Warning
        "the policy asks for TLS, and the address is http"
        "write an https address";
    ENCRYPTED_UNSIGNED "encrypted-unsigned" Warning
        "what is encrypted is not signed: who changes the ciphertext can read it bit by bit (CBC)"
        "add SignedParts with the same parts";
    NO_TIMESTAMP "no-timestamp" Note
        "signed messages without a timestamp can be sent again"
        "add IncludeTimestamp";
    POLICY_REFERENCE "policy-reference" Warning
        "a wsp:PolicyReference names a policy that its document lacks, so nobody knows what it asks for"
        "add the policy, or take out the reference";

    // The lint itself.
    LIMIT "limit" Note
        "the contract is so large that not all of it was checked"
        "check parts of it by themselves";
}

/// The id of front end problems that no rule of XML Schema names.
pub(crate) const CONTRACT: &str = "contract";

/// The other ids of front end problems, which are names of XML Schema rules, with how to fix them. Problems with the id `contract` are of
/// many kinds, and their messages say what is expected.
pub(crate) const FRONT_END: &[(&str, Option<&str>)] = &[
    (CONTRACT, None),
    (
        "a-props-correct",
        Some("leave out the default, or the fixed value, or mend it so that it is a value of the type"),
    ),
    ("ag-props-correct", Some("keep one declaration of each attribute, and one attribute of type xs:ID")),
    ("au-props-correct", Some("give the attribute the fixed value of its declaration, or none")),
    ("c-fields-xpaths", Some("write a path of child steps that ends with an element or an attribute")),
    ("c-props-correct", Some("let the keyref have as many fields as the key that it refers to")),
    ("c-selector-xpath", Some("write a path of child steps, as p:order/p:item")),
    (
        "cos-all-limited",
        Some("use xs:sequence where an element may come more than once, or where the group stands in another one"),
    ),
    ("cos-aw-union", Some("leave out one of the attribute wildcards, or let both have one namespace constraint")),
    (
        "cos-ct-extends",
        Some("derive from a type that allows it, and extend its content rather than write another kind of content"),
    ),
    ("cos-element-consistent", Some("give elements of one name in one type the same type, or other names")),
    (
        "cos-nonambig",
        Some("rename one of the elements, leave out the wildcard, or put a required element between them"),
    ),
    ("cos-st-restricts", Some("restrict by facets that the base type has, and by values within its own")),
    ("cos-valid-default", Some("write a default that is a value of the type, or leave it out")),
    ("ct-props-correct", Some("keep one attribute of each name, and one of type xs:ID")),
    (
        "derivation-ok-restriction",
        Some("restrict to less than the base allows: no new elements, no more occurrences, no other types"),
    ),
    (
        "e-props-correct",
        Some(
            "leave out the value of an element of type ID, or let an element substitute one whose type its own is derived from",
        ),
    ),
    ("enumeration-required-notation", Some("list the notations in a restriction with xs:enumeration")),
    ("enumeration-valid-restriction", Some("list values of the base type only")),
    ("facet-fixed", Some("leave out the facet, for the base type has fixed it")),
    ("fractionDigits-totalDigits", Some("let fractionDigits be at most totalDigits")),
    ("fractionDigits-valid-restriction", Some("let fractionDigits be at most that of the base type")),
    ("length-minLength-maxLength", Some("use length by itself, or minLength and maxLength")),
    ("length-valid-restriction", Some("write the length of the base type, or leave it out")),
    ("maxExclusive-valid-restriction", Some("write a bound that lies within those of the base type")),
    ("maxInclusive-maxExclusive", Some("keep one of both bounds")),
    ("maxInclusive-valid-restriction", Some("write a bound that lies within those of the base type")),
    ("maxLength-valid-restriction", Some("let maxLength be at most that of the base type")),
    ("minExclusive-valid-restriction", Some("write a bound that lies within those of the base type")),
    ("minInclusive-minExclusive", Some("keep one of both bounds")),
    ("minInclusive-valid-restriction", Some("write a bound that lies within those of the base type")),
    ("minLength-less-than-equal-to-maxLength", Some("let minLength be at most maxLength")),
    ("minLength-valid-restriction", Some("let minLength be at least that of the base type")),
    ("no-xsi", Some("take out the declaration: the attributes of that namespace are known to every reader")),
    ("p-props-correct", Some("let minOccurs be at most maxOccurs")),
    ("sch-props-correct", Some("keep one declaration of each name")),
    ("schema-for-schemas", Some("write what XML Schema allows at this place")),
    ("src-attribute", Some("write name= or ref=, and not both; default= only where use is optional")),
    ("src-element", Some("write name= or ref=, and not both, and one type")),
    ("src-import", Some("write the targetNamespace of the imported document, another one than that of this schema")),
    ("src-list-itemType-or-simpleType", Some("write itemType= or an xs:simpleType, and not both")),
    ("src-qname", Some("declare the prefix, or write one that is declared")),
    ("src-resolve", Some("declare it, import the document that does, or mend the name")),
    ("src-simple-type", Some("write one of restriction, list and union, with one base")),
    ("totalDigits-valid-restriction", Some("let totalDigits be at most that of the base type")),
    (
        "whiteSpace-valid-restriction",
        Some("collapse or replace what the base type does, and preserve nothing that it doesn't"),
    ),
];

/// Returns how to fix a front end problem.
pub(super) fn mend_of_front_end(id: &str) -> Option<&'static str> {
    FRONT_END.iter().find(|(known, _)| *known == id).and_then(|(_, mend)| *mend)
}

/// Returns the rule with this id.
pub(crate) fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.id == id)
}
