// JSON of the plan ↔ what node-soap takes and gives.
"use strict";

const NS = "urn:castile:interop";
const DERIVED = ["Circle", "Square"];
// What is an attribute, and what a number: node-soap keeps attributes apart, and gives them as strings.
const ATTRIBUTES = ["id", "note"];

const XSI = "http://www.w3.org/2001/XMLSchema-instance";
const asIs = (text) => text;

// As one sets it up who wants to lose nothing: white space is kept, nil is null, and what a number or Date of JavaScript
// can't hold stays text.
const OPTIONS = {
  handleNilAsNull: true,
  preserveWhitespace: true,
  customDeserializer: {
    long: asIs, unsignedLong: asIs, integer: asIs, decimal: asIs, float: asIs, double: asIs, dateTime: asIs, date: asIs,
  },
};

function fromJson(value) {
  if (Array.isArray(value)) return value.map(fromJson);
  if (value === null || typeof value !== "object") return value;
  const made = {};
  const attributes = {};
  for (const [name, inner] of Object.entries(value)) {
    if (name === "$type") Object.assign(attributes, { "xmlns:xsi": XSI, xsi_type: { type: inner, xmlns: NS } });
    else if (ATTRIBUTES.includes(name)) attributes[name] = inner;
    else made[name] = inner === null ? { attributes: { "xmlns:xsi": XSI, "xsi:nil": "true" } } : fromJson(inner);
  }
  return Object.keys(attributes).length ? { attributes, ...made } : made;
}

function toJson(value) {
  if (Array.isArray(value)) return value.map(toJson);
  if (value === null || typeof value !== "object") return value;
  const { attributes = {}, ...members } = value;
  // A simple value with attributes, such as xsi:type.
  if ("$value" in members) return members.$value;
  const made = {};
  for (const [name, inner] of Object.entries(attributes)) {
    if (ATTRIBUTES.includes(name)) made[name] = inner;
    else if (/:type$|^xsi_type$/.test(name)) {
      const local = (inner.type ?? inner).split(":").pop();
      if (DERIVED.includes(local)) made.$type = local;
    }
  }
  for (const [name, inner] of Object.entries(members)) made[name] = toJson(inner);
  return made;
}

module.exports = { NS, OPTIONS, fromJson, toJson };
