// The phone's half of answers: Docs/FormatAnswers.md.
"use strict";

const { LONGEST_ACTION, LONGEST_JSON, padded, sealPlain } = require("../answers.js");
const { PushcryptError } = require("../errors.js");
const { parseObject } = require("../json.js");
const { DEVICE_PUBLIC, deviceKeyID, parseKey } = require("../keys.js");
const { instance, options, present, string, time } = require("../values.js");
const { OpenedPush } = require("./opening.js");

/** The answer id and key of a message; what is malformed counts as absent. */
function givenOf(opened) {
    const own = parseObject(opened.payload.toString(), "malformed-payload").get("pushcrypt"), text = own instanceof Map ? own.get("answer") : undefined;
    return typeof text === "string" && /^[A-Za-z0-9_-]{64}$/.test(text) ? Buffer.from(text, "base64url") : undefined;
}

function sealAnswer(opened, given) {
    const { action, text, at = Date.now() } = options(given, ["action", "text", "at"], "sealAnswer");
    const answer = givenOf(instance(opened, OpenedPush, "the message")), length = Buffer.byteLength(string(action, "action"));
    if (answer === undefined) throw new PushcryptError("invalid-request", "the message cannot be answered");
    if (length < 1 || length > LONGEST_ACTION) throw new PushcryptError("invalid-request", `the action's id has not 1 to ${LONGEST_ACTION} bytes`);
    const members = { message_id: opened.messageId, sent_at: opened.sentAt, action, text: text === undefined ? undefined : string(text, "text"), at: Number(time(at, "at")) };
    const json = Buffer.from(JSON.stringify(present(members)));
    if (json.length > LONGEST_JSON) throw new PushcryptError("invalid-request", `the answer has ${json.length} bytes, over ${LONGEST_JSON}; shorten the text`);
    return sealPlain(answer, deviceKeyID(parseKey(opened.deviceKey, DEVICE_PUBLIC)), padded(json));
}

module.exports = { givenOf, sealAnswer };
