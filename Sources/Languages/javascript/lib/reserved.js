// The member `pushcrypt` of a payload to seal: files, withdrawals, drop and sender. Docs/FormatFiles.md; Docs/Format.md,
// "Withdrawal and drop" and "Sender".
"use strict";

const { Reference, checkAvatar, checkFullBody } = require("./attachments.js");
const { PushcryptError } = require("./errors.js");
const { limits } = require("./format.js");
const { array, boolean, instance, isName, options, string } = require("./values.js");

/** The member's text, or nothing. */
function writeReserved({ attachments: references = [], fullBody: body, person, withdraws = [], drop = false }, messageId) {
    const reference = (value, what) => instance(value, Reference, what);
    const members = [];
    if (body !== undefined) members.push(`"body":${checkFullBody(reference(body, "fullBody")).json()}`);
    if (array(references, "attachments").length > limits.mostAttachments) throw new PushcryptError("too-many-attachments");
    if (references.length > 0) members.push(`"attachments":[${references.map((one) => reference(one, "an attachment").json()).join(",")}]`);
    if (person !== undefined) members.push(`"sender":${writePerson(person)}`);
    checkWithdrawals(array(withdraws, "withdraws").map((id) => string(id, "the id of a message to withdraw")), messageId);
    if (withdraws.length > 0) members.push(`"withdraw":${JSON.stringify(withdraws)}`);
    if (boolean(drop, "drop")) members.push('"drop":true');
    return members.length > 0 ? `{${members.join(",")}}` : "";
}

function checkWithdrawals(ids, messageId) {
    if (ids.length > limits.mostWithdrawn) throw new PushcryptError("invalid-request", `a message withdraws at most ${limits.mostWithdrawn} others`);
    if (ids.includes("")) throw new PushcryptError("invalid-request", "the id of a message to withdraw is empty");
    if (ids.includes(messageId)) throw new PushcryptError("invalid-request", "the message would withdraw itself; give it another id");
}

function writePerson(given) {
    const { name, handle = name, conversation, recipients = [], avatar } = options(
        given, ["name", "handle", "conversation", "recipients", "avatar"], "person",
    );
    const texts = [name, handle, ...(conversation === undefined ? [] : [conversation]), ...array(recipients, "recipients")];
    for (const text of texts) {
        if (!isName(string(text, "a text of the person"), limits.longestLabel)) {
            throw new PushcryptError("invalid-request", "each text of the person has 1 to 255 bytes and no control characters");
        }
    }
    if (recipients.length > limits.mostRecipients) throw new PushcryptError("invalid-request", `a person has at most ${limits.mostRecipients} recipients`);
    const members = [`"name":${JSON.stringify(name)}`];
    if (handle !== name) members.push(`"handle":${JSON.stringify(handle)}`);
    if (conversation !== undefined) members.push(`"conversation":${JSON.stringify(conversation)}`);
    if (recipients.length > 0) members.push(`"recipients":${JSON.stringify(recipients)}`);
    if (avatar !== undefined) members.push(`"avatar":${checkAvatar(instance(avatar, Reference, "avatar")).json()}`);
    return `{${members.join(",")}}`;
}

module.exports = { writeReserved };
