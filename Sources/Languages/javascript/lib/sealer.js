// What a provider calls: checks options, and leaves the sealing to seal.js.
"use strict";

const { randomBytes } = require("node:crypto");
const { AnswerSecret } = require("./answers.js");
const { AttachmentReference, sealFile } = require("./attachments.js");
const { lp16 } = require("./envelope.js");
const { PushcryptError } = require("./errors.js");
const { clearFields: CLEAR_FIELDS, labels, limits, pushTypes, texts } = require("./format.js");
const keys = require("./keys.js");
const { writeReserved } = require("./reserved.js");
const { hedged, seal } = require("./seal.js");
const { signerOf } = require("./secrets.js");
const { array, boolean, bytes, instance, json, options, seconds, string, time, topic: readTopic } = require("./values.js");

const PRIORITIES = [10, 5, 1];
const RESERVED = ["attachments", "fullBody", "sender", "withdraws", "drop"];
const OPTIONS = ["to", "at", "pushType", "messageId", "timeToLive", "exact", "answers", ...RESERVED];

/** Names the vectors' random bytes among the options; only tests of this package know it. */
const FIXED = Symbol("fixed");

class Sealer {
    #signer;
    #topic;
    #placeholder;

    constructor(given) {
        const { key, topic, placeholder = {} } = options(given, ["key", "topic", "placeholder"], "Sealer");
        this.#signer = signerOf(key, readTopic(topic));
        if (topic.endsWith(".voip")) process.emitWarning("the topic is the app's bundle id, without .voip; phones would not open this", { code: "PUSHCRYPT_VOIP" });
        this.#topic = topic;
        this.#placeholder = readPlaceholder(placeholder);
    }

    get topic() {
        return this.#topic;
    }

