// What a phone knows of the providers that it has pinned: Docs/FormatTrust.md, [T-3] to [T-6]; Docs/FormatRecords.md, "Rules of phones".
"use strict";

const { Certificate } = require("../certificate.js");
const { PushcryptError, attempt } = require("../errors.js");
const { limits } = require("../format.js");
const { PROVIDER_PUBLIC, bare, parseKey } = require("../keys.js");
const { array, boolean, instance, later, options, string, topic: readTopic } = require("../values.js");

/** The highest certificate and the highest floor of a provider key and an app, for all accounts [T-6]. */
class Learned {
    constructor(certificate = null, floor = 0) {
        Object.assign(this, { certificate, floor });
    }

    /** The maximum of each: stores may come in any order. */
    merged({ certificate, floor }) {
        const isHigher = certificate !== null && certificate.isHigher(this.certificate);
        return new Learned(isHigher ? certificate : this.certificate, Math.max(this.floor, floor));
    }

    /** [T-3] */
    after(certificate) {
        return certificate === null ? this : this.merged(new Learned(certificate, certificate.floor));
    }

    isRaisedBy(certificate) {
        const known = this.certificate, isHigher = certificate.isHigher(known) && (known === null || !certificate.claim.equals(known.claim));
        return isHigher || certificate.floor > this.floor;
    }

    /** [T-4], once the message's own certificate was taken into account. */
    opens(epoch, certificate, sentAt, now) {
        if (certificate !== null && (sentAt > certificate.expiresAt || now > later(certificate.expiresAt, limits.expiryTolerance))) return false;
        const highest = this.certificate;
        return epoch >= this.floor && (highest === null || epoch === highest.epoch || now <= highest.graceUntil);
    }
}

/** The pins of one account, and what is learned of provider keys for the app. */
class Trust {
    #pins;
    #learned = new Map();

    constructor(pins, learned = []) {
        this.#pins = array(pins, "pins").map((text) => readPin(text));
        if (new Set(this.pins).size < this.#pins.length || this.#pins.length > limits.mostPins) throw new PushcryptError("too-many-pins");
        array(learned, "learned").forEach((one) => this.learn(one));
    }

    get pins() {
        return this.#pins.map(({ text }) => text);
    }

    get learned() {
        return [...this.#learned].map(([provider, known]) => written(provider, known));
    }

    /** For storage: `Trust.fromJSON` reads it again. */
    toJSON() {
        return { pins: this.pins, learned: this.learned };
    }

    static fromJSON(given) {
        const { pins, learned } = options(given, ["pins", "learned"], "a stored trust");
        return new Trust(pins, learned);
    }

    learn(given) {
        const { provider, certificate, floor } = options(given, ["provider", "certificate", "floor"], "what is learned");
        if (!Number.isInteger(floor) || floor < 0 || floor >= 2 ** 32) throw new TypeError("floor must be a whole number below 2^32");
        const { text } = readPin(provider), own = Certificate.parse(string(certificate, "certificate"));
        this.#learned.set(text, this.known(text).merged(new Learned(own, floor)));
    }

    accept(text, given) {
        const { topic } = options(given, ["topic"], "accept"), certificate = Certificate.parse(string(text, "certificate"));
        readTopic(topic);
        let refused = new PushcryptError("bad-certificate-signature", "no provider is pinned");
        for (const pin of this.#pins) {
            const wrong = attempt(() => certificate.check(pin.bytes, topic), (error) => error);
            if (wrong !== undefined) {
                refused = wrong;
                continue;
            }
            const known = this.known(pin.text);
            this.#learned.set(pin.text, known.after(certificate));
            if (certificate.conflicts(known.certificate)) return "conflict";
            return known.isRaisedBy(certificate) ? "raised" : "unchanged";
        }
        throw refused;
    }

    /** @internal The pins with their bytes. */
    get keys() {
        return this.#pins;
    }

    /** @internal */
    known(pin) {
        return this.#learned.get(pin) ?? new Learned();
    }
}

function readPin(text) {
    const bytes = parseKey(string(text, "a pin"), PROVIDER_PUBLIC);
    return { text: bare(text), bytes };
}

/** What a provider key is known by, as it is stored; `null` if nothing is. */
function written(provider, { certificate, floor }) {
    return certificate === null ? null : { provider, certificate: certificate.text, floor };
}

/** What a phone trusts after a reply [D-12], [D-13], [D-20]. */
function applyReply(reply, given) {
    const { publicKey, trust, topic, isBuiltIn = false } = options(given, ["publicKey", "trust", "topic", "isBuiltIn"], "applyReply");
    if (reply === null || typeof reply !== "object" || !Array.isArray(reply.foreign)) throw new TypeError("the reply must be what parseReply has returned");
    instance(trust, Trust, "trust");
    readTopic(topic);
    const confirms = reply.acknowledged === string(publicKey, "publicKey");
    if (reply.acknowledged !== undefined && !confirms) return { confirms, trust, told: null };
    const pins = confirms && trust.pins.length === 0 && !boolean(isBuiltIn, "isBuiltIn") && reply.provider !== undefined;
    const after = new Trust(pins ? [reply.provider] : trust.pins, trust.learned);
    return { confirms, trust: after, told: reply.refusedCertificate ?? toldOf(after, reply.certificate, topic) };
}

/** A code to tell the app of when it learns a certificate, or `null`. */
function toldOf(trust, certificate, topic) {
    if (certificate === undefined || trust.pins.length === 0) return null;
    return attempt(() => (trust.accept(certificate, { topic }) === "conflict" ? "certificate-conflict" : null), ({ code }) => code);
}

module.exports = { Trust, applyReply, written };
