// The member `pushcrypt` of a payload: files, withdrawals, drop and sender. Docs/FormatMessages.md, Docs/FormatAttachments.md.
"use strict";

const { AttachmentReference, MOST, attachments, fullBody } = require("./attachments.js");
const { PushcryptError } = require("./errors.js");
const { namedMessageID } = require("./seal.js");
const { array, boolean, options, string } = require("./values.js");

const MOST_WITHDRAWN = 64;
const MOST_RECIPIENTS = 8;
const LONGEST_TEXT = 255;
const LARGEST_AVATAR = 1_000_000;
const PICTURES = ["public.jpeg", "public.png"];

/** What an opened payload says beside its text; `own` is the id of its message. */
function readReserved(members, own) {
    const { references, dropped } = attachments(members);
    let body = null;
    try {
        body = fullBody(members);
    } catch (error) {
        dropped.push(codeOf(error));
    }
    const reserved = members.get("pushcrypt") instanceof Map ? members.get("pushcrypt") : new Map();
    const { sender, droppedAvatar } = readSender(reserved.get("sender"));
    return {
        attachments: references, fullBody: body, withdraws: readWithdrawals(reserved.get("withdraw"), own), isDropped: reserved.get("drop") === true, sender,
        dropped: [...dropped, ...droppedAvatar],
    };
}

function codeOf(error) {
    if (!(error instanceof PushcryptError)) throw error;
    return error.code;
}

/** The ids of the withdrawn messages [O-8.11]. */
function readWithdrawals(names, own) {
    if (!Array.isArray(names)) return [];
    const named = names.slice(0, MOST_WITHDRAWN).filter((name) => typeof name === "string" && name !== "");
    return [...new Set(named.map((name) => namedMessageID(name).toString("hex")))].filter((id) => id !== own);
}

/** The sender [N-9], and the code of an avatar that is left out. */
function readSender(value) {
    if (!(value instanceof Map)) return { sender: null, droppedAvatar: [] };
    const droppedAvatar = [];
    let avatar = null;
    try {
        if ((value.get("avatar") ?? null) !== null) avatar = checkAvatar(new AttachmentReference(value.get("avatar")));
    } catch (error) {
        droppedAvatar.push(codeOf(error));
    }
    const [handle, conversation, recipients] = ["handle", "conversation", "recipients"].map((name) => value.get(name) ?? null);
    const name = value.get("name"), texts = [name, ...[handle, conversation].filter((text) => text !== null)];
    const isGood = (recipients === null || Array.isArray(recipients)) && (recipients ?? []).length <= MOST_RECIPIENTS &&
        [...texts, ...(recipients ?? [])].every(isShown);
    if (!isGood) return { sender: null, droppedAvatar };
    const sender = { name: visible(name), handle: handle ?? name, conversation, recipients: (recipients ?? []).map(visible), avatar };
    return { sender: [sender.name, ...sender.recipients].includes("") ? null : sender, droppedAvatar };
}

/** A name without the characters that [N-4] takes away. */
function visible(text) {
    return text.replace(/[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu, "");
}

function isShown(text) {
    return typeof text === "string" && text !== "" && Buffer.byteLength(text) <= LONGEST_TEXT && !/\p{Cc}/u.test(text);
}

function checkAvatar(reference) {
    if (!PICTURES.includes(reference.type) || reference.size > LARGEST_AVATAR) throw new PushcryptError("malformed-reference");
    return reference;
}

/** The member's text, or nothing. */
function writeReserved({ attachments: references = [], fullBody: body, sender, withdrawing = [], drop = false }, messageName) {
    const reference = (value, what) => {
        if (!(value instanceof AttachmentReference)) throw new TypeError(`${what} must be an AttachmentReference`);
        return value;
    };
    const members = [];
    if (body !== undefined) {
        const { size, type } = reference(body, "fullBody");
        if (type !== "public.plain-text" || size < 22 || size > 65557) throw new PushcryptError("malformed-reference");
        members.push(`"body":${body.json()}`);
    }
    if (array(references, "attachments").length > MOST) throw new PushcryptError("too-many-attachments");
    if (references.length > 0) members.push(`"attachments":[${references.map((one) => reference(one, "an attachment").json()).join(",")}]`);
    if (sender !== undefined) members.push(`"sender":${writeSender(sender)}`);
    checkWithdrawals(array(withdrawing, "withdrawing").map((name) => string(name, "the name of a message to withdraw")), messageName);
    if (withdrawing.length > 0) members.push(`"withdraw":${JSON.stringify(withdrawing)}`);
    if (boolean(drop, "drop")) members.push('"drop":true');
    return members.length > 0 ? `{${members.join(",")}}` : "";
}

function checkWithdrawals(names, messageName) {
    if (names.length > MOST_WITHDRAWN) throw new PushcryptError("invalid-request", `a message withdraws at most ${MOST_WITHDRAWN} others`);
    if (names.includes("")) throw new PushcryptError("invalid-request", "the name of a message to withdraw is empty");
    if (names.includes(messageName)) throw new PushcryptError("invalid-request", "the message would withdraw itself; give it another name");
}

function writeSender(given) {
    const { name, handle = name, conversation, recipients = [], avatar } = options(
        given, ["name", "handle", "conversation", "recipients", "avatar"], "from",
    );
    const texts = [name, handle, ...(conversation === undefined ? [] : [conversation]), ...array(recipients, "recipients")];
    for (const text of texts) {
        if (!isShown(string(text, "a text of from"))) {
            throw new PushcryptError("invalid-request", "each text of from has 1 to 255 bytes and no control characters");
        }
    }
    if (recipients.length > MOST_RECIPIENTS) throw new PushcryptError("invalid-request", `from has at most ${MOST_RECIPIENTS} recipients`);
    if (avatar !== undefined && !(avatar instanceof AttachmentReference)) throw new TypeError("avatar must be an AttachmentReference");
    const members = [`"name":${JSON.stringify(name)}`];
    if (handle !== name) members.push(`"handle":${JSON.stringify(handle)}`);
    if (conversation !== undefined) members.push(`"conversation":${JSON.stringify(conversation)}`);
    if (recipients.length > 0) members.push(`"recipients":${JSON.stringify(recipients)}`);
    if (avatar !== undefined) members.push(`"avatar":${checkAvatar(avatar).json()}`);
    return `{${members.join(",")}}`;
}

module.exports = { readReserved, writeReserved };
