// The strict JSON of payloads: Docs/Format.md, "Body", rules [J-1] to [J-7].
//
// JSON.parse alone is not enough: it accepts duplicate names, lone surrogates and any depth.
"use strict";

const { PushcryptError } = require("./errors.js");

const DEPTH = 32;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
const WORDS = { true: true, false: false, null: null };

const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A number as written, so that none is rounded and none is too long. */
class NumberText {
    constructor(text) {
        this.text = text;
    }

    /** Whether it is written with digits alone, as every integer that the format reads. */
    get isInteger() {
        return /^[0-9]+$/.test(this.text);
    }
}

/**
 * The members of an object, so that no name has a meaning in JavaScript. `start` and `end` are its place in the text. The outermost has that `text`, and
 * whether it `isSpaced`: white space is between tokens.
 */
class Members extends Map {}

/**
 * Parses a JSON object by [J-1] to [J-6]. Objects are `Members`, and numbers are `NumberText`. Refuses anything but an object with the code.
 */
function parseObject(data, code) {
    const refuse = () => {
        throw new PushcryptError(code);
    };
    let text, at = 0, isSpaced = false;
    try {
        text = UTF_8.decode(data);
    } catch {
        refuse();
    }

    function skipSpace() {
        for (let code = text.charCodeAt(at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09; code = text.charCodeAt(at)) {
            at += 1;
            isSpaced = true;
        }
    }

    /** Reads a token that matches a pattern, after white space; `undefined` if the next token does not match. */
    function take(pattern) {
        skipSpace();
        pattern.lastIndex = at;
        if (!pattern.test(text)) return undefined;
        const token = text.slice(at, pattern.lastIndex);
        at = pattern.lastIndex;
        return token;
    }

    function takes(character) {
        skipSpace();
        if (text[at] !== character) return false;
        at += 1;
        return true;
    }

    function string() {
        const token = take(STRING) ?? refuse();
        // Half of a surrogate pair can only be an escape: the text was UTF-8.
        if (!token.includes("\\")) return token.slice(1, -1);
        const value = JSON.parse(token);
        return /\p{Surrogate}/u.test(value) ? refuse() : value;
    }

    function object(depth) {
        const members = new Members();
        members.start = at - 1;
        if (takes("}")) return members;
        do {
            const name = string();
            if (members.has(name) || !takes(":")) refuse();
            members.set(name, value(depth));
        } while (takes(","));
        if (!takes("}")) refuse();
        members.end = at;
        return members;
    }

    function array(depth) {
        const elements = [];
        if (takes("]")) return elements;
        do elements.push(value(depth));
        while (takes(","));
        return takes("]") ? elements : refuse();
    }

    /** Reads a value at this depth of objects and arrays. */
    function value(depth) {
        if (takes("{")) return depth < DEPTH ? object(depth + 1) : refuse();
        if (takes("[")) return depth < DEPTH ? array(depth + 1) : refuse();
        if (text[at] === '"') return string();
        const number = take(NUMBER);
        if (number !== undefined) return new NumberText(number);
        return WORDS[take(WORD) ?? refuse()];
    }

    const result = value(0);
    skipSpace();
    return result instanceof Map && at === text.length ? Object.assign(result, { text, isSpaced }) : refuse();
}

/** Parses a payload by [J-1] to [J-7]. Returns its members. */
function checkPayload(data, check = () => {}) {
    const members = parseObject(data, "malformed-payload");
    check(members);
    if (!(members.get("aps") instanceof Map)) throw new PushcryptError("malformed-payload");
    return members;
}

/** Removes the white space between the tokens of a JSON text; strings and numbers keep their bytes [S-7]. */
function minify(text) {
    return text.replace(/("(?:[^"\\]|\\.)*")|[ \t\n\r]+/g, "$1");
}

/** The members of an object of a checked text, in order: names, and values as they are written, without white space. */
function writtenMembers(text, { start, end }) {
    const object = minify(text.slice(start, end)), written = [];
    let depth = 0, name = null, from = 0;
    for (const { 0: token, index } of object.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}:,]/g)) {
        if (depth === 1 && name === null && token[0] === '"') {
            name = JSON.parse(token);
        } else if (depth === 1 && token === ":") {
            from = index + 1;
        } else if (depth === 1 && name !== null && (token === "," || token === "}")) {
            written.push([name, object.slice(from, index)]);
            name = null;
        }
        if (token === "[" || token === "{") depth += 1;
        if (token === "]" || token === "}") depth -= 1;
    }
    return written;
}

module.exports = {
    NumberText, parseObject, checkPayload, minify, writtenMembers,
};
