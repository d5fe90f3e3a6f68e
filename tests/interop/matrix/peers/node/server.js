// Serves the contracts with node-soap: server.js PORT FOLDER_OF_CONTRACTS
"use strict";

const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const soap = require("soap");
const { NS, OPTIONS, fromJson, toJson } = require("./values.js");

const REFUSAL_CODE = 42;
const [port, folder] = process.argv.slice(2);

function service(contract) {
  let notice = "";
  const bare = contract === "bare";
  const value = (request) => (bare ? request : request.value);
  const result = (answer) => (bare ? answer : { answer });
  const special = {
    echoVoid: () => ({}),
    fail: (request) => {
      const detail = { refusal: { attributes: { xmlns: NS }, reason: value(request), code: REFUSAL_CODE } };
      throw { Fault: { faultcode: "soap:Server", faultstring: "refused", detail } };
    },
    notify: (request) => {
      notice = value(request);
    },
    lastNotice: () => {
      const last = notice;
      notice = "";
      return result(last);
    },
  };
  const methods = {};
  for (const [, operation] of fs.readFileSync(path.join(folder, `${contract}.wsdl`), "utf8").matchAll(/<wsdl:operation name="(\w+)"/g)) {
    methods[operation] = special[operation] ?? ((request) => result(fromJson(toJson(value(request)))));
  }
  return methods;
}

const server = http.createServer((request, response) => {
  response.statusCode = 404;
  response.end();
});
server.listen(Number(port), "127.0.0.1", () => {
  for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".wsdl"))) {
    const contract = path.basename(file, ".wsdl");
    const name = contract[0].toUpperCase() + contract.slice(1);
    const methods = service(contract);
    const services = { [name]: { [`${name}11`]: methods, [`${name}12`]: methods } };
    const listener = soap.listen(server, { path: `/${contract}`, services, xml: fs.readFileSync(path.join(folder, file), "utf8"), ...OPTIONS });
    listener.addSoapHeader((operation, request, headers) =>
      headers?.token === undefined ? {} : { "h:receipt": { attributes: { "xmlns:h": NS }, $value: `receipt for ${headers.token}` } },
    );
  }
  console.log(`listening on http://127.0.0.1:${port}`);
});
