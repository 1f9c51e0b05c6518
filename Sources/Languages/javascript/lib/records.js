// Records and replies, in which a phone and its provider exchange public keys: Docs/FormatRecords.md. What a provider decides is in registration.js.
"use strict";

const { Certificate } = require("./certificate.js");
const { attempt } = require("./errors.js");
const { Fields } = require("./fields.js");
const { limits } = require("./format.js");
const { NumberText } = require("./json.js");
const keys = require("./keys.js");
const { array, bytes, isTopic, json, options, present, string } = require("./values.js");

const REASON = /^[a-z0-9-]{1,64}$/;
const TOKEN = /^[0-9a-f]+$/, ENVIRONMENT = /^(?:production|development)$/, WITHDRAWAL = /^[0-9a-f]{32}$/, GRANT = /^[A-Za-z0-9_-]+$/;
const MALFORMED = "malformed-record";
/** The suite of the keys that this package seals to. */
const SUITE = limits.suite;

// Reading: first what is no text of a key, then the keys in order, last what follows from them.

function texts(members, name, most) {
    const value = members.get(name);
    if (value === undefined) return [];
    members.rule(Array.isArray(value) && value.length >= 1 && value.length <= most && value.every((one) => typeof one === "string"), `${name} is not an array of 1 to ${most} strings`);
    return value;
}

function topicOf(members) {
    const topic = members.text("topic");
    members.rule(topic === undefined || isTopic(topic), "topic is not a bundle id");
    return topic;
}

/** The suite of a key's text. */
const suiteOf = (publicKey) => (publicKey.startsWith(`${keys.PQ_PUBLIC}1`) ? 2 : SUITE);

/** [D-9], with the suite of a record's key. */
function suitesOf(members, own) {
    const value = members.get("suites");
    if (value === undefined) return [own ?? SUITE];
    const isSuite = (one) => one instanceof NumberText && /^[1-9][0-9]{0,2}$/.test(one.text) && Number(one.text) <= limits.largestSuite;
    const isGood = Array.isArray(value) && value.length >= 1 && value.length <= limits.mostSuites && value.every(isSuite);
    const suites = isGood ? value.map((one) => Number(one.text)) : [];
    const isOrdered = isGood && suites.every((one, index) => index === 0 || suites[index - 1] < one);
    members.rule(isOrdered && (own === undefined || suites.includes(own)), "suites are not 1 to 16 ascending numbers from 1 to 255, including that of the key");
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
    const members = Fields.parse(given, MALFORMED), publicKey = members.needs("public_key");
    const own = kind === keys.DEVICE_PUBLIC ? suiteOf(publicKey) : SUITE, suite = members.get("suite");
    members.rule(suite === undefined || (suite instanceof NumberText && suite.text === `${own}`), "suite is not that of public_key");
    return { members, own };
}

function checkKeys(all, kind) {
    for (const key of all) keys.parseKey(key, kind);
    return all.map(keys.bare);
}

/** A certificate that breaks [T-1] counts as absent [D-31]. */
function certificateOf(members) {
    const given = members.text("certificate");
    return attempt(() => (given === undefined ? undefined : Certificate.parse(given).text), () => undefined);
}

function checkID(members, id) {
    const named = members.text("key_id");
    members.rule(named === undefined || named === id.toString("hex"), "key_id is not that of public_key");
}

function parseDeviceRecord(given) {
    const { members, own } = begin(given, keys.DEVICE_PUBLIC);
    const deviceId = members.text("device"), appVersion = members.text("app_version");
    members.rule(deviceId === undefined || isDeviceID(deviceId), "device has not 1 to 255 bytes, or is blank, has invisible characters or begins like a key");
    members.rule(appVersion === undefined || isName(appVersion, limits.longestAppVersion), "app_version has not 1 to 64 bytes, or has control characters");
    const suites = suitesOf(members, own), topic = topicOf(members), generation = members.integer("generation") ?? 1, created = members.integer("created");
    const pinned = members.text("provider"), certificate = certificateOf(members);
    const token = members.matching("token", TOKEN, limits.longestToken), environment = members.matching("environment", ENVIRONMENT);
    members.rule(token === undefined || token.length % 2 === 0, "token has half a byte");
    const withdrawal = members.matching("withdrawal", WITHDRAWAL), grant = members.matching("grant", GRANT, limits.longestGrant);
    members.text("key_id");
    const bytes = keys.parseKey(members.text("public_key"), keys.DEVICE_PUBLIC);
    const [provider] = checkKeys(pinned === undefined ? [] : [pinned], keys.PROVIDER_PUBLIC);
    checkID(members, keys.deviceKeyID(bytes));
    return present({
        deviceId, publicKey: keys.keyText(bytes, keys.DEVICE_PUBLIC), suites, topic, generation, created, provider, certificate, appVersion, token,
        environment, withdrawal, grant,
    });
}

function parseProviderRecord(given) {
    const { members } = begin(given, keys.PROVIDER_PUBLIC);
    const topic = topicOf(members), generation = members.integer("generation") ?? 1, created = members.integer("created");
    const certificate = certificateOf(members);
    members.text("key_id");
    const bytes = keys.parseKey(members.text("public_key"), keys.PROVIDER_PUBLIC);
    checkID(members, keys.keyID(keys.ED25519, bytes));
    return present({ publicKey: keys.keyText(bytes, keys.PROVIDER_PUBLIC), topic, generation, created, certificate });
}

function parseReply(given) {
    const members = Fields.parse(given, MALFORMED);
    members.rule(members.integer("version") === 1, "version is not 1");
    const confirmed = members.text("acknowledged"), refused = members.text("refused"), own = members.text("provider");
    members.rule((confirmed === undefined) !== (refused === undefined), "there is not either acknowledged or refused");
    members.rule(refused === undefined || REASON.test(refused), "refused is not a reason");
    const suites = suitesOf(members), foreign = texts(members, "foreign", limits.mostForeign), key = members.text("push_key");
    const [acknowledged] = checkKeys(confirmed === undefined ? [] : [confirmed], keys.DEVICE_PUBLIC);
    const [provider] = checkKeys(own === undefined ? [] : [own], keys.PROVIDER_PUBLIC);
    const pushKey = key === undefined ? undefined : keys.parseRawKey(key, "malformed-key");
    return present({ acknowledged, refused, provider, certificate: certificateOf(members), suites, foreign, pushKey });
}

// Writing: what is written is read back, so that nobody gets a record that breaks a rule.

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
    SUITE, formatProviderRecord, formatReply, parseDeviceRecord, parseProviderRecord, parseReply, suiteOf,
};
