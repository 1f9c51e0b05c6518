// Secret keys as objects, which print nothing. Node's key objects hold the bytes outside JavaScript's memory.
"use strict";

const { randomBytes, sign } = require("node:crypto");
const keys = require("./keys.js");
const { hedgeKey } = require("./seal.js");
const { Certificate, certify, plan } = require("./certificate.js");
const { checkContext } = require("./context.js");
const { PushcryptError } = require("./errors.js");
const { NEVER, array, boolean, bytes, options, seconds, string, time } = require("./values.js");

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
    const id = keys.keyID(kind === keys.SIGNING_SECRET ? keys.SIGNING : type, publicKey);
    parts.set(key, { privateKey, publicKey, id, kind });
    return parts.get(key);
}

function secretText(key) {
    const { privateKey, kind } = parts.get(key);
    return keys.keyText(Buffer.from(privateKey.export({ format: "jwk" }).d, "base64url"), kind);
}

class ProviderKey {
    constructor(seed) {
        make(this, keys.ED25519, keys.PROVIDER_SECRET, seed).hedge = hedgeKey(bytes(seed));
    }

    static parse(text) {
        return new ProviderKey(keys.parseKey(string(text, "the key"), keys.PROVIDER_SECRET));
    }

    static generate() {
        return new ProviderKey(randomBytes(32));
    }

    get publicKey() {
        return keys.keyText(parts.get(this).publicKey, keys.PROVIDER_PUBLIC);
    }

    get keyID() {
        return parts.get(this).id.toString("hex");
    }

    secretText() {
        return secretText(this);
    }
}

class SigningKey {
    constructor(seed) {
        make(this, keys.ED25519, keys.SIGNING_SECRET, seed).hedge = hedgeKey(bytes(seed));
    }

    static parse(text) {
        return new SigningKey(keys.parseKey(string(text, "the key"), keys.SIGNING_SECRET));
    }

    static generate() {
        return new SigningKey(randomBytes(32));
    }

    get publicBytes() {
        return Buffer.from(parts.get(this).publicKey);
    }

    get keyID() {
        return parts.get(this).id.toString("hex");
    }

    secretText() {
        return secretText(this);
    }
}

/** What signs messages from epoch 1 on. */
class Credential {
    constructor(given) {
        const { key, certificate, provider } = options(given, ["key", "certificate", "provider"], "Credential");
        const own = partsOf(key, SigningKey, "key"), read = Certificate.parse(string(certificate, "certificate"));
        const pin = keys.parseKey(string(provider, "provider"), keys.PROVIDER_PUBLIC);
        if (!read.signingKey.equals(own.publicKey)) throw new PushcryptError("wrong-certificate");
        parts.set(this, { key, certificate: read, provider: pin });
    }

    static parse(text) {
        const lines = string(text, "the text").replace(/\n$/, "").split("\n");
        if (lines.length !== 3) throw new PushcryptError("malformed-key", "a signing key file has three lines: the key, its certificate, the provider key");
        return new Credential({ key: SigningKey.parse(lines[0]), certificate: lines[1], provider: lines[2] });
    }

    get certificate() {
        return parts.get(this).certificate.text;
    }

    get provider() {
        return keys.keyText(parts.get(this).provider, keys.PROVIDER_PUBLIC);
    }

    get epoch() {
        return parts.get(this).certificate.epoch;
    }

    secretText() {
        return `${secretText(parts.get(this).key)}\n${this.certificate}\n${this.provider}\n`;
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

function signature(key, data) {
    return sign(null, data, parts.get(key).privateKey);
}

/** Who signs a sealer's messages: a key, and whose messages they are. */
function signerOf(key, context) {
    if (key instanceof Credential) {
        const own = partsOf(key, Credential, "key");
        own.certificate.check(own.provider, context);
        return [own.key, identity(parts.get(own.key).publicKey, own.provider, own.certificate, parts.get(own.key).hedge)];
    }
    const { publicKey, hedge } = partsOf(key, ProviderKey, "key");
    return [key, identity(publicKey, publicKey, null, hedge)];
}

function identity(signingKey, provider, certificate, hedge) {
    const epoch = Buffer.alloc(4);
    epoch.writeUInt32BE(certificate?.epoch ?? 0);
    return { signingKey, provider, certificate, epoch, hedge };
}

function issueCertificate(given) {
    const { provider, signingKey, topic, current, past = [], proven, stolen = false, lifetime, at = Date.now() } = options(
        given, ["provider", "signingKey", "topic", "current", "past", "proven", "stolen", "lifetime", "at"], "issueCertificate",
    );
    const { publicKey } = partsOf(provider, ProviderKey, "provider");
    checkContext(topic);
    return certify(readPlan({ current, past, proven, stolen, lifetime, at }), bytes(signingKey, "signingKey"), publicKey, topic, (data) => signature(provider, data)).text;
}

function readPlan({ current, past, proven, stolen, lifetime, at }) {
    const certificate = (text, what) => (text === undefined || text === null ? null : Certificate.parse(string(text, what)));
    return plan({
        current: certificate(current, "current"), proven: certificate(proven, "proven"), isStolen: boolean(stolen, "stolen"), now: time(at, "at"),
        lifetime: lifetime === undefined ? undefined : seconds(lifetime, "lifetime"),
        past: array(past, "past").map(({ epoch, replacedAt }) => ({ epoch: seconds(epoch, "epoch"), replacedAt: time(replacedAt, "replacedAt") })),
    });
}

function readCertificate(text) {
    const { epoch, floor, graceUntil, expiresAt } = Certificate.parse(string(text, "certificate"));
    return { epoch, floor, graceUntil, expiresAt };
}

module.exports = { Credential, DeviceKey, ProviderKey, SigningKey, identity, issueCertificate, partsOf, readCertificate, readPlan, signature, signerOf };
