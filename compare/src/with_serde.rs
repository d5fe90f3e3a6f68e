//! The codec's contract for serde. The types have the same form, since those of the contract don't derive
//! serde's traits.

#![allow(dead_code, reason = "every field is decoded, few are counted; the test of the decoders shows all")]

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Envelope<T> {
    body: T,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EchoBody {
    echo_structs: EchoStructs,
}

#[derive(Debug, Deserialize)]
struct OrderBody {
    order: Order,
}

#[derive(Debug, Deserialize)]
pub struct EchoStructs {
    #[serde(default)]
    pub item: Vec<Item>,
}

#[derive(Debug, Deserialize)]
pub struct Item {
    pub i: i32,
    pub f: f64,
    pub s: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    pub order_id: i32,
    pub order_status: i32,
    pub order_date: String,
    pub order_total_amount: f64,
    pub customer: Customer,
    #[serde(default)]
    pub line_item: Vec<LineItem>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    pub customer_id: i32,
    pub contact_first_name: String,
    pub contact_last_name: String,
    pub contact_phone: String,
    pub last_activity_date: String,
    pub credit_card_number: String,
    pub credit_card_expiration_date: String,
    pub billing_address: Address,
    pub shipping_address: Address,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    pub first_name: String,
    pub last_name: String,
    pub address1: String,
    pub address2: String,
    pub city: String,
    pub state: String,
    pub zip: String,
    pub country: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LineItem {
    pub order_id: i32,
    pub item_id: i32,
    pub product_id: i32,
    pub product_description: String,
    pub quantity: i32,
    pub unit_price: f64,
}

pub fn echo(document: &[u8]) -> Result<EchoStructs, String> {
    Ok(read::<EchoBody>(document)?.echo_structs)
}

pub fn order(document: &[u8]) -> Result<Order, String> {
    Ok(read::<OrderBody>(document)?.order)
}

fn read<T: for<'d> Deserialize<'d>>(document: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(document).map_err(|e| e.to_string())?;
    let envelope: Envelope<T> = quick_xml::de::from_str(text).map_err(|e| e.to_string())?;
    Ok(envelope.body)
}
