// Answers, which a phone seals for the provider of a message: Docs/FormatRecords.md, "Answers".
"use strict";

const { createHmac, randomBytes, timingSafeEqual } = require("node:crypto");
const { ZERO, decrypt } = require("./aead.js");
const { lp16, u64 } = require("./envelope.js");
const { PushcryptError } = require("./errors.js");
const { decodeUTF8, parseObject } = require("./json.js");
const keys = require("./keys.js");
const { array, bytes, instance, options, present, seconds, string, moment, timeOrNow, topic: readTopic } = require("./values.js");

const label = (text) => Buffer.from(`pushcrypt/1 ${text}\0`);
const [ID, KEY, MESSAGE] = ["answer id", "answer", "answer message"].map(label);
const SIZES = [128, 512, 2048, 4098], HEADER = 37, TAG = 16, LONGEST_JSON = 4096, LONGEST_ACTION = 255;
/** Seconds: 31 days. */
const LIFE = 31 * 86_400;

const hmac = (key, ...parts) => createHmac("sha256", key).update(Buffer.concat(parts)).digest();
/** HKDF-SHA256 with one block of output. Node's own takes no info of more than 1,024 bytes. */
const hkdf = (key, salt, info) => hmac(hmac(salt, key), info, Buffer.of(1));

function whose(device, topic) {
    return Buffer.concat([keys.sha256(device), lp16(topic)]);
}

const secrets = new WeakMap();

/** What opens an app's answers. It prints nothing. */
class AnswerSecret {
    constructor(secret) {
        secret = bytes(secret, "the secret");
        if (secret.length !== 32) throw new RangeError("an answer secret has 32 bytes");
        secrets.set(this, Buffer.from(secret));
    }

    static generate() {
        return new AnswerSecret(randomBytes(32));
    }

    secretBytes() {
        return Buffer.from(secrets.get(this));
    }
}

/** The answer id and key of a message, whose sent at is a BigInt; the member `answer` is both in base64url. */
function answerParts(secret, device, topic, messageID, sentAt) {
    const id = hmac(secrets.get(secret), ID, whose(device, topic), messageID, u64(sentAt)).subarray(0, 16);
    return Buffer.concat([id, answerKey(secret, device, topic, id)]);
}

function answerKey(secret, device, topic, id) {
    return hkdf(secrets.get(secret), id, Buffer.concat([KEY, whose(device, topic)]));
}

/** The plaintext, or nothing for what is too long. */
function padded(text) {
    const size = SIZES.find((one) => one >= 2 + text.length), plain = Buffer.alloc(size ?? 0);
    if (size === undefined) return plain;
    plain.writeUInt16BE(text.length);
    text.copy(plain, 2);
    return plain;
}

/** The plaintext, or nothing if the tag is wrong. */
function openPlain(key, answer) {
    return decrypt(hkdf(key, answer.subarray(21, HEADER), MESSAGE), ZERO, answer.subarray(0, HEADER), answer.subarray(HEADER));
}

function decode(text) {
    const answer = keys.fromBase64(text);
    if (!SIZES.includes(answer.length - HEADER - TAG)) {
        throw new PushcryptError("malformed-envelope", "the answer was cut, encoded again, or has a wrong length");
    }
    return answer;
}

function openAnswer(text, given) {
    const { secrets: all, devices, topic: context, within = LIFE, at } = options(given, ["secrets", "devices", "topic", "within", "at"], "openAnswer");
    const every = array(all, "secrets").map((one) => instance(one, AnswerSecret, "a secret")), topic = readTopic(context), now = timeOrNow(at);
    const known = array(devices, "devices").map((one) => ({ text: keys.bare(string(one, "a device")), key: keys.parseKey(one, keys.DEVICE_PUBLIC) }));
    const life = BigInt(Math.min(seconds(within, "within"), LIFE)) * 1000n, answer = decode(string(text, "the answer")), id = answer.subarray(1, 17);
    if (answer[0] !== 1) throw new PushcryptError("unsupported-message");
    const named = known.filter(({ key }) => keys.deviceKeyID(key).equals(answer.subarray(17, 21)));
    if (named.length === 0) throw new PushcryptError("unknown-recipient-key");
    for (const { text: device, key } of named) {
        for (const secret of every) {
            const plain = openPlain(answerKey(secret, key, topic, id), answer);
            if (plain === undefined) continue;
            const read = members(plain), sentAt = BigInt(read.sentAt);
            // A key of another message opens no answer to this one.
            const own = answerParts(secret, key, topic, Buffer.from(read.messageId, "hex"), sentAt).subarray(0, 16);
            if (!timingSafeEqual(own, id)) throw new PushcryptError("authentication-failed");
            if (now > sentAt + life) throw new PushcryptError("expired", "the time for an answer to this message has ended");
            return { device, ...read, sentAt: moment(read.sentAt), at: moment(read.at) };
        }
    }
    throw new PushcryptError("authentication-failed");
}

function members(plain) {
    const length = plain.readUInt16BE(), text = plain.subarray(2, 2 + length);
    if (length > LONGEST_JSON || !padded(text).equals(plain)) throw new PushcryptError("authentication-failed");
    const found = parseObject(decodeUTF8(text, "malformed-payload"), "malformed-payload"), [id, action, reply] = ["message_id", "action", "text"].map((name) => found.get(name) ?? undefined);
    const [sentAt, at] = ["sent_at", "at"].map((name) => found.get(name)?.integer);
    const isID = typeof id === "string" && /^[0-9a-f]{32}$/.test(id), isAction = typeof action === "string" && action !== "" && Buffer.byteLength(action) <= LONGEST_ACTION;
    if (!isID || !isAction || (typeof reply !== "string" && reply !== undefined) || sentAt === undefined || at === undefined) {
        throw new PushcryptError("malformed-payload", "a member of the answer is missing, or has another form");
    }
    return present({ messageId: id, sentAt, action, text: reply, at });
}

module.exports = { AnswerSecret, answerParts, hkdf, hmac, openAnswer };
