// Calls every operation with node-soap, which the folder of the first argument has, at the URL of the second.
"use strict";

const { createRequire } = require("node:module");
const { setTimeout: sleep } = require("node:timers/promises");
const { isDeepStrictEqual } = require("node:util");

const [folder, url] = process.argv.slice(2);
const soap = createRequire(`${folder}/`)("soap");
const NS = "urn:castile:everything";
const XSI = "http://www.w3.org/2001/XMLSchema-instance";
const CALL_LIMIT_MS = 10_000;
// How often lastNotice is asked.
const TRIES = 100;
const PAUSE_MS = 20;
const NIL = { attributes: { "xmlns:xsi": XSI, "xsi:nil": "true" } };
const LINE = { sku: "ABC-1", price: "1.50", sizes: "1 2" };

async function main() {
  for (const version of ["11", "12"]) {
    const client = await soap.createClientAsync(`${url}?wsdl`, {
      forceSoap12Headers: version === "12",
      handleNilAsNull: true,
      parseResponseAttachments: true,
      // A number of JavaScript has no trailing zero, and a Date no day alone.
      customDeserializer: { decimal: String, date: String },
    });
    await new Calls(version, client).all();
  }
}

class Calls {
  constructor(version, client) {
    this.version = version;
    this.client = client;
    this.port = client.Everything[version === "12" ? "EverythingSoap12" : "EverythingSoap"];
  }

  async all() {
    await this.try("echoOrder", async () => {
      const order = {
        attributes: { number: 7, currency: "USD" },
        customer: "Ann & Co",
        when: "2026-02-03",
        line: [LINE, { sku: "XYZ-9", price: "2", part: [LINE] }],
        tags: { tag: ["a", "b"] },
        note: NIL,
        status: "Sent",
        payment: { invoice: { attributes: { unit: "EUR" }, $value: "12" } },
      };
      const { echoOrderResult: found } = await this.call("echoOrder", { order });
      equal(found.attributes, { number: "7", currency: "USD" });
      equal(found.customer, "Ann & Co");
      equal(found.when, "2026-02-03");
      equal(found.line, [LINE, { sku: "XYZ-9", price: "2", part: [LINE] }]);
      equal(found.tags, { tag: ["a", "b"] });
      equal(found.note, null);
      equal(found.status, "Sent");
      equal(found.payment, { invoice: { attributes: { unit: "EUR" }, $value: "12" } });
    });
    await this.try("echoOrder of little", async () => {
      const order = { attributes: { number: 1 }, customer: "", tags: {}, note: "soon", status: "New", payment: { card: "4711" } };
      const { echoOrderResult: found } = await this.call("echoOrder", { order });
      equal(found.attributes, { number: "1", currency: "EUR" });
      equal(found.customer, "");
      equal([found.when, found.line], [undefined, undefined]);
      equal(found.tags?.tag, undefined);
      equal(found.note, "soon");
      equal(found.status, "New");
      equal(found.payment, { card: "4711" });
    });
    await this.try("echoShapes", async () => {
      const as = (type) => ({ "xmlns:xsi": XSI, xsi_type: { type, xmlns: NS } });
      const circle = { attributes: as("Circle"), label: "c", radius: 1.5 };
      const shape = [circle, { attributes: as("Square"), side: 2 }, { label: "s" }];
      const { echoShapesResult: found } = await this.call("echoShapes", { shape });
      const types = found.map(({ attributes }) => attributes?.["xsi:type"].replace(/.*:/, ""));
      equal(types, ["Circle", "Square", undefined]);
      equal([found[0].radius, found[1].side], [1.5, 2]);
      equal([found[0].label, found[2].label], ["c", "s"]);
    });
    const at = "2026-01-02T00:00:00Z";
    await this.try("echoBytes", async () => {
      const { echoBytesResult: found } = await this.call("echoBytes", { bytes: Buffer.from([0, 255]).toString("base64"), at });
      equal(found, "AP8=");
    });
    await this.try("echoBytes by MTOM", async () => {
      const file = { mimetype: "application/octet-stream", contentId: "file", name: "file", body: Buffer.alloc(10_000, 7) };
      const bytes = {
        "xop:Include": { attributes: { "xmlns:xop": "http://www.w3.org/2004/08/xop/include", href: "cid:file" } },
      };
      const { echoBytesResult: found } = await this.call("echoBytes", { bytes, at }, { attachments: [file], forceMTOM: true });
      // node-soap leaves it to the program to find the part.
      const id = found.Include.attributes.href.replace(/^cid:/, "");
      const part = this.client.lastResponseAttachments.parts.find(({ headers }) => headers["content-id"] === `<${id}>`);
      equal(part.body.equals(file.body), true);
    });
    await this.try("divide", async () => equal((await this.call("divide", { dividend: 1, divisor: 4 })).divideResult, 0.25));
    await this.try("divide by zero", async () => {
      const fault = await this.fault("divide", { dividend: 3, divisor: 0 });
      equal(fault.text, "nothing is divided by zero");
      equal(fault.detail.divisionByZero.dividend, "3");
    });
    await this.try("key", async () => {
      this.client.addSoapHeader({ session: { key: "sesame" } }, "", "e", NS);
      try {
        equal((await this.call("key", {})).keyResult, "sesame");
      } finally {
        this.client.clearSoapHeaders();
      }
    });
    await this.try("key without session", async () => equal((await this.call("key", {}))?.keyResult, undefined));
    await this.try("echoLine", async () => equal(await this.call("echoLine", LINE), LINE));
    await this.try("echoLine with a part", async () => {
      const line = { ...LINE, part: [LINE] };
      equal(await this.call("echoLine", line), line);
    });
    await this.try("echoLine of a wrong sku", async () => {
      const fault = await this.fault("echoLine", { ...LINE, sku: "wrong" });
      if (!fault.text.includes("doesn't match the pattern")) throw new Error(`found the fault ${fault.text}`);
    });
    await this.try("ping", async () => equal(Object.keys((await this.call("ping", {})) ?? {}), []));
    await this.try("notify", async () => {
      await this.call("notify", { notice: `notice ${this.version}` });
      equal(await this.notice(), `notice ${this.version}`);
    });
  }

  /** What lastNotice gives once it gives something. */
  async notice() {
    for (let tries = 0; tries < TRIES; tries++) {
      const found = (await this.call("lastNotice", {}))?.lastNoticeResult;
      if (found !== undefined) return found;
      await sleep(PAUSE_MS);
    }
    return undefined;
  }

  async try(name, action) {
    let wrong = "";
    try {
      await action();
    } catch (error) {
      wrong = String(error.message ?? error).replace(/\s+/g, " ");
    }
    console.log(`${this.version}\t${name}\t${wrong}`);
  }

  call(operation, request, options = {}) {
    return new Promise((resolve, reject) => {
      this.port[operation](request, (error, answer) => (error ? reject(error) : resolve(answer)), { timeout: CALL_LIMIT_MS, ...options });
    });
  }

  async fault(operation, request) {
    try {
      await this.call(operation, request);
    } catch (error) {
      const fault = error.root?.Envelope?.Body?.Fault;
      if (!fault) throw error;
      return this.version === "12" ? { text: fault.Reason.Text.$value, detail: fault.Detail } : { text: fault.faultstring, detail: fault.detail };
    }
    throw new Error("an answer, expected a fault");
  }
}

function equal(found, expected) {
  if (!isDeepStrictEqual(found, expected)) throw new Error(`found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
}

main();
