use super::*;
use crate::Documents;
use crate::builtin::XSI_NAMESPACE;

/// Returns the problems of a document, validated by a schema with these declarations.
fn problems(declarations: &str, document: &str) -> Vec<String> {
    let schema = schema(declarations);
    Validator::new(&schema).validate(document.as_bytes()).iter().map(ToString::to_string).collect()
}

fn schema(declarations: &str) -> Schema {
    let text = format!(
        r#"<xs:schema xmlns:xs="{}" xmlns="urn:t" targetNamespace="urn:t" elementFormDefault="qualified">{declarations}</xs:schema>"#,
        crate::XSD_NAMESPACE
    );
    crate::read("t.xsd", &Documents::new().with("t.xsd", text)).0
}

/// Returns true if `children` are valid content of a root element with the content `particle`. Elements have the names
/// a to e.
fn takes(particle: &str, children: &str) -> bool {
    let schema = content(particle);
    is_taken(&schema, children)
}

fn content(particle: &str) -> Schema {
    let globals: String =
        ["a", "b", "c", "d", "e"].map(|name| format!(r#"<xs:element name="{name}" type="xs:string"/>"#)).concat();
    schema(&format!(r#"{globals}<xs:element name="r"><xs:complexType>{particle}</xs:complexType></xs:element>"#))
}

fn is_taken(schema: &Schema, children: &str) -> bool {
    let children: String = children.chars().map(|name| format!("<{name}/>")).collect();
    Validator::new(schema).validate(format!("<r xmlns='urn:t'>{children}</r>").as_bytes()).is_empty()
}

/// Values of a type whose facets are too expensive can't be validated. Other types are not affected.
#[test]
fn values_that_are_too_expensive_to_validate_are_reported() {
    let members = "Int ".repeat(1_000);
    let values: String = (0..5_000).map(|value| format!("<xs:enumeration value='{value}'/>")).collect();
    let restriction = |name: &str, base: &str, facets: &str| {
        format!("<xs:simpleType name='{name}'><xs:restriction base='{base}'>{facets}</xs:restriction></xs:simpleType>")
    };
    let declarations = [
        restriction("Int", "xs:int", ""),
        format!("<xs:simpleType name='Many'><xs:union memberTypes='{members}'/></xs:simpleType>"),
        restriction("Dear", "Many", &values),
        restriction("DearToo", "Dear", "<xs:pattern value='[0-9]+'/>"),
        "<xs:simpleType name='Ints'><xs:list itemType='xs:int'/></xs:simpleType>".to_owned(),
        "<xs:simpleType name='Either'><xs:union memberTypes='xs:int xs:date'/></xs:simpleType>".to_owned(),
        restriction("Short", "xs:string", "<xs:maxLength value='3'/>"),
        "<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='a' type='Dear'/><xs:element name='b' \
         type='DearToo'/><xs:element name='c' type='Ints'/><xs:element name='d' type='Either'/><xs:element name='e' \
         type='Short'/></xs:sequence></xs:complexType></xs:element>"
            .to_owned(),
    ];
    let document = "<r xmlns='urn:t'><a>1</a><b>1</b><c>1 x</c><d>zz</d><e>long</e></r>";
    let problems = problems(&declarations.concat(), document);
    let expected =
        ["\"1\" can't be validated", "\"1\" can't be validated", "\"x\" is not", "\"zz\" is not", "\"long\" is not"];
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    for (problem, expected) in problems.iter().zip(expected) {
        assert!(problem.contains(expected), "{problem}");
    }
}

#[test]
fn content_models() {
    let a = r#"<xs:element ref="a"/>"#;
    for (particle, valid, invalid) in [
        ("<xs:sequence>[a][b?][c]</xs:sequence>", "ac abc", "_ a ab bc acc acb"),
        ("<xs:sequence>[a*][b+]</xs:sequence>", "b ab aabb", "_ a ba aba"),
        (
            "<xs:sequence minOccurs='2' maxOccurs='3'>[a][b?]</xs:sequence>",
            "aa aab abab aaa ababab",
            "_ a ab aaaa aabb",
        ),
        ("<xs:choice maxOccurs='unbounded'>[a][b]</xs:choice>", "a b abba", "_ ac"),
        ("<xs:choice>[a?][b]</xs:choice>", "_ a b", "ab aa"),
        ("<xs:all>[a][b?][c]</xs:all>", "ac ca bac cab", "_ a b acc aac abcb"),
        ("<xs:all minOccurs='0'>[a][b]</xs:all>", "_ ab ba", "a b"),
        // Nested counters: which counter is meant is open until the end.
        ("<xs:sequence minOccurs='2' maxOccurs='2'>[a{2,3}]</xs:sequence>", "aaaa aaaaa aaaaaa", "_ aa aaa aaaaaaa"),
        ("<xs:sequence minOccurs='2' maxOccurs='3'>[a{3,3}]</xs:sequence>", "aaaaaa aaaaaaaaa", "aaa aaaa aaaaaaaa"),
        (
            "<xs:sequence minOccurs='3' maxOccurs='3'>[a?][b?]</xs:sequence>",
            "_ a b ab ba aaa bbb ababab",
            "aaaa abababa",
        ),
        // Ambiguous models, which real schemas have.
        ("<xs:sequence>[a?][a?][b]</xs:sequence>", "b ab aab", "_ aaab aa"),
        (
            "<xs:choice><xs:sequence>[a][b]</xs:sequence><xs:sequence>[a][c]</xs:sequence></xs:choice>",
            "ab ac",
            "a abc aa",
        ),
        ("<xs:sequence>[a*][a]</xs:sequence>", "a aa aaaaa", "_ b"),
        (
            "<xs:sequence><xs:sequence minOccurs='0' maxOccurs='unbounded'>[a][b]</xs:sequence>[a]</xs:sequence>",
            "a aba ababa",
            "ab abab aa",
        ),
        ("<xs:sequence/>", "_", "a"),
    ] {
        let schema = content(&expanded(particle));
        for children in valid.split(' ') {
            assert!(is_taken(&schema, children.trim_matches('_')), "{children} is valid by {particle}");
        }
        for children in invalid.split(' ').filter(|children| !children.is_empty()) {
            assert!(!is_taken(&schema, children.trim_matches('_')), "{children} is not valid by {particle}");
        }
    }
    assert!(takes(&format!("<xs:sequence>{a}</xs:sequence>"), "a"));
}

/// Expands `[a]`, `[a?]`, `[a*]`, `[a+]` and `[a{2,3}]` to references to elements.
fn expanded(particle: &str) -> String {
    let mut text = String::new();
    for (index, piece) in particle.split(['[', ']']).enumerate() {
        if index % 2 == 0 {
            text.push_str(piece);
            continue;
        }
        let (name, occurs) = piece.split_at(1);
        let (min, max) = match occurs {
            "" => ("1", "1"),
            "?" => ("0", "1"),
            "*" => ("0", "unbounded"),
            "+" => ("1", "unbounded"),
            counted => counted.trim_matches(['{', '}']).split_once(',').unwrap(),
        };
        text.push_str(&format!(r#"<xs:element ref="{name}" minOccurs="{min}" maxOccurs="{max}"/>"#));
    }
    text
}

/// Compares all models of a few particles with an exhaustive search.
#[test]
fn content_models_take_what_a_search_takes() {
    let mut random = Random(1);
    for _ in 0..400 {
        let tree = Tree::any(&mut random, 3);
        let schema = content(&format!("<xs:sequence>{}</xs:sequence>", tree.particle()));
        let mut validator = Validator::new(&schema);
        for _ in 0..12 {
            let length = random.below(6);
            let children: Vec<u8> = (0..length).map(|_| b'a' + random.below(3) as u8).collect();
            let expected = tree.ends(&children, 0).contains(&children.len());
            let tags: String = children.iter().map(|&name| format!("<{}/>", name as char)).collect();
            let problems = validator.validate(format!("<r xmlns='urn:t'>{tags}</r>").as_bytes());
            assert_eq!(problems.is_empty(), expected, "{tags} by {} {problems:?}", tree.particle());
        }
    }
}

/// A particle for the exhaustive search.
enum Tree {
    Element(u8, usize, usize),
    Group(&'static str, Vec<Tree>, usize, usize),
}

impl Tree {
    fn any(random: &mut Random, depth: usize) -> Tree {
        let min = random.below(3);
        let max = (min + random.below(3)).max(1);
        if depth == 0 || random.below(3) == 0 {
            return Tree::Element(b'a' + random.below(3) as u8, min, max);
        }
        let compositor = ["sequence", "choice"][random.below(2)];
        let inner = (0..1 + random.below(3)).map(|_| Tree::any(random, depth - 1)).collect();
        Tree::Group(compositor, inner, min, max)
    }

    fn particle(&self) -> String {
        match self {
            Tree::Element(name, min, max) => {
                format!(r#"<xs:element ref="{}" minOccurs="{min}" maxOccurs="{max}"/>"#, *name as char)
            }
            Tree::Group(compositor, inner, min, max) => {
                let inner: String = inner.iter().map(Tree::particle).collect();
                format!(r#"<xs:{compositor} minOccurs="{min}" maxOccurs="{max}">{inner}</xs:{compositor}>"#)
            }
        }
    }

    /// Returns the positions where a match that starts at `at` may end.
    fn ends(&self, children: &[u8], at: usize) -> Vec<usize> {
        let (Tree::Element(_, min, max) | Tree::Group(_, _, min, max)) = self;
        let (mut ends, mut found) = (vec![at], Vec::new());
        for count in 0..=*max {
            if count >= *min {
                found.extend(&ends);
            }
            let mut next: Vec<usize> = ends.iter().flat_map(|&at| self.once(children, at)).collect();
            next.sort_unstable();
            next.dedup();
            ends = next;
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn once(&self, children: &[u8], at: usize) -> Vec<usize> {
        match self {
            Tree::Element(name, ..) => {
                if children.get(at) == Some(name) {
                    vec![at + 1]
                } else {
                    Vec::new()
                }
            }
            Tree::Group("choice", inner, ..) => inner.iter().flat_map(|tree| tree.ends(children, at)).collect(),
            Tree::Group(_, inner, ..) => inner.iter().fold(vec![at], |ends, tree| {
                let mut next: Vec<usize> = ends.iter().flat_map(|&at| tree.ends(children, at)).collect();
                next.sort_unstable();
                next.dedup();
                next
            }),
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }
}

/// Occurrences are counted, not unrolled, and equal states are stored once.
#[test]
fn large_occurrences_cost_nothing() {
    let schema = content(&expanded("<xs:sequence maxOccurs='1000000'>[a{1000,1000000000}][b?]</xs:sequence>"));
    assert!(is_taken(&schema, &"a".repeat(20_000)));
    assert!(!is_taken(&schema, &"a".repeat(999)));
    let schema = content(&expanded(
        "<xs:sequence maxOccurs='1000'><xs:sequence minOccurs='0' maxOccurs='1000'>[a{0,1000}]</xs:sequence></xs:sequence>",
    ));
    assert!(is_taken(&schema, &"a".repeat(2_000)));
}

/// Each child may belong to each of a hundred choices, each of which may start a new repetition.
#[test]
fn models_that_are_ambiguous_in_very_many_ways_take_bounded_work() {
    let choice = r#"<xs:choice maxOccurs="unbounded"><xs:element ref="a" minOccurs="0"/>"#;
    let schema = content(&format!("{}{}", choice.repeat(100), "</xs:choice>".repeat(100)));
    assert!(is_taken(&schema, &"a".repeat(10_000)));
    // Each of twenty nested sequences may start a new repetition. Only one is followed until it ends.
    let sequence = r#"<xs:sequence maxOccurs="unbounded">"#;
    let both = r#"<xs:element ref="a"/><xs:element ref="b"/>"#;
    let schema = content(&format!("{}{both}{}", sequence.repeat(20), "</xs:sequence>".repeat(20)));
    assert!(is_taken(&schema, &"ab".repeat(10_000)));
    assert!(!is_taken(&schema, &format!("{}a", "ab".repeat(10_000))));
}

#[test]
fn errors_state_what_was_expected() {
    let declarations = r###"<xs:element name="r"><xs:complexType><xs:sequence>
        <xs:element name="a" type="xs:int"/><xs:choice minOccurs="0"><xs:element name="b"/><xs:any namespace="##other"/></xs:choice>
        <xs:element name="c" maxOccurs="2"/></xs:sequence><xs:attribute name="n" use="required"/></xs:complexType></xs:element>"###;
    let told = |document: &str| problems(declarations, document);
    assert_eq!(
        told("<r xmlns='urn:t' n=''><a>1</a><d/></r>"),
        [
            "1:31: r/d: found d, where b, an element of some other namespaces or c was expected [cvc-complex-type.2.4]",
            "1:35: r: r ends here, where b, an element of some other namespaces or c was expected [cvc-complex-type.2.4]"
        ]
    );
    assert_eq!(
        told("<r xmlns='urn:t'><c/><c/><a>x</a></r>"),
        [
            "1:1: r: attribute n is missing [cvc-complex-type.4]",
            "1:18: r/c: found c, where a was expected [cvc-complex-type.2.4]",
            "1:29: r/a: \"x\" is not a valid xs:int [cvc-type.3.1.3]"
        ]
    );
    assert_eq!(
        told("<r xmlns='urn:t' n='' m=''>x<a/>y</r>"),
        [
            "1:23: r: attribute m is not allowed here [cvc-complex-type.3.2.2]",
            "1:28: r: found text, where only elements were expected [cvc-complex-type.2.3]",
            "1:29: r/a: \"\" is not a valid xs:int [cvc-type.3.1.3]",
            "1:34: r: r ends here, where b, an element of some other namespaces or c was expected [cvc-complex-type.2.4]"
        ]
    );
    assert_eq!(told("<q/>"), ["1:1: q: the schema declares no element q [cvc-elt.1]"]);
    assert_eq!(told("<r"), ["1:3: the document ends in the tag <r> [well-formed]"]);
}

#[test]
fn types_nil_and_substitution() {
    let declarations = r#"
        <xs:complexType name="Base" abstract="true"><xs:sequence><xs:element name="a"/></xs:sequence></xs:complexType>
        <xs:complexType name="More"><xs:complexContent><xs:extension base="Base"><xs:sequence><xs:element name="b"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
        <xs:complexType name="Other"><xs:sequence><xs:element name="a"/></xs:sequence></xs:complexType>
        <xs:element name="r" type="Base" nillable="true"/>
        <xs:element name="fixed" type="Base" block="extension"/>
        <xs:element name="head" type="xs:decimal" abstract="true"/>
        <xs:element name="member" type="xs:int" substitutionGroup="head"/>
        <xs:element name="list"><xs:complexType><xs:sequence><xs:element ref="head" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
        <xs:element name="n" type="xs:QName" nillable="true"/>
        <xs:element name="f" type="xs:decimal" fixed="1.0"/>"#;
    for (document, rules) in [
        ("<r xsi:type='More'><a/><b/></r>", ""),
        ("<r><a/></r>", "cvc-type.2"),
        ("<r xsi:type='Other'><a/></r>", "cvc-type.2 cvc-elt.4.3"),
        ("<r xsi:type='Nothing'><a/></r>", "cvc-type.2 cvc-elt.4.2"),
        ("<r xsi:type='p:More'><a/></r>", "cvc-type.2 cvc-elt.4.1"),
        ("<r xsi:type='More' xsi:nil='true'/>", ""),
        ("<r xsi:type='More' xsi:nil='1'> </r>", "cvc-elt.3.2.1"),
        ("<f xsi:nil='true'>1</f>", "cvc-elt.3.1"),
        ("<fixed xsi:type='More'><a/><b/></fixed>", "cvc-type.2 cvc-elt.4.3 cvc-complex-type.2.4"),
        ("<list><member>1</member><member> 2</member></list>", ""),
        ("<list><head>1</head></list>", "cvc-elt.2"),
        ("<list><member>x</member><f>1</f></list>", "cvc-type.3.1.3 cvc-complex-type.2.4"),
        ("<n xmlns:p='urn:p'>p:a</n>", ""),
        ("<n>p:a</n>", "cvc-type.3.1.3"),
        ("<f>1</f>", ""),
        ("<f/>", ""),
        ("<f>2</f>", "cvc-elt.5.2.2.2"),
        ("<f a='1'>1</f>", "cvc-type.3.1.1"),
    ] {
        let (name, rest) = document.split_at(document.find([' ', '>', '/']).unwrap());
        let document = format!("{name} xmlns='urn:t' xmlns:xsi='{XSI_NAMESPACE}'{rest}");
        let schema = schema(declarations);
        let problems = Validator::new(&schema).validate(document.as_bytes());
        let found: Vec<&str> = problems.iter().map(|problem| problem.rule).collect();
        assert_eq!(found.join(" "), rules, "{document} {problems:?}");
    }
}

#[test]
fn identity_constraints() {
    let declarations = r#"<xs:element name="r"><xs:complexType><xs:sequence>
          <xs:element name="k" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
            <xs:attribute name="id" type="xs:decimal"/><xs:attribute name="other"/></xs:complexType></xs:element>
          <xs:element name="ref" type="xs:decimal" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
        <xs:key name="key"><xs:selector xpath="t:k" xmlns:t="urn:t"/><xs:field xpath="@id"/></xs:key>
        <xs:unique name="unique"><xs:selector xpath="*"/><xs:field xpath="@other"/></xs:unique>
        <xs:keyref name="keyref" refer="key"><xs:selector xpath=".//t:ref" xmlns:t="urn:t"/><xs:field xpath="."/></xs:keyref></xs:element>"#;
    for (content, told) in [
        ("<k id='1'/><k id='2'/><ref>1.0</ref><ref>2</ref>", ""),
        ("<k id='1'/><k id='1.0'/>", "\"1.0\" occurs twice, but key key allows it only once"),
        ("<k/>", "this element lacks a field of key key"),
        ("<k id='1'/><ref>3</ref>", "\"3\" is not a value of key, to which keyref keyref refers"),
        (
            "<k id='1' other='x'/><k id='2' other='x'/>",
            "\"x\" occurs twice, but unique constraint unique allows it only once",
        ),
    ] {
        let schema = schema(declarations);
        let problems = Validator::new(&schema).validate(format!("<r xmlns='urn:t'>{content}</r>").as_bytes());
        let found: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(found.join("; "), told, "{content}");
    }
}

#[test]
fn ids_are_unique_and_references_lead_to_them() {
    let declarations = r#"<xs:element name="r"><xs:complexType><xs:sequence>
        <xs:element name="i" type="xs:ID" minOccurs="0" maxOccurs="9"/></xs:sequence>
        <xs:attribute name="refs" type="xs:IDREFS"/></xs:complexType></xs:element>"#;
    assert_eq!(problems(declarations, "<r xmlns='urn:t' refs=' b a'><i> a</i><i>b</i></r>"), [""; 0]);
    assert_eq!(
        problems(declarations, "<r xmlns='urn:t' refs='a c'><i>a</i><i>a</i></r>"),
        [
            "1:18: r: no element has the ID \"c\", to which a reference points [cvc-id.1]",
            "1:40: r/i[2]: the ID \"a\" is already used by another element [cvc-id.2]"
        ]
    );
}

#[test]
fn problems_and_sizes_are_limited() {
    let schema = content(&expanded("<xs:sequence>[a*]</xs:sequence>"));
    let document = format!("<r xmlns='urn:t'>{}</r>", "<a x=''/>".repeat(1_000));
    let count = |validator: Validator<'_>| validator.with_max_problems(7).validate(document.as_bytes()).len();
    assert_eq!(Validator::new(&schema).validate(document.as_bytes()).len(), MAX_PROBLEMS);
    assert_eq!(count(Validator::new(&schema)), 7);
    let mut limits = Limits::default();
    limits.message_size = 100;
    let problems = Validator::new(&schema).with_limits(limits).validate(document.as_bytes());
    assert_eq!(problems.iter().map(|problem| problem.rule).collect::<Vec<_>>(), ["well-formed"]);
}

#[test]
fn entities_count_where_documents_have_them() {
    let schema = content(&expanded("<xs:sequence>[a]</xs:sequence>"));
    let text = "<!DOCTYPE r [<!ENTITY e '<a/>'>]><r xmlns='urn:t'>&e;</r>";
    let document = DocumentEntity::new(text, Limits::default()).unwrap();
    assert_eq!(Validator::new(&schema).validate_document(&document), []);
    assert_eq!(Validator::new(&schema).validate(text.as_bytes())[0].rule, "well-formed");
}

#[test]
fn parts_of_a_document_are_judged_by_declarations_and_by_types() {
    let schema = schema(r#"<xs:element name="a" type="xs:int"/>"#);
    let document = "<e><h><a xmlns='urn:t'>x</a></h><b><w><p>1</p><q>2 </q><p>x</p></w><a xmlns='urn:t'>y</a></b></e>";
    let choose = |around: usize, _: &str, local: &str| match (around, local) {
        (1, "h") => Chosen::Skip,
        (3, "p") => Chosen::OfType(crate::Builtin::Boolean.into()),
        (2, "a") => Chosen::Declared,
        _ => Chosen::Within,
    };
    let problems = Validator::new(&schema).validate_within(document, choose);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "1:59: e/b/w/p[2]: \"x\" is not a valid xs:boolean [cvc-type.3.1.3]",
            "1:85: e/b/a: \"y\" is not a valid xs:int [cvc-type.3.1.3]"
        ]
    );
    let broken = Validator::new(&schema).validate_within("<e><b></e>", |_, _, _| Chosen::Within);
    assert_eq!(broken.iter().map(|problem| problem.rule).collect::<Vec<_>>(), ["well-formed"]);
}

#[test]
fn selected_elements_within_each_other_are_bounded() {
    // Each element is selected by all around it, so each start tag is matched against the fields of all of these.
    let declarations = r#"<xs:element name="a"><xs:complexType><xs:sequence><xs:element ref="a" minOccurs="0" maxOccurs="unbounded"/>
        </xs:sequence><xs:attribute name="k"/></xs:complexType>
        <xs:unique name="u"><xs:selector xpath=".//*"/><xs:field xpath="@k"/></xs:unique></xs:element>"#;
    let nested = |depth: usize| {
        let within = r#"<a xmlns="urn:t">"#.repeat(depth);
        problems(declarations, &format!("{within}{}", "</a>".repeat(depth)))
    };
    assert_eq!(nested(40), [""; 0]);
    let problems = nested(50);
    assert!(problems[0].contains("more than 1000 selected elements are open"), "{problems:?}");
}
