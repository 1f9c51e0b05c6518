// The layout of envelopes: Docs/Format.md, "Envelope", "Construction" and "Inner plaintext".
"use strict";

const { labels } = require("./format.js");

/** The last text, usually a sealer's topic, and its bytes. */
let last = { text: "", bytes: Buffer.alloc(2) };

function lp16(text) {
    if (last.text !== text) {
        const data = Buffer.from(text);
        last = { text, bytes: Buffer.concat([Buffer.of(data.length >> 8, data.length), data]) };
    }
    return last.bytes;
}

function envelopeInfo(header, context) {
    return Buffer.concat([labels.envelope, header, lp16(context)]);
}

function signed(header, enc, recipient, provider, signingKey, epoch, context, contentHash) {
    return Buffer.concat([labels.signature, header, enc, recipient, provider, signingKey, epoch, lp16(context), contentHash]);
}

/** Eight bytes of a BigInt. */
function u64(value) {
    const data = Buffer.alloc(8);
    data.writeBigUInt64BE(value);
    return data;
}

module.exports = { envelopeInfo, lp16, signed, u64 };
