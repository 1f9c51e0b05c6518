// Registration: what a provider stores, answers and refuses.
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import {
    ProviderKey, PushcryptError, SigningKey, accept, formatProviderRecord, issueCertificate, parseDeviceRecord, parseProviderRecord, refuse,
} from "pushcrypt";
import { DeviceKey } from "pushcrypt/testing";
import { internal, recordJSON, throws } from "./support.mjs";

const { formatReply, parseReply } = internal("records");
const key = ProviderKey.generate(), provider = key.publicKey, topic = "a", publicKey = DeviceKey.generate().publicKey, another = DeviceKey.generate().publicKey;
const own = { topic, provider }, pushKey = SigningKey.generate().publicBytes;
const recordOf = (more) => parseDeviceRecord(recordJSON({ publicKey, ...more }));
const full = {
    deviceId: "d", publicKey, suites: [1], topic, generation: 2, created: 5, provider, appVersion: "1", token: "0a1b", environment: "production", grant: "AA",
    updateKey: Buffer.from(SigningKey.generate().publicBytes).toString("base64url"), sequence: 7,
};
const held = { publicKey: another, generation: 1, user: "alice" };

test("a first registration is stored, and comes back from JSON", async () => {
    const { device, reply, ...rest } = accept(parseDeviceRecord(recordJSON(full)), null, "alice", { ...own, pushKey });
    assert.deepEqual(device, { ...full, user: "alice" });
    assert.deepEqual(rest, { removesElsewhere: false, staleStore: null, foreign: [] });
    assert.deepEqual(parseReply(reply), { acknowledged: publicKey, provider, suites: [1], foreign: [], pushKey });
    const weak = JSON.stringify({ ...JSON.parse(reply), push_key: Buffer.of(1, ...Buffer.alloc(31)).toString("base64url") });
    await throws("weak-key", () => parseReply(weak));
    const again = JSON.parse(JSON.stringify(device));
    assert.deepEqual(accept(parseDeviceRecord(recordJSON(full)), again, "alice", own).device, device);
});

test("a record without update key and sequence keeps what is held, and the higher sequence is stored", async () => {
    const other = Buffer.from(SigningKey.generate().publicBytes).toString("base64url");
    for (const held of [{ ...full, user: "alice" }, { ...full, user: "alice", isRemoved: true }]) {
        for (const [more, updateKey, sequence] of [[{}, full.updateKey, 7], [{ updateKey: other, sequence: 6 }, other, 7], [{ sequence: 8 }, full.updateKey, 8]]) {
            const { device } = accept(recordOf({ generation: 2, ...more }), held, "alice", own);
            assert.deepEqual([device.updateKey, device.sequence], [updateKey, sequence]);
        }
    }
    const json = JSON.parse(recordJSON({ ...full, nonce: "A".repeat(22) }));
    assert.deepEqual(parseDeviceRecord(json), full);
    for (const [code, more] of [
        ["malformed-record", { sequence: 0 }], ["malformed-record", { sequence: 2 ** 53 - 1 }], ["malformed-record", { sequence: "7" }], ["malformed-record", { update_key: 7 }],
        ["malformed-key", { update_key: "" }], ["malformed-key", { update_key: `${"A".repeat(42)}B` }], ["weak-key", { update_key: "A".repeat(43) }],
        ["malformed-record", { nonce: "A".repeat(21) }], ["malformed-record", { nonce: `${"A".repeat(21)}B` }], ["malformed-record", { ended: true }], ["malformed-record", { ended: false }],
        ...[..."\0\x9f\xad\u2028\u206f\u{e007f}"].map((invisible) => ["malformed-record", { device: `a${invisible}` }]),
    ]) await throws(code, () => parseDeviceRecord({ ...json, ...more }), inspect(more));
});

test("what a record does not say stays: the owner, the topic, the token", () => {
    const stored = { ...full, user: "alice", provider: null, appVersion: null };
    const { device } = accept(recordOf({ generation: 2 }), stored, null, own);
    assert.deepEqual(device, { ...full, user: "alice", provider: undefined, appVersion: undefined, ...{} } && Object.fromEntries(
        Object.entries({ ...full, user: "alice" }).filter(([name]) => !["provider", "appVersion"].includes(name)),
    ));
    const moved = accept(parseDeviceRecord(recordJSON({ publicKey: another, generation: 3, token: "ff" })), stored, "alice", own).device;
    assert.deepEqual([moved.user, moved.topic, moved.token, moved.environment, moved.created, moved.publicKey], ["alice", topic, "ff", undefined, undefined, another]);
});

