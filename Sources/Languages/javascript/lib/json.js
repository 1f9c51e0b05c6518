// Strict JSON: Docs/Format.md, "Body", rules [J-1] to [J-6].
//
// JSON.parse alone is not enough: it accepts duplicate names, lone surrogates and any depth, and it rounds numbers.
"use strict";

const { PushcryptError } = require("./errors.js");
const { limits } = require("./format.js");

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
const WORDS = { true: true, false: false, null: null };
const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Whether a text has half of a surrogate pair. Node 18 has no `isWellFormed`. */
const isTorn = "".isWellFormed === undefined ? (text) => /\p{Surrogate}/u.test(text) : (text) => !text.isWellFormed();

/** A number as written, so that none is rounded and none is too long. */
class NumberText {
    constructor(text) {
        this.text = text;
    }

    /** Whether it is written with digits alone, as every integer that the format reads. */
    get isInteger() {
        return /^[0-9]+$/.test(this.text);
    }

    /** The value of a whole number up to 2^53 - 1; `undefined` for another. */
    get integer() {
        const number = Number(this.text);
        return this.isInteger && this.text.length <= 16 && Number.isSafeInteger(number) ? number : undefined;
    }
}

/** The members of an object, so that no name has a meaning in JavaScript. `start` and `end` are its place in the text. */
class Members extends Map {}

/** A parser of one text. What breaks a rule is refused with `code`. */
class Reader {
    constructor(text, code) {
        Object.assign(this, { text, code, at: 0, isMinimal: true });
    }

    refuse() {
        throw new PushcryptError(this.code);
    }

    skipSpace() {
        for (;;) {
            const next = this.text.charCodeAt(this.at);
            if (next !== 0x20 && next !== 0x0a && next !== 0x0d && next !== 0x09) return;
            this.at += 1;
            this.isMinimal = false;
        }
    }

    /** Reads a token that matches a pattern; `undefined` if the next one does not. */
    take(pattern) {
        pattern.lastIndex = this.at;
        if (!pattern.test(this.text)) return undefined;
        const token = this.text.slice(this.at, pattern.lastIndex);
        this.at = pattern.lastIndex;
        return token;
    }

    takes(character) {
        this.skipSpace();
        if (this.text[this.at] !== character) return false;
        this.at += 1;
        return true;
    }

    string() {
        if (!this.takes('"')) this.refuse();
        const inside = this.text.slice(this.at, endOfString(this.text, this.at) ?? this.refuse());
        this.at += inside.length + 1;
        if (!/[\\\u0000-\u001f]/.test(inside)) return inside;
        this.isMinimal = false;
        let value;
        try {
            value = JSON.parse(`"${inside}"`);
        } catch {
            this.refuse();
        }
        // Half of a surrogate pair can only be an escape: the text has none.
        return isTorn(value) ? this.refuse() : value;
    }

    object(depth) {
        const members = new Members();
        members.start = this.at - 1;
        if (!this.takes("}")) {
            do {
                const name = this.string();
                if (members.has(name) || !this.takes(":")) this.refuse();
                members.set(name, this.value(depth));
            } while (this.takes(","));
            if (!this.takes("}")) this.refuse();
        }
        members.end = this.at;
        return members;
    }

    array(depth) {
        const elements = [];
        if (this.takes("]")) return elements;
        do elements.push(this.value(depth));
        while (this.takes(","));
        return this.takes("]") ? elements : this.refuse();
    }

    /** Reads a value at this depth of objects and arrays. */
    value(depth) {
        if (this.takes("{")) return depth < limits.deepestJSON ? this.object(depth + 1) : this.refuse();
        if (this.takes("[")) return depth < limits.deepestJSON ? this.array(depth + 1) : this.refuse();
        if (this.text[this.at] === '"') return this.string();
        const number = this.take(NUMBER);
        if (number !== undefined) return new NumberText(number);
        return WORDS[this.take(WORD) ?? this.refuse()];
    }
}

/** Where the string ends whose first character is at `at`; `undefined` if it does not. */
function endOfString(text, at) {
    for (let end = text.indexOf('"', at); end !== -1; end = text.indexOf('"', end + 1)) {
        let before = end;
        while (before > at && text[before - 1] === "\\") before -= 1;
        if ((end - before) % 2 === 0) return end;
    }
    return undefined;
}

/** Decodes UTF-8 [J-1]. */
function decodeUTF8(data, code) {
    try {
        return UTF_8.decode(data);
    } catch {
        throw new PushcryptError(code);
    }
}

/**
 * Parses a JSON object by [J-2] to [J-6] from a text without halves of surrogate pairs. Objects are `Members`, and numbers `NumberText`. Anything else is
 * refused with the code. The result also has the `text`, and whether it `isMinimal`: no white space is between tokens, and no string has an escape.
 */
function parseObject(text, code) {
    const reader = new Reader(text, code), result = reader.value(0);
    reader.skipSpace();
    if (!(result instanceof Members) || reader.at !== text.length) reader.refuse();
    return Object.assign(result, { text, isMinimal: reader.isMinimal });
}

/** A checked text without white space between its tokens, and with the fewest bytes in its strings; numbers stay as written [S-7]. */
function minify(text) {
    let result = "";
    for (let at = 0; at < text.length; ) {
        const quote = text.indexOf('"', at), end = quote === -1 ? text.length : endOfString(text, quote + 1) + 1;
        result += text.slice(at, quote === -1 ? end : quote).replace(/[ \t\n\r]+/g, "");
        if (quote !== -1) result += shortest(text.slice(quote, end));
        at = end;
    }
    return result;
}

/** A string with the escapes that it needs. */
function shortest(string) {
    return /\\[u/]/.test(string) ? JSON.stringify(JSON.parse(string)) : string;
}

/** The members of an object of a checked text that begins at `start`, in order: names, and where their values begin and end. */
function* spansOf(text, start) {
    let depth = 0, name = null, from = 0;
    for (let at = start; at < text.length; at++) {
        switch (text.charCodeAt(at)) {
            case 0x22: {
                const end = endOfString(text, at + 1) ?? text.length;
                if (depth === 1 && name === null) name = JSON.parse(text.slice(at, end + 1));
                at = end;
                break;
            }
            case 0x3a:
                if (depth === 1) from = at + 1;
                break;
            case 0x7b: case 0x5b:
                depth += 1;
                break;
            case 0x7d: case 0x5d: case 0x2c:
                if (depth === 1 && name !== null) {
                    yield { name, from, to: at };
                    name = null;
                }
                if (text[at] !== "," && --depth === 0) return;
        }
    }
}

module.exports = { NumberText, decodeUTF8, isTorn, minify, parseObject, spansOf };
