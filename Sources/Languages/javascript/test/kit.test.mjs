// The test kit of the format, and the other vectors: what this package makes of each is what the format says.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import {
    Reference, CertificateRequest, Credential, ProviderKey, Sealer, SigningKey, accept, parseDeviceRecord, removed,
} from "pushcrypt";
import { DeviceKey, open } from "pushcrypt/testing";
import { answerPost } from "pushcrypt/home";
import { checkMembers, groups, groupsOfKit, hex, internal, joined, knownGroups, outcomeOf, recordJSON, setClock, skip, storeOf, stored, testsOf, vectors } from "./support.mjs";

const { Certificate, certified, claimOf, claimed, nextOf, readPlan } = internal("certificate");
const { limits } = internal("format"), { decodeUTF8 } = internal("json");
const keys = internal("keys");
const { formatReply, parseReply } = internal("records");
const { FIXED, collapseID } = internal("sealer"), { namedMessageID } = internal("seal");
const { partsOf, signature } = internal("secrets");
const { topic: checkTopic } = internal("values");

// The worked example's keys.
const DEVICE_SECRET = "PCR-SECRET-145HAW2SRDFRXKJRZVU33YCGGHHFLEELAGG52A3VC6HWZJ2L5HJ0SADFV30";
const DEVICE_PUBLIC = "pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx";
const PROVIDER_SECRET = "PCS-SECRET-1E5QLJK9AQ39DDTLF8ZW3VHSKTL59Q07DGAS5GFPKGVKT4F9YVNNQLKFTVZ";
const APP = "com.example.app";

const sha256 = (data) => createHash("sha256").update(data).digest("hex");
const defined = (members) => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
const texts = (value) => (value === undefined || value === null ? undefined : [value].flat().map(String));

/** A signing key that the worked example's provider certified until a time. */
const credential = (expiresAt = 2n ** 64n - 1n) => {
    const provider = ProviderKey.parse(PROVIDER_SECRET), key = new SigningKey(Buffer.alloc(32, 7)), { publicKey } = partsOf(provider, ProviderKey);
    const claim = claimOf({ epoch: 1, floor: 0, graceUntil: 1n, expiresAt }, Buffer.from(key.publicBytes));
    const { text } = certified(claim, signature(provider, claimed(publicKey, APP, claim)), publicKey, APP);
    return new Credential({ key, certificate: text, provider: provider.publicKey });
};

/** A record's own members, as the kit names them. */
const membersOf = (record) => ({
    key: record.publicKey, generation: record.generation, device: record.device, suites: record.suites?.join(" "), topic: record.topic, created: record.created,
    provider: record.provider, certificate: record.certificate, "app-version": record.appVersion, token: record.token, environment: record.environment,
    "update-key": record.updateKey && Buffer.from(record.updateKey, "base64url").toString("hex"), sequence: record.sequence, grant: record.grant,
});

function checkResults(each, group, found) {
    const members = Object.entries(found).map(([name, value]) => [name, texts(value)]).filter(([, value]) => value !== undefined && value.length > 0);
    const expected = Object.entries(each).filter(([name, value]) => Array.isArray(value) && RESULTS[group].includes(name));
    assert.deepEqual(Object.fromEntries(members), Object.fromEntries(expected));
}
const RESULTS = {
    plans: ["epoch", "floor", "grace-until", "expires-at"],
    records: ["key", "generation", "device", "suites", "topic", "created", "provider", "certificate", "app-version", "token", "environment", "update-key", "sequence", "grant", "foreign", "stale"],
    replies: ["acknowledged", "refused", "ended", "hello", "sequence", "provider", "certificate", "push-key", "next-push-key", "grant", "suites", "foreign"],
};

/** What `accept` makes of a record for the provider of a test. */
function register(record, each) {
    const heldUser = each.one("held-user") ?? null, topic = record.topic ?? each.one("held-topic") ?? APP, has = each["provider-has"];
    const user = each.one("user") ?? null, issued = each.issued ?? [], provider = has?.[0] ?? ProviderKey.parse(PROVIDER_SECRET).publicKey;
    const isOwn = (one) => outcomeOf(() => one.check(keys.parseKey(provider, "pcs"), topic)) === undefined;
    const [current] = issued.map((text) => Certificate.parse(text)).filter(isOwn).sort((a, b) => b.epoch - a.epoch);
    const id = record.device ?? "phone1", bound = record.topic === undefined ? topic : each.one("held-topic") ?? topic, rows = [];
    if (each["held-key"]) rows.push({ ...stored(each.one("held-key"), bound), device: id, generation: Number(each.one("held-generation")), user: heldUser, isRemoved: each.one("removed") === "yes" });
    if (each.elsewhere) rows.push({ ...stored(record.publicKey, topic), device: "elsewhere", user: each.one("elsewhere") === "-" ? null : each.one("elsewhere") });
    return accept(record, storeOf(...rows), user, {
        topic, provider, device: id, ownKeys: has ?? (record.provider ? [record.provider] : []),
        issued: has === undefined ? undefined : issued, certificate: current?.text, replace: each.one("replace") === "yes" || each.checked === undefined,
    });
}

