// What callers give: options, times, bytes and JSON. A wrong type, or an option of another name, is the program's fault and a `TypeError`; a value
// that the format refuses is a `PushcryptError`.
"use strict";

const { PushcryptError } = require("./errors.js");
const { limits } = require("./format.js");
const { decodeUTF8, isTorn } = require("./json.js");

/** The largest time. */
const NEVER = 2n ** 64n - 1n;
/** A day in milliseconds, and the last millisecond of a Date. */
const DAY = 86_400_000n, LAST = 8_640_000_000_000_000;

/** The options with these names, or with any if `names` is null; a misspelt one would otherwise be ignored. */
function options(given, names, what) {
    if (given === null || typeof given !== "object" || Array.isArray(given) || ArrayBuffer.isView(given)) throw new TypeError(`${what} must be an object`);
    for (const name of names === null ? [] : Object.keys(given)) {
        if (!names.includes(name)) throw new TypeError(`${what} has no option ${name}; it has ${names.join(", ")}`);
    }
    return given;
}

function string(value, what) {
    if (typeof value !== "string") throw new TypeError(`${what} must be a string`);
    if (isTorn(value)) throw new PushcryptError("invalid-request", `${what} has half of a surrogate pair`);
    return value;
}

function boolean(value, what) {
    if (typeof value !== "boolean") throw new TypeError(`${what} must be true or false`);
    return value;
}

function array(value, what) {
    if (!Array.isArray(value)) throw new TypeError(`${what} must be an array`);
    return value;
}

function instance(value, type, what) {
    if (!(value instanceof type)) throw new TypeError(`${what} must be of type ${type.name}`);
    return value;
}

/** Bytes as a Buffer, without a copy. */
function bytes(value, what) {
    if (!(value instanceof Uint8Array)) throw new TypeError(`${what} must be a Uint8Array`);
    return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

/** A context, the app's bundle id without a suffix [K-2]. */
function topic(value, what = "the topic") {
    if (typeof value !== "string") throw new TypeError(`${what} must be a string`);
    if (!isTopic(value)) throw new PushcryptError("wrong-topic");
    return value;
}

function isTopic(text) {
    return text.length <= limits.longestTopic && /^[A-Za-z0-9.-]+$/.test(text);
}

/** Whether a text has 1 to so many bytes, and no control characters. */
function isName(value, most) {
    return value !== "" && Buffer.byteLength(value) <= most && !/\p{Cc}/u.test(value);
}

/** A time in milliseconds as a BigInt. */
function time(value, what) {
    if (!(value instanceof Date)) throw new TypeError(`${what} must be a Date`);
    if (!(value.getTime() >= 0)) throw new PushcryptError("invalid-time", `${what} is before 1970, or no time`);
    return BigInt(value.getTime());
}

/** A past time. One before 1973 or after 2100 was in another unit. */
function pastTime(at, what) {
    const given = time(at, what);
    if (given >= limits.timeFieldEnd && given <= 1000 * limits.latestClock) return given;
    throw new PushcryptError("implausible-time", `${what}: seconds and milliseconds were confused`);
}

/** The same back, at most the last that a Date has. */
const moment = (milliseconds) => new Date(Math.min(Number(milliseconds), LAST));

/** A caller's time, or the system's. One that is more than a day from the system's is a mistake. */
function timeOrNow(at, what = "at") {
    const now = BigInt(Date.now()), given = at === undefined ? now : time(at, what), away = given > now ? given - now : now - given;
    if (now < 0n || now > BigInt(limits.largestTime)) throw new PushcryptError("invalid-time", "the system's clock is before 1970 or far ahead; set it");
    if (away <= DAY) return given;
    const isIn = (scaled) => scaled > now - 366n * DAY && scaled < now + 366n * DAY;
    const guess = isIn(1000n * given) ? "seconds were taken for milliseconds" : isIn(given / 1000n) ? "milliseconds were taken for seconds" : "or set this machine's clock";
    throw new PushcryptError("implausible-time", `${what} is ${away / DAY} days from the clock: ${guess}`);
}

/** A duration in whole seconds, up to the largest `u32`. */
function seconds(value, what) {
    if (typeof value !== "number") throw new TypeError(`${what} must be a number of seconds`);
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** 32) throw new PushcryptError("invalid-time", `${what} is not a whole number of seconds`);
    return value;
}

/** Adds a duration in seconds to a time; the result is at most the largest time [K-3]. */
function later(time, seconds) {
    const sum = time + 1000n * BigInt(seconds);
    return sum < NEVER ? sum : NEVER;
}

/** An object without the members that are undefined. */
function present(members) {
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** JSON as text: text and bytes as they are, an object as `JSON.stringify` writes it, unless that would change a number or a text. */
function json(value, code, name = "the JSON") {
    if (value instanceof Uint8Array) return decodeUTF8(value, code);
    if (typeof value === "string") {
        if (isTorn(value)) throw new PushcryptError(code, "the text has half of a surrogate pair");
        return value;
    }
    if (value === null || typeof value !== "object") throw new TypeError(`${name} must be a string, a Uint8Array or an object`);
    let text;
    try {
        text = JSON.stringify(value, function check(member, one) {
            return checked(member, one, this[member], code);
        });
    } catch (error) {
        // A cycle, a bigint or a toJSON that throws. The engine's text quotes names of the payload.
        if (error instanceof PushcryptError) throw error;
        throw new PushcryptError(code, `${name} cannot be written as JSON: it has a cycle, a bigint, or a toJSON that fails`);
    }
    if (typeof text !== "string") throw new TypeError(`${name} is nothing that JSON has`);
    return text;
}

/** A value that JSON.stringify is about to write, if it writes that one; `given` is what it was before its toJSON. */
function checked(name, value, given, code) {
    // Without the place, which would quote names of the payload.
    const refuse = (reason) => {
        throw new PushcryptError(code, `the object has ${reason}; give the JSON as text or bytes, which are kept as they are`);
    };
    if (ArrayBuffer.isView(given)) refuse("bytes");
    if (typeof value === "number" && !Number.isFinite(value)) refuse("a number that JSON does not have");
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) refuse("an integer beyond 2^53, which JavaScript has rounded");
    if (isTorn(name) || (typeof value === "string" && isTorn(value))) refuse("half of a surrogate pair");
    return value;
}

module.exports = {
    NEVER, array, boolean, bytes, instance, isName, isTopic, json, later, moment, options, pastTime, present, seconds, string, time, timeOrNow, topic,
};
