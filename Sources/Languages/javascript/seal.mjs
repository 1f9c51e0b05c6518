// Sealing a payload for one device: Docs/Format.md, "Clear part", "Size" and "Sealing".
//
// It uses plain randomness, which the format allows: a clone of a running machine may repeat an ephemeral key; the
// Swift sealer hedges against this. No field of `aps` is kept in the clear, and a sound is named there only if the
// payload has one. Violations of Apple's rules for payloads are not refused.
import { randomBytes, sign } from "node:crypto";
import {
    BODY, BUCKETS, CONTENT, LARGEST_TIME, LONGEST_TIME_TO_LIVE, MOST_STATEMENTS, OUTSIDE, PAYLOAD, STATEMENTS, SUITE, checkContext,
    envelopeInfo, signed,
} from "./envelope.mjs";
import { setupBaseS } from "./hpke.mjs";
import { ED25519, Refused, X25519, checkDeviceKey, keyID, rawPublic, secretKey } from "./keys.mjs";
import { NumberText, checkPayload, minify } from "./payload.mjs";
import { STATEMENT } from "./trust.mjs";

/** For each push type, the most bytes that APNs accepts, and the largest bucket. */
const LIMITS = { alert: [4096, 2816], background: [4096, 2816], voip: [5120, 3584] };

/** A sender's secret key, which is an Ed25519 seed. */
export class SenderKey {
    constructor(seed) {
        this.secret = secretKey(ED25519, seed);
        this.public = rawPublic(this.secret);
    }
}

/**
 * Seals a payload for one device. Returns the push to send instead of the payload. `messageID` is for a retry: the same
 * 16 bytes each time.
 *
 * `ephemeral` is for vectors alone: the input of `DeriveKeyPair` instead of a random key, which must never be used
 * twice [S-9].
 */
export function seal(payload, context, device, sender, sentAt, options = {}) {
    const { timeToLive = LONGEST_TIME_TO_LIVE, pushType = "alert", title = "New message", sound = "default" } = options;
    const { messageID = randomBytes(16), statements = [], ephemeral } = options;
    checkContext(context);
    checkDeviceKey(device);
    const members = checkPayload(payload);
    if (members.has("ENCRYPTED_DATA") || members.has("pushcrypt")) throw new Refused("reserved-key");
    if (!Object.hasOwn(LIMITS, pushType)) throw new Refused("push-type-not-sealable");
    if (!Number.isInteger(timeToLive) || timeToLive < 1 || timeToLive > LONGEST_TIME_TO_LIVE) throw new Refused("invalid-time");
    if (typeof sentAt !== "bigint" || sentAt < 0n || sentAt > LARGEST_TIME) throw new Refused("invalid-time");
    if (statements.length > MOST_STATEMENTS || statements.some((statement) => statement.length !== STATEMENT)) {
        throw new Refused("invalid-request");
    }
    if (messageID.length !== 16 || !isUnicode(title) || !(sound === null || isUnicode(sound))) throw new Refused("invalid-request");
    const [limit, largest] = LIMITS[pushType];
    const count = statements.length > 0 ? [Buffer.of(statements.length)] : [];
    const body = Buffer.concat([...count, ...statements, minify(payload)]);
    const bucket = BUCKETS.find((bucket) => BODY + body.length <= bucket && bucket <= largest);
    if (bucket === undefined) throw new Refused("payload-too-large");
    const [before, after] = clearPart(pushType, members.get("aps"), title, sound);
    if (widest(before + after) + Math.ceil((4 * (OUTSIDE + bucket)) / 3) > limit) throw new Refused("push-too-large");

    const header = Buffer.concat([Buffer.of(SUITE), keyID(X25519, device)]);
    const [enc, encryption] = setupBaseS(device, envelopeInfo(header, context), ephemeral);
    const inner = Buffer.alloc(bucket);
    keyID(ED25519, sender.public).copy(inner, 0);
    inner[CONTENT] = statements.length > 0 ? STATEMENTS : PAYLOAD;
    messageID.copy(inner, 69);
    inner.writeBigUInt64BE(sentAt, 85);
    inner.writeUInt32BE(timeToLive, 93);
    inner.writeUInt16BE(body.length, 97);
    body.copy(inner, BODY);
    sign(null, signed(header, enc, device, sender.public, context, inner), sender.secret).copy(inner, 4);
    const envelope = Buffer.concat([header, enc, encryption.seal("", inner)]);
    return Buffer.from(before + envelope.toString("base64url") + after);
}

/** Whether a text can be encoded as UTF-8: it has no lone surrogate. */
function isUnicode(text) {
    return !/\p{Surrogate}/u.test(text);
}

/** The text before and after the envelope: all that the relay sees of a push. */
function clearPart(pushType, aps, title, sound) {
    const clear = {};
    if (pushType === "alert") {
        Object.assign(clear, { "mutable-content": 1, alert: { title, body: "(Encrypted)" } });
        if ((aps.get("sound") ?? null) !== null && sound !== null) clear.sound = sound;
    }
    const wakes = aps.get("content-available");
    if (pushType === "background" || (wakes instanceof NumberText && wakes.text === "1")) clear["content-available"] = 1;
    return [`{"aps":${JSON.stringify(clear)},"ENCRYPTED_DATA":"`, '"}'];
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
