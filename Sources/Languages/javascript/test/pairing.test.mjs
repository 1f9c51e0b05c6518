// Pairing: the vectors of pairing.json, and phones that pair with a server.
import assert from "node:assert/strict";
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import test from "node:test";
import { inspect } from "node:util";
import { ProviderKey, PushcryptError, SigningKey, accept, refuse } from "pushcrypt";
import { Pairing, pairingId } from "pushcrypt/pairing";
import { DeviceKey } from "pushcrypt/testing";
import { hex, internal, outcomeOf, recordJSON, skip, throws, vectors } from "./support.mjs";

const { isURL } = internal("pairing"), { formatReply, parseReply } = internal("records"), { sha256 } = internal("keys");
const topic = "com.example.app", time = 1_767_225_600_000, minute = 60_000, url = "https://home.example.net/pair";
const { publicKey: provider } = new ProviderKey(Buffer.alloc(32, 3)), publicKey = new DeviceKey(Buffer.alloc(32, 5)).publicKey;
const pairing = Pairing.create({ provider, url, topic, at: time });
const prefixed = (text) => Buffer.concat([Buffer.of(text.length >> 8, text.length), Buffer.from(text)]), NAME = "chacha20-poly1305", TAG = { authTagLength: 16 };

/** A phone that reads a code. */
class Phone {
    constructor(code, topic) {
        const data = Buffer.from(code.slice(12, 56), "base64url");
        this.secret = data.subarray(1, 17);
        this.scene = Buffer.concat([prefixed(code.slice(57)), prefixed(topic), data.subarray(17)]);
    }

    /** Node's own HKDF takes no longer info than 1,024 bytes, so its two steps are called. */
    key(what, salt, more = Buffer.alloc(0)) {
        const info = Buffer.concat([Buffer.from(`pushcrypt/1 pairing ${what}\0`), this.scene, more, Buffer.of(1)]);
        return createHmac("sha256", createHmac("sha256", salt).update(this.secret).digest()).update(info).digest();
    }

