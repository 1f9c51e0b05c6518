// Reads questions from standard input, a line each, and answers them with the installed package. ../README.md has the language. What the
// package does not export, and only tests ask, is loaded by its file.
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import {
    AttachmentReference, Credential, DeviceKey, FileOpener, ProviderKey, PushcryptError, RemoteSealer, Sealer, SigningKey, Trust, applyReply, checkRegistration,
    formatDeviceRecord, formatReply, open, openEnvelope, parseDeviceRecord, parseProviderRecord, parseReply, readFullBody, showsStaleStore,
} from "pushcrypt";
import * as misuse from "./misuse.mjs";

const require = createRequire(import.meta.url);
const internal = (file) => require(`${import.meta.dirname ?? new URL(".", import.meta.url).pathname}/node_modules/pushcrypt/lib/${file}.js`);
const { Certificate, certify } = internal("certificate");
const { checkContext } = internal("context");
const { decode, fingerprint, OUTSIDE } = internal("envelope");
const keys = internal("keys");
const { checkPayload } = internal("payload");
const { readReserved } = internal("reserved");
const { FIXED } = internal("sealer");
const { partsOf, readPlan, signature: sign } = internal("secrets");

const data = (word) => (word === "-" ? Buffer.alloc(0) : Buffer.from(word, "hex"));
const word = (data) => (data.length > 0 ? Buffer.from(data).toString("hex") : "-");
const several = (text) => (text === "-" ? [] : text.split(","));

/** A function that remembers its answers. */
function cached(make) {
    const known = new Map();
    return (text, kind) => {
        const name = `${kind} ${text}`;
        if (!known.has(name)) known.set(name, make(text, kind));
        return known.get(name);
    };
}

/** A provider's secret key, or the three lines of a signing key file. */
const secretKey = cached((text) => (several(text).length === 1 ? ProviderKey.parse(text) : Credential.parse(several(text).join("\n"))));
const devices = cached((text) =>
    several(text).map((device) => {
        const [secret, end] = device.split("@");
        return DeviceKey.parse(secret, end ? { retiresAt: BigInt(end) } : {});
    }));
const sealer = cached((options) => {
    const { topic, key, ...placeholder } = JSON.parse(options);
    return new Sealer({ topic, key: secretKey(key), placeholder });
});

function readTrust(pins, learned) {
    return new Trust(several(pins), several(learned).map((line) => {
        const [provider, certificate, floor] = line.split(":");
        return { provider, certificate, floor: Number(floor) };
    }));
}

function writeLearned({ pins, learned }) {
    const known = learned.filter(({ provider }) => pins.includes(provider));
    return known.map(({ provider, certificate, floor }) => `${provider}:${certificate}:${floor}`).join(",") || "-";
}

function answerOpen(how, input, topic, device, pins, learned, pushType, at) {
    const trust = readTrust(pins, learned), found = how(input, { topic, devices: devices(device), trust, pushType, at: BigInt(at) });
    const { payload, messageID, sentAt, timeToLive, provider, epoch, hasCertificateConflict } = found;
    if (found.learned !== null) trust.learn(found.learned);
    const told = hasCertificateConflict ? "certificate-conflict" : "-";
    return `opened ${word(payload)} ${messageID} ${sentAt} ${timeToLive} ${provider} ${epoch} ${writeLearned(trust)} ${told}`;
}

/** Words `name=hex` as lists of bytes. */
function optionsOf(words) {
    const found = {};
    for (const each of words) {
        const [name, value] = each.split("=");
        (found[name] ??= []).push(Buffer.from(value, "hex"));
    }
    return found;
}

/** The same back, without what is undefined. */
function written(values) {
    return Object.entries(values).flatMap(([name, value]) =>
        (value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]).map((one) => ` ${name}=${Buffer.from(String(one)).toString("hex")}`)).join("");
}

function remote(key, topic, placeholder) {
    const isCertified = key instanceof Credential, held = isCertified ? partsOf(key, Credential).key : key;
    const signer = { publicKey: partsOf(held, isCertified ? SigningKey : ProviderKey).publicKey, sign: async (message) => sign(held, message) };
    const { provider, certificate } = isCertified ? key : {};
    return RemoteSealer.create({ signer, topic, placeholder, ...(isCertified ? { provider, certificate } : {}) });
}

