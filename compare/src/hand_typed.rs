//! Decodes the codec's contract with hand-written code over quick-xml's NsReader, as somebody would write it who wants
//! speed and checks that it is the right message.

use std::borrow::Cow;
use std::str::FromStr;

use castile_suites::codec::contract::{Address, Customer, EchoStructs, Item, LineItem, Order};
use quick_xml::NsReader;
use quick_xml::events::Event;
use quick_xml::name::{Namespace, ResolveResult};

use crate::tokenisers::resolve;

const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const NAMESPACE: &str = "http://example.com/bench";

pub fn echo(document: &[u8]) -> Result<EchoStructs, String> {
    let mut pull = Pull::begin(document, "echoStructs")?;
    let mut item = Vec::new();
    while pull.optional("item")? {
        item.push(Item { i: pull.number("i")?, f: pull.number("f")?, s: pull.string("s")? });
        pull.end()?;
    }
    pull.finish()?;
    Ok(EchoStructs { item })
}

pub fn order(document: &[u8]) -> Result<Order, String> {
    let mut pull = Pull::begin(document, "order")?;
    let mut order = Order {
        order_id: pull.number("orderId")?,
        order_status: pull.number("orderStatus")?,
        order_date: pull.string("orderDate")?,
        order_total_amount: pull.number("orderTotalAmount")?,
        customer: customer(&mut pull)?,
        line_item: Vec::new(),
    };
    while pull.optional("lineItem")? {
        order.line_item.push(LineItem {
            order_id: pull.number("orderId")?,
            item_id: pull.number("itemId")?,
            product_id: pull.number("productId")?,
            product_description: pull.string("productDescription")?,
            quantity: pull.number("quantity")?,
            unit_price: pull.number("unitPrice")?,
        });
        pull.end()?;
    }
    pull.finish()?;
    Ok(order)
}

fn customer(pull: &mut Pull<'_>) -> Result<Customer, String> {
    pull.required("customer")?;
    let customer = Customer {
        customer_id: pull.number("customerId")?,
        contact_first_name: pull.string("contactFirstName")?,
        contact_last_name: pull.string("contactLastName")?,
        contact_phone: pull.string("contactPhone")?,
        last_activity_date: pull.string("lastActivityDate")?,
        credit_card_number: pull.string("creditCardNumber")?,
        credit_card_expiration_date: pull.string("creditCardExpirationDate")?,
        billing_address: address(pull, "billingAddress")?,
        shipping_address: address(pull, "shippingAddress")?,
    };
    pull.end()?;
    Ok(customer)
}

fn address(pull: &mut Pull<'_>, name: &str) -> Result<Address, String> {
    pull.required(name)?;
    let address = Address {
        first_name: pull.string("firstName")?,
        last_name: pull.string("lastName")?,
        address1: pull.string("address1")?,
        address2: pull.string("address2")?,
        city: pull.string("city")?,
        state: pull.string("state")?,
        zip: pull.string("zip")?,
        country: pull.string("country")?,
    };
    pull.end()?;
    Ok(address)
}

/// A reader, and whether the end tag of the enclosing element was read while searching for an optional element.
struct Pull<'d> {
    reader: NsReader<&'d [u8]>,
    ended: bool,
}

impl<'d> Pull<'d> {
    fn begin(document: &'d [u8], payload: &str) -> Result<Self, String> {
        let mut reader = NsReader::from_str(std::str::from_utf8(document).map_err(|e| e.to_string())?);
        // With one event for each tag, less code is needed.
        reader.config_mut().expand_empty_elements = true;
        let mut pull = Pull { reader, ended: false };
        for (namespace, name) in [(SOAP, "Envelope"), (SOAP, "Body"), (NAMESPACE, payload)] {
            if !pull.start(namespace, name)? {
                return Err(format!("no <{name}>"));
            }
        }
        Ok(pull)
    }

    /// Reads the ends of payload, body and envelope, and checks that nothing follows.
    fn finish(mut self) -> Result<(), String> {
        for _ in 0..3 {
            self.end()?;
        }
        match self.next()? {
            Event::Eof => Ok(()),
            other => Err(format!("{other:?} behind the envelope")),
        }
    }

    fn required(&mut self, name: &str) -> Result<(), String> {
        if self.start(NAMESPACE, name)? { Ok(()) } else { Err(format!("an end tag, where <{name}> was expected")) }
    }

    fn optional(&mut self, name: &str) -> Result<bool, String> {
        let found = self.start(NAMESPACE, name)?;
        self.ended = !found;
        Ok(found)
    }

    /// Reads a start tag. Returns `false` if there is an end tag instead.
    fn start(&mut self, namespace: &str, name: &str) -> Result<bool, String> {
        loop {
            match self.reader.read_resolved_event().map_err(|e| e.to_string())? {
                (ResolveResult::Bound(Namespace(found)), Event::Start(tag))
                    if found == namespace && tag.local_name().into_inner() == name =>
                {
                    return Ok(true);
                }
                (_, Event::End(_)) => return Ok(false),
                (_, Event::Decl(_) | Event::Comment(_) | Event::PI(_)) => {}
                (_, Event::Text(text)) if is_white(&text) => {}
                (_, other) => return Err(format!("{other:?}, where <{name}> was expected")),
            }
        }
    }

    fn end(&mut self) -> Result<(), String> {
        if std::mem::take(&mut self.ended) {
            return Ok(());
        }
        match self.next()? {
            Event::End(_) => Ok(()),
            other => Err(format!("{other:?}, where an end tag was expected")),
        }
    }

    /// Returns the next relevant event between elements.
    fn next(&mut self) -> Result<Event<'d>, String> {
        loop {
            match self.reader.read_event().map_err(|e| e.to_string())? {
                Event::Comment(_) | Event::PI(_) => {}
                Event::Text(text) if is_white(&text) => {}
                event => return Ok(event),
            }
        }
    }

    fn number<T: FromStr>(&mut self, name: &str) -> Result<T, String> {
        let text = self.text(name)?;
        text.trim().parse().map_err(|_| format!("{text:?} is not a number"))
    }

    fn string(&mut self, name: &str) -> Result<String, String> {
        self.text(name).map(Cow::into_owned)
    }

    /// Reads an element to its end and returns its text.
    fn text(&mut self, name: &str) -> Result<Cow<'d, str>, String> {
        self.required(name)?;
        let mut text = Cow::Borrowed("");
        loop {
            let more = match self.reader.read_event().map_err(|e| e.to_string())? {
                Event::Text(more) => more.xml10_content(),
                Event::CData(more) => more.xml10_content(),
                Event::GeneralRef(reference) => {
                    text.to_mut().push(resolve(&reference)?);
                    continue;
                }
                Event::Comment(_) | Event::PI(_) => continue,
                Event::End(_) => return Ok(text),
                other => return Err(format!("{other:?} in <{name}>")),
            };
            if text.is_empty() {
                text = more;
            } else {
                text.to_mut().push_str(&more);
            }
        }
    }
}

fn is_white(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}
