// Requests to a relay: the vectors of relay.json, and what is refused. The relay itself is tested in Tests/Checks/Relay of the checkout.
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { ProviderKey, Sealer } from "pushcrypt";
import { PushKey, relayAnswers, relayMessage, relayRequest } from "pushcrypt/relay";
import { DeviceKey } from "pushcrypt/testing";
import { hex, skip, stored, throws, vectors } from "./support.mjs";

const origin = "https://push.example.com", key = new PushKey(Buffer.alloc(32, 5)), BODY = '{"messages":[{"grant":"…","data":"…"}]}';

test("the requests of relay.json", { skip }, () => {
    let count = 0;
    for (const { name, seed, origin, time: at, body, pushKey, signature } of vectors("relay.json").requests) {
        const own = new PushKey(hex(seed));
        assert.equal(own.publicKey.toString("base64url"), pushKey);
        if (body !== BODY || at > 8.64e15) continue;
        const headers = { "content-type": "application/json", "pushcrypt-key": pushKey, "pushcrypt-time": `${at}`, "pushcrypt-signature": signature };
        assert.deepEqual(relayRequest(origin, own, JSON.parse(BODY).messages, { at: new Date(at) }), { url: `${origin}/v1/push`, headers, body }, name);
        count += 1;
    }
    assert.ok(count >= 3);
});

test("answers are taken, and done", { skip }, () => {
    const { requests, answers } = vectors("relay.json"), { seed, origin, time: at, body, signature } = requests.find(({ path }) => path === "/v1/answers/take");
    const made = relayAnswers(origin, new PushKey(hex(seed)), { wait: 25, at: new Date(at) });
    assert.deepEqual([made.url, made.body, made.headers["pushcrypt-signature"]], [`${origin}/v1/answers/take`, body, signature]);
    const { body: next } = relayAnswers(origin, key, { done: answers.map(({ answer }) => answer) });
    assert.deepEqual(JSON.parse(next), { wait: 0, done: answers.map(({ done }) => done) });
});

test("a message is made of a sealed push", async () => {
    const sealer = new Sealer({ key: ProviderKey.generate(), topic: "com.example.app", placeholder: { sound: "default" } }), to = stored(DeviceKey.generate().publicKey, "com.example.app", { grant: "g" });
    const request = sealer.request(sealer.seal({ aps: { alert: "a", "content-available": 1 } }, to), { priority: 5 });
    assert.deepEqual(relayMessage(request), {
        grant: "g", data: JSON.parse(request.body).ENCRYPTED_DATA, kind: "alert", priority: 5, expiration: Number(request.headers["apns-expiration"]),
        collapse_id: request.headers["apns-collapse-id"], sound: "default", content_available: true,
    });
    const silent = relayMessage(sealer.request(sealer.seal({ aps: { "content-available": 1 } }, to, { pushType: "background" })));
    assert.deepEqual(Object.keys(silent).sort(), ["collapse_id", "data", "expiration", "grant", "kind", "priority"]);
    const call = sealer.request(sealer.seal({ aps: {} }, to, { pushType: "voip" }));
    await throws("push-type-not-sealable", () => relayMessage(call));
    await throws(TypeError, () => relayMessage(7));
    await throws("invalid-request", () => relayMessage(sealer.request(sealer.seal({ aps: { alert: "a" } }, { ...to, grant: null }))));
});

test("what is given is checked", async () => {
    for (const wrong of ["", "push.example.com", `${origin}/`, "HTTPS://a", "ftp://a"]) await throws("invalid-request", () => relayRequest(wrong, key, [{}]), wrong);
    for (const messages of [[], Array(46).fill({})]) await throws("invalid-request", () => relayRequest(origin, key, messages));
    for (const at of [new Date(-1), new Date(NaN)]) await throws("invalid-time", () => relayRequest(origin, key, [{}], { at }));
    for (const given of [{ wait: -1 }, { wait: 26 }, { wait: 1.5 }, { done: Array(201).fill("A") }]) await throws("invalid-request", () => relayAnswers(origin, key, given));
    for (const given of [{ wait: "1" }, { done: "A" }, { done: [7] }, { other: 1 }]) await throws(TypeError, () => relayAnswers(origin, key, given));
    for (const length of [0, 31, 33]) await throws(RangeError, () => new PushKey(Buffer.alloc(length)));
    for (const wrong of [() => relayRequest(origin, Buffer.alloc(32), [{}]), () => relayRequest(origin, key, {}), () => relayRequest(7, key, [{}]), () => new PushKey("a".repeat(32))]) {
        await throws(TypeError, wrong);
    }
});

test("a push key is not printed, and can be made again", () => {
    assert.ok(!inspect(key, { depth: 9, showHidden: true }).includes("05 05"));
    assert.deepEqual(new PushKey(key.secretBytes()).publicKey, key.publicKey);
    assert.notDeepEqual(PushKey.generate().publicKey, key.publicKey);
});
