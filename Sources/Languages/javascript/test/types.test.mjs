// Every public function with every kind of value, and with texts of ten megabytes: a `TypeError` or another refusal, never a crash, and never for long.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { inspect } from "node:util";
import * as pushcrypt from "pushcrypt";
import * as pushcryptAnswers from "pushcrypt/answers";
import * as pushcryptPairing from "pushcrypt/pairing";
import * as testing from "pushcrypt/testing";
import { internal } from "./support.mjs";

const require = createRequire(import.meta.url), huge = "a".repeat(10_000_000);
const provider = pushcrypt.ProviderKey.generate(), device = testing.DeviceKey.generate(), signing = pushcrypt.SigningKey.generate(), topic = "a";
const certificate = pushcrypt.issueCertificate({ provider, signingKey: signing.publicBytes, topic });
const request = new pushcrypt.CertificateRequest({ topic, provider: provider.publicKey, signingKey: signing.publicBytes });
const sealer = new pushcrypt.Sealer({ key: provider, topic }), trust = new testing.Trust([provider.publicKey]), payload = { aps: { alert: "a" } };
const push = sealer.seal(payload, { to: device.publicKey }), { reference, sealed } = sealer.sealFile(Buffer.of(1), { url: "https://a", type: "a.b", name: "a" });
const record = pushcrypt.parseDeviceRecord(testing.formatDeviceRecord({ publicKey: device.publicKey })), stored = { publicKey: device.publicKey, generation: 1, user: "alice" };
const signer = { publicKey: signing.publicBytes, sign: (message) => internal("secrets").signature(signing, message) };
const options = { topic, devices: [device], trust };
const secret = pushcryptAnswers.AnswerSecret.generate(), asking = sealer.seal(payload, { to: device.publicKey, answers: secret });
const answered = testing.sealAnswer(testing.open(asking.json, options), { action: "a" });
const pairing = pushcryptPairing.Pairing.create({ provider: provider.publicKey, url: "https://a", topic }), code = new testing.PairingCode(pairing.code, { topic });
const posted = code.request({ publicKey: device.publicKey, deviceId: "a" }), { reply: accepted } = pushcrypt.accept(record, null, null, { topic, provider: provider.publicKey });

