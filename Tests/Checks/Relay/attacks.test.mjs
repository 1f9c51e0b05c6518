// Nobody can fill or stop the relay, and Apple is spared: `node --test`.
import assert from "node:assert";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import * as http2 from "node:http2";
import { createServer } from "node:net";
import test from "node:test";

import { http2Transport } from "../../../Sources/Relay/apns.mjs";
import { parseObject } from "../../../Sources/Relay/bytes.mjs";
import { DAY, MINUTE, PushKey, app, codeOf, data, memoryStore, p8, tally, topic, world } from "./world.mjs";

const BAD = { status: 400, reason: "BadDeviceToken" }, token = (number) => number.toString(16).padStart(8, "0");

/** Fetches a grant of an invented token, and ends it. */
async function endInvented(own, number, address, more = {}) {
    const { grant, secret, code } = await own.granted(token(number), { address });
    return grant ? own.post("/v1/revoke", { grant, secret, ...more }, { address }) : { json: { code }, status: 429 };
}

test("an address ends 200 invented grants a day, a /48 or /24 four times, and a /32 or /16 forty times as many", async () => {
    const own = world({ limits: { ends_a_day: 3 } });
    for (const [most, addressOf] of [
        [3, () => "192.0.2.1"], [12, (at) => `198.51.100.${at}`], [120, (at) => `10.9.${at}.1`],
        [3, (at) => `2001:db8:1:1::${at}`], [6, (at) => `2001:db8:1:4${(at % 256).toString(16).padStart(2, "0")}::1`],
        [12, (at) => `2001:db8:2:${at * 256}::1`], [120, (at) => `2001:db9:${at}::1`],
    ]) {
        const before = own.store.rows, answers = [];
        for (let at = 1; at <= 2 * most; at++, own.now += 1000) answers.push((await endInvented(own, at, addressOf(at))).status);
        assert.deepEqual([own.store.rows - before, tally(answers)], [most, { 200: most, 429: most }], addressOf(1));
    }
    assert.equal((await endInvented(own, 1, "203.0.113.9")).status, 200);
});

test("a flood of 10 minutes from a /32 leaves at most 8,000 rows and 1,000 MB, and stops nobody", { timeout: 300_000 }, async () => {
    const own = world(), seconds = 600, each = Number(process.env.FLOOD ?? 60), statuses = {}, grant = own.grant();
    const push_key = own.key.text, random = (size) => randomBytes(size).toString("hex");
    let latest = {};
    for (let second = 0; second < seconds; second++, own.now += 1000) {
        for (let at = 0; at < each; at++) {
            const address = `2001:db8:${random(2)}:${random(2)}::1`, { grant, secret } = latest;
            const phone = { token: random(32), environment: "production", topic, push_key, kinds: ["alert"] };
            const path = at % 2 === 0 ? "/v1/grants" : "/v1/revoke", value = at % 2 === 0 ? phone : { grant, secret, all: true };
            const answer = await own.post(path, value, { address });
            statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
            if (answer.json.grant) latest = answer.json;
        }
        own.lines.length = 0;
        if (second % 60 === 0) assert.equal((await own.push(grant, {}, { address: "192.0.2.9" })).status, 200);
    }
    const megabytes = Math.round(process.memoryUsage().rss / 1e6), { rows } = own.store;
    assert(rows <= 8000 && rows > 4000, `${rows} rows`);
    assert(megabytes < 1000, `${megabytes} MB`);
    assert.equal((await endInvented(own, 1, "192.0.2.9")).status, 200);
    console.log(`figure: relay-flood requests=${seconds * each} statuses=${JSON.stringify(statuses)} rows=${rows} megabytes=${megabytes}`);
});

test("a row that ends nothing is not stored", async () => {
    const own = world(), { grant, secret } = await own.granted(), other = world();
    const ask = (...changes) => own.post("/v1/revoke", Object.assign({ grant, secret }, ...changes));
    assert.deepEqual([(await ask({ secret: "A".repeat(22) })).status, (await ask({ secret: other.seal().secret })).status], [403, 403]);
    assert.deepEqual([(await ask({ secret: "A".repeat(22), all: true })).status, own.store.rows], [403, 0]);
    const old = own.seal({ issued: own.now - 200 * DAY });
    assert.deepEqual([(await ask({ grant: old.grant, secret: old.secret })).status, own.store.rows], [200, 0]);
    for (let at = 0; at < 3; at++) assert.deepEqual([(await ask()).status, own.store.rows], [200, 1]);
    assert.deepEqual([(await ask({ all: true })).status, (await ask({ all: true })).status, own.store.rows], [200, 200, 2]);
});

