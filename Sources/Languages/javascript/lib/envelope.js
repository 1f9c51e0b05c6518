// The layout of envelopes: Docs/Format.md, "Envelope", "Construction" and "Inner plaintext".
"use strict";

const { PushcryptError } = require("./errors.js");
const { buckets, labels, limits } = require("./format.js");
const { fromBase64, sha256 } = require("./keys.js");

/** Decodes an envelope's text [O-2.1] to [O-2.5]. An envelope has exactly one text. */
function decode(text) {
    const envelope = fromBase64(text);
    if (envelope.length === 0 || text.length > limits.longestEnvelopeText) throw new PushcryptError("malformed-envelope");
    if (envelope[0] !== limits.suite) throw new PushcryptError("unsupported-suite");
    if (!buckets.includes(envelope.length - limits.envelopeOverhead)) throw new PushcryptError("malformed-envelope");
    return envelope;
}

/** Identifies an envelope in a log. Never decide anything by it. */
function fingerprint(text) {
    return sha256(Buffer.from(text)).toString("hex", 0, 4);
}

/** The last text, usually a sealer's topic, and its bytes. */
let last = { text: "", bytes: Buffer.alloc(2) };

function lp16(text) {
    if (last.text !== text) last = { text, bytes: Buffer.concat([Buffer.of(text.length >> 8, text.length), Buffer.from(text)]) };
    return last.bytes;
}

function envelopeInfo(header, context) {
    return Buffer.concat([labels.envelope, header, lp16(context)]);
}

function signed(header, enc, recipient, provider, signingKey, epoch, context, contentHash) {
    return Buffer.concat([labels.signature, header, enc, recipient, provider, signingKey, epoch, lp16(context), contentHash]);
}

module.exports = { decode, envelopeInfo, fingerprint, lp16, signed };