async function answerMessage(topic, device, secret, sentAt, text, ...words) {
    const given = optionsOf(words), one = (name) => given[name]?.[0]?.toString(), maybe = (name, value) => (value === undefined ? {} : { [name]: value });
    const sound = one("sound"), signature = given["hedge-signature"]?.[0];
    const placeholder = { ...maybe("title", one("title")), ...(sound === undefined ? {} : { sound: sound || null }), clearFields: (given.kept ?? []).map(String) };
    // A key in a service: it signs the same, but its seed is not known.
    const own = signature === undefined ? sealer(JSON.stringify({ topic, key: secret, ...placeholder })) : await remote(secretKey(secret), topic, placeholder);
    const fixed = { ...maybe("rMessageID", given["r-message-id"]?.[0]), ...maybe("rEphemeral", given["r-ephemeral"]?.[0]), ...maybe("sealedLife", one("sealed-life") && Number(one("sealed-life"))) };
    const push = await own.seal(data(text), {
        to: device, at: BigInt(sentAt), ...maybe("pushType", one("push-type")), ...maybe("messageName", one("id")),
        ...maybe("timeToLive", one("time-to-live") && Number(one("time-to-live"))), sentExactly: one("sent-exactly") === "yes", attachments: (given.attachment ?? []).map((json) => AttachmentReference.parse(json)), [FIXED]: fixed,
    });
    const request = own.request(push, { ...maybe("device", one("device")), ...maybe("collapseName", one("collapse-name")) });
    return `sealed ${word(Buffer.from(push.json))}` + written({
        "message-id": push.messageID, "time-to-live": push.timeToLive, "widest-length": push.widestLength,
        "expiration": request.headers["apns-expiration"], "collapse-id": request.headers["apns-collapse-id"],
    });
}

function answerRecord(kind, text, ...words) {
    if (kind === "provider") {
        const { publicKey, topic, generation, created, certificate } = parseProviderRecord(data(text));
        return "ok" + written({ key: publicKey, generation, topic, created, certificate });
    }
    const record = parseDeviceRecord(data(text)), given = optionsOf(words), one = (name) => given[name]?.[0].toString();
    if (!isDeepStrictEqual(parseDeviceRecord(formatDeviceRecord(record)), record)) return "broken another record is written";
    const heldUser = one("held-user") ?? null, known = given["provider-has"]?.map(String), isRemoved = one("removed") === "yes";
    const { topic, foreign } = checkRegistration(record, {
        user: one("user") ?? null, replace: one("replace") === "yes", ownKeys: known,
        held: given["held-key"] ? { publicKey: one("held-key"), generation: Number(one("held-generation")), topic: one("held-topic"), user: heldUser, isRemoved } : null,
        sameKey: given.elsewhere ? { user: one("elsewhere") === "-" ? null : one("elsewhere") } : null,
    });
    const isStale = known !== undefined && topic !== undefined && showsStaleStore(record, { provider: known[0], topic, issued: (given.issued ?? []).map(String) });
    return "ok" + written({
        key: record.publicKey, generation: record.generation, device: record.deviceID, suites: record.suites.join(" "), topic, created: record.created,
        provider: record.provider, certificate: record.certificate, "app-version": record.appVersion, token: record.token, environment: record.environment,
        withdrawal: record.withdrawal, grant: record.grant, foreign, stale: isStale ? "yes" : undefined,
    });
}

function answerReply(device, text, ...words) {
    const reply = parseReply(data(text)), given = optionsOf(words), one = (name, otherwise) => given[name]?.[0].toString() ?? otherwise;
    const { refusedCertificate, ...plain } = reply;
    if (!isDeepStrictEqual(parseReply(formatReply(plain)), plain)) return "broken another reply is written";
    const { confirms, trust, told } = applyReply(reply, {
        publicKey: devices(device)[0].publicKey, trust: readTrust(one("pins", "-"), one("learned", "-")), topic: one("context", "a"),
        isBuiltIn: one("built-in") === "yes",
    });
    return "ok" + written({
        acknowledged: reply.acknowledged, refused: reply.refused, provider: reply.provider, certificate: reply.certificate,
        "push-key": reply.pushKey?.toString("hex"), suites: reply.suites.join(" "), foreign: reply.foreign, confirms: confirms ? "yes" : "no", pins: trust.pins.join(",") || "-",
        learned: writeLearned(trust), told,
    });
}

function answerReserved(payload) {
    const { withdraws, isDropped, sender, dropped } = readReserved(checkPayload(data(payload)), "");
    return "ok" + written({
        withdraws, drop: isDropped ? "yes" : undefined, "sender-name": sender?.name, handle: sender?.handle,
        conversation: sender?.conversation, recipient: sender?.recipients, avatar: sender?.avatar?.url, dropped,
    });
}

const SECRETS = { [keys.DEVICE_SECRET]: DeviceKey, [keys.PROVIDER_SECRET]: ProviderKey, [keys.SIGNING_SECRET]: SigningKey };

