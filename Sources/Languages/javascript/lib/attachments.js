// Files that accompany a push: Docs/FormatAttachments.md.
//
// Keys are not wiped. Nothing is fetched: the caller must fetch over https only, and never more than `size` bytes,
//
"use strict";

const { createCipheriv, createDecipheriv, createHash, timingSafeEqual } = require("node:crypto");
const { PushcryptError } = require("./errors.js");
const { NumberText, parseObject } = require("./payload.js");
const { json } = require("./values.js");

const PREFIX = Buffer.from("PCA2\x10");
const OVERHEAD = 16;
const PLAIN_CHUNK = 65536, CHUNK = PLAIN_CHUNK + OVERHEAD;
const SMALLEST_FILE = 21;
const LARGEST_FULL_BODY = 65536;
const MOST = 8;

const LARGEST_PORT = 65535;
const CHARACTERS = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*";
const QUERY = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*";
const URL = new RegExp(`^https://([A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?(?:/${CHARACTERS})?(?:\\?${QUERY})?$`);
const NAME = /^(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z][A-Za-z0-9_-]{0,62}$/;
const ADDRESS = /^(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})$/;
const TYPE = /^(?=.{3,255}$)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;

// References

/**
 * The location of a sealed file, and its key to. Because of the key, `json` must never reach `userInfo` or a log; the key is not
 * enumerable, so that nothing prints it by accident.
 *
 * The name is a label to show, never a path: allows names that some systems treat as paths, such as `C:x`, `CON` or a backslash.
 */
class AttachmentReference {
    constructor(value) {
        if (!(value instanceof Map)) throw new PushcryptError("malformed-reference");
        const [url, type, name, key, sha256] = ["url", "type", "name", "key", "sha256"].map((member) => {
            if (typeof value.get(member) !== "string") throw new PushcryptError("malformed-reference");
            return value.get(member);
        });
        const size = value.get("size");
        if (
            !isURL(url) ||
            !TYPE.test(type) ||
            name === "" || name === "." || name === ".." || Buffer.byteLength(name) > 255 || /[/\u0000-\u001f\u007f-\u009f]/.test(name) ||
            !(size instanceof NumberText) || !size.isInteger || size.text.length > 16 ||
            !isSize(Number(size.text))
        ) {
            throw new PushcryptError("malformed-reference");
        }
        Object.assign(this, { url, size: Number(size.text), sha256: bytes32(sha256), type, name });
        Object.defineProperty(this, "key", { value: bytes32(key) });
    }

    static parse(text) {
        return new AttachmentReference(parseObject(json(text, "malformed-reference"), "malformed-reference"));
    }

    json() {
        const { url, key, size, sha256, type, name } = this;
        return JSON.stringify({ url, key: key.toString("base64url"), size, sha256: sha256.toString("base64url"), type, name });
    }
}

/** the last chunk is empty only if it is the first. */
function isSize(size) {
    const last = (size - PREFIX.length) % CHUNK;
    return Number.isSafeInteger(size) && (size === SMALLEST_FILE || (size > SMALLEST_FILE && (last === 0 || last > OVERHEAD)));
}

/** The grammar of. */
function isURL(text) {
    const [, host, port] = URL.exec(text) ?? [];
    if (host === undefined || Number(port ?? 0) > LARGEST_PORT) return false;
    return ADDRESS.test(host) ? host.split(".").every((byte) => Number(byte) <= 255) : NAME.test(host);
}

/** Reads 32 bytes from canonical base64url: 43 characters, the last with two unused bits. */
function bytes32(text) {
    if (!/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(text)) throw new PushcryptError("malformed-reference");
    return Buffer.from(text, "base64url");
}

/** Returns the references in a payload, and a code for each dropped item to. */
function attachments(members) {
    const own = members.get("pushcrypt") ?? null;
    const list = own instanceof Map ? own.get("attachments") ?? null : own;
    if (list === null) return { references: [], dropped: [] };
    if (!(own instanceof Map) || !Array.isArray(list)) return { references: [], dropped: ["malformed-reference"] };
    const references = [], dropped = [];
    for (const element of list.slice(0, MOST)) {
        try {
            references.push(new AttachmentReference(element));
        } catch (refused) {
            if (!(refused instanceof PushcryptError)) throw refused;
            dropped.push(refused.code);
        }
    }
    if (list.length > MOST) dropped.push("too-many-attachments");
    return { references, dropped };
}

/** Returns the reference of a text that was too long for the push, or `null`, [A-31]. */
function fullBody(members) {
    const own = members.get("pushcrypt");
    const body = own instanceof Map ? own.get("body") ?? null : null;
    if (body === null) return null;
    const reference = new AttachmentReference(body);
    const length = reference.size - SMALLEST_FILE;
    if (reference.type !== "public.plain-text" || length < 1 || length > LARGEST_FULL_BODY) throw new PushcryptError("malformed-reference");
    return reference;
}

/**
 * Returns the text in the plain file of a full body, [A-30]. If it is refused, the payload's own body is shown.
 */
function checkFullBody(plain) {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let text;
    try {
        text = decoder.decode(plain);
    } catch {
        throw new PushcryptError("malformed-file");
    }
    if (plain.length < 1 || plain.length > LARGEST_FULL_BODY || text.startsWith("\ufeff")) throw new PushcryptError("malformed-file");
    return text;
}

// The chunks, in the STREAM construction

function cipher(create, key, number, isLast) {
    const nonce = Buffer.alloc(12);
    // The other five bytes of the counter are zero in files below 2^64 bytes.
    nonce.writeBigUInt64BE(BigInt(number), 3);
    nonce[11] = isLast ? 1 : 0;
    return create("chacha20-poly1305", key, nonce, { authTagLength: OVERHEAD }).setAAD(PREFIX);
}

function sealChunk(key, number, isLast, plain) {
    const aead = cipher(createCipheriv, key, number, isLast);
    return [aead.update(plain), aead.final(), aead.getAuthTag()];
}

function openChunk(key, number, isLast, sealed) {
    const aead = cipher(createDecipheriv, key, number, isLast).setAuthTag(sealed.subarray(-OVERHEAD));
    const plain = aead.update(sealed.subarray(0, -OVERHEAD));
    try {
        aead.final();
    } catch {
        throw new PushcryptError("authentication-failed");
    }
    return plain;
}

// Files

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
    #buffer = Buffer.alloc(CHUNK);

    constructor({ key, size, sha256 }) {
        if (!(key instanceof Uint8Array) || !(sha256 instanceof Uint8Array)) throw new TypeError("FileOpener needs a reference");
        if (!isSize(size)) throw new PushcryptError("malformed-reference");
        this.#key = key;
        Object.assign(this, { size, sha256, hash: createHash("sha256"), came: 0, buffered: 0, number: 0, ended: false });
    }

    /** Accepts bytes of the file and returns those of the chunks that are now known not to be the last. */
    update(piece) {
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
            if (this.buffered === CHUNK) plain.push(this.#takeBuffer(false));
            const part = within.subarray(0, CHUNK - this.buffered);
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

/** Seals a file under a key that is never used for anything else to. */
function sealFile(plain, key) {
    const parts = [PREFIX], last = Math.max(Math.ceil(plain.length / PLAIN_CHUNK) - 1, 0);
    for (let number = 0; number <= last; number++) {
        const at = number * PLAIN_CHUNK;
        parts.push(...sealChunk(key, number, number === last, plain.subarray(at, at + PLAIN_CHUNK)));
    }
    return Buffer.concat(parts);
}

module.exports = {
    AttachmentReference, MOST, attachments, fullBody, checkFullBody, FileOpener, sealFile,
};
