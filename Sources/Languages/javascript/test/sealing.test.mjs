// What a caller can get wrong when sealing, and no file of the kit can ask about: each is refused, or does no harm.
import assert from "node:assert/strict";
import { createDecipheriv, randomBytes } from "node:crypto";
import test from "node:test";
import { inspect } from "node:util";
import { Reference, Credential, ProviderKey, PushcryptError, Sealer, SigningKey, issueCertificate, removed } from "pushcrypt";
import { DeviceKey, open } from "pushcrypt/testing";
import { NOW, stored, throws } from "./support.mjs";

const provider = ProviderKey.generate(), device = DeviceKey.generate(), topic = "a", to = stored(device.publicKey, topic, { token: "8f3a", environment: "development" }), half = "\ud800";
const payload = { aps: { alert: "a", sound: "b" } };
const sealer = (placeholder) => new Sealer({ key: provider, topic, placeholder });
const seal = (options, given = payload) => sealer({}).seal(given, to, options);
const options = { topic, device, provider: provider.publicKey };
const reopened = (given) => open(seal({}, given).json, options).payload;

test("options that no message has are refused", async () => {
    for (const [what, wrong] of [
        ["invalid-request", { messageId: half }], ["invalid-request", { messageId: "" }], [TypeError, { messageId: 7 }],
        ["invalid-time", { timeToLive: 1.5 }], ["invalid-time", { timeToLive: -1 }], ["invalid-time", { timeToLive: 2_592_001 }], [TypeError, { timeToLive: "1h" }],
        ["invalid-time", { at: new Date(-1) }], ["invalid-time", { at: new Date(NaN) }], ["implausible-time", { at: new Date(NOW / 1000) }], ["implausible-time", { at: new Date(NOW * 1000) }],
        ["implausible-time", { at: new Date(NOW + 86_400_001) }], [TypeError, { at: "now" }], [TypeError, { at: NOW }], [TypeError, { at: BigInt(NOW) }],
        [TypeError, { ttl: 60 }], [TypeError, { timetolive: 60 }], [TypeError, { withdrawing: [] }], [TypeError, { to: "pcr1" }],
        ["push-type-not-sealable", { pushType: "liveactivity" }], ["push-type-not-sealable", { pushType: "constructor" }], [TypeError, { pushType: 1 }],
        ["invalid-request", { withdraws: Array.from({ length: 65 }, (_, index) => `${index}`) }], ["invalid-request", { messageId: "b", withdraws: ["b"] }],
        ["invalid-request", { withdraws: [""] }], [TypeError, { withdraws: "table" }], [TypeError, { drop: 1 }], [TypeError, { exact: "yes" }],
        [TypeError, { person: {} }], [TypeError, { person: { name: "Anna", Handle: "u" } }], ["invalid-request", { person: { name: "Anna\nBen" } }],
        ["invalid-request", { person: { name: "Anna", recipients: Array(9).fill("Ben") } }], [TypeError, { person: { name: "Anna", avatar: {} } }],
        [TypeError, { attachments: [{ url: "https://a" }] }], [TypeError, { fullBody: "https://a" }],
    ]) await throws(what, () => seal(wrong), inspect(wrong));
    for (const wrong of [undefined, null, device.publicKey, {}, { ...to, device: undefined }, { ...to, topic: null }, { ...to, user: undefined }, [to]]) {
        const error = await throws(TypeError, () => sealer({}).seal(payload, wrong), inspect(wrong));
        assert.match(error.message, /device/);
    }
    assert.match((await throws(TypeError, () => sealer({}).seal(undefined, to))).message, /payload/);
    assert.match((await throws(TypeError, () => seal({ at: 7 }))).message, /at/);
    await throws("removed-device", () => sealer({}).seal(payload, removed(to)));
    await throws("topic-mismatch", () => sealer({}).seal(payload, { ...to, topic: "b" }));
});

test("sealers that could not seal are not made", async () => {
    for (const [what, wrong] of [
        ["invalid-request", { title: half }], ["invalid-request", { sound: half }], ["invalid-placeholder", { title: " \u00a0" }],
        ["invalid-placeholder", { title: "a".repeat(4097) }], [TypeError, { clear: ["alert"] }], [TypeError, { clear: "badge" }], [TypeError, { Title: "a" }],
    ]) await throws(what, () => sealer(wrong), inspect(wrong));
    await throws(TypeError, () => new Sealer({ key: provider, topic: undefined }));
    await throws("wrong-topic", () => new Sealer({ key: provider, topic: "a b" }));
    await throws(TypeError, () => new Sealer({ key: DeviceKey.generate(), topic }));
    await throws(TypeError, () => new Sealer({ key: SigningKey.generate(), topic }));
    await throws(TypeError, () => new Sealer({ key: { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) }, topic }));
});

