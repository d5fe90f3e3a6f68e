//! Contracts that are designed to be expensive: a table of shapes, each available in any size.
//!
//! A shape of size `n` has about `n` declarations. `contract` makes a WSDL document of it, `schema` a schema document.

use std::fmt::Write;

/// A kind of expensive contract.
pub struct Shape {
    pub name: &'static str,
    /// The children of `<schema>`. The element `t:r`, if there is one, is the input of the operation.
    pub schema: fn(usize) -> String,
    /// The parts of the WSDL besides the operation: messages, port types, bindings, services.
    pub wsdl: fn(usize) -> String,
    /// The text before the document element.
    pub prolog: fn(usize) -> String,
}

const fn schema(name: &'static str, schema: fn(usize) -> String) -> Shape {
    Shape { name, schema, wsdl: none, prolog: none }
}

const fn wsdl(name: &'static str, wsdl: fn(usize) -> String) -> Shape {
    Shape { name, schema: root_only, wsdl, prolog: none }
}

fn none(_: usize) -> String {
    String::new()
}

const ROOT: &str = "<xs:element name='r' type='xs:string'/>";

fn root_only(_: usize) -> String {
    ROOT.to_owned()
}

/// Repeats `text` for each number below `n`. `#` is replaced by the number, and `@` by the previous number.
fn each(n: usize, text: &str) -> String {
    numbered(0..n, text)
}

/// Repeats `text` for each number from 1 to below `n`. `#` is replaced by the number, and `@` by the previous number,
/// to refer to the previous declaration.
fn chain(n: usize, text: &str) -> String {
    numbered(1..n, text)
}

fn numbered(numbers: std::ops::Range<usize>, text: &str) -> String {
    let mut out = String::new();
    for number in numbers {
        let before = number.saturating_sub(1);
        for part in text.split_inclusive(['#', '@']) {
            // Writing to a string can't fail.
            let _ = match part.as_bytes().last() {
                Some(b'#') => write!(out, "{}{number}", &part[..part.len() - 1]),
                Some(b'@') => write!(out, "{}{before}", &part[..part.len() - 1]),
                _ => write!(out, "{part}"),
            };
        }
    }
    out
}

/// An element `r` with the last of `n` types `t:T`.
fn root_of_last(n: usize) -> String {
    format!("<xs:element name='r' type='t:T{}'/>", n - 1)
}

fn nested(n: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(n), close.repeat(n))
}

fn complex(content: &str) -> String {
    format!("<xs:element name='r'><xs:complexType>{content}</xs:complexType></xs:element>")
}

