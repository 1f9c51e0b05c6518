// Answers: the vectors of answers.json, and a message that is answered.
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { ProviderKey, Sealer } from "pushcrypt";
import { AnswerSecret, openAnswer } from "pushcrypt/answers";
import { DeviceKey, Trust, open, sealAnswer } from "pushcrypt/testing";
import { hex, internal, skip, throws, vectors } from "./support.mjs";

const { answerParts, padded, sealPlain } = internal("answers"), keys = internal("keys"), { givenOf } = internal("receiver/answers");
const topic = "com.example.app", time = 1_767_225_600_000, secret = new AnswerSecret(Buffer.alloc(32, 7)), device = new DeviceKey(Buffer.alloc(32, 5));
const sealer = new Sealer({ key: new ProviderKey(Buffer.alloc(32, 3)), topic }), payload = { aps: { alert: "Deploy?" } };
const seal = (options, to = device) => open(sealer.seal(payload, { to: to.publicKey, at: time, ...options }).json, { topic, devices: [to], trust: new Trust([sealer.provider]), at: time });
const text = (digits) => keys.keyText(hex(digits), keys.DEVICE_PUBLIC);

const opening = ({ secrets, devices, topic, now, within }) => ({ secrets: secrets.map((one) => new AnswerSecret(hex(one))), devices: devices.map(text), topic, at: now, within });

test("the keys of answers.json", { skip }, () => {
    for (const { name, secret, devicePublic, topic, messageID, sentAt, answerID, answerKey, answer } of vectors("answers.json").keys) {
        const parts = answerParts(new AnswerSecret(hex(secret)), hex(devicePublic), topic, hex(messageID), BigInt(sentAt));
        assert.deepEqual([parts.toString("hex"), parts.toString("base64url")], [answerID + answerKey, answer], name);
    }
});

test("the answers of answers.json", { skip }, () => {
    for (const { name, device, given, random, json, text: sealed, members, ...rest } of vectors("answers.json").answers) {
        const made = sealPlain(Buffer.from(given, "base64url"), keys.deviceKeyID(hex(device)), padded(Buffer.from(json)), hex(random));
        assert.equal(made, sealed, name);
        const { message_id: messageId, sent_at: sentAt, ...same } = members;
        assert.deepEqual(openAnswer(sealed, opening(rest)), { device: text(device), messageId, sentAt, ...same }, name);
    }
});

test("the refused answers of answers.json", { skip }, async () => {
    for (const { name, text, code, ...rest } of vectors("answers.json").refused) await throws(code, () => openAnswer(text, opening(rest)), name);
});

test("a message is answered, by its phone alone", async () => {
    for (const messageId of ["deploy-17", undefined]) {
        const message = seal({ messageId, answers: secret, drop: true }), given = { secrets: [secret], devices: [device.publicKey], topic, at: time + 9 };
        const answer = sealAnswer(message, { action: "approve", text: "go 🚲", at: time + 5 });
        assert.deepEqual(openAnswer(answer, given), { device: device.publicKey, messageId: message.messageId, sentAt: time, action: "approve", text: "go 🚲", at: time + 5 });
        assert.equal(openAnswer(sealAnswer(message, { action: "no" }), given).text, undefined);
        await throws("expired", () => openAnswer(answer, { ...given, within: 600, at: time + 600_001 }));
    }
    const tablet = new DeviceKey(Buffer.alloc(32, 6)), devices = [device.publicKey, tablet.publicKey], given = { secrets: [secret], devices, topic, at: time };
    const both = [device, tablet].map((one) => openAnswer(sealAnswer(seal({ messageId: "a", answers: secret }, one), { action: "b" }), given).device);
    assert.deepEqual(both, devices);
    // The key of one message opens no answer to another.
    const [first, second] = ["a", "b"].map((messageId) => seal({ messageId, answers: secret }));
    const body = padded(Buffer.from(JSON.stringify({ message_id: second.messageId, sent_at: time, action: "a", at: time })));
    await throws("authentication-failed", () => openAnswer(sealPlain(givenOf(first), keys.deviceKeyID(keys.parseKey(device.publicKey, keys.DEVICE_PUBLIC)), body), given));
});

test("an answer ends after 31 days, whatever is allowed", async () => {
    const answer = sealAnswer(seal({ messageId: "a", answers: secret }), { action: "a" }), end = time + 31 * 86_400_000;
    const given = { secrets: [secret], devices: [device.publicKey], topic, within: 40 * 86_400 };
    assert.equal(openAnswer(answer, { ...given, at: end }).action, "a");
    await throws("expired", () => openAnswer(answer, { ...given, at: end + 1 }));
    // By this machine's clock, the message is older.
    await throws("expired", () => openAnswer(answer, given));
});

test("a secret has 32 bytes, which nobody else's buffer changes", async () => {
    for (const length of [0, 31, 33]) assert.throws(() => new AnswerSecret(Buffer.alloc(length)), RangeError);
    const bytes = Buffer.alloc(32, 9), own = new AnswerSecret(bytes);
    bytes.fill(0);
    own.secretBytes().fill(0);
    assert.deepEqual(Buffer.from(own.secretBytes()), Buffer.alloc(32, 9));
});

test("other messages stay as they are, and nothing is printed", async () => {
    const plain = seal({ messageId: "a" }), answerable = seal({ messageId: "a", answers: secret });
    assert.equal(plain.messageId, answerable.messageId);
    assert(!plain.payload.includes("pushcrypt") && !inspect(secret, { depth: 9, showHidden: true }).includes("07 07"));
    await throws("invalid-request", () => sealAnswer(plain, { action: "a" }));
    for (const answer of [{ action: "" }, { action: "a".repeat(256) }, { action: "a", text: "a".repeat(4096) }]) await throws("invalid-request", () => sealAnswer(answerable, answer));
    assert.deepEqual(new AnswerSecret(secret.secretBytes()).secretBytes(), Buffer.alloc(32, 7));
});