test("payloads that would not open, or show nothing, are refused", async () => {
    for (const [what, given] of [
        ["missing-aps", '{"a":1}'], ["reserved-key", '{"ENCRYPTED_DATA":null}'], ["reserved-key", '{"aps":{"alert":"a"},"pushcrypt":{}}'],
        ["invalid-field", { aps: { alert: "a", badge: "1" } }], ["invalid-field", { aps: { alert: "a", sound: { volume: 2 } } }], ["invalid-field", { aps: { alert: { title: 1 } } }],
        ["nothing-to-show", { aps: { alert: { body: "" } } }], ["nothing-to-show", { aps: {} }], ["malformed-payload", '{"aps":{"alert":"a"},"a":1,"a":1}'],
        ["malformed-payload", `{"aps":{"alert":"${half}"}}`], ["malformed-payload", '{"aps":{"alert":"\\ud800"}}'], ["malformed-payload", Buffer.from([0x7b, 0xff, 0x7d])],
        ["malformed-payload", "\ufeff{}"], ["malformed-payload", "[]"], ["payload-too-large", { aps: { alert: "a".repeat(2596) } }],
        ["push-too-large", '{"aps":{"alert":"a"}}'], [TypeError, null], [TypeError, 7],
    ]) {
        const own = what === "push-too-large" ? { title: "a".repeat(4000) } : {};
        await throws(what, () => sealer(own).seal(given, to), inspect(given).slice(0, 100));
    }
});

test("an object is sealed as JSON.stringify writes it, but for numbers and texts that would change", async () => {
    const cycle = { aps: { alert: "a" } };
    cycle.own = cycle;
    const thrower = { toJSON: () => { throw new RangeError("secretName"); } };
    for (const value of [2 ** 53, -(2 ** 60), 1e300, NaN, Infinity, 1n, "\udc00", { "\ud800": 1 }, [NaN], Buffer.alloc(1), new Uint8Array(1), cycle, thrower]) {
        await throws("malformed-payload", () => seal({}, { aps: { alert: "a" }, value }), inspect(value));
    }
    for (const value of [NaN, cycle, thrower]) {
        const error = await throws("malformed-payload", () => seal({}, { aps: { alert: "a" }, secretName: [{ secretName: value }] }));
        assert.ok(!error.message.includes("secretName"));
    }
    const good = {
        aps: { alert: "a", badge: undefined }, list: [1, 0.1, -5, null, true, "\ud83d\ude00", undefined], at: new Date(0), bytes: { toJSON: () => "AA" }, call: () => 1, nested: Object.create(null),
        map: new Map(), zero: -0,
    };
    assert.equal(reopened(good), JSON.stringify(good));
});

test("text and bytes keep every number, and lose white space and needless escapes", () => {
    const written = '{"aps":{"alert":"A"},"big":123456789012345678901234567890,"f":1.0,"e":1E+2}';
    assert.equal(reopened(written), written);
    assert.equal(reopened(Buffer.from(written)), written);
    const escaped = '{"aps":{"alert":"\\/\\u00e9\\uD83d\\ude00 \\\\u0041\\u001F\\u000A\\u0022"},"\\u006e":1}';
    assert.equal(reopened(escaped), '{"aps":{"alert":"/é😀 \\\\u0041\\u001f\\n\\""},"n":1}');
    assert.equal(reopened(' { "aps" :\t{ "alert" : "a \\" b\\\\" } , "x" : [ 1 ,\n2 ] }\r\n'), '{"aps":{"alert":"a \\" b\\\\"},"x":[1,2]}');
});

test("kept fields are sent as they are written", () => {
    const kept = sealer({ clear: ["badge", "thread-id"] }).seal('{"x":{"badge":1},"aps":{"alert":{"body":"a","badge":2}, "thr\\u0065ad-id" : "a\\"}", "badge" : 9007199254740993}}', to);
    assert.ok(kept.json.startsWith('{"aps":{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"},"thread-id":"a\\"}","badge":9007199254740993},"ENC'), kept.json);
});

