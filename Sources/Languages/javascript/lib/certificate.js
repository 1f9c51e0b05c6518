// Certificates, by which a provider key says which key signs now: Docs/FormatTrust.md, [T-1], [T-2] and [T-7] to [T-9].
"use strict";

const { PushcryptError } = require("./errors.js");
const { checkVerifyingKey, verifies } = require("./keys.js");
const { NEVER, later } = require("./values.js");

const LENGTH = 121, CLAIM = 57, VERSION = 0x01;
const TOLERANCE = 86_400, GRACE = 38 * 86_400;
const LABEL = Buffer.from("pushcrypt/1 certificate\0");

class Certificate {
    /** Reads 121 bytes [T-1], but for what only the provider key decides. */
    constructor(data) {
        if (data.length !== LENGTH || data[0] !== VERSION) throw new PushcryptError("malformed-certificate");
        this.data = Buffer.from(data);
        Object.assign(this, {
            epoch: data.readUInt32BE(1), floor: data.readUInt32BE(5), graceUntil: data.readBigUInt64BE(9), expiresAt: data.readBigUInt64BE(17),
            claim: this.data.subarray(0, CLAIM), signingKey: this.data.subarray(25, CLAIM),
        });
        if (this.epoch < 1 || this.floor > this.epoch) throw new PushcryptError("malformed-certificate");
        if ((this.graceUntil === 0n) !== (this.floor === this.epoch)) throw new PushcryptError("malformed-certificate");
        checkVerifyingKey(this.signingKey);
    }

    static parse(text) {
        const data = Buffer.from(text, "base64url");
        if (data.toString("base64url") !== text) throw new PushcryptError("malformed-certificate");
        return new Certificate(data);
    }

    get text() {
        return this.data.toString("base64url");
    }

    /** Refuses one that is not this provider's for this app [T-1], [T-2]. */
    check(provider, context) {
        if (this.signingKey.equals(provider)) throw new PushcryptError("weak-key", "the certificate's signing key is the provider key; each needs its own");
        if (!verifies(provider, this.data.subarray(CLAIM), claimed(provider, context, this.claim))) throw new PushcryptError("bad-certificate-signature");
    }

    /** Whether both are of one epoch and say different things. */
    conflicts(other) {
        return other !== null && this.epoch === other.epoch && !this.claim.equals(other.claim);
    }

    isHigher(other) {
        return other === null || Buffer.compare(this.data, other.data) > 0;
    }

    equals(other) {
        return other !== null && this.data.equals(other.data);
    }
}

/** The times of the next certificate [T-7] to [T-9]; those of epochs before `current` are in `past`. */
function plan({ current, past, proven, isStolen, lifetime, now }) {
    const last = Math.max(current?.epoch ?? 0, proven?.epoch ?? 0), epoch = Math.max(last + 1, Number(now / 1000n));
    if (BigInt(epoch) * 1000n > later(now, TOLERANCE) || epoch >= 2 ** 32) throw new PushcryptError("implausible-epoch");
    const expiresAt = lifetime === undefined ? NEVER : later(now, lifetime);
    const isStale = proven !== null && (current === null || (proven.epoch >= current.epoch && !proven.claim.equals(current.claim)));
    if (isStolen || isStale) return { epoch, floor: epoch, graceUntil: 0n, expiresAt };
    const inUse = past.filter(({ replacedAt }) => later(replacedAt, GRACE) >= now).map(({ epoch }) => epoch);
    return { epoch, floor: Math.max(Math.min(current?.epoch ?? 0, ...inUse), current?.floor ?? 0), graceUntil: later(now, GRACE), expiresAt };
}

/** `sign` signs with the provider key. */
function certify({ epoch, floor, graceUntil, expiresAt }, signingKey, provider, context, sign) {
    const claim = Buffer.alloc(CLAIM);
    claim[0] = VERSION;
    claim.writeUInt32BE(epoch, 1);
    claim.writeUInt32BE(floor, 5);
    claim.writeBigUInt64BE(graceUntil, 9);
    claim.writeBigUInt64BE(expiresAt, 17);
    signingKey.copy(claim, 25);
    const made = new Certificate(Buffer.concat([claim, sign(claimed(provider, context, claim))]));
    made.check(provider, context);
    return made;
}

function claimed(provider, context, claim) {
    return Buffer.concat([LABEL, provider, Buffer.of(context.length >> 8, context.length), Buffer.from(context), claim]);
}

module.exports = { LENGTH, TOLERANCE, Certificate, certify, plan };
