// Files that accompany a push, for who seals them: Docs/FormatFiles.md. Keys are not wiped.
"use strict";

const { encrypt } = require("./aead.js");
const { PushcryptError } = require("./errors.js");
const format = require("./format.js");
const { parseObject } = require("./json.js");
const { parseBytes32 } = require("./keys.js");
const { isName, json } = require("./values.js");

const { limits } = format;
/** The first five bytes of a file, which its chunks authenticate. */
const PREFIX = format.fileHeader;

const LARGEST_PORT = 65535;
const CHARACTERS = "A-Za-z0-9._~!$&'()*+,;=:@/%-";
const URL = new RegExp(`^https://([A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?(?:/[${CHARACTERS}]*)?(?:\\?[?${CHARACTERS}]*)?$`);
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
class Reference {
    constructor(value) {
        if (!(value instanceof Map)) throw new PushcryptError("malformed-reference");
        const [url, type, name, key, sha256] = ["url", "type", "name", "key", "sha256"].map((member) => {
            if (typeof value.get(member) !== "string") throw new PushcryptError("malformed-reference");
            return value.get(member);
        });
        const size = value.get("size")?.integer;
        if (
            !isURL(url) ||
            !TYPE.test(type) ||
            !isName(name, limits.longestFileName) || name === "." || name === ".." || name.includes("/") ||
            size === undefined || !isSize(size)
        ) {
            throw new PushcryptError("malformed-reference");
        }
        Object.assign(this, { url, size, sha256: parseBytes32(sha256, "malformed-reference"), type, name });
        Object.defineProperty(this, "key", { value: parseBytes32(key, "malformed-reference") });
    }

    static parse(text) {
        return new Reference(parseObject(json(text, "malformed-reference"), "malformed-reference"));
    }

    json() {
        const { url, key, size, sha256, type, name } = this;
        return JSON.stringify({ url, key: key.toString("base64url"), size, sha256: sha256.toString("base64url"), type, name });
    }
}

/** the last chunk is empty only if it is the first. */
function isSize(size) {
    const last = (size - PREFIX.length) % limits.sealedChunk;
    return size === limits.smallestFile || (size > limits.smallestFile && (last === 0 || last > limits.tagLength));
}

/** The grammar of. */
function isURL(text) {
    const [, host, port] = URL.exec(text) ?? [];
    if (host === undefined || Number(port ?? 0) > LARGEST_PORT || /%(?![0-9A-Fa-f]{2})/.test(text)) return false;
    return ADDRESS.test(host) ? host.split(".").every((byte) => Number(byte) <= 255) : NAME.test(host);
}

/** Refuses a reference that is not one of a full body. */
function checkFullBody(reference) {
    const length = reference.size - limits.smallestFile;
    const isGood = reference.type === format.texts.fullBodyType && length >= 1 && length <= limits.longestFullBody;
    if (!isGood) throw new PushcryptError("malformed-reference");
    return reference;
}

/** Refuses a reference that is not one of a picture. */
function checkAvatar(reference) {
    const isGood = format.avatarTypes.includes(reference.type) && reference.size <= limits.largestAvatar;
    if (!isGood) throw new PushcryptError("malformed-reference");
    return reference;
}

// The chunks, in the STREAM construction

function nonceOf(number, isLast) {
    const nonce = Buffer.alloc(12);
    // The other five bytes of the counter are zero in files below 2^64 bytes.
    nonce.writeBigUInt64BE(BigInt(number), 3);
    nonce[11] = isLast ? 1 : 0;
    return nonce;
}

/** Seals a file under a key that is never used for anything else to. */
function sealFile(plain, key) {
    const parts = [PREFIX], last = Math.max(Math.ceil(plain.length / limits.plainChunk) - 1, 0);
    for (let number = 0; number <= last; number++) {
        const at = number * limits.plainChunk;
        parts.push(encrypt(key, nonceOf(number, number === last), PREFIX, plain.subarray(at, at + limits.plainChunk)));
    }
    return Buffer.concat(parts);
}

module.exports = { Reference, checkAvatar, checkFullBody, sealFile };
