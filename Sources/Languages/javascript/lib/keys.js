// Keys as text, key ids, and the public keys that must be refused: Docs/Format.md, "Key ids" and "Keys as text".
//
// BigInt is not constant-time, and JavaScript cannot wipe a string: a secret key's text stays in memory until it is
// garbage-collected.
"use strict";

const { createHash, createPrivateKey, createPublicKey, hash, verify } = require("node:crypto");
const { PushcryptError } = require("./errors.js");
const format = require("./format.js");

const ALPHABET = format.texts.keyAlphabet;
/** What is known of each kind of key, by its prefix. Texts of secret keys are upper-case. */
const KINDS = Object.values(format.keys).map(({ prefix, length }) => ({ prefix, length, isSecret: prefix.endsWith("-"), start: `${prefix}1` }));
const [DEVICE_PUBLIC, PQ_PUBLIC, PROVIDER_PUBLIC, DEVICE_SECRET, PQ_SECRET, PROVIDER_SECRET, SIGNING_SECRET] = KINDS.map(({ prefix }) => prefix);
/** Device keys of suite 2, post-quantum: a provider may hold public ones, and secret ones are refused as what they are. */
const SUITE_2 = new Map([[DEVICE_PUBLIC, PQ_PUBLIC], [DEVICE_SECRET, PQ_SECRET]]);
/** The numbers of the characters, by their codes. */
const [LOWER_NUMBERS, UPPER_NUMBERS] = [ALPHABET, ALPHABET.toUpperCase()].map((all) => new Map([...all].map((one, number) => [one.charCodeAt(0), number])));
const LENGTH = format.limits.keyLength;
const [X25519, XWING, ED25519, SIGNING] = ["devicePublic", "postQuantumPublic", "providerPublic", "signingSecret"].map((name) => format.keys[name].type);

