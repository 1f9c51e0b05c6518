// Requests of a self-hosted server to the relay of its app's publisher: Docs/Relay.md. relay.d.ts documents it.
"use strict";

const { randomBytes, sign } = require("node:crypto");
const { lp16, u64 } = require("./lib/envelope.js");
const { PushcryptError } = require("./lib/errors.js");
const { limits } = require("./lib/format.js");
const { parseObject } = require("./lib/json.js");
const keys = require("./lib/keys.js");
const { array, bytes, instance, json, options, string, time } = require("./lib/values.js");

const LABEL = Buffer.from("pushcrypt/1 relay request\0"), PATH = "/v1/push", ANSWERS_PATH = "/v1/answers/take";
const MOST_MESSAGES = 45, MOST_DONE = 200, LONGEST_WAIT = 25;
const seeds = new WeakMap();

/** It prints nothing. */
class PushKey {
    constructor(seed) {
        seed = bytes(seed, "a push key");
        if (seed.length !== keys.LENGTH) throw new RangeError("a push key has 32 bytes");
        seeds.set(this, Buffer.from(seed));
    }

    static generate() {
        return new PushKey(randomBytes(keys.LENGTH));
    }

    get publicKey() {
        return keys.rawPublic(privateKeyOf(this));
    }

    secretBytes() {
        return Buffer.from(seeds.get(this));
    }
}

const privateKeyOf = (key) => keys.secretKey(keys.ED25519, seeds.get(key));

/** What a push key signs. */
function signed(origin, path, key, at, body) {
    return Buffer.concat([LABEL, lp16(origin), lp16(path), key, u64(at), keys.sha256(Buffer.from(body))]);
}

function relayMessage(request) {
    const { headers, body, grant } = options(request, ["url", "token", "environment", "grant", "headers", "body"], "request"), push = parseObject(json(body, "malformed-payload"), "malformed-payload");
    const [aps, data] = ["aps", "ENCRYPTED_DATA"].map((name) => push.get(name)), kind = options(headers, null, "headers")["apns-push-type"];
    if (!(aps instanceof Map) || typeof data !== "string") throw new TypeError("request must be what Sealer.request has returned");
    if (!["alert", "background"].includes(kind)) throw new PushcryptError("push-type-not-sealable", "a relay passes alerts and background pushes on, and no calls");
    if (grant === null) throw new PushcryptError("invalid-request", "the device has no grant: wait for its next record");
    const number = (name) => Number(headers[name]), message = {
        grant: string(grant, "grant"), data, kind, priority: number("apns-priority"), expiration: number("apns-expiration"), collapse_id: headers["apns-collapse-id"],
    };
    if (kind !== "alert") return message;
    return { ...message, ...(aps.has("sound") && { sound: aps.get("sound") }), ...(aps.has("content-available") && { content_available: true }) };
}

/** Signs an object. */
function post(origin, path, key, content, at = new Date(Date.now())) {
    const now = time(at, "at"), { publicKey } = instance(key, PushKey, "key");
    if (!/^https?:\/\/[a-z0-9.:[\]-]{1,247}$/.test(string(origin, "origin"))) {
        throw new PushcryptError("invalid-request", "the origin is not like https://push.example.com: lower case, without a path");
    }
    if (now > BigInt(limits.largestTime)) throw new PushcryptError("invalid-time");
    const body = JSON.stringify(content), signature = sign(null, signed(origin, path, publicKey, now, body), privateKeyOf(key));
    const headers = {
        "content-type": "application/json", "pushcrypt-key": publicKey.toString("base64url"), "pushcrypt-time": `${now}`,
        "pushcrypt-signature": signature.toString("base64url"),
    };
    return { url: `${origin}${path}`, headers, body };
}

function relayRequest(origin, key, messages, given = {}) {
    const { at } = options(given, ["at"], "the options"), { length } = array(messages, "messages");
    if (length < 1 || length > MOST_MESSAGES) throw new PushcryptError("invalid-request", `a request has 1 to ${MOST_MESSAGES} messages, not ${length}`);
    return post(origin, PATH, key, { messages }, at);
}

function relayAnswers(origin, key, given = {}) {
    const { wait = 0, done = [], at } = options(given, ["wait", "done", "at"], "the options");
    if (typeof wait !== "number") throw new TypeError("wait must be a number");
    const names = array(done, "done").map((text) => keys.sha256(Buffer.from(string(text, "done"))).toString("base64url", 0, 16));
    if (!Number.isInteger(wait) || wait < 0 || wait > LONGEST_WAIT || names.length > MOST_DONE) {
        throw new PushcryptError("invalid-request", `a relay waits for 0 to ${LONGEST_WAIT} seconds, and up to ${MOST_DONE} texts are done`);
    }
    return post(origin, ANSWERS_PATH, key, { wait, done: names }, at);
}

module.exports = { PushKey, relayAnswers, relayMessage, relayRequest };
