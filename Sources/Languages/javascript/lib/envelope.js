// The layout and opening of envelopes: Docs/Format.md, "Envelope", "Construction", "Inner plaintext" and "Opening".
//
// There is no replay guard: an app that shows notifications needs its own store of shown messages ("Replay"). Nothing
// is wiped, and there is no constant-time guarantee except in hpke.js.
"use strict";

const { Certificate, LENGTH, TOLERANCE } = require("./certificate.js");
const { checkContext } = require("./context.js");
const { setupBaseR } = require("./hpke.js");
const { PushcryptError } = require("./errors.js");
const { sha256, verifies } = require("./keys.js");
const { checkPayload, parseObject } = require("./payload.js");
const { later } = require("./values.js");

const SUITE = 0x01;
const BUCKETS = [256, 512, 1024, 1536, 2048, 2560, 2816, 3584];
const OUTSIDE = 53;
const CONTENT = 68;
const BODY = 99;
const LONGEST_TIME_TO_LIVE = 2_592_000;
const LARGEST_TIME = 2n ** 53n - 1n;
const CLASSES = { alert: 1, background: 2, voip: 3 };
const CLASS = 0x0f, RESERVED = 0x70, CERTIFIED = 0x80;
const LONGEST_TEXT = 4850;
const LONGEST_PUSH = 65536;

/**
 * Opens a push as received. `context` is the app's own bundle id, never a value from the push [O-0.2]. Reads nothing of
 * the push but the envelope [O-0.1].
 */
function openPush(push, context, devices, trust, pushType, now) {
    if (push.length > LONGEST_PUSH) throw new PushcryptError("malformed-notification");
    const text = parseObject(push, "malformed-notification").get("ENCRYPTED_DATA");
    if (typeof text !== "string") throw new PushcryptError("not-encrypted");
    return openText(text, context, devices, trust, pushType, now);
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
    checkContext(context);
    const envelope = decode(text);
    const header = envelope.subarray(0, 5), enc = envelope.subarray(5, 37);

    // Step 3. Exactly one key is tried [O-3.2].
    const device = devices.find((key) => key.id.equals(header.subarray(1)) && now <= key.end);
    if (device === undefined) throw new PushcryptError("unknown-recipient-key");

    // Step 4.
    const inner = setupBaseR(enc, device, envelopeInfo(header, context)).open("", envelope.subarray(37));

    // Step 5.
    const end = BODY + inner.readUInt16BE(97);
    if (end > inner.length) throw new PushcryptError("authentication-failed");
    const kind = inner[CONTENT], epoch = inner.readUInt32BE(0), sentAt = inner.readBigUInt64BE(85), timeToLive = inner.readUInt32BE(93);
    const certificate = certificateIn(kind, epoch, inner.subarray(BODY, end)), contentHash = sha256(inner.subarray(CONTENT));
    const pin = trust.keys.find(({ text, bytes }) => {
        const known = trust.known(text), signingKey = certificate?.signingKey ?? bytes;
        // The one that is stored was verified before.
        if (certificate !== null && !certificate.equals(known.certificate) && !isOf(certificate, bytes, context)) return false;
        const data = signed(header, enc, device.publicKey, bytes, signingKey, inner.subarray(0, 4), context, contentHash);
        return verifies(signingKey, inner.subarray(4, 68), data) && known.after(certificate).opens(epoch, certificate, sentAt, now);
    });
    if (pin === undefined || inner.subarray(end).some((byte) => byte !== 0)) throw new PushcryptError("authentication-failed");

    // Step 6.
    if ((kind & CLASS) < 1 || (kind & CLASS) > 3) throw new PushcryptError("unsupported-message");
    if ((kind & CLASS) !== CLASSES[pushType]) throw new PushcryptError("wrong-push-class");
    if (timeToLive < 1 || timeToLive > LONGEST_TIME_TO_LIVE || sentAt > LARGEST_TIME) throw new PushcryptError("unsupported-message");
    if (now > later(sentAt, timeToLive)) throw new PushcryptError("expired");
    if (sentAt > later(now, TOLERANCE)) throw new PushcryptError("not-yet-valid");

    // Step 7.
    const payload = inner.subarray(BODY + (certificate === null ? 0 : LENGTH), end), known = trust.known(pin.text);
    checkPayload(payload);
    const messageID = Buffer.from(inner.subarray(69, 85));
    const opened = {
        messageID, sentAt, timeToLive, epoch, device, provider: pin.text, learned: known.after(certificate),
        hasCertificateConflict: certificate !== null && certificate.conflicts(known.certificate),
    };
    return Object.defineProperty(opened, "payload", { value: payload });
}

/** The certificate with which the body of a message of epoch 1 or more begins, and of no other; or `null` [O-5.2]. */
function certificateIn(kind, epoch, body) {
    const isCertified = (kind & CERTIFIED) !== 0;
    if ((kind & RESERVED) !== 0 || isCertified !== epoch > 0) throw new PushcryptError("authentication-failed");
    if (!isCertified) return null;
    let certificate = null;
    try {
        certificate = new Certificate(body.subarray(0, LENGTH));
    } catch (refused) {
        if (!(refused instanceof PushcryptError)) throw refused;
    }
    if (certificate?.epoch !== epoch) throw new PushcryptError("authentication-failed");
    return certificate;
}

function isOf(certificate, provider, context) {
    try {
        certificate.check(provider, context);
        return true;
    } catch (refused) {
        if (!(refused instanceof PushcryptError)) throw refused;
        return false;
    }
}

/** Decodes an envelope's text [O-2.1] to [O-2.5]. An envelope has exactly one text. */
function decode(text) {
    if (text.length > LONGEST_TEXT || !/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) throw new PushcryptError("malformed-envelope");
    const envelope = Buffer.from(text, "base64url");
    if (envelope.toString("base64url") !== text) throw new PushcryptError("malformed-envelope");
    if (envelope[0] !== SUITE) throw new PushcryptError("unsupported-suite");
    if (!BUCKETS.includes(envelope.length - OUTSIDE)) throw new PushcryptError("malformed-envelope");
    return envelope;
}

/** Identifies an envelope in a log. Never decide anything by it. */
function fingerprint(text) {
    return sha256(text).toString("hex", 0, 4);
}

const ENVELOPE = Buffer.from("pushcrypt/1 envelope\0"), SIGNATURE = Buffer.from("pushcrypt/1 signature\0");
/** The last text, usually a sealer's topic, and its bytes. */
let last = { text: "", bytes: Buffer.alloc(2) };

function lp16(text) {
    if (last.text !== text) last = { text, bytes: Buffer.concat([Buffer.of(text.length >> 8, text.length), Buffer.from(text)]) };
    return last.bytes;
}

function envelopeInfo(header, context) {
    return Buffer.concat([ENVELOPE, header, lp16(context)]);
}

function signed(header, enc, recipient, provider, signingKey, epoch, context, contentHash) {
    return Buffer.concat([SIGNATURE, header, enc, recipient, provider, signingKey, epoch, lp16(context), contentHash]);
}

module.exports = {
    BODY, BUCKETS, CERTIFIED, CLASSES, CONTENT, LARGEST_TIME, LONGEST_TIME_TO_LIVE, OUTSIDE, SUITE, decode, envelopeInfo, fingerprint, lp16, openPush,
    openText, signed,
};