test("0 is now or never: APNs tries once, and phones' clocks have ten minutes", () => {
    for (const pushType of ["alert", "background", "voip"]) {
        const push = seal({ pushType, timeToLive: 0 }), expiration = (more) => sealer({}).request(push, more).headers["apns-expiration"];
        assert.deepEqual([push.timeToLive, push.expiresAt, push.expiration, expiration(), expiration({ expiration: new Date(0) }), expiration({ expiration: new Date(NOW) })], [600, new Date(NOW + 600_000), 0, "0", "0", `${NOW / 1000}`]);
    }
});

test("a collapse id outlives every key", () => {
    const key = SigningKey.generate(), certificate = issueCertificate({ provider, signingKey: key.publicBytes, topic });
    const id = (own, to) => own.request(own.seal(payload, to), { collapseName: "c" }).headers["apns-collapse-id"];
    const signing = new Sealer({ key: new Credential({ key, certificate, provider: provider.publicKey }), topic });
    assert.match(id(sealer({}), to), /^[A-Za-z0-9_-]{43}$/);
    assert.equal(id(signing, { ...to, publicKey: DeviceKey.generate().publicKey }), id(sealer({}), to));
    assert.notEqual(id(sealer({}), { ...to, device: "phone2" }), id(sealer({}), to));
});

test("requests that APNs would refuse are refused", async () => {
    const push = seal({}), request = (more) => sealer({}).request(push, more);
    for (const [what, wrong] of [
        ["invalid-request", { collapseName: "" }], [TypeError, { expiration: 7 }], ["invalid-time", { expiration: new Date(NaN) }],
        ["implausible-time", { expiration: new Date(NOW / 1000) }], ["implausible-time", { expiration: new Date(NOW + 32 * 86_400_000) }], [TypeError, { priority: 7 }], [TypeError, { priority: true }],
        [TypeError, { deviceId: "a" }],
    ]) await throws(what, () => request(wrong), inspect(wrong));
    await throws("invalid-request", () => sealer({}).request(seal({ pushType: "background" }), { priority: 10 }));
    await throws(TypeError, () => sealer({}).request({ ...push }));
    assert.equal(sealer({}).request(seal({ pushType: "voip" })).headers["apns-topic"], "a.voip");
    const { url, token, environment, grant } = request();
    assert.deepEqual([url, token, environment, grant], ["https://api.sandbox.push.apple.com/3/device/8f3a", "8f3a", "development", null]);
    const other = (more) => sealer({}).request(sealer({}).seal(payload, { ...to, ...more })).url;
    assert.deepEqual([other({ environment: "production" }), other({ token: null })], ["https://api.push.apple.com/3/device/8f3a", null]);
    assert.ok(!(inspect(push, { depth: 9 }) + JSON.stringify(push)).includes("8f3a"));
});

test("the smallest message that withdraws", async () => {
    const push = sealer({}).withdraw(["table-17"], to);
    assert.equal(open(push.json, { ...options, pushType: "background" }).payload, '{"aps":{},"pushcrypt":{"withdraw":["table-17"],"drop":true}}');
    assert.ok(push.json.length < 600 && sealer({}).request(push).headers["apns-priority"] === "5");
    await throws(TypeError, () => sealer({}).withdraw("table-17", to));
});

test("an expired certificate seals nothing [S-10]", async () => {
    const key = SigningKey.generate(), at = (more) => new Date(NOW + more);
    const certificate = issueCertificate({ provider, signingKey: key.publicBytes, topic, lifetime: 3600 });
    const own = new Sealer({ key: new Credential({ key, certificate, provider: provider.publicKey }), topic });
    assert.equal(own.certificate, certificate);
    const { json } = own.seal(payload, to, { at: at(3_600_000) });
    assert.deepEqual(JSON.parse(open(json, { ...options, at: at(3_600_000) }).payload), payload);
    const error = await throws("invalid-time", () => own.seal(payload, to, { at: at(3_600_001) }));
    assert.match(error.message, /certificate/);
});

test("only what was busy or failed may succeed later", () => {
    assert.deepEqual(["changed-file", "weak-key"].map((code) => new PushcryptError(code).retryable), [true, false]);
    const { url, message } = new PushcryptError("weak-key", "a"), page = "https://example.com/pushcrypt/blob/main/Docs/Codes.md#weak-key";
    assert.deepEqual([url, message], [page, `weak-key: a (${page})`]);
});

