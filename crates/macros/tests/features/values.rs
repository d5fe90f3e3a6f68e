//! Simple types, and values that may be nil.

use crate::prelude::*;

pub(crate) mod attributes {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:attributes")]
    pub struct Item {
        #[xml(attribute)]
        text: Option<String>,
        #[xml(attribute, default = "12")]
        size: i32,
        #[xml(attribute, fixed = "cm")]
        unit: String,
        #[xml(attribute, fixed = "a&b")]
        kind: String,
        /// The number.
        #[xml(attribute, name = "id")]
        number: i32,
        #[xml(attribute, namespace = "urn:attributes")]
        version: Option<Token>,
        id: Option<String>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:attributes", all)]
    pub struct Open {
        #[xml(attribute)]
        decoder: Option<i32>,
        #[xml(attribute)]
        name: Option<QName>,
        #[xml(any_attributes = "##other")]
        more: Vec<AnyAttribute>,
        element: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:attributes")]
    pub struct Value {
        item: Vec<Item>,
        open: Option<Open>,
        nil: Option<NillableWithAttributes<Open>>,
    }

    echo!("urn:attributes");
}

pub(crate) mod datatypes {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:datatypes", rename_all = "as it is")]
    #[allow(non_snake_case, reason = "the contract requires it")]
    pub struct Value {
        decimal: Option<Decimal>,
        integer: Option<Integer>,
        nonNegativeInteger: Option<NonNegativeInteger>,
        positiveInteger: Option<PositiveInteger>,
        nonPositiveInteger: Option<NonPositiveInteger>,
        negativeInteger: Option<NegativeInteger>,
        duration: Option<Duration>,
        time: Option<Time>,
        date: Option<Date>,
        gYearMonth: Option<GYearMonth>,
        gYear: Option<GYear>,
        gMonthDay: Option<GMonthDay>,
        gDay: Option<GDay>,
        gMonth: Option<GMonth>,
        hexBinary: Option<HexBinary>,
        QName: Option<QName>,
        // `xs:NOTATION` itself is the type of nothing (enumeration-required-notation).
        NOTATION: Option<QName>,
        normalizedString: Option<NormalizedString>,
        token: Option<Token>,
        anyURI: Option<AnyUri>,
        language: Option<Language>,
        NMTOKEN: Option<Nmtoken>,
        NMTOKENS: Option<Nmtokens>,
        Name: Option<Name>,
        NCName: Option<NcName>,
        ID: Option<Id>,
        IDREF: Option<Idref>,
        IDREFS: Option<Idrefs>,
        ENTITY: Option<Entity>,
        ENTITIES: Option<Entities>,
        required: Option<Required>,
        union: Vec<NumberOrName>,
        unions: Option<List<NumberOrName>>,
        unionAttribute: Option<UnionAttribute>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:datatypes", union)]
    pub enum NumberOrName {
        Int(i32),
        NameOrToken(NameOrToken),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:datatypes", union)]
    pub enum NameOrToken {
        QName(QName),
        Token(Token),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:datatypes")]
    pub struct UnionAttribute {
        #[xml(attribute)]
        of: NumberOrName,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:datatypes")]
    pub struct Required {
        amount: Decimal,
        currency: Token,
    }

    echo!("urn:datatypes");
}

pub(crate) mod default_values {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:default_values")]
    pub struct Value {
        #[xml(default = "12")]
        number: i32,
        #[xml(default = "none")]
        text: Option<String>,
        #[xml(fixed = "1.50")]
        fixed: Option<Decimal>,
        nil: Option<Nillable<i32>>,
    }

