//! Header blocks that no contract declares, as they are written and read again.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use castile_databinding::Any;
use castile_databinding::schema::Element;
use castile_soap::{AnyHeader, Headers, Options, RequestMessage, Root, Version, WriteHeader, message};

static TEXT: Root = Root::new(Element::new("", "text", 0), "<text>", "</text>");

fn written(version: Version, block: &AnyHeader) -> String {
    let header: [&dyn WriteHeader; 1] = [block];
    let message = message::write_with(version, Headers::new(&header), &TEXT, &"t".to_owned(), Vec::new()).unwrap();
    String::from_utf8(message).unwrap()
}

fn read(version: Version, message: &str) -> AnyHeader {
    let header = RequestMessage::new(version, message.to_owned()).headers(&Options::default()).unwrap();
    <[AnyHeader; 1]>::try_from(header).unwrap().into_iter().next().unwrap()
}

#[test]
fn what_is_said_of_a_block_is_read_again() {
    let block = Any::parse("<k:key xmlns:k='urn:k'>1</k:key>").unwrap();
    for (version, role_attribute) in [(Version::Soap11, "actor"), (Version::Soap12, "role")] {
        for said in 0..8 {
            let [must_understand, has_role, relay] = [1, 2, 4].map(|bit| said & bit != 0);
            let role = has_role.then(|| "urn:role".to_owned());
            let sent = AnyHeader { must_understand, role: role.clone(), relay, ..AnyHeader::from(block.clone()) };
            let message = written(version, &sent);
            // SOAP 1.1 has no word for it.
            let relay = relay && version == Version::Soap12;
            let came = read(version, &message);
            assert_eq!((came.must_understand, &came.role, came.relay), (must_understand, &role, relay), "{message}");
            assert_eq!(came.block.read::<i32>().unwrap(), 1);
            // What is sent on as it came says it once.
            let again = written(version, &came);
            for (attribute, is_there) in
                [("mustUnderstand=", must_understand), ("relay=", relay), (&*format!("{role_attribute}="), has_role)]
            {
                for message in [&message, &again] {
                    assert_eq!(message.matches(attribute).count(), usize::from(is_there), "{attribute} in {message}");
                }
            }
            let last = read(version, &again);
            assert_eq!((last.must_understand, &last.role, last.relay), (must_understand, &role, relay), "{again}");
        }
    }
}

#[test]
fn only_soap_12_relays() {
    for (version, value, relays) in [
        (Version::Soap12, "true", Some(true)),
        (Version::Soap12, " 1 ", Some(true)),
        (Version::Soap12, "false", Some(false)),
        (Version::Soap12, "yes", None),
        (Version::Soap11, "true", Some(false)),
        (Version::Soap11, "yes", Some(false)),
    ] {
        let message = format!(
            "<s:Envelope xmlns:s='{}'><s:Header><k xmlns='urn:k' s:relay='{value}'/></s:Header><s:Body/></s:Envelope>",
            version.namespace()
        );
        let header = RequestMessage::new(version, message).headers(&Options::default());
        assert_eq!(header.ok().map(|header| header[0].relay), relays, "{value} in {version:?}");
    }
}
