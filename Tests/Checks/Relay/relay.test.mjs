// What the relay does with time and its transport: `node --test`.
import assert from "node:assert";
import { generateKeyPairSync, sign, verify } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import * as http2 from "node:http2";
import { connect } from "node:net";
import { Duplex } from "node:stream";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";

import {
    Limiter, checkConfiguration, collapseID, createRelay, encode, isMessage, network, openGrant, parseObject, sealGrant, verifyRelayRequest,
} from "../../../Sources/Relay/relay.mjs";
import { httpServer } from "../../../Sources/Relay/serve.mjs";

const vectors = JSON.parse(readFileSync(new URL("../../Data/Vectors/relay.json", import.meta.url), "utf8"));
const origin = "https://relay.example.com", topic = "com.example.app", MINUTE = 60_000, DAY = 86_400_000, data = encode(Uint8Array.of(1, ...new Uint8Array(308)));
const p8 = generateKeyPairSync("ec", { namedCurve: "P-256" }), { privateKey, publicKey } = generateKeyPairSync("ed25519");
const pushKey = publicKey.export({ format: "jwk" }).x, relayKeys = [new Uint8Array(32).fill(7)];
const app = { team: "TEAM123456", key_id: "ABC123DEFG", alert: { title: "New message" } };

/** A relay with a clock and an APNs of its own. */
function world({ answers = [], limits, authorize } = {}) {
    const own = { now: 1_800_000_000_000, pushes: [], lines: [], rows: new Map(), slept: 0 };
    own.handle = createRelay({
        configuration: checkConfiguration({ origin, apps: { [topic]: app }, kinds: ["alert", "background"], limits }), relayKeys,
        authorize: authorize ?? (async () => p8.privateKey.export({ format: "pem", type: "pkcs8" })),
        store: {
            find: async (names) => new Map(names.filter((name) => own.rows.has(name)).map((name) => [name, own.rows.get(name)])),
            put: async (rows) => rows.forEach(({ name, at }) => own.rows.set(name, at)), probe: async () => true,
        },
        transport: async (push, milliseconds) => {
            own.pushes.push({ ...push, milliseconds, at: own.now });
            const answer = answers.shift?.() ?? answers;
            if (answer instanceof Error) throw answer;
            return answer.status ? answer : { status: 200, apnsID: "id" };
        },
        now: () => own.now, sleep: async (milliseconds) => (own.now += milliseconds), log: (line) => own.lines.push(line),
    });
    own.post = async (path, value, headers = {}) => {
        const bytes = typeof value === "string" ? value : JSON.stringify(value), address = "192.0.2.1";
        const answer = await own.handle({ method: "POST", path, address, header: (name) => headers[name] ?? null, read: async () => new TextEncoder().encode(bytes) });
        return { ...answer, json: JSON.parse(answer.body) };
    };
    own.push = async (grant, more = {}) => {
        const body = JSON.stringify({ messages: [{ grant, data, ...more }] }), time = Buffer.alloc(8), length = (text) => Buffer.concat([Buffer.of(0, text.length), Buffer.from(text)]);
        time.writeBigUInt64BE(BigInt(own.now));
        const hash = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(body)));
        const signed = Buffer.concat([Buffer.from("pushcrypt/1 relay request\0"), length(origin), length("/v1/push"), Buffer.from(pushKey, "base64url"), time, hash]);
        const headers = { "pushcrypt-key": pushKey, "pushcrypt-time": `${own.now}`, "pushcrypt-signature": sign(null, signed, privateKey).toString("base64url") };
        const answer = await own.post("/v1/push", body, headers);
        return answer.json.answers?.[0] ?? answer;
    };
    own.grant = async (more = {}) => (await sealGrant(relayKeys[0], origin, { token: "0a0b", environment: "production", topic, pushKey, issued: own.now, ...more })).grant;
    return own;
}