test("a full store ends no more grants, but the relay goes on", async () => {
    const own = world({ store: memoryStore(1) }), { grant, secret } = await own.granted(), kept = await own.granted("0c");
    assert.equal((await own.post("/v1/revoke", { grant, secret })).status, 200);
    const answer = await own.post("/v1/revoke", { grant: kept.grant, secret: kept.secret });
    assert.deepEqual([answer.status, answer.json.code, answer.headers["retry-after"]], [429, "too-many-requests", "3600"]);
    const codes = [await own.push(grant), await own.push(kept.grant), await own.push((await own.granted("0d")).grant)].map(codeOf);
    assert.deepEqual(codes, ["grant-revoked", 200, 200]);
});

test("a store that cannot be written ends and issues nothing, and what was granted works", async () => {
    const own = world(), { grant, secret } = await own.granted();
    own.store.fault = new Error("EIO: the disk");
    const statuses = [];
    for (let at = 0; at < 5; at++, own.now += 20_000) {
        statuses.push((await own.post("/v1/revoke", { grant, secret })).status, (await own.ask("GET", "/health")).status);
        assert.equal((await own.granted()).code, "relay-unavailable");
        assert.equal((await own.push(grant)).status, 200);
    }
    assert.deepEqual(tally(statuses), { 503: 10 });
    const lines = own.lines.filter(({ event }) => event === "store");
    assert.deepEqual(lines.map(({ cause, count }) => [cause, count]), [["EIO: the disk", 1], ["EIO: the disk", 9]]);
    own.store.fault = undefined;
    assert.equal((await own.ask("GET", "/health")).status, 200);
});

test("JSON of any kind is read in a time that its length decides", () => {
    const texts = ['"\\', '"', '{"a":"\\"', "[", "-", "1e", '{"a":', '\\"'].map((part) => part.repeat(524_288 / part.length));
    texts.push(`{"a":"${"\\\"".repeat(260_000)}"}`, `{"a":[${"-1.5e3,".repeat(70_000)}1]}`, `{"a":${"1".repeat(520_000)}}`);
    for (const text of texts) {
        const { user } = process.cpuUsage();
        parseObject(Buffer.from(text));
        assert(process.cpuUsage().user - user < 500_000, text.slice(0, 12));
    }
});

test("a token of which Apple said that there is none is answered from memory for an hour", async () => {
    const gone = { status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000 };
    const own = world({ answers: ({ token }) => (token === "0a" ? BAD : token === "0b" ? gone : {}) });
    const ask = async () => own.pushAll(["0a", "0b", "0c"].map((token) => own.grant({ token })));
    const first = await ask();
    assert.deepEqual(first.map(codeOf), ["BadDeviceToken", "Unregistered", 200]);
    own.now += 59 * MINUTE;
    assert.deepEqual((await ask()).slice(0, 2), first.slice(0, 2));
    // Another environment is another token.
    assert.deepEqual((await own.push(own.grant({ token: "0a", environment: "development" }))).status, 400);
    assert.deepEqual(tally(own.pushes.map(({ token }) => token)), { "0a": 2, "0b": 1, "0c": 2 });
    own.now += 2 * MINUTE;
    await ask();
    assert.deepEqual(tally(own.pushes.map(({ token }) => token)), { "0a": 3, "0b": 2, "0c": 3 });
});

test("whose tokens are bad more than 20 times a minute waits, and nobody else", async () => {
    const own = world({ answers: ({ token }) => (token.startsWith("00") ? BAD : {}) });
    const other = new PushKey(), ask = (number, more, place) => own.push(own.grant({ token: token(number), ...more }), {}, place);
    const answers = [];
    for (let at = 0; at < 25; at++) answers.push(codeOf(await ask(at)));
    assert.deepEqual(tally(answers), { BadDeviceToken: 20, "grant-limit": 5 });
    assert.equal(codeOf(await ask(0xff000000)), "grant-limit");
    const elsewhere = { key: other, address: "198.51.100.1" };
    assert.equal((await ask(0xff000000, { pushKey: other.text }, elsewhere)).status, 200);
    own.now += MINUTE;
    assert.equal((await ask(0xff000000)).status, 200);
    // One push key from many addresses.
    own.now += MINUTE;
    const spread = [];
    for (let at = 0; at < 25; at++) spread.push(codeOf(await ask(50 + at, {}, { address: `203.${at}.113.1` })));
    assert.deepEqual(tally(spread), { BadDeviceToken: 20, "grant-limit": 5 });
    // Another push key for each, from one address.
    const keys = Array.from({ length: 25 }, () => new PushKey()), found = [];
    for (const [at, key] of keys.entries()) found.push(codeOf(await ask(100 + at, { pushKey: key.text }, { key, address: "198.51.100.2" })));
    assert.deepEqual(tally(found), { BadDeviceToken: 20, "grant-limit": 5 });
});

