// Registration: what a provider stores, answers and refuses.
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import {
    ProviderKey, PushcryptError, SigningKey, accept, issueCertificate, parseDeviceRecord, refusal, removed, withoutGrant,
} from "pushcrypt";
import { DeviceKey } from "pushcrypt/testing";
import { NOW, internal, recordJSON, storeOf, throws } from "./support.mjs";

const { formatReply, parseReply } = internal("records");
const key = ProviderKey.generate(), provider = key.publicKey, topic = "a", publicKey = DeviceKey.generate().publicKey, another = DeviceKey.generate().publicKey;
const own = { topic, provider }, pushKey = SigningKey.generate().publicBytes;
const recordOf = (more) => parseDeviceRecord(recordJSON({ device: "d", publicKey, ...more }));
const full = {
    device: "d", publicKey, suites: [1], topic, generation: 2, created: 5, provider, appVersion: "1", token: "0a1b", environment: "production", grant: "AA",
    updateKey: Buffer.from(SigningKey.generate().publicBytes).toString("base64url"), sequence: 7,
};
const held = { device: "d", topic, publicKey: another, generation: 1, user: "alice" };
/** What comes of a record of which this is held, and these of other devices. */
const take = (record, held, user, { others = [], ...options } = own) => accept(record, storeOf(held, ...others), user, { ...own, ...options });

test("a first registration is stored, and comes back from JSON", async () => {
    const nextPushKey = SigningKey.generate().publicBytes;
    const { device, reply, ...rest } = await take(parseDeviceRecord(recordJSON(full)), null, "alice", { ...own, pushKey, nextPushKey });
    assert.deepEqual(device, { ...full, user: "alice" });
    assert.deepEqual(rest, { changes: [device], staleStore: null, foreign: [], warnings: [] });
    assert.deepEqual(parseReply(reply), { acknowledged: publicKey, provider, suites: [1], foreign: [], pushKey, nextPushKey });
    const weak = JSON.stringify({ ...reply, push_key: Buffer.of(1, ...Buffer.alloc(31)).toString("base64url") });
    await throws("weak-key", () => parseReply(weak));
    const again = JSON.parse(JSON.stringify(device));
    assert.deepEqual((await take(recordOf({ ...full, sequence: 8 }), again, "alice", own)).device, { ...device, sequence: 8 });
});