    echo!("urn:default_values");
}

pub(crate) mod enumerations {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:enumerations", white_space = "preserve")]
    pub enum Color {
        #[xml(name = "red")]
        Small,
        Red,
        #[xml(name = "dark-blue")]
        DarkBlue,
        #[xml(name = "")]
        Empty,
        #[xml(name = "other")]
        SaidOther,
        #[xml(name = "1")]
        One,
        #[xml(name = "+")]
        Plus,
        #[xml(name = "self")]
        Itself,
        #[xml(name = "a \"b\"")]
        Quoted,
        #[xml(other)]
        Other(String),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:enumerations", rename_all = "snake_case")]
    pub enum Size {
        Small,
        Large,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:enumerations", rename_all = "snake_case")]
    pub enum SizeAndMore {
        Small,
        Large,
        #[xml(other)]
        Other(String),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:enumerations", rename_all = "snake_case")]
    pub enum Small {
        Small,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:enumerations", union)]
    pub enum SizeOrNumber {
        Size(Size),
        Int(i32),
        Token(Token),
        Date(Date),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:enumerations", rename_all = "snake_case")]
    pub enum Kind {
        A,
        B,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:enumerations")]
    pub struct Value {
        #[xml(attribute)]
        size: Option<Size>,
        color: Vec<Color>,
        small: Option<Small>,
        sizes: Option<List<SizeAndMore>>,
        either: Vec<SizeOrNumber>,
        kind: Option<Kind>,
        numbers: Option<List<i32>>,
    }

    echo!("urn:enumerations");
}

pub(crate) mod facets {
    use super::*;

    const NAMESPACE: &str = "urn:facets";

    /// A struct around one value.
    macro_rules! restricted {
        ($($of:ident($held:ty) { $($facet:ident = $value:expr),+ })*) => {$(
            #[derive(Clone, Debug, PartialEq, Xml)]
            #[xml(namespace = NAMESPACE, $($facet = $value),+)]
            pub struct $of($held);
        )*};
    }

