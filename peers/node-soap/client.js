// node-soap's client of the contract of WSTest: client.js URL CASE. For each line of standard input, which is a number, so many calls
// over one connection; then a line with the items of the answers.
"use strict";

const http = require("node:http");
const readline = require("node:readline");
const soap = require("soap");

const STRUCTS = 100;
const LINES = 50;

async function main(url, name) {
  const client = await soap.createClientAsync(`${url}?wsdl`);
  const options = { httpAgent: new http.Agent({ keepAlive: true, maxSockets: 1 }), forever: true };
  const call = { EchoVoid: echoVoid, EchoStruct100: echoStruct, GetOrder: getOrder }[name](client, options);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let items = 0;
    for (let left = Number(line); left > 0; left--) {
      items += await call();
    }
    console.log(items);
  }
  process.exit(0);
}

function echoVoid(client, options) {
  return async () => {
    await client.EchoVoidAsync({}, options);
    return 0;
  };
}

function echoStruct(client, options) {
  const sent = Array.from({ length: STRUCTS }, (_, index) => ({ i: index + 1, f: index + 1, s: "wstest" }));
  return async () => {
    const [answer] = await client.EchoStructAsync({ array: { l: sent } }, options);
    const found = answer.EchoStructResult.l;
    expect(found.length === STRUCTS, "100 structs");
    for (const place of [0, STRUCTS - 1]) {
      const same = Object.entries(sent[place]).every(([name, value]) => found[place][name] === value);
      expect(same, "the struct that was sent");
    }
    return found.length;
  };
}

function getOrder(client, options) {
  return async () => {
    const [{ GetOrderResult: order }] = await client.GetOrderAsync({ orderId: 1, customerId: 2 }, options);
    const lines = order.LineItems.LineItem;
    expect(order.OrderId === 1 && order.Customer.CustomerId === 2, "order 1 of customer 2");
    expect(lines.length === LINES, "50 lines");
    for (const number of [1, LINES]) {
      const { ItemId, UnitPrice, ProductDescription } = lines[number - 1];
      const same = ItemId === number && UnitPrice === 5 && ProductDescription === "Test Product 2";
      expect(same, "the line of this number");
    }
    return lines.length;
  };
}

function expect(right, what) {
  if (!right) {
    throw new Error(`the answer is not as expected: ${what}`);
  }
}

main(...process.argv.slice(2));
