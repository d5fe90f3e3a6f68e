//! Operations: versions of SOAP, styles, faults, header blocks.

use castile::soap::Reason;
use castile::{AnyType, CallError, Detail, FaultCode, FaultDetail};

use crate::prelude::*;

/// Features that are called, and have no messages in files.
pub(crate) const CALLED: &[&str] = &["same_element_twice", "soap12", "typed_faults"];

pub(crate) mod binding_alone {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:binding_alone")]
    pub struct Value {
        a: i32,
    }

    echo!("urn:binding_alone");
}

pub(crate) mod both_versions {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:both_versions")]
    pub struct Value {
        a: i32,
    }

    echo!(
        "urn:both_versions",
        echo(Value),
        #[soap(name = "withVersion")]
        of_version(Value)
    );
}

pub(crate) mod rpc_literal {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:rpc_literal")]
    pub struct Person {
        #[xml(attribute)]
        id: Option<i32>,
        name: String,
        age: Option<i32>,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:rpc_literal", extends = PersonOrPupil)]
    pub struct Pupil {
        #[xml(attribute)]
        id: Option<i32>,
        name: String,
        age: Option<i32>,
        form: String,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:rpc_literal", name = "Person", derived)]
    pub enum PersonOrPupil {
        #[xml(itself)]
        Person(Person),
        Pupil(Pupil),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:rpc_literal", rename_all = "snake_case")]
    pub enum Size {
        Small,
        #[xml(other)]
        Other(String),
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:rpc", unqualified)]
    pub struct Echoed {
        #[xml(name = "Person")]
        person: PersonOrPupil,
        r#type: Size,
        count: i32,
        anything: AnyType,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:rpc", unqualified)]
    pub struct Nothing {}

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:rpc", unqualified)]
    pub struct Two {
        a: i32,
        c: i32,
    }

    echo!("urn:rpc", @rpc, echo(Echoed), ping(Nothing), some(Two));
}

mod same_element_twice {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:same_element_twice")]
    pub struct Value {
        text: String,
    }

    #[service(namespace = "urn:same_element_twice")]
    pub trait Feature {
        #[soap(element = "change", response_element = "changeResponse")]
        async fn lower(&self, request: Request<Value>) -> Response<Value>;
        #[soap(element = "change", response_element = "changeResponse")]
        async fn upper(&self, request: Request<Value>) -> Response<Value>;
    }

    /// Makes the letters small or large.
    struct Letters;

    impl Feature for Letters {
        async fn lower(&self, request: Request<Value>) -> Response<Value> {
            Value { text: request.into_inner().text.to_lowercase() }.into()
        }

        async fn upper(&self, request: Request<Value>) -> Response<Value> {
            Value { text: request.into_inner().text.to_uppercase() }.into()
        }
    }

    #[tokio::test]
    async fn operations_with_the_same_element_are_distinguished_by_their_action() {
        let client = FeatureClient::with_transport("http://localhost/", FeatureServer::new(Letters)).unwrap();
        let request = Value { text: "Text".into() };
        assert_eq!(client.lower(&request).await.unwrap().text, "text");
        assert_eq!(client.upper(&request).await.unwrap().text, "TEXT");
    }
}

mod soap12 {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:soap12")]
    pub struct Value {
        ask: String,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:soap12")]
    pub struct Version {
        number: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml, FaultDetail)]
    #[xml(namespace = "urn:soap12", element = "tooOld")]
    pub struct SoapVersion {
        version: Option<Version>,
    }

    #[service(namespace = "urn:soap12", soap = "1.2")]
    pub trait Feature {
        async fn echo(&self, request: Request<Value>) -> Result<Response<Value>, Fault<SoapVersion>>;
        #[soap(element = "echo", response_element = "echoResponse")]
        async fn other(&self, request: Request<Value>) -> Response<Value>;
    }

    /// Too old for anything else than its name.
    struct Old;

    fn detail() -> SoapVersion {
        SoapVersion { version: Some(Version { number: 3 }) }
    }