/** For each function good arguments, and whether it takes what it is given. */
const CALLS = {
    "new ProviderKey": [(...given) => new pushcrypt.ProviderKey(...given), Buffer.alloc(32)],
    "ProviderKey.parse": [(...given) => pushcrypt.ProviderKey.parse(...given), provider.secretText()],
    "SigningKey.parse": [(...given) => pushcrypt.SigningKey.parse(...given), signing.secretText()],
    "new Credential": [(...given) => new pushcrypt.Credential(...given), { key: signing, certificate, provider: provider.publicKey }],
    "Credential.parse": [(...given) => pushcrypt.Credential.parse(...given), new pushcrypt.Credential({ key: signing, certificate, provider: provider.publicKey }).secretText()],
    "providerPublicKey": [pushcrypt.providerPublicKey, signing.publicBytes],
    "issueCertificate": [pushcrypt.issueCertificate, { provider, signingKey: signing.publicBytes, topic, current: certificate, past: [], proven: certificate, stolen: true, lifetime: 60, at: Date.now() }],
    "readCertificate": [pushcrypt.readCertificate, certificate],
    "new CertificateRequest": [(...given) => new pushcrypt.CertificateRequest(...given), { topic, provider: provider.publicKey, signingKey: signing.publicBytes, current: certificate }],
    "CertificateRequest.parse": [(...given) => pushcrypt.CertificateRequest.parse(...given), request.json()],
    "plan": [(...given) => request.plan(...given), { at: Date.now() }],
    "certify": [(...given) => request.certify(...given), provider, { at: Date.now() }],
    "install": [(...given) => request.install(...given), signing, await request.certify(provider)],
    "new Sealer": [(...given) => new pushcrypt.Sealer(...given), { key: provider, topic, placeholder: { title: "a", sound: "b", clearFields: ["badge"] } }],
    "RemoteSealer.create": [(...given) => pushcrypt.RemoteSealer.create(...given), { signer, topic, placeholder: {}, provider: provider.publicKey, certificate }],
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
    "canWithdraw": [pushcrypt.canWithdraw, { ...stored, withdrawal: "aa" }, "aa"],
    "new SealFilter": [(...given) => new pushcrypt.SealFilter(...given), { command: "a", args: ["a"], env: {}, window: 1, answerTimeout: 1 }],
    "SealFilter.seal": [async (...given) => new pushcrypt.SealFilter({ command: "/none" }).seal(...given), { to: "a", payload, id: "a" }],
    "sealAll": [async (...given) => (await new pushcrypt.SealFilter({ command: "/none" }).sealAll(...given).next()).value?.error, []],
    "close": [(...given) => new pushcrypt.SealFilter().close(...given), 1],
    "new DeviceKey": [(...given) => new testing.DeviceKey(...given), Buffer.alloc(32), { retiresAt: 1 }],
    "DeviceKey.parse": [(...given) => testing.DeviceKey.parse(...given), device.secretText(), {}],
    "open": [testing.open, push.json, options],
    "openEnvelope": [testing.openEnvelope, push.toJSON().ENCRYPTED_DATA, { ...options, pushType: "alert", at: Date.now() }],
    "sealAnswer": [testing.sealAnswer, testing.open(sealer.seal(payload, { to: device.publicKey, answers: pushcryptAnswers.AnswerSecret.generate() }).json, options), { action: "a", text: "b", at: 0 }],
    "new AnswerSecret": [(...given) => new pushcryptAnswers.AnswerSecret(...given), Buffer.alloc(32)],
    "openAnswer": [pushcryptAnswers.openAnswer, answered, { secrets: [secret], devices: [device.publicKey], topic, within: 60, at: Date.now() }],
    "Pairing.create": [pushcryptPairing.Pairing.create, { provider: provider.publicKey, url: "https://a", topic, at: 0 }],
    "Pairing.parse": [(...given) => pushcryptPairing.Pairing.parse(...given), pairing.json()],
    "Pairing.open": [(...given) => pairing.open(...given), posted, { at: Date.now() }],
    "PairingRequest.seal": [(...given) => pairing.open(posted).seal(...given), accepted],
    "pairingId": [pushcryptPairing.pairingId, posted],
    "new PairingCode": [(...given) => new testing.PairingCode(...given), pairing.code, { topic }],
    "PairingCode.request": [(...given) => code.request(...given), { publicKey: device.publicKey, deviceId: "a" }],
    "PairingCode.open": [(...given) => code.open(...given), posted, pairing.open(posted).seal(accepted).answer],
    "new Trust": [(...given) => new testing.Trust(...given), [provider.publicKey], [{ provider: provider.publicKey, certificate, floor: 0 }]],
    "Trust.fromJSON": [(...given) => testing.Trust.fromJSON(...given), { pins: [provider.publicKey], learned: [] }],
    "learn": [(...given) => trust.learn(...given), { provider: provider.publicKey, certificate, floor: 0 }],
    "Trust.accept": [(...given) => trust.accept(...given), certificate, { topic }],
    "openFile": [testing.openFile, { key: reference.key, size: reference.size, sha256: reference.sha256 }, sealed],
    "readFullBody": [testing.readFullBody, Buffer.from("a")],
    "formatDeviceRecord": [testing.formatDeviceRecord, { publicKey: device.publicKey, suites: [1], generation: 1, topic, token: "aa" }],
    "parseReply": [testing.parseReply, { version: 1, acknowledged: device.publicKey, suites: [1], foreign: ["provider"] }],
    "applyReply": [testing.applyReply, { acknowledged: device.publicKey, foreign: [], suites: [1] }, { publicKey: device.publicKey, trust, topic, isBuiltIn: false }],
};
const WRONG = [
    undefined, null, true, 0, -1, 1.5, NaN, Infinity, 2 ** 53, 1_500_000_000, 1n, 2n ** 70n, "", "a", "\ud800", Symbol("a"), () => 1, [], [null], [[]], {}, { a: 1 }, new Map(), new Date(NaN),
    Buffer.alloc(0), Buffer.alloc(32), new Uint8Array(33), huge, Buffer.from(huge), { toString: () => "a" }, Object.create(null), new Proxy({}, {}),
];
const REFUSED = ["TypeError", "RangeError", "PushcryptError", "FilterError"];

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
        assert.ok(!(good instanceof Error) || name === "SealFilter.seal", `${name}: ${good?.stack}`);
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
    // An empty one has no unknown option.
    for (const none of [Buffer.alloc(0), []]) assert.throws(() => new pushcrypt.SealFilter(none), TypeError);
    for (const name of Object.keys(CALLS)) assert.ok(counts.get(name) >= 10, `${name} refused ${counts.get(name)} of the wrong values`);
});

test("what is exported is what the types say, in both kinds of modules", () => {
    for (const [name, module] of [["pushcrypt", pushcrypt], ["pushcrypt/testing", testing], ["pushcrypt/answers", pushcryptAnswers], ["pushcrypt/pairing", pushcryptPairing]]) {
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
