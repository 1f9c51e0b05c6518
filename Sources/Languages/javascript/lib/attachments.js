// Files that accompany a push: Docs/FormatAttachments.md.
//
// Node has no secret stream, so it is built here from ChaCha20. Poly1305 in BigInt is slow and does not run in constant
// time: it leaks through timing to an adversary who can measure it closely. Keys are not wiped. Nothing is fetched: the
// caller must fetch over https only, and never more than `size` bytes, [A-34].
"use strict";

const { createCipheriv, createHash, randomBytes, timingSafeEqual } = require("node:crypto");
const { PushcryptError } = require("./errors.js");
const { NumberText, parseObject } = require("./payload.js");
const { json } = require("./values.js");

const PREFIX = Buffer.from("PCA1\x10");
const HEADER = 24;
const START = 29;
const CHUNK = 65553;
const OVERHEAD = 17;
const SMALLEST_FILE = 46;
const LARGEST_FULL_BODY = 65536;
const MOST = 8;
const MESSAGE = 0x00, FINAL = 0x03;

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
            Number(size.text) < SMALLEST_FILE || Number(size.text) > Number.MAX_SAFE_INTEGER
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

// The secret stream

/** The state of a stream: a key, and a nonce that changes with each chunk. */
class SecretStream {
    constructor(key, header) {
        // HChaCha20 is words 0-3 and 12-15 of ChaCha20's state after its rounds. A ChaCha20 block is that state plus
        // the initial state, of which these words are known: the constants, and the input used here as counter and
        // nonce.
        const block = chacha20(key, header.subarray(0, 16), Buffer.alloc(64));
        const known = Buffer.concat([Buffer.from("expand 32-byte k"), header.subarray(0, 16)]);
        this.key = Buffer.alloc(32);
        for (let at = 0; at < 32; at += 4) {
            this.key.writeUInt32LE((block.readUInt32LE(at < 16 ? at : at + 32) - known.readUInt32LE(at)) >>> 0, at);
        }
        this.nonce = Buffer.concat([Buffer.of(1, 0, 0, 0), header.subarray(16)]);
    }

    /** The plain chunk and its tag, or `authentication-failed`. */
    pull(sealed) {
        const tagBlock = Buffer.alloc(64);
        tagBlock[0] = sealed[0];
        const tag = this.xor(1, tagBlock)[0];
        const cipher = sealed.subarray(1, -16);
        const mac = this.mac(sealed[0], cipher);
        if (!timingSafeEqual(mac, sealed.subarray(-16))) throw new PushcryptError("authentication-failed");
        const plain = this.xor(2, cipher);
        this.next(mac);
        return [plain, tag];
    }

    push(plain, tag) {
        const tagBlock = Buffer.alloc(64);
        tagBlock[0] = tag;
        const sealedTag = this.xor(1, tagBlock)[0];
        const cipher = this.xor(2, plain);
        const mac = this.mac(sealedTag, cipher);
        this.next(mac);
        return Buffer.concat([Buffer.of(sealedTag), cipher, mac]);
    }

    /**
     * The tag's block counts as 64 bytes of ciphertext. The padding after the ciphertext is libsodium's, not RFC
     * 8439's.
     */
    mac(sealedTag, cipher) {
        const tagBlock = this.xor(1, Buffer.alloc(64));
        tagBlock[0] = sealedTag;
        const lengths = Buffer.alloc(16);
        lengths.writeBigUInt64LE(BigInt(PREFIX.length));
        lengths.writeBigUInt64LE(BigInt(64 + cipher.length), 8);
        const parts = [PREFIX, Buffer.alloc(16 - PREFIX.length), tagBlock, cipher, Buffer.alloc(cipher.length % 16), lengths];
        return poly1305(this.xor(0, Buffer.alloc(32)), Buffer.concat(parts));
    }

    xor(block, data) {
        return chacha20(this.key, Buffer.concat([Buffer.of(block, 0, 0, 0), this.nonce]), data);
    }

    /** The nonce of the next chunk. Files of 2^32 chunks or more, 256 TiB, would need a new key here and do not open. */
    next(mac) {
        for (let at = 0; at < 8; at++) this.nonce[4 + at] ^= mac[at];
        this.nonce.writeUInt32LE((this.nonce.readUInt32LE() + 1) >>> 0);
    }
}

