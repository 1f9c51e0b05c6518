// ChaCha20-Poly1305, of envelopes, files, answers and pairing.
"use strict";

const { createCipheriv, createDecipheriv } = require("node:crypto");
const { limits } = require("./format.js");

const NAME = "chacha20-poly1305", OPTIONS = { authTagLength: limits.tagLength };
/** The nonce of a key that seals once. */
const ZERO = Buffer.alloc(12);

/** Ciphertext and tag. */
function encrypt(key, nonce, aad, plain) {
    const cipher = createCipheriv(NAME, key, nonce, OPTIONS).setAAD(aad);
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** The same back; nothing if the tag is wrong [O-4.3]: `final` compares it. */
function decrypt(key, nonce, aad, sealed) {
    const cipher = createDecipheriv(NAME, key, nonce, OPTIONS).setAAD(aad).setAuthTag(sealed.subarray(-limits.tagLength));
    const plain = cipher.update(sealed.subarray(0, -limits.tagLength));
    try {
        cipher.final();
    } catch {
        return undefined;
    }
    return plain;
}

module.exports = { ZERO, decrypt, encrypt };
