// Rules of Docs/Relay.md, of a request each, with a clock of the test: `node --test`.
import assert from "node:assert";
import test from "node:test";

import { encode } from "../../../Sources/Relay/bytes.mjs";
import { addressOf } from "../../../Sources/Relay/http.mjs";
import { collapseID, isEnvelope } from "../../../Sources/Relay/messages.mjs";
import { DAY, MINUTE, PushKey, codeOf, data, origin, relayKeys, tally, topic, world } from "./world.mjs";

const HOUR = 60 * MINUTE, phoneOf = (own) => ({
    token: "0a".repeat(32), environment: "production", topic, push_key: own.key.text, kinds: ["alert"],
});
/** What has the form of an envelope. */
const envelope = (bucket, suite = 1, more = 0) =>
    encode(Buffer.concat([Buffer.of(suite), Buffer.alloc((suite === 2 ? 1140 : 52) + bucket + more)]));
const same = async (asked, wanted, what) => {
    const answer = await asked;
    assert.equal(answer.json.code, wanted, what);
};

test("a relay says who it is, and has no other paths and methods", async () => {
    const own = world(), { status, json } = await own.ask("GET", "/v1/relay"), kinds = ["alert", "background"];
    const said = { version: 1, origin, max_messages: 45, kinds, data_format: "pushcrypt", now: own.now };
    assert.deepEqual([status, json], [200, said]);
    for (const [method, path, ...refusal] of [
        ["GET", "/v1/other", 404, "not-found"], ["POST", "/v1/constructor", 404, "not-found"],
        ["GET", "/metrics", 404, "not-found"], ["GET", "/v1/push", 405, "wrong-method"],
        ["GET", "/v1/grants", 405, "wrong-method"], ["POST", "/v1/relay", 405, "wrong-method"],
    ]) {
        const answer = await own.ask(method, path);
        assert.deepEqual([answer.status, answer.json.code], refusal, path);
    }
});

test("a body has at most 64 KiB, and one of pushes 512 KiB", async () => {
    const own = world(), ask = async (path, size) => (await own.post(path, "{".padEnd(size))).status;
    for (const [path, most, otherwise] of [
        ["/v1/push", 524_288, 401], ["/v1/answers/take", 65_536, 401],
        ["/v1/grants", 65_536, 400], ["/v1/revoke", 65_536, 400], ["/v1/answers", 65_536, 400],
    ]) assert.deepEqual([await ask(path, most), await ask(path, most + 1)], [otherwise, 413], path);
});

test("unknown, repeated, missing and wrong members are refused in every request", async () => {
    const own = world(), { grant, secret } = await own.granted(), message = { grant, data };
    for (const [path, body, ...others] of [
        ["/v1/grants", phoneOf(own)],
        ["/v1/revoke", { grant, secret }, { token: "0a" }, { all: false }, { all: 1 }, { grant: 7 }, { secret: null }],
        ["/v1/push", { messages: [message] }, { messages: 1 }, { messages: { 0: {} } }, { messages: [] },
            { messages: Array(46).fill(message) }],
        ["/v1/answers", { grant, secret, answer: "AQ" }],
        ["/v1/answers/take", { wait: 0, done: [] }],
    ]) {
        const text = JSON.stringify(body), [[name, value]] = Object.entries(body), open = text.slice(0, -1);
        const missing = Object.keys(body).map((left) => ({ ...body, [left]: undefined }));
        const wrong = [...missing, ...others.map((other) => ({ ...body, ...other }))].map((one) => JSON.stringify(one));
        wrong.push("", open, text + text, "[]", "null", `${text}x`, `\ufeff${text}`, "[".repeat(60_000));
        const more = ['"unknown":1', `"${name}":${JSON.stringify(value)}`].map((member) => `${open},${member}}`);
        wrong.push(`{"__proto__":{},${text.slice(1)}`, ...more);
        for (const one of wrong) await same(own.signed(path, one), "malformed-request", `${path} ${one.slice(0, 500)}`);
    }
    assert.deepEqual([own.pushes, own.store.rows], [[], 0]);
});

