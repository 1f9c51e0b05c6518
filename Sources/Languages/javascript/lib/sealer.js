// What a provider calls: checks options, and leaves the sealing to seal.js.
"use strict";

const { randomBytes } = require("node:crypto");
const { AttachmentReference, sealFile } = require("./attachments.js");
const { Certificate } = require("./certificate.js");
const { checkContext } = require("./context.js");
const { PushcryptError } = require("./errors.js");
const keys = require("./keys.js");
const { writeReserved } = require("./reserved.js");
const { CLEAR_FIELDS, LIMITS, collapseID, hedgeKey, hedged, namedMessageID, prepare } = require("./seal.js");
const { identity, signature, signerOf } = require("./secrets.js");
const { boolean, array, bytes, json, options, seconds, string, time } = require("./values.js");

const LONGEST_TIME_TO_LIVE = 2_592_000;
const LONGEST_TEXT = 4096;
const LONGEST_DEVICE_NAME = 255;
const PRIORITIES = [10, 5, 1];
const RESERVED = ["attachments", "fullBody", "from", "withdrawing", "drop"];
const OPTIONS = ["to", "at", "pushType", "messageName", "timeToLive", "sentExactly", ...RESERVED];

/** Names the vectors' random bytes among the options; only tests of this package know it. */
const FIXED = Symbol("fixed");

/** What both sealers have. */
class Sealing {
    #signer;
    #topic;
    #placeholder;

    constructor(signer, topic, placeholder) {
        checkContext(topic);
        if (topic.endsWith(".voip")) process.emitWarning("the topic is the app's bundle id, without .voip; phones would not open this", { code: "PUSHCRYPT_VOIP" });
        this.#signer = signer;
        this.#topic = topic;
        this.#placeholder = readPlaceholder(placeholder);
    }

    get topic() {
        return this.#topic;
    }

    /** A message up to its signature, and a function that makes the push of it. */
    prepare(payload, given) {
        const {
            to, at = Date.now(), pushType = "alert", messageName, timeToLive = LONGEST_TIME_TO_LIVE, sentExactly = false, attachments, fullBody,
            from, withdrawing, drop, [FIXED]: fixed = {},
        } = options(given, OPTIONS, "seal");
        checkName(messageName, "the message's name");
        const device = keys.parseKey(string(to, "to"), keys.DEVICE_PUBLIC), sentAt = time(at, "at");
        if (device.length !== keys.LENGTH) throw new PushcryptError("unsupported-suite");
        const { toSign, finish } = prepare({
            payload: json(payload, "malformed-payload"), topic: this.#topic, device, signer: this.#signer, sentAt,
            timeToLive: seconds(timeToLive, "timeToLive"), pushType: string(pushType, "pushType"), messageName, ...this.#placeholder,
            sentExactly: boolean(sentExactly, "sentExactly"),
            reserved: writeReserved({ attachments, fullBody, sender: from, withdrawing, drop }, messageName), ...fixed,
        });
        return { toSign, finish: (signature) => new SealedPush(finish(signature), to.trimEnd(), pushType) };
    }

    request(push, given = {}) {
        if (!(push instanceof SealedPush)) throw new TypeError("request needs what seal has returned");
        const { device, collapseName, priority = push.pushType === "background" ? 5 : 10, expiration = Math.floor(push.expiresAt / 1000) } = options(
            given, ["device", "collapseName", "priority", "expiration"], "request",
        );
        if (!PRIORITIES.includes(priority)) throw new TypeError("priority must be 10, 5 or 1");
        if (push.pushType === "background" && priority === 10) {
            throw new PushcryptError("invalid-request", "APNs refuses background pushes with priority 10; use 5 or 1, or leave it out");
        }
        if (!Number.isSafeInteger(expiration) || expiration < 0 || (given.expiration !== undefined && expiration >= 1e11)) {
            throw new PushcryptError("invalid-request", "the expiration is a time in seconds since 1970, or 0");
        }
        checkName(collapseName, "the collapse name");
        const pushes = collapseName === undefined
            ? Buffer.concat([Buffer.of(2), Buffer.from(push.messageID, "hex")])
            : Buffer.concat([Buffer.of(1), Buffer.from(collapseName)]);
        const collapse = collapseID(this.#signer, this.#topic, this.#device(push, device), pushes);
        return {
            headers: {
                "apns-topic": this.#topic + (push.pushType === "voip" ? ".voip" : ""),
                "apns-push-type": push.pushType,
                "apns-priority": String(priority),
                "apns-expiration": String(expiration),
                "apns-collapse-id": collapse,
            },
            body: push.json,
        };
    }

    #device(push, name) {
        if (name === undefined) return Buffer.concat([Buffer.of(2), keys.parseKey(push.recipient, keys.DEVICE_PUBLIC)]);
        const text = Buffer.from(string(name, "device"));
        if (text.length < 1 || text.length > LONGEST_DEVICE_NAME) throw new PushcryptError("invalid-request", "the name of a device must have 1 to 255 bytes");
        return Buffer.concat([Buffer.of(1, 0, text.length), text]);
    }