/** How a call of a promise ends. */
async function settled(call) {
    try {
        return await call();
    } catch (error) {
        if (error?.name !== "PushcryptError") throw error;
        return error.code;
    }
}

/** Whether a post is an end, which counts as sent without a session, whoever brings it. */
const isEnd = (post) => Buffer.from(JSON.parse(post.startsWith("{") ? post : "{}").record ?? "", "base64url").includes('"ended":true');

const counts = {};
/** How posts end that get no reply. */
const BROKEN = ["malformed-record", "malformed-key", "weak-key", "wrong-checksum", "wrong-kind-of-key"];
const GROUPS = {
    certificates(each) {
        // One at a time, under the first pin that verifies it.
        const found = each.body.toString().split("\n").map((line) => {
            const codes = each.pin.map((pin) => outcomeOf(() => Certificate.parse(line).check(keys.parseKey(pin, "pcs"), each.one("context"))));
            return codes.includes(undefined) ? "accepted" : codes.at(-1);
        });
        assert.deepEqual(found, each.expect.map((one) => (["unchanged", "certificate-conflict"].includes(one) ? "accepted" : one)));
    },
    plans(each) {
        const options = {
            current: each.one("certificate"), proven: each.one("proven"), stolen: each.one("kind") === "stolen", lifetime: each.lifetime && Number(each.one("lifetime")),
            past: (each.past ?? []).map((line) => line.split(" ")).map(([text, at]) => ({ certificate: text === "-" ? null : text, replacedAt: new Date(Number(at)) })),
        };
        const found = outcomeOf(() => nextOf(readPlan(options), BigInt(each.one("time"))));
        if (each.expected !== "accepted") assert.equal(found, each.expected);
        else checkResults(each, "plans", { epoch: found.epoch, floor: found.floor, "grace-until": found.graceUntil, "expires-at": found.expiresAt });
        if (each.expected !== "accepted") return;
        // The same through a file that is carried to the provider key.
        const provider = ProviderKey.parse(PROVIDER_SECRET).publicKey, request = new CertificateRequest({ topic: APP, provider, signingKey: new SigningKey(Buffer.alloc(32, 7)).publicBytes, ...options });
        const again = CertificateRequest.parse(request.json());
        assert.deepEqual([again.json(), again.signingKey], [request.json(), request.signingKey]);
    },
    // The code for a topic is not part of the format.
    contexts: (each) => assert.equal(outcomeOf(() => checkTopic(each.body.toString())) === "wrong-topic" ? "refused" : "accepted", each.expected),
    keys(each) {
        const kind = { "device-public": "pcr", "provider-public": "pcs", "device-secret": "PCR-SECRET-", "provider-secret": "PCS-SECRET-", "signing-secret": "PCK-SECRET-" }[each.one("kind")];
        const text = each.body.toString(), found = outcomeOf(() => keys.parseKey(text, kind)), isSecret = kind.endsWith("-");
        if (!isSecret && each.bytes !== undefined) {
            const alone = outcomeOf(() => (kind === "pcr" ? keys.checkDeviceKey : keys.checkVerifyingKey)(hex(each.one("bytes"))));
            assert.equal(alone ?? "accepted", each.expected);
        }
        if (each.expected !== "accepted") {
            assert.equal(found, each.expected);
            return;
        }
        const bare = text.replace(/\n$/, "");
        assert.deepEqual([found.toString("hex"), keys.keyText(found, kind)], [each.one("bytes"), bare]);
        if (!isSecret) {
            assert.equal((kind === "pcr" ? keys.deviceKeyID(found) : keys.keyID(keys.ED25519, found)).toString("hex"), each.one("key-id"));
            return;
        }
        const type = { "PCR-SECRET-": DeviceKey, "PCS-SECRET-": ProviderKey, "PCK-SECRET-": SigningKey }[kind], secret = type.parse(text);
        assert.equal(secret.secretText(), bare);
        assert.equal(partsOf(secret, type).publicKey.toString("hex"), each.one("public-key"));
    },
    "suite-2-keys"(each) {
        // Public keys are read, because a provider may hold them. Secret ones are read as texts, and no more: also a good one is of a suite that is not known.
        if (each.one("kind") === "device-public") return GROUPS.keys(each);
        const kinds = { "device-secret": "PCR-SECRET-", "provider-public": "pcs", "provider-secret": "PCS-SECRET-", "signing-secret": "PCK-SECRET-" };
        const expected = ["accepted", "weak-key"].includes(each.expected) ? "unsupported-suite" : each.expected;
        assert.equal(outcomeOf(() => keys.parseKey(each.body.toString(), kinds[each.one("kind")])), expected);
    },
    references(each) {
        const found = outcomeOf(() => Reference.parse(each.body));
        if (each.expected !== "accepted") {
            assert.equal(found, each.expected);
            return;
        }
        const { url, type, name, key, sha256, size } = found;
        assert.deepEqual([url, type, name, key.toString("hex"), sha256.toString("hex"), `${size}`], ["url", "type", "file-name", "key", "sha256", "size"].map(each.one));
        assert.deepEqual(Reference.parse(found.json()), found);
    },
    "full-bodies"(each) {
        const text = outcomeOf(() => decodeUTF8(each.body, "malformed-file")), sealer = new Sealer({ key: new ProviderKey(Buffer.alloc(32)), topic: APP });
        const found = text === "malformed-file" ? text : outcomeOf(() => typeof sealer.sealFullBody(text, { url: "https://a" }));
        assert.equal(found === "object" ? "accepted" : found, each.body.length > 65_536 ? "body-too-long" : each.expected);
    },
    async records(each) {
        // What is accepted if the provider seals to suite 2, which no package does.
        if (each.one("seals") === "1 2" && each.expected === "accepted") return;
        // Phones read those of providers.
        if (each.one("kind") === "provider") return;
        const record = outcomeOf(() => parseDeviceRecord(each.body)), found = typeof record === "string" ? record : await settled(() => register(record, each));
        if (each.expected !== "accepted") {
            assert.equal(found, each.expected);
            return;
        }
        assert.equal(typeof found, "object", found);
        assert.deepEqual(parseDeviceRecord(recordJSON(record)), record);
        const topic = each.topic === undefined ? undefined : found.device.topic;
        checkResults(each, "records", { ...membersOf(record), topic, foreign: found.foreign, stale: found.staleStore === null ? undefined : "yes" });
        assert.deepEqual(parseReply(found.reply).acknowledged, record.publicKey);
        assert.deepEqual(JSON.parse(JSON.stringify(found.reply)), found.reply);
    },
    /** But for what this package leaves to the command: signatures in a session, and removals because of APNs' answer. */
    async posts(each) {
        const lines = each.body.toString().split("\n").map((line) => line.split(" ")).map(([time, channel, user, outcome, ...post]) => ({ time, channel, user, outcome, post: post.join(" ") }));
        const isLeftOut = ({ channel, outcome, post }, index) => channel === "session" && !isEnd(post)
            && (outcome === "bad-record-signature" || index === lines.length - 1);
        // A record with a sequence is no bare one to `accept`.
        const isPost = each.name === "a-bare-record-with-another-update-key";
        if (isPost || lines.some(isLeftOut) || lines.some(({ channel }) => channel === "removed-by-apns") || each.one("seals") === "1 2") return;
        const home = { ...storeOf(), pairing: () => null }, key = new ProviderKey(hex(each.one("provider-seed"))), topic = each.one("context");
        let reply = {};
        const put = (rows) => rows.forEach((row) => home.rows.set(row.device, JSON.parse(JSON.stringify(row))));
        for (const { time, channel, user, outcome, post } of lines) {
            setClock(time);
            if (channel === "removed-by-operator") {
                put([removed(home.rows.get(user))]);
                continue;
            }
            if (channel === "open" || isEnd(post)) {
                const posted = await answerPost(post, home, { key, topic });
                reply = posted.body === "" ? {} : JSON.parse(Buffer.from(JSON.parse(posted.body).reply, "base64url"));
                put(posted.changes);
                assert.deepEqual([posted.status, reply.refused ?? outcome], [BROKEN.includes(outcome) ? 404 : 200, outcome]);
                continue;
            }
            const found = await settled(async () => {
                const record = parseDeviceRecord(channel === "bare" ? post : Buffer.from(JSON.parse(post).record, "base64url"));
                return accept(record, home, user === "-" ? null : user, { topic, provider: key.publicKey });
            });
            if (typeof found !== "string") {
                put(found.changes);
                reply = found.reply;
            } else if (channel === "session") assert.equal(found, outcome);
        }
        setClock(1_767_225_600_000);
        const held = home.rows.get(each.one("id")), isGone = held?.isRemoved === true;
        assert.equal(isGone, each["removed-after"] !== undefined);
        const found = held && [isGone ? undefined : held.publicKey, held.user ?? undefined, held.grant, String(held.sequence ?? 0), held.updateKey && Buffer.from(held.updateKey, "base64url").toString("hex")];
        if (held) assert.deepEqual(found, [each.one("key-after"), each.one("user-after"), each.one("grant-after"), each.one("sequence-after") ?? "0", each.one("update-key-after")]);
        assert.deepEqual(reply.foreign ?? [], each.foreign ?? []);
        counts.posts = (counts.posts ?? 0) + 1;
    },
    replies(each) {
        const reply = outcomeOf(() => parseReply(each.body));
        if (typeof reply === "string") {
            assert.equal(reply, each.expected);
            return;
        }
        assert.deepEqual(parseReply(formatReply(reply)), reply);
        checkResults({ ...each, suites: each.suites ?? ["1"] }, "replies", {
            acknowledged: reply.acknowledged, refused: reply.refused, provider: reply.provider, certificate: reply.certificate,
            "push-key": reply.pushKey?.toString("hex"), "next-push-key": reply.nextPushKey?.toString("hex"), ended: reply.ended, hello: reply.hello,
            sequence: reply.sequence, grant: reply.grant, suites: reply.suites.join(" "), foreign: reply.foreign,
        });
    },
    payloads(each) {
        const sound = each.one("clear-sound"), at = Number(each.one("time")), pushType = each.one("push-type") ?? "alert";
        setClock(at);
        const push = outcomeOf(() => {
            const expiresAt = each.one("certificate-expires-at"), certified = () => credential(expiresAt && BigInt(expiresAt));
            const key = each.one("certificate") === "yes" ? certified() : ProviderKey.parse(PROVIDER_SECRET);
            const placeholder = { ...defined({ title: each.one("title") }), ...(sound && { sound: sound === "none" ? null : sound }), clear: each.kept ?? [] };
            return new Sealer({ key, topic: APP, placeholder }).seal(each.body, stored(DEVICE_PUBLIC, APP), {
                pushType, exact: each.one("sent-exactly") === "yes", attachments: (each.attachment ?? []).map((json) => Reference.parse(json)),
                ...(each["time-to-live"] && { timeToLive: Number(each.one("time-to-live")) }),
            });
        });
        // The code is not part of the format.
        assert.equal(typeof push === "string" ? "refused" : "accepted", each.expected, push);
        if (each.expected === "refused") return;
        const { ENCRYPTED_DATA: envelope, ...clear } = JSON.parse(push.json);
        assert.deepEqual(clear, JSON.parse(each.one("clear")));
        assert.deepEqual([`${Buffer.byteLength(push.json)}`, `${push.widest}`], [each.one("length"), each.one("widest-length")]);
        assert.equal(`${Buffer.from(envelope, "base64url").length - limits.envelopeOverhead}`, each.one("bucket"));
        const opened = open(push.json, { topic: APP, device: DeviceKey.parse(DEVICE_SECRET), provider: ProviderKey.parse(PROVIDER_SECRET).publicKey, pushType });
        assert.equal(sha256(opened.payload), each.one("payload-sha256"));
    },
};

