// Certificates, by which a provider key says which key signs now: Docs/FormatTrust.md, [T-1], [T-2] and [T-7] to [T-9].
"use strict";

const { PushcryptError } = require("./errors.js");
const { lp16 } = require("./envelope.js");
const { labels, limits } = require("./format.js");
const { checkVerifyingKey, fromBase64, verifies } = require("./keys.js");
const { NEVER, array, boolean, later, options, pastTime, seconds, string } = require("./values.js");

const CLAIM = limits.claimLength;

class Certificate {
    /** Reads 121 bytes [T-1], but for what only the provider key decides. */
    constructor(data) {
        if (data.length !== limits.certificateLength || data[0] !== limits.certificateVersion) throw new PushcryptError("malformed-certificate");
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
        return new Certificate(fromBase64(text));
    }

    get text() {
        return this.data.toString("base64url");
    }

    /** Refuses one that is not this provider's for this app [T-1], [T-2]. */
    check(provider, topic) {
        if (this.signingKey.equals(provider)) throw new PushcryptError("weak-key", "the certificate's signing key is the provider key; each needs its own");
        if (!verifies(provider, this.data.subarray(CLAIM), claimed(provider, topic, this.claim))) throw new PushcryptError("bad-certificate-signature");
    }
}

/** The options that say what the next certificate follows. */
const PLAN = ["current", "past", "proven", "stolen", "lifetime"];

/** Checks them. `past` has the certificates of epochs that were replaced, `null` for epoch 0. */
function readPlan({ current, past = [], proven, stolen = false, lifetime }) {
    const certificate = (text, what) => (text === undefined || text === null ? null : Certificate.parse(string(text, what)));
    return {
        current: certificate(current, "current"), proven: certificate(proven, "proven"), isStolen: boolean(stolen, "stolen"),
        lifetime: lifetime === undefined || lifetime === null ? undefined : seconds(lifetime, "lifetime"),
        past: array(past, "past").map((one) => {
            const { certificate: text, replacedAt } = options(one, ["certificate", "replacedAt"], "an element of past");
            return { certificate: certificate(text, "a certificate of past"), replacedAt: pastTime(replacedAt, "replacedAt") };
        }),
    };
}

/** The times of the next certificate [T-7] to [T-9]. */
function nextOf({ current, past, proven, isStolen, lifetime }, now) {
    const last = Math.max(current?.epoch ?? 0, proven?.epoch ?? 0), clock = Number(now / 1000n);
    const epoch = Math.max(last + 1, clock <= limits.latestClock ? clock : 0);
    if (epoch >= 2 ** 32) throw new PushcryptError("epochs-exhausted");
    const expiresAt = lifetime === undefined ? NEVER : later(now, lifetime), grace = limits.certificateGrace;
    const isStale = proven !== null && (current === null || !proven.claim.equals(current.claim));
    if (isStolen || isStale) return { epoch, floor: epoch, graceUntil: 0n, expiresAt };
    const inUse = past.filter(({ replacedAt }) => later(replacedAt, grace) >= now).map(({ certificate }) => certificate?.epoch ?? 0);
    return { epoch, floor: Math.max(Math.min(current?.epoch ?? 0, ...inUse), current?.floor ?? 0), graceUntil: later(now, grace), expiresAt };
}

/** The 57 bytes that a certificate says, for the next one of a plan. */
function claimOf({ epoch, floor, graceUntil, expiresAt }, signingKey) {
    const claim = Buffer.alloc(CLAIM);
    claim[0] = limits.certificateVersion;
    claim.writeUInt32BE(epoch, 1);
    claim.writeUInt32BE(floor, 5);
    claim.writeBigUInt64BE(graceUntil, 9);
    claim.writeBigUInt64BE(expiresAt, 17);
    signingKey.copy(claim, 25);
    return claim;
}

/** What the provider key signs of a claim. */
function claimed(provider, topic, claim) {
    return Buffer.concat([labels.certificate, provider, lp16(topic), claim]);
}

/** The certificate of a claim and its signature, which is checked. */
function certified(claim, signature, provider, topic) {
    const made = new Certificate(Buffer.concat([claim, signature]));
    made.check(provider, topic);
    return made;
}

module.exports = { Certificate, PLAN, certified, claimOf, claimed, nextOf, readPlan };