    request(record, salt = Buffer.alloc(16)) {
        const id = Buffer.from(hkdfSync("sha256", this.secret, "", "pushcrypt/1 pairing id\0", 8)), header = Buffer.concat([id, salt]);
        const cipher = createCipheriv(NAME, this.key("request", salt), Buffer.alloc(12), TAG).setAAD(header);
        const text = typeof record === "string" ? record : recordJSON(record);
        return Buffer.concat([header, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString("base64url");
    }

    open(request, answer) {
        const data = Buffer.from(answer, "base64url"), salt = data.subarray(0, 16), key = this.key("reply", salt, sha256(Buffer.from(request, "base64url")));
        const cipher = createDecipheriv(NAME, key, Buffer.alloc(12), TAG).setAAD(salt).setAuthTag(data.subarray(-16));
        return JSON.parse(Buffer.concat([cipher.update(data.subarray(16, -16)), cipher.final()]));
    }
}
const code = new Phone(pairing.code, topic);
const record = { deviceId: "phone", publicKey, topic }, request = code.request(record), reply = formatReply({ acknowledged: publicKey, provider, pushKey: SigningKey.generate().publicBytes });
const opened = (body, at = time, one = pairing) => one.open(body, { at });

/** What each of the packages stores. */
const stored = ({ secret, url, topic, provider }) => `{"secret":"${hex(secret).toString("base64url")}","url":"${url}","topic":"${topic}","provider":"${provider}","created":${time}}`;

test("the pairings of pairing.json", { skip }, () => {
    for (const one of vectors("pairing.json").pairings) {
        const own = Pairing.parse(stored(one)), phone = new Phone(one.code, one.topic);
        assert.deepEqual([own.code, own.id, own.json()], [one.code, one.id, stored(one)], one.name);
        assert.equal(phone.request(one.record, hex(one.salt)), one.request);
        assert.deepEqual([pairingId(one.request), pairingId(Buffer.from(`${one.request}\r\n`))], [one.id, one.id]);
        const posted = opened(one.request, time, own), answer = posted.seal(one.replyRecord), found = parseReply(one.replyRecord);
        assert.deepEqual([posted.answer, posted.record.deviceId, answer.answer], [undefined, "5d0f".repeat(8), one.reply]);
        assert.deepEqual(phone.open(one.request, one.reply), JSON.parse(one.replyRecord));
        const claim = found.refused === undefined ? { claimed: time, device: "5d0f".repeat(8), reply: one.replyRecord } : {};
        assert.equal(answer.pairing.json(), JSON.stringify({ ...JSON.parse(stored(one)), ...claim }));
        assert.deepEqual(opened(one.request, time, Pairing.parse(answer.pairing.json())).answer, found.refused === undefined ? one.reply : undefined);
    }
});

test("what does not open of pairing.json", { skip }, async () => {
    for (const { name, request, requestOpens, ...rest } of vectors("pairing.json").refused) {
        const own = Pairing.parse(stored(rest)), outcome = outcomeOf(() => opened(request, time, own).record !== undefined);
        assert.equal(outcome, requestOpens || "authentication-failed", name);
    }
});

test("the addresses of pairing.json", { skip }, () => {
    for (const { url, accepted } of vectors("pairing.json").urls) {
        assert.equal(isURL(url), accepted, url);
        assert.equal(outcomeOf(() => Pairing.create({ provider, url, topic }).url), accepted ? url : "invalid-request");
    }
});

test("a code has 57 characters and the address", () => {
    assert.match(pairing.code.slice(0, 57), /^pushcrypt:1\?[A-Za-z0-9_-]{44}&$/);
    assert.equal(pairing.code.slice(57), url);
    assert.notEqual(pairing.code, Pairing.create({ provider, url, topic }).code);
});

test("a code ends after ten minutes, and a claim ten minutes later", async () => {
    assert.equal(opened(request, time + 10 * minute - 1).record.deviceId, "phone");
    for (const late of [time + 10 * minute, time + 86_400_000]) await throws("expired", () => opened(request, late));
    const { pairing: claimed, answer } = opened(request, time + 9 * minute).seal(reply);
    assert.equal(opened(request, time + 19 * minute - 1, claimed).answer, answer);
    await throws("expired", () => opened(request, time + 19 * minute, claimed));
});

test("one phone claims a code", () => {
    const { pairing: claimed, answer } = opened(request).seal(reply), again = opened(request, time + minute, claimed);
    assert.deepEqual([again.answer, again.seal(formatReply({ refused: "a" })).answer], [answer, answer]);
    // With a grant, in a new request, the phone gets the same record; what it sent is for accept.
    const second = code.request({ ...record, grant: "g" }), renewed = opened(second, time + minute, claimed);
    assert.equal(renewed.record.grant, "g");
    assert.notEqual(renewed.answer, answer);
    assert.deepEqual(code.open(second, renewed.answer), JSON.parse(reply));
    for (const other of [{ ...record, deviceId: "other" }, { ...record, publicKey: new DeviceKey(Buffer.alloc(32, 6)).publicKey }]) {
        const sent = code.request(other), used = opened(sent, time + minute, claimed);
        assert.deepEqual([used.record, used.seal(reply).pairing, used.seal(reply).answer], [undefined, claimed, used.answer]);
        assert.equal(code.open(sent, used.answer).refused, "pairing-used");
    }
});

test("a refusal leaves the code open, and has another key", () => {
    const posted = opened(request), refusal = posted.seal(refuse(new PushcryptError("user-mismatch")));
    assert.equal(refusal.pairing, pairing);
    assert.equal(code.open(request, refusal.answer).refused, "user-mismatch");
    assert.notEqual(refusal.answer.slice(0, 21), posted.seal(reply).answer.slice(0, 21));
    for (const text of ["{}", "[", recordJSON(record).replace('"device"', '"name"')]) {
        const sent = code.request(text);
        for (const one of [pairing, opened(request).seal(reply).pairing]) {
            const { record, answer } = opened(sent, time, one);
            assert.deepEqual([record, code.open(sent, answer).refused], [undefined, "malformed-record"]);
        }
    }
    const { reply: accepted } = accept(posted.record, null, "alice", { topic, provider });
    assert.equal(code.open(request, posted.seal(accepted).answer).acknowledged, publicKey);
});

test("a changed request is not found", async () => {
    const data = Buffer.from(request, "base64url"), text = (bytes) => bytes.toString("base64url");
    for (let place = 0; place < data.length; place++) {
        const changed = Buffer.from(data);
        changed[place] ^= 1;
        await throws("authentication-failed", () => opened(text(changed)));
        assert.equal(pairingId(text(changed)) === pairing.id, place >= 8);
        await throws(place < 40 ? "malformed-envelope" : "authentication-failed", () => opened(text(data.subarray(0, place))));
    }
    for (const wrong of ["", `${request}=`, ` ${request}`, `\n${request}`, `${request}é`, `${text(Buffer.alloc(40)).slice(0, -1)}B`, text(Buffer.alloc(16_385)), "\n".repeat(10_000_000) + "a"]) {
        await throws("malformed-envelope", () => opened(wrong));
    }
    for (const wrong of [text(Buffer.concat([data, data])), text(Buffer.concat([data, Buffer.alloc(16_384 - data.length)]))]) await throws("authentication-failed", () => opened(wrong));
    await throws("authentication-failed", () => opened(request, time, Pairing.create({ provider, url, topic, at: time })));
});

test("a reply that breaks the rules is not sealed", async () => {
    const stranger = ProviderKey.generate().publicKey, posted = opened(request);
    for (const wrong of [{}, { provider: stranger }, { provider, acknowledged: DeviceKey.generate().publicKey }]) {
        await throws("invalid-request", () => posted.seal(formatReply({ acknowledged: publicKey, ...wrong })));
    }
});

test("what is stored is checked, and the secret not printed", async () => {
    const good = JSON.parse(pairing.json()), printed = inspect([pairing, opened(request)], { depth: 9, showHidden: true }) + JSON.stringify(pairing);
    assert.ok(!printed.includes(good.secret) && !printed.includes(pairing.code.slice(14, 30)), printed);
    const wrong = { secret: "a", url: "http://a", topic: "a b", created: -1, claimed: 1, reply: "{}" };
    for (const [name, value] of [...Object.entries(wrong), ["secret"], ["provider"]]) await throws("malformed-record", () => Pairing.parse({ ...good, [name]: value ?? null }));
    await throws("malformed-record", () => Pairing.parse({ ...good, claimed: 1, device: "a", reply: "{}" }));
    await throws("wrong-topic", () => Pairing.create({ provider, url, topic: "a b" }));
    await throws("invalid-time", () => Pairing.create({ provider, url, topic, at: 2n ** 60n }));
});
