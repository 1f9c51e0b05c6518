// Answers: the vectors of answers.json, and messages that can be answered.
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { ProviderKey, Sealer } from "pushcrypt";
import { AnswerSecret, openAnswer } from "pushcrypt/answers";
import { DeviceKey, open } from "pushcrypt/testing";
import { hex, internal, setClock, skip, stored, throws, vectors } from "./support.mjs";

const { answerParts } = internal("answers"), keys = internal("keys");
const topic = "com.example.app", time = 1_767_225_600_000, secret = new AnswerSecret(Buffer.alloc(32, 7)), device = new DeviceKey(Buffer.alloc(32, 5));
const sealer = new Sealer({ key: new ProviderKey(Buffer.alloc(32, 3)), topic }), payload = { aps: { alert: "Deploy?" } };
const text = (digits) => keys.keyText(hex(digits), keys.DEVICE_PUBLIC);

const opening = ({ secrets, devices, topic, now, within }) => ({ secrets: secrets.map((one) => new AnswerSecret(hex(one))), devices: devices.map(text), topic, within, ...(setClock(now), {}) });

test("the keys of answers.json", { skip }, () => {
    for (const { name, secret, devicePublic, topic, messageID, sentAt, answerID, answerKey, answer } of vectors("answers.json").keys) {
        const parts = answerParts(new AnswerSecret(hex(secret)), hex(devicePublic), topic, hex(messageID), BigInt(sentAt));
        assert.deepEqual([parts.toString("hex"), parts.toString("base64url")], [answerID + answerKey, answer], name);
    }
});

test("the answers of answers.json", { skip }, () => {
    for (const { name, device, text: sealed, members, ...rest } of vectors("answers.json").answers) {
        const { message_id: messageId, sent_at: sentAt, ...same } = members;
        assert.deepEqual(openAnswer(sealed, opening(rest)), { device: text(device), messageId, sentAt: new Date(Math.min(sentAt, 8.64e15)), ...same, at: new Date(Math.min(same.at, 8.64e15)) }, name);
    }
});

test("the refused answers of answers.json", { skip }, async () => {
    for (const { name, text, code, ...rest } of vectors("answers.json").refused) await throws(code, () => openAnswer(text, opening(rest)), name);
});

test("a message that can be answered has what answers.json proves of its id, and is the same message", () => {
    for (const messageId of ["deploy-17", undefined]) {
        setClock(time);
        const push = sealer.seal(payload, stored(device.publicKey, topic), { messageId, answers: secret, drop: true });
        const opened = open(push.json, { topic, device, provider: sealer.provider });
        const answer = answerParts(secret, keys.parseKey(device.publicKey, keys.DEVICE_PUBLIC), topic, hex(push.messageId), BigInt(time)).toString("base64url");
        assert.deepEqual([opened.messageId, JSON.parse(opened.payload)], [push.messageId, { ...payload, pushcrypt: { drop: true, answer } }]);
        if (messageId !== undefined) assert.equal(sealer.seal(payload, stored(device.publicKey, topic), { messageId }).messageId, push.messageId);
    }
});

test("an answer ends after 31 days, whatever is allowed", { skip }, async () => {
    const { text, members, ...rest } = vectors("answers.json").answers[0], end = members.sent_at + 31 * 86_400_000;
    const given = { ...opening(rest), within: 40 * 86_400 };
    setClock(end);
    assert.equal(openAnswer(text, given).action, members.action);
    setClock(end + 1);
    await throws("expired", () => openAnswer(text, given));
    for (const at of [end, BigInt(end), "now"]) await throws(TypeError, () => openAnswer(text, { ...given, at }));
    await throws("implausible-time", () => openAnswer(text, { ...given, at: new Date(end / 1000) }));
});

test("a secret has 32 bytes, which nobody else's buffer changes", async () => {
    for (const length of [0, 31, 33]) assert.throws(() => new AnswerSecret(Buffer.alloc(length)), RangeError);
    const bytes = Buffer.alloc(32, 9), own = new AnswerSecret(bytes);
    bytes.fill(0);
    own.secretBytes().fill(0);
    assert.deepEqual(Buffer.from(own.secretBytes()), Buffer.alloc(32, 9));
});

test("a secret is not printed, and can be made again", () => {
    assert(!inspect(secret, { depth: 9, showHidden: true }).includes("07 07"));
    assert.deepEqual(new AnswerSecret(secret.secretBytes()).secretBytes(), Buffer.alloc(32, 7));
});