    get provider() {
        return keys.keyText(this.#signer.provider, keys.PROVIDER_PUBLIC);
    }

    get certificate() {
        return this.#signer.certificate?.text;
    }

    seal(payload, given) {
        const {
            to, at = Date.now(), pushType = "alert", messageId, timeToLive = limits.longestTimeToLive, exact = false, answers, [FIXED]: fixed = {}, ...reserved
        } = options(given, OPTIONS, "seal");
        checkName(messageId, "messageId");
        const device = keys.parseKey(string(to, "to"), keys.DEVICE_PUBLIC), sentAt = time(at, "at");
        if (device.length !== keys.LENGTH) throw new PushcryptError("unsupported-suite");
        const sealed = seal({
            payload: json(payload, "malformed-payload"), topic: this.#topic, device, signer: this.#signer, sentAt,
            timeToLive: seconds(timeToLive, "timeToLive"), pushType: string(pushType, "pushType"), messageId, ...this.#placeholder,
            exact: boolean(exact, "exact"), reserved: writeReserved(reserved, messageId),
            answers: answers === undefined ? undefined : instance(answers, AnswerSecret, "answers"), ...fixed,
        });
        return new SealedPush(sealed, keys.bare(to), pushType);
    }

    request(push, given = {}) {
        if (!(push instanceof SealedPush)) throw new TypeError("request needs what seal has returned");
        const { priority = push.pushType === "background" ? 5 : 10, expiration = push.expiration } = options(
            given, ["deviceId", "collapseName", "priority", "expiration"], "request",
        );
        if (!PRIORITIES.includes(priority)) throw new TypeError("priority must be 10, 5 or 1");
        if (push.pushType === "background" && priority === 10) {
            throw new PushcryptError("invalid-request", "APNs refuses background pushes with priority 10; use 5 or 1, or leave it out");
        }
        if (!Number.isSafeInteger(expiration) || expiration < 0 || (given.expiration !== undefined && expiration >= limits.timeFieldEnd)) {
            throw new PushcryptError("invalid-request", "the expiration is a time in seconds since 1970, or 0");
        }
        return {
            headers: {
                "apns-topic": this.#topic + pushTypes[push.pushType].suffix,
                "apns-push-type": push.pushType,
                "apns-priority": String(priority),
                "apns-expiration": String(expiration),
                "apns-collapse-id": collapseID(this.#signer.provider, this.#topic, push, given),
            },
            body: push.json,
        };
    }

    sealFile(plain, given) {
        const { url, type, name, [FIXED]: fixed = {} } = options(given, ["url", "type", "name"], "sealFile");
        const data = bytes(plain, "the file"), length = Buffer.alloc(8);
        length.writeBigUInt64BE(BigInt(data.length));
        const key = hedged(this.#signer, labels.file, fixed.r ?? randomBytes(32), length, keys.sha256(data));
        const sealed = sealFile(data, key);
        const members = { url: string(url, "url"), key: key.toString("base64url"), size: sealed.length, sha256: keys.sha256(sealed).toString("base64url") };
        return { sealed, reference: AttachmentReference.parse({ ...members, type: string(type, "type"), name: string(name, "name") }) };
    }

    sealFullBody(text, given) {
        const { url } = options(given, ["url"], "sealFullBody");
        const plain = Buffer.from(string(text, "the text"));
        if (plain.length > limits.longestFullBody) throw new PushcryptError("body-too-long");
        if (plain.length === 0 || text.startsWith("\ufeff")) throw new PushcryptError("malformed-file", "a full body is not empty, and has no byte order mark");
        return this.sealFile(plain, { url, type: texts.fullBodyType, name: "body" });
    }
}

/** What `Sealer.seal` returns: send `json` instead of the payload. */
class SealedPush {
    constructor({ push, messageID, deviceID, timeToLive, expiresAt, expiration, widestLength }, recipient, pushType) {
        Object.assign(this, {
            json: push, messageId: messageID.toString("hex"), timeToLive, expiresAt, expiration, widestLength, recipient,
            keyId: deviceID.toString("hex"), pushType,
        });
        Object.freeze(this);
    }

    toJSON() {
        return JSON.parse(this.json);
    }
}

/** A hash of device and message, or of their names: the same whatever signs, and on every server. */
function collapseID(provider, topic, { recipient, messageId }, { deviceId, collapseName }) {
    const device = deviceId === undefined ? [2, keys.parseKey(recipient, keys.DEVICE_PUBLIC)] : [1, name(deviceId, "deviceId", limits.longestCollapseDevice)];
    const pushes = collapseName === undefined ? [2, Buffer.from(messageId, "hex")] : [1, name(collapseName, "collapseName", 65_535)];
    const parts = [device, pushes].flatMap(([type, data]) => [Buffer.of(type), data]);
    return keys.sha256(Buffer.concat([labels.collapse, provider, lp16(topic), ...parts])).toString("base64url");
}

/** A name in a collapse id. */
function name(text, what, most) {
    const { length } = Buffer.from(string(text, what));
    if (length < 1 || length > most) throw new PushcryptError("invalid-request", `${what} must have 1 to ${most} bytes`);
    return lp16(text);
}

function readPlaceholder(given) {
    const { title = texts.standardTitle, sound, clearFields = [] } = options(given, ["title", "sound", "clearFields"], "placeholder");
    for (const [text, what] of [[title, "title"], [sound, "sound"]]) {
        if (what === "sound" && (text === undefined || text === null)) continue;
        if (/^\p{White_Space}*$/u.test(string(text, `the placeholder's ${what}`))) {
            throw new PushcryptError("invalid-placeholder", `the placeholder's ${what} is empty`);
        }
        if (Buffer.byteLength(text) > limits.longestClearText) {
            throw new PushcryptError("invalid-placeholder", `the placeholder's ${what} is longer than a whole push`);
        }
    }
    for (const field of array(clearFields, "clearFields")) {
        if (!CLEAR_FIELDS.includes(field)) throw new TypeError(`${String(field)} is not one of ${CLEAR_FIELDS.join(", ")}`);
    }
    return { title, sound, clearFields: [...clearFields], clearParts: new Map() };
}

/** An empty name would be the same for all. */
function checkName(name, what) {
    if (name !== undefined && string(name, what) === "") throw new PushcryptError("invalid-request", `${what} is empty; leave it out`);
}

/** The most bytes that Apple accepts, and the longest payload without white space that fits, for each push type. */
const sizes = Object.freeze(Object.fromEntries(
    Object.entries(pushTypes).map(([type, { push, bucket }]) => [type, Object.freeze({ push, payload: bucket - limits.innerBody - limits.certificateLength })]),
));

module.exports = { FIXED, SealedPush, collapseID, Sealer, limits: sizes };
