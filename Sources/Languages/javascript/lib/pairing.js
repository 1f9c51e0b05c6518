// Pairing by a code, for servers without accounts: Docs/FormatPairing.md.
"use strict";

const { randomBytes } = require("node:crypto");
const { BlockList, isIPv4, isIPv6 } = require("node:net");
const { ZERO, decrypt, encrypt } = require("./aead.js");
const { hkdf, hmac } = require("./answers.js");
const { lp16 } = require("./envelope.js");
const { PushcryptError, attempt } = require("./errors.js");
const { Fields } = require("./fields.js");
const { limits } = require("./format.js");
const keys = require("./keys.js");
const { formatReply, parseDeviceRecord, parseReply } = require("./records.js");
const { bytes, isTopic, options, present, string, time, topic: readTopic } = require("./values.js");

const label = (text) => Buffer.from(`pushcrypt/1 pairing ${text}\0`);
const [ID, REQUEST, REPLY_SALT, REPLY] = ["id", "request", "reply salt", "reply"].map(label);
/** Milliseconds: 10 minutes. */
const LIFE = 600_000;
const SECRET = 16, SALT = 16, HEADER = 24, TAG = 16, LONGEST_URL = 1024;
/** The text of 16,384 bytes. */
const LONGEST_BODY = 21_846;
const URL = /^(https?):\/\/(?:([A-Za-z0-9.-]+)|\[([A-Fa-f0-9:]+)\])(?::0*([1-9][0-9]{0,4}))?(?:[/?][!-"$-[\]-~]*)?$/;
// Not one list, in which an IPv6 address that contains one of IPv4 would be found.
const [PRIVATE, PRIVATE_6] = [new BlockList(), new BlockList()];
for (const [net, prefix] of [["10.0.0.0", 8], ["127.0.0.0", 8], ["169.254.0.0", 16], ["172.16.0.0", 12], ["192.168.0.0", 16]]) PRIVATE.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [["::1", 128], ["fc00::", 7], ["fe80::", 10]]) PRIVATE_6.addSubnet(net, prefix, "ipv6");

/** [P-2] */
function isURL(text) {
    const [matches, scheme, name, address, port = "1"] = (text.length <= LONGEST_URL && URL.exec(text)) || [];
    if (matches === undefined || Number(port) > 65_535 || (address !== undefined && !isIPv6(address))) return false;
    if (scheme === "https") return true;
    return name === undefined ? PRIVATE_6.check(address, "ipv6") : name.toLowerCase() === "localhost" || (isIPv4(name) && PRIVATE.check(name, "ipv4"));
}

/** The bytes of a request, or of a reply. */
function decode(body) {
    const given = typeof body === "string" ? body : bytes(body, "the body").toString("latin1");
    let end = given.length;
    while (given[end - 1] === "\n" || given[end - 1] === "\r") end--;
    const data = end <= LONGEST_BODY ? keys.fromBase64(given.slice(0, end)) : Buffer.alloc(0);
    if (data.length < HEADER + TAG) {
        throw new PushcryptError("malformed-envelope", "this is not the base64url of a request or reply, or it is too long");
    }
    return data;
}

/** The plaintext of a request or reply. */
function opened(key, header, sealed) {
    const plain = decrypt(key, ZERO, header, sealed);
    if (plain === undefined) throw new PushcryptError("authentication-failed", "the request or reply was changed, or is of another code");
    return plain;
}

function clock(at) {
    const now = Number(time(at, "at"));
    if (now > limits.largestTime) throw new PushcryptError("invalid-time");
    return now;
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

/** A code for one phone, and what came of it. It prints no secret. */
class Pairing {
    #secret;
    #scene;
    #reply;

    constructor(secret, { url, topic, provider, created, claimed, device, reply }) {
        this.#secret = secret;
        this.#scene = sceneOf(url, topic, fingerprintOf(provider));
        this.#reply = reply;
        Object.assign(this, { id: idOf(secret).toString("hex"), provider, url, topic, created, claimed, device });
        Object.freeze(this);
    }

    static create(given) {
        const { provider, url, topic, at = Date.now() } = options(given, ["provider", "url", "topic", "at"], "Pairing.create");
        if (!isURL(string(url, "url"))) throw new PushcryptError("invalid-request", "the url is not https, or http to a private address, without user and fragment");
        keys.parseKey(string(provider, "provider"), keys.PROVIDER_PUBLIC);
        return new Pairing(randomBytes(SECRET), { url, topic: readTopic(topic), provider: keys.bare(provider), created: clock(at) });
    }

    static parse(given) {
        const members = Fields.parse(given, "malformed-record"), url = members.needs("url"), topic = members.needs("topic"), provider = members.needs("provider");
        const secret = members.needs("secret", members.matching("secret", /^[A-Za-z0-9_-]{21}[AQgw]$/)), created = members.needs("created", members.integer("created"));
        const claim = { claimed: members.integer("claimed"), device: members.text("device"), reply: members.text("reply") };
        members.rule(isURL(url) && isTopic(topic) && [0, 3].includes(Object.keys(present(claim)).length), "url, topic or the claim breaks its rule");
        if (claim.reply !== undefined) parseReply(claim.reply);
        return new Pairing(Buffer.from(secret, "base64url"), { url, topic, provider: keys.bare(provider), created, ...claim });
    }

    json() {
        const { url, topic, provider, created, claimed, device } = this;
        return JSON.stringify({ secret: this.#secret.toString("base64url"), url, topic, provider, created, claimed, device, reply: this.#reply });
    }

    get code() {
        return `pushcrypt:1?${Buffer.concat([Buffer.of(1), this.#secret, fingerprintOf(this.provider)]).toString("base64url")}&${this.url}`;
    }

    open(body, given = {}) {
        const { at = Date.now() } = options(given, ["at"], "open"), now = clock(at), request = decode(body);
        if (now >= (this.claimed ?? this.created) + LIFE) throw new PushcryptError("expired", "the code has ended");
        const plain = opened(requestKey(this.#secret, request.subarray(8, HEADER), this.#scene), request.subarray(0, HEADER), request.subarray(HEADER));
        const { record, text } = this.#decided(plain), seal = (reply) => sealReply(this.#secret, this.#scene, request, reply);
        const claim = (reply) => new Pairing(this.#secret, { ...this, claimed: now, device: record.deviceId, reply });
        return new PairingRequest(this, record, text === undefined ? undefined : seal(text), seal, claim);
    }

    /** The record, and the reply record if that is decided. */
    #decided(plain) {
        const record = attempt(() => parseDeviceRecord(plain), () => undefined), own = this.#reply === undefined ? undefined : parseReply(this.#reply);
        if (record?.deviceId === undefined) return { text: formatReply({ refused: "malformed-record" }) };
        const isOther = own !== undefined && (record.deviceId !== this.device || record.publicKey !== own.acknowledged);
        return isOther ? { text: formatReply({ refused: "pairing-used" }) } : { record, text: this.#reply };
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
        const { acknowledged, refused, provider } = parseReply(string(reply, "the reply")), pairing = this.#pairing;
        if (this.answer !== undefined) return { pairing, answer: this.answer };
        if (refused !== undefined) return { pairing, answer: this.#seal(reply) };
        if (acknowledged !== this.record.publicKey || provider !== pairing.provider) {
            throw new PushcryptError("invalid-request", "the reply does not have the key of the record, or the provider key of the code");
        }
        return { pairing: this.#claim(reply), answer: this.#seal(reply) };
    }
}

const pairingId = (body) => decode(body).subarray(0, 8).toString("hex");

module.exports = { Pairing, PairingRequest, isURL, pairingId };
