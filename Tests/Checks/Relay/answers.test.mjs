// The way back for answers, [R-26] to: `node --test`.
import assert from "node:assert";
import { createHash } from "node:crypto";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";

import { DAY, MINUTE, PushKey, origin, relayKeys, topic, world } from "./world.mjs";
import { sealGrant } from "../../../Sources/Relay/grants.mjs";
import { Mailbox } from "../../../Sources/Relay/mailbox.mjs";

const name = (text) => createHash("sha256").update(text).digest().subarray(0, 16).toString("base64url");
const leave = (own, { grant, secret }, answer = "AQ", more = {}) => own.post("/v1/answers", { grant, secret, answer }, more);
const take = async (own, done = [], { wait = 0, ...more } = {}) => (await own.signed("/v1/answers/take", { wait, done }, more)).json.answers;
const text = (number, length = 250) => `${number}-`.padEnd(length, "A");
const codes = async (...asked) => (await Promise.all(asked)).map(({ status, json }) => json.code ?? status);

test("a text is taken until it is acknowledged, the oldest first, and by its push key alone", async () => {
    const own = world(), phone = await own.granted(), other = new PushKey();
    assert.deepEqual(await codes(leave(own, phone, "AQ"), leave(own, phone, "Ag"), leave(own, phone, "AQ")), [200, 200, 200]);
    assert.deepEqual(await take(own, [], { key: other }), []);
    assert.deepEqual(await take(own, [name("AQ"), name("Ag")], { key: other }), []);
    // A server that took and died gets them again.
    for (let at = 0; at < 2; at++) assert.deepEqual(await take(own), ["AQ", "Ag"]);
    assert.deepEqual(await take(own, [name("AQ")]), ["Ag"]);
    assert.deepEqual(await take(own, [name("Ag"), name("AQ"), name("other")]), []);
    // The same text is one, however often a phone leaves it.
    for (let at = 0; at < 20; at++) assert.equal((await leave(own, phone, "Aw")).status, 200);
    assert.deepEqual([await take(own), await take(own, [name("Aw")])], [["Aw"], []]);
    // What comes again later is another delivery: `answer open` knows it.
    assert.equal((await leave(own, phone, "AQ")).status, 200);
    assert.deepEqual(await take(own), ["AQ"]);
});

test("a text is kept for an hour", async () => {
    const own = world(), phone = await own.granted();
    await leave(own, phone, "AQ");
    own.now += 59 * MINUTE;
    await leave(own, phone, "Ag");
    assert.deepEqual(await take(own), ["AQ", "Ag"]);
    own.now += MINUTE;
    assert.deepEqual(await take(own), ["Ag"]);
    // Acknowledged too late, and that changes nothing.
    assert.deepEqual(await take(own, [name("AQ")]), ["Ag"]);
    // Left again, it stays for another hour.
    await leave(own, phone, "Ag");
    own.now += 59 * MINUTE;
    assert.deepEqual(await take(own), ["Ag"]);
    own.now += 2 * 60 * MINUTE;
    await leave(own, phone, "Aw");
    assert.deepEqual([await take(own), own.relay.metrics().includes("answer_bytes 1024\n")], [["Aw"], true]);
});

test("a grant that does not count leaves nothing", async () => {
    const own = world(), phone = await own.granted("0a"), other = await own.granted("0b");
    const foreign = sealGrant(Buffer.alloc(32, 8), origin, { token: "0a", environment: "production", topic, pushKey: own.key.text, issued: own.now });
    const old = own.seal({ issued: own.now - 181 * DAY });
    const elsewhere = sealGrant(relayKeys[0], `${origin}:1`, { token: "0a", environment: "production", topic, pushKey: own.key.text, issued: own.now });
    assert.deepEqual(await codes(
        leave(own, { grant: phone.grant, secret: other.secret }), leave(own, { grant: phone.grant, secret: "" }), leave(own, foreign),
        leave(own, elsewhere), leave(own, old), leave(own, own.seal({ topic: "com.example.gone" })), leave(own, { grant: "AQ", secret: "AQ" }),
    ), ["wrong-secret", "wrong-secret", "grant-unknown-key", "malformed-grant", "grant-expired", "grant-revoked", "malformed-grant"]);
    assert.equal((await own.post("/v1/revoke", { grant: phone.grant, secret: phone.secret, all: true })).status, 200);
    assert.equal((await own.post("/v1/revoke", { grant: other.grant, secret: other.secret })).status, 200);
    assert.deepEqual(await codes(leave(own, phone), leave(own, other)), ["grant-revoked", "grant-revoked"]);
    assert.deepEqual(await take(own), []);
});

