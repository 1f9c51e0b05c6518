// The layout and opening of envelopes: Docs/Format.md, "Envelope", "Construction", "Inner plaintext" and "Opening".
//
// There is no replay guard: an app that shows notifications needs its own store of shown messages ("Replay"). Nothing
// is wiped, and there is no constant-time guarantee except in hpke.js.
"use strict";

const { setupBaseR } = require("./hpke.js");
const { PushcryptError } = require("./errors.js");
const { sha256 } = require("./keys.js");
const { checkPayload, parseObject } = require("./payload.js");
const { RECOVERS, STATEMENT, TOLERANCE, later, verifies } = require("./trust.js");

const SUITE = 0x01;
const BUCKETS = [256, 512, 1024, 1536, 2048, 2560, 2816, 3584];
const OUTSIDE = 53;
const CONTENT = 68;
const BODY = 99;
const LONGEST_TIME_TO_LIVE = 2_592_000;
const LARGEST_TIME = 2n ** 53n - 1n;
const PAYLOAD = 0x01, STATEMENTS = 0x02;
const MOST_STATEMENTS = 4;
const LONGEST_TEXT = 4850;
const LONGEST_PUSH = 65536;

/**
 * Opens a push as received. `context` is the app's own bundle id, never a value from the push [O-0.2]. Reads nothing of
 * the push but the envelope [O-0.1].
 */
function openPush(push, context, devices, trust, now) {
    if (push.length > LONGEST_PUSH) throw new PushcryptError("malformed-notification");
    const text = parseObject(push, "malformed-notification").get("ENCRYPTED_DATA");
    if (typeof text !== "string") throw new PushcryptError("not-encrypted");
    return openText(text, context, devices, trust, now);
}

/**
 * Opens the text of an envelope: steps 2 to 7. Times are BigInts.
 *
 * Returns an authentic, fresh message and changes nothing. The app's guard decides by `sender` and `messageID` whether
 * it was shown before.
 *
 * Whatever the guard says, the app, under one lock, makes the *currently* stored trust `follow` the accepted
 * `statements`, with the context and the `now` of the opening, and stores it [O-9.1]. It must not store the trust that
 * it opened with, because another message may have changed the stored trust since. A pending `device` key becomes active
 * [O-9.2], and the conflicts in `told` are reported to the app, [R-19].
 *
 * `pushcrypt` in the `payload` contains the keys of files. Remove it before the app, `userInfo` and logs get the
 * payload, [N-2]. The payload is not enumerable, so that nothing prints it by accident.
 */
function openText(text, context, devices, trust, now) {
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
    const [statements, payload] = split(inner[CONTENT], inner.subarray(BODY, end));
    const contentHash = sha256(inner.subarray(CONTENT));
    let read = statements ?? [], accepted, told, candidates, sender, isRecovered;
    do {
        const after = trust.copy();
        ({ accepted, told } = after.follow(read, context, now));
        candidates = after.candidates(inner.subarray(0, 4), now);
        isRecovered = accepted.some((statement) => statement[0] === RECOVERS);
        if (!isRecovered) candidates.push(...trust.candidates(inner.subarray(0, 4), now));
        sender = candidates.find((sender) =>
            verifies(sender, inner.subarray(4, 68), signed(header, enc, device.publicKey, sender, context, contentHash)));
        // Again without recoveries: they would revoke the key of a phone that was enrolled since.
        read = read.filter((statement) => statement[0] !== RECOVERS);
    } while (sender === undefined && isRecovered);
    if (candidates.length === 0 && told.length > 0) throw new PushcryptError(told[0]);
    if (sender === undefined || inner.subarray(end).some((byte) => byte !== 0)) throw new PushcryptError("authentication-failed");

    // Step 6.
    const sentAt = inner.readBigUInt64BE(85), timeToLive = inner.readUInt32BE(93);
    if (inner[CONTENT] !== PAYLOAD && inner[CONTENT] !== STATEMENTS) throw new PushcryptError("unsupported-message");
    if (timeToLive < 1 || timeToLive > LONGEST_TIME_TO_LIVE || sentAt > LARGEST_TIME) throw new PushcryptError("unsupported-message");
    if (now > later(sentAt, timeToLive)) throw new PushcryptError("expired");
    if (sentAt > later(now, TOLERANCE)) throw new PushcryptError("not-yet-valid");

    // Step 7.
    if (statements === undefined) throw new PushcryptError("malformed-payload");
    checkPayload(payload);
    const messageID = Buffer.from(inner.subarray(69, 85));
    const opened = { messageID, sentAt, timeToLive, sender, device, statements: accepted, told };
    return Object.defineProperty(opened, "payload", { value: payload });
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

/**
 * The statements and the payload of a body. The statements are `undefined` if they are unreadable [O-7.1]; the trust
 * ignores those of an unknown version.
 */
function split(contentType, body) {
    if (contentType !== STATEMENTS) return [[], body];
    const count = body.length > 0 ? body[0] : 0, start = 1 + STATEMENT * count;
    if (count < 1 || count > MOST_STATEMENTS || body.length < start) return [undefined, undefined];
    const statements = [];
    for (let at = 1; at < start; at += STATEMENT) statements.push(body.subarray(at, at + STATEMENT));
    return [statements, body.subarray(start)];
}

/** Identifies an envelope in a log. Never decide anything by it. */
function fingerprint(text) {
    return sha256(text).toString("hex", 0, 4);
}

/** Whether a text is a valid context, the app's bundle id without a suffix [K-2]. */
function checkContext(context) {
    if (typeof context !== "string") throw new TypeError("a topic must be a string");
    if (!/^[A-Za-z0-9.-]{1,255}$/.test(context)) throw new PushcryptError("wrong-topic");
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

function signed(header, enc, recipient, sender, context, contentHash) {
    return Buffer.concat([SIGNATURE, header, enc, recipient, sender, lp16(context), contentHash]);
}

module.exports = {
    BODY, BUCKETS, CONTENT, LARGEST_TIME, LONGEST_TIME_TO_LIVE, MOST_STATEMENTS, OUTSIDE, PAYLOAD, STATEMENTS, SUITE, checkContext, decode, envelopeInfo,
    fingerprint, lp16, openPush, openText, signed,
};
