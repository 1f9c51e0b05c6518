// What a provider decides about a registration: Docs/FormatRecords.md, "Rules of providers".
"use strict";

const { Certificate } = require("./certificate.js");
const { PushcryptError, attempt } = require("./errors.js");
const { limits } = require("./format.js");
const keys = require("./keys.js");
const { SUITE, formatReply, isDeviceID, suiteOf } = require("./records.js");
const { array, boolean, options, present, string, timeOrNow, topic: readTopic } = require("./values.js");

const STORED = [
    "user", "isRemoved", "device", "publicKey", "suites", "topic", "generation", "created", "provider", "appVersion", "token", "environment", "grant",
    "endedGrant", "updateKey", "sequence",
];
const OPTIONS = ["topic", "provider", "device", "certificate", "issued", "ownKeys", "replace", "pushKey", "nextPushKey"];
const TEXTS = ["device", "topic", "provider", "certificate", "appVersion", "token", "environment", "grant", "endedGrant", "updateKey"];
const DAY = 86_400_000;

/** Says that a post is signed under the held update key; only `answerPost` knows it. */
const SIGNED = Symbol("signed");

async function accept(record, devices, user, given) {
    if (typeof record?.publicKey !== "string" || !Number.isSafeInteger(record.generation) || !Array.isArray(record.suites)) {
        throw new TypeError("record must be what parseDeviceRecord has returned");
    }
    for (const name of TEXTS) if (record[name] !== undefined) string(record[name], `record.${name}`);
    const own = readOwn(given), id = record.device ?? own.device;
    checkUser(user, "user");
    if (id === undefined) throw new PushcryptError("malformed-record", "the record names no device; give accept your id for it as device");
    const { device, others } = await decide(record, id, await find(devices, id), devices, user, own);
    const foreign = record.provider !== undefined && !own.keys.includes(record.provider) ? ["provider"] : [], stale = staleStore(record, own);
    const reply = {
        acknowledged: record.publicKey, provider: own.provider, certificate: own.certificate?.text, foreign, pushKey: own.pushKey, nextPushKey: own.nextPushKey,
        grant: record.grant !== undefined && record.grant === device.endedGrant ? "ended" : undefined,
    };
    const warnings = [
        [foreign.length > 0, `${id} names a provider key that you never had: somebody else has enrolled the phone`],
        [stale !== null, `${id} shows a certificate that you never issued: your store is an old copy, or somebody has your provider key`],
        [record.token !== undefined && record.environment === undefined, `${id} has a token without an environment: it is stored as one of production`],
    ].filter(([isTrue]) => isTrue).map(([, text]) => text);
    return { device, changes: [device, ...others], reply: formatReply(present(reply)), staleStore: stale, foreign, warnings };
}

/** What is held under an id, or null. */
async function find(devices, id) {
    const lookUps = options(devices, null, "devices");
    for (const name of ["find", "holders"]) if (typeof lookUps[name] !== "function") throw new TypeError(`devices must have a function ${name}`);
    const held = await devices.find(id);
    if (held === undefined) throw new TypeError("devices.find must return a stored device, or null");
    const known = readStored(held, "what devices.find returns");
    if (known !== null && known.device !== id) throw new TypeError(`devices.find(${JSON.stringify(id)}) returned another device: one phone would get what is another's`);
    return known;
}

/** The device from now on, and what is left of others. */
async function decide(record, id, held, devices, user, own) {
    const owner = checkRules(record, held, user, own), kept = held === null || held.isRemoved || own.replace ? null : held;
    // An end outranks all, but for the operator's word [D-26].
    const known = held === null || own.replace || held.sequence === limits.largestTime ? null : held;
    const device = merged(record, id, known, kept, { user: owner, topic: record.topic ?? kept?.topic ?? own.topic });
    return { device, others: await displaced(devices, device, kept) };
}

/** What is left of the other devices with its key [D-32], or with its token: one phone of one user got each push twice. */
async function displaced(devices, made, kept) {
    const found = array(await devices.holders(made.publicKey, made.token ?? null), "what devices.holders returns"), gone = [];
    for (const one of found.map((each) => readStored(each ?? undefined, "what devices.holders returns"))) {
        const isKey = one.publicKey === made.publicKey, isToken = made.token !== undefined && one.token === made.token, isUsers = made.user !== null && one.user === made.user;
        if (!isKey && !isToken) throw new TypeError("devices.holders returned a device with another key and another token");
        if (one.device === made.device || one.isRemoved) continue;
        const hasKey = isKey && kept?.publicKey !== made.publicKey;
        if (hasKey && !isUsers) throw new PushcryptError("key-taken");
        if (hasKey || (isUsers && isToken && one.topic === made.topic)) gone.push(ended(one, one.sequence));
    }
    return gone;
}

/** The rules that refuse, in their order [D-22] to [D-31]. Returns whose device it is. The holder of the update key was there before, whatever its keys are. */
function checkRules(record, held, user, own) {
    const isSame = held !== null && record.publicKey === held.publicKey, generation = held?.generation ?? 0;
    if (held !== null && !own.replace) {
        const hasKeys = isSame && [undefined, held.updateKey].includes(record.updateKey);
        if (user !== held.user && (user !== null || !hasKeys)) throw new PushcryptError("user-mismatch");
        if (record.sequence <= (held.sequence ?? 0)) throw new PushcryptError("stale-record", undefined, held.sequence);
    }
    if (!own.replace && !own.isSigned) {
        const isLower = record.generation < generation || (held !== null && record.generation === generation && !isSame);
        if (isLower) throw new PushcryptError("generation-rollback");
        if (record.generation > generation + limits.generationStep) throw new PushcryptError("generation-too-high");
        if (held !== null && suiteOf(held.publicKey) > suiteOf(record.publicKey)) throw new PushcryptError("suite-downgrade");
    }
    if (suiteOf(record.publicKey) !== SUITE && (!isSame || held.isRemoved)) throw new PushcryptError("unsupported-suite");
    const bound = held === null || held.isRemoved || own.replace ? own.topic : held.topic;
    if (record.topic !== undefined && (record.topic !== own.topic || record.topic !== bound)) throw new PushcryptError("topic-mismatch");
    return user ?? held?.user ?? null;
}