/// All shapes.
pub const SHAPES: &[Shape] = &[
    // ---- types ----
    schema("types_in_a_chain", |n| {
        let first = "<xs:complexType name='T0'><xs:sequence><xs:element name='e' type='xs:int'/></xs:sequence></xs:complexType>";
        let next =
            "<xs:complexType name='T#'><xs:sequence><xs:element name='e' type='t:T@'/></xs:sequence></xs:complexType>";
        first.to_owned() + &chain(n, next) + &root_of_last(n)
    }),
    schema("types_that_refer_to_all", |n| {
        // About √n types, each with elements of all these types.
        let side = n.isqrt().max(2);
        let elements = each(side, "<xs:element name='e#' type='t:T#' minOccurs='0'/>");
        let types = each(side, "<xs:complexType name='T#'><xs:sequence>!</xs:sequence></xs:complexType>");
        types.replace('!', &elements) + &root_of_last(side)
    }),
    schema("extensions_in_a_chain", |n| {
        let first = "<xs:complexType name='T0'><xs:sequence><xs:element name='e' type='xs:int'/></xs:sequence></xs:complexType>";
        let next = "<xs:complexType name='T#'><xs:complexContent><xs:extension base='t:T@'><xs:sequence><xs:element name='e#' type='xs:int'/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>";
        first.to_owned() + &chain(n, next) + &root_of_last(n)
    }),
    schema("extensions_of_the_first", |n| {
        let first = "<xs:complexType name='T0'><xs:sequence><xs:element name='e' type='xs:int'/></xs:sequence></xs:complexType>";
        let next = "<xs:complexType name='T#'><xs:complexContent><xs:extension base='t:T@'/></xs:complexContent></xs:complexType>";
        first.to_owned() + &chain(n, next) + "<xs:element name='r' type='t:T0'/>"
    }),
    schema("extensions_used_each", |n| {
        let first = "<xs:complexType name='T0'><xs:sequence><xs:element name='e' type='xs:int'/></xs:sequence></xs:complexType>";
        let next = "<xs:complexType name='T#'><xs:complexContent><xs:extension base='t:T@'/></xs:complexContent></xs:complexType>";
        first.to_owned()
            + &chain(n, next)
            + &complex(&format!("<xs:sequence>{}</xs:sequence>", each(n, "<xs:element name='e#' type='t:T#'/>")))
    }),
    schema("extensions_with_attributes", |n| {
        let first = "<xs:complexType name='T0'/>";
        let next = "<xs:complexType name='T#'><xs:complexContent><xs:extension base='t:T@'><xs:attribute name='a#'/></xs:extension></xs:complexContent></xs:complexType>";
        first.to_owned() + &chain(n, next) + &root_of_last(n)
    }),
    schema("restrictions_in_a_chain", |n| {
        let first = "<xs:complexType name='T0'><xs:sequence><xs:element name='e' type='xs:int'/></xs:sequence></xs:complexType>";
        let next = "<xs:complexType name='T#'><xs:complexContent><xs:restriction base='t:T@'><xs:sequence><xs:element name='e' type='xs:int'/></xs:sequence></xs:restriction></xs:complexContent></xs:complexType>";
        first.to_owned() + &chain(n, next) + &root_of_last(n)
    }),
    schema("derived_types_of_one", |n| {
        let first = "<xs:complexType name='T'><xs:sequence><xs:element name='e' type='t:T' minOccurs='0'/></xs:sequence></xs:complexType>";
        let more = "<xs:complexType name='T#'><xs:complexContent><xs:extension base='t:T'/></xs:complexContent></xs:complexType>";
        first.to_owned() + &each(n, more) + "<xs:element name='r' type='t:T'/>"
    }),
    schema("anonymous_types_in_one_another", |n| {
        let n = n.min(160);
        nested(
            n,
            "<xs:element name='r'><xs:complexType><xs:sequence>",
            "<xs:element name='e'/>",
            "</xs:sequence></xs:complexType></xs:element>",
        )
    }),
    // ---- simple types ----
    schema("simple_types_in_a_chain", |n| {
        let first = "<xs:simpleType name='T0'><xs:restriction base='xs:string'/></xs:simpleType>";
        let next = "<xs:simpleType name='T#'><xs:restriction base='t:T@'><xs:maxLength value='9'/></xs:restriction></xs:simpleType>";
        first.to_owned() + &chain(n, next) + &root_of_last(n)
    }),
    schema("patterns_in_a_chain", |n| {
        let first = "<xs:simpleType name='T0'><xs:restriction base='xs:string'/></xs:simpleType>";
        let next = "<xs:simpleType name='T#'><xs:restriction base='t:T@'><xs:pattern value='a*#'/></xs:restriction></xs:simpleType>";
        first.to_owned() + &chain(n, next) + &root_of_last(n)
    }),
    schema("enumerations_in_a_chain", |n| {
        let side = n.isqrt().max(2);
        let values = each(side, "<xs:enumeration value='v#'/>");
        let first = format!(
            "<xs:simpleType name='T0'><xs:restriction base='xs:string'>{values}</xs:restriction></xs:simpleType>"
        );
        let next = "<xs:simpleType name='T#'><xs:restriction base='t:T@'>!</xs:restriction></xs:simpleType>";
        first + &chain(side, next).replace('!', &values) + &root_of_last(side)
    }),
    schema("enumeration_restricted_often", |n| {
        let values = each(n, "<xs:enumeration value='v#'/>");
        let first = format!(
            "<xs:simpleType name='T0'><xs:restriction base='xs:string'>{values}</xs:restriction></xs:simpleType>"
        );
        let next = "<xs:simpleType name='T#'><xs:restriction base='t:T@'><xs:minLength value='1'/></xs:restriction></xs:simpleType>";
        let elements = each(n, "<xs:element name='e#' type='t:T#'/>");
        first + &chain(n, next) + &complex(&format!("<xs:sequence>{elements}</xs:sequence>"))
    }),
    schema("a_large_enumeration", |n| {
        let values = each(n, "<xs:enumeration value='v#'/>");
        format!(
            "<xs:element name='r'><xs:simpleType><xs:restriction base='xs:string'>{values}</xs:restriction></xs:simpleType></xs:element>"
        )
    }),
    schema("an_enumeration_of_one_name", |n| {
        let values: String =
            (0..n).map(|number| format!("<xs:enumeration value='a{}'/>", "-".repeat(number % 500))).collect();
        format!(
            "<xs:element name='r'><xs:simpleType><xs:restriction base='xs:string'>{values}</xs:restriction></xs:simpleType></xs:element>"
        )
    }),
    schema("unions_of_two_alike", |n| {
        let first = "<xs:simpleType name='T0'><xs:restriction base='xs:int'/></xs:simpleType>";
        let next = "<xs:simpleType name='T#'><xs:union memberTypes='t:T@ t:T@'/></xs:simpleType>";
        first.to_owned() + &chain(n, next) + &root_of_last(n)
    }),
    schema("unions_of_two", |n| {
        let first = "<xs:simpleType name='A0'><xs:restriction base='xs:int'/></xs:simpleType><xs:simpleType name='T0'><xs:restriction base='xs:date'/></xs:simpleType>";
        let mut out = first.to_owned();
        for (number, before) in (1..n).zip(0..) {
            for name in ["A", "T"] {
                let _ = write!(
                    out,
                    "<xs:simpleType name='{name}{number}'><xs:union memberTypes='t:A{before} t:T{before}'/></xs:simpleType>"
                );
            }
        }
        out + &root_of_last(n)
    }),
    schema("unions_with_facets", |n| {
        let first = "<xs:simpleType name='T0'><xs:restriction base='xs:int'/></xs:simpleType>";
        let next = "<xs:simpleType name='T#'><xs:restriction><xs:simpleType><xs:union memberTypes='t:T@ t:T@'/></xs:simpleType><xs:pattern value='[0-9]*'/></xs:restriction></xs:simpleType>";
        first.to_owned() + &chain(n, next) + &root_of_last(n)
    }),
    schema("lists_of_unions", |n| {
        let first = "<xs:simpleType name='T0'><xs:restriction base='xs:int'/></xs:simpleType>";
        let next = "<xs:simpleType name='T#'><xs:union memberTypes='t:T@ xs:date'><xs:simpleType><xs:list itemType='t:T@'/></xs:simpleType></xs:union></xs:simpleType>";
        first.to_owned() + &chain(n, next) + &root_of_last(n)
    }),
    schema("a_union_of_many", |n| {
        let members = each(n, "t:T# ");
        each(
            n,
            "<xs:simpleType name='T#'><xs:restriction base='xs:int'><xs:maxInclusive value='#'/></xs:restriction></xs:simpleType>",
        ) + &format!(
            "<xs:element name='r'><xs:simpleType><xs:union memberTypes='{members}'/></xs:simpleType></xs:element>"
        )
    }),
    schema("unions_of_enumerations", |n| {
        let members = each(n, "t:T# ");
        each(
            n,
            "<xs:simpleType name='T#'><xs:restriction base='xs:string'><xs:enumeration value='v#'/></xs:restriction></xs:simpleType>",
        ) + &format!(
            "<xs:element name='r'><xs:simpleType><xs:union memberTypes='{members}'/></xs:simpleType></xs:element>"
        )
    }),
    schema("anonymous_simple_types_in_one_another", |n| {
        let n = n.min(160);
        let types = nested(
            n,
            "<xs:simpleType><xs:restriction>",
            "<xs:simpleType><xs:restriction base='xs:int'/></xs:simpleType>",
            "</xs:restriction></xs:simpleType>",
        );
        format!("<xs:element name='r'>{types}</xs:element>")
    }),
    schema("anonymous_simple_types_beside_each_other", |n| {
        let each = each(
            n,
            "<xs:element name='e#'><xs:simpleType><xs:restriction base='xs:string'><xs:maxLength value='9'/>\
             </xs:restriction></xs:simpleType></xs:element>",
        );
        complex(&format!("<xs:sequence>{each}</xs:sequence>"))
    }),
    schema("patterns_that_repeat", |n| {
        let pattern = nested(n.ilog2() as usize, "(", "a", "{100}){100}");
        format!(
            "<xs:element name='r'><xs:simpleType><xs:restriction base='xs:string'><xs:pattern value='{pattern}'/></xs:restriction></xs:simpleType></xs:element>"
        )
    }),
    schema("patterns_with_large_counts", |n| {
        let types = each(
            n,
            "<xs:simpleType name='T#'><xs:restriction base='xs:string'><xs:pattern value='(\\p{L}{1,999}){#}'/></xs:restriction></xs:simpleType>",
        );
        let elements = each(n, "<xs:element name='e#' type='t:T#'/>");
        types + &complex(&format!("<xs:sequence>{elements}</xs:sequence>"))
    }),
    schema("patterns_that_repeat_classes_in_brackets", |n| {
        let types = each(
            n,
            "<xs:simpleType name='T#'><xs:restriction base='xs:string'><xs:pattern value='[\\p{L}-[\\p{Lu}]]{0,30#}'/></xs:restriction></xs:simpleType>",
        );
        let elements = each(n, "<xs:element name='e#' type='t:T#'/>");
        types + &complex(&format!("<xs:sequence>{elements}</xs:sequence>"))
    }),
    schema("patterns_in_parentheses", |n| {
        let pattern = nested(n, "(", "a", ")");
        format!(
            "<xs:element name='r'><xs:simpleType><xs:restriction base='xs:string'><xs:pattern value='{pattern}'/></xs:restriction></xs:simpleType></xs:element>"
        )
    }),
    schema("patterns_with_classes_in_one_another", |n| {
        let pattern = nested(n, "[a-z-", "[b]", "]");
        format!(
            "<xs:element name='r'><xs:simpleType><xs:restriction base='xs:string'><xs:pattern value='{pattern}'/></xs:restriction></xs:simpleType></xs:element>"
        )
    }),
    schema("a_pattern_of_alternatives", |n| {
        let pattern = each(n, "\\p{L}\\i\\c#|");
        format!(
            "<xs:element name='r'><xs:simpleType><xs:restriction base='xs:string'><xs:pattern value='{pattern}'/></xs:restriction></xs:simpleType></xs:element>"
        )
    }),
    schema("a_length_without_end", |n| {
        let length = "9".repeat(n.min(18));
        format!(
            "<xs:element name='r'><xs:simpleType><xs:restriction base='xs:string'><xs:length value='{length}'/></xs:restriction></xs:simpleType></xs:element>"
        )
    }),
    schema("a_number_of_many_digits", |n| {
        let digits = "9".repeat(n * 10);
        format!(
            "<xs:element name='r'><xs:simpleType><xs:restriction base='xs:decimal'><xs:maxInclusive value='{digits}'/><xs:minInclusive value='-{digits}'/></xs:restriction></xs:simpleType></xs:element>"
        )
    }),
    // ---- groups ----
    schema("groups_of_two_alike", |n| {
        let first = "<xs:group name='G0'><xs:sequence><xs:element name='e' type='xs:int'/></xs:sequence></xs:group>";
        let next =
            "<xs:group name='G#'><xs:sequence><xs:group ref='t:G@'/><xs:group ref='t:G@'/></xs:sequence></xs:group>";
        first.to_owned()
            + &chain(n, next)
            + &complex(&format!("<xs:sequence><xs:group ref='t:G{}'/></xs:sequence>", n - 1))
    }),
    schema("choices_of_two_alike", |n| {
        let first = "<xs:group name='G0'><xs:choice><xs:element name='e' type='xs:int'/></xs:choice></xs:group>";
        let next = "<xs:group name='G#'><xs:choice><xs:sequence><xs:group ref='t:G@' minOccurs='0' maxOccurs='7'/><xs:element name='x#'/></xs:sequence><xs:sequence><xs:element name='y#'/><xs:group ref='t:G@'/></xs:sequence></xs:choice></xs:group>";
        first.to_owned()
            + &chain(n, next)
            + &complex(&format!("<xs:sequence><xs:group ref='t:G{}'/></xs:sequence>", n - 1))
    }),
    schema("groups_in_a_chain", |n| {
        let first = "<xs:group name='G0'><xs:sequence><xs:element name='e' type='xs:int'/></xs:sequence></xs:group>";
        let next = "<xs:group name='G#'><xs:sequence><xs:element name='e#'/><xs:group ref='t:G@' maxOccurs='2'/></xs:sequence></xs:group>";
        first.to_owned()
            + &chain(n, next)
            + &complex(&format!("<xs:sequence><xs:group ref='t:G{}'/></xs:sequence>", n - 1))
    }),
    schema("one_group_in_many_types", |n| {
        let side = n.isqrt().max(2);
        let elements = each(side, "<xs:element name='e#' type='xs:int'/>");
        format!("<xs:group name='G'><xs:sequence>{elements}</xs:sequence></xs:group>")
            + &each(n, "<xs:complexType name='T#'><xs:group ref='t:G'/></xs:complexType>")
            + &complex(&format!("<xs:sequence>{}</xs:sequence>", each(n, "<xs:element name='e#' type='t:T#'/>")))
    }),
    schema("a_large_group_in_many_types", |n| {
        let elements = each(n, "<xs:element name='e#' type='xs:int'/>");
        format!("<xs:group name='G'><xs:sequence>{elements}</xs:sequence></xs:group>")
            + &each(n, "<xs:complexType name='T#'><xs:group ref='t:G'/></xs:complexType>")
            + &complex(&format!("<xs:sequence>{}</xs:sequence>", each(n, "<xs:element name='e#' type='t:T#'/>")))
    }),
    schema("sequences_in_one_another", |n| {
        let n = n.min(480);
        complex(&nested(
            n,
            "<xs:sequence maxOccurs='2'><xs:element name='a'/>",
            "<xs:element name='b'/>",
            "</xs:sequence>",
        ))
    }),
    schema("choices_in_one_another", |n| {
        let n = n.min(480);
        complex(&nested(
            n,
            "<xs:choice maxOccurs='unbounded'><xs:element name='a' minOccurs='0'/>",
            "<xs:element name='b'/>",
            "</xs:choice>",
        ))
    }),
    schema("one_large_sequence", |n| {
        complex(&format!(
            "<xs:sequence>{}</xs:sequence>",
            each(n, "<xs:element name='e#' type='xs:int' minOccurs='0'/>")
        ))
    }),
    schema("one_large_choice", |n| {
        complex(&format!(
            "<xs:choice maxOccurs='unbounded'>{}</xs:choice>",
            each(n, "<xs:element name='e#' type='xs:int'/>")
        ))
    }),
    schema("one_large_all", |n| {
        complex(&format!("<xs:all>{}</xs:all>", each(n, "<xs:element name='e#' type='xs:int' minOccurs='0'/>")))
    }),
    schema("one_large_mixed_content", |n| {
        let content =
            format!("<xs:sequence>{}</xs:sequence>", each(n, "<xs:element name='e#' type='xs:int' minOccurs='0'/>"));
        format!("<xs:element name='r'><xs:complexType mixed='true'>{content}</xs:complexType></xs:element>")
    }),
    schema("optional_elements_of_one_name", |n| {
        complex(&format!(
            "<xs:sequence>{}</xs:sequence>",
            "<xs:element name='e' type='xs:int' minOccurs='0'/>".repeat(n)
        ))
    }),
    schema("choices_of_one_name", |n| {
        complex(&format!("<xs:choice>{}</xs:choice>", "<xs:element name='e' type='xs:int' minOccurs='0'/>".repeat(n)))
    }),
    schema("wildcards_side_by_side", |n| {
        complex(&format!("<xs:sequence>{}</xs:sequence>", each(n, "<xs:any namespace='urn:# urn:x#' minOccurs='0'/>")))
    }),
    schema("a_wildcard_of_many_namespaces", |n| {
        complex(&format!(
            "<xs:sequence>{}</xs:sequence><xs:anyAttribute namespace='{}'/>",
            format!("<xs:any namespace='{}'/>", each(n, "urn:# ")).repeat(2),
            each(n, "urn:# ")
        ))
    }),
    schema("large_occurrences", |n| {
        complex(&nested(
            n.min(90),
            "<xs:sequence minOccurs='4294967295' maxOccurs='4294967295'>",
            "<xs:element name='b' minOccurs='20' maxOccurs='99999999999999999999'/>",
            "</xs:sequence>",
        ))
    }),
    schema("samples_that_double", |n| {
        // Each type needs the previous one several times.
        let first = "<xs:complexType name='T0'><xs:sequence><xs:element name='e' type='xs:int'/></xs:sequence></xs:complexType>";
        let next = "<xs:complexType name='T#'><xs:sequence><xs:element name='e' type='t:T@' minOccurs='9' maxOccurs='9'/><xs:element name='f' type='t:T@' minOccurs='9' maxOccurs='9'/></xs:sequence></xs:complexType>";
        first.to_owned() + &chain(n, next) + &root_of_last(n)
    }),
    schema("large_choices_restricted", |n| {
        let side = n.isqrt().max(2);
        let branches = each(n, "<xs:element name='e#' type='xs:int'/>");
        let first = format!("<xs:complexType name='T0'><xs:choice>{branches}</xs:choice></xs:complexType>");
        let next = "<xs:complexType name='T#'><xs:complexContent><xs:restriction base='t:T@'><xs:choice>!</xs:choice></xs:restriction></xs:complexContent></xs:complexType>";
        let branches = each(side, "<xs:element name='e#' type='xs:int'/>");
        first + &chain(side, next).replace('!', &branches) + &root_of_last(side)
    }),
    schema("choices_restricted_deep", |n| {
        // Each level of the restriction is compared with each branch of the base.
        let depth = n.min(60);
        let open = "<xs:choice maxOccurs='2'><xs:element name='a'/><xs:sequence><xs:element name='b'/>";
        let close = "</xs:sequence></xs:choice>";
        let base = format!(
            "<xs:choice><xs:sequence>{0}</xs:sequence><xs:sequence>{0}</xs:sequence></xs:choice>",
            nested(depth, open, "<xs:element name='z'/>", close)
        );
        let own = format!(
            "<xs:choice><xs:sequence>{0}</xs:sequence><xs:sequence>{0}</xs:sequence></xs:choice>",
            nested(depth, open, "<xs:element name='y'/>", close)
        );
        format!(
            "<xs:complexType name='B'>{base}</xs:complexType><xs:complexType name='T0'><xs:complexContent><xs:restriction base='t:B'>{own}</xs:restriction></xs:complexContent></xs:complexType>"
        ) + &root_of_last(1)
    }),
    // ---- attributes ----
    schema("attribute_groups_in_a_chain", |n| {
        let first = "<xs:attributeGroup name='G0'><xs:attribute name='a'/></xs:attributeGroup>";
        let next =
            "<xs:attributeGroup name='G#'><xs:attribute name='a#'/><xs:attributeGroup ref='t:G@'/></xs:attributeGroup>";
        first.to_owned() + &chain(n, next) + &complex(&format!("<xs:attributeGroup ref='t:G{}'/>", n - 1))
    }),
    schema("attribute_groups_of_two_alike", |n| {
        let first = "<xs:attributeGroup name='G0'><xs:attribute name='a'/></xs:attributeGroup>";
        let next = "<xs:attributeGroup name='G#'><xs:attributeGroup ref='t:G@'/><xs:attributeGroup ref='t:G@'/></xs:attributeGroup>";
        first.to_owned() + &chain(n, next) + &complex(&format!("<xs:attributeGroup ref='t:G{}'/>", n - 1))
    }),
    schema("attributes_in_many_types", |n| {
        format!("<xs:attributeGroup name='G'>{}</xs:attributeGroup>", each(n, "<xs:attribute name='a#'/>"))
            + &each(n, "<xs:complexType name='T#'><xs:attributeGroup ref='t:G'/></xs:complexType>")
            + &complex(&format!("<xs:sequence>{}</xs:sequence>", each(n, "<xs:element name='e#' type='t:T#'/>")))
    }),
    schema("many_attributes", |n| complex(&each(n, "<xs:attribute name='a#'/>"))),
    // ---- substitution groups ----
    schema("substitutions_in_a_chain", |n| {
        let first = "<xs:element name='h0'/>";
        let next = "<xs:element name='h#' substitutionGroup='t:h@'/>";
        first.to_owned() + &chain(n, next) + &complex("<xs:sequence><xs:element ref='t:h0'/></xs:sequence>")
    }),
    schema("substitutions_in_a_chain_used_each", |n| {
        let first = "<xs:element name='h0' type='xs:int'/>";
        let next = "<xs:element name='h#' type='xs:int' substitutionGroup='t:h@'/>";
        let references = each(n, "<xs:element ref='t:h#'/>");
        first.to_owned() + &chain(n, next) + &complex(&format!("<xs:sequence>{references}</xs:sequence>"))
    }),
    schema("substitutions_times_particles", |n| {
        let references = "<xs:element ref='t:h' minOccurs='0'/>".repeat(n);
        "<xs:element name='h' type='xs:int'/>".to_owned()
            + &each(n, "<xs:element name='h#' type='xs:int' substitutionGroup='t:h'/>")
            + &complex(&format!("<xs:sequence>{references}</xs:sequence>"))
    }),
    schema("substitutions_times_types", |n| {
        "<xs:element name='h' type='xs:int'/>".to_owned()
            + &each(n, "<xs:element name='h#' type='xs:int' substitutionGroup='t:h'/>")
            + &each(n, "<xs:complexType name='T#'><xs:sequence><xs:element ref='t:h'/></xs:sequence></xs:complexType>")
            + &complex(&format!("<xs:sequence>{}</xs:sequence>", each(n, "<xs:element name='e#' type='t:T#'/>")))
    }),
    // ---- elements, names, values ----
    schema("duplicates", |n| {
        "<xs:simpleType name='T'><xs:restriction base='xs:int'/></xs:simpleType>\n".repeat(n) + ROOT
    }),
    schema("duplicates_on_one_line", |n| {
        "<xs:simpleType name='T'><xs:restriction base='xs:int'/></xs:simpleType>".repeat(n) + ROOT
    }),
    schema("duplicates_that_are_large", |n| {
        let side = n.isqrt().max(2);
        let values = each(side, "<xs:enumeration value='v#'/>");
        format!("<xs:simpleType name='T'><xs:restriction base='xs:string'>{values}</xs:restriction></xs:simpleType>")
            .repeat(side)
            + ROOT
    }),
    schema("references_to_nothing", |n| each(n, "<xs:element name='e#' type='t:N#'/>") + ROOT),
    schema("names_without_end", |n| {
        let name = "n".repeat(9_000);
        let _ = n;
        each((n / 100).max(2), &format!("<xs:element name='{name}#' type='t:{name}#'/>")) + ROOT
    }),
    schema("misplaced_elements", |n| "<xs:sequence/>".repeat(n) + ROOT),
    schema("foreign_attributes", |n| {
        let side = n.isqrt().clamp(2, 900);
        let attributes = each(side, " a#=''");
        format!("<xs:element name='e'{attributes}/>").repeat(side) + ROOT
    }),
    schema("ids", |n| each(n, "<xs:element name='e#' id='i'/>") + ROOT),
    schema("names_that_collide", |n| {
        let spell = |number: usize| -> String {
            (0..16)
                .map(|bit| {
                    if number >> bit & 1 == 1 {
                        format!("{}_", char::from(b'a' + bit))
                    } else {
                        char::from(b'a' + bit).to_string()
                    }
                })
                .collect()
        };
        let types: String = (0..n).map(|number| format!("<xs:complexType name='{}'/>", spell(number))).collect();
        let elements: String =
            (0..n).map(|number| format!("<xs:element name='{0}' type='t:{0}'/>", spell(number))).collect();
        types + &complex(&format!("<xs:sequence>{elements}</xs:sequence>"))
    }),
    schema("names_with_numbers_that_collide", |n| {
        let types = "<xs:complexType name='a'/>".to_owned()
            + &each(n, "<xs:complexType name='a#'/>")
            + &each(n, "<xs:complexType name='A_#'/>")
            + &each(n, "<xs:complexType name='a_#_'/>");
        let elements = each(
            n,
            "<xs:element name='a#' type='t:a#'/><xs:element name='A_#' type='t:A_#'/><xs:element name='a_#_' type='t:a_#_'/>",
        );
        types + &complex(&format!("<xs:sequence>{elements}</xs:sequence>"))
    }),
    schema("keys", |n| {
        let keys = each(
            n,
            "<xs:key name='k#'><xs:selector xpath='.//a|b/c'/><xs:field xpath='@d'/></xs:key><xs:keyref name='f#' refer='t:k#'><xs:selector xpath='a'/><xs:field xpath='d'/></xs:keyref>",
        );
        format!("<xs:element name='r'><xs:complexType/>{keys}</xs:element>")
    }),
    schema("a_path_without_end", |n| {
        format!(
            "<xs:element name='r'><xs:complexType/><xs:key name='k'><xs:selector xpath='{}a'/><xs:field xpath='d'/></xs:key></xs:element>",
            "a/".repeat(n * 10)
        )
    }),
    schema("defaults_of_complex_types", |n| {
        let side = n.isqrt().max(2);
        let elements = each(side, "<xs:element name='e#' type='xs:int' minOccurs='0'/>");
        format!("<xs:complexType name='T' mixed='true'><xs:sequence>{elements}</xs:sequence></xs:complexType>")
            + &each(n, "<xs:element name='e#' type='t:T' default='x'/>")
            + ROOT
    }),
    schema("documentation", |n| {
        let text = "*_[`&lt;x&gt;`](http://a/b) &#10;- ".repeat(n);
        format!(
            "<xs:element name='r' type='xs:int'><xs:annotation><xs:documentation>{text}</xs:documentation></xs:annotation></xs:element>"
        )
    }),
    schema("documentation_of_one_word", |n| {
        let text = "`a`http://a`".repeat(n);
        format!(
            "<xs:element name='r' type='xs:int'><xs:annotation><xs:documentation>{text}</xs:documentation></xs:annotation></xs:element>"
        )
    }),
    schema("documentation_that_is_inherited", |n| {
        let text = "x ".repeat(n * 10);
        format!(
            "<xs:complexType name='T'><xs:annotation><xs:documentation>{text}</xs:documentation></xs:annotation></xs:complexType>"
        ) + &complex(&format!("<xs:sequence>{}</xs:sequence>", each(n, "<xs:element name='e#' type='t:T'/>")))
    }),
    schema("documentations_in_one_annotation", |n| {
        format!(
            "<xs:element name='r' type='xs:int'><xs:annotation>{}</xs:annotation></xs:element>",
            "<xs:documentation>x</xs:documentation>".repeat(n)
        )
    }),
    schema("namespaces_in_scope", |n| {
        let declarations = each(n.min(900), " xmlns:n#='urn:#'");
        let elements = "<xs:sequence/>".repeat(n * 4);
        format!(
            "<xs:element name='r'><xs:complexType{declarations}><xs:sequence>{elements}</xs:sequence></xs:complexType></xs:element>"
        )
    }),
    schema("namespaces_of_keys", |n| {
        let declarations = each(n.min(900), " xmlns:n#='urn:#'");
        let keys = each(n, "<xs:key name='k#'><xs:selector xpath='a'/><xs:field xpath='@d'/></xs:key>");
        format!("<xs:element name='r'{declarations}><xs:complexType/>{keys}</xs:element>")
    }),
    schema("namespaces_of_enumerations", |n| {
        let declarations = each(n.min(900), " xmlns:n#='urn:#'");
        let values = each(n, "<xs:enumeration value='n#:a n#:b n@:c n@:d'/>");
        format!(
            "<xs:element name='r'{declarations}><xs:simpleType><xs:restriction base='xs:string'>{values}</xs:restriction></xs:simpleType></xs:element>"
        )
    }),
    // ---- texts, as often as they are used ----
    schema("default_in_a_group", |n| {
        let default = "a".repeat(20 * n);
        let uses = complex(&format!("<xs:sequence>{}</xs:sequence>", "<xs:group ref='t:g'/>".repeat(n)));
        format!(
            "<xs:group name='g'><xs:sequence><xs:element name='a' type='xs:string' minOccurs='0' default='{default}'/></xs:sequence></xs:group>{uses}"
        )
    }),
    schema("documentation_in_a_group", |n| {
        let text = "a".repeat(20 * n);
        let uses = complex(&format!("<xs:sequence>{}</xs:sequence>", "<xs:group ref='t:g'/>".repeat(n)));
        format!(
            "<xs:group name='g'><xs:sequence><xs:element name='a' type='xs:string'><xs:annotation><xs:documentation>{text}</xs:documentation></xs:annotation></xs:element></xs:sequence></xs:group>{uses}"
        )
    }),
    schema("documentation_of_a_group", |n| {
        let text = "a".repeat(100 * n);
        let types = each(
            n,
            "<xs:element name='f#'><xs:complexType><xs:sequence><xs:group ref='t:g' maxOccurs='9'/></xs:sequence></xs:complexType></xs:element>",
        );
        format!(
            "<xs:group name='g'><xs:annotation><xs:documentation>{text}</xs:documentation></xs:annotation><xs:sequence><xs:element name='a' type='xs:int'/><xs:element name='b' type='xs:int'/></xs:sequence></xs:group>{}",
            complex(&format!("<xs:sequence>{types}</xs:sequence>"))
        )
    }),
    schema("documentation_of_an_attribute", |n| {
        let text = "a".repeat(100 * n);
        let types =
            each(n, "<xs:element name='f#'><xs:complexType><xs:attribute ref='t:a'/></xs:complexType></xs:element>");
        format!(
            "<xs:attribute name='a' type='xs:int'><xs:annotation><xs:documentation>{text}</xs:documentation></xs:annotation></xs:attribute>{}",
            complex(&format!("<xs:sequence>{types}</xs:sequence>"))
        )
    }),
    schema("documentation_of_a_value_inherited", |n| {
        let text = "a".repeat(100 * n);
        let types = each(n, "<xs:simpleType name='T#'><xs:restriction base='t:T'/></xs:simpleType>");
        let uses = each(n, "<xs:element name='f#' type='t:T#'/>");
        format!(
            "<xs:simpleType name='T'><xs:restriction base='xs:token'><xs:enumeration value='v'><xs:annotation><xs:documentation>{text}</xs:documentation></xs:annotation></xs:enumeration></xs:restriction></xs:simpleType>{types}{}",
            complex(&format!("<xs:sequence>{uses}</xs:sequence>"))
        )
    }),
    schema("names_inherited", |n| {
        let names = each(n, "<xs:enumeration value='t:n#'/>");
        let types = each(n, "<xs:simpleType name='T#'><xs:restriction base='t:T'/></xs:simpleType>");
        let uses = each(n, "<xs:element name='f#' type='t:T#'/>");
        format!(
            "<xs:simpleType name='T'><xs:restriction base='xs:QName'>{names}</xs:restriction></xs:simpleType>{types}{}",
            complex(&format!("<xs:sequence>{uses}</xs:sequence>"))
        )
    }),
    schema("long_names_in_a_group", |n| {
        let name = "a".repeat(n.min(9_000));
        let uses = complex(&format!("<xs:sequence>{}</xs:sequence>", "<xs:group ref='t:g'/>".repeat(n)));
        format!(
            "<xs:group name='g'><xs:sequence><xs:element name='{name}' type='xs:string'/></xs:sequence></xs:group>{uses}"
        )
    }),
    schema("namespaces_of_a_wildcard", |n| {
        let namespaces = each(n, "urn:namespace:of:some:length:# ");
        let types = each(
            n,
            "<xs:element name='f#'><xs:complexType><xs:attributeGroup ref='t:g'/></xs:complexType></xs:element>",
        );
        format!(
            "<xs:attributeGroup name='g'><xs:anyAttribute namespace='{namespaces}'/></xs:attributeGroup>{}",
            complex(&format!("<xs:sequence>{types}</xs:sequence>"))
        )
    }),
    schema("default_of_an_attribute", |n| {
        let attribute = format!("<xs:attribute name='a' type='xs:string' default='{}'/>", "a".repeat(100 * n));
        let types =
            each(n, "<xs:element name='f#'><xs:complexType><xs:attribute ref='t:a'/></xs:complexType></xs:element>");
        attribute + &complex(&format!("<xs:sequence>{types}</xs:sequence>"))
    }),
    schema("value_of_an_enumeration_inherited", |n| {
        let value = "a".repeat(100 * n);
        let base = format!(
            "<xs:simpleType name='T'><xs:restriction base='xs:token'><xs:enumeration value='{value}'/></xs:restriction></xs:simpleType>"
        );
        let types = each(n, "<xs:simpleType name='T#'><xs:restriction base='t:T'/></xs:simpleType>");
        let uses = each(n, "<xs:element name='f#' type='t:T#'/>");
        base + &types + &complex(&format!("<xs:sequence>{uses}</xs:sequence>"))
    }),
    schema("defaults_of_a_union", |n| {
        let union = format!(
            "<xs:simpleType name='I'><xs:restriction base='xs:int'/></xs:simpleType><xs:simpleType name='U'><xs:union memberTypes='{}'/></xs:simpleType>",
            "t:I ".repeat(n.min(9_000))
        );
        let uses = each(n, "<xs:element name='f#' type='t:U' default='none#'/>");
        union + &complex(&format!("<xs:sequence>{uses}</xs:sequence>"))
    }),
    schema("default_of_many_patterns", |n| {
        let first = "<xs:simpleType name='T0'><xs:restriction base='xs:string'/></xs:simpleType>";
        let next = "<xs:simpleType name='T#'><xs:restriction base='t:T@'><xs:pattern value='.*[a-z0-9].*(#)?'/></xs:restriction></xs:simpleType>";
        let attribute = format!("<xs:attribute name='a' type='t:T59' fixed='{}'/>", "a".repeat(50 * n));
        let uses = each(
            n,
            "<xs:element name='f#'><xs:complexType><xs:attribute ref='t:a' fixed='#'/></xs:complexType></xs:element>",
        );
        format!("{first}{}{attribute}{}", chain(60, next), complex(&format!("<xs:sequence>{uses}</xs:sequence>")))
    }),
    schema("enumerations_restricted", |n| {
        let type_of = |name: &str, base: &str, values: &str| {
            format!(
                "<xs:simpleType name='{name}'><xs:restriction base='{base}'>{values}</xs:restriction></xs:simpleType>"
            )
        };
        let values = each(n, "<xs:enumeration value='#'/>");
        type_of("T", "xs:token", &values) + &type_of("U", "t:T", &values) + "<xs:element name='r' type='t:U'/>"
    }),
    Shape {
        name: "entities_that_expand",
        prolog: |n| {
            let n = n.min(40);
            let entities: String =
                (1..n).map(|number| format!("<!ENTITY e{number} '&e{0};&e{0};&e{0};&e{0};'>", number - 1)).collect();
            format!("<!DOCTYPE d [<!ENTITY e0 'aaaaaaaaaaaaaaaaaaaa'>{entities}]>")
        },
        schema: |n| format!("<xs:element name='r' type='xs:string' default='&e{};'/>", n.min(40) - 1),
        wsdl: none,
    },
    Shape {
        name: "entities_that_are_large",
        prolog: |n| format!("<!DOCTYPE d [<!ENTITY e '{}'>]>", "a".repeat(n)),
        schema: |n| each(n, "<xs:element name='e#' type='xs:string' default='&e;'/>") + ROOT,
        wsdl: none,
    },
    // ---- WSDL ----
    wsdl("messages_of_one_name", |n| "<message name='m'><part name='p' element='t:r'/></message>".repeat(n)),
    wsdl("parts", |n| format!("<message name='m'>{}</message>", each(n, "<part name='p#' element='t:nothing#'/>"))),
    wsdl("operations", |n| {
        let operations = each(n, "<operation name='o#'><input message='t:in'/></operation>");
        let bound = each(
            n,
            "<operation name='o#'><soap:operation soapAction='a#'/><input><soap:body use='literal'/></input></operation>",
        );
        format!(
            "<portType name='Q'>{operations}</portType><binding name='Q' type='t:Q'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/>{bound}</binding><service name='Q'><port name='Q' binding='t:Q'><soap:address location='http://h/'/></port></service>"
        )
    }),
    wsdl("operations_bound_to_nothing", |n| {
        let operations = each(n, "<operation name='o#'><input message='t:in'/></operation>");
        let bound = each(n, "<operation name='p#'><input/></operation>");
        format!(
            "<portType name='Q'>{operations}</portType><binding name='Q' type='t:Q'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/>{bound}</binding>"
        )
    }),
    wsdl("operations_of_one_name", |n| {
        let operations = each(n, "<operation name='o'><input name='i#' message='t:in'/></operation>");
        let bound = each(
            n,
            "<operation name='o'><soap:operation soapAction='a#'/><input name='i#'><soap:body use='literal'/></input></operation>",
        );
        format!(
            "<portType name='Q'>{operations}</portType><binding name='Q' type='t:Q'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/>{bound}</binding><service name='Q'><port name='Q' binding='t:Q'><soap:address location='http://h/'/></port></service>"
        )
    }),
    wsdl("bindings", |n| {
        each(
            n,
            "<portType name='Q#'><operation name='o'><input message='t:in'/></operation></portType><binding name='Q#' type='t:Q#'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><soap:operation soapAction='a'/><input><soap:body use='literal'/></input></operation></binding>",
        )
    }),
    wsdl("ports_of_one_binding", |n| {
        format!(
            "<service name='Q'>{}</service>",
            each(n, "<port name='Q#' binding='t:P'><soap:address location='http://h/#'/></port>")
        )
    }),
    wsdl("services_of_one_binding", |n| {
        each(
            n,
            "<service name='Q#'><port name='Q#' binding='t:P'><soap:address location='http://h/#'/></port></service>",
        )
    }),
    wsdl("bindings_of_one_port_type", |n| {
        each(
            n,
            "<binding name='Q#' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><soap:operation soapAction='a#'/><input><soap:body use='literal'/></input></operation></binding>",
        )
    }),
    wsdl("operations_of_one_message", |n| {
        let parts = each(n, "<part name='p#' type='xs:int'/>");
        let operations = each(n, "<operation name='o#'><input message='t:parts'/></operation>");
        let bound =
            each(n, "<operation name='o#'><input><soap:body use='literal' namespace='urn:t'/></input></operation>");
        format!(
            "<message name='parts'>{parts}</message><portType name='Q'>{operations}</portType><binding name='Q' type='t:Q'><soap:binding style='rpc' transport='http://schemas.xmlsoap.org/soap/http'/>{bound}</binding><service name='Q'><port name='Q' binding='t:Q'><soap:address location='http://h/'/></port></service>"
        )
    }),
    wsdl("policies_that_ports_refer_to", |n| {
        let policies = each(n, "<Policy xmlns='http://www.w3.org/ns/ws-policy' Id='p#'><a xmlns='urn:a'/></Policy>");
        // `each` replaces every `#` by a number, so the one in the URI is written as `%` first.
        let reference = "<PolicyReference xmlns='http://www.w3.org/ns/ws-policy' URI='&%35;p#'/>";
        let references = each(n, reference).replace('%', "#");
        let ports = each(n, "<port name='Q#' binding='t:Q'><soap:address location='http://h/#'/></port>");
        format!(
            "{policies}<portType name='Q'><operation name='o'><input message='t:in'/></operation></portType><binding name='Q' type='t:Q'>{references}<soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><input><soap:body use='literal'/></input></operation></binding><service name='Q'>{ports}</service>"
        )
    }),
    wsdl("faults", |n| {
        let faults = each(n, "<fault name='f#' message='t:in'/>");
        let bound = each(n, "<fault name='f#'><soap:fault name='f#' use='literal'/></fault>");
        format!(
            "<portType name='Q'><operation name='o'><input message='t:in'/><output message='t:in'/>{faults}</operation></portType><binding name='Q' type='t:Q'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><input/><output/>{bound}</operation></binding><service name='Q'><port name='Q' binding='t:Q'><soap:address location='http://h/'/></port></service>"
        )
    }),
    wsdl("headers", |n| {
        let parts = each(n, "<part name='p#' element='t:r'/>");
        let headers = each(n, "<soap:header message='t:h' part='p#' use='literal'/>");
        format!(
            "<message name='h'>{parts}</message><portType name='Q'><operation name='o'><input message='t:in'/></operation></portType><binding name='Q' type='t:Q'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><input>{headers}<soap:body use='literal'/></input></operation></binding><service name='Q'><port name='Q' binding='t:Q'><soap:address location='http://h/'/></port></service>"
        )
    }),
    wsdl("header_faults_in_one_another", |n| {
        let headers =
            nested(n.min(480), "<soap:headerfault message='t:in' part='p' use='literal'>", "", "</soap:headerfault>");
        format!(
            "<portType name='Q'><operation name='o'><input message='t:in'/></operation></portType><binding name='Q' type='t:Q'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><input><soap:header message='t:in' part='p' use='literal'>{headers}</soap:header><soap:body use='literal'/></input></operation></binding>"
        )
    }),
    wsdl("extensions_in_one_another", |n| {
        nested(n.min(480), "<x xmlns='urn:x'>", "", "</x>") + &"<x xmlns='urn:x'/>".repeat(n)
    }),
    wsdl("imports_of_nothing", |n| each(n, "<import namespace='urn:#' location='nothing#.wsdl'/>")),
    wsdl("parts_chosen_often", |n| {
        let parts = each(n, "<part name='p#' type='t:nothing'/>");
        let chosen = each(n, "p# ");
        format!(
            "<message name='h'>{parts}</message><portType name='Q'><operation name='o'><input message='t:h'/></operation></portType><binding name='Q' type='t:Q'><soap:binding style='rpc' transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><input><soap:body use='literal' parts='{chosen}'/></input></operation></binding>"
        )
    }),
    wsdl("rpc_parts", |n| {
        let parts = each(n, "<part name='p#' type='xs:int'/>");
        let chosen = each(n, "p# ");
        format!(
            "<message name='h'>{parts}</message><portType name='Q'><operation name='o'><input message='t:h'/></operation></portType><binding name='Q' type='t:Q'><soap:binding style='rpc' transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><input><soap:body use='literal' parts='{chosen}'/></input></operation></binding><service name='Q'><port name='Q' binding='t:Q'><soap:address location='http://h/'/></port></service>"
        )
    }),
    wsdl("encoded_types_in_a_chain", |n| {
        let first = "<types><xs:schema targetNamespace='urn:e' xmlns:e='urn:e'><xs:complexType name='T0'/>".to_owned();
        let next = "<xs:complexType name='T#'><xs:sequence><xs:element name='e' type='e:T@'/><xs:element name='f' type='e:T@'/></xs:sequence></xs:complexType>";
        first
            + &chain(n, next)
            + &format!(
                "</xs:schema></types><message name='h'><part name='p' type='e:T{}' xmlns:e='urn:e'/></message><portType name='Q'><operation name='o'><input message='t:h'/></operation></portType><binding name='Q' type='t:Q'><soap:binding style='rpc' transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><input><soap:body use='encoded' encodingStyle='http://schemas.xmlsoap.org/soap/encoding/' namespace='urn:x'/></input></operation></binding><service name='Q'><port name='Q' binding='t:Q'><soap:address location='http://h/'/></port></service>",
                n - 1
            )
    }),
    wsdl("policies_that_refer_to_one_another", |n| {
        let policies = each(
            n,
            "<wsp:Policy xmlns:wsp='http://www.w3.org/ns/ws-policy' xmlns:wsu='http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd' wsu:Id='p#'><wsp:PolicyReference URI='!p@'/><wsp:PolicyReference URI='!p@'/></wsp:Policy>",
        );
        policies.replace('!', "#")
            + &format!(
                "<binding name='Q' type='t:P'><wsp:PolicyReference xmlns:wsp='http://www.w3.org/ns/ws-policy' URI='#p{}'/><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><input/></operation></binding><service name='Q'><port name='Q' binding='t:Q'><soap:address location='http://h/'/></port></service>",
                n - 1
            )
    }),
    wsdl("schemas_of_one_namespace_each", |n| {
        format!(
            "<types>{}</types>",
            each(
                n,
                "<xs:schema targetNamespace='urn:n#'><xs:complexType name='T'/><xs:element name='e' type='T' xmlns='urn:n#'/></xs:schema>"
            )
        )
    }),
    wsdl("schemas_that_import_one_another", |n| {
        let side = n.isqrt().max(2);
        let imports = each(side, "<xs:import namespace='urn:n#'/>");
        format!(
            "<types>{}</types>",
            each(side, "<xs:schema targetNamespace='urn:n#'>!</xs:schema>").replace('!', &imports)
        )
    }),
];

