// The context, an app's bundle id: Docs/Format.md, "Context".
"use strict";

const { PushcryptError } = require("./errors.js");

/** Whether a text is a valid context, the app's bundle id without a suffix [K-2]. */
function checkContext(context) {
    if (typeof context !== "string") throw new TypeError("a topic must be a string");
    if (!/^[A-Za-z0-9.-]{1,255}$/.test(context)) throw new PushcryptError("wrong-topic");
}

module.exports = { checkContext };