test("a record without update key and sequence keeps what is held, and the higher sequence is stored", async () => {
    const other = Buffer.from(SigningKey.generate().publicBytes).toString("base64url");
    for (const held of [{ ...full, user: "alice" }, { ...full, user: "alice", isRemoved: true }]) {
        for (const [more, updateKey, sequence] of [[{}, full.updateKey, 7], [{ updateKey: other }, other, 7], [{ sequence: 8 }, full.updateKey, 8]]) {
            const { device } = await take(recordOf({ generation: 2, ...more }), held, "alice", own);
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

test("a record that is not later is refused, and the reply has the held sequence [D-25]", async () => {
    const device = { ...full, user: "alice" };
    for (const held of [device, removed(device)]) {
        for (const more of [{}, { sequence: 6, generation: 1 }, { sequence: held.sequence }]) {
            const error = await throws("stale-record", () => take(recordOf({ ...full, ...more }), held, "alice"));
            assert.deepEqual(refusal(error), { version: 1, refused: "stale-record", sequence: held.sequence });
        }
        await throws("user-mismatch", () => take(recordOf(full), held, "bob"));
        assert.equal((await take(recordOf(full), held, "alice", { replace: true })).device.sequence, 7);
    }
});

test("a session without a user changes no key of a user's device [D-22]", async () => {
    const other = Buffer.from(SigningKey.generate().publicBytes).toString("base64url");
    for (const updateKey of [full.updateKey, undefined]) {
        const held = { ...full, user: "alice", updateKey };
        await throws("user-mismatch", () => take(recordOf({ ...full, sequence: 8, updateKey: other }), held, null));
        assert.equal((await take(recordOf({ ...full, sequence: 8, updateKey: undefined }), held, null)).device.updateKey, updateKey);
    }
});

test("a grant that has ended is not stored again, and the reply says so [D-33]", async () => {
    const device = { ...full, user: "alice" }, held = withoutGrant(device, "AA");
    assert.deepEqual([held.grant, held.endedGrant, removed(held).endedGrant], [undefined, "AA", undefined]);
    assert.deepEqual(withoutGrant(device, "older"), { ...device, isRemoved: false });
    for (const [grant, after, endedGrant, said] of [["AA", undefined, "AA", "ended"], [undefined, undefined, "AA", undefined], ["BB", "BB", undefined, undefined]]) {
        const { device, reply } = await take(recordOf({ ...full, sequence: 8, grant }), JSON.parse(JSON.stringify(held)), "alice");
        assert.deepEqual([device.grant, device.endedGrant, reply.grant], [after, endedGrant, said]);
    }
});

test("without a token the held one and its environment stay [D-33]", async () => {
    const record = recordOf({ ...full, token: undefined, environment: "development", sequence: 8 });
    const found = async (held) => (await take(record, held, "alice")).device;
    assert.deepEqual([(await found(null)).environment, (await found({ ...full, user: "alice" })).environment], [undefined, "production"]);
});

test("what a record does not say stays: the owner, the topic, the token", async () => {
    const stored = { ...full, user: "alice", provider: null, appVersion: null };
    const { device } = await take(recordOf({ generation: 2 }), stored, null, own);
    const { provider: _, appVersion, ...rest } = full;
    assert.deepEqual(device, { ...rest, user: "alice" });
    const { device: moved, warnings } = await take(parseDeviceRecord(recordJSON({ device: "d", publicKey: another, generation: 3, token: "ff" })), stored, "alice", own);
    assert.match(warnings.join(), /environment/);
    assert.deepEqual([moved.user, moved.topic, moved.token, moved.environment, moved.created, moved.publicKey], ["alice", topic, "ff", "production", undefined, another]);
});

test("the user is the session's, never the record's", async () => {
    const record = recordOf({ generation: 2 });
    for (const user of ["bob", null]) await throws("user-mismatch", () => take(record, held, user, own));
    assert.equal((await take(record, { ...held, publicKey }, null, own)).device.user, "alice", "the same key needs no session");
    for (const nobodys of [{ ...held, user: null }, { ...held, user: null, isRemoved: true }]) {
        await throws("user-mismatch", () => take(record, nobodys, "alice", own));
        assert.equal((await take(record, nobodys, "alice", { ...own, replace: true })).device.user, "alice");
    }
    assert.equal((await take(record, held, "bob", { ...own, replace: true })).device.user, "bob");
    await throws(TypeError, () => take(record, held, undefined, own));
    for (const wrong of [7, ""]) await throws(TypeError, () => take(record, held, wrong, own));
    const { device } = await take(parseDeviceRecord({ public_key: publicKey, user: "mallory" }), null, "alice", { device: "mine" });
    assert.deepEqual([device.user, device.device], ["alice", "mine"]);
    await throws("malformed-record", () => take(parseDeviceRecord({ public_key: publicKey }), null, "alice"));
});

test("records that a provider must not accept are refused, in this order", async () => {
    for (const [code, more, before, options = {}] of [
        ["user-mismatch", { generation: 0, topic: "b" }, { ...held, user: "bob" }], ["generation-rollback", { generation: 0, topic: "b" }, held],
        ["generation-rollback", {}, held], ["generation-too-high", { generation: 1026, topic: "b" }, held], ["generation-too-high", { generation: 1025 }, null],
        ["topic-mismatch", { generation: 2, topic: "b" }, { ...held, topic: "a" }], ["topic-mismatch", { generation: 2, topic: "b" }, null], ["topic-mismatch", { generation: 2, topic: "a" }, { ...held, topic: "b" }],
    ]) {
        const error = await throws(code, () => take(recordOf(more), before, "alice", { ...own, ...options }), `${code} ${inspect(more)}`);
        assert.deepEqual(parseReply(refusal(error)), { refused: code, suites: [1], foreign: [] });
    }
});

test("a key and a token are of one device of a user [D-32]", async () => {
    const other = { ...held, device: "e", publicKey, sequence: 4 }, now = { ...full, user: "alice" }, changes = async (...others) => (await take(recordOf(full), null, "alice", { others })).changes;
    assert.deepEqual(await changes(other), [now, { ...other, isRemoved: true }]);
    assert.deepEqual(await changes(removed(other)), [now]);
    for (const user of ["bob", null]) {
        await throws("key-taken", () => changes({ ...other, user }));
        assert.deepEqual(await changes(removed({ ...other, user })), [now]);
    }
    await throws("key-taken", () => take(recordOf({}), null, null, { others: [{ ...other, user: null }] }));
    const token = { ...other, publicKey: another, token: full.token };
    assert.deepEqual((await changes(token)).map((one) => one.device), ["d", "e"]);
    for (const more of [{ user: "bob" }, { user: null }, { topic: "b" }]) assert.equal((await changes({ ...token, ...more })).length, 1);
});

test("one phone does not get what is another's", async () => {
    const other = { ...held, device: "e", token: "beef" };
    for (const devices of [{ find: () => other, holders: () => [] }, { find: () => null, holders: () => [other] }]) {
        await throws(TypeError, () => accept(recordOf({}), devices, "alice", own));
    }
});

test("a removed device is known by its user and generation, and by nothing else [D-38]", async () => {
    const gone = removed({ ...full, publicKey: another, generation: 5, user: "alice", topic: "b" });
    assert.deepEqual(gone, { device: "d", topic: "b", publicKey: another, suites: [1], generation: 5, created: 5, user: "alice", updateKey: full.updateKey, sequence: NOW + 86_400_000, isRemoved: true });
    assert.equal(removed({ ...full, user: null, sequence: 2 * NOW }).sequence, 2 * NOW);
    await throws("user-mismatch", () => take(recordOf({ generation: 6 }), gone, "bob", own));
    await throws("generation-rollback", () => take(recordOf({ generation: 5 }), gone, "alice", own));
    const { device } = await take(recordOf({ generation: 6 }), gone, "alice", own);
    assert.deepEqual(device, { device: "d", publicKey, topic, generation: 6, user: "alice", suites: [1], updateKey: full.updateKey, sequence: gone.sequence });
});

test("every reply carries the current certificate, a refusal too [D-37]", async () => {
    const signing = SigningKey.generate(), certificate = issueCertificate({ provider: key, signingKey: signing.publicBytes, topic });
    const { reply } = await take(recordOf({}), null, "alice", { ...own, certificate });
    assert.equal(parseReply(reply).certificate, certificate);
    assert.equal(parseReply(refusal(new PushcryptError("key-taken"), { certificate, pushKey })).certificate, certificate);
});

test("a certificate that was never issued, and a foreign pin, are reported", async () => {
    const signing = SigningKey.generate(), at = new Date(NOW - 100_000), make = (more) => issueCertificate({ provider: key, signingKey: signing.publicBytes, topic, at, ...more });
    const first = make({}), second = make({ current: first, stolen: true }), foreign = issueCertificate({ provider: ProviderKey.generate(), signingKey: signing.publicBytes, topic });
    const stale = async (certificate, more) => (await take(recordOf({ provider, certificate }), null, "alice", { ...own, ...more })).staleStore;
    assert.equal(await stale(first), first, "at epoch 0 none was issued");
    assert.equal(await stale(first, { issued: [first] }), null);
    assert.equal(await stale(second, { certificate: first, issued: [] }), second);
    assert.equal(await stale(second, { certificate: first }), null, "without the list nothing is known");
    assert.equal(await stale(first, { certificate: second, issued: [] }), null, "it is below the floor");
    assert.equal(await stale(second, { certificate: second, issued: [] }), null);
    assert.equal(await stale(foreign), null);
    assert.ok(issueCertificate({ provider: key, signingKey: signing.publicBytes, topic, current: first, proven: await stale(second, { certificate: first, issued: [] }) }));
    const other = ProviderKey.generate().publicKey, { foreign: named, reply } = await take(recordOf({ provider: other }), null, "alice", own);
    assert.deepEqual([named, parseReply(reply).foreign], [["provider"], ["provider"]]);
    assert.deepEqual((await take(recordOf({ provider: other }), null, "alice", { ...own, ownKeys: [other] })).foreign, []);
});

test("what a database gives in other types or by other names is no device", async () => {
    const record = recordOf({ generation: 2 }), { user, ...nobody } = held;
    for (const wrong of [
        { ...held, generation: "1" }, { ...held, generation: 1n }, { ...held, generation: -1 }, { ...nobody, user, generaton: 1 }, { ...held, device: null }, { ...held, topic: undefined }, { ...held, user: "" }, { publicKey, user }, { ...nobody, user_id: user },
        nobody, { ...held, user: 1 }, { ...held, publicKey: undefined }, { ...held, topic: 1 }, { ...held, isRemoved: 1 }, { ...held, token: Buffer.of(1) }, { ...held, updateKey: Buffer.of(1) }, { ...held, sequence: "7" }, [], "device", 7,
    ]) {
        const error = await throws(TypeError, () => accept(record, { find: () => wrong, holders: () => [] }, "alice", own), inspect(wrong));
        assert.match(error.message, /devices.find/);
        await throws(TypeError, () => accept(record, { find: () => null, holders: () => [wrong] }, "alice", own), inspect(wrong));
    }
    for (const wrong of [undefined, null, {}, { find: () => null }, { find: () => undefined, holders: () => [] }, { find: () => null, holders: () => null }, new Map()]) {
        await throws(TypeError, () => accept(record, wrong, "alice", own), inspect(wrong));
    }
    assert.equal((await take(record, { ...held, token: null, suites: null }, "alice", own)).device.token, undefined);
});

test("the provider's own options are checked, and never told to the phone as its fault", async () => {
    const record = recordOf({}), other = issueCertificate({ provider: ProviderKey.generate(), signingKey: SigningKey.generate().publicBytes, topic });
    for (const wrong of [
        { topic: undefined }, { topic: "a b" }, { provider: undefined }, { provider: "pcs1" }, { provider: publicKey }, { certificate: "AA" }, { certificate: other }, { issued: ["AA"] },
        { issued: other }, { ownKeys: new Set([provider]) }, { ownKeys: [7] }, { replace: 1 }, { pushKey: "AA" }, { pushKey: Buffer.alloc(31) }, { Held: held }, { device: "pcr1" }, { device: 7 }, { device: "" }, { device: "a\n" }, { nextPushKey: Buffer.alloc(31) },
    ]) await throws(TypeError, () => take(record, null, "alice", { ...own, ...wrong }), inspect(wrong));
    for (const wrong of [{ public_key: publicKey }, null, "{}", { ...record, generation: "1" }]) await throws(TypeError, () => accept(wrong, null, "alice", own), inspect(wrong));
    const failure = new RangeError("the database");
    await throws(failure, () => refusal(failure));
    for (const wrong of [{ Certificate: other }, { certificate: "x" }]) await throws(TypeError, () => refusal(new PushcryptError("key-taken"), wrong));
});

test("replies that break a rule are not written", async () => {
    await throws("malformed-record", () => formatReply({ acknowledged: publicKey, refused: "key-taken" }));
    await throws(TypeError, () => formatReply({ acknowledged: publicKey, foreign: "provider" }));
});