test("a provider token is used for 40 minutes, and is Apple's", async () => {
    const own = world(), grant = await own.grant(), start = own.now;
    for (const minutes of [0, 39, 41, 79, 82]) {
        own.now = start + minutes * MINUTE;
        assert.equal((await own.push(grant)).status, 200);
    }
    const tokens = own.pushes.map(({ headers }) => headers.authorization);
    assert.equal(tokens[0], tokens[1]);
    assert.equal(tokens[2], tokens[3]);
    assert.equal(new Set(tokens).size, 3);
    const [head, claims, signature] = tokens[2].replace("bearer ", "").split(".");
    assert.deepEqual(JSON.parse(Buffer.from(head, "base64url")), { alg: "ES256", kid: app.key_id });
    assert.deepEqual(JSON.parse(Buffer.from(claims, "base64url")), { iss: app.team, iat: Math.floor(start / 1000) + 41 * 60 });
    assert(verify("sha256", Buffer.from(`${head}.${claims}`), { key: p8.publicKey, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url")));
});

test("an expired provider token is replaced, but not within 20 minutes", async () => {
    const expired = { status: 403, reason: "ExpiredProviderToken" }, own = world({ answers: [{}, expired, {}, expired] }), grant = await own.grant();
    assert.equal((await own.push(grant)).status, 200);
    own.now += 21 * MINUTE;
    assert.equal((await own.push(grant)).status, 200);
    assert.equal((await own.push(grant)).code, "relay-unavailable");
    assert.equal(new Set(own.pushes.map(({ headers }) => headers.authorization)).size, 2);
});

test("what APNs did not read is repeated for 20 seconds, with what is left of them", async () => {
    const own = world({ answers: Object.assign(new Error(), { unread: true }) }), start = own.now;
    const answer = await own.push(await own.grant());
    assert.deepEqual([answer.status, answer.code, answer.sent], [503, "relay-unavailable", "no"]);
    assert(own.now - start <= 20_000 && own.pushes.length > 5);
    assert(own.pushes.every(({ at, milliseconds }) => at - start + milliseconds <= 20_000));
});

test("grants end by the relay's clock, and revocations do not come back", async () => {
    const own = world(), { json } = await own.post("/v1/grants", { token: "0a0b", environment: "production", topic, push_key: pushKey, kinds: ["alert"] });
    assert.equal(json.expires, own.now + 180 * DAY);
    own.now = json.expires;
    assert.equal((await own.push(json.grant)).status, 200);
    own.now += 1;
    assert.equal((await own.push(json.grant)).code, "grant-expired");
});

test("a grant is younger than what ended those before it, whatever the clock says", async () => {
    const own = world(), phone = { token: "0a0b", environment: "production", topic }, asked = { ...phone, push_key: pushKey, kinds: ["alert"] };
    own.now += 23 * 60 * MINUTE;
    const ahead = (await own.post("/v1/grants", asked)).json.grant;
    own.now -= 23 * 60 * MINUTE;
    const { grant: before, secret } = (await own.post("/v1/grants", asked)).json;
    assert.equal((await own.post("/v1/revoke", { grant: before, secret, all: true })).status, 200);
    own.now -= 60 * MINUTE;
    const after = (await own.post("/v1/grants", asked)).json.grant;
    const answers = [await own.push(before), await own.push(ahead), await own.push(after)];
    assert.deepEqual(answers.map(({ code, status }) => code ?? status), ["grant-revoked", "grant-revoked", 200]);
});

test("limits are for windows", async () => {
    const own = world({ limits: { pushes_a_minute: 2, pushes_a_day: 3, background_an_hour: 1 } }), grant = await own.grant({ kinds: ["alert", "background"] });
    const statuses = async (count, more) => {
        const found = [];
        for (let at = 0; at < count; at++) found.push((await own.push(grant, more)).status);
        return found;
    };
    assert.deepEqual(await statuses(3), [200, 200, 429]);
    assert((await own.push(grant)).retry_after <= 60);
    own.now += MINUTE;
    assert.deepEqual(await statuses(2), [200, 429]);
    assert((await own.push(grant)).retry_after > 80_000);
    own.now += DAY;
    assert.deepEqual(await statuses(2, { kind: "background" }), [200, 429]);
    own.now += 61 * MINUTE;
    assert.deepEqual(await statuses(2, { kind: "background" }), [200, 429]);
    const limiter = new Limiter([[MINUTE, 1]], 2);
    assert.deepEqual(["a", "a", "b", "c", "a"].map((key) => limiter.take(key, 0) > 0), [false, true, false, false, false]);
});

test("an unreadable key of Apple's is the publisher's, and quotes nothing", async () => {
    const own = world({ authorize: async () => "-----BEGIN PRIVATE KEY-----\nc2VjcmV0LXdvcmQ=\n-----END PRIVATE KEY-----" });
    assert.equal((await own.push(await own.grant())).code, "relay-unavailable");
    assert(!JSON.stringify(own.lines).includes("secret"));
});

test("a store that fails refuses, and nothing is sent", async () => {
    const own = world(), grant = await own.grant();
    own.rows.has = () => {
        throw new Error("a disk");
    };
    assert.equal((await own.push(grant)).status, 503);
    assert.equal(own.pushes.length, 0);
});

test("grants and signatures are those of relay.json", async () => {
    const hex = (digits) => new Uint8Array(Buffer.from(digits, "hex"));
    for (const { name, relayKey, origin, random, grant, secret, ...content } of vectors.grants) {
        assert.deepEqual(await sealGrant(hex(relayKey), origin, content, hex(random)), { grant, secret, expires: content.expires }, name);
    }
    for (const { name, relayKeys, origin, grant, code } of vectors.refusedGrants) await assert.rejects(openGrant(relayKeys.map(hex), origin, grant), { code }, name);
    for (const { name, origin, path, now, headers, body, code } of vectors.refusedRequests) {
        const given = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
        await assert.rejects(verifyRelayRequest(origin, path, (name) => given.get(name) ?? null, Buffer.from(body), now), { code }, name);
    }
    for (const { name, message, code } of vectors.messages) assert.equal(isMessage(parseObject(Buffer.from(message))), code === undefined, name);
    for (const { name, pushKey, collapseID: collapse_id, apns } of vectors.collapse) assert.equal(await collapseID(pushKey, { collapse_id }), apns, name);
});

test("addresses are counted by network", () => {
    for (const [address, counted] of [
        ["192.0.2.1", "192.0.2.1"], ["::ffff:192.0.2.1", "192.0.2.1"], ["2001:db8:0:1:2:3:4:5", "2001:db8:0:1"], ["2001:db8:0:1::9", "2001:db8:0:1"],
        ["2001:db8::9", "2001:db8:0:0"], ["::1", "0:0:0:0"], ["2001:0db8:0:1::", "2001:db8:0:1"], ["", ""],
    ]) assert.equal(network(address), counted, address);
});

test("JSON has each member once", () => {
    const read = (text) => parseObject(new TextEncoder().encode(text));
    for (const text of ['{"a":1,"a":1}', '{"a":{"b":1,"b":2}}', '{"a":[{"b":1,"\\u0062":2}]}', "[]", '{"a":1}{', '{"a":01}', '{"a":NaN}', '\ufeff{"a":1}']) assert.equal(read(text), undefined, text);
    assert.deepEqual(read('{"a":[1.0,1e3,-0,-1,0,10],"b":"1.0","c\\"-0":1}'), { a: [null, null, null, null, 0, 10], b: "1.0", 'c"-0': 1 });
    for (const text of ['{"a":-01}', '{"a":1.}', '{"a":.5}', '{"a":+1}', '{"a":1e}', '{"a":0x1}', '{"a":1-5}']) assert.equal(read(text), undefined, text);
    assert.deepEqual(read('{"a":":","b":"\\":\\\\","c":[{"d":1},{"d":2}],"e":{}}'), { a: ":", b: '":\\', c: [{ d: 1 }, { d: 2 }], e: {} });
    assert.equal(parseObject(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)), undefined);
});

/** A client's connection, whose first bytes go out one by one, or not before there are `least`. */
function pieces(server, least) {
    const socket = connect(server.address().port, "127.0.0.1").setNoDelay(), accepted = once(server, "connection");
    let held = Buffer.alloc(0);
    const own = new Duplex({
        read() {},
        async write(part, _, done) {
            held = Buffer.concat([held, part]);
            if (held.length < least) return done();
            let at = 0;
            for (; least === 1 && at < Math.min(30, held.length - 1); at++) {
                const [there] = await accepted, { bytesRead } = there;
                socket.write(held.subarray(at, at + 1));
                while (there.bytesRead === bytesRead && !there.destroyed) await turn();
            }
            socket.write(held.subarray(at));
            [held, least] = [Buffer.alloc(0), 0];
            done();
        },
        final: (done) => socket.end(done),
    });
    socket.on("data", (part) => own.push(part)).on("end", () => own.push(null)).on("error", (error) => own.destroy(error));
    return own.on("close", () => socket.destroy());
}

test("HTTP/1.1 and HTTP/2 come at one port, in whatever pieces", { timeout: 20_000 }, async (context) => {
    const answer = async ({ method, path, read }) => ({ status: 200, headers: {}, body: `${method} ${path} ${(await read(200_000)).length}` });
    const server = httpServer(answer).listen(0, "127.0.0.1"), sockets = [];
    server.on("connection", (socket) => sockets.push(socket));
    context.after(() => {
        server.close();
        sockets.forEach((socket) => socket.destroy());
    });
    await once(server, "listening");
    const { port } = server.address(), text = async (stream) => (await stream.setEncoding("utf8").toArray()).join("");
    for (const [least, size] of [[1, 100], [50_000, 100_000]]) {
        for (const method of ["POST", "PUT", "PROPFIND"]) {
            const asked = request({ method, path: "/a", headers: { "content-length": size }, createConnection: () => pieces(server, least) });
            asked.end(Buffer.alloc(size));
            const [answered] = await once(asked, "response");
            assert.equal(await text(answered), `${method} /a ${size}`);
        }
        const session = http2.connect(`http://127.0.0.1:${port}`, { createConnection: () => pieces(server, least) });
        session.on("error", () => {});
        const stream = session.request({ ":method": "POST", ":path": "/b" });
        stream.end(Buffer.alloc(size));
        assert.equal(await text(stream), `POST /b ${size}`);
        session.destroy();
    }
});
