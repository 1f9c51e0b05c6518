// Sealing a payload for one device: Docs/Format.md, "Clear part", "Size", "Sealing" and "Randomness".
"use strict";

const { randomBytes } = require("node:crypto");
const { answerParts, hmac } = require("./answers.js");
const { checkApple, flag } = require("./apple.js");
const { envelopeInfo, lp16, signed, u64 } = require("./envelope.js");
const { PushcryptError } = require("./errors.js");
const { buckets, labels, limits, pushTypes, systemPushTypes, texts } = require("./format.js");
const { setupBaseS } = require("./hpke.js");
const { minify, parseObject, spansOf } = require("./json.js");
const { X25519, keyID, sha256 } = require("./keys.js");
const { signature } = require("./secrets.js");

/** Ten minutes, in milliseconds: when a message ends does not tell the relay when it was sent. */
const END_UNIT = BigInt(limits.expirationUnit);

/** The id of a message that its caller named. */
function namedMessageID(name) {
    return sha256(Buffer.concat([labels.callerID, Buffer.from(name)])).subarray(0, limits.messageIDLength);
}

/** The time to live that is sealed: it ends at ten minutes, unless the push is a call; 0, for one attempt, leaves phones' clocks ten minutes. */
function sealedTimeToLive(timeToLive, sentAt, pushType) {
    if (timeToLive === 0) return limits.expirationUnit / 1000;
    if (pushType === "voip") return timeToLive;
    const end = sentAt + 1000n * BigInt(timeToLive), floor = (end / END_UNIT) * END_UNIT;
    const life = (until) => Number((until - sentAt + 999n) / 1000n);
    const rounded = life(floor === end ? end : floor + END_UNIT);
    return rounded <= limits.longestTimeToLive ? rounded : life(floor);
}

/**
 * Seals a message for one device. `message` has the checked options:
 *
 * `payload` (a text), `topic`, `device` (a checked key), `signer` (of `signerOf`), `sentAt` (BigInt), `timeToLive`, `pushType`, `title`,
 * `sound` (`undefined` for the one that fits, `null` for none), `clearFields`, `clearParts` (a map for those that are alike), `reserved` (the text
 * of the member `pushcrypt`, or ""), `exact`, `messageId`, `answers` (a secret, or `undefined`). For vectors alone: `rMessageID` and `rEphemeral`, which must never be used twice [S-12], and
 * `sealedLife`.
 */
function seal(message) {
    const { topic, device, signer, sentAt, pushType } = message;
    if (!Object.hasOwn(pushTypes, pushType)) {
        throw new PushcryptError("push-type-not-sealable", systemPushTypes.includes(pushType)
            ? `the system reads a ${pushType} push before any of the app's code runs, so nothing could open it; send it without secrets`
            : "there is no push type of this name; alert, background and voip can be sealed");
    }
    checkTimes(message);
    const members = checkSealable(message.payload, pushType), { text, isMinimal } = members;
    const minimal = isMinimal ? text : minify(text), plain = makeBody(message, minimal), random = randomBytes(64), sent = u64(sentAt);
    const messageID = message.messageId === undefined
        ? hedged(signer, labels.messageID, message.rMessageID ?? random.subarray(0, 32), sent, sha256(plain.body)).subarray(0, limits.messageIDLength)
        : namedMessageID(message.messageId);
    const { body, bucket, longest } = message.answers === undefined ? plain : makeBody({ ...message, reserved: answerable(message, messageID) }, minimal);
    const { clear, bytes, widest } = clearPart(message, members.get("aps"), text);
    const { push: limit } = pushTypes[pushType], length = (message.exact ? bytes : widest) + textLength(longest);
    if (length > limit) {
        throw new PushcryptError(
            "push-too-large", `the push would have ${length} bytes, ${length - limit} more than Apple accepts; shorten the title or keep fewer fields in the clear`,
        );
    }

    const timeToLive = message.sealedLife ?? sealedTimeToLive(message.timeToLive, sentAt, pushType);
    const inner = Buffer.allocUnsafe(bucket).fill(0);
    signer.epoch.copy(inner, 0);
    inner[limits.innerContent] = pushTypes[pushType].class | (signer.certificate === null ? 0 : limits.kindCertified);
    messageID.copy(inner, 69);
    sent.copy(inner, 85);
    inner.writeUInt32BE(timeToLive, 93);
    inner.writeUInt16BE(body.length, 97);
    body.copy(inner, limits.innerBody);

    const deviceID = keyID(X25519, device), header = Buffer.concat([Buffer.of(limits.suite), deviceID]), contentHash = sha256(inner.subarray(limits.innerContent));
    const ikmE = hedged(
        signer, labels.ephemeral, message.rEphemeral ?? random.subarray(32), header, device, signer.epoch, lp16(topic), contentHash,
    );
    const [enc, encryption] = setupBaseS(device, envelopeInfo(header, topic), ikmE);
    signature(signer.key, signed(header, enc, device, signer.provider, signer.signingKey, signer.epoch, topic, contentHash)).copy(inner, 4);
    const envelope = Buffer.concat([header, enc, encryption.seal(inner)]);
    const push = clear.slice(0, -2) + envelope.toString("base64url") + '"}';
    const expiresAt = Number(sentAt) + 1000 * timeToLive, expiration = message.timeToLive === 0 ? 0 : Math.floor(expiresAt / 1000);
    return { push, messageID, timeToLive, expiresAt, expiration, widest: widest + textLength(bucket) };
}

