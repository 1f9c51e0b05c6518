// Requests to a relay, and grants: the vectors of relay.json, and what is refused. The relay itself is tested in Tests/Checks/Relay of the checkout.
import assert from "node:assert/strict";
import test from "node:test";
import { ProviderKey, Sealer } from "pushcrypt";
import { DeviceKey } from "pushcrypt/testing";
import { hex, skip, throws, vectors } from "./support.mjs";

const isOld = globalThis.crypto === undefined ? "pushcrypt/relay needs Node 20" : false;
const { openGrant, pushKeyOf, relayMessage, relayRequest, sealGrant, verifyRelayRequest } = isOld ? {} : await import("pushcrypt/relay");
const origin = "https://push.example.com", seed = Buffer.alloc(32, 5), relayKey = Buffer.alloc(32, 7), options = { skip: skip || isOld };
const BODY = '{"messages":[{"grant":"…","data":"…"}]}';
const base64 = (bytes) => Buffer.from(bytes).toString("base64url");

test("the grants of relay.json", options, async () => {
    for (const { relayKey, origin, random, grant, ...said } of vectors("relay.json").grants) {
        const { name, ...content } = said, key = hex(relayKey);
        assert.equal((await sealGrant(key, origin, content, hex(random))).grant, grant, name);
        const { id, relayKey: by, ...opened } = await openGrant([Buffer.alloc(32), key], origin, grant);
        assert.deepEqual([opened, by, id], [content, key, Buffer.from(grant, "base64url").toString("hex", 5, 21)], name);
        assert.notEqual((await sealGrant(key, origin, content)).grant, grant, name);
    }
});

test("the refused grants of relay.json", options, async () => {
    for (const { name, relayKeys, origin, grant, code } of vectors("relay.json").refusedGrants) {
        const { status } = await throws(code, () => openGrant(relayKeys.map(hex), origin, grant), name);
        assert.equal(status, code === "grant-unknown-key" ? 410 : 400, name);
    }
});

test("the requests of relay.json", options, async () => {
    for (const { name, seed, origin, time, body, pushKey, signature } of vectors("relay.json").requests) {
        assert.equal(base64(await pushKeyOf(hex(seed))), pushKey);
        const header = (header) => ({ "pushcrypt-key": pushKey, "pushcrypt-time": `${time}`, "pushcrypt-signature": signature })[header];
        assert.equal(await verifyRelayRequest(origin, "/v1/push", header, Buffer.from(body), time), pushKey, name);
        if (body !== BODY) continue;
        const made = await relayRequest(origin, hex(seed), JSON.parse(BODY).messages, time);
        assert.deepEqual([made.url, made.body, made.headers["pushcrypt-signature"]], [`${origin}/v1/push`, body, signature], name);
    }
});

test("the refused requests of relay.json", options, async () => {
    for (const { name, origin, now, headers, body, code } of vectors("relay.json").refusedRequests) {
        const header = (wanted) => Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null;
        await throws(code, () => verifyRelayRequest(origin, "/v1/push", header, Buffer.from(body), now), name);
    }
});

test("a message is made of a sealed push", options, () => {
    const sealer = new Sealer({ key: ProviderKey.generate(), topic: "com.example.app", placeholder: { sound: "default" } }), to = DeviceKey.generate().publicKey;
    const request = sealer.request(sealer.seal({ aps: { alert: "a", "content-available": 1 } }, { to }), { deviceId: "d", priority: 5 });
    assert.deepEqual(relayMessage("g", request), {
        grant: "g", data: JSON.parse(request.body).ENCRYPTED_DATA, kind: "alert", priority: 5, expiration: Number(request.headers["apns-expiration"]),
        collapse_id: request.headers["apns-collapse-id"], sound: "default", content_available: true,
    });
    const silent = relayMessage("g", sealer.request(sealer.seal({ aps: { "content-available": 1 } }, { to, pushType: "background" })));
    assert.deepEqual(Object.keys(silent).sort(), ["collapse_id", "data", "expiration", "grant", "kind", "priority"]);
    const call = sealer.request(sealer.seal({ aps: {} }, { to, pushType: "voip" }));
    return throws("malformed-message", () => relayMessage("g", call));
});

test("a request has a type, up to 45 messages, and is for its origin, its path and an hour", options, async () => {
    const at = 10_000_000, { headers, body } = await relayRequest(origin, seed, Array(45).fill({}), at), key = base64(await pushKeyOf(seed));
    assert.deepEqual(Object.keys(headers).sort(), ["content-type", "pushcrypt-key", "pushcrypt-signature", "pushcrypt-time"]);
    const verify = (from = origin, path = "/v1/push", now = at) => verifyRelayRequest(from, path, (name) => headers[name], Buffer.from(body), now);
    for (const now of [at - 3_600_000, at, at + 3_600_000]) assert.equal(await verify(origin, "/v1/push", now), key);
    for (const now of [at - 3_600_001, at + 3_600_001]) await throws("clock", () => verify(origin, "/v1/push", now));
    await throws("bad-signature", () => verify(origin, "/v1/other"));
    await throws("bad-signature", () => verify("https://push.example.org"));
    await throws("malformed-request", () => relayRequest(origin, seed, [{}], -1));
});

test("a grant is for alerts and half a year by default", options, async () => {
    const said = { token: "0a", environment: "production", topic: "a", pushKey: base64(await pushKeyOf(seed)), issued: 1 };
    const { grant, expires } = await sealGrant(relayKey, origin, said), opened = await openGrant([relayKey], origin, grant);
    assert.deepEqual([opened.kinds, opened.expires, expires], [["alert"], 1 + 180 * 86_400_000, opened.expires]);
    await throws("malformed-request", () => sealGrant(relayKey, origin, { ...said, kinds: ["alert", "alert"] }));
});

test("what is given is checked", options, async () => {
    const good = { token: "0a", environment: "production", topic: "a", pushKey: base64(await pushKeyOf(seed)) };
    for (const wrong of ["", "push.example.com", `${origin}/`, "HTTPS://a", "ftp://a"]) await throws("malformed-request", () => relayRequest(wrong, seed, [{}]), wrong);
    for (const messages of [[], Array(46).fill({}), {}]) await throws("malformed-request", () => relayRequest(origin, seed, messages));
    const others = [
        { token: "" }, { token: "0A" }, { token: "aa".repeat(101) }, { environment: "sandbox" }, { topic: "" }, { pushKey: "" }, { kinds: [] }, { kinds: ["voip"] }, { issued: -1 },
    ];
    for (const other of others) await throws("malformed-request", () => sealGrant(relayKey, origin, { ...good, ...other }), JSON.stringify(other));
    for (const key of ["a".repeat(32), Buffer.alloc(31), undefined]) {
        await throws(TypeError, () => sealGrant(key, origin, good));
        await throws(TypeError, () => relayRequest(origin, key, [{}]));
        await throws(TypeError, async () => openGrant([key], origin, (await sealGrant(relayKey, origin, good)).grant));
    }
    await throws("malformed-grant", () => openGrant([relayKey], origin, 7));
});
