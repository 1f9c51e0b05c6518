// Every public function with every kind of value, and with texts of ten megabytes: a `TypeError` or another refusal, never a crash, and never for long.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { inspect } from "node:util";
import * as pushcrypt from "pushcrypt";
import * as pushcryptAnswers from "pushcrypt/answers";
import * as pushcryptPairing from "pushcrypt/pairing";
import * as pushcryptRelay from "pushcrypt/relay";
import * as testing from "pushcrypt/testing";
import { recordJSON } from "./support.mjs";

const require = createRequire(import.meta.url), huge = "a".repeat(10_000_000);
const provider = pushcrypt.ProviderKey.generate(), device = testing.DeviceKey.generate(), signing = pushcrypt.SigningKey.generate(), topic = "a";
const certificate = pushcrypt.issueCertificate({ provider, signingKey: signing.publicBytes, topic });
const request = new pushcrypt.CertificateRequest({ topic, provider: provider.publicKey, signingKey: signing.publicBytes });
const sealer = new pushcrypt.Sealer({ key: provider, topic }), payload = { aps: { alert: "a" } };
const push = sealer.seal(payload, { to: device.publicKey }), { reference } = sealer.sealFile(Buffer.of(1), { url: "https://a", type: "a.b", name: "a" });
const record = pushcrypt.parseDeviceRecord(recordJSON({ publicKey: device.publicKey })), stored = { publicKey: device.publicKey, generation: 1, user: "alice" };
const secret = pushcryptAnswers.AnswerSecret.generate(), pushKey = pushcryptRelay.PushKey.generate(), post = JSON.stringify({ pairing: Buffer.alloc(40).toString("base64url") });
// An answer that no secret opens.
const answered = Buffer.concat([Buffer.of(1), Buffer.alloc(16), Buffer.from(device.keyId, "hex"), Buffer.alloc(16 + 128 + 16)]).toString("base64url");
const pairing = pushcryptPairing.Pairing.create({ provider: provider.publicKey, url: "https://a", topic });

/** A call that is meant to end so. */
const refusing = (code, call) => (...given) => {
    try {
        return call(...given);
    } catch (error) {
        if (error?.code !== code) throw error;
        return code;
    }
};

/** For each function good arguments, and whether it takes what it is given. */
const CALLS = {
    "new ProviderKey": [(...given) => new pushcrypt.ProviderKey(...given), Buffer.alloc(32)],
    "ProviderKey.parse": [(...given) => pushcrypt.ProviderKey.parse(...given), provider.secretText()],
    "SigningKey.parse": [(...given) => pushcrypt.SigningKey.parse(...given), signing.secretText()],
    "new Credential": [(...given) => new pushcrypt.Credential(...given), { key: signing, certificate, provider: provider.publicKey }],
    "Credential.parse": [(...given) => pushcrypt.Credential.parse(...given), new pushcrypt.Credential({ key: signing, certificate, provider: provider.publicKey }).secretText()],
    "issueCertificate": [pushcrypt.issueCertificate, { provider, signingKey: signing.publicBytes, topic, current: certificate, past: [], proven: certificate, stolen: true, lifetime: 60, at: Date.now() }],
    "readCertificate": [pushcrypt.readCertificate, certificate],
    "new CertificateRequest": [(...given) => new pushcrypt.CertificateRequest(...given), { topic, provider: provider.publicKey, signingKey: signing.publicBytes, current: certificate }],
    "CertificateRequest.parse": [(...given) => pushcrypt.CertificateRequest.parse(...given), request.json()],
    "plan": [(...given) => request.plan(...given), { at: Date.now() }],
    "certify": [(...given) => request.certify(...given), provider, { at: Date.now() }],
    "install": [(...given) => request.install(...given), signing, request.certify(provider)],
    "new Sealer": [(...given) => new pushcrypt.Sealer(...given), { key: provider, topic, placeholder: { title: "a", sound: "b", clearFields: ["badge"] } }],
    "seal": [
        (...given) => sealer.seal(...given), payload, {
            to: device.publicKey, at: 0, pushType: "alert", messageId: "a", timeToLive: 60, exact: true, attachments: [reference], sender: { name: "a", recipients: ["b"] }, withdraws: ["b"],
            drop: true,
        },
    ],
    "request": [(...given) => sealer.request(...given), push, { deviceId: "a", collapseName: "b", priority: 5, expiration: 0 }],
    "sealFile": [(...given) => sealer.sealFile(...given), Buffer.of(1), { url: "https://a", type: "a.b", name: "a" }],
    "sealFullBody": [(...given) => sealer.sealFullBody(...given), "a", { url: "https://a" }],
    "AttachmentReference.parse": [(...given) => pushcrypt.AttachmentReference.parse(...given), JSON.parse(reference.json())],
    "parseDeviceRecord": [pushcrypt.parseDeviceRecord, { public_key: device.publicKey, suites: [1], topic, generation: 1, device: "d", token: "aa", grant: "aa" }],
    "parseProviderRecord": [pushcrypt.parseProviderRecord, { public_key: provider.publicKey, topic, generation: 1, created: 1 }],
    "formatProviderRecord": [pushcrypt.formatProviderRecord, { publicKey: provider.publicKey, topic, generation: 1, created: 1 }],
    "accept": [pushcrypt.accept, record, stored, "alice", { topic, provider: provider.publicKey, certificate, issued: [certificate], ownKeys: [], elsewhere: stored, replace: true, pushKey: signing.publicBytes }],
    "refuse": [pushcrypt.refuse, new pushcrypt.PushcryptError("weak-key"), { certificate, pushKey: signing.publicBytes }],
    "new DeviceKey": [(...given) => new testing.DeviceKey(...given), Buffer.alloc(32)],
    "DeviceKey.parse": [(...given) => testing.DeviceKey.parse(...given), device.secretText()],
    "open": [testing.open, push.json, { topic, device, provider: provider.publicKey, pushType: "alert", at: Date.now() }],
    "new PushKey": [(...given) => new pushcryptRelay.PushKey(...given), Buffer.alloc(32)],
    "relayMessage": [pushcryptRelay.relayMessage, "g", sealer.request(push)],
    "relayRequest": [pushcryptRelay.relayRequest, "https://a", pushKey, [{}], { at: 0 }],
    "new AnswerSecret": [(...given) => new pushcryptAnswers.AnswerSecret(...given), Buffer.alloc(32)],
    "openAnswer": [refusing("authentication-failed", pushcryptAnswers.openAnswer), answered, { secrets: [secret], devices: [device.publicKey], topic, within: 60, at: Date.now() }],
    "Pairing.create": [pushcryptPairing.Pairing.create, { provider: provider.publicKey, url: "https://a", topic, at: 0 }],
    "Pairing.parse": [(...given) => pushcryptPairing.Pairing.parse(...given), pairing.json()],
    "Pairing.open": [refusing("authentication-failed", (...given) => pairing.open(...given)), post, { key: provider, at: Date.now() }],
    "pairingId": [pushcryptPairing.pairingId, post],
};
const WRONG = [
    undefined, null, true, 0, -1, 1.5, NaN, Infinity, 2 ** 53, 1_500_000_000, 1n, 2n ** 70n, "", "a", "\ud800", Symbol("a"), () => 1, [], [null], [[]], {}, { a: 1 }, new Map(), new Date(NaN),
    Buffer.alloc(0), Buffer.alloc(32), new Uint8Array(33), huge, Buffer.from(huge), { toString: () => "a" }, Object.create(null), new Proxy({}, {}),
];
const REFUSED = ["TypeError", "RangeError", "PushcryptError"];