test("what is sealed opens with what it was sealed with", () => {
    const file = { url: "https://a/b", type: "public.jpeg", name: "c.jpg" }, picture = sealer({}).sealFile(Buffer.from("jpeg"), file);
    assert.notDeepEqual(sealer({}).sealFile(Buffer.from("jpeg"), file).sealed, picture.sealed);
    const { reference: fullBody, sealed } = sealer({}).sealFullBody("the whole text", { url: "https://a/d" });
    const person = { name: "Anna", handle: "u1", conversation: "c", recipients: ["Ben"], avatar: picture.reference };
    const push = seal({ messageId: "m1", withdraws: ["m0"], drop: true, person, attachments: [picture.reference], fullBody });
    const { messageId, payload: text } = open(push.toJSON(), options), reference = (one) => JSON.parse(one.json());
    assert.equal(messageId, push.messageId);
    assert.deepEqual(JSON.parse(text), {
        ...payload, pushcrypt: {
            body: reference(fullBody), attachments: [reference(picture.reference)], sender: { ...person, avatar: reference(picture.reference) }, withdraw: ["m0"], drop: true,
        },
    });
    // One chunk, the last.
    const cipher = createDecipheriv("chacha20-poly1305", fullBody.key, Buffer.from(`${"00".repeat(11)}01`, "hex"), { authTagLength: 16 });
    cipher.setAAD(sealed.subarray(0, 5)).setAuthTag(sealed.subarray(-16));
    assert.equal(Buffer.concat([cipher.update(sealed.subarray(5, -16)), cipher.final()]).toString(), "the whole text");
    assert.equal(seal({ messageId: "m1" }).messageId, push.messageId, "the same id in every retry");
    assert.notEqual(seal({}).messageId, seal({}).messageId);
});

test("full bodies and files that could not be shown are not sealed", async () => {
    await throws("body-too-long", () => sealer({}).sealFullBody("a".repeat(65_537), { url: "https://a" }));
    await throws("malformed-file", () => sealer({}).sealFullBody("", { url: "https://a" }));
    await throws("malformed-reference", () => sealer({}).sealFile(Buffer.alloc(1), { url: "http://a", type: "a.b", name: "a" }));
    await throws("malformed-reference", () => seal({ fullBody: sealer({}).sealFile(Buffer.alloc(1), { url: "https://a", type: "a.b", name: "a" }).reference }));
    const nine = Array(9).fill(sealer({}).sealFile(Buffer.alloc(1), { url: "https://a", type: "a.b", name: "a" }).reference);
    await throws("too-many-attachments", () => seal({ attachments: nine }));
});

test("nothing that is printed shows a key or a payload", () => {
    const key = randomBytes(32), text = key.toString("base64url"), own = new ProviderKey(key), signing = new SigningKey(key), receiving = new DeviceKey(key);
    const reference = Reference.parse({ url: "https://a", type: "a.b", name: "a", size: 22, key: text, sha256: "A".repeat(43) });
    const credential = new Credential({
        key: signing, provider: provider.publicKey, certificate: issueCertificate({ provider, signingKey: signing.publicBytes, topic }),
    });
    const all = [reference, own, signing, receiving, credential, new Sealer({ key: own, topic }), new Sealer({ key: credential, topic })];
    const shown = all.map((value) => inspect(value, { maxStringLength: null, showHidden: false, depth: 9 }) + JSON.stringify(value) + String(value)).join("");
    const forms = [
        text, inspect(key).slice(8, 40), JSON.stringify([...key]).slice(1, 40), key.toString("hex"), own.secretText(), signing.secretText(), receiving.secretText(),
    ];
    assert.ok(reference.key.equals(key) && !forms.some((form) => shown.includes(form)));
});

test("what is not for the phone does not open", async () => {
    const { json } = seal({ timeToLive: 60 }), { ENCRYPTED_DATA: sealed } = JSON.parse(json), stranger = ProviderKey.generate();
    const changed = json.replace(sealed, sealed.slice(0, 80) + (sealed[80] === "A" ? "B" : "A") + sealed.slice(81));
    for (const [what, wrong, text = json] of [
        [TypeError, { device: "pcr1" }], [TypeError, { device: undefined }], [TypeError, { pushType: 7 }], [TypeError, { at: "now" }], [TypeError, { devices: [device] }],
        ["authentication-failed", { topic: "b" }], ["authentication-failed", { provider: stranger.publicKey }], ["authentication-failed", {}, changed],
        ["authentication-failed", {}, new Sealer({ key: stranger, topic }).seal(payload, to).json], ["unknown-recipient-key", { device: DeviceKey.generate() }],
        ["wrong-push-class", { pushType: "voip" }], ["wrong-push-class", { pushType: "constructor" }], ["expired", { at: new Date(NOW + 86_400_000) }], ["malformed-envelope", {}, payload],
    ]) await throws(what, () => open(text, { ...options, ...wrong }), `${what} ${inspect(wrong)}`);
});
