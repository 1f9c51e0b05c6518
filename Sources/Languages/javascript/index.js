// The package's interface; index.d.ts documents it. Node finds these names for ES modules too, so there is one copy of the code.
"use strict";

const { Reference } = require("./lib/attachments.js");
const { PushcryptError } = require("./lib/errors.js");
const { parseDeviceRecord } = require("./lib/records.js");
const { accept, refusal, removed, withoutGrant } = require("./lib/registration.js");
const { CertificateRequest, issueCertificate, readCertificate } = require("./lib/requests.js");
const { SealedPush, Sealer } = require("./lib/sealer.js");
const { Credential, ProviderKey, SigningKey } = require("./lib/secrets.js");

module.exports = {
    Reference, CertificateRequest, Credential, ProviderKey, PushcryptError, SealedPush, Sealer, SigningKey, accept,
    issueCertificate, parseDeviceRecord, readCertificate, refusal, removed, withoutGrant,
};
