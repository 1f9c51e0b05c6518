// The address of a self-hosted server, to which its phones post everything: Docs/FormatRecords.md, "Posts". home.d.ts documents it.
"use strict";

const { lp16 } = require("./envelope.js");
const { PushcryptError, attempt } = require("./errors.js");
const { Fields } = require("./fields.js");
const { limits } = require("./format.js");
const keys = require("./keys.js");
const { OPEN, Pairing, decode, signedReply } = require("./pairing.js");
const { NONCE, formatReply, isDeviceID, parseDeviceRecord } = require("./records.js");
const { SIGNED, accept, ended, find } = require("./registration.js");
const { signerOf } = require("./secrets.js");
const { instance, json, options, present, topic: readTopic } = require("./values.js");

const MALFORMED = "malformed-record", LONGEST_POST = 32_768, LONGEST_RECORD = 16_384, RECORD = Buffer.from("pushcrypt/1 record\0\x02");
const POSTS = ["record", "pairing", "answer", "hello"];
const NOT_FOUND = { status: 404, body: "", changes: [], warnings: [] };
const done = (more) => ({ ...NOT_FOUND, status: 200, ...more });

async function answerPost(body, home, given) {
    const { key, topic, ...own } = options(given, ["key", "topic", "pushKey", "nextPushKey", "ownKeys", "issued"], "the options");
    if (typeof body !== "string" && !(body instanceof Uint8Array)) throw new TypeError("body must be a string or a Uint8Array");
    if (typeof options(home, null, "home").pairing !== "function") throw new TypeError("home must have a function pairing");
    const desk = { home, own, topic: readTopic(topic), signer: signerOf(key, topic) };
    const post = attempt(() => readPost(json(body, MALFORMED)), () => null);
    try {
        if (post === null) return NOT_FOUND;
        if (post.answer !== undefined) return done({ answer: post.answer });
        if (post.hello !== undefined) return done({ body: signed(desk, topic, Buffer.from(post.hello), named(desk, { hello: post.hello })) });
        return await (post.pairing === undefined ? take(desk, post) : pair(desk, decode(post.pairing)));
    } catch (error) {
        if (error instanceof PushcryptError && error.code !== "invalid-request") return NOT_FOUND;
        throw error;
    }
}

/** The members of a post [D-17]. */
function readPost(text) {
    const members = Fields.parse(Buffer.byteLength(text) <= LONGEST_POST ? text : "", MALFORMED), kinds = POSTS.filter((name) => members.get(name) !== undefined);
    members.rule(kinds.length === 1, "not one thing is posted");
    const [kind] = kinds, value = members.needs(kind);
    members.rule(kind !== "hello" || NONCE.test(value), "hello breaks its rule");
    if (kind !== "record") return { [kind]: value };
    const record = keys.fromBase64(value), signature = keys.fromBase64(members.needs("signature"));
    members.rule(record.length > 0 && record.length <= LONGEST_RECORD && signature.length === 64, "record or signature breaks its rule");
    return { record, signature };
}

/** A reply with the provider's keys. */
function named({ signer, own }, members) {
    const { pushKey, nextPushKey } = own, provider = keys.keyText(signer.provider, keys.PROVIDER_PUBLIC);
    return formatReply(present({ provider, certificate: signer.certificate?.text, pushKey, nextPushKey, ...members }));
}

const signed = ({ signer }, context, asked, reply) => signedReply(signer, context, asked, JSON.stringify(reply));

function accepting({ home, own, topic, signer }, record, user, more) {
    const provider = keys.keyText(signer.provider, keys.PROVIDER_PUBLIC);
    return accept(record, home, user, { ...own, topic, provider, certificate: signer.certificate?.text, ...more });
}

/** What comes of a record, or the reply that refuses it. */
async function outcome(work) {
    try {
        return await work();
    } catch (error) {
        if (error instanceof PushcryptError) return { refused: present({ refused: error.code, sequence: error.sequence }) };
        throw error;
    }
}

async function pair(desk, request) {
    const pairing = await desk.home.pairing(request.subarray(0, 8).toString("hex"));
    if (pairing === null) return NOT_FOUND;
    const opened = instance(pairing, Pairing, "what home.pairing returns")[OPEN](request, desk.signer), { record, answer } = opened;
    if (answer !== undefined) return done({ body: answer });
    const user = pairing.user ?? null, replace = pairing.replaces === record.device;
    const { refused, reply, changes, warnings } = await outcome(async () => {
        const held = await find(desk.home, record.device);
        // A code for nobody brings no user's device back [P-9].
        if (held !== null && !replace && (!held.isRemoved || held.user !== user)) throw new PushcryptError("user-mismatch");
        return accepting(desk, record, user, { replace });
    });
    const sealed = opened.seal(refused === undefined ? reply : formatReply(refused));
    return refused === undefined ? done({ body: sealed.answer, changes, warnings, pairing: sealed.pairing }) : done({ body: sealed.answer });
}

async function take(desk, { record: data, signature }) {
    const { record, device, provider, topic: own } = readSigned(data), held = await find(desk.home, device);
    const context = own ?? held?.topic ?? desk.topic, pin = keys.parseKey(provider, keys.PROVIDER_PUBLIC);
    const { refused, reply, changes, warnings = [] } = await outcome(async () => {
        if (held === null || held.isRemoved) throw new PushcryptError("unknown-device");
        const isHeld = held.updateKey !== undefined && (record === undefined || record.updateKey === held.updateKey);
        const message = Buffer.concat([RECORD, lp16(context), pin, data]);
        if (!isHeld || !keys.verifies(keys.parseRawKey(held.updateKey, "malformed-key"), signature, message)) throw new PushcryptError("bad-record-signature");
        if (record === undefined) return { reply: named(desk, { ended: device }), changes: [ended(held, limits.largestTime)] };
        return accepting(desk, record, held.user, { [SIGNED]: true });
    });
    return done({ body: signed(desk, context, Buffer.concat([data, signature]), refused === undefined ? reply : named(desk, refused)), changes: changes ?? [], warnings });
}

/** A record without a session [D-18], or an end [D-15]. */
function readSigned(data) {
    const members = Fields.parse(data, MALFORMED);
    if (members.get("ended") !== true) {
        const record = parseDeviceRecord(data);
        for (const name of ["device", "update_key", "sequence", "nonce", "provider"]) members.rule(members.get(name) !== undefined, `there is no ${name}`);
        return { record, ...record };
    }
    const device = members.needs("device"), provider = members.needs("provider");
    members.rule(isDeviceID(device) && members.integer("sequence") === limits.largestTime && NONCE.test(members.needs("nonce")), "the end breaks its rule");
    return { device, provider };
}

module.exports = { answerPost };
