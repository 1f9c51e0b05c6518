// Records and replies, in which a phone and its provider exchange public keys: Docs/FormatRecords.md.
"use strict";

const { PushcryptError } = require("./errors.js");
const { Certificate } = require("./certificate.js");
const { checkContext } = require("./context.js");
const keys = require("./keys.js");
const { NumberText, parseObject } = require("./payload.js");
const { Trust } = require("./trust.js");
const { array, boolean, bytes, json, options, string } = require("./values.js");

const GENERATION_STEP = 1024;
const REASON = /^[a-z0-9-]{1,64}$/;
const TOKEN = /^(?:[0-9a-f]{2}){1,100}$/, ENVIRONMENT = /^(?:production|development)$/, WITHDRAWAL = /^[0-9a-f]{32}$/, GRANT = /^[A-Za-z0-9_-]{1,1024}$/;
const PUSH_KEY = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
const MALFORMED = "malformed-record";
/** The suite of the keys that this package seals to, and the prefix of those of suite 2. */
const SUITE = 1, PREFIX_2 = "pcrx1";

/** Throws unless a rule holds. */
function rule(condition, text) {
    if (!condition) throw new PushcryptError(MALFORMED, text);
}

// Reading: first what is no text of a key, then the keys in order, last what follows from them.

/** A member, `undefined` if it is absent or null [D-6]. */
const member = (members, name) => members.get(name) ?? undefined;

function text(members, name) {
    const value = member(members, name);
    rule(value === undefined || typeof value === "string", `${name} is not a string`);
    return value;
}

function matching(members, name, pattern) {
    const value = text(members, name);
    rule(value === undefined || pattern.test(value), `${name} breaks its rule`);
    return value;
}

function integer(members, name) {
    const value = member(members, name);
    if (value === undefined) return undefined;
    const isGood = value instanceof NumberText && value.isInteger && value.text.length <= 16 && Number(value.text) <= Number.MAX_SAFE_INTEGER;
    rule(isGood, `${name} is not a whole number, 0 or more`);
    return Number(value.text);
}

function texts(members, name, most) {
    const value = member(members, name);
    if (value === undefined) return [];
    rule(Array.isArray(value) && value.length >= 1 && value.length <= most && value.every((one) => typeof one === "string"), `${name} is not an array of 1 to ${most} strings`);
    return value;
}

function topicOf(members) {
    const topic = text(members, "topic");
    rule(topic === undefined || isTopic(topic), "topic is not a bundle id");
    return topic;
}

function isTopic(topic) {
    try {
        checkContext(topic);
        return true;
    } catch {
        return false;
    }
}

const suiteOf = (publicKey) => (publicKey.startsWith(PREFIX_2) ? 2 : SUITE);

/** [D-9], with the suite of a record's key. */
function suitesOf(members, own) {
    const value = member(members, "suites");
    if (value === undefined) return [own ?? SUITE];
    const isGood = Array.isArray(value) && value.length >= 1 && value.length <= 16 && value.every((one) => one instanceof NumberText && /^[1-9][0-9]{0,2}$/.test(one.text) && Number(one.text) <= 255);
    const suites = isGood ? value.map((one) => Number(one.text)) : [];
    const isOrdered = isGood && suites.every((one, index) => index === 0 || suites[index - 1] < one);
    rule(isOrdered && (own === undefined || suites.includes(own)), "suites are not 1 to 16 ascending numbers from 1 to 255, including that of the key");
    return suites;
}

function isName(value, most) {
    return value !== "" && Buffer.byteLength(value) <= most && !/\p{Cc}/u.test(value);
}

function isDeviceID(id) {
    return isName(id, 255) && !/[\p{Cf}\p{Zl}\p{Zp}]/u.test(id) && !id.startsWith("pcr1") && !id.startsWith(PREFIX_2) && !/^ *$/.test(id);
}

