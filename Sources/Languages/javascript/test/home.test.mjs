// The address of a self-hosted server: the vectors of pairing.json, and phones that pair with it. The kit has what they post later.
import assert from "node:assert/strict";
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { Credential, ProviderKey, PushcryptError, Sealer, SigningKey, accept, issueCertificate, refusal } from "pushcrypt";
import { Pairing, answerPost } from "pushcrypt/home";
import { DeviceKey } from "pushcrypt/testing";
import { hex, internal, outcomeOf, recordJSON, setClock, skip, storeOf, stored as storedDevice, throws, vectors } from "./support.mjs";

const { OPEN, decode, isURL, sceneOf, sealReply, signedReply } = internal("pairing"), { signerOf } = internal("secrets"), { formatReply, parseReply } = internal("records"), { ED25519, secretKey, sha256, verifies, parseKey } = internal("keys");
const topic = "com.example.app", time = 1_767_225_600_000, minute = 60_000, url = "https://home.example.net/pair";
const key = new ProviderKey(Buffer.alloc(32, 3)), { publicKey: provider } = key, publicKey = new DeviceKey(Buffer.alloc(32, 5)).publicKey;
const pairing = Pairing.create({ provider, url, topic });
const prefixed = (text) => Buffer.concat([Buffer.of(text.length >> 8, text.length), Buffer.from(text)]), NAME = "chacha20-poly1305", TAG = { authTagLength: 16 };

/** A phone that reads a code. */
class Phone {
    constructor(code, topic) {
        this.topic = topic;
        const data = Buffer.from(code.slice(12, 56), "base64url");
        [this.secret, this.fingerprint] = [data.subarray(1, 17), data.subarray(17)];
        this.scene = Buffer.concat([prefixed(code.slice(57)), prefixed(topic), data.subarray(17)]);
    }

    /** Node's own HKDF takes no longer info than 1,024 bytes, so its two steps are called. */
    key(what, salt, more = Buffer.alloc(0)) {
        const info = Buffer.concat([Buffer.from(`pushcrypt/1 pairing ${what}\0`), this.scene, more, Buffer.of(1)]);
        return createHmac("sha256", createHmac("sha256", salt).update(this.secret).digest()).update(info).digest();
    }

    request(record, salt = Buffer.alloc(16)) {
        const id = Buffer.from(hkdfSync("sha256", this.secret, "", "pushcrypt/1 pairing id\0", 8)), header = Buffer.concat([id, salt]);
        const cipher = createCipheriv(NAME, this.key("request", salt), Buffer.alloc(12), TAG).setAAD(header);
        const text = typeof record === "string" ? record : recordJSON(record);
        return post(Buffer.concat([header, cipher.update(text), cipher.final(), cipher.getAuthTag()]));
    }

    /** The reply record, whose signature over the record is right. */
    open(request, answer, record, signer = key) {
        const data = base64url(answer), salt = data.subarray(0, 16), secret = this.key("reply", salt, sha256(bytesOf(request)));
        const cipher = createDecipheriv(NAME, secret, Buffer.alloc(12), TAG).setAAD(salt).setAuthTag(data.subarray(-16));
        const { reply, signature, ...more } = JSON.parse(Buffer.concat([cipher.update(data.subarray(16, -16)), cipher.final()])), members = JSON.parse(base64url(reply));
        const own = signer.provider ?? signer.publicKey, pin = parseKey(own, "pcs"), epoch = Buffer.alloc(4);
        assert.deepEqual([more, members.provider, members.certificate], [{}, own, signer.certificate]);
        const signing = signer.certificate === undefined ? pin : base64url(signer.certificate).subarray(25, 57);
        epoch.writeUInt32BE(signer.epoch ?? 0);
        const plain = Buffer.from(typeof record === "string" ? record : recordJSON(record));
        const signed = Buffer.concat([Buffer.from("pushcrypt/1 reply\0"), prefixed(this.topic), pin, signing, epoch, sha256(plain), base64url(reply)]);
        assert.ok(verifies(signing, base64url(signature), signed));
        return members;
    }
}
const base64url = (text) => Buffer.from(text, "base64url"), post = (data) => JSON.stringify({ pairing: data.toString("base64url") }), bytesOf = (request) => base64url(JSON.parse(request).pairing);
const code = new Phone(pairing.code, topic);
const nonce = "A".repeat(22), updateKey = Buffer.from(new SigningKey(Buffer.alloc(32, 8)).publicBytes).toString("base64url");
const record = { device: "phone", publicKey, topic, updateKey, sequence: time, nonce }, request = code.request(record), reply = formatReply({ acknowledged: publicKey, provider, pushKey: SigningKey.generate().publicBytes });
const { push_key: pushKey } = reply;
const opened = (body, at = time, one = pairing, signer = key) => {
    setClock(at);
    return one[OPEN](decode(JSON.parse(body).pairing), signerOf(signer, one.topic));
};

