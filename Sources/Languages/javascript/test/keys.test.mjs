// Keys, certificates and requests for them: what is refused, and what can be stored.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { inspect } from "node:util";
import { CertificateRequest, Credential, ProviderKey, Sealer, SigningKey, issueCertificate, readCertificate } from "pushcrypt";
import { DeviceKey } from "pushcrypt/testing";
import { command, noCommand, setClock, stored, throws } from "./support.mjs";

const provider = ProviderKey.generate(), pin = provider.publicKey, topic = "com.example.app", at = new Date(1_767_225_600_000), epoch = 1_767_225_600;
const later = (milliseconds) => new Date(Number(at) + milliseconds);
const issued = (key, more) => issueCertificate({ provider, signingKey: key.publicBytes, topic, at, ...more });

test("keys are read as they were written, and as nothing else", async () => {
    for (const type of [ProviderKey, SigningKey, DeviceKey]) {
        const key = type.generate(), again = type.parse(`${key.secretText()}\n`);
        assert.deepEqual([again.secretText(), again.keyId], [key.secretText(), key.keyId]);
        await throws(RangeError, () => new type(Buffer.alloc(31)));
        await throws(TypeError, () => new type(1_500_000_000));
        await throws(TypeError, () => new type("a".repeat(32)));
        await throws(TypeError, () => type.parse(Buffer.from(key.secretText())));
        await throws("malformed-key", () => type.parse(""));
        const changed = key.secretText().replace(/.$/, (last) => (last === "Q" ? "P" : "Q"));
        await throws("wrong-checksum", () => type.parse(changed));
    }
    await throws("wrong-kind-of-key", () => ProviderKey.parse(SigningKey.generate().secretText()));
});

test("a credential is the three lines of a file", async () => {
    const key = SigningKey.generate(), certificate = issued(key), credential = new Credential({ key, certificate, provider: pin }), text = credential.secretText();
    assert.deepEqual([Credential.parse(text).secretText(), credential.epoch, credential.provider], [text, epoch, pin]);
    await throws("malformed-key", () => Credential.parse(text.split("\n").slice(0, 2).join("\n")));
    await throws("malformed-key", () => Credential.parse(`${text}\n`));
    await throws("wrong-certificate", () => new Credential({ key: SigningKey.generate(), certificate, provider: pin }));
    await throws("bad-certificate-signature", () => new Sealer({ key: new Credential({ key, certificate, provider: pin }), topic: "b" }));
    await throws("malformed-certificate", () => readCertificate(certificate.slice(1)));
    await throws(TypeError, () => new Credential({ key: provider, certificate, provider: pin }));
});

test("certificates that would help nobody are not issued", async () => {
    const key = SigningKey.generate(), second = issued(key, { current: issued(key), stolen: true });
    assert.equal(readCertificate(second).floor, 1_767_225_601);
    assert.equal(readCertificate(issued(key, { current: second, at: later(-86_400_000) })).epoch, 1_767_225_602);
    await throws("weak-key", () => issued(new SigningKey(Buffer.alloc(32, 7)), { provider: new ProviderKey(Buffer.alloc(32, 7)) }));
    await throws("weak-key", () => issueCertificate({ provider, signingKey: Buffer.alloc(32), topic }));
    for (const wrong of [{ past: [{ epoch: 0, replacedAt: at }] }, { past: "0" }, { past: [{ certificate: null, replacedAt: Number(at) }] }, { at: Number(at) }, { lifetime: "90d" }, { stolen: "yes" }, { current: 7 }, { Proven: second }]) {
        await throws(TypeError, () => issued(key, wrong), inspect(wrong));
    }
    await throws("invalid-time", () => issued(key, { lifetime: -1 }));
    for (const at of [later(86_400_001), later(-86_400_001), new Date(epoch)]) await throws("implausible-time", () => issued(key, { at }));
    for (const replacedAt of [epoch, 99_999_999_999, 4_102_444_800_001, 1000 * at].map((time) => new Date(time))) await throws("implausible-time", () => issued(key, { past: [{ certificate: null, replacedAt }] }));
    assert.ok(issued(key, { past: [100_000_000_000, 4_102_444_800_000].map((time) => ({ certificate: null, replacedAt: new Date(time) })) }));
});

