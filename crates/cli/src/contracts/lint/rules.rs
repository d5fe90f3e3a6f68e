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
        "xs:import is allowed in an xs:schema only"
        "put an xs:schema around it";
    R2005 "R2005" Warning
        "the namespace of a wsdl:import is the targetNamespace of the imported document"
        "write the targetNamespace of the imported document";
    R2007 "R2007" Warning
        "a wsdl:import has a location"
        "add the location; no stack can guess it";
    R2010 "R2010" Warning
        "a schema document is encoded in UTF-8 or UTF-16"
        "save it in UTF-8";
    R2022 "R2022" Warning
        "wsdl:import elements precede all other WSDL elements except wsdl:documentation"
        "move the import to the beginning";
    R2023 "R2023" Warning
        "wsdl:types precedes all other WSDL elements except wsdl:documentation and wsdl:import"
        "move the types after the imports";
    R2026 "R2026" Warning
        "no extension is required (wsdl:required); PHP rejects the contract: Unknown required WSDL extension"
        "remove wsdl:required, or offer a second contract without the extension";
    R2101 "R2101" Warning
        "a part refers to an element or type of a namespace that the document defines or imports"
        "add an xs:import of that namespace to an xs:schema in wsdl:types";
    R2102 "R2102" Warning
        "a schema refers to components of its own namespace or of one that it imports"
        "add an xs:import of that namespace to the schema";
    R2105 "R2105" Warning
        "an xs:schema in wsdl:types has a targetNamespace, unless it contains only imports"
        "add a targetNamespace";
    R2110 "R2110" Warning
        "no type is derived from soapenc:Array"
        "use a sequence with one repeated element, and literal use";
    R2111 "R2111" Warning
        "wsdl:arrayType is not used"
        "use a sequence with one repeated element, and literal use";
    R2112 "R2112" Note
        "no element has a name that begins with ArrayOf"
        "name the element after its content";
    R2201 "R2201" Warning
        "a soap:body of document style names at most one part; wsimport can't call the operation"
        "make one element of the parts";
    R2203 "R2203" Warning
        "the parts in a soap:body of rpc style have a type"
        "write type= at the part, or use document style";
    R2204 "R2204" Warning
        "the parts in a soap:body of document style have an element; wsimport can't call the operation, and other \
         stacks send different element names"
        "declare an element of the type, and write element= at the part";
    R2205 "R2205" Warning
        "the parts of header blocks and faults have an element"
        "declare an element of the type, and write element= at the part";
    R2209 "R2209" Note
        "all parts of a message are bound to the body, a header block, a fault or an attachment"
        "bind the part, or remove it from the message";
    R2210 "R2210" Warning
        "without parts= at a soap:body of document style, the message has at most one part; wsimport can't call the operation"
        "make one element of the parts, or write parts= where the others are header blocks";
    R2303 "R2303" Warning
        "operations are one-way or request-response"
        "put the input first; for messages that the server starts, define a service that the client offers";
    R2304 "R2304" Warning
        "the operations of a port type have different names; zeep keeps only one operation of each name, and wsimport \
         rejects the contract"
        "rename the operations";
    R2305 "R2305" Warning
        "parameterOrder leaves out at most one part of the output, the return value"
        "name the other parts, or remove parameterOrder";
    R2306 "R2306" Error
        "a part has a type or an element, not both"
        "write element= for document style, type= for rpc style";
    R2401 "R2401" Note
        "bindings are SOAP 1.1 bindings; the profile doesn't cover others"
        "keep a SOAP 1.1 port for clients that support nothing else";
    R2701 "R2701" Warning
        "a soap:binding has a transport; otherwise zeep ignores the binding"
        "write transport=\"http://schemas.xmlsoap.org/soap/http\"";
    R2702 "R2702" Warning
        "the transport is HTTP, with the URI of SOAP 1.1; PHP supports no other"
        "write transport=\"http://schemas.xmlsoap.org/soap/http\"";
    R2705 "R2705" Warning
        "the operations of a binding have the same style; without -extension, wsimport ignores the port"
        "make a binding for each style";
    R2706 "R2706" Warning
        "use is literal in bodies and header blocks; otherwise wsimport rejects the contract"
        "write use=\"literal\"";
    R2710 "R2710" Warning
        "the operations of a binding have different body content; without -extension, wsimport rejects the contract"
        "give the request of each operation its own element";
    R2711 "R2711" Note
        "ports have different addresses"
        "give each port its own address";
    R2716 "R2716" Warning
        "document style has no namespace= at bodies, header blocks and faults"
        "remove namespace=; the element has its own namespace";
    R2717 "R2717" Warning
        "a soap:body of rpc style has a namespace=, an absolute URI"
        "write namespace=, usually the targetNamespace";
    R2718 "R2718" Warning
        "a binding has exactly the operations of its port type; PHP rejects a binding with an operation that the port \
         type lacks"
        "bind the operation, or remove it from the port type";
    R2720 "R2720" Error
        "a header block names its part; otherwise wsimport, zeep and PHP reject the contract"
        "write part=";
    R2721 "R2721" Warning
        "a soap:fault has a name"
        "write the name of the wsdl:fault around it";
    R2723 "R2723" Warning
        "use is literal in faults"
        "write use=\"literal\"";
    R2726 "R2726" Warning
        "rpc style has no namespace= at header blocks and faults"
        "remove namespace=; the element has its own namespace";
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
        "without a wsdl:service, clients don't know the address; wsimport and PHP reject the contract"
        "add a service with a port";
    NO_ADDRESS "no-address" Warning
        "a port has an address; PHP rejects the contract if the element is missing"
        "add a soap:address";
    SAME_NAME "same-name" Warning
        "messages, port types, bindings and services have different local names, in all documents; otherwise PHP \
         rejects the contract (already defined)"
        "rename one of them";
    STRAY_TEXT "stray-text" Warning
        "text between WSDL elements: wsimport and PHP reject the contract"
        "change it to a comment or a wsdl:documentation";
    FAULT_ALONE "fault-alone" Warning
        "an operation with a fault and without an output: wsimport rejects the contract"
        "add an output, or remove the fault";
    LOCAL_ADDRESS "local-address" Note
        "only clients on the same machine can call a local address"
        "write the address that clients use";
    REDEFINE "redefine" Warning
        "xs:redefine: zeep rejects the contract (No visitor defined), PHP uses the components without the redefinition"
        "write the redefined components into a separate schema";
    DATASET "dataset" Warning
        "a reference to xs:schema (a .NET DataSet): wsimport rejects the contract (src-resolve.4.2), .NET Core \
         generates ArrayOfXElement, and the content of the messages is not declared"
        "declare the elements of the rows";
    XML_ATTRIBUTE "xml-attribute" Warning
        "a reference to xml:lang or another attribute of that namespace, whose schema the contract lacks: wsimport \
         rejects the contract (undefined attribute), and so does zeep if there is no import"
        "import a copy of http://www.w3.org/2001/xml.xsd, with its schemaLocation";
    DTD "dtd" Warning
        "a DTD: wsimport rejects the contract (disallow-doctype-decl), and so does zeep if entities are declared \
         (EntitiesForbidden)"
        "remove the DTD, and replace its entities by their text";
    JAVA_CLASS "java-class" Warning
        "two declarations of a namespace get the same Java class or ObjectFactory method: wsimport and xjc reject the \
         schema"
        "rename one, or customize the binding with jaxb:class or jaxb:factoryMethod";
    JAVA_PROPERTY "java-property" Warning
        "two members of a type get the same Java property: wsimport and xjc reject the schema (Property is already \
         defined)"
        "rename one, or customize the binding with jaxb:property";
    LARGE_ENUMERATION "large-enumeration" Note
        "an enumeration with more than 256 values: xjc generates a String, unless typesafeEnumMaxMembers is raised"
        "raise typesafeEnumMaxMembers, or store the values as data";
    NESTED_ARRAY "nested-array" Warning
        "a repeated element that contains only one repeated element: svcutil and xsd.exe generate an array of arrays \
         with a wrong XmlArrayItem, which fails at run time"
        "add an optional attribute to the inner type, or change typeof(T) to typeof(T[]) in the generated code";
    GROUP "group" Note
        "xs:group: versions of node-soap before August 2026 omit the content of the group"
        "write the elements of the group where it is used";

    // Policies.
    RSA15 "rsa15" Warning
        "a suite with RSA PKCS #1 v1.5 key transport, which Bleichenbacher's attack breaks"
        "use a suite with RSA-OAEP: Basic256Sha256";
    TRIPLE_DES "triple-des" Warning
        "a suite with Triple DES, whose 64-bit blocks collide (Sweet32)"
        "use Basic256Sha256";
    SHA1 "sha1" Warning
        "a suite with SHA-1 digests, for which collisions are known"
        "use Basic256Sha256";
    PLAIN_PASSWORD "plain-password" Warning
        "a UsernameToken with a plain-text password, and the policy requires neither TLS nor encryption"
        "put it into a TransportBinding with an HttpsToken, or into EncryptedSupportingTokens";
    DIGEST_PASSWORD "digest-password" Note
        "a password digest uses SHA-1, allows an eavesdropper to guess passwords, and requires the server to store \
         the password itself"
        "send the password over TLS, or use certificates";
    TRANSPORT_HTTP "transport-http" Warning
        "the policy requires TLS, but the address is http"
        "write an https address";
    ENCRYPTED_UNSIGNED "encrypted-unsigned" Warning
        "encrypted parts are not signed: an attacker who changes the ciphertext can decrypt it (CBC)"
        "add SignedParts with the same parts";
    NO_TIMESTAMP "no-timestamp" Note
        "signed messages without a timestamp can be replayed"
        "add IncludeTimestamp";
    POLICY_REFERENCE "policy-reference" Warning
        "a wsp:PolicyReference refers to a policy that its document lacks, so the requirements are unknown"
        "add the policy, or remove the reference";

    // The lint itself.
    LIMIT "limit" Note
        "the contract is so large that not all of it was checked"
        "check parts of it separately";
}

