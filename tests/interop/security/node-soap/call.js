// node-soap calls a service with WS-Security: call.js MODULES WSDL FOLDER SCENARIO,… URL. ../run describes the URLs and what is printed.
//
// node-soap signs by xml-crypto. It doesn't verify answers, so that this program does it, with the same library.
'use strict';
const fs = require('fs');
const path = require('path');
const [modules, wsdl, folder, scenarios, url] = process.argv.slice(2);
const soap = require(path.join(modules, 'node_modules/soap'));
const { SignedXml } = require(path.join(modules, 'node_modules/xml-crypto'));
const { DOMParser } = require(path.join(modules, 'node_modules/@xmldom/xmldom'));

const PASSWORD = 'secret-password';
// A carriage return is not in it: node-soap doesn't escape it, and XML has no other way to write it.
const NOTE = ' \u00e9 \u20ac \u{1d11e} <&> "\'\t|\n ';
const SIGNED = ['token', 'sha1', 'both', 'beside'];
const WITH_USER = ['text', 'digest', 'both', 'beside'];
const SECURED = 'urn:castile:secured';
const DSIG = 'http://www.w3.org/2000/09/xmldsig#';
const WSU = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd';
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';

const read = (name) => fs.readFileSync(path.join(folder, name));

// What the headers of a scenario are made by.
function security(name, version, owner = 'client', password = PASSWORD) {
  // The prefix that node-soap gives to the envelope, whatever its version.
  const passwords = { passwordType: name === 'text' ? 'PasswordText' : 'PasswordDigest', mustUnderstand: true };
  const username = new soap.WSSecurity('bookkeeper', password, SIGNED.includes(name) ? { ...passwords, hasTimeStamp: false } : passwords);
  if (!SIGNED.includes(name)) return username;
  const certificate = new soap.WSSecurityCert(read(`${owner}-rsa.key`), read(`${owner}-rsa.pem`), '', {
    ...(name === 'sha1' ? { signatureAlgorithm: `${DSIG}rsa-sha1`, digestAlgorithm: `${DSIG}sha1` } : { signatureAlgorithm: RSA_SHA256 }),
    // Without this option, ids are attributes `Id` without a namespace.
    signerOptions: name === 'beside' ? {} : { idMode: 'wssecurity' },
    additionalReferences: name === 'both' ? ['wsse:UsernameToken'] : [],
  });
  return WITH_USER.includes(name) ? new soap.WSSecurityPlusCert(username, certificate) : certificate;
}

// Throws unless the signature of an answer is the server's, over the body and the time stamp.
function verify(answer) {
  const document = new DOMParser().parseFromString(answer, 'text/xml');
  const signature = document.getElementsByTagNameNS(DSIG, 'Signature')[0];
  if (!signature) throw new Error('the answer is not signed');
  const signed = new SignedXml({ publicCert: read('server-rsa.pem'), idMode: 'wssecurity', getCertFromKeyInfo: () => null });
  signed.loadSignature(signature);
  if (!signed.checkSignature(answer)) throw new Error('the signature of the answer is not valid');
  const ids = signed.getReferences().map((reference) => reference.uri.slice(1));
  const namespace = document.documentElement.namespaceURI;
  for (const element of [document.getElementsByTagNameNS(namespace, 'Body')[0], document.getElementsByTagNameNS(WSU, 'Timestamp')[0]]) {
    if (!ids.includes(element.getAttributeNS(WSU, 'Id'))) throw new Error(`${element.localName} of the answer is not signed`);
  }
}

// node-soap writes times in seconds. Two equal messages of one second have one signature, and are refused as one that is sent twice.
let quantity = 1;

// Returns what the service answered: a result, or an error.
async function order(version, name, treatment, made, more = 0) {
  quantity += 1;
  const client = await soap.createClientAsync(wsdl, {
    endpoint: `${url}/${treatment}/${name}/${version}`,
    forceSoap12Headers: version === '12',
    preserveWhitespace: true,
  });
  client.setSecurity(made);
  let text = null;
  client.on('response', (body) => { text = body; });
  let outcome;
  try {
    outcome = await new Promise((resolve, reject) => {
      const done = (error, result) => (error ? reject(error) : resolve(result));
      client.Secured[`Orders${version}`].order({ customer: 'Ada', quantity: quantity + more, note: NOTE }, done);
    });
  } catch (error) {
    outcome = error;
  }
  if (SIGNED.includes(name) && !['refused', 'altered-request', 'twice'].includes(treatment)) {
    try {
      verify(text);
    } catch (error) {
      return new Error(`xml-crypto: ${error.message}`);
    }
  }
  return outcome;
}

const right = (outcome) => {
  if (outcome instanceof Error) return outcome.message;
  return outcome.customer === 'Ada' && outcome.number === 7 && outcome.note === NOTE ? '' : `answered ${JSON.stringify(outcome)}`;
};

const soldOut = (outcome) => {
  const fault = outcome?.root?.Envelope?.Body?.Fault;
  const left = (fault?.detail ?? fault?.Detail)?.soldOut?.left;
  return Number(left) === 100 ? '' : `${outcome.message ?? JSON.stringify(outcome)}, where a fault was expected`;
};

const refused = (outcome) => (outcome instanceof Error ? '' : `accepted: ${JSON.stringify(outcome)}`);

const tell = (version, name, one, wrong) => console.log(`${version}\t${name}: ${one}\t${wrong.replace(/[\n\t]/g, ' ')}`);

(async () => {
  for (const version of ['11', '12']) {
    for (const name of scenarios.split(',')) {
      const made = (...options) => security(name, version, ...options);
      tell(version, name, 'order', right(await order(version, name, 'plain', made())));
      tell(version, name, 'fault', soldOut(await order(version, name, 'plain', made(), 200)));
      if (SIGNED.includes(name)) {
        tell(version, name, 'altered request', refused(await order(version, name, 'altered-request', made())));
        tell(version, name, 'altered answer', refused(await order(version, name, 'altered-answer', made())));
        tell(version, name, 'stranger', refused(await order(version, name, 'refused', made('stranger'))));
      }
      if (name !== 'text') tell(version, name, 'sent twice', refused(await order(version, name, 'twice', made())));
      if (WITH_USER.includes(name)) tell(version, name, 'wrong password', refused(await order(version, name, 'refused', made('client', 'wrong horse'))));
    }
  }
})();
