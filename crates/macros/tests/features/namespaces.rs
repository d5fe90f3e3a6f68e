//! Elements and attributes of several namespaces, and of none.

use crate::prelude::*;

pub(crate) mod imports {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:imports")]
    pub struct Value {
        text: String,
    }

    echo!("urn:imports");
}

/// What two features have alike: types of two namespaces.
macro_rules! two_namespaces {
    ($namespace:literal, $other:literal) => {
        #[derive(Clone, Debug, PartialEq, Xml)]
        #[xml(namespace = $other)]
        pub struct Part {
            a: i32,
        }

        #[derive(Clone, Debug, PartialEq, Xml)]
        #[xml(namespace = $other)]
        pub struct Parts {
            #[xml(min = 1)]
            part: Vec<Part>,
        }

        #[derive(Clone, Copy, Debug, PartialEq, Xml)]
        #[xml(namespace = $namespace, rename_all = "snake_case")]
        pub enum Kind {
            One,
            Two,
        }

        echo!($namespace);
    };
}

pub(crate) mod two_namespaces {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:two_namespaces")]
    pub struct Value {
        #[xml(attribute)]
        kind: Option<Kind>,
        a: i32,
        #[xml(namespace = "urn:two_namespaces:other")]
        note: String,
        part: Part,
        #[xml(namespace = "urn:two_namespaces:other")]
        parts: Option<Parts>,
        b: i32,
    }

    two_namespaces!("urn:two_namespaces", "urn:two_namespaces:other");

    pub mod other {
        use super::Part;
        use crate::prelude::*;

        echo!("urn:two_namespaces:other", other(Part));
    }
}

pub(crate) mod adjusted {
    use super::*;
    use castile::Adapter;

    /// So many cents.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Cents(i64);

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:adjusted", fraction_digits = 2)]
    pub struct Money(Decimal);

    pub struct AsMoney;

    impl Adapter<Cents> for AsMoney {
        type Xml = Money;

        fn from_xml(Money(amount): Money) -> Result<Cents, String> {
            let text = amount.to_string();
            let (whole, cents) = text.split_once('.').unwrap_or((&text, ""));
            format!("{whole}{cents:0<2}").parse().map(Cents).map_err(|_| "it is too much".to_owned())
        }

        fn to_xml(value: &Cents) -> Money {
            let sign = if value.0 < 0 { "-" } else { "" };
            let cents = value.0.abs();
            Money(format!("{sign}{}.{:02}", cents / 100, cents % 100).parse().unwrap())
        }
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:adjusted")]
    pub struct Value {
        #[xml(attribute)]
        kind: Option<Kind>,
        a: i32,
        #[xml(with = AsMoney)]
        price: Option<Cents>,
        day: Option<Date>,
        #[xml(namespace = "urn:adjusted:other")]
        note: String,
        part: Part,
        #[xml(namespace = "urn:adjusted:other")]
        parts: Option<Parts>,
        b: f64,
    }

    two_namespaces!("urn:adjusted", "urn:adjusted:other");
}

pub(crate) mod unqualified {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:unqualified", unqualified)]
    pub struct Value {
        #[xml(namespace = "urn:unqualified")]
        head: String,
        a: i32,
        #[xml(namespace = "urn:unqualified")]
        qualified: i32,
        part: Option<Part>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:unqualified", unqualified)]
    pub struct Part {
        b: i32,
    }

    echo!("urn:unqualified");
}

pub(crate) mod collisions {
    use super::*;

    /// A type for each element, which is called so and has one element.
    macro_rules! types {
        ($($of:ident $name:literal $field:ident)*) => {
            $(
                #[derive(Clone, Debug, PartialEq, Xml)]
                #[xml(namespace = "urn:collisions", name = $name)]
                pub struct $of {
                    a: i32,
                }
            )*

            #[derive(Clone, Debug, PartialEq, Xml)]
            #[xml(namespace = "urn:collisions")]
            pub struct Value {
                $(#[xml(name = $name)] $field: Option<$of>,)*
                #[xml(namespace = "urn:collisions:other")]
                note: Option<String>,
            }
        };
    }

    types! {
        OfFeature "Feature" feature
        OfServer "FeatureServer" server
        OfClient "FeatureClient" client
        FeatureDispatch "feature-dispatch" dispatch
        FeatureOperations "FeatureOperations" operations
        A1b "A1b" a1b
        A1B "A1B" a1b_large
        Namespace "Namespace" namespace
        LargeNamespace "NAMESPACE" namespace_large
        Namespace2 "Namespace2" namespace2
        BookFault "BookFault" book_fault
    }

    echo!(
        "urn:collisions",
        echo(Value),
        #[soap(name = "new")]
        new_(Value),
        #[soap(name = "with-transport")]
        transported(Value),
        clone(Value),
        into(Value),
        drop(Value)
    );
}

pub(crate) mod wildcards {
    use super::*;
    use castile::{Any, AnyAttribute, AnyElements, AnyType, Nillable};

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:wildcards")]
    pub struct Extensible {
        #[xml(any_attributes)]
        attributes: Vec<AnyAttribute>,
        a: i32,
        #[xml(any)]
        rest: AnyElements,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:wildcards")]
    pub enum BOrAny {
        B(i32),
        #[xml(any = "urn:o ##local")]
        Any(Any),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:wildcards")]
    pub struct Ambiguous {
        #[xml(any = "##any")]
        any: Option<Any>,
        declared: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:wildcards")]
    pub struct Value {
        extensible: Option<Extensible>,
        #[xml(flatten)]
        choice: Vec<BOrAny>,
        c: Option<i32>,
        #[xml(any = "urn:wildcards")]
        own: Option<Any>,
        anything: Vec<AnyType>,
        untyped: Option<Nillable<AnyType>>,
        ambiguous: Option<Ambiguous>,
    }

    echo!("urn:wildcards");
}