test("the groups of the kit are known", { skip }, () => {
    assert.deepEqual(groupsOfKit(), knownGroups);
    assert.deepEqual(Object.keys(GROUPS).sort(), [...groups].sort());
});

test("a member that says nothing of the outcome is refused", () => {
    for (const [group, wrong] of [
        ["certificates", { expect: ["weak-key", "weak-key"], "learned-after": ["pcs1"] }], ["keys", { expect: ["weak-key"], "key-id": ["00"] }],
        ["records", { expect: ["malformed-record"], generation: ["1"] }], 
        ["contexts", { expect: ["accepted"], tmie: ["1"] }], ["contexts", { expect: ["accepted", "accepted"] }], ["contexts", {}],
    ]) assert.throws(() => checkMembers(group, wrong), Error, group);
    checkMembers("keys", { expect: ["weak-key"], bytes: ["00"] });
});

for (const group of groups) {
    test(`the kit: ${group}`, { skip }, async () => {
        const failures = [];
        let count = 0;
        for (const each of testsOf(group)) {
            count += 1;
            try {
                await GROUPS[group](each);
            } catch (error) {
                failures.push(`${each.name}: ${error.message}`);
            }
        }
        assert.ok(failures.length === 0 && count > 0 && (group !== "posts" || counts.posts > 100), `${failures.length} of ${count}:\n${failures.join("\n")}`);
    });
}