test("an address whose tokens are bad does not stop its neighbours", async () => {
    const own = world({ answers: ({ token }) => (token.startsWith("00") ? BAD : {}) }), keys = Array.from({ length: 21 }, () => new PushKey());
    for (const [first, bad, ...neighbours] of [[0, "192.0.2.1", "192.0.2.2", "192.0.3.1"], [50, "2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:1:f000::1", "2001:db8:2::1"]]) {
        const ask = async (number, address, key) => codeOf(await own.push(own.grant({ token: token(number), pushKey: key.text }), {}, { key, address }));
        for (const [at, key] of keys.entries()) assert.equal(await ask(first + at, bad, key), at < 20 ? "BadDeviceToken" : "grant-limit");
        for (const address of neighbours) assert.equal(await ask(0xff000000, address, new PushKey()), 200, address);
        own.now += MINUTE;
    }
});

test("a refused key of Apple's is one question in 30 seconds for all", async () => {
    let isRefused = true;
    const own = world({ answers: () => (isRefused ? { status: 403, reason: "InvalidProviderToken" } : {}) });
    const ask = async (number) => codeOf(await own.push(own.grant({ token: token(number) })));
    for (let at = 0; at < 20; at++, own.now += 5000) assert.equal(await ask(at), "relay-unavailable");
    assert.equal(own.pushes.length, 4);
    assert.deepEqual(own.lines.filter(({ event }) => event === "apns").map(({ cause }) => cause), Array(2).fill("403 InvalidProviderToken"));
    // Development has its own.
    assert.equal((await own.push(own.grant({ environment: "development" }))).status, 503);
    assert.equal(own.pushes.length, 5);
    own.now += 30_000;
    await own.pushAll([1, 2, 3, 4].map((number) => own.grant({ token: token(number) })));
    assert.equal(own.pushes.length, 6);
    [isRefused, own.now] = [false, own.now + 30_000];
    assert.deepEqual([await ask(1), await ask(2)], [200, 200]);
});

test("what concerns the publisher is not told to servers, and asked again after 30 seconds", async () => {
    for (const [status, reason] of [
        [403, "InvalidProviderToken"], [403, "BadCertificate"], [400, "TopicDisallowed"], [400, "BadTopic"], [404, "BadPath"],
        [405, "MethodNotAllowed"], [403, "ExpiredProviderToken"], [429, "TooManyProviderTokenUpdates"], [302, "Found"],
    ]) {
        const own = world({ answers: [{ status, reason }] }), first = await own.push(own.grant()), second = await own.push(own.grant());
        for (const answer of [first, second]) assert.deepEqual(Object.values(answer).slice(0, 4), [503, "relay-unavailable", "relay", "no"]);
        assert.deepEqual([second.retry_after, own.pushes.length], [30, 1], reason);
        own.now += 30_000;
        assert.equal((await own.push(own.grant())).status, 200);
    }
});

test("each environment may have a key of its own", async () => {
    const keys = new Map([["PRODUCTION", p8.privateKey], ["DEVELOPMEN", p8.privateKey]]);
    const own = world({ keys, apps: { [topic]: { ...app, key_id: { production: "PRODUCTION", development: "DEVELOPMEN" } } } });
    for (const environment of ["production", "development"]) await own.push(own.grant({ environment }));
    const ids = own.pushes.map(({ headers }) => JSON.parse(Buffer.from(headers.authorization.slice(7).split(".")[0], "base64url")).kid);
    assert.deepEqual(ids, ["PRODUCTION", "DEVELOPMEN"]);
});

test("health fails when APNs could not be reached for 5 minutes, and not when nobody asked", async () => {
    let fault = Object.assign(new Error("no"), { unread: true, cause: "ECONNREFUSED" });
    const own = world({ answers: () => fault ?? {} }), health = async () => (await own.ask("GET", "/health")).status;
    assert.equal(await health(), 200);
    const start = own.now;
    while (own.now < start + 4 * MINUTE) await own.push(own.grant());
    assert.equal(await health(), 200);
    while (own.now < start + 6 * MINUTE) await own.push(own.grant());
    assert.equal(await health(), 503);
    const causes = own.lines.filter(({ event }) => event === "apns").map(({ cause }) => cause);
    assert(causes.length >= 5 && causes.length <= 7 && causes.every((cause) => cause === "ECONNREFUSED"), causes.join());
    own.now += 6 * MINUTE;
    assert.equal(await health(), 200);
    await own.push(own.grant());
    assert.equal(await health(), 503);
    fault = undefined;
    await own.push(own.grant());
    assert.equal(await health(), 200);
});