/** The device from now on: what the record says, and what it does not say as before. */
function merged(record, id, known, kept, { user, topic }) {
    const { publicKey, suites, generation, created, provider, appVersion, token, environment, grant } = record, isSame = kept?.publicKey === publicKey;
    const grants = grant === undefined || grant === kept?.endedGrant ? { grant: kept?.grant, endedGrant: kept?.endedGrant } : { grant };
    const where = token === undefined ? { token: kept?.token, environment: kept?.environment } : { token, environment: environment ?? "production" };
    return present({
        device: id, publicKey, topic, generation, user, suites, created: created ?? (isSame ? kept.created : undefined), provider,
        appVersion: appVersion ?? kept?.appVersion, ...where, ...grants, updateKey: record.updateKey ?? known?.updateKey,
        sequence: record.sequence ?? known?.sequence,
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

function refusal(error, given = {}) {
    const { certificate, pushKey } = options(given, ["certificate", "pushKey"], "the options");
    if (!(error instanceof PushcryptError)) throw error;
    const current = ownFault("refusal", () => readCertificate(certificate, "certificate"));
    return formatReply(present({ refused: error.code, sequence: error.sequence, certificate: current?.text, pushKey }));
}

function removed(device, given = {}) {
    const { at } = options(given, ["at"], "the options"), known = readStored(device ?? undefined, "device");
    return ended(known, Math.max(known.sequence ?? 0, Number(timeOrNow(at)) + DAY));
}

function withoutGrant(device, grant) {
    const known = readStored(device ?? undefined, "device"), { grant: held, ...rest } = known;
    return string(grant, "grant") === held ? { ...rest, endedGrant: grant } : known;
}

/** What is kept of a removed device [D-38]. */
function ended({ device, publicKey, suites, topic, generation, created, user, updateKey }, sequence) {
    return present({ device, publicKey, suites, topic, generation, created, user, updateKey, sequence, isRemoved: true });
}

/** The provider's own values. One that is wrong is no fault of the record, so it is a `TypeError`, and no reply says it. */
const ownFault = (what, call) => attempt(call, (error) => {
    throw new TypeError(`${what}: its options are wrong: ${error.message}`);
});

const readCertificate = (text, what) => (text === undefined || text === null ? undefined : Certificate.parse(string(text, what)));

function readOwn(given) {
    const { topic, provider, device, certificate, issued, ownKeys, pushKey, nextPushKey, replace = false, [SIGNED]: isSigned = false } =
        options(given, OPTIONS, "the options");
    return ownFault("accept", () => {
        const current = readCertificate(certificate, "certificate");
        const pin = keys.bare(string(provider, "provider")), bytes = keys.parseKey(pin, keys.PROVIDER_PUBLIC);
        current?.check(bytes, readTopic(topic));
        formatReply(present({ refused: "a", pushKey, nextPushKey }));
        if (device !== undefined && !isDeviceID(string(device, "device"))) throw new TypeError("device must be an id of 1 to 255 bytes");
        const all = issued === undefined ? undefined : array(issued, "issued").map((text) => Certificate.parse(string(text, "one of issued")));
        return {
            topic: readTopic(topic), provider: pin, device, certificate: current, replace: boolean(replace, "replace"), isSigned, pushKey, nextPushKey,
            keys: [pin, ...array(ownKeys ?? [], "ownKeys").map((key) => keys.bare(string(key, "one of ownKeys")))],
            // At epoch 0 there is none but those of earlier stores.
            issued: current === undefined ? all ?? [] : all && [current, ...all],
        };
    });
}

/** An empty name would make one user of all whose names a program lost. */
function checkUser(user, what) {
    if (user !== null && string(user, what) === "") throw new TypeError(`${what} must not be empty; null is a session without a user`);
}

/**
 * A stored device, without what is null. A database may give other types or names: a text as a generation compares wrongly, and a user that is not there is
 * none.
 */
function readStored(device, what) {
    if (device === null) return null;
    const given = options(device, STORED, what), { publicKey, generation, user, isRemoved = false } = given;
    const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
    for (const name of ["device", "topic"]) if (known[name] === undefined) throw new TypeError(`${what}.${name} must be a string`);
    string(publicKey, `${what}.publicKey`);
    if (!Number.isSafeInteger(generation) || generation < 0) throw new TypeError(`${what}.generation must be a whole number`);
    checkUser(user, `${what}.user`);
    boolean(isRemoved, `${what}.isRemoved`);
    for (const name of TEXTS) {
        if (known[name] !== undefined) string(known[name], `${what}.${name}`);
    }
    if (known.sequence !== undefined && !Number.isSafeInteger(known.sequence)) throw new TypeError(`${what}.sequence must be a whole number`);
    return { ...known, user, isRemoved };
}

module.exports = { SIGNED, accept, ended, find, readStored, refusal, removed, withoutGrant };