// The other vectors

function sealerOf(each) {
    const placeholder = { ...defined({ title: each.title }), ...(each.clearSound === undefined ? {} : { sound: each.clearSound || null }), clear: each.kept ?? [] };
    if ((each.epoch ?? 0) === 0) return new Sealer({ key: new ProviderKey(hex(each.providerSeed ?? each.signingSeed)), topic: each.topic, placeholder });
    const provider = keys.keyText(hex(each.providerPublic), "pcs"), certificate = hex(each.certificate).toString("base64url");
    return new Sealer({ key: new Credential({ key: new SigningKey(hex(each.signingSeed)), provider, certificate }), topic: each.topic, placeholder });
}

const sealVector = (sealer, each, payload, more) => sealer.seal(payload, stored(keys.keyText(hex(each.devicePublic), "pcr"), sealer.topic, defined({ device: each.device })), { ...defined({ messageId: each.callerID }), ...more });

// The messages are signed well, and the provider did not make their certificates.
test("a certificate of another key opens nothing", { skip }, () => {
    setClock(0);
    const { shared, tests } = vectors("kit/envelopes.json"), options = { topic: APP, device: DeviceKey.parse(DEVICE_SECRET), provider: shared.pin[0] };
    const opens = ({ body }) => typeof outcomeOf(() => open(JSON.stringify({ ENCRYPTED_DATA: body }), options)) !== "string";
    assert.ok(opens(tests.find(({ name }) => name === "a-message-with-the-first-certificate")));
    const wrong = tests.filter(({ name }) => name.startsWith("a-message-whose-certificate-"));
    assert.ok(wrong.length > 15);
    for (const each of wrong) assert.ok(!opens(each), each.name);
});

