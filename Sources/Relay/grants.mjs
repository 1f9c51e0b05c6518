// Grants: Docs/Relay.md, "This project's grants". A relay key is 32 bytes.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import {
    DAY, RelayError, decode, encode, equal, hasOnly, hmac, isTime, label, malformed, number, prefixed,
} from "./bytes.mjs";

export const LIFE = 180 * DAY, ENVIRONMENTS = ["production", "development"], KINDS = ["alert", "background"];
const GRANT = 444, PLAINTEXT = 407, HEADER = 5, ID = 16, TAG = 16, CIPHER = "aes-256-gcm";

export const isTopic = (topic) => typeof topic === "string" && /^[A-Za-z0-9.-]{1,255}$/.test(topic);
const isToken = (token) => typeof token === "string" && /^(?:[0-9a-f]{2}){1,100}$/.test(token);
export const isKinds = (kinds) => Array.isArray(kinds) && kinds.length >= 1 && new Set(kinds).size === kinds.length &&
    kinds.every((kind) => KINDS.includes(kind));

/** What a phone asks for in `POST /v1/grants`. */
export const isPhone = (asked) => hasOnly(asked, "token", "environment", "topic", "push_key", "kinds") &&
    isToken(asked.token) && ENVIRONMENTS.includes(asked.environment) && isTopic(asked.topic) && isKinds(asked.kinds) &&
    decode(asked.push_key, 32) !== undefined;

/** The version and the id of a relay key, computed once for each. */
const HEADERS = new WeakMap();
function headerOf(relayKey) {
    const known = HEADERS.get(relayKey) ?? Buffer.concat([number(1, 1), hmac(relayKey, label("relay key id")).subarray(0, 4)]);
    HEADERS.set(relayKey, known);
    return known;
}

function cipherOf(make, relayKey, header, id, origin) {
    // HKDF-SHA256 for 32 bytes; Node's takes three times as long.
    const key = hmac(hmac(id, relayKey), label("grant"), Buffer.of(1));
    const cipher = make(CIPHER, key, Buffer.alloc(12), { authTagLength: TAG });
    return cipher.setAAD(Buffer.concat([header, id, Buffer.from(origin)]));
}

/** What only the phone keeps, and ends a grant with: who reads a grant cannot. */
export const grantSecret = (relayKey, id) => encode(hmac(relayKey, label("grant secret"), id).subarray(0, ID));

/** Makes a grant. `pushKey` is 43 characters of base64url; times are milliseconds. Throws `malformed-request`. */
export function sealGrant(relayKey, origin, content, random = randomBytes(16)) {
    const { token, environment, topic, pushKey, kinds = ["alert"], issued, expires = issued + LIFE } = content;
    const isGood = isPhone({ token, environment, topic, push_key: pushKey, kinds }) && isTime(issued) && isTime(expires);
    if (!isGood) throw malformed();
    const bits = kinds.reduce((sum, kind) => sum | (1 << KINDS.indexOf(kind)), 0), plaintext = Buffer.alloc(PLAINTEXT);
    Buffer.concat([
        Buffer.of(ENVIRONMENTS.indexOf(environment) + 1, bits), number(issued, 8), number(expires, 8), decode(pushKey, 32),
        prefixed(Buffer.from(topic), 1), prefixed(Buffer.from(token, "hex"), 1),
    ]).copy(plaintext);
    // Hedged: a random source that repeats gives two grants the same key only if they say the same.
    const id = hmac(relayKey, label("grant id"), random, plaintext).subarray(0, ID), header = headerOf(relayKey);
    const cipher = cipherOf(createCipheriv, relayKey, header, id, origin);
    const sealed = [cipher.update(plaintext), cipher.final(), cipher.getAuthTag()];
    return { grant: encode(Buffer.concat([header, id, ...sealed])), secret: grantSecret(relayKey, id), expires };
}

/**
 * Opens a grant by any of the relay keys. Throws `malformed-grant` or `grant-unknown-key`; the caller compares key, end
 * and revocations.
 */
export function openGrant(relayKeys, origin, grant) {
    const bytes = decode(grant, GRANT), wrong = () => new RelayError(400, "malformed-grant");
    if (!bytes || bytes[0] !== 1) throw wrong();
    const header = bytes.subarray(0, HEADER), id = bytes.subarray(HEADER, HEADER + ID);
    const own = relayKeys.filter((key) => equal(headerOf(key), header));
    if (own.length === 0) throw new RelayError(410, "grant-unknown-key");
    for (const relayKey of own) {
        const cipher = cipherOf(createDecipheriv, relayKey, header, id, origin).setAuthTag(bytes.subarray(GRANT - TAG));
        const plain = cipher.update(bytes.subarray(HEADER + ID, GRANT - TAG));
        try {
            cipher.final();
        } catch {
            continue;
        }
        return { id, relayKey, ...contentOf(plain) };
    }
    throw wrong();
}

function contentOf(plain) {
    const topicEnd = 51 + plain[50], end = topicEnd + 1 + plain[topicEnd], [environment, bits] = plain;
    const isKnown = environment >= 1 && environment <= ENVIRONMENTS.length && bits >= 1 && bits < 1 << KINDS.length;
    if (!isKnown || !(end <= PLAINTEXT) || plain.subarray(end).some((byte) => byte !== 0)) {
        throw new RelayError(400, "malformed-grant");
    }
    return {
        environment: ENVIRONMENTS[environment - 1], kinds: KINDS.filter((_, bit) => (bits >> bit) & 1),
        issued: Number(plain.readBigUInt64BE(2)), expires: Number(plain.readBigUInt64BE(10)),
        pushKey: encode(plain.subarray(18, 50)), topic: plain.toString("utf8", 51, topicEnd),
        token: plain.toString("hex", topicEnd + 1, end),
    };
}

/** Under what name "all grants of a token until then" is kept, of those that one relay key sealed. */
export function cutoffName(relayKey, { environment, topic, token }) {
    const place = [number(ENVIRONMENTS.indexOf(environment) + 1, 1), prefixed(Buffer.from(topic), 2)];
    return hmac(relayKey, label("grant cutoff"), ...place, prefixed(Buffer.from(token, "hex"), 2)).subarray(0, ID);
}
