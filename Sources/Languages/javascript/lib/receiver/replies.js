// What a phone does with a reply: Docs/FormatRecords.md, "Rules of phones".
"use strict";

const { attempt } = require("../errors.js");
const { boolean, instance, options, string, topic: readTopic } = require("../values.js");
const { Trust } = require("./trust.js");

/** What a phone trusts after a reply [D-12], [D-13], [D-20]. */
function applyReply(reply, given) {
    const { publicKey, trust, topic, isBuiltIn = false } = options(given, ["publicKey", "trust", "topic", "isBuiltIn"], "applyReply");
    if (reply === null || typeof reply !== "object" || !Array.isArray(reply.foreign)) throw new TypeError("the reply must be what parseReply has returned");
    instance(trust, Trust, "trust");
    readTopic(topic);
    const confirms = reply.acknowledged === string(publicKey, "publicKey");
    if (reply.acknowledged !== undefined && !confirms) return { confirms, trust, told: null };
    const pins = confirms && trust.pins.length === 0 && !boolean(isBuiltIn, "isBuiltIn") && reply.provider !== undefined;
    const after = new Trust(pins ? [reply.provider] : trust.pins, trust.learned);
    return { confirms, trust: after, told: reply.refusedCertificate ?? toldOf(after, reply.certificate, topic) };
}

/** A code to tell the app of when it learns a certificate, or `null`. */
function toldOf(trust, certificate, topic) {
    if (certificate === undefined || trust.pins.length === 0) return null;
    return attempt(() => (trust.accept(certificate, { topic }) === "conflict" ? "certificate-conflict" : null), ({ code }) => code);
}

module.exports = { applyReply };
