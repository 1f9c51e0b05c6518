// Opening envelopes: Docs/Format.md, "Opening", steps 1 to 7.
//
// There is no replay guard: an app that shows notifications needs its own store of shown messages ("Replay"). Nothing
// is wiped, and there is no constant-time guarantee except in hpke.js.
"use strict";

const { Certificate } = require("../certificate.js");
const { decode, envelopeInfo, signed } = require("../envelope.js");
const { PushcryptError, attempt } = require("../errors.js");
const { limits, pushTypes } = require("../format.js");
const { setupBaseR } = require("../hpke.js");
const { decodeUTF8, parseObject } = require("../json.js");
const { DEVICE_PUBLIC, DEVICE_SECRET, X25519, keyText, sha256, verifies } = require("../keys.js");
const { SecretKey, partsOf } = require("../secrets.js");
const { NEVER, array, instance, json, later, options, string, time, topic: readTopic } = require("../values.js");
const { readExtras } = require("./extras.js");
const { Trust, written } = require("./trust.js");

class DeviceKey extends SecretKey {
    static TYPE = X25519;
    static KIND = DEVICE_SECRET;

    constructor(scalar, given = {}) {
        super(scalar);
        const { retiresAt } = options(given, ["retiresAt"], "DeviceKey");
        partsOf(this, DeviceKey).end = retiresAt === undefined ? NEVER : time(retiresAt, "retiresAt");
    }

    get publicKey() {
        return keyText(partsOf(this, DeviceKey).publicKey, DEVICE_PUBLIC);
    }
}

/**
 * Opens the text of an envelope: steps 2 to 7. Times are BigInts.
 *
 * Returns an authentic, fresh message and changes nothing. The app's guard decides by `provider` and `messageID` whether
 * it was shown before.
 *
 * Whatever the guard says, the app stores what is stored merged with `learned`, under one lock [O-9.1]. A pending `device`
 * key becomes active [O-9.2], and a conflict is reported to the app [T-3].
 *
 * `pushcrypt` in the `payload` contains the keys of files. Remove it before the app, `userInfo` and logs get the
 * payload, [N-2]. The payload is not enumerable, so that nothing prints it by accident.
 */
function openText(text, context, devices, trust, pushType, now) {
    const envelope = decode(text);
    const header = envelope.subarray(0, 5), enc = envelope.subarray(5, 37);

    // Step 3. Exactly one key is tried [O-3.2].
    const device = devices.find((key) => key.id.equals(header.subarray(1)) && now <= key.end);
    if (device === undefined) throw new PushcryptError("unknown-recipient-key");

    // Step 4.
    const inner = setupBaseR(enc, device, envelopeInfo(header, context)).open(envelope.subarray(37));

    // Step 5.
    const end = limits.innerBody + inner.readUInt16BE(97);
    if (end > inner.length) throw new PushcryptError("authentication-failed");
    const kind = inner[limits.innerContent], epoch = inner.readUInt32BE(0), sentAt = inner.readBigUInt64BE(85), timeToLive = inner.readUInt32BE(93);
    const certificate = certificateIn(kind, epoch, inner.subarray(limits.innerBody, end)), contentHash = sha256(inner.subarray(limits.innerContent));
    const pin = trust.keys.find(({ text, bytes }) => {
        const known = trust.known(text), signingKey = certificate?.signingKey ?? bytes;
        // The one that is stored was verified before.
        if (certificate !== null && !certificate.equals(known.certificate) && !isOf(certificate, bytes, context)) return false;
        const data = signed(header, enc, device.publicKey, bytes, signingKey, inner.subarray(0, 4), context, contentHash);
        return verifies(signingKey, inner.subarray(4, 68), data) && known.after(certificate).opens(epoch, certificate, sentAt, now);
    });
    if (pin === undefined || inner.subarray(end).some((byte) => byte !== 0)) throw new PushcryptError("authentication-failed");

    // Step 6.
    if ((kind & limits.kindClass) < 1 || (kind & limits.kindClass) > 3) throw new PushcryptError("unsupported-message");
    if ((kind & limits.kindClass) !== pushTypes[pushType].class) throw new PushcryptError("wrong-push-class");
    if (timeToLive < 1 || timeToLive > limits.longestTimeToLive || sentAt > BigInt(limits.largestTime)) throw new PushcryptError("unsupported-message");
    if (now > later(sentAt, timeToLive)) throw new PushcryptError("expired");
    if (sentAt > later(now, limits.clockTolerance)) throw new PushcryptError("not-yet-valid");

    // Step 7.
    const payload = inner.subarray(limits.innerBody + (certificate === null ? 0 : limits.certificateLength), end), known = trust.known(pin.text);
    if (!(parseObject(decodeUTF8(payload, "malformed-payload"), "malformed-payload").get("aps") instanceof Map)) throw new PushcryptError("malformed-payload");
    const messageID = Buffer.from(inner.subarray(69, 85));
    return {
        payload, messageID, sentAt, timeToLive, epoch, device, provider: pin.text, learned: known.after(certificate),
        hasCertificateConflict: certificate !== null && certificate.conflicts(known.certificate),
    };
}

