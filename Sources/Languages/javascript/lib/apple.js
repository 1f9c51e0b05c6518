// The fields of `aps` in Apple's "Generating a remote notification": a payload that breaks a rule here is not sealed, because the phone
// would ignore the field or the push. Unknown fields are ignored, there and here.
"use strict";

const { PushcryptError } = require("./errors.js");
const { NumberText } = require("./payload.js");

const LARGEST_COUNT = 2n ** 63n - 1n;

const isText = (value) => typeof value === "string";
const isObject = (value) => value instanceof Map;
const double = (value) => (value instanceof NumberText && Number.isFinite(Number(value.text)) ? Number(value.text) : NaN);

// What a field may have: the test, and its words.
const TEXT = [isText, "a string"];
const TEXTS = [(value) => Array.isArray(value) && value.every(isText), "an array of strings"];
const TEXT_OR_OBJECT = [(value) => isText(value) || isObject(value), "a string or an object"];
const OBJECT = [isObject, "an object"];
const BOOL = [(value) => typeof value === "boolean", "true or false"];
const FLAG = [(value) => value instanceof NumberText && /^[01]$/.test(value.text), "the number 1 or 0, not a string and not true or false"];
const COUNT = [(value) => value instanceof NumberText && value.isInteger && BigInt(value.text) <= LARGEST_COUNT, "a whole number, 0 or more"];
const FRACTION = [(value) => double(value) >= 0 && double(value) <= 1, "a number from 0 to 1"];
const TIME = [(value) => double(value) >= 0 && double(value) < 1e11, "a time in seconds since 1970, not in milliseconds"];
const LEVEL = [(value) => ["passive", "active", "time-sensitive", "critical"].includes(value), "passive, active, time-sensitive or critical"];
const EVENT = [(value) => ["start", "update", "end"].includes(value), "start, update or end"];

const APS = new Map(Object.entries({
    "alert": TEXT_OR_OBJECT, "sound": TEXT_OR_OBJECT, "badge": COUNT, "thread-id": TEXT, "category": TEXT, "target-content-id": TEXT,
    "filter-criteria": TEXT, "content-available": FLAG, "mutable-content": FLAG, "interruption-level": LEVEL, "relevance-score": FRACTION,
    "url-args": TEXTS, "event": EVENT, "content-state": OBJECT, "attributes": OBJECT, "attributes-type": TEXT, "input-push-channel": TEXT,
    "timestamp": TIME, "stale-date": TIME, "dismissal-date": TIME, "input-push-token": FLAG, "content-changed": BOOL,
}));
const SHOWN = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"];
const ALERT = new Map([
    ...[...SHOWN, "launch-image"].map((name) => [name, TEXT]),
    ...["title-loc-args", "subtitle-loc-args", "loc-args"].map((name) => [name, TEXTS]),
]);
const SOUND = new Map([["name", TEXT], ["critical", FLAG], ["volume", FRACTION]]);

/** Refuses a field that is not as Apple documents it, and an alert that shows nothing. */
function checkApple(aps, pushType) {
    for (const [name, value] of aps) {
        check(name, value, APS, "aps");
        const inner = name === "alert" ? ALERT : name === "sound" ? SOUND : undefined;
        if (inner === undefined || !isObject(value)) continue;
        for (const [part, text] of value) check(part, text, inner, `aps.${name}`);
    }
    if (pushType !== "alert") return;
    const alert = aps.get("alert");
    if (isObject(alert) ? !SHOWN.some((name) => isText(alert.get(name)) && alert.get(name) !== "") : !isText(alert) || alert === "") {
        throw new PushcryptError(
            "nothing-to-show",
            "aps.alert has no title, subtitle or body, so the system would not start the extension; add a body, or seal it as a background push",
        );
    }
}

function check(name, value, rules, place) {
    const rule = rules.get(name);
    if (rule !== undefined && !rule[0](value)) throw new PushcryptError("invalid-field", `${place}.${name} must be ${rule[1]}`);
}

module.exports = { checkApple };