test("metrics count answers by reason, and have what an operator watches", async () => {
    const own = world({ answers: [{}, BAD] });
    await own.pushAll([own.grant(), own.grant({ token: "0c" }), "no grant"]);
    await own.granted();
    const text = own.relay.metrics([["connections", 3], ["queue", 0]]), lines = text.split("\n");
    for (const line of [
        'requests_total{path="/v1/push",status="200"} 1', 'requests_total{path="/v1/grants",status="200"} 1',
        'answers_total{status="200",reason=""} 1', 'answers_total{status="400",reason="BadDeviceToken"} 1',
        'answers_total{status="400",reason="malformed-grant"} 1', 'tokens_refused_total{reason="BadDeviceToken"} 1',
        "rows 0", "rows_most 1000000", "connections 3", "queue 0",
    ]) assert(lines.includes(`pushcrypt_relay_${line}`), `${line} is not in ${text}`);
});

/** An APNs without TLS, and a transport to it. `serve` gets each stream and its number. */
async function apns(context, serve) {
    const server = http2.createServer(), own = { connections: 0, requests: 0 };
    server.on("session", (session) => session.on("error", () => {}) && (own.connections += 1));
    server.on("stream", (stream) => serve(stream.on("error", () => {}), (own.requests += 1)));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    own.transport = http2Transport({ production: `http://127.0.0.1:${server.address().port}` });
    context.after(() => (own.transport.close(), server.close()));
    own.ask = (milliseconds) => own.transport({ environment: "production", token: "0a", headers: {}, body: data }, milliseconds).catch((error) => error);
    return own;
}

const accept = (stream) => (stream.respond({ ":status": 200 }), stream.end());

test("what APNs answers is read, and whether it read the request", { timeout: 20_000 }, async (context) => {
    const answers = [[{ ":status": 410, "apns-id": "id" }, { reason: "Unregistered", timestamp: 7 }],
        [{ ":status": 429, "retry-after": "7" }, { reason: "TooManyRequests" }],
        [{ ":status": 500 }, { reason: 7, timestamp: -1 }]];
    const own = await apns(context, (stream, number) => {
        const [head, body] = answers[number - 1] ?? [], { NGHTTP2_REFUSED_STREAM: REFUSED, NGHTTP2_CANCEL } = http2.constants;
        if (!head) return stream.close(number === 4 ? REFUSED : NGHTTP2_CANCEL);
        stream.respond(head);
        stream.end(JSON.stringify(body));
    });
    const found = [];
    for (let at = 0; at < 5; at++) found.push(await own.ask(5000));
    const nothing = { apnsID: undefined, reason: undefined, timestamp: undefined, retryAfter: 0 };
    assert.deepEqual(found.slice(0, 3), [
        { ...nothing, status: 410, apnsID: "id", reason: "Unregistered", timestamp: 7 },
        { ...nothing, status: 429, reason: "TooManyRequests", retryAfter: 7 }, { ...nothing, status: 500 },
    ]);
    const nowhere = http2Transport({ production: "http://127.0.0.1:1" });
    found.push(await nowhere({ environment: "production", token: "0a" }, 5000).catch((error) => error));
    assert.deepEqual(found.slice(3).map(({ unread }) => unread), [true, false, true]);
});

test("a request without an answer ends alone, and the connection serves the others", { timeout: 20_000 }, async (context) => {
    const own = await apns(context, (stream, number) => number > 1 && accept(stream));
    const silent = own.ask(300), others = await Promise.all(Array.from({ length: 20 }, () => own.ask(5000)));
    assert(others.every(({ status }) => status === 200));
    const { unread, cause } = await silent;
    assert.deepEqual([unread, cause, (await own.ask(5000)).status, own.connections, own.transport.open], [false, "no answer in time", 200, 1, 0]);
});

test("a connection that answers nothing is replaced", { timeout: 40_000 }, async (context) => {
    const silent = createServer((socket) => sockets.push(socket.on("error", () => {}))), sockets = [];
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const transport = http2Transport({ production: `http://127.0.0.1:${silent.address().port}` }), start = Date.now();
    context.after(() => (transport.close(), silent.close(), sockets.forEach((socket) => socket.destroy())));
    const ask = () => transport({ environment: "production", token: "0a", headers: {}, body: data }, 30_000).catch((error) => error);
    const { unread } = await ask();
    assert.deepEqual([unread, Date.now() - start < 20_000], [false, true]);
    void ask();
    while (sockets.length < 2) await once(silent, "connection");
});