test("a certificate is requested, certified where the provider key is, and installed", async () => {
    const key = SigningKey.generate(), first = issued(SigningKey.generate());
    const request = new CertificateRequest({
        topic, provider: `${pin}\n`, signingKey: key.publicBytes, current: first, past: [{ certificate: null, replacedAt: at }], lifetime: 90 * 86_400,
    });
    const text = request.json(), there = CertificateRequest.parse(text);
    assert.ok(!text.includes(key.secretText()) && text.startsWith(`{"version":1,"topic":"com.example.app","provider":"${pin}","signing_key":"`));
    assert.equal(there.json(), text);
    const answer = there.certify(provider, { at: later(1000) }), credential = request.install(key, answer);
    assert.deepEqual([credential.epoch, credential.provider], [epoch + 1, pin]);
    assert.deepEqual(readCertificate(credential.certificate), { epoch: epoch + 1, floor: 0, expiresAt: later(1000 + 90 * 86_400_000) });
    const push = new Sealer({ key: credential, topic }).seal({ aps: { alert: "a" } }, stored(DeviceKey.generate().publicKey, topic));
    assert.ok(push.json);
    await throws("wrong-certificate", () => request.install(SigningKey.generate(), answer));
    await throws("wrong-certificate", () => new CertificateRequest({ topic: "b", provider: pin, signingKey: key.publicBytes }).install(key, answer));
    await throws("malformed-request", () => CertificateRequest.parse(answer));
    await throws("bad-certificate-signature", () => request.install(key, answer.replace(/(..)"}$/, (_, last) => (last === "AA" ? 'BA"}' : 'AA"}'))));
    await throws("malformed-request", () => request.install(key, text));
    await throws("wrong-certificate", () => there.certify(ProviderKey.generate(), { at }));
    for (const wrong of [pin, provider.secretText(), key, null, { publicKey: key.publicBytes, sign: () => Buffer.alloc(64) }]) await throws(TypeError, () => there.certify(wrong, { at }));
    there.certify(provider, { at: later(-86_400_000) });
    // An answer to the request of another key, with that key.
    const another = SigningKey.generate(), theirs = new CertificateRequest({ topic, provider: pin, signingKey: another.publicBytes }).certify(provider, { at: later(2000) });
    await throws("wrong-certificate", () => request.install(another, theirs));
    await throws("wrong-certificate", () => request.install(key, new CertificateRequest({ topic, provider: pin, signingKey: key.publicBytes, current: first, lifetime: 1 }).certify(provider, { at: later(-86_400_000) })));
    // An answer to an earlier request of the same key.
    const old = new CertificateRequest({ topic, provider: pin, signingKey: key.publicBytes }).certify(provider, { at: later(-1000) });
    await throws("wrong-certificate", () => request.install(key, old));
    // A certificate of another provider in the request.
    const other = ProviderKey.generate(), foreign = issueCertificate({ provider: other, signingKey: key.publicBytes, topic, at });
    await throws("bad-certificate-signature", () => new CertificateRequest({ topic, provider: pin, signingKey: key.publicBytes, current: foreign }).certify(provider, { at }));
});

test("files that are no requests are refused", async () => {
    const key = SigningKey.generate(), good = JSON.parse(new CertificateRequest({ topic, provider: pin, signingKey: key.publicBytes }).json());
    await throws("weak-key", () => new CertificateRequest({ topic, provider: pin, signingKey: Buffer.of(1, ...Buffer.alloc(31)) }));
    assert.ok(CertificateRequest.parse({ ...good, more: [1], past: null, stolen: null, current: null, expires: null }));
    for (const wrong of [
        { version: 2 }, { version: "1" }, { topic: "a b" }, { topic: null }, { provider: 7 }, { provider: pin.slice(0, -1) },
        { provider: "pcs1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqd3u8zu" }, { signing_key: "AA" }, { signing_key: null }, { expires: -1 }, { expires: "90d" },
        { stolen: 1 }, { current: 7 }, { past: {} }, { past: [7] }, { past: [{}] }, { past: Array(65).fill({ replaced: 1 }) },
    ]) await throws("malformed-request", () => CertificateRequest.parse({ ...good, ...wrong }), inspect(wrong));
    for (const wrong of ["", "{", "[]", "null", `${JSON.stringify(good)}x`, JSON.stringify(good).replace("{", '{"version":1,')]) {
        await throws("malformed-request", () => CertificateRequest.parse(wrong), wrong);
    }
    await throws("malformed-certificate", () => CertificateRequest.parse({ ...good, current: "AA" }));
    await throws("weak-key", () => CertificateRequest.parse({ ...good, signing_key: "A".repeat(43) }));
});

test("requests and answers are those of the command", { skip: noCommand }, async () => {
    setClock();
    const folder = mkdtempSync(join(tmpdir(), "pushcrypt-")), run = (...words) => execFileSync(command, words, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] }).toString();
    writeFileSync(join(folder, "provider.key"), `${provider.secretText()}\n`, { mode: 0o600 });
    const key = SigningKey.generate(), first = issueCertificate({ provider, signingKey: SigningKey.generate().publicBytes, topic, at: new Date(Date.now() - 100_000) });
    const request = new CertificateRequest({ topic, provider: pin, signingKey: key.publicBytes, current: first, past: [{ certificate: null, replacedAt: new Date() }], proven: first });
    writeFileSync(join(folder, "request.json"), request.json());
    run("key", "certify", "request.json", "--provider-key-file", "provider.key", "--yes", "-o", "certificate.json");
    assert.ok(request.install(key, readFileSync(join(folder, "certificate.json"))).epoch > readCertificate(first).epoch);
    run("--store", "P", "init");
    const own = run("--store", "P", "key", "new", "provider", "--topic", topic, "--offline", "-o", "own.key");
    const holder = ProviderKey.parse(readFileSync(join(folder, "own.key"), "utf8"));
    assert.equal(holder.publicKey, own.trim());
    run("--store", "P", "key", "rotate", "--request", "-o", "theirs.json");
    writeFileSync(join(folder, "answer.json"), CertificateRequest.parse(readFileSync(join(folder, "theirs.json"))).certify(holder));
    run("--store", "P", "key", "rotate", "--install", "answer.json");
    rmSync(folder, { recursive: true });
});
