// The fields of `aps` in Apple's "Generating a remote notification": a payload that breaks a rule here is not sealed, because the phone
// would ignore the field or the push. Unknown fields are ignored, there and here.
"use strict";

const { PushcryptError } = require("./errors.js");
const format = require("./format.js");
const { NumberText } = require("./json.js");

const isText = (value) => typeof value === "string";
const isObject = (value) => value instanceof Map;
const double = (value) => (value instanceof NumberText && Number.isFinite(Number(value.text)) ? Number(value.text) : NaN);

/** The value of a number of 0 or more that is whole, however it is written [J-8]; `undefined` for any other value. */
function whole(value) {
    if (!(value instanceof NumberText)) return undefined;
    const number = Number(value.text), isExact = value.isInteger && value.text.length <= 19 && BigInt(value.text) < 2n ** 63n;
    return isExact || (Number.isSafeInteger(number) && number >= 0) ? number : undefined;
}

/** What is 1 or 0, or `true` or `false` [J-8]; `undefined` for any other value. */
function flag(value) {
    return typeof value === "boolean" ? value : { 0: false, 1: true }[whole(value)];
}

/** What a field may have, by the names of format.json. */
const TESTS = {
    "text": isText,
    "texts": (value) => Array.isArray(value) && value.every((one) => one === null || isText(one) || one instanceof NumberText),
    "text-or-object": (value) => isText(value) || isObject(value),
    "object": isObject,
    "flag": (value) => flag(value) !== undefined,
    "count": (value) => whole(value) !== undefined,
    "fraction": (value) => double(value) >= 0 && double(value) <= 1,
    "time": (value) => double(value) >= 0 && double(value) < format.limits.timeFieldEnd,
    "level": (value) => format.levels.includes(value),
    "event": (value) => format.events.includes(value),
};
const [APS, ALERT, SOUND] = [format.apsFields, format.alertFields, format.soundFields].map((fields) => new Map(Object.entries(fields)));

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
    const isShown = isObject(alert) ? format.shownTexts.some((name) => isText(alert.get(name)) && alert.get(name) !== "") : isText(alert) && alert !== "";
    if (!isShown) throw new PushcryptError("nothing-to-show");
}

function check(name, value, rules, place) {
    const rule = rules.get(name);
    if (rule !== undefined && value !== null && !TESTS[rule](value)) throw new PushcryptError("invalid-field", `${place}.${name} must be ${format.rules[rule]}`);
}

module.exports = { checkApple, flag };
