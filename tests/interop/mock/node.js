// Calls what a plan lists with node-soap, which the folder of the first argument has: the JSON of a sample as its objects.
"use strict";

const fs = require("node:fs");
const { createRequire } = require("node:module");

const [folder, file] = process.argv.slice(2);
const soap = createRequire(`${folder}/`)("soap");
const CALL_LIMIT_MS = 10_000;

async function main() {
  for (const job of JSON.parse(fs.readFileSync(file)).jobs) {
    // Each address has the whole contract.
    const called = new Set();
    for (const url of job.urls) {
      let client;
      try {
        client = await soap.createClientAsync(url);
      } catch (error) {
        say(job, "?wsdl", error);
        continue;
      }
      for (const [service, ports] of Object.entries(client.describe())) {
        for (const [port, operations] of Object.entries(ports)) {
          for (const name of Object.keys(operations)) {
            if (!(name in job.operations) || called.has(name)) continue;
            called.add(name);
            try {
              await call(client[service][port], name, value(job.operations[name].json));
              say(job, name, null);
            } catch (error) {
              say(job, name, error);
            }
          }
        }
      }
    }
  }
}

function call(port, name, request) {
  return new Promise((resolve, reject) => {
    port[name](request, (error, answer) => (error ? reject(error) : resolve(answer)), { timeout: CALL_LIMIT_MS });
  });
}

/** A value of JSON (docs/json.md) as node-soap takes it. */
function value(json) {
  if (Array.isArray(json)) return json.map(value);
  if (json === null || typeof json !== "object") return json;
  if ("$items" in json) return value(json.$items);
  const made = {};
  const put = (name, inner) => {
    made[name] = name in made ? [].concat(made[name], inner) : inner;
  };
  for (const [name, inner] of Object.entries(json)) {
    const local = name.replace(/^@?(\{.*\})?/, "").replace(/#.*/, "");
    if (name === "$choice" || name === "$group") {
      for (const item of [].concat(inner)) for (const [key, each] of Object.entries(value(item))) put(key, each);
    } else if (name === "$") made.$value = value(inner);
    else if (name === "$any") made.$xml = [].concat(inner).join("");
    else if (name.startsWith("@")) (made.attributes ??= {})[local] = inner;
    else if (!name.startsWith("$")) put(local, value(inner));
  }
  return made;
}

function say(job, operation, error) {
  const text = error && String(error.root?.Envelope?.Body?.Fault ? `fault: ${JSON.stringify(error.root.Envelope.Body.Fault)}` : (error.message ?? error));
  console.log(JSON.stringify({ contract: job.contract, operation, error: text }));
}

main().then(() => process.exit(0));
