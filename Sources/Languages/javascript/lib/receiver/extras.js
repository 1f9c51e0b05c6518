// What an opened payload says beside its text, in the member `pushcrypt`. Docs/FormatMessages.md, Docs/FormatAttachments.md.
"use strict";

const { AttachmentReference, checkAvatar, checkFullBody } = require("../attachments.js");
const { attempt } = require("../errors.js");
const { invisible, limits } = require("../format.js");
const { isShown } = require("../reserved.js");
const { namedMessageID } = require("../seal.js");

/** What an opened payload says beside its text; `own` is the id of its message. */
function readExtras(members, own) {
    const { references, dropped } = attachments(members);
    const reserved = members.get("pushcrypt") instanceof Map ? members.get("pushcrypt") : new Map();
    const fullBody = optionalReference(reserved.get("body"), checkFullBody, dropped);
    const { sender, droppedAvatar } = readSender(reserved.get("sender"));
    return {
        attachments: references, fullBody, withdraws: readWithdrawals(reserved.get("withdraw"), own), isDropped: reserved.get("drop") === true, sender,
        dropped: [...dropped, ...droppedAvatar],
    };
}

/** The ids of the withdrawn messages [O-8.11]. */
function readWithdrawals(names, own) {
    if (!Array.isArray(names)) return [];
    const named = names.slice(0, limits.mostWithdrawn).filter((name) => typeof name === "string" && name !== "");
    return [...new Set(named.map((name) => namedMessageID(name).toString("hex")))].filter((id) => id !== own);
}

/** The sender [N-9], and the code of an avatar that is left out. */
function readSender(value) {
    if (!(value instanceof Map)) return { sender: null, droppedAvatar: [] };
    const droppedAvatar = [], avatar = optionalReference(value.get("avatar"), checkAvatar, droppedAvatar);
    const [handle, conversation, recipients] = ["handle", "conversation", "recipients"].map((name) => value.get(name) ?? null);
    const name = value.get("name"), texts = [name, ...[handle, conversation].filter((text) => text !== null)];
    const isGood = (recipients === null || Array.isArray(recipients)) && (recipients ?? []).length <= limits.mostRecipients &&
        [...texts, ...(recipients ?? [])].every(isShown);
    if (!isGood) return { sender: null, droppedAvatar };
    const sender = { name: visible(name), handle: handle ?? name, conversation, recipients: (recipients ?? []).map(visible), avatar };
    return { sender: [sender.name, ...sender.recipients].includes("") ? null : sender, droppedAvatar };
}

/** A name without the characters that [N-4] takes away. */
function visible(text) {
    return text.replace(invisible, "");
}

/** Returns the references in a payload, and a code for each dropped item to. */
function attachments(members) {
    const own = members.get("pushcrypt") ?? null;
    const list = own instanceof Map ? own.get("attachments") ?? null : own;
    if (list === null) return { references: [], dropped: [] };
    if (!(own instanceof Map) || !Array.isArray(list)) return { references: [], dropped: ["malformed-reference"] };
    const references = [], dropped = [];
    for (const element of list.slice(0, limits.mostAttachments)) {
        attempt(() => references.push(new AttachmentReference(element)), ({ code }) => dropped.push(code));
    }
    if (list.length > limits.mostAttachments) dropped.push("too-many-attachments");
    return { references, dropped };
}

/** A reference that may be left out; the code of one that is refused is added to `dropped`. */
function optionalReference(value, check, dropped) {
    if ((value ?? null) === null) return null;
    return attempt(() => check(new AttachmentReference(value)), ({ code }) => {
        dropped.push(code);
        return null;
    });
}

module.exports = { readExtras };
