// What a provider decides about a registration: Docs/FormatRecords.md, "Rules of providers".
"use strict";

const { Certificate } = require("./certificate.js");
const { PushcryptError, attempt } = require("./errors.js");
const { limits } = require("./format.js");
const keys = require("./keys.js");
const { SUITE, formatReply, suiteOf } = require("./records.js");
const { array, boolean, options, present, string, topic: readTopic } = require("./values.js");

const STORED = [
    "user", "isRemoved", "deviceId", "publicKey", "suites", "topic", "generation", "created", "provider", "appVersion", "token", "environment", "grant", "updateKey", "sequence",
];
const OPTIONS = ["topic", "provider", "certificate", "issued", "ownKeys", "elsewhere", "replace", "pushKey"];

function accept(record, held, user, given) {
    if (typeof record?.publicKey !== "string" || !Number.isSafeInteger(record.generation) || !Array.isArray(record.suites)) {
        throw new TypeError("the record must be what parseDeviceRecord has returned");
    }
    if (user !== null) string(user, "user");
    const own = readOwn(given), before = readStored(held, "held"), elsewhere = readStored(own.elsewhere, "elsewhere");
    if (elsewhere !== null && elsewhere.publicKey !== record.publicKey) throw new TypeError("elsewhere must be a device with the record's key");
    const other = elsewhere?.isRemoved ? null : elsewhere, owner = user ?? before?.user ?? null;
    // What is not kept when the device was set up again, or comes back.
    const kept = own.replace || before?.isRemoved ? null : before;
    const isSame = before !== null && record.publicKey === before.publicKey;
    if (!own.replace) checkAgainst(record, before, isSame, user);
    if (suiteOf(record.publicKey) !== SUITE && (!isSame || before.isRemoved)) throw new PushcryptError("unsupported-suite");
    const topic = record.topic ?? kept?.topic ?? own.topic;
    if ((record.topic !== undefined && record.topic !== own.topic) || (kept?.topic ?? topic) !== topic) throw new PushcryptError("topic-mismatch");
    if (other !== null && (other.user === null || other.user !== owner)) throw new PushcryptError("key-taken");
    const foreign = record.provider !== undefined && !own.keys.includes(record.provider) ? ["provider"] : [];
    return {
        device: merged(record, before, kept, { user: owner, topic }),
        reply: formatReply(present({ acknowledged: record.publicKey, provider: own.provider, certificate: own.certificate?.text, foreign, pushKey: own.pushKey })),
        removesElsewhere: other !== null, staleStore: staleStore(record, own), foreign,
    };
}

/** [D-22], [D-27], [D-28], [D-29] */
function checkAgainst(record, held, isSame, user) {
    const owner = held?.user ?? null, generation = held?.generation ?? 0;
    if (held !== null && user !== owner && (user !== null || !isSame)) throw new PushcryptError("user-mismatch");
    const isLower = record.generation < generation || (held !== null && record.generation === generation && !isSame);
    if (isLower) throw new PushcryptError("generation-rollback");
    if (record.generation > generation + limits.generationStep) throw new PushcryptError("generation-too-high");
    if (held !== null && suiteOf(held.publicKey) > suiteOf(record.publicKey)) throw new PushcryptError("suite-downgrade");
}

/** The device from now on: what the record says, and what it does not say as before. */
function merged(record, before, kept, { user, topic }) {
    const { publicKey, suites, generation, created, provider, appVersion, token, environment, grant } = record;
    const isSame = kept?.publicKey === publicKey, where = token === undefined ? kept ?? {} : record;
    return present({
        deviceId: before?.deviceId ?? record.deviceId, publicKey, topic, generation, user, suites, created: created ?? (isSame ? kept.created : undefined), provider,
        appVersion: appVersion ?? kept?.appVersion, token: where.token, environment: environment ?? where.environment,
        grant: grant ?? kept?.grant, updateKey: record.updateKey ?? before?.updateKey,
        sequence: Math.max(record.sequence ?? 0, before?.sequence ?? 0) || undefined,
    });
}

/** The record's certificate, if it is by the provider's own key and the provider did not issue it [D-36]. */
function staleStore(record, { provider, topic, certificate: current, issued }) {
    if (record.certificate === undefined || issued === undefined) return null;
    const certificate = Certificate.parse(record.certificate), pin = keys.parseKey(provider, keys.PROVIDER_PUBLIC);
    if (issued.some((one) => one.claim.equals(certificate.claim)) || certificate.epoch < (current?.floor ?? 0)) return null;
    return attempt(() => {
        certificate.check(pin, topic);
        return certificate.text;
    }, () => null);
}

function refuse(error, given = {}) {
    const { certificate, pushKey } = options(given, ["certificate", "pushKey"], "refuse");
    if (!(error instanceof PushcryptError)) throw error;
    return formatReply(present({ refused: error.code, certificate, pushKey }));
}

/** The provider's own values. One that is wrong is no fault of the record, so it is a `TypeError`, and no reply says it. */
function readOwn(given) {
    const { topic, provider, certificate, issued, ownKeys, elsewhere = null, replace = false, pushKey } = options(given, OPTIONS, "accept");
    return attempt(() => {
        const read = (text, what) => Certificate.parse(string(text, what));
        const current = certificate === undefined || certificate === null ? undefined : read(certificate, "certificate");
        const pin = keys.bare(string(provider, "provider")), bytes = keys.parseKey(pin, keys.PROVIDER_PUBLIC);
        current?.check(bytes, readTopic(topic));
        if (pushKey !== undefined) formatReply({ refused: "a", pushKey });
        const all = issued === undefined ? undefined : array(issued, "issued").map((text) => read(text, "one of issued"));
        return {
            topic: readTopic(topic), provider: pin, certificate: current, elsewhere, replace: boolean(replace, "replace"), pushKey,
            keys: [pin, ...array(ownKeys ?? [], "ownKeys").map((key) => keys.bare(string(key, "one of ownKeys")))],
            // At epoch 0 there is none but those of earlier stores.
            issued: current === undefined ? all ?? [] : all && [current, ...all],
        };
    }, (error) => {
        throw new TypeError(`accept: its options are wrong: ${error.message}`);
    });
}

/**
 * A stored device, without what is null. A database may give other types or names: a text as a generation compares wrongly, and a user that is not there is
 * none.
 */
function readStored(device, what) {
    if (device === null) return null;
    const given = options(device, STORED, what);
    const { publicKey, generation, user, isRemoved = false } = given;
    string(publicKey, `${what}.publicKey`);
    if (!Number.isSafeInteger(generation) || generation < 0) throw new TypeError(`${what}.generation must be a whole number`);
    if (user !== null) string(user, `${what}.user`);
    boolean(isRemoved, `${what}.isRemoved`);
    const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
    for (const name of ["deviceId", "topic", "appVersion", "token", "environment", "grant", "updateKey"]) {
        if (known[name] !== undefined) string(known[name], `${what}.${name}`);
    }
    if (known.sequence !== undefined && !Number.isSafeInteger(known.sequence)) throw new TypeError(`${what}.sequence must be a whole number`);
    return { ...known, user, isRemoved };
}

module.exports = { accept, refuse };
