// Records and replies, in which a phone and its provider exchange public keys: Docs/FormatRecords.md. What a provider decides is in registration.js.
"use strict";

const { Certificate } = require("./certificate.js");
const { attempt } = require("./errors.js");
const { Fields } = require("./fields.js");
const { invisibleCharacters, limits } = require("./format.js");
const { NumberText } = require("./json.js");
const keys = require("./keys.js");
const { array, bytes, isName, isTopic, json, options, present } = require("./values.js");

const REASON = /^[a-z0-9-]{1,64}$/;
const TOKEN = /^[0-9a-f]+$/, ENVIRONMENT = /^(?:production|development)$/, GRANT = /^[A-Za-z0-9_-]+$/, NONCE = /^[A-Za-z0-9_-]{21}[AQgw]$/;
const REPLY = ["acknowledged", "refused", "ended", "hello", "sequence", "provider", "certificate", "suites", "foreign", "pushKey", "nextPushKey", "grant"];
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

/** The suite of a key's text. */
const suiteOf = (publicKey) => (publicKey.startsWith(`${keys.PQ_PUBLIC}1`) ? 2 : SUITE);

/** [D-7], with the suite of a record's key. */
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

function isDeviceID(id) {
    const isKey = [keys.DEVICE_PUBLIC, keys.PQ_PUBLIC].some((prefix) => id.startsWith(`${prefix}1`));
    return isName(id, limits.longestDeviceID) && ![...id].some(isInvisible) && !isKey && !/^ *$/.test(id);
}

/** Whether a character is invisible, whatever JavaScript's tables say: an odd number of the ranges' bounds are at or below it. */
function isInvisible(character) {
    const code = character.codePointAt(0);
    return invisibleCharacters.filter((bound, index) => bound + (index % 2) <= code).length % 2 === 1;
}

function checkKeys(all, kind) {
    for (const key of all) keys.parseKey(key, kind);
    return all.map(keys.bare);
}

/** A certificate that breaks [T-1] counts as absent [D-12]. */
function certificateOf(members) {
    const given = members.text("certificate");
    return attempt(() => (given === undefined ? undefined : Certificate.parse(given).text), () => undefined);
}

function parseDeviceRecord(given) {
    const members = Fields.parse(given, MALFORMED), own = suiteOf(members.needs("public_key"));
    members.rule([own, undefined].includes(members.integer("suite")), "suite is not that of public_key");
    const device = members.text("device"), appVersion = members.text("app_version");
    members.rule(device === undefined || isDeviceID(device), "device has not 1 to 255 bytes, or is blank, has invisible characters or begins like a key");
    members.rule(appVersion === undefined || isName(appVersion, limits.longestAppVersion), "app_version has not 1 to 64 bytes, or has control characters");
    const suites = suitesOf(members, own), topic = members.text("topic");
    const generation = members.integer("generation") ?? 1, created = members.integer("created");
    members.rule(topic === undefined || isTopic(topic), "topic is not a bundle id");
    const pinned = members.text("provider"), certificate = certificateOf(members);
    const token = members.matching("token", TOKEN, limits.longestToken), environment = members.matching("environment", ENVIRONMENT);
    members.rule(token === undefined || token.length % 2 === 0, "token has half a byte");
    const grant = members.matching("grant", GRANT, limits.longestGrant), sequence = members.integer("sequence"), updateKey = members.text("update_key");
    members.matching("nonce", NONCE);
    members.rule(sequence !== 0 && sequence !== limits.largestTime, "sequence is not from 1 to 2^53 - 2");
    members.rule(members.get("ended") === undefined, "ended is of a signed end alone");
    const id = members.text("key_id"), bytes = keys.parseKey(members.text("public_key"), keys.DEVICE_PUBLIC);
    const [provider] = checkKeys(pinned === undefined ? [] : [pinned], keys.PROVIDER_PUBLIC);
    if (updateKey !== undefined) keys.parseRawKey(updateKey, "malformed-key");
    members.rule([keys.deviceKeyID(bytes).toString("hex"), undefined].includes(id), "key_id is not that of public_key");
    return present({
        device, publicKey: keys.keyText(bytes, keys.DEVICE_PUBLIC), suites, topic, generation, created, provider, certificate, appVersion, token,
        environment, grant, updateKey, sequence,
    });
}

function parseReply(given) {
    const members = Fields.parse(given, MALFORMED);
    members.rule(members.integer("version") === 1, "version is not 1");
    const confirmed = members.text("acknowledged"), refused = members.text("refused"), own = members.text("provider");
    const ended = members.text("ended"), hello = members.text("hello"), sequence = members.integer("sequence"), grant = members.matching("grant", /^ended$/);
    members.rule([confirmed, refused, ended, hello].filter((one) => one !== undefined).length === 1, "there is not one of acknowledged, refused, ended and hello");
    members.rule(refused === undefined || REASON.test(refused), "refused is not a reason");
    members.rule(ended === undefined || isDeviceID(ended), "ended is not a device id");
    const suites = suitesOf(members), foreign = texts(members, "foreign", limits.mostForeign), pushKeys = ["push_key", "next_push_key"].map((name) => members.text(name));
    const [acknowledged] = checkKeys(confirmed === undefined ? [] : [confirmed], keys.DEVICE_PUBLIC);
    const [provider] = checkKeys(own === undefined ? [] : [own], keys.PROVIDER_PUBLIC);
    const [pushKey, nextPushKey] = pushKeys.map((key) => (key === undefined ? undefined : keys.parseRawKey(key, "malformed-key")));
    return present({ acknowledged, refused, ended, hello, sequence, provider, certificate: certificateOf(members), suites, foreign, pushKey, nextPushKey, grant });
}

// Writing: what is written is read back, so that nobody gets a record that breaks a rule.

function formatReply(given) {
    const { foreign = [], pushKey, nextPushKey, ...same } = options(given, REPLY, "formatReply");
    const [push_key, next_push_key] = [pushKey, nextPushKey].map((key) => (key === undefined ? undefined : bytes(key, "a push key").toString("base64url")));
    return written(parseReply, { version: 1, ...same, foreign: some(foreign, "foreign"), push_key, next_push_key });
}

/** An array, which is left out if it is empty. */
function some(values, what) {
    return array(values, what).length > 0 ? values : undefined;
}

/** Refuses what JSON would leave out or write as another value, such as a generation that is not a number. */
function written(parse, members) {
    const text = json(present(members), MALFORMED);
    parse(text);
    return JSON.parse(text);
}

module.exports = {
    NONCE, SUITE, formatReply, isDeviceID, parseDeviceRecord, parseReply, suiteOf,
};
