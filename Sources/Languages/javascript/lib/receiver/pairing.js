// The phone's half of pairing: Docs/FormatPairing.md.
"use strict";

const { randomBytes, timingSafeEqual } = require("node:crypto");
const { ZERO, encrypt } = require("../aead.js");
const { PushcryptError } = require("../errors.js");
const { SALT, decode, fingerprintOf, idOf, isURL, opened, replyKey, requestKey, sceneOf } = require("../pairing.js");
const { formatDeviceRecord, parseReply } = require("../records.js");
const { options, string, topic: readTopic } = require("../values.js");

class PairingCode {
    #secret;
    #fingerprint;
    #scene;

    constructor(text, given) {
        const { topic } = options(given, ["topic"], "PairingCode"), [, code, url] = /^pushcrypt:1\?(A[A-Za-z0-9_-]{43})&(.+)$/.exec(string(text, "the code")) ?? [];
        const data = Buffer.from(code ?? "", "base64url");
        if (data[0] !== 1 || !isURL(url)) throw new PushcryptError("invalid-request", "this is not the code of a server");
        [this.#secret, this.#fingerprint, this.url] = [data.subarray(1, 17), data.subarray(17), url];
        this.#scene = sceneOf(url, readTopic(topic), this.#fingerprint);
    }

    request(record) {
        return this.sealed(formatDeviceRecord(record));
    }

    /** @internal */
    sealed(record, salt = randomBytes(SALT)) {
        const header = Buffer.concat([idOf(this.#secret), salt]);
        return Buffer.concat([header, encrypt(requestKey(this.#secret, salt, this.#scene), ZERO, header, Buffer.from(record))]).toString("base64url");
    }

    open(request, reply) {
        const sealed = decode(reply), salt = sealed.subarray(0, SALT), key = replyKey(this.#secret, salt, this.#scene, decode(request));
        const found = parseReply(opened(key, salt, sealed.subarray(SALT))), { provider, refused } = found;
        const isRight = provider === undefined ? refused !== undefined : timingSafeEqual(fingerprintOf(provider), this.#fingerprint);
        if (!isRight) throw new PushcryptError("authentication-failed", "the reply does not have the provider key of the code");
        return found;
    }
}

module.exports = { PairingCode };
