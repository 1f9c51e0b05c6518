// Secret keys as objects, which print nothing, and what signs with them. Node's key objects hold the bytes outside JavaScript's memory.
"use strict";

const { createHmac, randomBytes, sign } = require("node:crypto");
const { Certificate } = require("./certificate.js");
const { PushcryptError } = require("./errors.js");
const { labels } = require("./format.js");
const keys = require("./keys.js");
const { bytes, options, string } = require("./values.js");

/** The parts of each key: nothing outside this package reads them. */
const parts = new WeakMap();

function partsOf(key, type, what) {
    const found = parts.get(key);
    if (found === undefined || !(key instanceof type)) throw new TypeError(`${what} must be of type ${type.name}`);
    return found;
}

/** What all secret keys have; a class has its `TYPE` and `KIND`. */
class SecretKey {
    constructor(seed) {
        const { TYPE: type, KIND: kind } = this.constructor;
        seed = bytes(seed, "the key");
        if (seed.length !== keys.LENGTH) throw new RangeError("a key has 32 bytes");
        const privateKey = keys.secretKey(type, seed), publicKey = keys.rawPublic(privateKey);
        const id = keys.keyID(kind === keys.SIGNING_SECRET ? keys.SIGNING : type, publicKey);
        parts.set(this, { privateKey, publicKey, id, hedge: createHmac("sha256", seed).update(labels.hedge).digest() });
    }

    static parse(text) {
        return new this(keys.parseKey(string(text, "the key"), this.KIND));
    }

    static generate() {
        return new this(randomBytes(keys.LENGTH));
    }

    get keyId() {
        return parts.get(this).id.toString("hex");
    }

    secretText() {
        return keys.keyText(Buffer.from(parts.get(this).privateKey.export({ format: "jwk" }).d, "base64url"), this.constructor.KIND);
    }
}

class ProviderKey extends SecretKey {
    static TYPE = keys.ED25519;
    static KIND = keys.PROVIDER_SECRET;

    get publicKey() {
        return keys.keyText(parts.get(this).publicKey, keys.PROVIDER_PUBLIC);
    }
}

class SigningKey extends SecretKey {
    static TYPE = keys.ED25519;
    static KIND = keys.SIGNING_SECRET;

    get publicBytes() {
        return Buffer.from(parts.get(this).publicKey);
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
        const lines = keys.bare(string(text, "the text")).split("\n", 4);
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
        return `${parts.get(this).key.secretText()}\n${this.certificate}\n${this.provider}\n`;
    }
}

function signature(key, data) {
    return sign(null, data, parts.get(key).privateKey);
}

/** The key that signs a sealer's messages, and whose they are: at epoch 0 its own, from then on those of the provider key that certified it. */
function signerOf(given, topic) {
    const own = given instanceof Credential ? partsOf(given, Credential) : { key: given, certificate: null };
    own.certificate?.check(own.provider, topic);
    const { publicKey, hedge } = partsOf(own.key, own.certificate === null ? ProviderKey : SigningKey, "key"), epoch = Buffer.alloc(4);
    epoch.writeUInt32BE(own.certificate?.epoch ?? 0);
    return { key: own.key, signingKey: publicKey, provider: own.provider ?? publicKey, certificate: own.certificate, epoch, hedge };
}

module.exports = { Credential, ProviderKey, SecretKey, SigningKey, partsOf, signature, signerOf };
