// Issuing certificates: at once where the provider key is, or as a request that is carried to it, in the texts of `pushcrypt key rotate --request`,
// `key certify` and `key rotate --install`. Docs/FormatTrust.md, "Rotation".
"use strict";

const { Certificate, PLAN, certified, claimOf, claimed, nextOf, readPlan } = require("./certificate.js");
const { PushcryptError, attempt } = require("./errors.js");
const { Fields } = require("./fields.js");
const { limits } = require("./format.js");
const { NumberText } = require("./json.js");
const keys = require("./keys.js");
const { Credential, ProviderKey, SigningKey, partsOf, signature } = require("./secrets.js");
const { NEVER, array, bytes, isTopic, moment, options, string, timeOrNow, topic: readTopic } = require("./values.js");

const MALFORMED = "malformed-request", VERSION = "1";

function issueCertificate(given) {
    const { provider, signingKey, topic, at, ...plan } = options(given, ["provider", "signingKey", "topic", "at", ...PLAN], "issueCertificate");
    const { publicKey } = partsOf(provider, ProviderKey, "provider");
    const claim = claimOf(nextOf(readPlan(plan), timeOrNow(at)), rawKey(signingKey));
    return certified(claim, signature(provider, claimed(publicKey, readTopic(topic), claim)), publicKey, topic).text;
}

function readCertificate(text) {
    const { epoch, floor, expiresAt } = Certificate.parse(string(text, "certificate"));
    return { epoch, floor, expiresAt: expiresAt === NEVER ? null : moment(expiresAt) };
}

function rawKey(given) {
    const key = bytes(given, "signingKey");
    if (key.length !== keys.LENGTH) throw new RangeError("signingKey has 32 bytes");
    keys.checkVerifyingKey(key);
    return key;
}

class CertificateRequest {
    #provider;
    #signingKey;
    #plan;

    constructor(given) {
        const { topic, provider, signingKey, ...plan } = options(given, ["topic", "provider", "signingKey", ...PLAN], "CertificateRequest");
        this.topic = readTopic(topic);
        this.#provider = keys.parseKey(string(provider, "provider"), keys.PROVIDER_PUBLIC);
        this.provider = keys.bare(provider);
        this.#signingKey = Buffer.from(rawKey(signingKey));
        this.#plan = readPlan({ ...plan, past: array(plan.past ?? [], "past").slice(-limits.mostPastCertificates) });
        Object.freeze(this);
    }

    static parse(given) {
        const members = read(given, "a request for a certificate");
        members.rule(members.get("certificate") === undefined, "this is a certificate already: install it");
        const past = members.get("past") ?? [], stolen = members.get("stolen") ?? false;
        members.rule(Array.isArray(past) && past.length <= limits.mostPastCertificates && past.every((one) => one instanceof Map), "past breaks its rule");
        members.rule(typeof stolen === "boolean", "stolen is not true or false");
        return new CertificateRequest({
            topic: members.text("topic"), provider: members.text("provider"), signingKey: keys.parseRawKey(members.needs("signing_key"), MALFORMED),
            current: members.text("current"), proven: members.text("proven"), stolen, lifetime: members.integer("expires"),
            past: past.map((one) => new Fields(one, MALFORMED)).map((one) => ({
                certificate: one.text("certificate") ?? null, replacedAt: moment(one.needs("replaced", one.integer("replaced"))),
            })),
        });
    }

    get signingKey() {
        return Buffer.from(this.#signingKey);
    }

    /** The file that is carried to the provider key. */
    json() {
        const { current, past, proven, isStolen, lifetime } = this.#plan;
        return JSON.stringify({
            version: 1, topic: this.topic, provider: this.provider, signing_key: this.#signingKey.toString("base64url"), expires: lifetime,
            stolen: isStolen || undefined, current: current?.text,
            past: past.length === 0 ? undefined : past.map(({ certificate, replacedAt }) => ({ certificate: certificate?.text, replaced: Number(replacedAt) })),
            proven: proven?.text,
        });
    }

    certify(key, given = {}) {
        const { publicKey } = partsOf(key, ProviderKey, "key");
        if (!publicKey.equals(this.#provider)) throw new PushcryptError("wrong-certificate", "the request is for another provider key");
        const { at } = options(given, ["at"], "the options"), { current, past, proven } = this.#plan;
        for (const { certificate } of [{ certificate: current }, { certificate: proven }, ...past]) certificate?.check(publicKey, this.topic);
        const claim = claimOf(nextOf(this.#plan, timeOrNow(at)), this.#signingKey);
        const { text } = certified(claim, signature(key, claimed(publicKey, this.topic, claim)), publicKey, this.topic);
        return JSON.stringify({ version: 1, topic: this.topic, provider: this.provider, certificate: text });
    }

    install(key, answer) {
        const { publicKey } = partsOf(key, SigningKey, "key"), members = read(answer, "a signed certificate");
        members.rule(members.get("signing_key") === undefined, "this is a request that the provider key has not certified yet: certify it first");
        const isOwn = members.text("topic") === this.topic && members.text("provider") === this.provider;
        const certificate = Certificate.parse(members.needs("certificate")), { current, proven } = this.#plan;
        if (!isOwn || !publicKey.equals(this.#signingKey) || !certificate.signingKey.equals(publicKey)) throw new PushcryptError("wrong-certificate");
        certificate.check(this.#provider, this.topic);
        const isLater = (last) => last === null || last.claim.equals(certificate.claim) || certificate.epoch > last.epoch;
        if (![current, proven].every(isLater)) throw new PushcryptError("wrong-certificate", "the certificate's epoch is not above the last: make another request, and certify that");
        if (certificate.expiresAt <= timeOrNow()) throw new PushcryptError("wrong-certificate", "the certificate is past its end: certify the request again");
        return new Credential({ key, certificate: certificate.text, provider: this.provider });
    }
}

/** The members of one of the two files. */
function read(given, what) {
    const members = attempt(() => Fields.parse(given, MALFORMED), () => undefined), version = members?.get("version"), topic = members?.get("topic");
    const isGood = version instanceof NumberText && version.text === VERSION && typeof topic === "string" && isTopic(topic);
    if (!isGood) throw new PushcryptError(MALFORMED, `this is not the file of ${what}: copy the whole file`);
    const provider = members.needs("provider");
    members.rule(attempt(() => keys.parseKey(provider, keys.PROVIDER_PUBLIC), () => undefined) !== undefined, "provider is no provider key");
    return members;
}

module.exports = { CertificateRequest, issueCertificate, readCertificate };
