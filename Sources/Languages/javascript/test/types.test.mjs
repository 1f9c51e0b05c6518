// Every public function with every kind of value, and with texts of ten megabytes: a `TypeError` or another refusal, never a crash, and never for long.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { inspect } from "node:util";
import * as pushcrypt from "pushcrypt";
import * as pushcryptAnswers from "pushcrypt/answers";
import * as pushcryptHome from "pushcrypt/home";
import * as pushcryptRelay from "pushcrypt/relay";
import * as testing from "pushcrypt/testing";
import { NOW, recordJSON, storeOf, stored as storedDevice } from "./support.mjs";

const require = createRequire(import.meta.url), huge = "a".repeat(10_000_000);
const provider = pushcrypt.ProviderKey.generate(), device = testing.DeviceKey.generate(), signing = pushcrypt.SigningKey.generate(), topic = "a";
const certificate = pushcrypt.issueCertificate({ provider, signingKey: signing.publicBytes, topic });
const request = new pushcrypt.CertificateRequest({ topic, provider: provider.publicKey, signingKey: signing.publicBytes });
const sealer = new pushcrypt.Sealer({ key: provider, topic }), payload = { aps: { alert: "a" } };
const to = storedDevice(device.publicKey, topic, { grant: "g" }), push = sealer.seal(payload, to), { reference } = sealer.sealFile(Buffer.of(1), { url: "https://a", type: "a.b", name: "a" });
const record = pushcrypt.parseDeviceRecord(recordJSON({ device: "d", publicKey: device.publicKey })), home = { ...storeOf(), pairing: () => null };
const secret = pushcryptAnswers.AnswerSecret.generate(), pushKey = pushcryptRelay.PushKey.generate(), post = JSON.stringify({ pairing: Buffer.alloc(40).toString("base64url") });
// An answer that no secret opens.
const answered = Buffer.concat([Buffer.of(1), Buffer.alloc(16), Buffer.from(device.keyId, "hex"), Buffer.alloc(16 + 128 + 16)]).toString("base64url");
const pairing = pushcryptHome.Pairing.create({ provider: provider.publicKey, url: "https://a", topic });

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
    "issueCertificate": [pushcrypt.issueCertificate, { provider, signingKey: signing.publicBytes, topic, current: certificate, past: [], proven: certificate, stolen: true, lifetime: 60, at: new Date(NOW) }],
    "readCertificate": [pushcrypt.readCertificate, certificate],
    "new CertificateRequest": [(...given) => new pushcrypt.CertificateRequest(...given), { topic, provider: provider.publicKey, signingKey: signing.publicBytes, current: certificate }],
    "CertificateRequest.parse": [(...given) => pushcrypt.CertificateRequest.parse(...given), request.json()],
    "certify": [(...given) => request.certify(...given), provider, { at: new Date(NOW) }],
    "install": [(...given) => request.install(...given), signing, request.certify(provider)],
    "new Sealer": [(...given) => new pushcrypt.Sealer(...given), { key: provider, topic, placeholder: { title: "a", sound: "b", clear: ["badge"] } }],
    "seal": [
        (...given) => sealer.seal(...given), payload, to, {
            at: new Date(NOW), pushType: "alert", messageId: "a", timeToLive: 60, exact: true, attachments: [reference], person: { name: "a", recipients: ["b"] }, withdraws: ["b"],
            drop: true,
        },
    ],
    "request": [(...given) => sealer.request(...given), push, { collapseName: "b", priority: 5, expiration: new Date(NOW) }],
    "withdraw": [(...given) => sealer.withdraw(...given), ["a"], to, { at: new Date(NOW) }],
    "sealFile": [(...given) => sealer.sealFile(...given), Buffer.of(1), { url: "https://a", type: "a.b", name: "a" }],
    "sealFullBody": [(...given) => sealer.sealFullBody(...given), "a", { url: "https://a" }],
    "Reference.parse": [(...given) => pushcrypt.Reference.parse(...given), JSON.parse(reference.json())],
    "parseDeviceRecord": [pushcrypt.parseDeviceRecord, { public_key: device.publicKey, suites: [1], topic, generation: 1, device: "d", token: "aa", grant: "aa" }],
    "accept": [pushcrypt.accept, record, home, "alice", { topic, provider: provider.publicKey, device: "d", certificate, issued: [certificate], ownKeys: [], replace: true, pushKey: signing.publicBytes, nextPushKey: signing.publicBytes }],
    "withoutGrant": [pushcrypt.withoutGrant, to, "g"],
    "removed": [pushcrypt.removed, to, { at: new Date(NOW) }],
    "refusal": [pushcrypt.refusal, new pushcrypt.PushcryptError("weak-key"), { certificate, pushKey: signing.publicBytes }],
    "new DeviceKey": [(...given) => new testing.DeviceKey(...given), Buffer.alloc(32)],
    "DeviceKey.parse": [(...given) => testing.DeviceKey.parse(...given), device.secretText()],
    "open": [testing.open, push.json, { topic, device, provider: provider.publicKey, pushType: "alert", at: new Date(NOW) }],
    "new PushKey": [(...given) => new pushcryptRelay.PushKey(...given), Buffer.alloc(32)],
    "relayMessage": [pushcryptRelay.relayMessage, sealer.request(push)],
    "relayRequest": [pushcryptRelay.relayRequest, "https://a", pushKey, [{}], { at: new Date(NOW) }],
    "new AnswerSecret": [(...given) => new pushcryptAnswers.AnswerSecret(...given), Buffer.alloc(32)],
    "openAnswer": [refusing("authentication-failed", pushcryptAnswers.openAnswer), answered, { secrets: [secret], devices: [device.publicKey], topic, within: 60, at: new Date(NOW) }],
    "Pairing.create": [pushcryptHome.Pairing.create, { provider: provider.publicKey, url: "https://a", topic, user: "alice", replaces: "d" }],
    "Pairing.parse": [(...given) => pushcryptHome.Pairing.parse(...given), pairing.json()],
    "answerPost": [pushcryptHome.answerPost, post, home, { key: provider, topic, pushKey: pushKey.publicKey, nextPushKey: pushKey.publicKey, ownKeys: [], issued: [certificate] }],
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
                if (name === "refusal" && Object.is(error, wrong[0])) continue;
                const isRefusal = REFUSED.includes(error?.name) && !/\bundefined\b.*reading|is not a function|is not iterable|Maximum call stack|Cannot mix|Cannot convert/.test(error.message);
                assert.ok(isRefusal && error.message.length < 1000, `${name} ${inspect(wrong, { maxStringLength: 20, maxArrayLength: 5 }).slice(0, 300)}: ${error?.stack?.slice(0, 500)}`);
            }
        }
    }
    for (const name of Object.keys(CALLS)) assert.ok(counts.get(name) >= 10, `${name} refused ${counts.get(name)} of the wrong values`);
});

test("what is exported is what the types say, in both kinds of modules", () => {
    for (const [name, module] of [["pushcrypt", pushcrypt], ["pushcrypt/testing", testing], ["pushcrypt/answers", pushcryptAnswers], ["pushcrypt/home", pushcryptHome], ["pushcrypt/relay", pushcryptRelay]]) {
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
        assert.throws(() => sealer.seal(text, to), { name: "PushcryptError" });
    }
    const { user, system } = process.cpuUsage(start);
    assert.ok(user + system < 20_000_000, `${(user + system) / 1e6} seconds`);
});