/** The certificate with which the body of a message of epoch 1 or more begins, and of no other; or `null` [O-5.2]. */
function certificateIn(kind, epoch, body) {
    const isCertified = (kind & limits.kindCertified) !== 0;
    if ((kind & limits.kindReserved) !== 0 || isCertified !== epoch > 0) throw new PushcryptError("authentication-failed");
    if (!isCertified) return null;
    const certificate = attempt(() => new Certificate(body.subarray(0, limits.certificateLength)), () => null);
    if (certificate?.epoch !== epoch) throw new PushcryptError("authentication-failed");
    return certificate;
}

function isOf(certificate, provider, context) {
    return attempt(() => {
        certificate.check(provider, context);
        return true;
    }, () => false);
}

/** An opened message. Its payload is not enumerable, so that nothing prints it by accident. */
class OpenedPush {
    constructor({ payload, messageID, sentAt, timeToLive, provider, epoch, device, learned, hasCertificateConflict }) {
        const sent = Number(sentAt);
        Object.assign(this, {
            messageId: messageID.toString("hex"), sentAt: sent, timeToLive, expiresAt: sent + 1000 * timeToLive, provider, epoch,
            deviceKey: keyText(device.publicKey, DEVICE_PUBLIC), learned: written(provider, learned), hasCertificateConflict,
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
        return readExtras(parseObject(this.payload.toString(), "malformed-payload"), this.messageId);
    }
}

/** Opens a push as received. Reads nothing of it but the envelope [O-0.1]. */
function open(push, given) {
    const data = json(push, "malformed-notification");
    if (Buffer.byteLength(data) > limits.longestPush) throw new PushcryptError("malformed-notification");
    const text = parseObject(data, "malformed-notification").get("ENCRYPTED_DATA");
    if (typeof text !== "string") throw new PushcryptError("not-encrypted");
    return openEnvelope(text, given);
}

function openEnvelope(text, given) {
    if (typeof text !== "string") throw new TypeError("the envelope must be a string");
    const { topic, devices, trust, pushType = "alert", at = Date.now() } = options(given, ["topic", "devices", "trust", "pushType", "at"], "open");
    const own = array(devices, "devices").map((key) => partsOf(key, DeviceKey, "a device key"));
    if (typeof pushType !== "string" || !Object.hasOwn(pushTypes, pushType)) throw new TypeError(`pushType must be one of ${Object.keys(pushTypes).join(", ")}`);
    const opened = openText(text, readTopic(topic), own, instance(trust, Trust, "trust"), pushType, time(at, "at"));
    return new OpenedPush(opened);
}

module.exports = { DeviceKey, OpenedPush, open, openEnvelope };