    restricted! {
        Code(String) { min_length = 2, max_length = 5, pattern = "[A-Z].*" }
        DigitCode(Code) { pattern = r".*\d", pattern = ".*#" }
        Percent(i32) { min_inclusive = 1, max_inclusive = 100 }
        Frost(i32) { max_exclusive = 0, min_exclusive = -300 }
        Price(Decimal) { min_exclusive = 0, total_digits = 5, fraction_digits = 2 }
        Key(HexBinary) { length = 2 }
        Day(Date) { max_exclusive = "2030-01-01" }
        Word(String) { white_space = "collapse", max_length = 3 }
        Grade(i32) { enumeration = 1, enumeration = 2, enumeration = "+3" }
        FewPercents(Percents) { max_length = 2 }
        OneColor(Colors) { length = 1 }
        SomeSize(Size) { enumeration = "07", enumeration = "red", pattern = "...?" }
        ShortKind(PercentOrKind) { pattern = ".{1,7}" }
        Own(f32) { name = "own", max_inclusive = 1.5 }
        Percents(List<Percent>) { name = "Percents" }
        Colors(List<Color>) { name = "Colors" }
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:facets", rename_all = "snake_case")]
    pub enum Color {
        Red,
        Green,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:facets", rename_all = "snake_case")]
    pub enum Reddish {
        Red,
    }

    /// A union.
    macro_rules! union {
        ($($of:ident { $($variant:ident($held:ty)),+ })*) => {$(
            #[derive(Clone, Debug, PartialEq, Xml)]
            #[xml(namespace = "urn:facets", union)]
            pub enum $of {
                $($variant($held)),+
            }
        )*};
    }

    union! {
        Size { Percent(Percent), Color(Color), Date(Date) }
        Temperature { Percent(Percent), Frost(Frost) }
        CodeOrPercent { Code(Code), Percent(Percent), Boolean(bool) }
        SizeOrCode { Size(SomeSize), Code(Code) }
        PercentOrKind { Percent(Percent), Kind(QName) }
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:facets")]
    pub struct Amount {
        #[xml(attribute)]
        percent: Option<Percent>,
        #[xml(text)]
        value: Price,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:facets")]
    pub struct Marks {
        #[xml(attribute)]
        code: Code,
        #[xml(attribute, default = "2")]
        grade: Grade,
        #[xml(attribute)]
        color: Option<Color>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:facets:other", max_length = 3)]
    pub struct Short(Token);

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:facets:other")]
    pub struct Part {
        #[xml(attribute)]
        code: Option<Code>,
        short: Short,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:facets")]
    pub enum NorthOrSouth {
        North(Percent),
        South(Frost),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:facets")]
    pub struct Value {
        code: Vec<Code>,
        digit_code: Option<DigitCode>,
        percent: Vec<Percent>,
        price: Option<Price>,
        key: Option<Key>,
        day: Option<Day>,
        word: Option<Word>,
        grade: Option<Grade>,
        color: Option<Color>,
        kind: Option<QName>,
        percents: Option<Percents>,
        few: Option<FewPercents>,
        one_color: Option<OneColor>,
        size: Vec<Size>,
        some_size: Vec<SomeSize>,
        temperature: Vec<Temperature>,
        either: Vec<CodeOrPercent>,
        amount: Option<Amount>,
        marks: Option<Marks>,
        part: Option<Part>,
        short: Option<Short>,
        maybe: Vec<Nillable<Percent>>,
        #[xml(default = "50")]
        level: Option<Percent>,
        own: Option<Own>,
        reddish: Option<Reddish>,
        size_or_code: Option<SizeOrCode>,
        #[xml(flatten)]
        north_or_south: Option<NorthOrSouth>,
        percent_or_kind: Vec<PercentOrKind>,
        short_kind: Vec<ShortKind>,
        some_kinds: Vec<List<QName>>,
        first_or_seven: Vec<PercentOrKind>,
    }

    echo!("urn:facets", echo(Value), rate(Percent));
}

pub(crate) mod nillable {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:nillable")]
    pub struct Value {
        text: Nillable<String>,
        optional: Option<Nillable<i32>>,
        part: Nillable<Part>,
        item: Vec<Nillable<Part>>,
        price: Option<NillableWithAttributes<Price>>,
        shape: Vec<NillableWithAttributes<ShapeOrDerived>>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:nillable", name = "Shape", derived)]
    pub enum ShapeOrDerived {
        #[xml(itself)]
        Shape(Shape),
        Circle(Circle),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:nillable")]
    pub struct Price {
        #[xml(text)]
        value: Decimal,
        #[xml(attribute)]
        currency: String,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:nillable")]
    pub struct Shape {
        name: String,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:nillable", extends = ShapeOrDerived)]
    pub struct Circle {
        #[xml(any_attributes)]
        more: Vec<AnyAttribute>,
        name: String,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:nillable")]
    pub struct Part {
        number: i32,
    }

    echo!("urn:nillable");
}

pub(crate) mod simple_content {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:simple_content")]
    pub struct Plain {
        #[xml(attribute, fixed = "EUR")]
        currency: String,
        #[xml(attribute, name = "value")]
        number: Option<i32>,
        #[xml(text)]
        value: Decimal,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:simple_content")]
    pub struct Name {
        #[xml(attribute)]
        lang: Option<Language>,
        #[xml(text)]
        value: QName,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:simple_content")]
    pub struct Value {
        plain: Vec<NillableWithAttributes<Plain>>,
        name: Name,
    }

    echo!("urn:simple_content");
}

pub(crate) mod simple_payload {
    use super::*;

    echo!("urn:simple_payload", greet(String), count(i32), bytes(Base64Binary));
}

pub(crate) mod simple_types {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:simple_types", max_inclusive = 10)]
    pub struct Derived(i32);

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:simple_types")]
    pub struct Value {
        string: Option<String>,
        boolean: Option<bool>,
        float: Option<f32>,
        double: Option<f64>,
        byte: Option<i8>,
        short: Option<i16>,
        int: Option<i32>,
        long: Option<i64>,
        unsigned_byte: Option<u8>,
        unsigned_short: Option<u16>,
        unsigned_int: Option<u32>,
        unsigned_long: Option<u64>,
        date_time: Option<DateTime>,
        #[xml(name = "base64Binary")]
        base64_binary: Option<Base64Binary>,
        derived: Option<Derived>,
        #[xml(default = "7")]
        preset: Option<i32>,
    }

    echo!("urn:simple_types");
}