/** For each five bits that leave the checksum of BIP-173, what is added to it. */
const GENERATORS = Array.from({ length: 32 }, (_, top) => [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
    .reduce((sum, generator, bit) => ((top >> bit) & 1 ? sum ^ generator : sum), 0));

const P = 2n ** 255n - 19n;
/** The u-coordinates below P for which X25519 gives zero, and the y-coordinates of points of small order. */
const [SMALL_ORDER_U, SMALL_ORDER_Y] = [format.weakDeviceKeys, format.weakVerifyingKeys].map((all) => all.map((digits) => integer(Buffer.from(digits, "hex"))));

/** The 4-byte id of a public key: a hint for lookups, never to be compared instead of the key [K-1]. */
function keyID(type, publicKey) {
    return sha256(Buffer.concat([format.labels.keyID, Buffer.of(type), publicKey])).subarray(0, format.limits.keyIDLength);
}

/** SHA-256 of bytes. Node 20.12 and later have a function for it, which is faster. */
const sha256 = hash === undefined ? (data) => createHash("sha256").update(data).digest() : (data) => hash("sha256", data, "buffer");

/** The id of a device's public key, of either suite. */
function deviceKeyID(key) {
    return keyID(key.length === LENGTH ? X25519 : XWING, key);
}

/**
 * Reads the bytes of a key's text [K-4] to [K-8]; `kind` is its prefix. A returned public key is safe to use, but that of a device may be of suite 2: 1,216
 * bytes.
 */
function parseKey(text, kind) {
    if (text.endsWith("\n")) text = text.slice(0, -1);
    const of = KINDS.find(({ start }) => text.startsWith(start));
    if (of === undefined) throw new PushcryptError("malformed-key");
    if (of.prefix !== kind && of.prefix !== SUITE_2.get(kind)) throw new PushcryptError("wrong-kind-of-key");
    const { length } = of, count = Math.ceil((8 * length) / 5), start = of.start.length;
    if (text.length !== start + count + 6) throw new PushcryptError("malformed-key");
    const values = new Uint8Array(count + 6), numbers = of.isSecret ? UPPER_NUMBERS : LOWER_NUMBERS;
    for (let place = 0; place < values.length; place++) {
        const value = numbers.get(text.charCodeAt(start + place));
        if (value === undefined) throw new PushcryptError("malformed-key");
        values[place] = value;
    }
    if (polymod(of.prefix, values) !== 1) throw new PushcryptError("wrong-checksum");
    if ((values[count - 1] & ((1 << (5 * count - 8 * length)) - 1)) !== 0) throw new PushcryptError("malformed-key");
    if (of.prefix === PQ_SECRET) throw new PushcryptError("unsupported-suite", "the key is of suite 2, post-quantum, which this package does not open");
    const key = regroup(values.subarray(0, count), 5, 8).subarray(0, length);
    if (kind === DEVICE_PUBLIC) checkDeviceKey(key);
    if (kind === PROVIDER_PUBLIC) checkVerifyingKey(key);
    return key;
}

/** Returns the text of a key's bytes. For a secret key it is as secret as the key. */
function keyText(key, kind) {
    const { prefix, isSecret } = KINDS.find(({ prefix, length }) => length === key.length && (prefix === kind || prefix === SUITE_2.get(kind)));
    const values = [...regroup([...key, 0], 8, 5)].slice(0, Math.ceil((8 * key.length) / 5));
    const checksum = polymod(prefix, [...values, 0, 0, 0, 0, 0, 0]) ^ 1;
    for (let place = 5; place >= 0; place--) values.push((checksum >> (5 * place)) & 31);
    const characters = values.map((value) => ALPHABET[value]).join("");
    return `${prefix}1${isSecret ? characters.toUpperCase() : characters}`;
}

/** A text without the newline that a reader drops [K-4]. */
function bare(text) {
    return text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** Regroups bits, most significant first. Drops an incomplete group. */
function regroup(groups, from, to) {
    const result = Buffer.allocUnsafe(Math.floor((groups.length * from) / to)), mask = (1 << to) - 1;
    let bits = 0, count = 0, place = 0;
    for (let at = 0; at < groups.length; at++) {
        bits = ((bits << from) | groups[at]) & 0xffff;
        for (count += from; count >= to; ) {
            count -= to;
            result[place++] = (bits >> count) & mask;
        }
    }
    return result;
}

/** The checksum of BIP-173, over the lower-case prefix: 1 for a valid text. */
function polymod(prefix, values) {
    let checksum = 1;
    const add = (value) => {
        checksum = ((checksum & 0x1ffffff) << 5) ^ value ^ GENERATORS[checksum >> 25];
    };
    const lower = prefix.toLowerCase();
    for (let at = 0; at < lower.length; at++) add(lower.charCodeAt(at) >> 5);
    add(0);
    for (let at = 0; at < lower.length; at++) add(lower.charCodeAt(at) & 31);
    for (let at = 0; at < values.length; at++) add(values[at]);
    return checksum;
}

/** Refuses what [K-8] refuses: unreduced numbers, and the five for which X25519 gives zero. */
function checkDeviceKey(key) {
    for (let at = 0; at < key.length - 2 * LENGTH; at += 3) {
        const low = key[at] | ((key[at + 1] & 15) << 8), high = (key[at + 1] >> 4) | (key[at + 2] << 4);
        if (low >= format.limits.mlkemModulus || high >= format.limits.mlkemModulus) throw new PushcryptError("weak-key");
    }
    // None of those has another last byte, and numbers cost as much as a hash.
    const last = key[key.length - 1];
    if (last !== 0 && last !== 0x57 && last < 0x7f) return;
    const u = integer(key.subarray(-LENGTH));
    if (u >= P || SMALL_ORDER_U.includes(u)) throw new PushcryptError("weak-key");
}

/** The y-coordinate of an encoded point. */
const yOf = (point) => integer(point) & ((1n << 255n) - 1n);

/** Refuses what [K-7] refuses of provider, signing, push and update keys: unreduced coordinates, and those of points of small order. */
function checkVerifyingKey(key) {
    const y = yOf(key);
    if (y >= P || SMALL_ORDER_Y.includes(y)) throw new PushcryptError("weak-key");
}

/** Creates a secret key from its 32 bytes. Node reads a JWK ten times as fast as the encoding of RFC 8410; it computes the public half, and ignores `x`. */
function secretKey(type, raw) {
    const d = raw.toString("base64url");
    return createPrivateKey({ key: { kty: "OKP", crv: type === X25519 ? "X25519" : "Ed25519", x: d, d }, format: "jwk" });
}

/** Creates a public key from its 32 bytes. Node reads this form seven times as fast as the other. */
function publicKey(type, raw) {
    const crv = type === X25519 ? "X25519" : "Ed25519";
    return createPublicKey({ key: { kty: "OKP", crv, x: raw.toString("base64url") }, format: "jwk" });
}

/** The 32 bytes of a public key, or of the public half of a secret key. */
function rawPublic(key) {
    return Buffer.from(key.export({ format: "jwk" }).x, "base64url");
}

/** Ed25519 by [K-9], under a key that has passed [K-7]. OpenSSL compares the bytes of R, and refuses a key that is no point. */
function verifies(key, signature, data) {
    return !SMALL_ORDER_Y.includes(yOf(signature.subarray(0, LENGTH))) && verify(null, data, publicKey(ED25519, key), signature);
}

function integer(littleEndian) {
    return BigInt("0x" + Buffer.from(littleEndian).reverse().toString("hex"));
}

/** The bytes of base64url; none if this is not the one text that they have. */
function fromBase64(text) {
    const data = Buffer.from(text, "base64url");
    return data.toString("base64url") === text ? data : Buffer.alloc(0);
}

function parseBytes32(text, code) {
    const data = fromBase64(text);
    if (data.length !== LENGTH) throw new PushcryptError(code, "what must be 32 bytes in base64url is not");
    return data;
}

/** Reads an Ed25519 public key from base64url, as records and requests have it [D-13]. */
function parseRawKey(text, code) {
    const key = parseBytes32(text, code);
    checkVerifyingKey(key);
    return key;
}

module.exports = {
    DEVICE_PUBLIC, DEVICE_SECRET, ED25519, LENGTH, PQ_PUBLIC, PROVIDER_PUBLIC, PROVIDER_SECRET, SIGNING, SIGNING_SECRET, X25519, bare, checkDeviceKey,
    checkVerifyingKey, deviceKeyID, fromBase64, keyID, keyText, parseBytes32, parseKey, parseRawKey, publicKey, rawPublic, secretKey, sha256, verifies,
};
