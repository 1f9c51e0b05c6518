// What a receiver calls: key texts and plain values around trust.js and envelope.js.
"use strict";

const { openPush, openText } = require("./envelope.js");
const keys = require("./keys.js");
const { parseObject } = require("./payload.js");
const { readReserved } = require("./reserved.js");
const { DeviceKey, partsOf } = require("./secrets.js");
const trust = require("./trust.js");
const { array, bytes, json, options, string, time } = require("./values.js");

const senderKey = (text) => keys.parseKey(string(text, "a sender key"), keys.SENDER_PUBLIC);
const recoveryKey = (text) => keys.parseKey(string(text, "a recovery key"), keys.RECOVERY_PUBLIC);
const senderText = (key) => keys.keyText(key, keys.SENDER_PUBLIC);

class Trust {
    #inner;

    constructor(senders) {
        this.#inner = senders instanceof trust.Trust ? senders : new trust.Trust(array(senders, "senders").map(readSender));
    }

    get senders() {
        return this.#inner.senders.map(({ name, pinned, superseded, recovery, lastRecovery }) => ({
            name, pinned: pinned === null ? null : senderText(pinned),
            superseded: superseded.map(({ key, statement }) => ({ key: senderText(key), statement })),
            recoveryKeys: recovery.map((key) => keys.keyText(key, keys.RECOVERY_PUBLIC)), lastRecovery,
        }));
    }

    follow(statements, given) {
        const { topic, at = Date.now() } = options(given, ["topic", "at"], "follow");
        const all = array(statements, "statements").map((statement) => bytes(statement, "a statement"));
        const { accepted, told } = this.#inner.follow(all, string(topic, "topic"), time(at, "at"));
        return { accepted, conflicts: told };
    }

    evaluate(statement, given) {
        const { topic, at = Date.now() } = options(given, ["topic", "at"], "evaluate");
        return this.#inner.evaluate(bytes(statement, "the statement"), string(topic, "topic"), time(at, "at"));
    }

    toJSON() {
        return this.senders.map((sender) => ({
            ...sender, lastRecovery: sender.lastRecovery.toString("base64url"),
            superseded: sender.superseded.map(({ key, statement }) => ({ key, statement: statement && statement.toString("base64url") })),
        }));
    }

    static fromJSON(senders) {
        return new Trust(array(senders, "senders").map((sender) => ({
            ...sender, lastRecovery: Buffer.from(string(sender.lastRecovery, "lastRecovery"), "base64url"),
            superseded: array(sender.superseded, "superseded").map(({ key, statement }) => ({
                key, statement: statement === null ? null : Buffer.from(string(statement, "a statement"), "base64url"),
            })),
        })));
    }

    /** @internal */
    static innerOf(trust) {
        if (!(trust instanceof Trust)) throw new TypeError("trust must be a Trust");
        return trust.#inner;
    }

    copy() {
        return new Trust(this.#inner.copy());
    }
}

function readSender(given) {
    const { name, pinned, superseded = [], recoveryKeys = [], lastRecovery = Buffer.alloc(0) } = options(
        given, ["name", "pinned", "superseded", "recoveryKeys", "lastRecovery"], "a sender",
    );
    return new trust.Sender(string(name, "the sender's name"), pinned === null ? null : senderKey(pinned), {
        superseded: array(superseded, "superseded").map(({ key, statement }) =>
            new trust.Superseded(senderKey(key), statement === null ? null : bytes(statement, "a statement"))),
        recovery: array(recoveryKeys, "recoveryKeys").map(recoveryKey), lastRecovery: bytes(lastRecovery, "lastRecovery"),
    });
}

/** An opened message. Its payload is not enumerable, so that nothing prints it by accident. */
class OpenedPush {
    constructor({ payload, messageID, sentAt, timeToLive, sender, device, statements, told }) {
        const sent = Number(sentAt);
        Object.assign(this, {
            messageID: messageID.toString("hex"), sentAt: sent, timeToLive, expiresAt: sent + 1000 * timeToLive, sender: senderText(sender),
            deviceKey: keys.keyText(device.publicKey, keys.DEVICE_PUBLIC), statements, conflicts: told,
        });
        Object.defineProperty(this, "payload", { value: payload });
        Object.freeze(this);
    }

    content() {
        const members = JSON.parse(this.payload.toString());
        delete members.pushcrypt;
        delete members.ENCRYPTED_DATA;
        return members;
    }

    extras() {
        return readReserved(parseObject(this.payload, "malformed-payload"), this.messageID);
    }
}

function open(push, given) {
    return opened(openPush, json(push, "malformed-notification"), given);
}

function openEnvelope(text, given) {
    if (typeof text !== "string") throw new TypeError("the envelope must be a string");
    return opened(openText, text, given);
}

function opened(how, input, given) {
    const { topic, devices, trust: trusted, at = Date.now() } = options(given, ["topic", "devices", "trust", "at"], "open");
    const own = array(devices, "devices").map((key) => partsOf(key, DeviceKey, "a device key"));
    return new OpenedPush(how(input, string(topic, "topic"), own, Trust.innerOf(trusted), time(at, "at")));
}

module.exports = { OpenedPush, Trust, open, openEnvelope };
