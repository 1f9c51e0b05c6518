// What the relay does with time, and the vectors of its forms: `node --test`.
import assert from "node:assert";
import { verify } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";

import { parseObject } from "../../../Sources/Relay/bytes.mjs";
import { openGrant, sealGrant } from "../../../Sources/Relay/grants.mjs";
import { Limiter, networks } from "../../../Sources/Relay/limits.mjs";
import { collapseID, isMessage } from "../../../Sources/Relay/messages.mjs";
import { verifyRelayRequest } from "../../../Sources/Relay/signature.mjs";
import { DAY, MINUTE, app, p8, world } from "./world.mjs";

const vectors = JSON.parse(readFileSync(new URL("../../Data/Vectors/relay.json", import.meta.url), "utf8"));

test("a provider token is used for 40 minutes, and is Apple's", async () => {
    const own = world(), grant = own.grant(), start = own.now;
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
    const expired = { status: 403, reason: "ExpiredProviderToken" }, own = world({ answers: [{}, expired, {}, expired] }), grant = own.grant();
    assert.equal((await own.push(grant)).status, 200);
    own.now += 21 * MINUTE;
    assert.equal((await own.push(grant)).status, 200);
    assert.equal((await own.push(grant)).code, "relay-unavailable");
    assert.equal(new Set(own.pushes.map(({ headers }) => headers.authorization)).size, 2);
});

test("what APNs did not read is repeated for 20 seconds, with what is left of them", async () => {
    const own = world({ answers: Object.assign(new Error(), { unread: true }) }), start = own.now;
    const answer = await own.push(own.grant());
    assert.deepEqual([answer.status, answer.code, answer.sent], [503, "relay-unavailable", "no"]);
    assert(own.now - start <= 20_000 && own.pushes.length > 5);
    assert(own.pushes.every(({ at, milliseconds }) => at - start + milliseconds <= 20_000));
});

test("grants end by the relay's clock, and revocations do not come back", async () => {
    const own = world(), { grant, expires } = await own.granted();
    assert.equal(expires, own.now + 180 * DAY);
    own.now = expires;
    assert.equal((await own.push(grant)).status, 200);
    own.now += 1;
    assert.equal((await own.push(grant)).code, "grant-expired");
});

test("a grant is younger than what ended those before it, whatever the clock says", async () => {
    const own = world(), end = ({ grant, secret }) => own.post("/v1/revoke", { grant, secret, all: true });
    own.now += 23 * 60 * MINUTE;
    const ahead = await own.granted();
    own.now -= 23 * 60 * MINUTE;
    const before = await own.granted(), others = [own.seal({ token: "0c" }), own.seal({ environment: "development" })];
    assert.equal((await end(before)).status, 200);
    own.now -= 60 * MINUTE;
    const after = await own.granted(), codes = async (...all) => (await own.pushAll(all.map(({ grant }) => grant))).map(({ code }) => code);
    assert.deepEqual(await codes(before, ahead, after), ["grant-revoked", "grant-revoked", undefined]);
    assert.deepEqual(await codes(...others), [undefined, undefined], "another token's, and another environment's");
    // Twice at one time: each ends what was granted until then.
    assert.equal((await end(after)).status, 200);
    const [next, last] = [await own.granted(), await own.granted()];
    assert.equal((await end(next)).status, 200);
    assert.deepEqual(await codes(after, next, last, await own.granted()), ["grant-revoked", "grant-revoked", "grant-revoked", undefined]);
});

test("limits are for windows", async () => {
    const own = world({ limits: { pushes_a_minute: 2, pushes_a_day: 3, background_an_hour: 1 } }), grant = own.grant({ kinds: ["alert", "background"] });
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
    // The newest two are remembered, and at most two more.
    const limiter = new Limiter([[MINUTE, 1]], 2);
    assert.deepEqual([..."aabcaa"].map((key) => limiter.take(key, 0) > 0), [false, true, false, false, true, true]);
    assert.deepEqual([..."deb"].map((key) => limiter.take(key, 0) > 0), [false, false, false]);
});

test("grants and signatures are those of relay.json", async () => {
    const hex = (digits) => new Uint8Array(Buffer.from(digits, "hex"));
    for (const { name, relayKey, origin, random, grant, secret, ...content } of vectors.grants) {
        assert.deepEqual(sealGrant(hex(relayKey), origin, content, hex(random)), { grant, secret, expires: content.expires }, name);
    }
    for (const { name, relayKeys, origin, grant, code } of vectors.refusedGrants) assert.throws(() => openGrant(relayKeys.map(hex), origin, grant), { code }, name);
    for (const { name, origin, path, now, headers, body, code } of vectors.refusedRequests) {
        const given = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
        assert.throws(() => verifyRelayRequest(origin, path, (name) => given.get(name) ?? null, Buffer.from(body), now), { code }, name);
    }
    for (const { name, message, code } of vectors.messages) assert.equal(isMessage(parseObject(Buffer.from(message))), code === undefined, name);
    for (const { name, pushKey, collapseID: collapse_id, apns } of vectors.collapse) assert.equal(collapseID(pushKey, { collapse_id }), apns, name);
});

test("addresses are counted by network", () => {
    const v4 = ["192.0.2.1", "192.0.2.1", "192.0.2", "192.0"], v6 = ["2001:db8:0:1ff", "2001:db8:0:100", "2001:db8:0", "2001:db8"];
    for (const address of ["192.0.2.1", "::ffff:192.0.2.1"]) assert.deepEqual(networks(address), v4, address);
    for (const address of ["2001:db8:0:1ff:2:3:4:5", "2001:0db8:0:1ff::9", "2001:db8:0:1ff::"]) assert.deepEqual(networks(address), v6, address);
    assert.deepEqual(["2001:db8::9", "::1", ""].map((address) => networks(address)[0]), ["2001:db8:0:0", "0:0:0:0", ""]);
});

test("JSON has each member once", () => {
    const read = (text) => parseObject(new TextEncoder().encode(text));
    for (const text of ['{"a":1,"a":1}', '{"a":{"b":1,"b":2}}', '{"a":[{"b":1,"\\u0062":2}]}', "[]", '{"a":1}{', '{"a":01}', '{"a":NaN}', '\ufeff{"a":1}']) assert.equal(read(text), undefined, text);
    assert.deepEqual(read('{"a":[1.0,1e3,-0,-1,0,10],"b":"1.0","c\\"-0":1}'), { a: [null, null, null, null, 0, 10], b: "1.0", 'c"-0': 1 });
    for (const text of ['{"a":-01}', '{"a":1.}', '{"a":.5}', '{"a":+1}', '{"a":1e}', '{"a":0x1}', '{"a":1-5}']) assert.equal(read(text), undefined, text);
    assert.deepEqual(read('{"a":":","b":"\\":\\\\","c":[{"d":1},{"d":2}],"e":{}}'), { a: ":", b: '":\\', c: [{ d: 1 }, { d: 2 }], e: {} });
    assert.equal(parseObject(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)), undefined);
});

