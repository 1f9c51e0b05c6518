// Records and replies, in which a phone and its provider exchange public keys: Docs/FormatRecords.md. What a provider decides is in registration.js.
"use strict";

const { Certificate } = require("./certificate.js");
const { PushcryptError, attempt } = require("./errors.js");
const { limits } = require("./format.js");
const { NumberText, parseObject } = require("./json.js");
const keys = require("./keys.js");
const { array, bytes, isTopic, json, options, present, string } = require("./values.js");

const REASON = /^[a-z0-9-]{1,64}$/;
const TOKEN = /^[0-9a-f]+$/, ENVIRONMENT = /^(?:production|development)$/, WITHDRAWAL = /^[0-9a-f]{32}$/, GRANT = /^[A-Za-z0-9_-]+$/;
const MALFORMED = "malformed-record";
/** The suite of the keys that this package seals to. */
const SUITE = limits.suite;

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

function matching(members, name, pattern, longest = Infinity) {
    const value = text(members, name);
    rule(value === undefined || (value.length <= longest && pattern.test(value)), `${name} breaks its rule`);
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

/** The suite of a key's text. */
const suiteOf = (publicKey) => (publicKey.startsWith(`${keys.PQ_PUBLIC}1`) ? 2 : SUITE);

/** [D-9], with the suite of a record's key. */
function suitesOf(members, own) {
    const value = member(members, "suites");
    if (value === undefined) return [own ?? SUITE];
    const isSuite = (one) => one instanceof NumberText && /^[1-9][0-9]{0,2}$/.test(one.text) && Number(one.text) <= limits.largestSuite;
    const isGood = Array.isArray(value) && value.length >= 1 && value.length <= limits.mostSuites && value.every(isSuite);
    const suites = isGood ? value.map((one) => Number(one.text)) : [];
    const isOrdered = isGood && suites.every((one, index) => index === 0 || suites[index - 1] < one);
    rule(isOrdered && (own === undefined || suites.includes(own)), "suites are not 1 to 16 ascending numbers from 1 to 255, including that of the key");
    return suites;
}

function isName(value, most) {
    return value !== "" && Buffer.byteLength(value) <= most && !/\p{Cc}/u.test(value);
}

function isDeviceID(id) {
    const isKey = [keys.DEVICE_PUBLIC, keys.PQ_PUBLIC].some((prefix) => id.startsWith(`${prefix}1`));
    return isName(id, limits.longestDeviceID) && !/[\p{Cf}\p{Zl}\p{Zp}]/u.test(id) && !isKey && !/^ *$/.test(id);
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
    return all.map(keys.bare);
}

/** A certificate that breaks [T-1] counts as absent [D-31]; its code comes with it. */
function certificateOf(members) {
    const given = text(members, "certificate");
    return attempt(() => ({ certificate: given === undefined ? undefined : Certificate.parse(given).text }), ({ code }) => ({ refusedCertificate: code }));
}

function checkID(members, id) {
    const named = text(members, "key_id");
    rule(named === undefined || named === id.toString("hex"), "key_id is not that of public_key");
}

function parseDeviceRecord(given) {
    const { members, own } = begin(given, keys.DEVICE_PUBLIC);
    const deviceId = text(members, "device"), appVersion = text(members, "app_version");
    rule(deviceId === undefined || isDeviceID(deviceId), "device has not 1 to 255 bytes, or is blank, has invisible characters or begins like a key");
    rule(appVersion === undefined || isName(appVersion, limits.longestAppVersion), "app_version has not 1 to 64 bytes, or has control characters");
    const suites = suitesOf(members, own), topic = topicOf(members), generation = integer(members, "generation") ?? 1, created = integer(members, "created");
    const pinned = text(members, "provider"), { certificate } = certificateOf(members);
    const token = matching(members, "token", TOKEN, limits.longestToken), environment = matching(members, "environment", ENVIRONMENT);
    rule(token === undefined || token.length % 2 === 0, "token has half a byte");
    const withdrawal = matching(members, "withdrawal", WITHDRAWAL), grant = matching(members, "grant", GRANT, limits.longestGrant);
    text(members, "key_id");
    const bytes = keys.parseKey(text(members, "public_key"), keys.DEVICE_PUBLIC);
    const [provider] = checkKeys(pinned === undefined ? [] : [pinned], keys.PROVIDER_PUBLIC);
    checkID(members, keys.deviceKeyID(bytes));
    return present({
        deviceId, publicKey: keys.keyText(bytes, keys.DEVICE_PUBLIC), suites, topic, generation, created, provider, certificate, appVersion, token,
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
    const suites = suitesOf(members), foreign = texts(members, "foreign", limits.mostForeign), key = text(members, "push_key");
    const [acknowledged] = checkKeys(confirmed === undefined ? [] : [confirmed], keys.DEVICE_PUBLIC);
    const [provider] = checkKeys(own === undefined ? [] : [own], keys.PROVIDER_PUBLIC);
    const pushKey = key === undefined ? undefined : keys.parseRawKey(key, "malformed-key");
    return present({ acknowledged, refused, provider, ...certificateOf(members), suites, foreign, pushKey });
}

// Writing: what is written is read back, so that nobody gets a record that breaks a rule.

const DEVICE_RECORD = [
    "deviceId", "publicKey", "suites", "topic", "generation", "created", "provider", "certificate", "appVersion", "token", "environment", "withdrawal", "grant",
];

function formatDeviceRecord(given) {
    const { deviceId, publicKey, suites, appVersion, ...same } = options(given, DEVICE_RECORD, "formatDeviceRecord");
    const key_id = keys.deviceKeyID(keys.parseKey(string(publicKey, "publicKey"), keys.DEVICE_PUBLIC)).toString("hex"), suite = suiteOf(publicKey);
    const members = { device: deviceId, public_key: publicKey, key_id, suite, suites: suites ?? [suite], app_version: appVersion, ...same };
    return written(parseDeviceRecord, members);
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
    return text;
}

module.exports = {
    DEVICE_RECORD, SUITE, formatDeviceRecord, formatProviderRecord, formatReply, parseDeviceRecord, parseProviderRecord, parseReply, suiteOf,
};
