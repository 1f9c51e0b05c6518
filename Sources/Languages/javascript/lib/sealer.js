// What a provider calls: checks options, and leaves the sealing to seal.js.
"use strict";

const { randomBytes } = require("node:crypto");
const { AnswerSecret } = require("./answers.js");
const { Reference, sealFile } = require("./attachments.js");
const { lp16, u64 } = require("./envelope.js");
const { PushcryptError } = require("./errors.js");
const { clearFields: CLEAR_FIELDS, labels, limits, pushTypes, texts } = require("./format.js");
const keys = require("./keys.js");
const { writeReserved } = require("./reserved.js");
const { hedged, seal } = require("./seal.js");
const { signerOf } = require("./secrets.js");
const { readStored } = require("./registration.js");
const { array, boolean, bytes, instance, json, moment, options, seconds, string, time, timeOrNow, topic: readTopic } = require("./values.js");

const PRIORITIES = [10, 5, 1];
const RESERVED = ["attachments", "fullBody", "person", "withdraws", "drop"];
const OPTIONS = ["at", "pushType", "messageId", "timeToLive", "exact", "answers", ...RESERVED];

/** Names the vectors' random bytes among the options; only tests of this package know it. */
const FIXED = Symbol("fixed");

class Sealer {
    #signer;
    #topic;
    #placeholder;

