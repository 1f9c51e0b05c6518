// The receiver, for tests; testing.d.ts documents it.
"use strict";

const { FileOpener, readFullBody } = require("./lib/receiver/files.js");
const { DeviceKey, OpenedPush, open, openEnvelope } = require("./lib/receiver/opening.js");
const { applyReply } = require("./lib/receiver/replies.js");
const { Trust } = require("./lib/receiver/trust.js");
const { formatDeviceRecord, parseReply } = require("./lib/records.js");

module.exports = { DeviceKey, FileOpener, OpenedPush, Trust, applyReply, formatDeviceRecord, open, openEnvelope, parseReply, readFullBody };