const ANSWERS = {
    key(kind, text) {
        text = data(text).toString();
        const found = keys.parseKey(text, kind), bare = text.replace(/\n$/, "");
        if (keys.keyText(found, kind) !== bare) return "the text of the key is another one";
        if (kind === keys.DEVICE_PUBLIC) return `ok ${word(found)} ${word(keys.deviceKeyID(found))} -`;
        if (kind === keys.PROVIDER_PUBLIC) return `ok ${word(found)} ${word(keys.keyID(keys.ED25519, found))} -`;
        const secret = SECRETS[kind].parse(text);
        if (secret.secretText() !== bare) return "the text of the secret key is another one";
        return `ok ${word(found)} - ${word(secret.publicBytes ?? keys.parseKey(secret.publicKey, kind.slice(0, 3)))}`;
    },
    check(kind, publicKey) {
        (kind === keys.DEVICE_PUBLIC ? keys.checkDeviceKey : keys.checkVerifyingKey)(data(publicKey));
        return "ok";
    },
    context(text) {
        checkContext(data(text).toString());
        return "ok";
    },
    text(text) {
        const decoded = decode(data(text).toString());
        if (decoded.toString("base64url") !== data(text).toString()) return "encodes as another text";
        return `ok ${word(decoded.subarray(1, 5))} ${decoded.length - OUTSIDE}`;
    },
    fingerprint: (text) => `ok ${fingerprint(data(text).toString())}`,
    open: (context, device, pins, learned, type, now, text) => answerOpen(openEnvelope, data(text).toString(), context, device, pins, learned, type, now),
    push: (context, device, pins, learned, type, now, push) => answerOpen(open, data(push), context, device, pins, learned, type, now),
    certificate(topic, pins, learned, certificate) {
        const trust = readTrust(pins, learned), change = trust.accept(new Certificate(data(certificate)).text, { topic });
        return `${{ raised: "accepted", unchanged: "unchanged", conflict: "certificate-conflict" }[change]} ${writeLearned(trust)}`;
    },
    plan(...words) {
        const given = optionsOf(words), one = (name) => given[name]?.[0].toString();
        const past = (given.past ?? []).map((line) => line.toString().split(" ")).map(([epoch, at]) => ({ epoch: Number(epoch), replacedAt: BigInt(at) }));
        const { epoch, floor, graceUntil, expiresAt } = readPlan({
            current: one("certificate"), past, proven: one("proven"), stolen: one("kind") === "stolen", at: BigInt(one("time")),
            lifetime: given.lifetime && Number(one("lifetime")),
        });
        return "ok" + written({ epoch, floor, "grace-until": graceUntil, "expires-at": expiresAt });
    },
    certify(topic, secret, epoch, floor, graceUntil, expiresAt, signing) {
        const provider = secretKey(secret), times = { epoch: Number(epoch), floor: Number(floor), graceUntil: BigInt(graceUntil), expiresAt: BigInt(expiresAt) };
        const { publicKey } = partsOf(provider, ProviderKey), own = SigningKey.parse(signing).publicBytes;
        const made = certify(times, own, publicKey, topic, (bytes) => sign(provider, bytes));
        return `ok ${word(made.data)} ${made.text}`;
    },
    message: answerMessage,
    record: answerRecord,
    reply: answerReply,
    reserved: answerReserved,
    hedgedfile(secret, r, plain) {
        const options = { url: "https://a", type: "a.b", name: "a", [FIXED]: { r: data(r) } };
        const { key, size, sha256 } = new Sealer({ topic: "a", key: secretKey(secret) }).sealFile(data(plain), options).reference;
        return `ok ${word(key)} ${size} ${word(sha256)}`;
    },
    reference(text) {
        const reference = AttachmentReference.parse(data(text));
        if (AttachmentReference.parse(reference.json()).json() !== reference.json()) return "writes another reference";
        const texts = [reference.url, reference.type, reference.name].map((text) => Buffer.from(text));
        return `ok ${[...texts, reference.key, reference.sha256].map(word).join(" ")} ${reference.size}`;
    },
    attachments(text) {
        const { attachments, fullBody, dropped } = readReserved(checkPayload(data(text)), "");
        const names = attachments.map((reference) => word(Buffer.from(reference.name)));
        return `ok ${names.join(",") || "-"} ${fullBody === null ? "-" : word(Buffer.from(fullBody.url))} ${dropped.join(",") || "-"}`;
    },
    fullbody(plain) {
        readFullBody(data(plain));
        return "ok";
    },
    file(key, size, sha256, pieces) {
        const opener = new FileOpener({ key: data(key), size: Number(size), sha256: data(sha256) });
        const plain = several(pieces).map((piece) => opener.update(data(piece)));
        const all = Buffer.concat([...plain, opener.finish()]);
        return `opened ${all.length} ${createHash("sha256").update(all).digest("hex")}`;
    },
    async misuse(device, secret) {
        const provider = secretKey(secret), { publicKey } = partsOf(provider, ProviderKey);
        const wrong = [...misuse.answers(device, provider, internal), ...await misuse.signers(device, provider, publicKey)].filter(([, good]) => !good);
        return wrong.length > 0 ? `broken ${wrong.map(([name]) => name).join(", ")}` : "ok";
    },
    sealfile(secret, plain) {
        const { sealed, reference } = new Sealer({ topic: "a", key: secretKey(secret) }).sealFile(data(plain), { url: "https://a", type: "a.b", name: "a" });
        return `sealed ${word(reference.key)} ${word(sealed)}`;
    },
};

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const [question, ...words] = line.split(" ");
    let answer;
    try {
        answer = await ANSWERS[question](...words);
    } catch (error) {
        answer = error instanceof PushcryptError ? `refused ${error.code}` : `broken ${String(error.stack).replaceAll("\n", " ")}`;
    }
    process.stdout.write(answer + "\n");
}