/** What each of the packages stores. */
const stored = ({ secret, url, topic, provider }) => `{"secret":"${hex(secret).toString("base64url")}","url":"${url}","topic":"${topic}","provider":"${provider}","created":${time}}`;

test("the pairings of pairing.json", { skip }, () => {
    for (const one of vectors("pairing.json").pairings) {
        const own = Pairing.parse(stored(one)), phone = new Phone(one.code, one.topic), { certificate, ...given } = JSON.parse(one.replyRecord), provider = new ProviderKey(hex(one.providerSeed));
        const key = certificate === undefined ? provider : new Credential({ key: new SigningKey(hex(one.signingSeed)), certificate, provider: one.provider });
        assert.deepEqual([own.code, own.id, own.json()], [one.code, one.id, stored(one)], one.name);
        assert.deepEqual([phone.request(one.record, hex(one.salt)), post(base64url(one.request))], [one.post, one.post]);
        assert.equal(bytesOf(one.post).subarray(0, 8).toString("hex"), one.id);
        const signed = signedReply(signerOf(key, one.topic), one.topic, Buffer.from(one.record), one.replyRecord);
        assert.deepEqual([signed, sealReply(hex(one.secret), sceneOf(one.url, one.topic, phone.fingerprint), base64url(one.request), signed)], [one.signedReply, one.reply]);
        const posted = opened(one.post, time, own, key);
        if (given.refused === "malformed-record") {
            assert.deepEqual([posted.record, phone.open(one.post, posted.answer, one.record, key)], [undefined, { certificate, ...given }]);
            continue;
        }
        const { pairing: after, answer } = posted.seal(given), { updateKey: update_key } = posted.record;
        assert.deepEqual([posted.answer, posted.record.device], [undefined, "5d0f".repeat(8)]);
        assert.deepEqual(phone.open(one.post, answer, one.record, key), JSON.parse(one.replyRecord));
        const claim = given.refused === undefined ? { claimed: time, device: "5d0f".repeat(8), update_key, reply: JSON.stringify(given) } : {};
        assert.deepEqual(JSON.parse(after.json()), { ...JSON.parse(stored(one)), ...claim });
        assert.equal(opened(one.post, time, Pairing.parse(after.json()), key).answer, given.refused === undefined ? answer : undefined);
    }
});

test("what does not open of pairing.json", { skip }, () => {
    const { refused, pairings } = vectors("pairing.json");
    for (const { name, request, requestOpens, ...rest } of refused) {
        const key = new ProviderKey(hex(pairings.find(({ provider }) => provider === rest.provider).providerSeed));
        const outcome = outcomeOf(() => opened(post(base64url(request)), time, Pairing.parse(stored(rest)), key).record !== undefined);
        assert.equal(outcome, requestOpens || "authentication-failed", name);
    }
});

test("the addresses of pairing.json", { skip }, () => {
    for (const { url, accepted } of vectors("pairing.json").urls) {
        assert.equal(isURL(url), accepted, url);
        assert.equal(outcomeOf(() => Pairing.create({ provider, url, topic }).url), accepted ? url : "invalid-request");
    }
});

