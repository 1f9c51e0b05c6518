// The package's interface; index.d.ts documents it.
"use strict";

const { AttachmentReference, FileOpener, checkFullBody } = require("./lib/attachments.js");
const { PushcryptError } = require("./lib/errors.js");
const { SealFilter } = require("./lib/filter.js");
const { OpenedPush, open, openEnvelope } = require("./lib/opener.js");
const records = require("./lib/records.js");
const { RemoteSealer, SealedPush, Sealer, limits, messageID } = require("./lib/sealer.js");
const { Credential, DeviceKey, ProviderKey, SigningKey, issueCertificate, readCertificate } = require("./lib/secrets.js");
const { Trust } = require("./lib/trust.js");

module.exports = {
    ...records, AttachmentReference, Credential, DeviceKey, FileOpener, OpenedPush, ProviderKey, PushcryptError, RemoteSealer, SealFilter, SealedPush, Sealer,
    SigningKey, Trust, issueCertificate, limits, messageID, open, openEnvelope, readCertificate, readFullBody: checkFullBody,
};