/// Returns the shape with this name.
pub fn shape(name: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.name == name)
}

impl Shape {
    /// Returns a WSDL document of size `n`.
    pub fn contract(&self, n: usize) -> String {
        format!(
            "{}<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:t='urn:t' xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'>\n\
            <types><xs:schema targetNamespace='urn:t'>{}</xs:schema></types>\n\
            <message name='in'><part name='p' element='t:r'/></message>\n\
            {}\n\
            <portType name='P'><operation name='o'><input message='t:in'/></operation></portType>\n\
            <binding name='P' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><soap:operation soapAction='o'/><input><soap:body use='literal'/></input></operation></binding>\n\
            <service name='P'><port name='P' binding='t:P'><soap:address location='http://localhost/'/></port></service>\n\
            </definitions>\n",
            (self.prolog)(n),
            (self.schema)(n),
            (self.wsdl)(n),
        )
    }

    /// Returns the size at which the contract has about this many bytes.
    pub fn size_of(&self, bytes: usize) -> usize {
        let (mut low, mut high) = (2, 2);
        while high < 1 << 20 && self.contract(high).len() < bytes {
            (low, high) = (high, high * 2);
        }
        while high - low > 1 + low / 64 {
            let middle = low.midpoint(high);
            if self.contract(middle).len() < bytes { low = middle } else { high = middle }
        }
        low
    }
}
