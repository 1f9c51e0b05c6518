// Opening sealed files: Docs/FormatAttachments.md, "Opening a file".
//
// Keys are not wiped. Nothing is fetched: the caller must fetch over https only, and never more than `size` bytes,
//
"use strict";

const { createDecipheriv, createHash, timingSafeEqual } = require("node:crypto");
const { PREFIX, cipher, isSize } = require("../attachments.js");
const { PushcryptError } = require("../errors.js");
const { limits } = require("../format.js");
const { decodeUTF8 } = require("../json.js");
const { bytes } = require("../values.js");

function openChunk(key, number, isLast, sealed) {
    const aead = cipher(createDecipheriv, key, number, isLast).setAuthTag(sealed.subarray(-limits.tagLength));
    const plain = aead.update(sealed.subarray(0, -limits.tagLength));
    try {
        aead.final();
    } catch {
        throw new PushcryptError("authentication-failed");
    }
    return plain;
}

/**
 * Opens a sealed file in pieces to.
 *
 * The bytes from `update` are authentic but may be truncated: write them to a file with a temporary name, and rename it
 * only after `finish` has returned the rest, [A-35]. After a `PushcryptError`, and after `finish`, everything is
 * refused.
 */
class FileOpener {
    #key;
    #start = Buffer.alloc(0);
    #buffer = Buffer.alloc(limits.sealedChunk);

    constructor({ key, size, sha256 }) {
        if (!(key instanceof Uint8Array) || !(sha256 instanceof Uint8Array)) throw new TypeError("FileOpener needs a reference");
        if (!isSize(size)) throw new PushcryptError("malformed-reference");
        this.#key = key;
        Object.assign(this, { size, sha256, hash: createHash("sha256"), came: 0, buffered: 0, number: 0, ended: false });
    }

    /** Accepts bytes of the file and returns those of the chunks that are now known not to be the last. */
    update(piece) {
        piece = bytes(piece, "a piece");
        this.#begin();
        let within = piece.subarray(0, this.size - this.came);
        const isOver = within.length < piece.length, plain = [];
        this.came += within.length;
        this.hash.update(within);
        if (this.#start.length < PREFIX.length) {
            const missing = PREFIX.length - this.#start.length;
            this.#start = Buffer.concat([this.#start, within.subarray(0, missing)]);
            within = within.subarray(missing);
            if (this.#start.length === PREFIX.length && !this.#start.equals(PREFIX)) throw new PushcryptError("not-a-sealed-file");
        }
        while (within.length > 0) {
            if (this.buffered === limits.sealedChunk) plain.push(this.#takeBuffer(false));
            const part = within.subarray(0, limits.sealedChunk - this.buffered);
            this.#buffer.set(part, this.buffered);
            this.buffered += part.length;
            within = within.subarray(part.length);
        }
        if (isOver) throw new PushcryptError("wrong-size");
        this.ended = false;
        return Buffer.concat(plain);
    }

    /** Refuses further calls until the current one succeeds. */
    #begin() {
        if (this.ended) throw new PushcryptError("malformed-file");
        this.ended = true;
    }

    #takeBuffer(isLast) {
        const plain = openChunk(this.#key, this.number++, isLast, this.#buffer.subarray(0, this.buffered));
        this.buffered = 0;
        return plain;
    }

    /** Returns the last chunk, if the whole file matches its reference. */
    finish() {
        this.#begin();
        if (this.came !== this.size) throw new PushcryptError("wrong-size");
        const chunk = this.#takeBuffer(true);
        if (!timingSafeEqual(this.hash.digest(), this.sha256)) throw new PushcryptError("wrong-hash");
        return chunk;
    }
}

/** Returns the text in the plain file of a full body, [A-30]. If it is refused, the payload's own body is shown. */
function readFullBody(plain) {
    const text = decodeUTF8(bytes(plain, "the file"), "malformed-file");
    if (plain.length < 1 || plain.length > limits.longestFullBody || text.startsWith("\ufeff")) throw new PushcryptError("malformed-file");
    return text;
}

module.exports = { FileOpener, readFullBody };
