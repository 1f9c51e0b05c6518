// The errors of what is refused: format.json has the codes, and `pushcrypt explain CODE` explains them.
"use strict";

const { codes, texts } = require("./format.js");

const CODES = new Map(Object.entries(codes));

/** What is refused, with its `code`, for logs: never for the user, and never with bytes of a key or payload. */
class PushcryptError extends Error {
    constructor(code, message = CODES.get(code)?.text ?? code, sequence = undefined) {
        super(`${code}: ${message} (${texts.codePage}${code})`);
        this.url = texts.codePage + code;
        this.name = "PushcryptError";
        this.code = code;
        this.retryable = CODES.get(code)?.retryable ?? false;
        if (sequence !== undefined) this.sequence = sequence;
    }
}

/** Returns what `call` returns, or what `recover` makes of a `PushcryptError`; other errors pass through. */
function attempt(call, recover) {
    try {
        return call();
    } catch (error) {
        if (!(error instanceof PushcryptError)) throw error;
        return recover(error);
    }
}

module.exports = { PushcryptError, attempt };
