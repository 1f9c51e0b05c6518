// Opening sealed files: Docs/FormatAttachments.md, "Opening a file".
//
// Keys are not wiped. Nothing is fetched: the caller must fetch over https only, and never more than `size` bytes,
//
"use strict";

const { createHash, timingSafeEqual } = require("node:crypto");
const { decrypt } = require("../aead.js");
const { PREFIX, isSize, nonceOf } = require("../attachments.js");
const { PushcryptError } = require("../errors.js");
const { limits } = require("../format.js");
const { decodeUTF8 } = require("../json.js");
const { bytes } = require("../values.js");

function openChunk(key, number, isLast, sealed) {
    const plain = decrypt(key, nonceOf(number, isLast), PREFIX, sealed);
    if (plain === undefined) throw new PushcryptError("authentication-failed");
    return plain;
}

/** Opens a sealed file to, in the order of its bytes. */
function openFile(reference, given) {
    const { size, sha256 } = reference, key = bytes(reference.key, "key"), expected = bytes(sha256, "sha256"), sealed = bytes(given, "the file"), plain = [];
    if (!isSize(size) || key.length !== 32 || expected.length !== 32) throw new PushcryptError("malformed-reference");
    if (sealed.length >= PREFIX.length && !sealed.subarray(0, PREFIX.length).equals(PREFIX)) throw new PushcryptError("not-a-sealed-file");
    let at = PREFIX.length;
    for (; at + limits.sealedChunk < size; at += limits.sealedChunk) {
        if (sealed.length < at + limits.sealedChunk) throw new PushcryptError("wrong-size");
        plain.push(openChunk(key, plain.length, false, sealed.subarray(at, at + limits.sealedChunk)));
    }
    if (sealed.length !== size) throw new PushcryptError("wrong-size");
    plain.push(openChunk(key, plain.length, true, sealed.subarray(at)));
    if (!timingSafeEqual(createHash("sha256").update(sealed).digest(), expected)) throw new PushcryptError("wrong-hash");
    return Buffer.concat(plain);
}

/** Returns the text in the plain file of a full body, [A-30]. If it is refused, the payload's own body is shown. */
function readFullBody(plain) {
    const text = decodeUTF8(bytes(plain, "the file"), "malformed-file");
    if (plain.length < 1 || plain.length > limits.longestFullBody || text.startsWith("\ufeff")) throw new PushcryptError("malformed-file");
    return text;
}

module.exports = { openFile, readFullBody };
