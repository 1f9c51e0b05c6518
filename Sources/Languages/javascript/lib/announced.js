// The statements that messages announce, as a text: Docs/ProviderPipelines.md, "Without a store".
"use strict";

const { MOST_STATEMENTS } = require("./envelope.js");
const { PushcryptError } = require("./errors.js");
const { ED25519, SENDER_PUBLIC, checkSenderKey, keyID, keyText, parseKey } = require("./keys.js");
const { RECOVERS, STATEMENT, checkForm, later, signed, verifies } = require("./trust.js");
const { bytes, options, seconds, string, time } = require("./values.js");

/** Seconds for which messages announce a rotation, if nothing else is said: 60 days. */
const ANNOUNCED_FOR = 5_184_000;

class AnnouncedStatements {
    #all;
    #keys;
    #sender;

    /** Statements, the key of each line, and the key that signs. */
    constructor(all, keys, sender) {
        this.#all = all;
        this.#keys = keys;
        this.#sender = sender;
    }

    static parse(text, sender) {
        if (typeof text !== "string") throw new TypeError("the statements must be a string");
        const all = [], keys = [], end = parseKey(string(sender, "the sender's key"), SENDER_PUBLIC);
        let last = null;
        for (const line of text.split("\n").filter((line) => line !== "")) {
            const [name, written, ...more] = line.split(" "), statement = Buffer.from(written ?? "", "base64url");
            if (more.length > 0 || statement.length !== STATEMENT || statement.toString("base64url") !== written) throw malformed();
            checkForm(statement);
            const key = parsed(name);
            if (statement[0] === RECOVERS) last = recoveredKey(statement, key, all.length === 0);
            else last = rotatedKey(statement, key, last);
            all.push(statement);
            keys.push(key);
        }
        if (all.length < 1 || all.length > MOST_STATEMENTS) {
            throw new PushcryptError("malformed-statement", `there are ${all.length} statements, and a message carries 1 to 4`);
        }
        if (!last.equals(end)) throw foreign("the last statement leads to another key than the one that signs");
        return new AnnouncedStatements(all, keys, end);
    }

    get text() {
        return this.#all.map((statement, index) => lineOf(statement, this.#keys[index])).join("");
    }

    adding(given, settings = {}) {
        const { announcedFor = ANNOUNCED_FOR, at = Date.now() } = options(settings, ["announcedFor", "at"], "the options of adding");
        const rotation = Buffer.from(bytes(given, "the rotation")), old = this.#sender;
        checkForm(rotation);
        if (rotation[0] === RECOVERS) throw new PushcryptError("malformed-statement", "a recovery is not added to a text: it begins another");
        if (!keyID(ED25519, old).equals(rotation.subarray(1, 5))) throw foreign("the rotation replaces another key than the one that signs");
        const key = rotatedKey(rotation, old, null), duration = seconds(announcedFor, "announcedFor"), now = time(at, "at");
        if ([old, ...this.#keys].some((replaced) => replaced.equals(key))) throw new PushcryptError("superseded-new-key", "the new key was replaced before, and phones never return to one");
        const start = this.#all[0][0] === RECOVERS ? 1 : 0, all = this.#all.slice(start);
        const ended = all.findLastIndex((statement) => now > later(statement.readBigUInt64BE(37), duration));
        const first = this.#followsRecovery(now) ? start : start + ended + 1;
        const kept = [...this.#all.slice(0, start), ...this.#all.slice(first)];
        if (kept.length >= MOST_STATEMENTS) {
            throw new PushcryptError("too-many-announcements", "4 statements are being announced, the most that a message carries: wait until the first "
                + "rotation's announcement ends, or shorten it and lose the phones that missed it");
        }
        const keys = [...this.#keys.slice(first), old];
        // What a recovery leads to from now on.
        return new AnnouncedStatements([...kept, rotation], [...keys.slice(0, start), ...keys], key);
    }

    get sender() {
        return keyText(this.#sender, SENDER_PUBLIC);
    }

    /** Whether phones that follow a recovery get to the key that signs, and there is room: without a line they would stop at its key. */
    #followsRecovery(now) {
        const [recovery] = this.#all, isWhole = recovery[0] === RECOVERS && this.#keys[0].equals(recovery.subarray(5, 37));
        return isWhole && this.accepted(now).length === this.#all.length && this.#all.length < MOST_STATEMENTS;
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
    return lineOf(statement, key);
}

function lineOf(statement, key) {
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
