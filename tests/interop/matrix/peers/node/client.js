// Calls what a plan lists with node-soap.
"use strict";

const fs = require("node:fs");
const { setTimeout: sleep } = require("node:timers/promises");
const soap = require("soap");
const { NS, OPTIONS, fromJson, toJson } = require("./values.js");

const NOTICE_TRIES = 40;
const NOTICE_PAUSE_MS = 50;
const CALL_LIMIT_MS = 5_000;

async function main() {
  const plan = JSON.parse(fs.readFileSync(process.argv[2]));
  for (const job of plan.jobs) {
    const peer = new Peer(job);
    await peer.connect();
    for (const each of job.cases) {
      let outcome;
      try {
        outcome = { value: (await peer.value(each)) ?? null };
      } catch (error) {
        outcome = { error: String(error.message ?? error) };
      }
      const { contract, version } = job;
      console.log(JSON.stringify({ contract, version, operation: each.operation, case: each.case, ...outcome }));
    }
  }
}

class Peer {
  constructor(job) {
    this.job = job;
  }

  async connect() {
    const { contract, version, url, wsdl } = this.job;
    this.client = await soap.createClientAsync(wsdl, { endpoint: url, forceSoap12Headers: version === "12", ...OPTIONS });
    const service = contract[0].toUpperCase() + contract.slice(1);
    // The client's own methods are those of the first port; these are of the port of this version.
    this.port = this.client[service][service + version];
  }

  async value({ kind, operation, value }) {
    switch (kind) {
      case "echo":
        return toJson(this.result(await this.call(operation, [value])));
      case "void":
        await this.call(operation, []);
        return null;
      case "header": {
        this.client.addSoapHeader({ token: value.token }, "", "h", NS);
        try {
          const [answer, header] = await this.exchange(operation, [value.value]);
          return { result: this.result(answer), receipt: header?.receipt ?? null };
        } finally {
          this.client.clearSoapHeaders();
        }
      }
      case "fault":
        try {
          await this.call(operation, [value]);
        } catch (error) {
          const fault = error.root?.Envelope?.Body?.Fault;
          const detail = fault?.detail ?? fault?.Detail;
          if (!detail) throw error;
          return detail.refusal;
        }
        throw new Error("a response, expected a fault");
      case "one-way":
        await this.call(operation, [value]);
        for (let tries = 0; tries < NOTICE_TRIES; tries++) {
          const notice = this.result(await this.call("lastNotice", []));
          if (notice) return notice;
          await sleep(NOTICE_PAUSE_MS);
        }
        return null;
      default:
        throw new Error(`no kind of case is called ${kind}`);
    }
  }

  async call(operation, values) {
    return (await this.exchange(operation, values))[0];
  }

  /** The answer, and the header that came with it. */
  exchange(operation, values) {
    const bare = this.job.contract === "bare";
    const request = values.length === 0 ? {} : bare ? fromJson(values[0]) : { value: fromJson(values[0]) };
    return new Promise((resolve, reject) => {
      const done = (error, answer, raw, header) => (error ? reject(error) : resolve([answer, header]));
      this.port[operation](request, done, { timeout: CALL_LIMIT_MS });
    });
  }

  result(answer) {
    return this.job.contract === "bare" ? answer : answer?.answer;
  }
}

main();
