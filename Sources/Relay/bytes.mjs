// Bytes, hashes, texts and JSON, as Docs/Relay.md writes them.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export const MINUTE = 60_000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

/** Why a request, or one message, was refused. `more` are further members of the answer; `retry_after` are seconds. */
export class RelayError extends Error {
    constructor(status, code, more = {}) {
        super(code);
        Object.assign(this, { name: "RelayError", status, code, more });
    }
}

export const malformed = () => new RelayError(400, "malformed-request");
export const tooMany = (seconds) => new RelayError(429, "too-many-requests", { retry_after: seconds });
export const unavailable = (seconds = 5) => new RelayError(503, "relay-unavailable", { retry_after: seconds });

export const label = (text) => Buffer.from(`pushcrypt/1 ${text}\0`);

export function number(value, size) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(value));
    return bytes.subarray(8 - size);
}

export const prefixed = (bytes, size) => Buffer.concat([number(bytes.length, size), bytes]);
export const encode = (bytes) => Buffer.from(bytes).toString("base64url");

/** The bytes of a base64url text, if it is the only text of so many bytes. */
export function decode(text, length) {
    if (typeof text !== "string" || text.length !== Math.ceil((length * 4) / 3)) return undefined;
    const bytes = Buffer.from(text, "base64url");
    return bytes.length === length && encode(bytes) === text ? bytes : undefined;
}

/** In a time that depends on the lengths alone. */
export function equal(one, other) {
    const [left, right] = [Buffer.from(one), Buffer.from(other)];
    return left.length === right.length && timingSafeEqual(left, right);
}

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest();
export const hmac = (key, ...parts) => createHmac("sha256", key).update(Buffer.concat(parts)).digest();
/** What is logged of a push key. */
export const fingerprint = (text) => sha256(text).toString("hex", 0, 4);

/** Strings, and also numbers, of a text that is JSON; on other texts the match takes quadratic time. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/g, TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][-+.0-9eE]*/g;

/** A JSON object without repeated members, or undefined. A number that is not digits alone becomes null. */
export function parseObject(bytes) {
    try {
        const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
        const read = JSON.parse(text);
        const plain = text.replace(TOKEN, (token) => (/^"|^[0-9]+$/.test(token) ? token : "null"));
        const value = plain === text ? read : JSON.parse(plain);
        // JSON.parse keeps the last of equal names: then there are more colons than members.
        const colons = plain.replace(STRING, "").split(":").length - 1;
        return isObject(value) && membersOf(value, 8) === colons ? value : undefined;
    } catch {
        return undefined;
    }
}

export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function membersOf(value, depth) {
    if (value === null || typeof value !== "object") return 0;
    if (depth === 0) throw new RangeError("too deep");
    const own = Array.isArray(value) ? 0 : Object.keys(value).length;
    return Object.values(value).reduce((sum, one) => sum + membersOf(one, depth - 1), own);
}

/** Whether it is an object without other members than these; which are missing, their types show. */
export const hasOnly = (value, ...names) => isObject(value) && Object.keys(value).every((name) => names.includes(name));
export const isTime = (time) => Number.isSafeInteger(time) && time >= 0;
