// The receiver, for tests; testing.d.ts documents it.
"use strict";

const { sealAnswer } = require("./lib/receiver/answers.js");
const { openFile, readFullBody } = require("./lib/receiver/files.js");
const { DeviceKey, OpenedPush, open, openEnvelope } = require("./lib/receiver/opening.js");
const { PairingCode } = require("./lib/receiver/pairing.js");
const { Trust, applyReply } = require("./lib/receiver/trust.js");
const { formatDeviceRecord, parseReply } = require("./lib/records.js");

module.exports = {
    DeviceKey, OpenedPush, PairingCode, Trust, applyReply, formatDeviceRecord, open, openEnvelope, openFile, parseReply, readFullBody, sealAnswer,
};
