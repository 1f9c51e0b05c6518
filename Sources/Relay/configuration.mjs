// What a publisher configures: Docs/SelfHosted.md, "relay.json".
import assert from "node:assert";
import { hasOnly, isObject } from "./bytes.mjs";
import { ENVIRONMENTS, isKinds, isTopic } from "./grants.mjs";
import { LONGEST_DATA, LONGEST_PUSH, pushOf } from "./messages.mjs";

const DEFAULTS = {
    requests_a_minute: 600, grants_a_minute: 60, ends_a_day: 200, pushes_a_minute: 60, pushes_a_day: 1000,
    background_an_hour: 3, token_factor: 5, requests_at_once: 8, rows: 1_000_000,
};
const SHOWN = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"];
const ALERT = [...SHOWN, "title-loc-args", "subtitle-loc-args", "loc-args", "launch-image"];

const isCount = (value) => Number.isSafeInteger(value) && value > 0;

function isOrigin(origin) {
    try {
        const isText = typeof origin === "string" && origin.length <= 255;
        return isText && new URL(origin).origin === origin && /^https?:/.test(origin);
    } catch {
        return false;
    }
}

const need = (isGood, text) => assert(isGood, new Error(text));

/** The key ids of an app's `.p8` files by environment: one for both, or one for each. */
export const keysOf = ({ key_id: id }) => (isObject(id) ? id : { production: id, development: id });

/** Checks what a publisher configured, and throws an `Error` that says what is wrong; returns it with the defaults. */
export function checkConfiguration(given) {
    const members = ["origin", "apps", "kinds", "data_format", "limits"];
    need(hasOnly(given, ...members), "it needs origin and apps, and may have kinds, data_format and limits");
    const { origin, apps, kinds = ["alert"], data_format: format = "pushcrypt", limits = {} } = given;
    need(isOrigin(origin), "origin is not like https://push.example.com: lower case, without a path");
    need(isKinds(kinds), "kinds are alert, background or both");
    const areLimits = hasOnly(limits, ...Object.keys(DEFAULTS)) && Object.values(limits).every(isCount);
    need(areLimits, `limits are numbers above 0: ${Object.keys(DEFAULTS)}`);
    const isOpaque = format !== "pushcrypt";
    const data = isOpaque ? format : { member: "ENCRYPTED_DATA", limit: LONGEST_DATA };
    const isMember = isObject(data) && /^[A-Za-z0-9_-]+$/.test(data.member) && data.member !== "aps";
    const isFormat = isMember && hasOnly(data, "member", "limit") && isCount(data.limit);
    need(isFormat, "data_format is \"pushcrypt\" or has member and limit");
    need(isObject(apps) && Object.keys(apps).length > 0, "apps has no app");
    for (const [topic, app] of Object.entries(apps)) checkApp(topic, app, data);
    return { origin, apps, kinds, isOpaque, data, limits: { ...DEFAULTS, ...limits } };
}

function checkApp(topic, app, data) {
    need(isTopic(topic), `${topic} is no bundle id`);
    const isKnown = hasOnly(app, "team", "key_id", "alert", "sounds");
    need(isKnown, `${topic}: it needs team, key_id and alert, and may have sounds`);
    const keys = keysOf(app), ids = [app.team, ...ENVIRONMENTS.map((environment) => keys[environment])];
    const areIDs = hasOnly(keys, ...ENVIRONMENTS) && ids.every((id) => /^[A-Z0-9]{10}$/.test(id));
    need(areIDs, `${topic}: team and key_id have 10 characters; key_id may be one for each environment`);
    const { alert, sounds = ["default"] } = app, texts = isObject(alert) ? Object.values(alert).flat() : [];
    const areTexts = texts.every((text) => typeof text === "string" && text.isWellFormed());
    need(hasOnly(alert, ...ALERT) && areTexts, `${topic}: alert has texts: ${ALERT}`);
    need(SHOWN.some((name) => alert[name]), `${topic}: alert has no text, so iOS would not start the extension`);
    const areNames = Array.isArray(sounds) && sounds.every((sound) => typeof sound === "string" && sound !== "");
    need(areNames, `${topic}: sounds are names`);
    const length = (sound) => Buffer.byteLength(pushOf({ alert, sound, content: true }, data.member, ""));
    const longest = Math.max(...[undefined, ...sounds].map(length)), room = LONGEST_PUSH - data.limit;
    need(longest <= room, `${topic}: a push has ${longest} bytes before the sealed message, and may have ${room}; ` +
        "shorten alert or sound");
}
