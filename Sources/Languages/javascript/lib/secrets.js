// Secret keys as objects, which print nothing. Node's key objects hold the bytes outside JavaScript's memory.
"use strict";

const { randomBytes, sign } = require("node:crypto");
const keys = require("./keys.js");
const { hedgeKey } = require("./seal.js");
const { NEVER } = require("./trust.js");
const { bytes, options, string, time } = require("./values.js");

/** The parts of each key: nothing outside this package reads them. */
const parts = new WeakMap();

function partsOf(key, type, what) {
    const found = parts.get(key);
    if (found === undefined || !(key instanceof type)) throw new TypeError(`${what} must be a ${type.name}`);
    return found;
}

function make(key, type, kind, seed) {
    seed = bytes(seed, "the key");
    if (seed.length !== 32) throw new RangeError("a key has 32 bytes");
    const privateKey = keys.secretKey(type, seed);
    const publicKey = keys.rawPublic(privateKey);
    const id = keys.keyID(kind === keys.RECOVERY_SECRET ? keys.RECOVERY : type, publicKey);
    parts.set(key, { privateKey, publicKey, id, kind });
    return parts.get(key);
}

function secretText(key) {
    const { privateKey, kind } = parts.get(key);
    return keys.keyText(Buffer.from(privateKey.export({ format: "jwk" }).d, "base64url"), kind);
}

class SenderKey {
    constructor(seed) {
        make(this, keys.ED25519, keys.SENDER_SECRET, seed).hedge = hedgeKey(bytes(seed));
    }

    static parse(text) {
        return new SenderKey(keys.parseKey(string(text, "the key"), keys.SENDER_SECRET));
    }

    static generate() {
        return new SenderKey(randomBytes(32));
    }

    get publicKey() {
        return keys.keyText(parts.get(this).publicKey, keys.SENDER_PUBLIC);
    }

    get keyID() {
        return parts.get(this).id.toString("hex");
    }

    secretText() {
        return secretText(this);
    }
}

class RecoveryKey {
    constructor(seed) {
        make(this, keys.ED25519, keys.RECOVERY_SECRET, seed);
    }

    static parse(text) {
        return new RecoveryKey(keys.parseKey(string(text, "the key"), keys.RECOVERY_SECRET));
    }

    static generate() {
        return new RecoveryKey(randomBytes(32));
    }

    get publicKey() {
        return keys.keyText(parts.get(this).publicKey, keys.RECOVERY_PUBLIC);
    }

    get keyID() {
        return parts.get(this).id.toString("hex");
    }

    secretText() {
        return secretText(this);
    }
}

class DeviceKey {
    constructor(scalar, given = {}) {
        const { retiresAt } = options(given, ["retiresAt"], "DeviceKey");
        const own = make(this, keys.X25519, keys.DEVICE_SECRET, scalar);
        own.end = retiresAt === undefined ? NEVER : time(retiresAt, "retiresAt");
    }

    static parse(text, given = {}) {
        return new DeviceKey(keys.parseKey(string(text, "the key"), keys.DEVICE_SECRET), given);
    }

    static generate() {
        return new DeviceKey(randomBytes(32));
    }

    get publicKey() {
        return keys.keyText(parts.get(this).publicKey, keys.DEVICE_PUBLIC);
    }

    get keyID() {
        return parts.get(this).id.toString("hex");
    }

    secretText() {
        return secretText(this);
    }
}

/** Signs with the key of a sender or a recovery. */
function signature(key, data) {
    return sign(null, data, parts.get(key).privateKey);
}

module.exports = { DeviceKey, RecoveryKey, SenderKey, partsOf, signature };
