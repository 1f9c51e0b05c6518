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

/** The hedge key of a signing seed, or of a signature over the label that a key service made. */
function hedgeKey(seed) {
    return createHmac("sha256", seed).update(labels.hedge).digest();
}

/** What all secret keys have; a class has its `TYPE` and `KIND`. */
class SecretKey {
    constructor(seed) {
        const { TYPE: type, KIND: kind } = this.constructor;
        seed = bytes(seed, "the key");
        if (seed.length !== keys.LENGTH) throw new RangeError("a key has 32 bytes");
        const privateKey = keys.secretKey(type, seed), publicKey = keys.rawPublic(privateKey);
        const id = keys.keyID(kind === keys.SIGNING_SECRET ? keys.SIGNING : type, publicKey);
        parts.set(this, { privateKey, publicKey, id, hedge: type === keys.ED25519 ? hedgeKey(seed) : undefined });
    }

    static parse(text, ...given) {
        return new this(keys.parseKey(string(text, "the key"), this.KIND), ...given);
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

/** The text of a provider key's public half, 32 bytes, as a key service gives them. */
function providerPublicKey(raw) {
    const key = bytes(raw, "the public key");
    if (key.length !== keys.LENGTH) throw new RangeError("a public key has 32 bytes; of SubjectPublicKeyInfo they are the last ones");
    keys.checkVerifyingKey(key);
    return keys.keyText(key, keys.PROVIDER_PUBLIC);
}

/** A key that another program holds: its public key, and a function that signs and checks what came. */
function remote(signer) {
    const publicKey = bytes(signer?.publicKey, "signer.publicKey");
    if (publicKey.length !== keys.LENGTH) throw new RangeError("signer.publicKey has 32 bytes");
    keys.checkVerifyingKey(publicKey);
    if (typeof signer.sign !== "function") throw new TypeError("signer.sign must be a function");
    const sign = async (message) => {
        const signature = bytes(await signer.sign(message), "a signature");
        if (signature.length !== 64 || !keys.verifies(publicKey, signature, message)) throw new PushcryptError("wrong-signature");
        return signature;
    };
    return { publicKey, sign };
}

/** Whose messages a key signs. */
function identity(signingKey, provider, certificate, hedge) {
    const epoch = Buffer.alloc(4);
    epoch.writeUInt32BE(certificate?.epoch ?? 0);
    return { signingKey, provider, certificate, epoch, hedge };
}

/** The key that signs a sealer's messages, and whose they are. */
function signerOf(key, topic) {
    if (key instanceof Credential) {
        const own = partsOf(key, Credential, "key"), { publicKey, hedge } = parts.get(own.key);
        own.certificate.check(own.provider, topic);
        return [own.key, identity(publicKey, own.provider, own.certificate, hedge)];
    }
    const { publicKey, hedge } = partsOf(key, ProviderKey, "key");
    return [key, identity(publicKey, publicKey, null, hedge)];
}

module.exports = { Credential, ProviderKey, SecretKey, SigningKey, hedgeKey, identity, partsOf, providerPublicKey, remote, signature, signerOf };
