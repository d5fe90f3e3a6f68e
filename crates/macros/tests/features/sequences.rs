//! Elements one after another, or in any order.

use crate::prelude::*;

pub(crate) mod all {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:all", all)]
    pub struct Value {
        x: i32,
        next: Option<i32>,
        index: Option<String>,
        decoder: (),
        element: Option<i32>,
        out: Option<i32>,
        日本: Option<日本>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:all", all)]
    pub struct 日本 {
        日本: i32,
    }

    echo!("urn:all");
}

pub(crate) mod deep {
    use super::*;

    /// A chain of types: each holds the next one as it says.
    macro_rules! chain {
        ($($of:ident $how:ident $(($choice:ident))? $next:ident;)*) => { $(chain!(@$how $of $($choice)? $next);)* };
        (@optional $of:ident $next:ident) => { chain!(@struct $of next: Option<Box<$next>>); };
        (@repeated $of:ident $next:ident) => { chain!(@struct $of next: Vec<$next>); };
        (@choice $of:ident $choice:ident $next:ident) => {
            chain!(@struct $of #[xml(flatten)] next: Option<$choice>);

            #[derive(Clone, Debug, PartialEq, Xml)]
            #[xml(namespace = "urn:deep")]
            pub enum $choice {
                Next(Box<$next>),
                End(i32),
            }
        };
        (@struct $of:ident $(#[$said:meta])? next: $held:ty) => {
            #[derive(Clone, Debug, PartialEq, Xml)]
            #[xml(namespace = "urn:deep")]
            pub struct $of {
                text: Option<String>,
                $(#[$said])?
                next: $held,
            }
        };
    }

    chain! {
        T0 optional T1; T1 optional T2; T2 optional T3; T3 optional T4; T4 choice(C4) T5; T5 optional T6;
        T6 optional T7; T7 repeated T8; T8 optional T9; T9 optional T10; T10 optional T11; T11 optional T12;
        T12 optional T13; T13 choice(C13) T14; T14 optional T15; T15 optional T16; T16 repeated T17;
        T17 optional T18; T18 optional T19; T19 optional T20; T20 optional T21; T21 optional T22;
        T22 choice(C22) T23; T23 optional T24; T24 optional T25; T25 repeated T26; T26 optional T27;
        T27 optional T28; T28 optional T29; T29 optional T30; T30 optional T31; T31 choice(C31) T32;
        T32 optional T33; T33 optional T34; T34 repeated T35; T35 optional T36; T36 optional T37;
        T37 optional T38; T38 optional T39; T39 optional T40; T40 choice(C40) T41; T41 optional T42;
        T42 optional T43; T43 repeated T44; T44 optional T45; T45 optional T46; T46 optional T47;
        T47 optional T48; T48 optional T49; T49 choice(C49) T50; T50 optional T51; T51 optional T52;
        T52 repeated T53; T53 optional T54; T54 optional T55; T55 optional T56; T56 optional T57;
        T57 optional T58; T58 choice(C58) T59; T59 optional T60; T60 optional T61; T61 repeated T62;
        T62 optional T63; T63 optional T64; T64 optional T65; T65 optional T66; T66 optional T67;
        T67 choice(C67) T68; T68 optional T69; T69 optional T70; T70 repeated T71; T71 optional T72;
        T72 optional T73; T73 optional T74; T74 optional T75; T75 optional T76; T76 choice(C76) T77;
        T77 optional T78; T78 optional T79; T79 repeated T80; T80 optional T81; T81 optional T82;
        T82 optional T83; T83 optional T84; T84 optional T85; T85 choice(C85) T86; T86 optional T87;
        T87 optional T88; T88 repeated T89; T89 optional T90; T90 optional T91; T91 optional T92;
        T92 optional T93; T93 optional T94; T94 choice(C94) T95; T95 optional T96; T96 optional T97;
        T97 repeated T98; T98 optional T99; T99 optional T100; T100 optional T101; T101 optional T102;
        T102 optional T103; T103 choice(C103) T104; T104 optional T105; T105 optional T106;
        T106 repeated T107;
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:deep")]
    pub struct T107 {
        text: Option<String>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:deep")]
    pub struct Value {
        next: Option<Box<T0>>,
    }

    echo!("urn:deep");
}

/// Types that have values themselves and are extended.
pub(crate) mod derivation {
    use super::*;

    /// Something flat.
    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation", derived)]
    pub enum Shape {
        Circle(Circle),
        Group(Group),
        #[xml(other)]
        Other(AnyType),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation", extends = Shape)]
    pub struct Circle {
        #[xml(attribute)]
        unit: Option<String>,
        name: String,
        radius: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation", extends = Shape)]
    pub struct Group {
        name: String,
        shape: Vec<Shape>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation", name = "Base", derived)]
    pub enum BaseOrDerived {
        Derived(Derived),
        Further(Further),
        #[xml(itself)]
        Base(Base),
        #[xml(other)]
        Other(AnyType),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation")]
    pub struct Base {
        a: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation", name = "Derived", derived)]
    pub enum DerivedOrDerived {
        #[xml(itself)]
        Derived(Derived),
        Further(Box<Further>),
        #[xml(other)]
        Other(AnyType),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation", extends = BaseOrDerived)]
    pub struct Derived {
        a: i32,
        b: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation", extends = DerivedOrDerived)]
    pub struct Further {
        #[xml(attribute)]
        c: i32,
        a: i32,
        b: i32,
    }

    /// Of which this contract has no kind.
    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation", derived)]
    pub enum Nothing {
        #[xml(other)]
        Other(AnyType),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation", name = "Closed", derived)]
    pub enum ClosedOrDerived {
        #[xml(itself)]
        Closed(Closed),
        Restricted(Restricted),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation")]
    pub struct Closed {
        a: Option<i32>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation", extends = ClosedOrDerived)]
    pub struct Restricted {
        a: Option<i32>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:derivation")]
    pub struct Value {
        shape: Vec<Shape>,
        base: Vec<BaseOrDerived>,
        derived: Option<NillableWithAttributes<DerivedOrDerived>>,
        further: Option<Further>,
        nothing: Option<Nothing>,
        itself: Option<Base>,
        closed: Option<ClosedOrDerived>,
    }

    echo!("urn:derivation");
}

pub(crate) mod documentation {
    use super::*;

    /// One line.
    ///
    /// An array[i] of [links] & <b>bold</b>, `Order`, */ /* // ///
    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:documentation")]
    pub struct Value {
        ///     let x = 1;
        marked: i32,
        empty: i32,
        html: i32,
        /// In English.
        twice: i32,
        /// Words that are names here: Recursive, Nillable, Poll.
        reserved: i32,
    }

    echo!("urn:documentation");
}

pub(crate) mod extension {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:extension", group)]
    pub struct Base {
        a: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:extension", group)]
    pub struct Extended {
        #[xml(flatten)]
        base: Base,
        b: Option<i32>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:extension")]
    pub struct FromNothing {
        c: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:extension")]
    pub struct Unchanged {
        #[xml(flatten)]
        base: Base,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:extension")]
    pub struct Value {
        #[xml(flatten)]
        extended: Extended,
        from_nothing: FromNothing,
        unchanged: Unchanged,
        base: Base,
    }

    echo!("urn:extension");
}

pub(crate) mod inline_structs {
    use super::*;

    /// A type with twelve elements of one type.
    macro_rules! level {
        ($of:ident, $held:ty) => {
            #[derive(Clone, Debug, PartialEq, Xml)]
            #[xml(namespace = "urn:inline_structs")]
            pub struct $of {
                a: Option<$held>,
                b: Option<$held>,
                c: Option<$held>,
                d: Option<$held>,
                e: Option<$held>,
                f: Option<$held>,
                g: Option<$held>,
                h: Option<$held>,
                i: Option<$held>,
                j: Option<$held>,
                k: Option<$held>,
                l: Option<$held>,
            }
        };
    }

    level!(Level0, Box<Level1>);
    level!(Level1, Box<Level2>);
    level!(Level2, Box<Level3>);
    level!(Level3, String);

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:inline_structs", derived)]
    pub enum Shape {
        Rectangle(Box<Rectangle>),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:inline_structs")]
    pub struct Polygon {
        outline: Option<Level3>,
        area: Option<Box<Level3>>,
        corners: Option<Box<Level3>>,
        name: String,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:inline_structs", extends = Shape)]
    pub struct Rectangle {
        outline: Option<Level3>,
        area: Option<Box<Level3>>,
        corners: Option<Box<Level3>>,
        name: String,
        width: Level3,
        height: Option<Box<Level3>>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:inline_structs")]
    pub enum Animals {
        Animal(Box<Level3>),
        Dog(Box<Level3>),
        Cat(Box<Level3>),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:inline_structs", all)]
    pub struct Parts {
        first: Level2,
        second: Option<Box<Level3>>,
        third: Option<Level3>,
        fourth: Option<Box<Level3>>,
        fifth: Box<Level3>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:inline_structs")]
    pub struct Tagged {
        #[xml(attribute)]
        pa: Option<String>,
        #[xml(attribute)]
        qh: Option<String>,
        one: Option<Box<Level3>>,
        two: Option<Level3>,
        small: Option<Small>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:inline_structs")]
    pub struct Small {
        number: i32,
        flag: Option<bool>,
        moment: Option<DateTime>,
        day: Option<Date>,
        time: Option<Time>,
        month: Option<GMonth>,
        amount: Option<Decimal>,
        bytes: Option<Base64Binary>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:inline_structs")]
    pub enum One {
        Large(Box<Level3>),
        Text(String),
        #[xml(flatten)]
        Both(Both),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:inline_structs", group)]
    pub struct Both {
        ga: Box<Level3>,
        gb: Option<Box<Level3>>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:inline_structs", group)]
    pub struct Three {
        ha: String,
        hb: Option<Box<Level3>>,
        hc: Option<Box<Level3>>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:inline_structs")]
    pub struct Value {
        tree: Option<Box<Level0>>,
        needed: Box<Level2>,
        nil: Option<Box<Nillable<Level1>>>,
        needed_nil: Box<Nillable<Level1>>,
        #[xml(flatten)]
        choice: Vec<One>,
        #[xml(flatten)]
        three: Option<Three>,
        shape: Option<Shape>,
        polygon: Option<Box<Polygon>>,
        #[xml(flatten)]
        animal: Option<Box<Animals>>,
        parts: Option<Box<Parts>>,
        tagged: Option<Box<Tagged>>,
        small: Option<Box<Nillable<Small>>>,
        list: Vec<Level0>,
    }

    echo!("urn:inline_structs");
}

pub(crate) mod large {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:large")]
    pub struct Large {
        a: Option<String>,
        b: Option<String>,
        c: Option<String>,
        d: Option<String>,
        e: Option<String>,
        f: Option<String>,
        g: Option<String>,
        h: Option<String>,
        i: Option<String>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:large", name = "Fits", derived)]
    pub enum FitsOrLarger {
        #[xml(itself)]
        Fits(Fits),
        Larger(Box<Larger>),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:large")]
    pub struct Fits {
        a: Option<String>,
        b: Option<String>,
        c: Option<String>,
        d: Option<String>,
        e: Option<String>,
        f: Option<String>,
        g: Option<String>,
        h: Option<String>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:large", extends = FitsOrLarger)]
    pub struct Larger {
        a: Option<String>,
        b: Option<String>,
        c: Option<String>,
        d: Option<String>,
        e: Option<String>,
        f: Option<String>,
        g: Option<String>,
        h: Option<String>,
        more: Box<Large>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:large")]
    pub enum Choice {
        Large(Box<Large>),
        Nil(Box<Nillable<Large>>),
        Number(i32),
        #[xml(flatten)]
        Group(Box<Texts>),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:large", group)]
    pub struct Texts {
        ga: String,
        gb: Option<String>,
        gc: Option<String>,
        gd: Option<String>,
        ge: Option<String>,
        gf: Option<String>,
        gg: Option<String>,
        gh: Option<String>,
        gi: Option<String>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:large")]
    pub struct Value {
        #[xml(flatten, min = 1)]
        choice: Vec<Choice>,
        #[xml(min = 1)]
        derived: Vec<FitsOrLarger>,
    }

    echo!("urn:large");
}

pub(crate) mod names {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:names", rename_all = "as it is")]
    #[allow(non_snake_case, reason = "the contract requires it")]
    pub struct Value {
        r#type: Option<i32>,
        #[xml(name = "self")]
        itself: Option<i32>,
        #[xml(name = "Self")]
        of_itself: Option<i32>,
        #[xml(name = "super")]
        above: Option<i32>,
        #[xml(name = "crate")]
        whole: Option<i32>,
        r#gen: Option<i32>,
        r#async: Option<i32>,
        r#try: Option<i32>,
        r#dyn: Option<i32>,
        union: Option<i32>,
        r#static: Option<i32>,
        macro_rules: Option<i32>,
        OrderId: Option<i32>,
        orderId: Option<i32>,
        #[xml(name = "order-id")]
        with_hyphen: Option<i32>,
        #[xml(name = "order.id")]
        with_point: Option<i32>,
        ORDER_ID: Option<i32>,
        _3d: Option<i32>,
        #[xml(name = "_")]
        nameless: Option<i32>,
        #[xml(name = "_-")]
        hyphen: Option<i32>,
        __x: Option<i32>,
        é: Option<i32>,
        日本: Option<i32>,
        x·y: Option<i32>,
        i32: Option<i32>,
        String: Option<i32>,
        Box: Option<i32>,
        #[xml(name = "nullValue")]
        null_value: Option<i32>,
    }

    /// A type for each element, which has an element that is called so itself.
    macro_rules! types {
        ($($of:ident $name:literal $field:ident)*) => {
            $(
                #[derive(Clone, Debug, PartialEq, Xml)]
                #[xml(namespace = "urn:names", name = $name)]
                pub struct $of {
                    #[xml(name = $name)]
                    $field: Option<i32>,
                }
            )*

            #[derive(Clone, Debug, PartialEq, Xml)]
            #[xml(namespace = "urn:names")]
            pub struct Types {
                $(#[xml(name = $name)] $field: Option<$of>,)*
            }
        };
    }

    // `Option`, `Vec` and `String` say how often a field comes and what it is of, so no type is called so.
    types! {
        Error "Error" error
        Maybe "Option" option
        Many "Vec" vec
        Text "String" string
        Itself "self" itself
        SmallType "type" r#type
        Result "Result" result
        Some "Some" some
        Element "Element" element
        WithHyphen "order-line" with_hyphen
        WithPoint "order.line" with_point
        OrderLine "OrderLine" order_line
        _3D "_3D" _3d
        Number "i32" i32
        OtherFault "Fault" fault
        Type "Type" large_type
        FromXml "FromXml" from_xml
        Default "Default" default
        Recursive "Recursive" recursive
        TowerService "TowerService" tower_service
    }

    echo!("urn:names", echo(Value), r#types(Types));
}

pub(crate) mod optional_and_repeated {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:optional_and_repeated")]
    pub struct Value {
        optional: Option<i32>,
        any: Vec<i32>,
        #[xml(min = 1)]
        some: Vec<String>,
        #[xml(min = 2, max = 3)]
        few: Vec<i32>,
        last: Option<Part>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:optional_and_repeated")]
    pub struct Part {
        optional: Option<String>,
    }

    echo!("urn:optional_and_repeated");
}

pub(crate) mod recursion {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:recursion")]
    pub struct Value {
        list: Option<Numbers>,
        tree: Option<Tree>,
        husband: Option<Husband>,
        nil: Option<Nil>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:recursion", name = "List")]
    pub struct Numbers {
        number: i32,
        next: Option<Box<Numbers>>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:recursion")]
    pub struct Tree {
        tree: Vec<Tree>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:recursion")]
    pub struct Husband {
        wife: Option<Box<Wife>>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:recursion")]
    pub struct Wife {
        husband: Husband,
        second: Option<Husband>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:recursion")]
    pub struct Nil {
        nil: Box<Nillable<Nil>>,
    }

    echo!("urn:recursion");
}

pub(crate) mod repeated_names {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:repeated_names")]
    pub struct Value {
        a: i32,
        b: Option<i32>,
        #[xml(name = "a")]
        a2: i32,
        // Numbers there, which a contract may not say beside a text of this name (cos-element-consistent).
        #[xml(min = 2, max = 2)]
        c: Vec<String>,
        #[xml(name = "c")]
        c2: Option<String>,
    }

    echo!("urn:repeated_names");
}

pub(crate) mod sequence {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:sequence")]
    pub struct Value {
        first: String,
        second: i32,
        nothing: (),
        #[xml(name = "first")]
        last: String,
    }

    echo!("urn:sequence");
}
