//! Choices, groups, and types that stand for others.

use crate::prelude::*;

pub(crate) mod choice {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:choice")]
    pub enum Once {
        A(i32),
        B(String),
        #[xml(max = 3)]
        C(Vec<Once>),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:choice")]
    pub struct Ordered {
        #[xml(flatten)]
        choice: Vec<OrderedChoice>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:choice")]
    pub enum OrderedChoice {
        A(i32),
        B(Nillable<String>),
        #[xml(flatten)]
        Cd(Cd),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:choice", group)]
    pub struct Cd {
        c: i32,
        d: Option<i32>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:choice")]
    pub enum OnceOrOrdered {
        Once(Once),
        Ordered(Ordered),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:choice")]
    pub enum Xy {
        X(i32),
        Y(i32),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:choice")]
    pub enum ZOrPq {
        Z(i32),
        #[xml(flatten, min = 1, max = 2)]
        Pq(Vec<Pq>),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:choice", group)]
    pub struct Pq {
        p: i32,
        q: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:choice")]
    pub enum Address {
        Street(String),
        #[xml(flatten)]
        Box(InBox),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:choice", group)]
    pub struct InBox {
        r#box: i32,
        town: Option<String>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:choice")]
    pub struct Value {
        choice: Option<String>,
        #[xml(flatten)]
        once_or_ordered: OnceOrOrdered,
        #[xml(flatten)]
        xy: Option<Xy>,
        #[xml(flatten)]
        z_or_pq: Option<ZOrPq>,
        #[xml(flatten)]
        address: Option<Address>,
        end: Option<i32>,
    }

    echo!("urn:choice");
}

pub(crate) mod groups {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:groups", group)]
    pub struct Name {
        first: Option<String>,
        last: String,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:groups", group)]
    pub struct Abcd {
        a: Option<i32>,
        #[xml(flatten, max = 2)]
        bc: Vec<Bc>,
        d: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:groups", group)]
    pub struct Bc {
        b: i32,
        c: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:groups", group)]
    pub struct Xy {
        x: i32,
        y: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:groups")]
    pub struct All {
        #[xml(flatten)]
        xy: Option<Xy>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:groups", group)]
    pub struct Pair {
        key: String,
        #[xml(min = 2, max = 2)]
        value: Vec<i32>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:groups")]
    pub struct Pairs {
        #[xml(flatten, min = 1)]
        pair: Vec<Pair>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:groups")]
    pub struct Node {
        #[xml(flatten)]
        children: Vec<Children>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:groups", group)]
    pub struct Children {
        left: Node,
        right: Option<Node>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:groups", group)]
    pub struct People {
        people: i32,
        #[xml(flatten, min = 1)]
        name: Vec<Name>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:groups")]
    pub struct Value {
        #[xml(flatten)]
        name: Name,
        #[xml(flatten)]
        abcd: Option<Abcd>,
        e: Option<i32>,
        f: Option<i32>,
        all: Vec<All>,
        pairs: Option<Pairs>,
        node: Option<Node>,
        #[xml(flatten)]
        people: Option<People>,
    }

    echo!("urn:groups");
}

pub(crate) mod streams {
    use super::*;
    use castile::Items;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:streams", rename_all = "snake_case")]
    pub enum Kind {
        Large,
        Small,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:streams")]
    pub struct Value {
        kind: Kind,
        item: Items<Item>,
        count: Option<i32>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:streams")]
    pub struct Item {
        #[xml(attribute, default = "false")]
        last: bool,
        text: String,
    }

    echo!("urn:streams");
}

pub(crate) mod substitution {
    use super::*;

    /// One of the elements that may stand for `animal`.
    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:substitution")]
    pub enum Animals {
        Dog(Dog),
        Cat(Animal),
        Kitten(Animal),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:substitution")]
    pub struct Animal {
        name: String,
        #[xml(flatten)]
        animal: Option<Box<Animals>>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:substitution")]
    pub struct Dog {
        name: String,
        #[xml(flatten)]
        animal: Option<Box<Animals>>,
        barks: bool,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:substitution")]
    pub enum Notes {
        Note(String),
        Remark(String),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:substitution")]
    pub enum XOrAnimal {
        X(i32),
        #[xml(flatten)]
        Animal(Animals),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:substitution")]
    pub struct Value {
        #[xml(flatten, min = 1)]
        animal: Vec<Animals>,
        #[xml(flatten)]
        note: Option<Notes>,
        #[xml(flatten)]
        x_or_animal: Option<XOrAnimal>,
        sealed: Option<String>,
    }

    echo!("urn:substitution");
}

pub(crate) mod lenient {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient", max_length = 3)]
    pub struct Code(String);

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient", rename_all = "snake_case")]
    pub enum Color {
        Red,
        Blue,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient", max_inclusive = 100)]
    pub struct Percent(i32);

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient", union)]
    pub enum PercentOrColor {
        Percent(Percent),
        Color(Color),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient")]
    pub struct Item {
        #[xml(attribute)]
        id: i32,
        #[xml(attribute)]
        code: Option<Code>,
        #[xml(attribute, fixed = "cm")]
        unit: String,
        name: String,
        note: Option<String>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient", derived)]
    pub enum Shape {
        Circle(Circle),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient", extends = Shape)]
    pub struct Circle {
        label: String,
        radius: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient")]
    pub struct Paragraph {
        #[xml(mixed)]
        content: Vec<Piece>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient")]
    pub enum Piece {
        #[xml(text)]
        Text(String),
        Bold(String),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient", all)]
    pub struct Options {
        fast: bool,
        loud: Option<bool>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient")]
    pub struct Event {
        #[xml(flatten, max = 3)]
        moment: Vec<Moment>,
        end: Option<i32>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient")]
    pub enum Moment {
        Start(i32),
        #[xml(flatten)]
        Span(Span),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient", group)]
    pub struct Span {
        from: i32,
        to: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:lenient")]
    pub struct Value {
        number: Option<i32>,
        code: Option<Code>,
        color: Option<Color>,
        colors: Option<List<Color>>,
        share: Option<PercentOrColor>,
        #[xml(fixed = "1.0")]
        version: Option<String>,
        #[xml(max = 2)]
        pair: Vec<i32>,
        item: Vec<Item>,
        shape: Option<Shape>,
        paragraph: Option<Paragraph>,
        options: Option<Options>,
        event: Option<Event>,
        #[xml(namespace = "")]
        unqualified: Option<i32>,
    }

    echo!("urn:lenient");
}

pub(crate) mod mixed {
    use super::*;
    use castile::Any;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:mixed")]
    pub struct Paragraph {
        #[xml(attribute, name = "content")]
        number: Option<i32>,
        #[xml(mixed)]
        content: Vec<Piece>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:mixed")]
    pub enum Piece {
        #[xml(text)]
        Between(String),
        Text(String),
        Bold(Paragraph),
        #[xml(any)]
        Any(Any),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:mixed")]
    pub struct Note {
        #[xml(attribute)]
        by: Option<String>,
        #[xml(text)]
        value: String,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:mixed")]
    pub struct Value {
        #[xml(min = 1)]
        paragraph: Vec<Paragraph>,
        note: Option<Note>,
    }

    echo!("urn:mixed");
}