/// The id of front end problems that no rule of XML Schema names.
pub(crate) const CONTRACT: &str = "contract";

/// The other ids of front end problems, which are names of XML Schema rules, with how to fix them. Problems with the id `contract` are of
/// many kinds, and their messages say what is expected.
pub(crate) const FRONT_END: &[(&str, Option<&str>)] = &[
    (CONTRACT, None),
    ("a-props-correct", Some("remove the default or fixed value, or change it to a value of the type")),
    ("ag-props-correct", Some("keep one declaration of each attribute, and one attribute of type xs:ID")),
    ("au-props-correct", Some("give the attribute the fixed value of its declaration, or none")),
    ("c-fields-xpaths", Some("write a path of child steps that ends with an element or an attribute")),
    ("c-props-correct", Some("give the keyref as many fields as the key that it refers to")),
    ("c-selector-xpath", Some("write a path of child steps, such as p:order/p:item")),
    (
        "cos-all-limited",
        Some("use xs:sequence if an element may occur more than once, or if the group is in another one"),
    ),
    ("cos-aw-union", Some("remove one of the attribute wildcards, or give both the same namespace constraint")),
    (
        "cos-ct-extends",
        Some("derive from a type that allows it, and extend its content instead of writing another kind of content"),
    ),
    ("cos-element-consistent", Some("give elements with the same name in a type the same type, or different names")),
    ("cos-nonambig", Some("rename one of the elements, remove the wildcard, or put a required element between them")),
    (
        "cos-st-restricts",
        Some("restrict with facets that the base type allows, and with values within those of the base type"),
    ),
    ("cos-valid-default", Some("write a default that is a value of the type, or remove it")),
    ("ct-props-correct", Some("keep one attribute of each name, and one of type xs:ID")),
    (
        "derivation-ok-restriction",
        Some("restrict to a subset of what the base allows: no new elements, no more occurrences, no other types"),
    ),
    (
        "e-props-correct",
        Some(
            "remove the value of an element of type ID, or let an element substitute only one from whose type its own \
             type is derived",
        ),
    ),
    ("enumeration-required-notation", Some("list the notations in a restriction with xs:enumeration")),
    ("enumeration-valid-restriction", Some("list values of the base type only")),
    ("facet-fixed", Some("remove the facet; the base type has fixed it")),
    ("fractionDigits-totalDigits", Some("make fractionDigits at most totalDigits")),
    ("fractionDigits-valid-restriction", Some("make fractionDigits at most that of the base type")),
    ("length-minLength-maxLength", Some("use either length, or minLength and maxLength")),
    ("length-valid-restriction", Some("write the length of the base type, or remove it")),
    ("maxExclusive-valid-restriction", Some("write a bound within those of the base type")),
    ("maxInclusive-maxExclusive", Some("keep one of the two bounds")),
    ("maxInclusive-valid-restriction", Some("write a bound within those of the base type")),
    ("maxLength-valid-restriction", Some("make maxLength at most that of the base type")),
    ("minExclusive-valid-restriction", Some("write a bound within those of the base type")),
    ("minInclusive-minExclusive", Some("keep one of the two bounds")),
    ("minInclusive-valid-restriction", Some("write a bound within those of the base type")),
    ("minLength-less-than-equal-to-maxLength", Some("make minLength at most maxLength")),
    ("minLength-valid-restriction", Some("make minLength at least that of the base type")),
    ("no-xsi", Some("remove the declaration: every reader knows the attributes of that namespace")),
    ("p-props-correct", Some("make minOccurs at most maxOccurs")),
    ("sch-props-correct", Some("keep one declaration of each name")),
    ("schema-for-schemas", Some("write an element or attribute that XML Schema allows here")),
    ("src-attribute", Some("write name= or ref=, and not both; default= only where use is optional")),
    ("src-element", Some("write name= or ref=, and not both, and one type")),
    (
        "src-import",
        Some("write the targetNamespace of the imported document, which must differ from that of this schema"),
    ),
    ("src-list-itemType-or-simpleType", Some("write itemType= or an xs:simpleType, and not both")),
    ("src-qname", Some("declare the prefix, or write one that is declared")),
    ("src-resolve", Some("declare it, import the document that declares it, or correct the name")),
    ("src-simple-type", Some("write one of restriction, list and union, with one base")),
    ("totalDigits-valid-restriction", Some("make totalDigits at most that of the base type")),
    (
        "whiteSpace-valid-restriction",
        Some("use the whiteSpace value of the base type or a stricter one: preserve, then replace, then collapse"),
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
