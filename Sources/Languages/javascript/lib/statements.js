// Statements that change a sender's key: Docs/FormatRotation.md.
"use strict";

const { checkContext } = require("./envelope.js");
const { PushcryptError } = require("./errors.js");
const { ED25519, RECOVERY, keyID } = require("./keys.js");
const { RecoveryKey, SenderKey, partsOf, signature } = require("./secrets.js");
const { LARGEST_OVERLAP, recoverySigned, signed } = require("./trust.js");
const { options, seconds, time } = require("./values.js");

const DAY = 86_400;
const ALWAYS = 0xffffffff;

function rotationStatement(given) {
    const { from, to, at = Date.now(), acceptFor = 400 * DAY, overlap = 31 * DAY } = options(given, ["from", "to", "at", "acceptFor", "overlap"], "rotationStatement");
    const old = partsOf(from, SenderKey, "from").publicKey, added = partsOf(to, SenderKey, "to").publicKey;
    if (seconds(overlap, "overlap") > LARGEST_OVERLAP) throw new PushcryptError("overlap-too-long");
    if (old.equals(added)) throw new PushcryptError("superseded-new-key", "a key cannot replace itself");
    const head = claim(0x01, keyID(ED25519, old), added, time(at, "at"), seconds(acceptFor, "acceptFor"), overlap);
    return Buffer.concat([head, signature(from, signed(head, 0x01, old)), signature(to, signed(head, 0x02, old))]);
}

function recoveryStatement(given) {
    const { by, to, topic, serial, at = Date.now() } = options(given, ["by", "to", "topic", "serial", "at"], "recoveryStatement");
    const recovery = partsOf(by, RecoveryKey, "by").publicKey, added = partsOf(to, SenderKey, "to").publicKey;
    checkContext(topic);
    if (!Number.isInteger(serial) || serial < 1 || serial > 0xffffffff) throw new TypeError("serial must be a whole number from 1 to 2^32 - 1");
    if (recovery.equals(added)) throw new PushcryptError("superseded-new-key", "the new key is the recovery key; each needs its own");
    const head = claim(0x02, keyID(RECOVERY, recovery), added, time(at, "at"), ALWAYS, serial);
    return Buffer.concat([
        head, signature(by, recoverySigned(head, 0x03, recovery, topic)), signature(to, recoverySigned(head, 0x02, recovery, topic)),
    ]);
}

/** The 53 bytes that both keys sign. */
function claim(version, signedBy, added, issuedAt, fifth, sixth) {
    const head = Buffer.alloc(53);
    head[0] = version;
    signedBy.copy(head, 1);
    added.copy(head, 5);
    head.writeBigUInt64BE(issuedAt, 37);
    head.writeUInt32BE(fifth, 45);
    head.writeUInt32BE(sixth, 49);
    return head;
}

module.exports = { recoveryStatement, rotationStatement };