test("what is no phone gets no grant", async () => {
    const own = world(), good = phoneOf(own), key = good.push_key;
    const post = (more) => own.post("/v1/grants", { ...good, ...more });
    for (const [name, ...values] of [
        ["token", "", "0", "0A".repeat(32), "0g", "ff".repeat(101), 7, null, ["0a"]],
        ["environment", "", "sandbox", "Production", 1, null],
        ["push_key", "", key.slice(1), `${key}=`, `${key}A`, `+${key.slice(1)}`, `${key.slice(0, -1)}_`, 7, null],
        ["kinds", [], "alert", ["alert", "alert"], ["voip"], [1], null, { alert: 1 }],
        ["topic", "", "a b", "a".repeat(256), 7, null, "../x"],
    ]) for (const value of values) await same(post({ [name]: value }), "malformed-request", `${name} ${value}`);
    for (const unknown of ["com.example.other", "constructor", `${topic}.voip`, topic.toUpperCase()]) {
        await same(post({ topic: unknown }), "unknown-topic", unknown);
    }
    assert.deepEqual(Object.keys((await post()).json), ["grant", "secret", "expires"]);
});

test("a push is what the publisher and the protocol say", async () => {
    const own = world(), grant = own.grant({ kinds: ["alert", "background"] }), long = envelope(2816);
    const shown = `"mutable-content":1,"alert":{"title":"New message"}`, collapse_id = "a".repeat(64);
    for (const [message, type, priority, expiration, aps] of [
        [{}, "alert", "10", "0", shown],
        [{ content_available: false, priority: 1 }, "alert", "1", "0", shown],
        [{ data: long, priority: 5, expiration: 2 ** 32 - 1, collapse_id, sound: "default", content_available: true },
            "alert", "5", "4294967295", `${shown},"sound":"default","content-available":1`],
        [{ kind: "background" }, "background", "5", "0", `"content-available":1`],
    ]) {
        const answer = await own.push(grant, message), { environment, token, headers, body } = own.pushes.at(-1);
        const { authorization, ...others } = headers, wanted = {
            "apns-topic": topic, "apns-push-type": type, "apns-priority": priority, "apns-expiration": expiration,
            ...(message.collapse_id && { "apns-collapse-id": collapseID(own.key.text, message) }),
        };
        const grant_expires = own.now + 180 * DAY;
        assert.deepEqual(answer, { status: 200, from: "apns", apns_id: "id", grant_expires });
        assert.deepEqual([environment, token, others], ["production", "0a0b", wanted]);
        assert.equal(body, `{"aps":{${aps}},"ENCRYPTED_DATA":"${message.data ?? data}"}`);
        assert(body.length <= 4096);
    }
});

test("members of messages are checked", async () => {
    const own = world(), grant = own.grant({ kinds: ["alert", "background"] }), kind = "background", wrong = [];
    for (const [name, ...values] of [
        ["grant", 7, null, [grant], undefined], ["data", 7, null, {}, undefined], ["kind", "voip", "Alert", 1, null],
        ["priority", 0, 2, 11, "10", 10.5, null, true], ["expiration", -1, 2 ** 32, 1.5, "0", null],
        ["collapse_id", "", "a".repeat(65), "a b", "é", "a\r\nb: c", 7, null],
        ["sound", 7, null, "other.caf", "", { critical: 1 }], ["content_available", 1, 0, "true", null],
        ["unknown", 1], ["alert", "a word"], ["title", "a word"], ["mutable-content", 0],
    ]) wrong.push(...values.map((value) => ({ grant, data, [name]: value })));
    for (const more of [{ priority: 10 }, { priority: 1 }, { sound: "default" }, { content_available: false }]) {
        wrong.push({ grant, data, kind, ...more });
    }
    wrong.push({}, [], "a", null, 7);
    for (const message of wrong) {
        const { answers } = (await own.signed("/v1/push", { messages: [message] })).json;
        const refusal = { status: 400, code: "malformed-message", from: "relay", sent: "no" };
        assert.deepEqual(answers, [refusal], JSON.stringify(message));
    }
    assert.deepEqual(own.pushes, []);
});