test("the seals of envelopes.json, byte for byte", { skip }, () => {
    for (const each of vectors("envelopes.json").seal) {
        const sealer = sealerOf(each);
        const fixed = defined({ rMessageID: each.rMessageID && hex(each.rMessageID), rEphemeral: hex(each.rEphemeral), sealedLife: each.ttl, sentAt: BigInt(each.sentAt) });
        const push = sealVector(sealer, each, each.payload, { ...defined({ pushType: each.pushType }), [FIXED]: fixed });
        const { headers } = sealer.request(push, defined({ collapseName: each.collapseName }));
        assert.deepEqual([push.json, push.messageId, push.widest], [each.push, each.messageID, each.widestLength], each.name);
        if (each.device !== undefined) assert.equal(headers["apns-collapse-id"], each.collapseID, each.name);
    }
});

test("the collapse ids and expirations of requests.json", { skip }, () => {
    const cases = vectors("requests.json"), payload = '{"aps":{"alert":"a"}}';
    for (const each of cases.collapse) {
        // Nothing is sealed to other devices.
        if (each.devicePublic?.length !== 64) continue;
        const key = keys.keyText(hex(each.devicePublic), "pcr"), message = namedMessageID(each.callerID).toString("hex");
        assert.equal(collapseID(hex(each.providerPublic), each.topic, key, message, each.device, each.collapseName), each.collapseID, each.name);
    }
    const some = { devicePublic: cases.collapse[0].devicePublic }, sealer = new Sealer({ key: new ProviderKey(Buffer.alloc(32)), topic: APP });
    for (const each of cases.expiration) {
        const push = (setClock(each.sentAt), sealVector(sealer, some, payload, { pushType: each.pushType, timeToLive: each.requested }));
        assert.deepEqual([sealer.request(push).headers["apns-expiration"], push.timeToLive], [`${each.expiration}`, each.ttl], each.name);
    }
});