test("a code has 57 characters and the address", () => {
    assert.match(pairing.code.slice(0, 57), /^pushcrypt:1\?[A-Za-z0-9_-]{44}&$/);
    assert.equal(pairing.code.slice(57), url);
    assert.notEqual(pairing.code, Pairing.create({ provider, url, topic }).code);
});

test("a code ends after ten minutes, and a claim ten minutes later", async () => {
    for (const now of [time - 10 * minute, time + 10 * minute - 1]) assert.equal(opened(request, now).record.device, "phone");
    for (const late of [time - 10 * minute - 1, time + 10 * minute, time + 86_400_000]) await throws("expired", () => opened(request, late));
    const { pairing: claimed, answer } = opened(request, time + 9 * minute).seal(reply);
    assert.equal(opened(request, time + 19 * minute - 1, claimed).answer, answer);
    await throws("expired", () => opened(request, time + 19 * minute, claimed));
});

test("one phone claims a code, and gets the acknowledgement again [P-6]", () => {
    const { pairing: claimed, answer } = opened(request).seal(reply), stored = Pairing.parse(claimed.json()), again = opened(request, time + minute, stored);
    assert.deepEqual([again.record, again.answer, again.seal(formatReply({ refused: "a" })).answer], [undefined, answer, answer]);
    const later = { ...record, grant: "g", sequence: time + 1 }, renewed = opened(code.request(later), time + minute, stored);
    assert.equal(renewed.record, undefined);
    assert.deepEqual(code.open(code.request(later), renewed.answer, later), reply);
    for (const other of [{ ...record, device: "other" }, { ...record, publicKey: new DeviceKey(Buffer.alloc(32, 6)).publicKey }, { ...record, updateKey: pushKey }]) {
        const sent = code.request(other), used = opened(sent, time + minute, stored);
        assert.deepEqual([used.record, used.seal(reply).pairing, used.seal(reply).answer], [undefined, stored, used.answer]);
        assert.equal(code.open(sent, used.answer, other).refused, "pairing-used");
    }
});

test("the key that signs now signs, with its own certificate [P-7]", () => {
    const credential = (seed, more) => {
        const signing = new SigningKey(Buffer.alloc(32, seed));
        return new Credential({ key: signing, provider, certificate: issueCertificate({ provider: key, signingKey: signing.publicBytes, topic, ...more }) });
    };
    const first = credential(6), second = credential(7, { current: first.certificate });
    const { pairing: claimed, answer } = opened(request, time, pairing, first).seal(formatReply({ ...parseReply(reply), certificate: second.certificate }));
    assert.equal(code.open(request, answer, record, first).acknowledged, publicKey);
    assert.equal(code.open(request, opened(request, time, claimed, second).answer, record, second).push_key, pushKey);
    const other = code.request("{}");
    assert.equal(code.open(other, opened(other, time, claimed, second).answer, "{}", second).refused, "malformed-record");
});

test("a refusal leaves the code open, and has another key", async () => {
    const posted = opened(request), refused = posted.seal(refusal(new PushcryptError("user-mismatch")));
    assert.equal(refused.pairing, pairing);
    assert.equal(code.open(request, refused.answer, record).refused, "user-mismatch");
    assert.notEqual(refused.answer.slice(0, 21), posted.seal(reply).answer.slice(0, 21));
    const without = ["device", "update_key", "sequence", "nonce"].map((name) => recordJSON(record).replace(`"${name}"`, '"name"'));
    for (const text of ["{}", "[", ...without, recordJSON(record).replace("AAAA", "AAA")]) {
        const sent = code.request(text);
        for (const one of [pairing, opened(request).seal(reply).pairing]) {
            const { record, answer } = opened(sent, time, one);
            assert.deepEqual([record, code.open(sent, answer, text).refused], [undefined, "malformed-record"]);
        }
    }
    const { reply: accepted, device } = await accept(posted.record, storeOf(), "alice", { topic, provider });
    assert.deepEqual([code.open(request, posted.seal(accepted).answer, record).acknowledged, device.updateKey], [publicKey, updateKey]);
});