test("data is an envelope of either suite", async () => {
    const good = envelope(256), middle = envelope(512), buckets = [256, 512, 1024, 1536, 2048, 2560, 2816];
    for (const bucket of buckets) assert(isEnvelope(envelope(bucket)), bucket);
    assert(isEnvelope(envelope(1728, 2)));
    for (const text of [
        "", "a", "hello", good.slice(0, -1), `${good}A`, `${good}=`, good.replace("A", "+"), good.replace("A", "é"),
        `${good.slice(0, 50)} ${good.slice(51)}`, `${envelope(2816)}AAAA`, envelope(256, 0), envelope(256, 3),
        envelope(256, 255), envelope(256, 1, 1), envelope(255), envelope(1728), envelope(2816, 2), envelope(3584),
        // The last character's unused bits.
        `${middle.slice(0, -1)}B`, '{"alert":"a word"}', 'a","aps":{"alert":"a word"}',
    ]) assert(!isEnvelope(text), text);
    const own = world();
    assert.equal((await own.push(own.grant(), { data: good.slice(1) })).code, "malformed-envelope");
    const opaque = world({ data_format: { member: "e", limit: 100 } }), text = `Salted__/+=${"a".repeat(89)}`;
    assert.equal((await opaque.ask("GET", "/v1/relay")).json.data_format, "opaque");
    assert.equal((await opaque.push(opaque.grant(), { data: text })).status, 200);
    assert.deepEqual(Object.entries(JSON.parse(opaque.pushes[0].body))[1], ["e", text]);
    for (const wrong of ["", "a".repeat(101), 'a"b', "a\\b", "a b", "é", "a\n"]) {
        assert.equal((await opaque.push(opaque.grant(), { data: wrong })).code, "malformed-envelope", wrong);
    }
});

test("a grant is for one push key, one topic and its kinds", async () => {
    const own = world(), kind = "background", other = new PushKey();
    const ask = async (more, message, signer) => codeOf(await own.push(own.grant(more), message, signer));
    assert.deepEqual([
        await ask({}, {}, { key: other }), await ask({ pushKey: other.text }), await ask({}, { kind }),
        await ask({ kinds: [kind] }), await ask({ kinds: [kind] }, { kind }), await ask({ topic: "com.example.gone" }),
    ], ["wrong-key", "wrong-key", "kind-not-granted", "kind-not-granted", 200, "grant-revoked"]);
    assert.equal(own.pushes.length, 1);
    const shy = world({ kinds: ["alert"] }), both = shy.grant({ kinds: ["alert", kind] });
    assert.deepEqual((await shy.ask("GET", "/v1/relay")).json.kinds, ["alert"]);
    assert.deepEqual([await shy.push(both, { kind }), await shy.push(both)].map(codeOf), ["kind-not-granted", 200]);
    for (const kinds of [[kind], ["alert", kind]]) {
        await same(shy.post("/v1/grants", { ...phoneOf(shy), kinds }), "malformed-request");
    }
});

test("what is pushed is signed, for this relay, path and hour, before it is read", async () => {
    const own = world(), message = { grant: own.grant(), data }, body = JSON.stringify({ messages: [message] });
    const path = "/v1/push", ask = (headers, text = body) => own.post(path, text, { headers });
    for (const other of ["https://evil.example.com", `${origin}/`, origin.toUpperCase(), `${origin}:443`, ""]) {
        const headers = own.key.headers(path, body, own.now, other);
        await same(ask({ ...headers, host: "evil.example.com" }), "bad-signature", other);
    }
    const headers = own.key.headers(path, body, own.now);
    for (const text of [`${body} `, "{"]) await same(ask(headers, text), "bad-signature");
    await same(ask(own.key.headers("/v1/grants", body, own.now)), "bad-signature");
    assert.deepEqual((await ask(headers)).json.answers.map(codeOf), [200]);
    for (const [offset, wanted] of [[-HOUR - 1, "clock"], [HOUR + 1, "clock"], [-HOUR, undefined], [HOUR, undefined]]) {
        const { status, json } = await ask(own.key.headers(path, body, own.now + offset));
        assert.deepEqual([status, json.code, json.now], wanted ? [401, wanted, own.now] : [200, undefined, undefined]);
    }
    assert.equal(own.pushes.length, 3);
});

