// node-soap on node's own http: server.js PORT
"use strict";

const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const soap = require("soap");

const CONTRACTS = path.join(__dirname, "../../crates/suites/contracts");
const MOMENT = "2005-07-01T12:00:00Z";
const LINES = 50;

const benchmark1 = {
  echoVoid: () => ({}),
  echoInts: ({ input }) => ({ echoIntsReturn: input }),
  echoDoubles: ({ input }) => ({ echoDoublesReturn: input }),
  echoStrings: ({ input }) => ({ echoStringsReturn: input }),
  echoMeshInterfaceObjects: ({ input }) => ({ echoMeshInterfaceObjectReturn: input }),
  echoSimpleEvents: ({ input }) => ({ echoSimpleEventsReturn: input }),
};

const wstest = {
  EchoVoid: () => ({}),
  EchoStruct: ({ array }) => ({ EchoStructResult: array }),
  EchoList: ({ list }) => ({ EchoListResult: list }),
  GetOrder: ({ orderId, customerId }) => ({ GetOrderResult: order(orderId, customerId) }),
};

function order(orderId, customerId) {
  const address = (use, useInLastName) => ({
    FirstName: `${use} FirstName ${customerId}`,
    LastName: `${useInLastName} LastName ${customerId}`,
    Address1: `${use} StreetAddress ${customerId}`,
    Address2: `Street Address Line 2 ${customerId}`,
    City: `City ${customerId}`,
    State: `State ${customerId}`,
    Zip: "12345",
  });
  const description = `Test Product ${customerId}`;
  const line = (_, index) => ({
    OrderId: orderId,
    ItemId: index + 1,
    ProductId: index + 1,
    ProductDescription: description,
    OrderQuantity: 1,
    UnitPrice: 5,
  });
  return {
    OrderId: orderId,
    OrderStatus: 1,
    OrderDate: MOMENT,
    OrderTotalAmount: 50,
    Customer: {
      CustomerId: customerId,
      ContactFirstName: `FirstName ${customerId}`,
      ContactLastName: `LastName ${customerId}`,
      ContactPhone: "425-882-8080",
      LastActivityDate: MOMENT,
      CreditCardNumber: "892374389740",
      CreditCardExpirationDate: "12/12/2012",
      // "Bil1" with a digit is the benchmark's own.
      BillingAddress: address("Bill", "Bil1"),
      ShippingAddress: address("Ship", "Ship"),
    },
    LineItems: { LineItem: Array.from({ length: LINES }, line) },
  };
}

const port = Number(process.argv[2]);
const server = http.createServer((_, response) => {
  response.statusCode = 404;
  response.end();
});
const listen = (suite, services) =>
  soap.listen(server, { path: `/${suite}`, services, xml: fs.readFileSync(path.join(CONTRACTS, `${suite}.wsdl`), "utf8") });

server.listen(port, "127.0.0.1", () => {
  listen("benchmark1", { Benchmark: { Benchmark: benchmark1 } });
  listen("wstest", { TestService: { TestServiceSoap: wstest } });
  console.log(`listening on http://127.0.0.1:${port}`);
});
