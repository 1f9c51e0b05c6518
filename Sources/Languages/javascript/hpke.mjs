// HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.
//
// Secrets are not wiped, and nothing is promised about time: OpenSSL computes on keys and compares tags in constant time, the
// JavaScript around it does not.
import { createCipheriv, createDecipheriv, createHmac, diffieHellman, randomBytes } from "node:crypto";
import { Refused, X25519, publicKey, rawPublic, secretKey } from "./keys.mjs";

const KEM_SUITE = "KEM\x00\x20";
const HPKE_SUITE = "HPKE\x00\x20\x00\x01\x00\x03";
const TAG = 16;

/** An encryption context at sequence number 0. It is for one message. */
class Context {
    constructor(key, baseNonce) {
        this.parameters = ["chacha20-poly1305", key, baseNonce, { authTagLength: TAG }];
    }

    seal(aad, pt) {
        const aead = createCipheriv(...this.parameters).setAAD(aad);
        return Buffer.concat([aead.update(pt), aead.final(), aead.getAuthTag()]);
    }

    /** The plaintext, of which nothing is given when the tag is wrong [O-4.3]: `final` compares it. */
    open(aad, ct) {
        const aead = createDecipheriv(...this.parameters).setAAD(aad).setAuthTag(ct.subarray(-TAG));
        const pt = aead.update(ct.subarray(0, -TAG));
        try {
            aead.final();
        } catch {
            throw new Refused("authentication-failed");
        }
        return pt;
    }
}

/**
 * enc, and the sender's context for the recipient's public key. The randomness is plain, which the format allows.
 *
 * Not with `generateKeyPairSync`: in Node 20, to export one of its keys waits for itself forever when memory is collected meanwhile.
 */
export function setupBaseS(recipient, info) {
    const ephemeral = secretKey(X25519, randomBytes(32)), enc = rawPublic(ephemeral);
    return [enc, keySchedule(extractAndExpand(dh(ephemeral, recipient), Buffer.concat([enc, recipient])), info)];
}

/** The recipient's context. The KEM context is enc as received [O-4.1]. */
export function setupBaseR(enc, device, info) {
    return keySchedule(extractAndExpand(dh(device.secret, enc), Buffer.concat([enc, device.public])), info);
}

/** X25519. A result that is all zero is refused, by OpenSSL as well [O-4.2]. */
function dh(secret, raw) {
    // A platform without X25519 fails here, which is no fault of the message.
    const keys = { privateKey: secret, publicKey: publicKey(X25519, raw) };
    let result;
    try {
        result = diffieHellman(keys);
    } catch {
        throw new Refused("authentication-failed");
    }
    if (result.every((byte) => byte === 0)) throw new Refused("authentication-failed");
    return result;
}

function extractAndExpand(dh, kemContext) {
    const eaePRK = labeledExtract(KEM_SUITE, "", "eae_prk", dh);
    return labeledExpand(KEM_SUITE, eaePRK, "shared_secret", kemContext, 32);
}

function keySchedule(sharedSecret, info) {
    const pskIDHash = labeledExtract(HPKE_SUITE, "", "psk_id_hash", "");
    const infoHash = labeledExtract(HPKE_SUITE, "", "info_hash", info);
    const context = Buffer.concat([Buffer.of(0), pskIDHash, infoHash]);
    const secret = labeledExtract(HPKE_SUITE, sharedSecret, "secret", "");
    const key = labeledExpand(HPKE_SUITE, secret, "key", context, 32);
    return new Context(key, labeledExpand(HPKE_SUITE, secret, "base_nonce", context, 12));
}

/** To HMAC no salt and 32 zero bytes are the same key. */
function labeledExtract(suite, salt, label, ikm) {
    return createHmac("sha256", salt).update("HPKE-v1").update(suite).update(label).update(ikm).digest();
}

/** At most 32 bytes, so the first block of HKDF-Expand is all of it. */
function labeledExpand(suite, prk, label, info, length) {
    const mac = createHmac("sha256", prk).update(Buffer.of(0, length)).update("HPKE-v1").update(suite).update(label);
    return mac.update(info).update(Buffer.of(1)).digest().subarray(0, length);
}
