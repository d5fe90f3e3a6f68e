//! Converts JSON to elements and attributes that a type doesn't declare.

use castile_databinding::datatypes::QName;
use castile_databinding::schema::XSI_NAMESPACE;
use castile_databinding::{Any, AnyAttribute, AnyPiece, AnyType};
use castile_xml::XMLNS_NAMESPACE;
use serde_json::Value as Json;

use super::error::{At, JsonError};
use super::simple::{name, scalar, xml_text};
use crate::json::{CONTENT, ID, NIL, TYPE, XML, expanded};

/// Reads an attribute that is not declared.
pub(super) fn other(key: &str, json: &Json, at: &At<'_>) -> Result<AnyAttribute, JsonError> {
    let at = At::Member(at, key);
    let Some(name) = key.strip_prefix('@') else {
        return Err(at.wrong("found a member that is not an attribute, expected a name that begins with @"));
    };
    let name = self::name(name);
    if QName::new(name.namespace.clone(), name.local.clone()).is_err() {
        return Err(at.wrong(format!("{:?} is not the name of an attribute", name.local)));
    }
    let expected = match (&*xml_text(&name.namespace, &at)?, name.local.as_str()) {
        ("", "xmlns") | (XMLNS_NAMESPACE, _) => {
            "no namespace declaration, because names contain their namespace".to_owned()
        }
        (XSI_NAMESPACE, "type") => format!("{TYPE} for the type of an element"),
        (XSI_NAMESPACE, "nil") => format!("{NIL} for an element that is nil"),
        // The spelling of a name is unique, so that no attribute can occur twice.
        (namespace, local) => format!("@{}", expanded(namespace, local)),
    };
    if expected != key {
        return Err(at.wrong(format!("found an attribute {key}, expected {expected}")));
    }
    Ok(AnyAttribute { name, value: scalar(json, &at)? })
}

pub(super) fn any(json: &Json, at: &At<'_>) -> Result<AnyType, JsonError> {
    let members = match json {
        Json::Null => return Ok(AnyType::default()),
        Json::Object(members) => members,
        json => return Ok(AnyType::from(scalar(json, at)?.as_str())),
    };
    let mut made = AnyType::default();
    for (key, json) in members {
        let outer = at;
        let at = At::Member(outer, key);
        match key.as_str() {
            TYPE => {
                let name = name(&scalar(json, &at)?);
                if QName::new(name.namespace.clone(), name.local.clone()).is_err() {
                    return Err(at.wrong(format!("{:?} is not the name of a type", name.local)));
                }
                made.type_name = Some(name);
            }
            // The element may be a node of a graph.
            ID => {}
            CONTENT => {
                let pieces = match json {
                    Json::Array(pieces) => pieces.as_slice(),
                    json => std::slice::from_ref(json),
                };
                for (number, json) in pieces.iter().enumerate() {
                    let at = At::Item(&at, number);
                    made.content.push(&match json {
                        Json::Object(members) if members.len() == 1 && members.contains_key(XML) => {
                            AnyPiece::Element(xml(&members[XML], &at)?)
                        }
                        json => AnyPiece::Text(scalar(json, &at)?),
                    });
                }
            }
            key => made.attributes.push(other(key, json, outer)?),
        }
    }
    Ok(made)
}

/// Reads an element as XML.
pub(super) fn xml(json: &Json, at: &At<'_>) -> Result<Any, JsonError> {
    let Json::String(text) = json else { return Err(at.instead(json, "an element as XML")) };
    Any::parse(text).map_err(|error| at.wrong(format!("it is not an XML element: {error}")))
}
