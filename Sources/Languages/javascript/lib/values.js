// What callers give: options, times, bytes and JSON. A wrong type, or an option of another name, is the program's fault and a `TypeError`; a value
// that the format refuses is a `PushcryptError`.
"use strict";

const { PushcryptError } = require("./errors.js");
const { limits } = require("./format.js");
const { decodeUTF8, isTorn } = require("./json.js");

/** The largest time. */
const NEVER = 2n ** 64n - 1n;

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

/** A time in milliseconds as a BigInt: a `Date`, a `BigInt`, or a whole number. */
function time(value, what) {
    if (typeof value === "bigint") {
        if (value >= 0n && value <= NEVER) return value;
    } else if (value instanceof Date || typeof value === "number") {
        const milliseconds = Number(value);
        if (Number.isSafeInteger(milliseconds) && milliseconds >= 0) return BigInt(milliseconds);
    } else {
        throw new TypeError(`${what} must be a Date or milliseconds since 1970`);
    }
    throw new PushcryptError("invalid-time", `${what} is not a whole number of milliseconds since 1970`);
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

/** JSON as text: text and bytes as they are, any other value as `JSON.stringify` writes it, unless that would change it. */
function json(value, code) {
    if (value instanceof Uint8Array) return decodeUTF8(value, code);
    if (typeof value === "string") {
        if (isTorn(value)) throw new PushcryptError(code, "the text has half of a surrogate pair");
        return value;
    }
    if (value === null || typeof value !== "object") throw new TypeError("JSON is given as a string, a Uint8Array or an object");
    checkUnchanged(value, limits.deepestJSON, code);
    return JSON.stringify(value);
}

/** Refuses a value that JSON.stringify would leave out or write as another one. */
function checkUnchanged(value, depth, code) {
    const refuse = (reason) => {
        // Without the place, which would quote names of the payload.
        const what = code === "malformed-payload" ? "the payload" : "the object";
        throw new PushcryptError(code, `${what} ${reason}; give the JSON as text or bytes, which are kept as they are`);
    };
    switch (typeof value) {
        case "boolean":
            return;
        case "string":
            if (isTorn(value)) refuse("has half of a surrogate pair");
            return;
        case "number":
            if (!Number.isFinite(value) || Object.is(value, -0)) refuse("has a number that JSON does not have");
            if (Number.isInteger(value) && !Number.isSafeInteger(value)) refuse("has an integer beyond 2^53, which JavaScript has rounded");
            return;
        case "object":
            break;
        default:
            refuse(`has a ${typeof value}, which JSON does not have`);
    }
    if (value === null) return;
    if (depth === 0) refuse("is nested deeper than 32");
    if (Array.isArray(value)) {
        for (let index = 0; index < value.length; index++) checkUnchanged(value[index], depth - 1, code);
        if (Object.keys(value).length !== value.length || "toJSON" in value) refuse("has an array with holes or names");
        return;
    }
    const prototype = Object.getPrototypeOf(value);
    if ((prototype !== null && Object.getPrototypeOf(prototype) !== null) || typeof value.toJSON === "function") {
        refuse("has an object of a class, and not a plain one");
    }
    if (Object.getOwnPropertySymbols(value).length > 0) refuse("has a symbol as a name");
    for (const name of Object.keys(value)) {
        if (isTorn(name)) refuse("has a name with half of a surrogate pair");
        checkUnchanged(value[name], depth - 1, code);
    }
}

module.exports = { NEVER, array, boolean, bytes, instance, isTopic, json, later, options, present, seconds, string, time, topic };
