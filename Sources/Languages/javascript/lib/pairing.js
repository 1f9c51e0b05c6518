// Pairing by a code, for servers without accounts: Docs/FormatRecords.md, "Pairing".
"use strict";

const { randomBytes } = require("node:crypto");
const { BlockList, isIPv4, isIPv6 } = require("node:net");
const { ZERO, decrypt, encrypt } = require("./aead.js");
const { hkdf, hmac } = require("./answers.js");
const { lp16 } = require("./envelope.js");
const { PushcryptError, attempt } = require("./errors.js");
const { Fields } = require("./fields.js");
const keys = require("./keys.js");
const { formatReply, parseDeviceRecord, parseReply } = require("./records.js");
const { signature } = require("./secrets.js");
const { isTopic, options, present, string, topic: readTopic } = require("./values.js");

const label = (text) => Buffer.from(`pushcrypt/1 ${text}\0`);
const [ID, REQUEST, REPLY_SALT, REPLY, SIGNED] = ["pairing id", "pairing request", "pairing reply salt", "pairing reply", "reply"].map(label);
/** Milliseconds: 10 minutes. */
const LIFE = 600_000;
const SECRET = 16, SALT = 16, HEADER = 24, TAG = 16, LONGEST_URL = 1024;
const LONGEST_REQUEST = 16_384;
const URL = /^(https?):\/\/(?:([A-Za-z0-9.-]+)|\[([A-Fa-f0-9:]+)\])(?::0*([1-9][0-9]{0,4}))?(?:[/?][!-"$-[\]-~]*)?$/;
// Not one list, in which an IPv6 address that contains one of IPv4 would be found.
const [PRIVATE, PRIVATE_6] = [new BlockList(), new BlockList()];
for (const [net, prefix] of [["10.0.0.0", 8], ["100.64.0.0", 10], ["127.0.0.0", 8], ["169.254.0.0", 16], ["172.16.0.0", 12], ["192.168.0.0", 16]]) PRIVATE.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [["::1", 128], ["fc00::", 7], ["fe80::", 10]]) PRIVATE_6.addSubnet(net, prefix, "ipv6");

/** Names what only `answerPost` calls. */
const OPEN = Symbol("open");
const LOCAL = /^(?:localhost|fritz\.box|(?:[^.]+\.)+(?:local|home\.arpa|internal|lan|ts\.net|fritz\.box))$/i;

/** [P-2] */
function isURL(text) {
    const [matches, scheme, name, address, port = "1"] = (text.length <= LONGEST_URL && URL.exec(text)) || [];
    if (matches === undefined || Number(port) > 65_535 || (address !== undefined && !isIPv6(address))) return false;
    if (scheme === "https") return true;
    return name === undefined ? PRIVATE_6.check(address, "ipv6") : LOCAL.test(name) || (isIPv4(name) && PRIVATE.check(name, "ipv4"));
}

/** The bytes of a request. */
function decode(text) {
    const data = keys.fromBase64(text);
    if (data.length < HEADER + TAG || data.length > LONGEST_REQUEST) {
        throw new PushcryptError("malformed-envelope", "this is not the base64url of a request, or it is too long");
    }
    return data;
}

/** The plaintext of a request or reply. */
function opened(key, header, sealed) {
    const plain = decrypt(key, ZERO, header, sealed);
    if (plain === undefined) throw new PushcryptError("authentication-failed", "the request or reply was changed, or is of another code");
    return plain;
}

const idOf = (secret) => hkdf(secret, Buffer.alloc(0), ID).subarray(0, 8);
const fingerprintOf = (provider) => keys.sha256(keys.parseKey(provider, keys.PROVIDER_PUBLIC)).subarray(0, 16);
const requestKey = (secret, salt, scene) => hkdf(secret, salt, Buffer.concat([REQUEST, scene]));
const replyKey = (secret, salt, scene, request) => hkdf(secret, salt, Buffer.concat([REPLY, scene, keys.sha256(request)]));

function sceneOf(url, topic, fingerprint) {
    return Buffer.concat([lp16(url), lp16(topic), fingerprint]);
}

/** The salt depends on the text: a request that comes again after a refusal gets another key for another text. */
function sealReply(secret, scene, request, text) {
    const plain = Buffer.from(text), salt = hmac(secret, REPLY_SALT, keys.sha256(request), plain).subarray(0, SALT);
    return Buffer.concat([salt, encrypt(replyKey(secret, salt, scene, request), ZERO, salt, plain)]).toString("base64url");
}

/** The body of an answer to a record, whose bytes the signature covers too. */
function signedReply(signer, topic, record, reply) {
    const data = Buffer.from(reply), whose = [lp16(topic), signer.provider, signer.signingKey, signer.epoch];
    const made = signature(signer.key, Buffer.concat([SIGNED, ...whose, keys.sha256(record), data]));
    return JSON.stringify({ reply: data.toString("base64url"), signature: made.toString("base64url") });
}

/** The record of a request; nothing for one that breaks a rule. */
function recordOf(plain) {
    return attempt(() => {
        const members = Fields.parse(plain, "malformed-record");
        for (const name of ["device", "update_key", "sequence", "nonce"]) members.rule(members.get(name) !== undefined, `there is no ${name}`);
        return parseDeviceRecord(plain);
    }, () => undefined);
}

/** A code for one phone, and what came of it. It prints no secret. */
class Pairing {
    #secret;
    #scene;
    #reply;

    constructor(secret, { url, topic, provider, user, replaces, created, claimed, device, updateKey, reply }) {
        this.#secret = secret;
        this.#scene = sceneOf(url, topic, fingerprintOf(provider));
        this.#reply = reply;
        Object.assign(this, { id: idOf(secret).toString("hex"), provider, url, topic, user, replaces, created, claimed, device, updateKey });
        Object.freeze(this);
    }

    static create(given) {
        const { provider, url, topic, user, replaces } = options(given, ["provider", "url", "topic", "user", "replaces"], "the options");
        for (const [name, text] of Object.entries({ user, replaces })) if (text !== undefined && string(text, name) === "") throw new TypeError(`${name} must not be empty`);
        if (!isURL(string(url, "url"))) throw new PushcryptError("invalid-request", "the url is not https, or http in a home network, without user and fragment");
        keys.parseKey(string(provider, "provider"), keys.PROVIDER_PUBLIC);
        return new Pairing(randomBytes(SECRET), { url, topic: readTopic(topic), provider: keys.bare(provider), user, replaces, created: Date.now() });
    }

    static parse(given) {
        const members = Fields.parse(given, "malformed-record"), url = members.needs("url"), topic = members.needs("topic"), provider = members.needs("provider");
        const secret = members.needs("secret", members.matching("secret", /^[A-Za-z0-9_-]{21}[AQgw]$/)), created = members.needs("created", members.integer("created"));
        const claim = { claimed: members.integer("claimed"), device: members.text("device"), updateKey: members.text("update_key"), reply: members.text("reply") };
        members.rule(isURL(url) && isTopic(topic) && [0, 4].includes(Object.keys(present(claim)).length), "url, topic or the claim breaks its rule");
        if (claim.reply !== undefined) parseReply(claim.reply);
        if (claim.updateKey !== undefined) keys.parseRawKey(claim.updateKey, "malformed-key");
        return new Pairing(Buffer.from(secret, "base64url"), { url, topic, provider: keys.bare(provider), user: members.text("user"), replaces: members.text("replaces"), created, ...claim });
    }

    json() {
        const { url, topic, provider, user, replaces, created, claimed, device, updateKey: update_key } = this;
        return JSON.stringify({ secret: this.#secret.toString("base64url"), url, topic, provider, user, replaces, created, claimed, device, update_key, reply: this.#reply });
    }

    get code() {
        return `pushcrypt:1?${Buffer.concat([Buffer.of(1), this.#secret, fingerprintOf(this.provider)]).toString("base64url")}&${this.url}`;
    }

    /** Opens what a phone posted, for `answerPost`. If it throws, the answer is 404, and nothing changes [P-4]. */
    [OPEN](request, signer) {
        const now = Date.now();
        const start = this.claimed ?? this.created, provider = keys.keyText(signer.provider, keys.PROVIDER_PUBLIC);
        if (provider !== this.provider) throw new PushcryptError("invalid-request", "the key is not of the provider that the code names");
        // A code of a clock that was ahead has ended, too [P-3].
        if (now < start - LIFE || now >= start + LIFE) throw new PushcryptError("expired", "the code has ended");
        const plain = opened(requestKey(this.#secret, request.subarray(8, HEADER), this.#scene), request.subarray(0, HEADER), request.subarray(HEADER));
        const { record, text } = this.#decided(plain), seal = (reply) => {
            const own = JSON.stringify({ ...reply, provider, certificate: signer.certificate?.text });
            return sealReply(this.#secret, this.#scene, request, signedReply(signer, this.topic, plain, own));
        };
        const claim = (reply) => new Pairing(this.#secret, { ...this, claimed: now, device: record.device, updateKey: record.updateKey, reply: JSON.stringify(reply) });
        return new PairingRequest(this, record, text === undefined ? undefined : seal(text), seal, claim);
    }

    /** The record, or the reply record if that is decided. */
    #decided(plain) {
        const record = recordOf(plain);
        if (record === undefined) return { text: formatReply({ refused: "malformed-record" }) };
        if (this.#reply === undefined) return { record };
        const isSame = record.device === this.device && record.updateKey === this.updateKey && record.publicKey === parseReply(this.#reply).acknowledged;
        return { text: isSame ? JSON.parse(this.#reply) : formatReply({ refused: "pairing-used" }) };
    }
}

/** A request that opened. */
class PairingRequest {
    #pairing;
    #seal;
    #claim;

    constructor(pairing, record, answer, seal, claim) {
        this.#pairing = pairing;
        this.#seal = seal;
        this.#claim = claim;
        this.record = record;
        this.answer = answer;
        Object.freeze(this);
    }

    seal(reply) {
        const { acknowledged, refused } = parseReply(reply), pairing = this.#pairing;
        if (this.answer !== undefined) return { pairing, answer: this.answer };
        if (refused !== undefined) return { pairing, answer: this.#seal(reply) };
        if (acknowledged !== this.record.publicKey) throw new PushcryptError("invalid-request", "the reply acknowledges another key than the record's");
        return { pairing: this.#claim(reply), answer: this.#seal(reply) };
    }
}

module.exports = { OPEN, Pairing, decode, isURL, sceneOf, sealReply, signedReply };