    impl Feature for Old {
        async fn echo(&self, _: Request<Value>) -> Result<Response<Value>, Fault<SoapVersion>> {
            let age = QName::new("urn:soap12", "Age").unwrap();
            Err(Fault::sender("too old").with_subcode(age).with_detail(detail()))
        }

        async fn other(&self, request: Request<Value>) -> Response<Value> {
            Value { ask: format!("other {}", request.into_inner().ask) }.into()
        }
    }

    #[tokio::test]
    async fn a_contract_of_soap12() {
        let client = FeatureClient::with_transport("http://localhost/", FeatureServer::new(Old)).unwrap();
        let request = Value { ask: "name".into() };
        assert_eq!(client.other(&request).await.unwrap().ask, "other name");
        let answer = client.echo(&request).await;
        let Err(CallError::Fault { fault, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!((fault.code, fault.reason), (FaultCode::Sender, Reason::new("en", "too old")));
        assert_eq!(fault.subcodes, [QName::new("urn:soap12", "Age").unwrap()]);
        assert_eq!(fault.detail, Detail::Declared(detail()));
    }
}

mod typed_faults {
    use super::*;

    const CLOSED: DateTime = DateTime {
        year: 2005,
        month: 7,
        day: 1,
        hour: 18,
        minute: 0,
        second: 0,
        nanosecond: 0,
        offset_minutes: Some(0),
    };

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:typed_faults")]
    pub struct Value {
        ask: String,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:typed_faults")]
    pub struct OutOfStock {
        item: String,
        #[xml(namespace = "urn:typed_faults:other")]
        left: Option<i32>,
    }

    #[derive(Clone, Debug, PartialEq, FaultDetail)]
    #[xml(namespace = "urn:typed_faults")]
    pub enum EchoFault {
        OutOfStock(OutOfStock),
        #[xml(name = "closed")]
        Error(DateTime),
    }

    #[service(namespace = "urn:typed_faults", soap = "1.1")]
    pub trait Feature {
        async fn echo(&self, request: Request<Value>) -> Result<Response<Value>, Fault<EchoFault>>;
        #[soap(element = "echo", response_element = "echoResponse")]
        async fn plain(&self, request: Request<Value>) -> Result<Response<Value>, Fault>;
    }

    /// Has everything but what it is asked for.
    struct Shop;

    impl Feature for Shop {
        async fn echo(&self, request: Request<Value>) -> Result<Response<Value>, Fault<EchoFault>> {
            let fault = Fault::receiver("nothing doing");
            Err(match request.into_inner().ask.as_str() {
                "plain" => fault,
                "closed" => fault.with_detail(EchoFault::Error(CLOSED)),
                item => fault.with_detail(EchoFault::OutOfStock(OutOfStock { item: item.to_owned(), left: Some(0) })),
            })
        }

        async fn plain(&self, _: Request<Value>) -> Result<Response<Value>, Fault> {
            Err(Fault::sender("never"))
        }
    }

    #[tokio::test]
    async fn faults_arrive_as_the_types_that_were_sent() {
        let client = FeatureClient::with_transport("http://localhost/", FeatureServer::new(Shop)).unwrap();
        let out_of_stock = OutOfStock { item: "<tea>".into(), left: Some(0) };
        for (ask, expected) in [
            ("plain", Detail::None),
            ("closed", Detail::Declared(EchoFault::Error(CLOSED))),
            ("<tea>", Detail::Declared(EchoFault::OutOfStock(out_of_stock))),
        ] {
            let answer = client.echo(&Value { ask: ask.into() }).await;
            let Err(CallError::Fault { fault, .. }) = answer else { panic!("{answer:?}") };
            assert_eq!((fault.code, fault.reason.as_str()), (FaultCode::Receiver, "nothing doing"));
            assert_eq!(fault.detail, expected);
        }
        let answer = client.plain(&Value { ask: "plain".into() }).await;
        let Err(CallError::Fault { fault, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!((fault.code, fault.detail), (FaultCode::Sender, Detail::None));
    }
}
