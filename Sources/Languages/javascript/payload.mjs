// The strict JSON of payloads: Docs/Format.md, "Body", rules [J-1] to [J-7].
//
// JSON.parse alone is not enough: it accepts duplicate names, lone surrogates and any depth.
import { Refused } from "./keys.mjs";

const DEPTH = 32;
const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;

/** A number as written, so that none is rounded and none is too long. */
export class NumberText {
    constructor(text) {
        this.text = text;
    }

    /** Whether it is written with digits alone, as every integer that the format reads. */
    get isInteger() {
        return /^[0-9]+$/.test(this.text);
    }
}

/**
 * Parses a JSON object by [J-1] to [J-6]. Objects are maps, so that no name has a meaning in JavaScript, and numbers
 * are `NumberText`. Refuses anything but an object with the code.
 */
export function parseObject(data, code) {
    const refuse = () => {
        throw new Refused(code);
    };
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let text, at = 0;
    try {
        text = decoder.decode(data);
    } catch {
        refuse();
    }

    /** Reads a token that matches a pattern, after white space; `undefined` if the next token does not match. */
    function take(pattern) {
        SPACE.lastIndex = at;
        SPACE.exec(text);
        pattern.lastIndex = at = SPACE.lastIndex;
        const token = pattern.exec(text)?.[0];
        if (token !== undefined) at += token.length;
        return token;
    }

    function takes(character) {
        take(SPACE);
        if (text[at] !== character) return false;
        at += 1;
        return true;
    }

    function string() {
        const token = take(STRING) ?? refuse();
        const value = JSON.parse(token);
        return /\p{Surrogate}/u.test(value) ? refuse() : value;
    }

    function object(depth) {
        const members = new Map();
        if (takes("}")) return members;
        do {
            const name = string();
            if (members.has(name) || !takes(":")) refuse();
            members.set(name, value(depth));
        } while (takes(","));
        return takes("}") ? members : refuse();
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
        const word = take(WORD) ?? refuse();
        return JSON.parse(word);
    }

    const result = value(0);
    take(SPACE);
    return result instanceof Map && at === text.length ? result : refuse();
}

/** Parses a payload by [J-1] to [J-7]. Returns its members. */
export function checkPayload(data) {
    const members = parseObject(data, "malformed-payload");
    if (!(members.get("aps") instanceof Map)) throw new Refused("malformed-payload");
    return members;
}

/** Removes the white space between the tokens of a JSON text; strings and numbers keep their bytes [S-7]. */
export function minify(data) {
    return Buffer.from(data.toString().replace(/("(?:[^"\\]|\\.)*")|[ \t\n\r]+/g, "$1"));
}