test("the certificates of trust.json, byte for byte", { skip }, () => {
    for (const each of vectors("trust.json").certificates) {
        const provider = new ProviderKey(hex(each.providerSeed)), { publicKey } = partsOf(provider, ProviderKey);
        const claim = claimOf({ epoch: each.epoch, floor: each.floor, graceUntil: BigInt(each.graceUntil), expiresAt: BigInt(each.expiresAt) }, Buffer.from(new SigningKey(hex(each.signingSeed)).publicBytes));
        const made = certified(claim, signature(provider, claimed(publicKey, each.topic, claim)), publicKey, each.topic);
        assert.deepEqual([made.data.toString("hex"), made.text, Certificate.parse(made.text).epoch], [each.certificate, each.text, each.epoch], each.name);
    }
});

test("the files of attachments.json, byte for byte", { skip }, () => {
    for (const each of vectors("attachments.json").seal) {
        const sealer = new Sealer({ topic: "a", key: new ProviderKey(hex(each.providerSeed ?? each.signingSeed)) });
        const { reference } = sealer.sealFile(joined(each.plain), { url: "https://a", type: "a.b", name: "a", [FIXED]: { r: hex(each.r) } });
        assert.deepEqual([reference.key.toString("hex"), reference.size, reference.sha256.toString("hex")], [each.key, each.size, each.sha256], each.name);
    }
});

test("records of a key of suite 2, and messages to one", { skip }, async () => {
    setClock(1_767_225_600_000);
    const key = [...testsOf("suite-2-keys")].find(({ name }) => name === "the-phones-public-key").body.toString(), other = DEVICE_PUBLIC;
    const held = stored(key, APP), provider = ProviderKey.parse(PROVIDER_SECRET).publicKey;
    for (const [expected, members, before = null, user = null, more = {}, holder = null] of [
        ["unsupported-suite", { public_key: key, suite: 2, suites: [1, 2] }],
        ["unsupported-suite", { public_key: key }],
        ["unsupported-suite", { public_key: key, key_id: "0be3735d", suites: [2] }],
        ["malformed-key", { public_key: key, suites: [2], provider: "pcs1" }],
        ["malformed-record", { public_key: key, key_id: "0be3735e" }],
        ["user-mismatch", { public_key: key, generation: 2 }, { ...held, user: "alice" }, "bob"],
        ["topic-mismatch", { public_key: key, topic: "a" }, { ...held, topic: "b" }, null, { topic: "a" }],
        ["topic-mismatch", { public_key: key, topic: "a" }, held],
        ["ok", { public_key: key }, held, null, {}, { ...held, device: "elsewhere", user: "bob" }],
        ["ok", { public_key: key }, held],
        ["unsupported-suite", { public_key: key }, { ...held, isRemoved: true }],
        ["malformed-record", { public_key: key, suite: 1 }],
        ["malformed-record", { public_key: key, suites: [1] }],
        ["malformed-record", { public_key: other, suite: 2 }],
        ["malformed-record", { public_key: other, suites: [2] }],
        ["malformed-record", { public_key: other, device: "pcrx1abc" }],
        ["generation-rollback", { public_key: other, generation: 1, suites: [1, 2] }, held],
        ["suite-downgrade", { public_key: other, generation: 2 }, held],
        ["suite-downgrade", { public_key: other, generation: 2, topic: "a" }, { ...held, topic: "b" }],
        ["ok", { public_key: other, generation: 1 }, held, null, { replace: true }],
    ]) {
        const found = await settled(async () => accept(parseDeviceRecord(members), storeOf(before, holder), user, { topic: APP, provider, device: "phone1", ...more }));
        assert.equal(typeof found === "string" ? found : "ok", expected, JSON.stringify(members).slice(-100));
    }
    for (const [expected, suites] of [["ok", [1]], ["ok", [2]], ["malformed-record", []], ["malformed-record", [2, 1]], ["malformed-record", "1"]]) {
        const found = outcomeOf(() => parseReply({ version: 1, acknowledged: other, suites }));
        assert.equal(typeof found === "string" ? found : "ok", expected);
    }
    const reply = parseReply({ version: 1, acknowledged: key });
    assert.deepEqual(reply, { acknowledged: key, suites: [1], foreign: [] });
    assert.equal(parseDeviceRecord({ public_key: key }).suites[0], 2);
    assert.throws(() => new Sealer({ key: ProviderKey.parse(PROVIDER_SECRET), topic: APP }).seal({ aps: { alert: "a" } }, held), { code: "unsupported-suite" });
});