test("many messages are answered in order", async () => {
    const own = world(), grant = own.grant(), grants = Array(15).fill([grant, "bad", grant]).flat();
    const answers = await own.pushAll(grants);
    assert.deepEqual(answers.map(codeOf), grants.map((one) => (one === grant ? 200 : "malformed-grant")));
});

test("what APNs says is told", async () => {
    for (const [status, reason, more] of [
        [400, "BadDeviceToken"], [410, "Unregistered", { timestamp: 1_700_000_000_000 }], [413, "PayloadTooLarge"],
        [429, "TooManyRequests", { retryAfter: 7 }], [500, "InternalServerError"],
    ]) {
        const own = world({ answers: [{ status, reason, ...more }] }), { retryAfter, ...others } = more ?? {};
        const told = { status, reason, from: "apns", sent: "no", ...others, ...(retryAfter && { retry_after: 7 }) };
        assert.deepEqual([await own.push(own.grant()), own.pushes.length], [told, 1]);
    }
    const own = world({ answers: [new Error("it may have read it")] }), answer = await own.push(own.grant());
    assert.deepEqual(answer, { status: 504, code: "no-answer", from: "relay", sent: "unknown" });
    assert.equal(own.pushes.length, 1);
});

test("a server has 60 pushes a minute for a phone, whatever its grants, and a phone 300", async () => {
    const own = world(), kind = "background", keys = Array.from({ length: 7 }, () => new PushKey());
    const ask = async (key, count, more, message) => {
        const found = [], grant = () => own.grant({ pushKey: key.text, ...more });
        for (let at = 0; at < count; at++) found.push(codeOf(await own.push(grant(), message, { key })));
        return tally(found);
    };
    assert.deepEqual(await ask(keys[0], 65), { 200: 60, "grant-limit": 5 });
    // Neither another server of the phone is slowed, nor another phone of the server.
    assert.deepEqual([await ask(keys[1], 1), await ask(keys[0], 1, { token: "0c" })], [{ 200: 1 }, { 200: 1 }]);
    for (const key of keys.slice(1, 5)) await ask(key, 60);
    assert.deepEqual(await ask(keys[6], 1), { "grant-limit": 1 });
    own.now += MINUTE;
    const kinds = ["alert", kind];
    assert.deepEqual(await ask(keys[0], 4, { kinds }, { kind }), { 200: 3, "grant-limit": 1 });
    assert.deepEqual([await ask(keys[0], 1), await ask(keys[1], 1, { kinds }, { kind })], [{ 200: 1 }, { 200: 1 }]);
});

test("an address has 600 requests, 60 grants and 60 ends a minute, before a body is read", async () => {
    const own = world(), address = "198.51.100.1";
    const ending = () => ({ ...own.seal(), all: true, expires: undefined });
    for (const [path, value] of [["/v1/grants", () => phoneOf(own)], ["/v1/revoke", ending]]) {
        const answers = [];
        for (let at = 0; at < 62; at++) answers.push(await own.post(path, value()));
        assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 60, 429: 2 }, path);
        assert.deepEqual([answers[61].json.code, answers[61].headers["retry-after"]], ["too-many-requests", "60"]);
        assert.equal((await own.post(path, value(), { address })).status, 200);
    }
    own.now += MINUTE;
    const found = [], headers = { "pushcrypt-key": own.key.text };
    for (let at = 0; at < 610; at++) found.push((await own.post("/v1/push", "{}", { headers })).status);
    assert.deepEqual(tally(found), { 401: 600, 429: 10 });
    for (const path of ["/v1/push", "/v1/other"]) {
        const unread = { method: "POST", path, address: "192.0.2.1", header: assert.fail, read: assert.fail };
        assert.equal((await own.relay.handle(unread)).status, 429, path);
    }
    assert.equal((await own.ask("GET", "/v1/relay", "", { address })).status, 200);
});