test("the user is the session's, never the record's", async () => {
    const record = recordOf({ generation: 2 });
    for (const user of ["bob", null]) await throws("user-mismatch", () => accept(record, held, user, own));
    assert.equal(accept(record, { ...held, publicKey }, null, own).device.user, "alice", "the same key needs no session");
    for (const nobodys of [{ ...held, user: null }, { ...held, user: null, isRemoved: true }]) {
        await throws("user-mismatch", () => accept(record, nobodys, "alice", own));
        assert.equal(accept(record, nobodys, "alice", { ...own, replace: true }).device.user, "alice");
    }
    assert.equal(accept(record, held, "bob", { ...own, replace: true }).device.user, "bob");
    await throws(TypeError, () => accept(record, held, undefined, own));
    await throws(TypeError, () => accept(record, held, 7, own));
    assert.equal(accept(parseDeviceRecord({ public_key: publicKey, user: "mallory" }), null, "alice", own).device.user, "alice");
});

test("records that a provider must not accept are refused, in this order", async () => {
    for (const [code, more, before, options = {}] of [
        ["user-mismatch", { generation: 0, topic: "b" }, { ...held, user: "bob" }], ["generation-rollback", { generation: 0, topic: "b" }, held],
        ["generation-rollback", {}, held], ["generation-too-high", { generation: 1026, topic: "b" }, held], ["generation-too-high", { generation: 1025 }, null],
        ["topic-mismatch", { generation: 2, topic: "b" }, { ...held, topic: "a" }], ["topic-mismatch", { generation: 2, topic: "b" }, null], ["topic-mismatch", { generation: 2, topic: "a" }, { ...held, topic: "b" }],
        ["key-taken", { generation: 2 }, held, { elsewhere: { publicKey, generation: 1, user: "bob" } }],
        ["key-taken", { generation: 2 }, held, { elsewhere: { publicKey, generation: 1, user: null } }],
    ]) {
        const error = await throws(code, () => accept(recordOf(more), before, "alice", { ...own, ...options }), `${code} ${inspect(more)}`);
        assert.deepEqual(parseReply(refuse(error)), { refused: code, suites: [1], foreign: [] });
    }
    const taken = accept(recordOf({ generation: 2 }), held, "alice", { ...own, elsewhere: { publicKey, generation: 1, user: "alice" } });
    assert.equal(taken.removesElsewhere, true);
    await throws(TypeError, () => accept(recordOf({ generation: 2 }), held, "alice", { ...own, elsewhere: { publicKey: another, generation: 1, user: "alice" } }));
});

test("a removed device is known by its user and generation, and by nothing else [D-38]", async () => {
    const removed = { ...full, publicKey: another, generation: 5, user: "alice", topic: "b", isRemoved: true };
    await throws("user-mismatch", () => accept(recordOf({ generation: 6 }), removed, "bob", own));
    await throws("generation-rollback", () => accept(recordOf({ generation: 5 }), removed, "alice", own));
    const { device } = accept(recordOf({ generation: 6 }), removed, "alice", own);
    assert.deepEqual(device, { deviceId: "d", publicKey, topic, generation: 6, user: "alice", suites: [1], updateKey: full.updateKey, sequence: 7 });
});

test("every reply carries the current certificate, a refusal too [D-37]", () => {
    const signing = SigningKey.generate(), certificate = issueCertificate({ provider: key, signingKey: signing.publicBytes, topic });
    const { reply } = accept(recordOf({}), null, "alice", { ...own, certificate });
    assert.equal(parseReply(reply).certificate, certificate);
    assert.equal(parseReply(refuse(new PushcryptError("key-taken"), { certificate, pushKey })).certificate, certificate);
});

