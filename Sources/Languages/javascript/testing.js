// A phone for tests: it opens what a sealer sealed; testing.d.ts documents it.
"use strict";

const { Certificate } = require("./lib/certificate.js");
const { envelopeInfo, signed } = require("./lib/envelope.js");
const { PushcryptError } = require("./lib/errors.js");
const { buckets, limits, pushTypes } = require("./lib/format.js");
const { setupBaseR } = require("./lib/hpke.js");
const { parseObject } = require("./lib/json.js");
const keys = require("./lib/keys.js");
const { SecretKey, partsOf } = require("./lib/secrets.js");
const { json, moment, options, string, timeOrNow, topic: readTopic } = require("./lib/values.js");

class DeviceKey extends SecretKey {
    static TYPE = keys.X25519;
    static KIND = keys.DEVICE_SECRET;

    get publicKey() {
        return keys.keyText(partsOf(this, DeviceKey).publicKey, keys.DEVICE_PUBLIC);
    }
}

function open(push, given) {
    const { topic, device, provider, pushType = "alert", at } = options(given, ["topic", "device", "provider", "pushType", "at"], "open");
    const own = partsOf(device, DeviceKey, "device"), pin = keys.parseKey(string(provider, "provider"), keys.PROVIDER_PUBLIC), now = timeOrNow(at);
    const text = parseObject(json(push, "malformed-payload"), "malformed-payload").get("ENCRYPTED_DATA");
    const envelope = typeof text === "string" ? keys.fromBase64(text) : Buffer.alloc(0), header = envelope.subarray(0, 5), enc = envelope.subarray(5, 37);
    if (!buckets.includes(envelope.length - limits.envelopeOverhead)) throw new PushcryptError("malformed-envelope");
    if (!header.equals(Buffer.concat([Buffer.of(limits.suite), own.id]))) throw new PushcryptError("unknown-recipient-key");
    const inner = setupBaseR(enc, own, envelopeInfo(header, readTopic(topic))).open(envelope.subarray(37));
    const kind = inner[limits.innerContent], epoch = inner.subarray(0, 4), hash = keys.sha256(inner.subarray(limits.innerContent));
    let body = inner.subarray(limits.innerBody, limits.innerBody + inner.readUInt16BE(97)), signingKey = pin, certified = 0;
    if ((kind & limits.kindCertified) !== 0) {
        const certificate = new Certificate(body.subarray(0, limits.certificateLength));
        certificate.check(pin, topic);
        body = body.subarray(limits.certificateLength);
        ({ signingKey, epoch: certified } = certificate);
    }
    const message = signed(header, enc, own.publicKey, pin, signingKey, epoch, topic, hash);
    if (epoch.readUInt32BE() !== certified || !keys.verifies(signingKey, inner.subarray(4, limits.innerContent), message)) {
        throw new PushcryptError("authentication-failed");
    }
    if ((kind & limits.kindClass) !== pushTypes[string(pushType, "pushType")]?.class) throw new PushcryptError("wrong-push-class");
    const sentAt = Number(inner.readBigUInt64BE(85)), expiresAt = sentAt + 1000 * inner.readUInt32BE(93);
    if (now > BigInt(expiresAt)) throw new PushcryptError("expired");
    return { payload: body.toString(), messageId: inner.toString("hex", 69, 85), sentAt: moment(sentAt), expiresAt: moment(expiresAt) };
}

module.exports = { DeviceKey, open };