/** All calls with one thing wrong: an argument, or a member of one. */
function* variants(given) {
    for (const [index, argument] of given.entries()) {
        for (const wrong of WRONG) {
            yield given.with?.(index, wrong) ?? given.map((one, at) => (at === index ? wrong : one));
            if (argument === null || typeof argument !== "object" || ![Object.prototype].includes(Object.getPrototypeOf(argument))) continue;
            for (const name of Object.keys(argument)) yield given.map((one, at) => (at === index ? { ...argument, [name]: wrong } : one));
        }
    }
}

test("good arguments are taken, and wrong ones refused", async () => {
    const counts = new Map();
    for (const [name, [call, ...given]] of Object.entries(CALLS)) {
        const good = await Promise.resolve().then(() => call(...given)).catch((error) => error);
        assert.ok(!(good instanceof Error), `${name}: ${good?.stack}`);
        for (const wrong of variants(given)) {
            try {
                await call(...wrong);
            } catch (error) {
                counts.set(name, (counts.get(name) ?? 0) + 1);
                // It throws what it was not meant for.
                if (name === "refuse" && Object.is(error, wrong[0])) continue;
                const isRefusal = REFUSED.includes(error?.name) && !/\bundefined\b.*reading|is not a function|is not iterable|Maximum call stack|Cannot mix|Cannot convert/.test(error.message);
                assert.ok(isRefusal && error.message.length < 1000, `${name} ${inspect(wrong, { maxStringLength: 20, maxArrayLength: 5 }).slice(0, 300)}: ${error?.stack?.slice(0, 500)}`);
            }
        }
    }
    for (const name of Object.keys(CALLS)) assert.ok(counts.get(name) >= 10, `${name} refused ${counts.get(name)} of the wrong values`);
});

test("what is exported is what the types say, in both kinds of modules", () => {
    for (const [name, module] of [["pushcrypt", pushcrypt], ["pushcrypt/testing", testing], ["pushcrypt/answers", pushcryptAnswers], ["pushcrypt/pairing", pushcryptPairing], ["pushcrypt/relay", pushcryptRelay]]) {
        const file = `${name.split("/")[1] ?? "index"}.d.ts`, types = readFileSync(new URL(file, `file://${require.resolve("pushcrypt/package.json")}`), "utf8");
        const declared = [...types.matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, one]) => one).sort();
        assert.deepEqual(Object.keys(module).filter((one) => !["default", "module.exports"].includes(one)).sort(), declared);
        assert.deepEqual(Object.keys(require(name)).sort(), declared);
        for (const one of declared) assert.equal(module[one], require(name)[one], "there is one copy of the code");
    }
});

test("deep and long JSON ends in a refusal, and in time", () => {
    const start = process.cpuUsage();
    for (const text of ["[".repeat(5_000_000), '{"a":'.repeat(2_000_000), `{"a":"${"\\".repeat(10_000_000)}"}`, `{"a":"${'\\"'.repeat(5_000_000)}"}`, `{"a":${"1".repeat(10_000_000)}}`, `{"a":${" ".repeat(10_000_000)}1}`]) {
        assert.throws(() => sealer.seal(text, { to: device.publicKey }), { name: "PushcryptError" });
    }
    const { user, system } = process.cpuUsage(start);
    assert.ok(user + system < 20_000_000, `${(user + system) / 1e6} seconds`);
});