/** ChaCha20 of RFC 8439; counter and nonce are one string of 16 bytes. */
function chacha20(key, counterAndNonce, data) {
    return createCipheriv("chacha20", key, counterAndNonce).update(data);
}

/** Poly1305 of RFC 8439. */
function poly1305(key, data) {
    const r = littleEndian(key.subarray(0, 16)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn, p = (1n << 130n) - 5n;
    let sum = 0n;
    for (let at = 0; at < data.length; at += 16) {
        const block = data.subarray(at, at + 16);
        sum = ((sum + littleEndian(block) + (1n << BigInt(8 * block.length))) * r) % p;
    }
    sum = (sum + littleEndian(key.subarray(16))) & ((1n << 128n) - 1n);
    return Buffer.from(sum.toString(16).padStart(32, "0"), "hex").reverse();
}

function littleEndian(bytes) {
    return BigInt("0x" + Buffer.from(bytes).reverse().toString("hex"));
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
    #stream = null;
    #buffer = Buffer.alloc(CHUNK);

    constructor({ key, size, sha256 }) {
        if (!(key instanceof Uint8Array) || !(sha256 instanceof Uint8Array)) throw new TypeError("FileOpener needs a reference");
        this.#key = key;
        Object.assign(this, { size, sha256, hash: createHash("sha256"), came: 0, buffered: 0, first: true, ended: false });
    }

    /** Accepts bytes of the file and returns those of the chunks that are now known not to be the last. */
    update(piece) {
        this.#begin();
        const within = piece.subarray(0, this.size - this.came);
        this.came += within.length;
        this.hash.update(within);
        const plain = [];
        for (let taken = 0; taken < within.length;) {
            const full = this.#stream === null ? START : CHUNK;
            if (this.buffered === full) {
                plain.push(this.#takeBuffer());
                continue;
            }
            const part = within.subarray(taken, taken + full - this.buffered);
            this.#buffer.set(part, this.buffered);
            this.buffered += part.length;
            taken += part.length;
        }
        if (within.length < piece.length) throw new PushcryptError("wrong-size");
        this.ended = false;
        return Buffer.concat(plain);
    }

    /** Refuses further calls until the current one succeeds. */
    #begin() {
        if (this.ended) throw new PushcryptError("malformed-file");
        this.ended = true;
    }

    /** Processes the start of the file, or a chunk that is not the last. */
    #takeBuffer() {
        const buffered = this.#buffer.subarray(0, this.buffered);
        this.buffered = 0;
        if (this.#stream === null) {
            if (!buffered.subarray(0, 5).equals(PREFIX)) throw new PushcryptError("not-a-sealed-file");
            this.#stream = new SecretStream(this.#key, buffered.subarray(5));
            return Buffer.alloc(0);
        }
        const [chunk, tag] = this.#stream.pull(buffered);
        if (tag !== MESSAGE) throw new PushcryptError("malformed-file");
        this.first = false;
        return chunk;
    }

    /** Returns the last chunk, if the whole file matches its reference. */
    finish() {
        this.#begin();
        if (this.came !== this.size) throw new PushcryptError("wrong-size");
        if (this.#stream === null || this.buffered < OVERHEAD) throw new PushcryptError("truncated-file");
        const [chunk, tag] = this.#stream.pull(this.#buffer.subarray(0, this.buffered));
        if (tag === MESSAGE) throw new PushcryptError("truncated-file");
        if (tag !== FINAL || (chunk.length === 0 && !this.first)) throw new PushcryptError("malformed-file");
        if (!timingSafeEqual(this.hash.digest(), this.sha256)) throw new PushcryptError("wrong-hash");
        return chunk;
    }
}

/** Seals a file under a key that is never used for anything else to. `header` is for vectors alone. */
function sealFile(plain, key, header = randomBytes(HEADER)) {
    const stream = new SecretStream(key, header), parts = [PREFIX, header];
    const most = CHUNK - OVERHEAD;
    let at = 0;
    for (; plain.length - at > most; at += most) parts.push(stream.push(plain.subarray(at, at + most), MESSAGE));
    parts.push(stream.push(plain.subarray(at), FINAL));
    return Buffer.concat(parts);
}

module.exports = {
    AttachmentReference, MOST, attachments, fullBody, checkFullBody, FileOpener, sealFile,
};