/** The members that both records have, before the texts of their keys are read [D-1], [D-3]. */
function begin(given, kind) {
    const members = parseObject(json(given, MALFORMED), MALFORMED), publicKey = text(members, "public_key");
    rule(publicKey !== undefined, "there is no public_key");
    const own = kind === keys.DEVICE_PUBLIC ? suiteOf(publicKey) : SUITE, suite = member(members, "suite");
    rule(suite === undefined || (suite instanceof NumberText && suite.text === `${own}`), "suite is not that of public_key");
    return { members, own };
}

function checkKeys(all, kind) {
    for (const key of all) keys.parseKey(key, kind);
    return all.map((key) => key.replace(/\n$/, ""));
}

/** A certificate that breaks [T-1] counts as absent [D-31]; its code comes with it. */
function certificateOf(members) {
    const given = text(members, "certificate");
    try {
        return { certificate: given === undefined ? undefined : Certificate.parse(given).text };
    } catch (refused) {
        if (!(refused instanceof PushcryptError)) throw refused;
        return { refusedCertificate: refused.code };
    }
}

/** [D-32] */
function pushKeyOf(text) {
    if (text === undefined) return undefined;
    if (!PUSH_KEY.test(text)) throw new PushcryptError("malformed-key", "push_key is not 32 bytes in base64url");
    const key = Buffer.from(text, "base64url");
    keys.checkVerifyingKey(key);
    return key;
}

function checkID(members, id) {
    const named = text(members, "key_id");
    rule(named === undefined || named === id.toString("hex"), "key_id is not that of public_key");
}