test("a changed request is not found", async () => {
    const data = bytesOf(request), text = data.toString("base64url");
    for (let place = 0; place < data.length; place++) {
        const changed = Buffer.from(data);
        changed[place] ^= 1;
        await throws("authentication-failed", () => opened(post(changed)));
        await throws(place < 40 ? "malformed-envelope" : "authentication-failed", () => opened(post(data.subarray(0, place))));
    }
    for (const wrong of ["", `${text}=`, ` ${text}`, `${text}\n`, `${text}é`, `${Buffer.alloc(40).toString("base64url").slice(0, -1)}B`, Buffer.alloc(16_385).toString("base64url")]) {
        await throws("malformed-envelope", () => opened(JSON.stringify({ pairing: wrong })));
    }
    for (const wrong of [Buffer.concat([data, data]), Buffer.concat([data, Buffer.alloc(16_384 - data.length)])]) await throws("authentication-failed", () => opened(post(wrong)));
    await throws("authentication-failed", () => opened(request, time, Pairing.create({ provider, url, topic })));
});

/** The server of the documentation of `pushcrypt/home`. */
function server(...pairings) {
    const rows = new Map(pairings.map((one) => [one.id, one.json()])), devices = storeOf();
    const home = { ...devices, pairing: async (id) => (rows.has(id) ? Pairing.parse(rows.get(id)) : null) };
    const send = async (body, own = key, more = {}) => {
        setClock(time);
        const { pairing, ...posted } = await answerPost(body, home, { key: own, topic, ...more });
        for (const row of posted.changes) devices.rows.set(row.device, row);
        if (pairing) rows.set(pairing.id, pairing.json());
        return posted;
    };
    return { send, rows, devices: devices.rows };
}

test("what is no post of a phone is not found [D-17]", async () => {
    const { pairing: text } = JSON.parse(request), own = server(pairing), before = [...own.rows], unknown = new Phone(Pairing.create({ provider, url, topic }).code, topic);
    const posts = [{}, { pairing: 7 }, { record: "e30" }, { hello: nonce.slice(1) }, { pairing: text, answer: "a" }, { pairing: text, record: "e30" }, { answer: 7 }];
    for (const body of ["", text, "[]", `${request}${"a".repeat(32_768)}`, Buffer.of(255), '{"pairing":"a","pairing":"a"}', unknown.request(record), ...posts.map((one) => JSON.stringify(one))]) {
        assert.deepEqual(await own.send(body), { status: 404, body: "", changes: [], warnings: [] });
    }
    assert.deepEqual([own.devices.size, [...own.rows]], [0, before]);
    assert.equal((await own.send(Buffer.from(JSON.stringify({ pairing: text, record: null, more: 1 })))).status, 200);
    assert.deepEqual([own.devices.get("phone").publicKey, (await own.send('{"answer":"a"}')).answer], [publicKey, "a"]);
});

test("a device is replaced only if its operator said so, and comes back by a code of its user [P-9]", async () => {
    const stranger = storedDevice(new DeviceKey(Buffer.alloc(32, 7)).publicKey, topic, { device: "phone", user: "alice", sequence: 1 }), users = Pairing.create({ provider, url, topic, user: "alice" });
    const gone = { ...stranger, publicKey, isRemoved: true };
    for (const [outcome, held, one] of [
        ["user-mismatch", stranger, users], ["acknowledged", stranger, Pairing.create({ provider, url, topic, user: "alice", replaces: "phone" })],
        ["acknowledged", gone, users], ["user-mismatch", gone, Pairing.create({ provider, url, topic })], ["user-mismatch", { ...gone, user: "bob" }, users],
        ["stale-record", { ...gone, sequence: time }, users],
    ]) {
        const own = server(one), phone = new Phone(one.code, topic), sent = phone.request(record);
        own.devices.set("phone", held);
        const reply = phone.open(sent, (await own.send(sent)).body, record), isTaken = outcome === "acknowledged";
        assert.deepEqual([reply.refused ?? "acknowledged", own.devices.get("phone") !== held, Pairing.parse(own.rows.get(one.id)).claimed !== undefined], [outcome, isTaken, isTaken]);
    }
});

