// The package's interface; index.d.ts documents it.
"use strict";

const { AnnouncedStatements, statementLine } = require("./lib/announced.js");
const { AttachmentReference, FileOpener, checkFullBody } = require("./lib/attachments.js");
const { PushcryptError } = require("./lib/errors.js");
const { SealFilter } = require("./lib/filter.js");
const { OpenedPush, Trust, open, openEnvelope } = require("./lib/opener.js");
const records = require("./lib/records.js");
const { RemoteSealer, SealedPush, Sealer, limits, messageID } = require("./lib/sealer.js");
const { DeviceKey, RecoveryKey, SenderKey } = require("./lib/secrets.js");
const { recoveryStatement, rotationStatement } = require("./lib/statements.js");

module.exports = {
    ...records, AnnouncedStatements, AttachmentReference, DeviceKey, FileOpener, OpenedPush, PushcryptError, RecoveryKey, RemoteSealer, SealFilter, SealedPush, Sealer, SenderKey, Trust,
    limits, messageID, open, openEnvelope, readFullBody: checkFullBody, recoveryStatement, rotationStatement, statementLine,
};