/** An object without the members that are undefined. */
function present(members) {
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function parseDeviceRecord(given) {
    const { members, own } = begin(given, keys.DEVICE_PUBLIC);
    const deviceID = text(members, "device"), appVersion = text(members, "app_version");
    rule(deviceID === undefined || isDeviceID(deviceID), "device has not 1 to 255 bytes, or is blank, has invisible characters or begins like a key");
    rule(appVersion === undefined || isName(appVersion, 64), "app_version has not 1 to 64 bytes, or has control characters");
    const suites = suitesOf(members, own), topic = topicOf(members), generation = integer(members, "generation") ?? 1, created = integer(members, "created");
    const pinned = text(members, "provider"), { certificate } = certificateOf(members);
    const token = matching(members, "token", TOKEN), environment = matching(members, "environment", ENVIRONMENT);
    const withdrawal = matching(members, "withdrawal", WITHDRAWAL), grant = matching(members, "grant", GRANT);
    text(members, "key_id");
    const bytes = keys.parseKey(text(members, "public_key"), keys.DEVICE_PUBLIC);
    const [provider] = checkKeys(pinned === undefined ? [] : [pinned], keys.PROVIDER_PUBLIC);
    checkID(members, keys.deviceKeyID(bytes));
    return present({
        deviceID, publicKey: keys.keyText(bytes, keys.DEVICE_PUBLIC), suites, topic, generation, created, provider, certificate, appVersion, token,
        environment, withdrawal, grant,
    });
}

function parseProviderRecord(given) {
    const { members } = begin(given, keys.PROVIDER_PUBLIC);
    const topic = topicOf(members), generation = integer(members, "generation") ?? 1, created = integer(members, "created");
    const { certificate } = certificateOf(members);
    text(members, "key_id");
    const bytes = keys.parseKey(text(members, "public_key"), keys.PROVIDER_PUBLIC);
    checkID(members, keys.keyID(keys.ED25519, bytes));
    return present({ publicKey: keys.keyText(bytes, keys.PROVIDER_PUBLIC), topic, generation, created, certificate });
}

function parseReply(given) {
    const members = parseObject(json(given, MALFORMED), MALFORMED);
    rule(integer(members, "version") === 1, "version is not 1");
    const confirmed = text(members, "acknowledged"), refused = text(members, "refused"), own = text(members, "provider");
    rule((confirmed === undefined) !== (refused === undefined), "there is not either acknowledged or refused");
    rule(refused === undefined || REASON.test(refused), "refused is not a reason");
    const suites = suitesOf(members), foreign = texts(members, "foreign", 16), key = text(members, "push_key");
    const [acknowledged] = checkKeys(confirmed === undefined ? [] : [confirmed], keys.DEVICE_PUBLIC);
    const [provider] = checkKeys(own === undefined ? [] : [own], keys.PROVIDER_PUBLIC);
    return present({ acknowledged, refused, provider, ...certificateOf(members), suites, foreign, pushKey: pushKeyOf(key) });
}

// Writing: what is written is read back, so that nobody gets a record that breaks a rule.

function formatDeviceRecord(given) {
    const { deviceID, publicKey, suites, topic, generation, created, provider, certificate, appVersion, token, environment, withdrawal, grant } = options(
        given,
        ["deviceID", "publicKey", "suites", "topic", "generation", "created", "provider", "certificate", "appVersion", "token", "environment", "withdrawal", "grant"],
        "formatDeviceRecord",
    );
    const key_id = keys.deviceKeyID(keys.parseKey(string(publicKey, "publicKey"), keys.DEVICE_PUBLIC)).toString("hex"), suite = suiteOf(publicKey);
    return written(parseDeviceRecord, {
        device: deviceID, public_key: publicKey, key_id, suite, suites: suites ?? [suite], topic, generation, created, provider, certificate,
        app_version: appVersion, token, environment, withdrawal, grant,
    });
}

function formatProviderRecord(given) {
    const { publicKey, topic, generation, created, certificate } = options(
        given, ["publicKey", "topic", "generation", "created", "certificate"], "formatProviderRecord",
    );
    const key_id = keys.keyID(keys.ED25519, keys.parseKey(string(publicKey, "publicKey"), keys.PROVIDER_PUBLIC)).toString("hex");
    return written(parseProviderRecord, { public_key: publicKey, key_id, topic, generation, created, certificate });
}

function formatReply(given) {
    const { acknowledged, refused, provider, certificate, suites, foreign = [], pushKey } = options(
        given, ["acknowledged", "refused", "provider", "certificate", "suites", "foreign", "pushKey"], "formatReply",
    );
    return written(parseReply, {
        version: 1, acknowledged, refused, provider, certificate, suites, foreign: some(foreign, "foreign"),
        push_key: pushKey === undefined ? undefined : bytes(pushKey, "pushKey").toString("base64url"),
    });
}

/** An array, which is left out if it is empty. */
function some(values, what) {
    return array(values, what).length > 0 ? values : undefined;
}

/** Refuses what JSON would leave out or write as another value, such as a generation that is not a number. */
function written(parse, members) {
    const text = json(present(members), MALFORMED);
    parse(text);
    return text.toString();
}

// Deciding

/** Refuses a record that a provider must not accept [D-7], [D-8], [D-15], [D-17], [D-18], [D-23], [D-24]. */
function checkRegistration(record, given) {
    const { user, held = null, sameKey = null, replace = false, ownKeys } = options(
        given, ["user", "held", "sameKey", "replace", "ownKeys"], "checkRegistration",
    );
    if (typeof record?.publicKey !== "string" || !Number.isSafeInteger(record.generation) || !Array.isArray(record.suites)) {
        throw new TypeError("the record must be what parseDeviceRecord has returned");
    }
    if (user !== null) string(user, "user");
    if (ownKeys !== undefined) array(ownKeys, "ownKeys").forEach((key) => string(key, "one of ownKeys"));
    checkHeld(held, sameKey);
    const heldUser = held?.user ?? null;
    const isSame = held !== null && record.publicKey === held.publicKey;
    if (!boolean(replace, "replace")) checkAgainst(record, held, isSame, heldUser, user);
    if (suiteOf(record.publicKey) !== SUITE && !isSame) throw new PushcryptError("unsupported-suite");
    const topic = replace || held?.isRemoved ? undefined : held?.topic ?? undefined;
    if (topic !== undefined && record.topic !== undefined && record.topic !== topic) throw new PushcryptError("topic-mismatch");
    if (sameKey !== null && (sameKey.user === null || sameKey.user !== (user ?? heldUser))) throw new PushcryptError("key-taken");
    const isForeign = ownKeys !== undefined && record.provider !== undefined && !ownKeys.includes(record.provider);
    return present({ topic: record.topic ?? (held?.isRemoved ? undefined : held?.topic), user: user ?? heldUser, foreign: isForeign ? ["provider"] : [] });
}

/** Whether a record has a certificate by the provider's own key that the provider did not issue [D-33]. */
function showsStaleStore(record, given) {
    const { provider, topic, issued } = options(given, ["provider", "topic", "issued"], "showsStaleStore");
    const pin = keys.parseKey(string(provider, "provider"), keys.PROVIDER_PUBLIC);
    const known = array(issued, "issued").map((text) => Certificate.parse(string(text, "one of issued")));
    checkContext(topic);
    if (record.certificate === undefined) return false;
    const certificate = Certificate.parse(record.certificate);
    if (known.some((one) => one.claim.equals(certificate.claim))) return false;
    try {
        certificate.check(pin, topic);
        return true;
    } catch (refused) {
        if (!(refused instanceof PushcryptError)) throw refused;
        return false;
    }
}

/** Refuses what a database may give in other types or by other names: a text as a generation compares wrongly, and a user that is not there is none. */
function checkHeld(held, sameKey) {
    if (held !== null) {
        options(held, ["publicKey", "generation", "topic", "user", "isRemoved"], "held");
        if (held.isRemoved !== undefined) boolean(held.isRemoved, "held.isRemoved");
        string(held.publicKey, "held.publicKey");
        if (!Number.isSafeInteger(held.generation) || held.generation < 0) throw new TypeError("held.generation must be a whole number");
        if (held.topic !== undefined && held.topic !== null) string(held.topic, "held.topic");
    }
    if (sameKey !== null) options(sameKey, ["publicKey", "generation", "topic", "user"], "sameKey");
    for (const [device, what] of [[held, "held"], [sameKey, "sameKey"]]) {
        if (device !== null && device.user !== null) string(device.user, `${what}.user`);
    }
}

function checkAgainst(record, held, isSame, heldUser, user) {
    if (heldUser !== null && (user === null ? !isSame : user !== heldUser)) throw new PushcryptError("user-mismatch");
    const generation = held?.generation ?? 0;
    const isLower = record.generation < generation || (held !== null && record.generation === generation && !isSame);
    if (isLower) throw new PushcryptError("generation-rollback");
    if (record.generation > generation + GENERATION_STEP) throw new PushcryptError("generation-too-high");
    if (held !== null && suiteOf(held.publicKey) > suiteOf(record.publicKey)) throw new PushcryptError("suite-downgrade");
}

/** What a phone trusts after a reply [D-12], [D-13], [D-20]. */
function applyReply(reply, given) {
    const { publicKey, trust, topic, isBuiltIn = false } = options(given, ["publicKey", "trust", "topic", "isBuiltIn"], "applyReply");
    if (reply === null || typeof reply !== "object" || !Array.isArray(reply.foreign)) throw new TypeError("the reply must be what parseReply has returned");
    if (!(trust instanceof Trust)) throw new TypeError("trust must be a Trust");
    checkContext(topic);
    const confirms = reply.acknowledged === string(publicKey, "publicKey");
    if (reply.acknowledged !== undefined && !confirms) return { confirms, trust, told: null };
    const pins = confirms && trust.pins.length === 0 && !boolean(isBuiltIn, "isBuiltIn") && reply.provider !== undefined;
    const after = new Trust(pins ? [reply.provider] : trust.pins, trust.learned);
    return { confirms, trust: after, told: reply.refusedCertificate ?? toldOf(after, reply.certificate, topic) };
}

/** A code to tell the app of when it learns a certificate, or `null`. */
function toldOf(trust, certificate, topic) {
    if (certificate === undefined || trust.pins.length === 0) return null;
    try {
        return trust.accept(certificate, { topic }) === "conflict" ? "certificate-conflict" : null;
    } catch (refused) {
        if (!(refused instanceof PushcryptError)) throw refused;
        return refused.code;
    }
}

module.exports = {
    applyReply, checkRegistration, formatDeviceRecord, formatProviderRecord, formatReply, parseDeviceRecord, parseProviderRecord, parseReply, showsStaleStore,
};