test("a server has 8 requests of pushes at once, and an address 32", async () => {
    let open;
    const opening = new Promise((done) => (open = done)), own = world({ answers: () => opening.then(() => ({})) });
    const grants = (key) => ({ messages: [{ grant: own.grant({ pushKey: key.text }), data }] });
    const ask = (key, address) => own.signed("/v1/push", grants(key), { key, address });
    const keys = Array.from({ length: 6 }, () => new PushKey()), asked = [];
    for (const key of keys) for (let at = 0; at < 9; at++) asked.push(ask(key, "192.0.2.1"));
    asked.push(ask(keys[5], "198.51.100.1"));
    // The refused ones are answered at once.
    const refused = await Promise.all(asked.filter((_, at) => at % 9 === 8 || (at >= 36 && at < 54)));
    assert.deepEqual(tally(refused.map(codeOf)), { 429: 22 });
    open();
    assert.deepEqual(tally((await Promise.all(asked)).map(codeOf)), { 200: 33, 429: 22 });
    assert.equal((await ask(keys[0], "192.0.2.1")).status, 200);
});

test("the newest relay key seals, and each opens until it is removed", async () => {
    const newer = Buffer.alloc(32, 9), [older] = relayKeys, before = world(), { key, store } = before;
    const old = await before.granted();
    const own = Object.assign(world({ ownKeys: [newer, older], store }), { key }), young = await own.granted();
    const codes = async (place, ...all) => (await place.pushAll(all.map(({ grant }) => grant))).map(codeOf);
    assert.deepEqual([await codes(own, old, young), await codes(before, young)], [[200, 200], ["grant-unknown-key"]]);
    // By a grant of the older key, those of the newer end, too.
    assert.equal((await own.post("/v1/revoke", { grant: old.grant, secret: old.secret, all: true })).status, 200);
    const newest = await own.granted(), last = Object.assign(world({ ownKeys: [newer], store }), { key });
    assert.deepEqual(await codes(own, old, young, newest), ["grant-revoked", "grant-revoked", 200]);
    assert.deepEqual(await codes(last, old, young, newest), ["grant-unknown-key", "grant-revoked", 200]);
    await same(last.post("/v1/revoke", { grant: old.grant, secret: old.secret }), "grant-unknown-key");
});

test("an address is that of the last trusted proxy", () => {
    const ask = (forwarded, proxies) =>
        addressOf({ headers: { "x-forwarded-for": forwarded }, socket: { remoteAddress: "192.0.2.1" } }, proxies);
    for (const [forwarded, proxies, address] of [
        ["192.0.2.7", 0, "192.0.2.1"], ["192.0.2.7", 1, "192.0.2.7"], ["192.0.2.7,192.0.2.9", 1, "192.0.2.9"],
        ["192.0.2.7, 192.0.2.9", 2, "192.0.2.7"], [undefined, 1, "192.0.2.1"], ["a word", 1, "192.0.2.1"],
    ]) assert.equal(ask(forwarded, proxies), address, forwarded);
});

test("logs have no secret", async () => {
    const own = world(), { grant, secret } = await own.granted(), data = `AQ${"Q".repeat(envelope(1024).length - 2)}`;
    await own.push(grant, { data, collapse_id: "collapse-name" });
    await own.push(grant.slice(1), { data });
    await own.push(grant, { data }, { key: new PushKey() });
    await own.signed("/v1/push", `{"${grant}"`);
    await own.ask("GET", `/v1/0a0b?${grant}`);
    await own.post("/v1/answers", { grant, secret, answer: "R".repeat(200) });
    await own.signed("/v1/answers/take", { wait: 0, done: [] });
    await own.post("/v1/revoke", { grant, secret });
    const log = JSON.stringify(own.lines), pushed = own.lines.filter(({ path }) => path === "/v1/push");
    for (const text of ["0a0b", grant.slice(60, 100), secret, "QQQQ", "RRRR", own.key.text.slice(0, 12), "collapse-"]) {
        assert(!log.includes(text), text);
    }
    assert.deepEqual(pushed.map(({ key }) => /^[0-9a-f]{8}$/.test(key)), Array(4).fill(true));
    assert.deepEqual(pushed[0].answers, { 200: 1 });
});
