// HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.
//
// Secrets are not wiped, and there is no constant-time guarantee: OpenSSL computes on keys and compares tags in
// constant time, the JavaScript around it does not.
"use strict";

const { createHmac, diffieHellman } = require("node:crypto");
const { decrypt, encrypt } = require("./aead.js");
const { PushcryptError } = require("./errors.js");
const { hpke: labels } = require("./format.js");
const { X25519, publicKey, rawPublic, secretKey } = require("./keys.js");

// For HMAC an empty salt and 32 zero bytes are the same key. Bytes, here and below, because Node is slower with texts.
const NO_SALT = Buffer.alloc(32), NOTHING = Buffer.alloc(0), COUNTER = Buffer.of(1);
// The mode, 0 for base, and the hash of the empty psk_id, with which every key schedule's context begins.
const PSK_ID_HASH = Buffer.concat([Buffer.of(0), labeledExtract(NO_SALT, labels.psk_id_hash, NOTHING)]);

/** An encryption context at sequence number 0, for one message. */
class Context {
    constructor(key, baseNonce) {
        Object.assign(this, { key, baseNonce });
    }

    seal(pt) {
        return encrypt(this.key, this.baseNonce, NOTHING, pt);
    }

    open(ct) {
        const pt = decrypt(this.key, this.baseNonce, NOTHING, ct);
        if (pt === undefined) throw new PushcryptError("authentication-failed");
        return pt;
    }
}

/**
 * Returns enc and the sealer's context for the recipient's public key, from the input of `DeriveKeyPair`.
 *
 * Does not use `generateKeyPairSync`: in Node 20, exporting one of its keys deadlocks if garbage is collected
 * meanwhile.
 */
function setupBaseS(recipient, info, ikmE) {
    const ephemeral = secretKey(X25519, deriveKey(ikmE)), enc = rawPublic(ephemeral);
    return [enc, keySchedule(extractAndExpand(dh(ephemeral, recipient), Buffer.concat([enc, recipient])), info)];
}

function deriveKey(ikm) {
    return labeledExpand(labeledExtract(NO_SALT, labels.dkp_prk, ikm), labels.sk, NOTHING);
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
    return labeledExpand(labeledExtract(NO_SALT, labels.eae_prk, dh), labels.shared_secret, kemContext);
}

function keySchedule(sharedSecret, info) {
    const context = Buffer.concat([PSK_ID_HASH, labeledExtract(NO_SALT, labels.info_hash, info)]);
    const secret = labeledExtract(sharedSecret, labels.secret, NOTHING);
    return new Context(labeledExpand(secret, labels.key, context), labeledExpand(secret, labels.base_nonce, context).subarray(0, 12));
}

function labeledExtract(salt, label, ikm) {
    return createHmac("sha256", salt).update(label).update(ikm).digest();
}

/** At most 32 bytes, so only the first block of HKDF-Expand is needed. The caller cuts it to its length. */
function labeledExpand(prk, label, info) {
    return createHmac("sha256", prk).update(label).update(info).update(COUNTER).digest();
}

module.exports = { setupBaseR, setupBaseS };