test("a certificate that was never issued, and a foreign pin, are reported", () => {
    const signing = SigningKey.generate(), at = Date.now() - 100_000, make = (more) => issueCertificate({ provider: key, signingKey: signing.publicBytes, topic, at, ...more });
    const first = make({}), second = make({ current: first, stolen: true }), foreign = issueCertificate({ provider: ProviderKey.generate(), signingKey: signing.publicBytes, topic });
    const stale = (certificate, more) => accept(recordOf({ provider, certificate }), null, "alice", { ...own, ...more }).staleStore;
    assert.equal(stale(first), first, "at epoch 0 none was issued");
    assert.equal(stale(first, { issued: [first] }), null);
    assert.equal(stale(second, { certificate: first, issued: [] }), second);
    assert.equal(stale(second, { certificate: first }), null, "without the list nothing is known");
    assert.equal(stale(first, { certificate: second, issued: [] }), null, "it is below the floor");
    assert.equal(stale(second, { certificate: second, issued: [] }), null);
    assert.equal(stale(foreign), null);
    assert.ok(issueCertificate({ provider: key, signingKey: signing.publicBytes, topic, current: first, proven: stale(second, { certificate: first, issued: [] }) }));
    const other = ProviderKey.generate().publicKey, { foreign: named, reply } = accept(recordOf({ provider: other }), null, "alice", own);
    assert.deepEqual([named, parseReply(reply).foreign], [["provider"], ["provider"]]);
    assert.deepEqual(accept(recordOf({ provider: other }), null, "alice", { ...own, ownKeys: [other] }).foreign, []);
});

test("what a database gives in other types or by other names is no device", async () => {
    const record = recordOf({ generation: 2 }), { user, ...nobody } = held;
    for (const wrong of [
        { ...held, generation: "1" }, { ...held, generation: 1n }, { ...held, generation: -1 }, { publicKey, user, generaton: 1 }, { publicKey, user }, { ...nobody, user_id: user },
        nobody, { ...held, user: 1 }, { ...held, publicKey: undefined }, { ...held, topic: 1 }, { ...held, isRemoved: 1 }, { ...held, token: Buffer.of(1) }, { ...held, updateKey: Buffer.of(1) }, { ...held, sequence: "7" }, [], "device", 7,
    ]) {
        await throws(TypeError, () => accept(record, wrong, "alice", own), inspect(wrong));
        await throws(TypeError, () => accept(record, null, "alice", { ...own, elsewhere: wrong }), inspect(wrong));
    }
    assert.equal(accept(record, { ...held, topic: null, token: null, suites: null, deviceId: null }, "alice", own).device.token, undefined);
});

test("the provider's own options are checked, and never told to the phone as its fault", async () => {
    const record = recordOf({}), other = issueCertificate({ provider: ProviderKey.generate(), signingKey: SigningKey.generate().publicBytes, topic });
    for (const wrong of [
        { topic: undefined }, { topic: "a b" }, { provider: undefined }, { provider: "pcs1" }, { provider: publicKey }, { certificate: "AA" }, { certificate: other }, { issued: ["AA"] },
        { issued: other }, { ownKeys: new Set([provider]) }, { ownKeys: [7] }, { replace: 1 }, { pushKey: "AA" }, { pushKey: Buffer.alloc(31) }, { Held: held },
    ]) await throws(TypeError, () => accept(record, null, "alice", { ...own, ...wrong }), inspect(wrong));
    for (const wrong of [{ public_key: publicKey }, null, "{}", { ...record, generation: "1" }]) await throws(TypeError, () => accept(wrong, null, "alice", own), inspect(wrong));
    const failure = new RangeError("the database");
    await throws(failure, () => refuse(failure));
    await throws(TypeError, () => refuse(new PushcryptError("key-taken"), { Certificate: other }));
});

test("records that break a rule are not written", async () => {
    await throws("malformed-record", () => formatProviderRecord({ publicKey: provider, created: new Date(NaN) }));
    await throws("malformed-record", () => formatReply({ acknowledged: publicKey, refused: "key-taken" }));
    await throws(TypeError, () => formatReply({ acknowledged: publicKey, foreign: "provider" }));
    const record = { publicKey: provider, topic, generation: 3, created: 5 };
    assert.deepEqual(parseProviderRecord(formatProviderRecord(record)), record);
});