test("push keys are in all replies", async () => {
    const own = server(pairing), [pushKey, nextPushKey] = [4, 6].map((seed) => new SigningKey(Buffer.alloc(32, seed)).publicBytes);
    const [hello, paired] = [await own.send(`{"hello":"${nonce}"}`, key, { pushKey, nextPushKey }), await own.send(request, key, { pushKey, nextPushKey })];
    for (const reply of [JSON.parse(base64url(JSON.parse(hello.body).reply)), code.open(request, paired.body, record)]) {
        assert.deepEqual([reply.push_key, reply.next_push_key], [pushKey, nextPushKey].map((one) => Buffer.from(one).toString("base64url")));
    }
});

test("a phone logs out by an end without a session, through what the README shows [D-26]", async () => {
    const require = createRequire(import.meta.url), readme = readFileSync(join(dirname(require.resolve("pushcrypt/package.json")), "README.md"), "utf8");
    const [, text] = /<!-- example: register.mjs -->\n```js\n([^]*?)```/.exec(readme);
    const module = text.replace(/from "(pushcrypt[^"]*)"/g, (_, name) => `from "${pathToFileURL(require.resolve(name))}"`);
    const { register, answerSigned } = await import(`data:text/javascript,${encodeURIComponent(module)}`), devices = new Map();
    setClock(time);
    assert.equal((await register(recordJSON(record), "alice", devices, new Sealer({ key, topic }))).acknowledged, publicKey);
    const end = Buffer.from(JSON.stringify({ device: "phone", provider, nonce, sequence: 2 ** 53 - 1, ended: true }));
    const asked = Buffer.concat([Buffer.from("pushcrypt/1 record\0\x02"), prefixed(topic), parseKey(provider, "pcs"), end]);
    const signature = sign(null, asked, secretKey(ED25519, Buffer.alloc(32, 8)));
    const { status, body } = await answerSigned(JSON.stringify({ record: end.toString("base64url"), signature: signature.toString("base64url") }), devices, key, topic);
    assert.deepEqual([status, JSON.parse(base64url(JSON.parse(body).reply)).ended, devices.get("phone").isRemoved], [200, "phone", true]);
});

test("a reply that breaks the rules is not sealed", async () => {
    await throws("invalid-request", () => opened(request).seal(formatReply({ acknowledged: DeviceKey.generate().publicKey })));
    await throws("invalid-request", () => server(pairing).send(request, ProviderKey.generate()));
});

test("what is stored is checked, and the secret not printed", async () => {
    const good = JSON.parse(pairing.json()), printed = inspect([pairing, opened(request)], { depth: 9, showHidden: true }) + JSON.stringify(pairing);
    assert.ok(!printed.includes(good.secret) && !printed.includes(pairing.code.slice(14, 30)), printed);
    const wrong = { secret: "a", url: "http://a", topic: "a b", created: -1, claimed: 1, reply: "{}" };
    for (const [name, value] of [...Object.entries(wrong), ["secret"], ["provider"]]) await throws("malformed-record", () => Pairing.parse({ ...good, [name]: value ?? null }));
    const claim = { claimed: 1, device: "a", update_key: updateKey, reply: JSON.stringify(reply) };
    assert.equal(Pairing.parse({ ...good, ...claim }).updateKey, updateKey);
    await throws("malformed-record", () => Pairing.parse({ ...good, ...claim, reply: "{}" }));
    await throws("malformed-key", () => Pairing.parse({ ...good, ...claim, update_key: "a" }));
    await throws("wrong-topic", () => Pairing.create({ provider, url, topic: "a b" }));
    for (const wrong of [{ at: new Date() }, { user: "" }, { user: 7 }, { replaces: "" }]) await throws(TypeError, () => Pairing.create({ provider, url, topic, ...wrong }));
});
