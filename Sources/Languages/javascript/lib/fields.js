// The members of a JSON object that somebody else wrote, such as a record or a request. Other members are ignored, and null counts as absent [D-6].
"use strict";

const { PushcryptError } = require("./errors.js");
const { parseObject } = require("./json.js");
const { json } = require("./values.js");

class Fields {
    #members;
    #code;

    /** Of parsed members; what breaks a rule is refused with the code. */
    constructor(members, code) {
        this.#members = members;
        this.#code = code;
    }

    /** Parses JSON as text, bytes or an object. */
    static parse(given, code) {
        return new Fields(parseObject(json(given, code), code), code);
    }

    /** Refuses unless a rule holds. */
    rule(condition, text) {
        if (!condition) throw new PushcryptError(this.#code, text);
    }

    /** A value as `parseObject` gives it, `undefined` if it is absent. */
    get(name) {
        return this.#members.get(name) ?? undefined;
    }

    text(name) {
        const value = this.get(name);
        this.rule(value === undefined || typeof value === "string", `${name} is not a string`);
        return value;
    }

    /** A text that matches. */
    matching(name, pattern, longest = Infinity) {
        const value = this.text(name);
        this.rule(value === undefined || (value.length <= longest && pattern.test(value)), `${name} breaks its rule`);
        return value;
    }

    /** An integer, 0 to 2^53 - 1. */
    integer(name) {
        const value = this.get(name), number = value?.integer;
        this.rule(value === undefined || number !== undefined, `${name} is not a whole number, 0 or more`);
        return number;
    }

    /** A value that must be there. */
    needs(name, value = this.text(name)) {
        this.rule(value !== undefined, `there is no ${name}`);
        return value;
    }
}

module.exports = { Fields };