    sealFile(plain, given) {
        const { url, type, name, [FIXED]: fixed = {} } = options(given, ["url", "type", "name"], "sealFile");
        const data = bytes(plain, "the file"), length = Buffer.alloc(8);
        length.writeBigUInt64BE(BigInt(data.length));
        const key = hedged(this.#signer, "pushcrypt/1 file\0", fixed.r ?? randomBytes(32), length, keys.sha256(data));
        const sealed = sealFile(data, key);
        const members = { url: string(url, "url"), key: key.toString("base64url"), size: sealed.length, sha256: keys.sha256(sealed).toString("base64url") };
        return { sealed, reference: AttachmentReference.parse({ ...members, type: string(type, "type"), name: string(name, "name") }) };
    }

    sealFullBody(text, given) {
        const { url } = options(given, ["url"], "sealFullBody");
        const plain = Buffer.from(string(text, "the text"));
        if (plain.length > 65536) throw new PushcryptError("body-too-long", "a full body has at most 65536 bytes; shorten it, or let the app fetch it");
        if (plain.length === 0) throw new PushcryptError("malformed-file", "a full body is not empty");
        return this.sealFile(plain, { url, type: "public.plain-text", name: "body" });
    }
}

class Sealer {
    #key;
    #sealing;

    constructor(given) {
        const { key, topic, placeholder = {} } = options(given, ["key", "topic", "placeholder"], "Sealer");
        checkContext(topic);
        const [secret, signer] = signerOf(key, topic);
        this.#sealing = new Sealing(signer, topic, placeholder);
        this.#key = secret;
    }

    get topic() {
        return this.#sealing.topic;
    }

    seal(payload, given) {
        const { toSign, finish } = this.#sealing.prepare(payload, given);
        return finish(signature(this.#key, toSign));
    }

    request(push, given) {
        return this.#sealing.request(push, given);
    }

    sealFile(plain, given) {
        return this.#sealing.sealFile(plain, given);
    }

    sealFullBody(text, given) {
        return this.#sealing.sealFullBody(text, given);
    }
}

/** A sealer whose key is in a key service. Its hedge key comes from one signature, over a label, which is never published. */
class RemoteSealer {
    #sign;
    #sealing;

    static async create(given) {
        const { signer, topic, placeholder = {}, provider, certificate } = options(
            given, ["signer", "topic", "placeholder", "provider", "certificate"], "RemoteSealer",
        );
        const publicKey = bytes(signer?.publicKey, "signer.publicKey");
        if (publicKey.length !== 32) throw new RangeError("signer.publicKey has 32 bytes");
        keys.checkVerifyingKey(publicKey);
        checkContext(topic);
        if (typeof signer.sign !== "function") throw new TypeError("signer.sign must be a function");
        const made = new RemoteSealer();
        made.#sign = async (message) => {
            const signature = bytes(await signer.sign(message), "a signature");
            if (signature.length !== 64 || !keys.verifies(publicKey, signature, message)) {
                throw new PushcryptError("wrong-signature", "the signer returned no signature by its key; it has to sign the bytes, with pure Ed25519");
            }
            return signature;
        };
        const own = remoteIdentity(publicKey, topic, provider, certificate);
        made.#sealing = new Sealing(own, topic, placeholder);
        own.hedge = hedgeKey(await made.#sign(Buffer.from("pushcrypt/1 hedge seed\0")));
        return made;
    }

    get topic() {
        return this.#sealing.topic;
    }

    async seal(payload, given) {
        const { toSign, finish } = this.#sealing.prepare(payload, given);
        return finish(await this.#sign(toSign));
    }

    request(push, given) {
        return this.#sealing.request(push, given);
    }

    sealFile(plain, given) {
        return this.#sealing.sealFile(plain, given);
    }

    sealFullBody(text, given) {
        return this.#sealing.sealFullBody(text, given);
    }
}

/** At epoch 0 the signer's key is the provider key; from then on its certificate says whose messages it signs. */
function remoteIdentity(publicKey, topic, provider, text) {
    if ((provider === undefined) !== (text === undefined)) throw new TypeError("provider and certificate belong together");
    if (text === undefined) return identity(publicKey, publicKey, null);
    const pin = keys.parseKey(string(provider, "provider"), keys.PROVIDER_PUBLIC), certificate = Certificate.parse(string(text, "certificate"));
    certificate.check(pin, topic);
    if (!certificate.signingKey.equals(publicKey)) throw new PushcryptError("wrong-certificate");
    return identity(publicKey, pin, certificate);
}

/** What `Sealer.seal` returns: send `json` instead of the payload. */
class SealedPush {
    constructor({ push, messageID, deviceID, timeToLive, expiresAt, widestLength }, recipient, pushType) {
        Object.assign(this, {
            json: push, messageID: messageID.toString("hex"), timeToLive, expiresAt: Number(expiresAt), widestLength, recipient,
            keyID: deviceID.toString("hex"), pushType,
        });
        Object.freeze(this);
    }

    toJSON() {
        return JSON.parse(this.json);
    }
}

function readPlaceholder(given) {
    const { title = "New message", sound, clearFields = [] } = options(given, ["title", "sound", "clearFields"], "placeholder");
    for (const [text, what] of [[title, "title"], [sound, "sound"]]) {
        if (what === "sound" && (text === undefined || text === null)) continue;
        if (/^\p{White_Space}*$/u.test(string(text, `the placeholder's ${what}`))) {
            throw new PushcryptError("invalid-placeholder", `the placeholder's ${what} is empty`);
        }
        if (Buffer.byteLength(text) > LONGEST_TEXT) {
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
const limits = Object.freeze(Object.fromEntries(
    Object.entries(LIMITS).map(([type, [push, bucket]]) => [type, Object.freeze({ push, payload: bucket - 99 })]),
));

module.exports = { FIXED, RemoteSealer, SealedPush, Sealer, limits, messageID: (name) => namedMessageID(string(name, "the name")).toString("hex") };
