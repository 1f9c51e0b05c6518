// What a receiver calls: key texts and plain values around trust.js and envelope.js.
"use strict";

const { openPush, openText } = require("./envelope.js");
const keys = require("./keys.js");
const { parseObject } = require("./payload.js");
const { readReserved } = require("./reserved.js");
const { DeviceKey, partsOf } = require("./secrets.js");
const { Trust, written } = require("./trust.js");
const { array, json, options, string, time } = require("./values.js");

const PUSH_TYPES = ["alert", "background", "voip"];

/** An opened message. Its payload is not enumerable, so that nothing prints it by accident. */
class OpenedPush {
    constructor({ payload, messageID, sentAt, timeToLive, provider, epoch, device, learned, hasCertificateConflict }) {
        const sent = Number(sentAt);
        Object.assign(this, {
            messageID: messageID.toString("hex"), sentAt: sent, timeToLive, expiresAt: sent + 1000 * timeToLive, provider, epoch,
            deviceKey: keys.keyText(device.publicKey, keys.DEVICE_PUBLIC), learned: written(provider, learned), hasCertificateConflict,
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
    const { topic, devices, trust, pushType = "alert", at = Date.now() } = options(given, ["topic", "devices", "trust", "pushType", "at"], "open");
    const own = array(devices, "devices").map((key) => partsOf(key, DeviceKey, "a device key"));
    if (!(trust instanceof Trust)) throw new TypeError("trust must be a Trust");
    if (!PUSH_TYPES.includes(pushType)) throw new TypeError(`pushType must be one of ${PUSH_TYPES.join(", ")}`);
    return new OpenedPush(how(input, string(topic, "topic"), own, trust, pushType, time(at, "at")));
}

module.exports = { OpenedPush, open, openEnvelope };