/** Refuses times that no message has, and a certificate that phones no longer believe [S-10]. */
function checkTimes({ timeToLive, sentAt, signer }) {
    const isTime = timeToLive >= 0 && timeToLive <= limits.longestTimeToLive && sentAt >= 0n && sentAt <= BigInt(limits.largestTime);
    if (!isTime) throw new PushcryptError("invalid-time", "a time is 0 to 2^53 - 1 milliseconds, a time to live 0 to 2592000 seconds (30 days)");
    if (signer.certificate !== null && sentAt > signer.certificate.expiresAt) {
        throw new PushcryptError("invalid-time", "the certificate of the signing key has expired, so no phone would open this; issue another");
    }
}

/** Parses a payload, and refuses one that would not open or show [J-1] to [J-7], [S-8]. */
function checkSealable(payload, pushType) {
    const members = parseObject(payload, "malformed-payload");
    if (members.has("ENCRYPTED_DATA")) {
        throw new PushcryptError("reserved-key", "the payload already has ENCRYPTED_DATA: seal the original payload, not a sealed one");
    }
    if (members.has("pushcrypt")) {
        throw new PushcryptError(
            "reserved-key", "the key pushcrypt at the top level is reserved for the format; rename yours, and pass attachments as an option",
        );
    }
    if (!(members.get("aps") instanceof Map)) throw new PushcryptError("missing-aps");
    checkApple(members.get("aps"), pushType);
    return members;
}

/** The number of characters of an envelope. */
function textLength(bucket) {
    return Math.ceil((4 * (limits.envelopeOverhead + bucket)) / 3);
}

/** The smallest bucket for a body [S-6]. */
function smallestBucket(length) {
    return buckets.find((bucket) => limits.innerBody + length <= bucket);
}

/** The certificate, then the payload with the member `pushcrypt`; and the longest bucket, which has room for a certificate [S-5]. */
function makeBody({ signer, reserved, pushType }, payload) {
    const whole = Buffer.from(reserved === "" ? payload : `${payload.slice(0, -1)},"pushcrypt":${reserved}}`);
    const body = signer.certificate === null ? whole : Buffer.concat([signer.certificate.data, whole]);
    const budget = pushTypes[pushType].bucket - limits.innerBody - limits.certificateLength;
    if (whole.length > budget) {
        throw new PushcryptError(
            "payload-too-large", `the payload has ${whole.length} bytes without white space, ${whole.length - budget} more than fit (${budget}); shorten it by that much`,
        );
    }
    return { body, bucket: smallestBucket(body.length), longest: smallestBucket(limits.certificateLength + whole.length) };
}

/** The member `pushcrypt` with what the phone answers with. The message's id is chosen before it. */
function answerable({ answers, device, topic, sentAt, reserved }, messageID) {
    const answer = `"answer":"${answerParts(answers, device, topic, messageID, sentAt).toString("base64url")}"`;
    return reserved === "" ? `{${answer}}` : `${reserved.slice(0, -1)},${answer}}`;
}

/** An HMAC under the signer's hedge key, so that a cloned machine or a dead random source repeats nothing. */
const hedged = ({ hedge }, label, ...parts) => hmac(hedge, label, ...parts);

/** The push without its envelope, all that the relay sees, and its lengths. Without fields of the payload it is one of a few. */
function clearPart({ pushType, title, sound, clearFields, clearParts }, aps, text) {
    const wakes = pushType === "background" || flag(aps.get("content-available")) === true, hasSound = (aps.get("sound") ?? null) !== null;
    const shape = `${pushType} ${hasSound} ${wakes}`;
    if (clearFields.length === 0 && clearParts.has(shape)) return clearParts.get(shape);
    const members = [];
    if (pushType === "alert") {
        members.push('"mutable-content":1', `"alert":${JSON.stringify({ title, body: texts.clearBody })}`);
        const shown = sound === undefined && hasSound ? "default" : sound ?? null;
        if (shown !== null) members.push(`"sound":${JSON.stringify(shown)}`);
        if (clearFields.length > 0) {
            const isClear = (name) => clearFields.includes(name) && aps.get(name) !== null;
            for (const { name, from, to } of spansOf(text, aps.start)) if (isClear(name)) members.push(`"${name}":${minify(text.slice(from, to))}`);
        }
    }
    if (wakes) members.push('"content-available":1');
    const clear = `{"aps":{${members.join(",")}},"ENCRYPTED_DATA":""}`, made = { clear, bytes: Buffer.byteLength(clear), widest: widest(clear) };
    if (clearFields.length === 0) clearParts.set(shape, made);
    return made;
}

/** The length of a clear part in the longest form that a client may write [S-4]. */
function widest(json) {
    let count = 0;
    for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[^"]/gsu)) {
        if (token[0] !== '"') {
            count += token === "," || token === ":" ? 2 : 1;
            continue;
        }
        for (const [character] of token.matchAll(/\\u....|\\.|./gsu)) {
            if (character[0] === "\\" || "<>&'+=`\x7f".includes(character)) count += 6;
            else if (character === "/") count += 2;
            else count += character < "\x80" ? 1 : character.length === 1 ? 6 : 12;
        }
    }
    return count;
}

module.exports = { hedged, namedMessageID, seal };
