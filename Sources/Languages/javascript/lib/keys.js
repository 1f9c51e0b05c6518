// Keys as text, key ids, and the public keys that must be refused: Docs/Format.md, "Key ids" and "Keys as text".
//
// BigInt is not constant-time, and JavaScript cannot wipe a string: a secret key's text stays in memory until it is
// garbage-collected.
"use strict";

const { createHash, createPrivateKey, createPublicKey, diffieHellman, verify } = require("node:crypto");
const { PushcryptError } = require("./errors.js");

const ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const DEVICE_PUBLIC = "pcr", PROVIDER_PUBLIC = "pcs";
const DEVICE_SECRET = "pcr-secret-", PROVIDER_SECRET = "pcs-secret-", SIGNING_SECRET = "pck-secret-";
const KINDS = [DEVICE_PUBLIC, PROVIDER_PUBLIC, DEVICE_SECRET, PROVIDER_SECRET, SIGNING_SECRET];
/** Device keys of suite 2, post-quantum: a provider may hold public ones, and secret ones are refused as what they are. */
const SUITE_2 = new Map([[DEVICE_PUBLIC, "pcrx"], [DEVICE_SECRET, "pcrx-secret-"]]);
/** The numbers of the characters, by their codes. */
const LOWER_NUMBERS = new Map([...ALPHABET].map((character, number) => [character.charCodeAt(0), number]));
const UPPER_NUMBERS = new Map([...ALPHABET.toUpperCase()].map((character, number) => [character.charCodeAt(0), number]));
const ALL_KINDS = [...KINDS, ...SUITE_2.values()];
const LENGTH = 32, LONG_LENGTH = 1216;
const X25519 = 0x01, ED25519 = 0x02, XWING = 0x03, SIGNING = 0x04;
/** ML-KEM's modulus: every coefficient in a key is below it. */
const MLKEM_Q = 3329;