test("requests that break a rule are refused", async () => {
    const own = world(), phone = await own.granted(), { grant, secret } = phone;
    for (const answer of ["", "A".repeat(6145), "A+", "A=", "A A", 7, null, undefined, ["AQ"]]) {
        assert.deepEqual(await codes(own.post("/v1/answers", { grant, secret, answer })), ["malformed-request"], `${answer}`);
    }
    assert.deepEqual(await codes(own.post("/v1/answers", { grant, secret, answer: "AQ", more: 1 }), own.ask("GET", "/v1/answers")), ["malformed-request", "wrong-method"]);
    assert.equal((await leave(own, phone, "A".repeat(6144))).status, 200);
    for (const asked of [
        { wait: 0 }, { done: [] }, { wait: 26, done: [] }, { wait: -1, done: [] }, { wait: "1", done: [] }, { wait: 1.5, done: [] }, { wait: 0, done: {} },
        { wait: 0, done: ["A".repeat(21)] }, { wait: 0, done: [7] }, { wait: 0, done: Array(201).fill(name("")) }, { wait: 0, done: [], more: 1 },
    ]) assert.deepEqual(await codes(own.signed("/v1/answers/take", asked)), ["malformed-request"], JSON.stringify(asked));
    const body = { wait: 0, done: [] }, headers = own.key.headers("/v1/push", JSON.stringify(body), own.now);
    assert.deepEqual(await codes(
        own.post("/v1/answers/take", body), own.post("/v1/answers/take", body, { headers }), own.signed("/v1/answers/take", body, { at: own.now - 61 * MINUTE }),
        own.signed("/v1/answers/take", { wait: 0, done: Array(200).fill(name("")) }),
    ), ["bad-signature", "bad-signature", "clock", 200]);
});

test("a full box is told, for a grant, a push key, a network and in all", async () => {
    const own = world(), statuses = async (count, phone, length, address = (at) => `198.51.${at % 256}.1`) => {
        const found = [];
        for (let at = 0; at < count; at++) found.push((await leave(own, phone(at), text(`${own.now}-${at}`, length), { address: address(at) })).status);
        return [found.filter((one) => one === 200).length, found.filter((one) => one === 429).length];
    };
    const phone = own.seal(), other = own.seal(), fresh = () => own.seal({ token: "0b" });
    assert.deepEqual(await statuses(20, () => phone, 250), [16, 4]);
    const full = await leave(own, phone, "Aw");
    assert.deepEqual([full.json.code, full.headers["retry-after"]], ["too-many-requests", "3600"]);
    assert.deepEqual(await statuses(20, () => other, 6144), [10, 10]);
    // What was taken makes room.
    assert.equal((await take(own, (await take(own)).map(name))).length, 0);
    assert.deepEqual(await statuses(210, fresh, 250), [200, 10]);
    own.now += 61 * MINUTE;
    assert.deepEqual(await statuses(100, fresh, 6144), [85, 15]);
});

test("what is kept of an address has a limit, and its networks together another", () => {
    const v6 = (prefix, at) => `2001:db8:${prefix}${(at % 100).toString(16).padStart(2, "0")}::1`;
    for (const [room, address] of [
        [170, () => "203.0.113.1"], [170, (at) => `2001:db8:1:2::${at}`], [341, (at) => v6("1:1", at)], [682, (at) => `203.0.113.${at % 256}`],
        [682, (at) => `2001:db8:1:${at % 100}00::1`], [6826, (at) => `203.0.${at % 256}.1`], [6826, (at) => v6("1", at)],
    ]) {
        const mailbox = new Mailbox(), put = (at, from) => mailbox.put(`key ${at % 100}`, { grant: `grant ${at}`, address: from, text: text(at, 6144), now: 0 });
        const kept = Array.from({ length: room + 10 }, (_, at) => put(at, address(at)));
        assert.deepEqual([kept.indexOf(false), kept.filter((one) => one).length], [room, room], address(1));
        // A network never takes all.
        assert.equal(put(room, "198.51.100.1"), true);
        assert.equal(mailbox.bytes, (room + 1) * 6144);
    }
});

test("a wait ends with the first text, with its time, with its client and with the relay", { timeout: 20_000 }, async () => {
    const own = world(), phone = await own.granted(), started = Date.now();
    const waiting = take(own, [], { wait: 25 });
    await turn();
    await leave(own, phone, "AQ");
    assert.deepEqual([await waiting, Date.now() - started < 5000], [["AQ"], true]);
    assert.deepEqual(await take(own, [name("AQ")], { wait: 1 }), []);
    assert(Date.now() - started >= 1000);
    let leaves;
    const gone = take(own, [], { wait: 25, whenGone: (call) => (leaves = call) }), second = take(own, [], { wait: 25 });
    await turn();
    // Two at a time; one that has gone makes room.
    assert.deepEqual(await codes(own.signed("/v1/answers/take", { wait: 25, done: [] })), ["too-many-requests"]);
    assert.deepEqual(await take(own, [], { wait: 1, key: new PushKey() }), []);
    leaves();
    assert.deepEqual(await gone, []);
    const third = take(own, [], { wait: 25 });
    await turn();
    own.relay.stop();
    assert.deepEqual([await second, await third, await take(own, [], { wait: 25 })], [[], [], []]);
});

test("16 wait from one address, 64 from a /24", { timeout: 20_000 }, async () => {
    const own = world(), ask = (address) => own.signed("/v1/answers/take", { wait: 25, done: [] }, { key: new PushKey(), address });
    const waiting = Array.from({ length: 17 }, () => ask("192.0.2.1")), first = await Promise.race(waiting);
    assert.equal(first.json.code, "too-many-requests");
    for (let at = 2; at < 50; at++) waiting.push(ask(`192.0.2.${at}`));
    assert.equal((await ask("192.0.2.99")).json.code, "too-many-requests");
    waiting.push(ask("192.0.3.1"));
    await turn();
    own.relay.stop();
    assert.deepEqual((await Promise.all(waiting)).filter(({ status }) => status === 200).length, 65);
});
