// HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.
//
// Secrets are not wiped, and there is no constant-time guarantee: OpenSSL computes on keys and compares tags in
// constant time, the JavaScript around it does not.
"use strict";

const { createCipheriv, createDecipheriv, createHmac, diffieHellman } = require("node:crypto");
const { PushcryptError } = require("./errors.js");
const { X25519, publicKey, rawPublic, secretKey } = require("./keys.js");

const KEM_SUITE = "KEM\x00\x20";
const HPKE_SUITE = "HPKE\x00\x20\x00\x01\x00\x03";
const TAG = 16;
// For HMAC an empty salt and 32 zero bytes are the same key, and Node is slower with a text.
const NO_SALT = Buffer.alloc(32);
const PSK_ID_HASH = labeledExtract(HPKE_SUITE, NO_SALT, "psk_id_hash", "");

/** An encryption context at sequence number 0, for one message. */
class Context {
    constructor(key, baseNonce) {
        this.parameters = ["chacha20-poly1305", key, baseNonce, { authTagLength: TAG }];
    }

    seal(aad, pt) {
        const aead = createCipheriv(...this.parameters).setAAD(aad);
        return Buffer.concat([aead.update(pt), aead.final(), aead.getAuthTag()]);
    }

    /** Decrypts. Returns no plaintext if the tag is wrong [O-4.3]: `final` compares it. */
    open(aad, ct) {
        const aead = createDecipheriv(...this.parameters).setAAD(aad).setAuthTag(ct.subarray(-TAG));
        const pt = aead.update(ct.subarray(0, -TAG));
        try {
            aead.final();
        } catch {
            throw new PushcryptError("authentication-failed");
        }
        return pt;
    }
}

/**
 * Returns enc and the sender's context for the recipient's public key, from the input of `DeriveKeyPair`.
 *
 * Does not use `generateKeyPairSync`: in Node 20, exporting one of its keys deadlocks if garbage is collected
 * meanwhile.
 */
function setupBaseS(recipient, info, ikmE) {
    const ephemeral = secretKey(X25519, deriveKey(ikmE)), enc = rawPublic(ephemeral);
    return [enc, keySchedule(extractAndExpand(dh(ephemeral, recipient), Buffer.concat([enc, recipient])), info)];
}

function deriveKey(ikm) {
    return labeledExpand(KEM_SUITE, labeledExtract(KEM_SUITE, NO_SALT, "dkp_prk", ikm), "sk", "", 32);
}

/** The recipient's context. The KEM context is enc as received [O-4.1]. */
function setupBaseR(enc, device, info) {
    return keySchedule(extractAndExpand(dh(device.privateKey, enc), Buffer.concat([enc, device.publicKey])), info);
}

/** X25519. Refuses an all-zero result, as OpenSSL does too [O-4.2]. */
function dh(secret, raw) {
    // A platform without X25519 fails here, which is not the message's fault.
    const keys = { privateKey: secret, publicKey: publicKey(X25519, raw) };
    let result;
    try {
        result = diffieHellman(keys);
    } catch {
        throw new PushcryptError("authentication-failed");
    }
    if (result.every((byte) => byte === 0)) throw new PushcryptError("authentication-failed");
    return result;
}

function extractAndExpand(dh, kemContext) {
    const eaePRK = labeledExtract(KEM_SUITE, NO_SALT, "eae_prk", dh);
    return labeledExpand(KEM_SUITE, eaePRK, "shared_secret", kemContext, 32);
}

function keySchedule(sharedSecret, info) {
    const infoHash = labeledExtract(HPKE_SUITE, NO_SALT, "info_hash", info);
    const context = Buffer.concat([Buffer.of(0), PSK_ID_HASH, infoHash]);
    const secret = labeledExtract(HPKE_SUITE, sharedSecret, "secret", "");
    const key = labeledExpand(HPKE_SUITE, secret, "key", context, 32);
    return new Context(key, labeledExpand(HPKE_SUITE, secret, "base_nonce", context, 12));
}

function labeledExtract(suite, salt, label, ikm) {
    return createHmac("sha256", salt).update("HPKE-v1" + suite + label).update(ikm).digest();
}

/** At most 32 bytes, so only the first block of HKDF-Expand is needed. */
function labeledExpand(suite, prk, label, info, length) {
    const prefix = String.fromCharCode(0, length) + "HPKE-v1" + suite + label;
    return createHmac("sha256", prk).update(prefix).update(info).update("\x01").digest().subarray(0, length);
}

module.exports = {
    setupBaseS, setupBaseR,
};