    constructor(given) {
        const { key, topic, placeholder = {} } = options(given, ["key", "topic", "placeholder"], "the options");
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

    seal(payload, device, given = {}) {
        const {
            at, pushType = "alert", messageId, timeToLive = limits.longestTimeToLive, exact = false, answers, [FIXED]: fixed = {}, ...reserved
        } = options(given, OPTIONS, "the options");
        checkName(messageId, "messageId");
        const to = Object.freeze(readStored(device ?? undefined, "device")), key = keys.parseKey(to.publicKey, keys.DEVICE_PUBLIC), sentAt = fixed.sentAt ?? timeOrNow(at);
        if (to.isRemoved) throw new PushcryptError("removed-device");
        if (to.topic !== this.#topic) throw new PushcryptError("topic-mismatch", "the device has registered for another app than this sealer's");
        if (key.length !== keys.LENGTH) throw new PushcryptError("unsupported-suite");
        const sealed = seal({
            payload: json(payload, "malformed-payload", "payload"), topic: this.#topic, device: key, signer: this.#signer, sentAt,
            timeToLive: seconds(timeToLive, "timeToLive"), pushType: string(pushType, "pushType"), messageId, ...this.#placeholder,
            exact: boolean(exact, "exact"), reserved: writeReserved(reserved, messageId),
            answers: answers === undefined ? undefined : instance(answers, AnswerSecret, "answers"), ...fixed,
        });
        return new SealedPush(sealed, to, pushType);
    }

    withdraw(messageIds, device, given = {}) {
        const { at } = options(given, ["at"], "the options");
        return this.seal('{"aps":{}}', device, { pushType: "background", withdraws: array(messageIds, "messageIds"), drop: true, at });
    }

    request(push, given = {}) {
        if (!(push instanceof SealedPush)) throw new TypeError("request needs what seal has returned");
        const { priority = push.pushType === "background" ? 5 : 10, expiration, collapseName } = options(given, ["collapseName", "priority", "expiration"], "the options");
        if (!PRIORITIES.includes(priority)) throw new TypeError("priority must be 10, 5 or 1");
        if (push.pushType === "background" && priority === 10) {
            throw new PushcryptError("invalid-request", "APNs refuses background pushes with priority 10; use 5 or 1, or leave it out");
        }
        const { device, messageId } = push, { token = null, environment = null, grant = null } = device, host = environment === "development" ? texts.developmentHost : texts.productionHost;
        return {
            url: token === null ? null : `https://${host}/3/device/${token}`, token, environment, grant,
            headers: {
                "apns-topic": this.#topic + pushTypes[push.pushType].suffix,
                "apns-push-type": push.pushType,
                "apns-priority": String(priority),
                "apns-expiration": String(expiration === undefined ? push.expiration : expirationOf(expiration)),
                "apns-collapse-id": collapseID(this.#signer.provider, this.#topic, device.publicKey, messageId, device.device, collapseName),
            },
            body: push.json,
        };
    }

    sealFile(plain, given) {
        const { url, type, name, [FIXED]: fixed = {} } = options(given, ["url", "type", "name"], "sealFile");
        const data = bytes(plain, "plain"), random = fixed.r ?? randomBytes(32);
        const key = hedged(this.#signer, labels.file, random, u64(BigInt(data.length)), keys.sha256(data));
        const sealed = sealFile(data, key);
        const members = { url: string(url, "url"), key: key.toString("base64url"), size: sealed.length, sha256: keys.sha256(sealed).toString("base64url") };
        return { sealed, reference: Reference.parse({ ...members, type: string(type, "type"), name: string(name, "name") }) };
    }

    sealFullBody(text, given) {
        const { url } = options(given, ["url"], "sealFullBody");
        const plain = Buffer.from(string(text, "text"));
        if (plain.length > limits.longestFullBody) throw new PushcryptError("body-too-long");
        if (plain.length === 0 || text.startsWith("\ufeff")) throw new PushcryptError("malformed-file", "a full body is not empty, and has no byte order mark");
        return this.sealFile(plain, { url, type: texts.fullBodyType, name: "body" });
    }
}

/** What `Sealer.seal` returns: send `json` instead of the payload. */
class SealedPush {
    constructor({ push, messageID, timeToLive, expiresAt, expiration, widest }, device, pushType) {
        Object.assign(this, {
            json: push, messageId: messageID.toString("hex"), timeToLive, expiresAt: moment(expiresAt), expiration, widest, pushType,
        });
        // Not enumerable, so that nothing prints token and grant.
        Object.defineProperty(this, "device", { value: device });
        Object.freeze(this);
    }

    toJSON() {
        return JSON.parse(this.json);
    }
}

/** A hash of device and message, or of their names: the same whatever signs, and on every server. */
function collapseID(provider, topic, publicKey, messageId, id, collapseName) {
    const device = id === undefined ? [2, keys.parseKey(publicKey, keys.DEVICE_PUBLIC)] : [1, name(id, "the device's id", limits.longestCollapseDevice)];
    const pushes = collapseName === undefined ? [2, Buffer.from(messageId, "hex")] : [1, name(collapseName, "collapseName", 65_535)];
    const parts = [device, pushes].flatMap(([type, data]) => [Buffer.of(type), data]);
    return keys.sha256(Buffer.concat([labels.collapse, provider, lp16(topic), ...parts])).toString("base64url");
}

/** Seconds; 0 for one attempt. */
function expirationOf(given) {
    const at = Number(time(given, "expiration")), away = at - Date.now();
    if (at !== 0 && (away < -86_400_000 || away > 31 * 86_400_000)) throw new PushcryptError("implausible-time", "the expiration is over a day ago or over 31 days ahead");
    return Math.floor(at / 1000);
}

/** A name in a collapse id. */
function name(text, what, most) {
    const { length } = Buffer.from(string(text, what));
    if (length < 1 || length > most) throw new PushcryptError("invalid-request", `${what} must have 1 to ${most} bytes`);
    return lp16(text);
}

function readPlaceholder(given) {
    const { title = texts.standardTitle, sound, clear: clearFields = [] } = options(given, ["title", "sound", "clear"], "placeholder");
    for (const [text, what] of [[title, "title"], [sound, "sound"]]) {
        if (what === "sound" && (text === undefined || text === null)) continue;
        if (/^\p{White_Space}*$/u.test(string(text, `the placeholder's ${what}`))) {
            throw new PushcryptError("invalid-placeholder", `the placeholder's ${what} is empty`);
        }
        if (Buffer.byteLength(text) > limits.longestClearText) {
            throw new PushcryptError("invalid-placeholder", `the placeholder's ${what} is longer than a whole push`);
        }
    }
    for (const field of array(clearFields, "clear")) {
        if (!CLEAR_FIELDS.includes(field)) throw new TypeError(`${String(field)} is not one of ${CLEAR_FIELDS.join(", ")}`);
    }
    return { title, sound, clearFields: [...clearFields], clearParts: new Map() };
}

/** An empty name would be the same for all. */
function checkName(name, what) {
    if (name !== undefined && string(name, what) === "") throw new PushcryptError("invalid-request", `${what} is empty; leave it out`);
}

module.exports = { FIXED, SealedPush, collapseID, Sealer };