/** For each five bits that leave the checksum of BIP-173, what is added to it. */
const GENERATORS = Array.from({ length: 32 }, (_, top) => [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
    .reduce((sum, generator, bit) => ((top >> bit) & 1 ? sum ^ generator : sum), 0));

const IDENTITY = Buffer.concat([Buffer.of(1), Buffer.alloc(31)]);
const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
// The u-coordinates below P for which X25519 gives zero.
const SMALL_ORDER_U = [
    0n,
    1n,
    integer(Buffer.from("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800", "hex")),
    integer(Buffer.from("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157", "hex")),
    P - 1n,
];

const ignoresX = agree(X25519) && agree(ED25519);

const FIVE_L_MINUS_1 = secretKey(X25519, bytes(5n * L - 1n));

/** The 4-byte id of a public key: a hint for lookups, never to be compared instead of the key [K-1]. */
function keyID(type, publicKey) {
    return sha256("pushcrypt/1 key id\0", Buffer.of(type), publicKey).subarray(0, 4);
}

function sha256(...parts) {
    const hash = createHash("sha256");
    for (const part of parts) hash.update(part);
    return hash.digest();
}

/** The id of a device's public key, of either suite. */
function deviceKeyID(key) {
    return keyID(key.length === LENGTH ? X25519 : XWING, key);
}

/** Reads the bytes of a key's text [K-4] to [K-8]. A returned public key is safe to use, but that of a device may be of suite 2: 1,216 bytes. */
function parseKey(text, kind) {
    if (text.endsWith("\n")) text = text.slice(0, -1);
    const of = ALL_KINDS.find((other) => text.startsWith(inCase(other, other) + "1"));
    if (of === undefined) throw new PushcryptError("malformed-key");
    if (of !== kind && of !== SUITE_2.get(kind)) throw new PushcryptError("wrong-kind-of-key");
    const length = of === SUITE_2.get(DEVICE_PUBLIC) ? LONG_LENGTH : LENGTH, count = Math.ceil((8 * length) / 5), start = of.length + 1;
    if (text.length !== start + count + 6) throw new PushcryptError("malformed-key");
    const values = new Uint8Array(count + 6), numbers = of.endsWith("-") ? UPPER_NUMBERS : LOWER_NUMBERS;
    for (let place = 0; place < values.length; place++) {
        const value = numbers.get(text.charCodeAt(start + place));
        if (value === undefined) throw new PushcryptError("malformed-key");
        values[place] = value;
    }
    if (polymod(of, values) !== 1) throw new PushcryptError("wrong-checksum");
    if ((values[count - 1] & ((1 << (5 * count - 8 * length)) - 1)) !== 0) throw new PushcryptError("malformed-key");
    if (of === SUITE_2.get(DEVICE_SECRET)) throw new PushcryptError("unsupported-suite", "the key is of suite 2, post-quantum, which this package does not open");
    const key = regroup(values.subarray(0, count), 5, 8).subarray(0, length);
    if (kind === DEVICE_PUBLIC) checkDeviceKey(key);
    if (kind === PROVIDER_PUBLIC) checkVerifyingKey(key);
    return key;
}

/** Returns the text of a key's bytes. For a secret key it is as secret as the key. */
function keyText(key, kind) {
    const own = key.length === LENGTH ? kind : SUITE_2.get(kind);
    const values = [...regroup([...key, 0], 8, 5)].slice(0, Math.ceil((8 * key.length) / 5));
    const checksum = polymod(own, [...values, 0, 0, 0, 0, 0, 0]) ^ 1;
    for (let place = 5; place >= 0; place--) values.push((checksum >> (5 * place)) & 31);
    return inCase(own, own + "1" + values.map((value) => ALPHABET[value]).join(""));
}

/** Texts of secret keys are upper-case, those of public keys lower-case. */
function inCase(kind, text) {
    return kind.endsWith("-") ? text.toUpperCase() : text;
}

/** Regroups bits, most significant first. Drops an incomplete group. */
function regroup(groups, from, to) {
    const result = [];
    let bits = 0, count = 0;
    for (const group of groups) {
        bits = ((bits << from) | group) & 0xffff;
        for (count += from; count >= to; ) {
            count -= to;
            result.push((bits >> count) & ((1 << to) - 1));
        }
    }
    return Buffer.from(result);
}

/** The checksum of BIP-173: 1 for a valid text. */
function polymod(kind, values) {
    let checksum = 1;
    const add = (value) => {
        checksum = ((checksum & 0x1ffffff) << 5) ^ value ^ GENERATORS[checksum >> 25];
    };
    for (let at = 0; at < kind.length; at++) add(kind.charCodeAt(at) >> 5);
    add(0);
    for (let at = 0; at < kind.length; at++) add(kind.charCodeAt(at) & 31);
    for (let at = 0; at < values.length; at++) add(values[at]);
    return checksum;
}

/** Refuses what [K-8] refuses: unreduced numbers, and the five for which X25519 gives zero. */
function checkDeviceKey(key) {
    for (let at = 0; at < key.length - 2 * LENGTH; at += 3) {
        const low = key[at] | ((key[at + 1] & 15) << 8), high = (key[at + 1] >> 4) | (key[at + 2] << 4);
        if (low >= MLKEM_Q || high >= MLKEM_Q) throw new PushcryptError("weak-key");
    }
    // None of those has another last byte, and numbers cost as much as a hash.
    const last = key[key.length - 1];
    if (last !== 0 && last !== 0x57 && last < 0x7f) return;
    const u = integer(key.subarray(-LENGTH));
    if (u >= P || SMALL_ORDER_U.includes(u)) throw new PushcryptError("weak-key");
}

/**
 * Refuses what [K-7] refuses of provider and signing keys: with u of the point, X25519(5L - 1, u) = u exactly for a point of order L. A y without a
 * point has a u on the curve's twist, where this does not hold either.
 */
function checkVerifyingKey(key) {
    const y = integer(key) & ((1n << 255n) - 1n);
    if (y >= P || y === 1n) throw new PushcryptError("weak-key");
    const u = ((1n + y) * power(P + 1n - y, P - 2n)) % P;
    if (u === 0n || SMALL_ORDER_U.includes(u)) throw new PushcryptError("weak-key");
    const product = diffieHellman({ privateKey: FIVE_L_MINUS_1, publicKey: publicKey(X25519, bytes(u)) });
    if (integer(product) !== u) throw new PushcryptError("weak-key");
}

/**
 * Creates a secret key from its 32 bytes.
 *
 * Node reads a JWK ten times as fast as the encoding of RFC 8410. It computes the public half, and ignores the one that it is given; where that is not so,
 * the other encoding is used.
 */
function secretKey(type, raw) {
    return (ignoresX ? secretFromJWK : secretFromDER)(type, raw);
}

function secretFromJWK(type, raw) {
    const d = raw.toString("base64url");
    return createPrivateKey({ key: { kty: "OKP", crv: type === X25519 ? "X25519" : "Ed25519", x: d, d }, format: "jwk" });
}

function secretFromDER(type, raw) {
    const frame = Buffer.from(`302e020100300506032b65${type === X25519 ? "6e" : "70"}04220420`, "hex");
    return createPrivateKey({ key: Buffer.concat([frame, raw]), format: "der", type: "pkcs8" });
}

/** Whether both ways give the same key. */
function agree(type) {
    const raw = Buffer.alloc(32, 7);
    try {
        return rawPublic(secretFromJWK(type, raw)).equals(rawPublic(secretFromDER(type, raw)));
    } catch {
        return false;
    }
}

/** Creates a public key from its 32 bytes. Node reads this form seven times as fast as the other. */
function publicKey(type, raw) {
    const crv = type === X25519 ? "X25519" : "Ed25519";
    return createPublicKey({ key: { kty: "OKP", crv, x: raw.toString("base64url") }, format: "jwk" });
}

/** The 32 bytes of a public key, or of the public half of a secret key. */
function rawPublic(key) {
    return Buffer.from((key.type === "private" ? createPublicKey(key) : key).export({ format: "jwk" }).x, "base64url");
}

/** Ed25519 by [K-9], under a key that has passed [K-7]. OpenSSL compares the bytes of R. */
function verifies(key, signature, data) {
    return !signature.subarray(0, 32).equals(IDENTITY) && verify(null, data, publicKey(ED25519, key), signature);
}

function power(base, exponent) {
    let result = 1n;
    for (; exponent > 0n; exponent >>= 1n) {
        if (exponent & 1n) result = (result * base) % P;
        base = (base * base) % P;
    }
    return result;
}

function integer(littleEndian) {
    return BigInt("0x" + Buffer.from(littleEndian).reverse().toString("hex"));
}

function bytes(integer) {
    return Buffer.from(integer.toString(16).padStart(64, "0"), "hex").reverse();
}

module.exports = {
    DEVICE_PUBLIC, DEVICE_SECRET, ED25519, LENGTH, PROVIDER_PUBLIC, PROVIDER_SECRET, SIGNING, SIGNING_SECRET, X25519, checkDeviceKey, checkVerifyingKey,
    deviceKeyID, keyID, keyText, parseKey, publicKey, rawPublic, secretKey, sha256, verifies,
};
