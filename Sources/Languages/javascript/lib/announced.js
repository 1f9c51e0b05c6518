// The statements that messages announce, as a text: Docs/ProviderPipelines.md, "Without a store".
"use strict";

const { MOST_STATEMENTS } = require("./envelope.js");
const { PushcryptError } = require("./errors.js");
const { ED25519, SENDER_PUBLIC, checkSenderKey, keyID, keyText, parseKey } = require("./keys.js");
const { RECOVERS, STATEMENT, checkForm, later, signed, verifies } = require("./trust.js");
const { bytes, string, time } = require("./values.js");

class AnnouncedStatements {
    #all;
    #sender;

    constructor(all, sender) {
        this.#all = all;
        this.#sender = sender;
    }

    static parse(text, sender) {
        if (typeof text !== "string") throw new TypeError("the statements must be a string");
        const all = [], end = parseKey(string(sender, "the sender's key"), SENDER_PUBLIC);
        let last = null;
        for (const line of text.split("\n").filter((line) => line !== "")) {
            const [name, written, ...more] = line.split(" "), statement = Buffer.from(written ?? "", "base64url");
            if (more.length > 0 || statement.length !== STATEMENT || statement.toString("base64url") !== written) throw malformed();
            checkForm(statement);
            if (statement[0] === RECOVERS) last = recoveredKey(statement, parsed(name), all.length === 0);
            else last = rotatedKey(statement, parsed(name), last);
            all.push(statement);
        }
        if (all.length < 1 || all.length > MOST_STATEMENTS) {
            throw new PushcryptError("malformed-statement", `there are ${all.length} statements, and a message carries 1 to 4`);
        }
        if (!last.equals(end)) throw foreign("the last statement leads to another key than the one that signs");
        return new AnnouncedStatements(all, end);
    }

    get sender() {
        return keyText(this.#sender, SENDER_PUBLIC);
    }

    accepted(at = Date.now()) {
        const now = time(at, "at"), isRecovery = this.#all[0][0] === RECOVERS, rotations = this.#all.slice(isRecovery ? 1 : 0);
        const expired = rotations.findLastIndex((statement) => now > later(statement.readBigUInt64BE(37), statement.readUInt32BE(45)));
        return [...this.#all.slice(0, isRecovery ? 1 : 0), ...rotations.slice(expired + 1)].map((statement) => Buffer.from(statement));
    }

    /** Whether they lead to a key, as bytes. */
    leadTo(key) {
        return this.#sender.equals(key);
    }
}

function statementLine(given, text) {
    const statement = bytes(given, "a statement"), key = parseKey(string(text, "the key"), SENDER_PUBLIC);
    checkForm(statement);
    if (statement[0] !== RECOVERS && !keyID(ED25519, key).equals(statement.subarray(1, 5))) {
        throw foreign("the line of a rotation needs the key that it replaces");
    }
    return `${keyText(key, SENDER_PUBLIC)} ${statement.toString("base64url")}\n`;
}

/** A key, or nothing if the text is of none. */
function parsed(text) {
    try {
        return parseKey(text, SENDER_PUBLIC);
    } catch (refused) {
        if (!(refused instanceof PushcryptError)) throw refused;
        return null;
    }
}

function recoveredKey(statement, key, isFirst) {
    try {
        checkSenderKey(statement.subarray(5, 37));
    } catch (refused) {
        if (!(refused instanceof PushcryptError)) throw refused;
        isFirst = false;
    }
    if (!isFirst) throw new PushcryptError("malformed-statement", "a recovery must be the first line, and lead to a valid key");
    if (key === null) throw foreign("the line of a recovery must begin with a sender key");
    return key;
}

function rotatedKey(statement, old, last) {
    if (old === null || !keyID(ED25519, old).equals(statement.subarray(1, 5)) || (last !== null && !last.equals(old))) {
        throw foreign("a line does not begin with the key that it replaces, or that the line before leads to");
    }
    const key = statement.subarray(5, 37);
    if (!verifies(old, statement.subarray(53, 117), signed(statement, 0x01, old))) throw new PushcryptError("bad-statement-signature");
    checkSenderKey(key);
    if (!verifies(key, statement.subarray(117), signed(statement, 0x02, old))) throw new PushcryptError("bad-statement-signature");
    return key;
}

function malformed() {
    return new PushcryptError("malformed-statement", "a line is not a key and a statement, or is cut");
}

function foreign(text) {
    return new PushcryptError("untrusted-old-key", text);
}

module.exports = { AnnouncedStatements, statementLine };
