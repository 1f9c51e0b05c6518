// Reads questions from standard input, a line each, and answers them with the installed package. ../README.md has the language. What the
// package does not export, and only tests ask, is loaded by its file.
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import {
    AnnouncedStatements, AttachmentReference, DeviceKey, FileOpener, PushcryptError, RecoveryKey, RemoteSealer, Sealer, SenderKey, Trust, applyReply, checkRegistration, formatDeviceRecord, formatReply,
    open, openEnvelope, parseDeviceRecord, parseReply, parseSenderRecord, readFullBody, recoveryStatement, rotationStatement, statementLine,
} from "pushcrypt";
import * as misuse from "./misuse.mjs";

const require = createRequire(import.meta.url);
const internal = (file) => require(`${import.meta.dirname ?? new URL(".", import.meta.url).pathname}/node_modules/pushcrypt/lib/${file}.js`);
const { sealFile } = internal("attachments");
const { checkContext, decode, fingerprint, OUTSIDE } = internal("envelope");
const keys = internal("keys");
const { checkPayload } = internal("payload");
const { readReserved } = internal("reserved");
const { FIXED } = internal("sealer");
const { signature: sign } = internal("secrets");

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

const senderKey = cached((text) => SenderKey.parse(text));
const devices = cached((text) =>
    several(text).map((device) => {
        const [secret, end] = device.split("@");
        return DeviceKey.parse(secret, end ? { retiresAt: BigInt(end) } : {});
    }));
const readTrust = cached((text) => new Trust(text === "-" ? [] : text.split("/").map(readSender)));
const sealer = cached((options) => {
    const { topic, sender, ...placeholder } = JSON.parse(options);
    return new Sealer({ topic, sender: senderKey(sender), placeholder });
});

function readSender(text) {
    const [name, pinned, superseded, recovery, last] = text.split(";");
    return {
        name, pinned: pinned === "-" ? null : pinned, recoveryKeys: several(recovery), lastRecovery: data(last),
        superseded: several(superseded).map((pair) => {
            const [key, by] = pair.split(":");
            return { key, statement: by === "-" ? null : data(by) };
        }),
    };
}

function writeTrust(trust) {
    return trust.senders.map(writeSender).join("/") || "-";
}

function writeSender({ name, pinned, superseded, recoveryKeys, lastRecovery }) {
    const old = superseded.map(({ key, statement }) => `${key}:${word(statement ?? Buffer.alloc(0))}`);
    return [name, pinned ?? "-", old.join(",") || "-", recoveryKeys.join(",") || "-", word(lastRecovery)].join(";");
}

function answerOpen(how, input, topic, device, trust, at) {
    const found = how(input, { topic, devices: devices(device), trust: readTrust(trust), at: BigInt(at) }), after = readTrust(trust).copy();
    const { payload, messageID, sentAt, timeToLive, sender, statements, conflicts } = found;
    if (after.follow(statements, { topic, at: BigInt(at) }).accepted.length !== statements.length) return "broken the statements are not accepted again";
    return `opened ${word(payload)} ${messageID} ${sentAt} ${timeToLive} ${sender} ${writeTrust(after)} ${conflicts.join(",") || "-"}`;
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

async function answerMessage(topic, device, secret, sentAt, text, ...words) {
    const given = optionsOf(words), one = (name) => given[name]?.[0]?.toString(), maybe = (name, value) => (value === undefined ? {} : { [name]: value });
    const sound = one("sound"), signature = given["hedge-signature"]?.[0];
    const placeholder = { ...maybe("title", one("title")), ...(sound === undefined ? {} : { sound: sound || null }), clearFields: (given.kept ?? []).map(String) };
    // A key in a service: it signs the same, but its seed is not known.
    const key = senderKey(secret), signer = { publicKey: key.publicKey, sign: async (message) => sign(key, message) };
    const own = signature === undefined ? sealer(JSON.stringify({ topic, sender: secret, ...placeholder })) : await RemoteSealer.create({ signer, topic, placeholder });
    const fixed = { ...maybe("rMessageID", given["r-message-id"]?.[0]), ...maybe("rEphemeral", given["r-ephemeral"]?.[0]), ...maybe("sealedLife", one("sealed-life") && Number(one("sealed-life"))) };
    const push = await own.seal(data(text), {
        to: device, at: BigInt(sentAt), ...maybe("pushType", one("push-type")), ...maybe("messageName", one("id")),
        ...maybe("timeToLive", one("time-to-live") && Number(one("time-to-live"))), announcing: given.statement ?? [],
        sentExactly: one("sent-exactly") === "yes", attachments: (given.attachment ?? []).map((json) => AttachmentReference.parse(json)), [FIXED]: fixed,
    });
    const request = own.request(push, { ...maybe("device", one("device")), ...maybe("collapseName", one("collapse-name")) });
    return `sealed ${word(Buffer.from(push.json))}` + written({
        "message-id": push.messageID, "time-to-live": push.timeToLive, "widest-length": push.widestLength,
        "expiration": request.headers["apns-expiration"], "collapse-id": request.headers["apns-collapse-id"],
    });
}

function answerRecord(kind, text, ...words) {
    if (kind === "sender") {
        const { publicKey, topic, generation, created, recoveryKeys } = parseSenderRecord(data(text));
        return "ok" + written({ key: publicKey, generation, topic, created, recovery: recoveryKeys });
    }
    const record = parseDeviceRecord(data(text)), given = optionsOf(words), one = (name) => given[name]?.[0].toString();
    if (!isDeepStrictEqual(parseDeviceRecord(formatDeviceRecord(record)), record)) return "broken another record is written";
    const heldUser = one("held-user") ?? null, known = given["provider-has"]?.map(String);
    const { topic, foreign } = checkRegistration(record, {
        // The kit leaves out a user who is not known, and then means the one who has the device.
        user: one("user") ?? heldUser, replace: one("replace") === "yes", ownKeys: known,
        held: given["held-key"] ? { publicKey: one("held-key"), generation: Number(one("held-generation")), topic: one("held-topic"), user: heldUser } : null,
        sameKey: given.elsewhere ? { user: one("elsewhere") === "-" ? null : one("elsewhere") } : null,
    });
    return "ok" + written({
        key: record.publicKey, generation: record.generation, device: record.deviceID, suites: record.suites.join(" "), topic, created: record.created,
        sender: record.sender, recovery: record.recoveryKeys, "app-version": record.appVersion, foreign,
    });
}

function answerReply(device, text, ...words) {
    const reply = parseReply(data(text)), given = optionsOf(words);
    if (!isDeepStrictEqual(parseReply(formatReply(reply)), reply)) return "broken another reply is written";
    const after = applyReply(reply, {
        publicKey: devices(device)[0].publicKey, pinned: given.pinned?.[0].toString() ?? null, recoveryKeys: (given["held-recovery"] ?? []).map(String),
        builtIn: (given["built-in"] ?? []).map(String),
    });
    return "ok" + written({
        acknowledged: reply.acknowledged, refused: reply.refused, sender: reply.sender, recovery: reply.recoveryKeys, foreign: reply.foreign,
        confirms: after.confirms ? "yes" : "no", "pinned-after": after.pinned, "recovery-after": after.recoveryKeys,
    });
}

function answerReserved(payload) {
    const { withdraws, isDropped, sender, dropped } = readReserved(checkPayload(data(payload)), "");
    return "ok" + written({
        withdraws, drop: isDropped ? "yes" : undefined, "sender-name": sender?.name, handle: sender?.handle,
        conversation: sender?.conversation, recipient: sender?.recipients, avatar: sender?.avatar?.url, dropped,
    });
}

const SECRETS = { [keys.DEVICE_SECRET]: DeviceKey, [keys.SENDER_SECRET]: SenderKey, [keys.RECOVERY_SECRET]: RecoveryKey };
const TYPES = { [keys.SENDER_PUBLIC]: keys.ED25519, [keys.RECOVERY_PUBLIC]: keys.RECOVERY };

const ANSWERS = {
    key(kind, text) {
        text = data(text).toString();
        const found = keys.parseKey(text, kind), bare = text.replace(/\n$/, "");
        if (keys.keyText(found, kind) !== bare) return "the text of the key is another one";
        if (kind === keys.DEVICE_PUBLIC) return `ok ${word(found)} ${word(keys.deviceKeyID(found))} -`;
        if (Object.hasOwn(TYPES, kind)) return `ok ${word(found)} ${word(keys.keyID(TYPES[kind], found))} -`;
        const secret = SECRETS[kind].parse(text);
        if (secret.secretText() !== bare) return "the text of the secret key is another one";
        return `ok ${word(found)} - ${word(keys.parseKey(secret.publicKey, kind.slice(0, 3)))}`;
    },
    check(kind, publicKey) {
        (kind === keys.DEVICE_PUBLIC ? keys.checkDeviceKey : keys.checkSenderKey)(data(publicKey));
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
    open: (context, device, trust, now, text) => answerOpen(openEnvelope, data(text).toString(), context, device, trust, now),
    push: (context, device, trust, now, push) => answerOpen(open, data(push), context, device, trust, now),
    statement(trust, topic, at, statement) {
        const after = readTrust(trust).copy(), { changed, conflict } = after.evaluate(data(statement), { topic, at: BigInt(at) });
        return `${changed ? "accepted" : "unchanged"} ${writeTrust(after)} ${conflict ?? "-"}`;
    },
    message: answerMessage,
    record: answerRecord,
    reply: answerReply,
    reserved: answerReserved,
    rotation: (from, to, at, acceptFor, overlap) => `ok ${word(rotationStatement({
        from: senderKey(from), to: senderKey(to), at: BigInt(at), acceptFor: Number(acceptFor), overlap: Number(overlap),
    }))}`,
    recovery: (topic, by, to, at, serial) => `ok ${word(recoveryStatement({ by: RecoveryKey.parse(by), to: senderKey(to), topic, at: BigInt(at), serial: Number(serial) }))}`,
    announced(sender, at, text) {
        const accepted = AnnouncedStatements.parse(data(text).toString(), sender).accepted(BigInt(at));
        return `ok ${accepted.map(word).join(",") || "-"}`;
    },
    adding(sender, at, announcedFor, text, statement) {
        const announced = AnnouncedStatements.parse(data(text).toString(), sender);
        if (announced.text.trim() !== data(text).toString().trim()) return "broken another text is written";
        const added = announced.adding(data(statement), { announcedFor: Number(announcedFor), at: BigInt(at) });
        return `ok ${added.sender} ${word(Buffer.from(added.text))}`;
    },
    line: (key, statement) => `ok ${word(Buffer.from(statementLine(data(statement), key)))}`,
    hedgedfile(sender, r, header, plain) {
        const options = { url: "https://a", type: "a.b", name: "a", [FIXED]: { r: data(r), header: data(header) } };
        const { key, size, sha256 } = new Sealer({ topic: "a", sender: senderKey(sender) }).sealFile(data(plain), options).reference;
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
        const wrong = [...misuse.answers(device, senderKey(secret), internal), ...await misuse.signers(device, senderKey(secret))].filter(([, good]) => !good);
        return wrong.length > 0 ? `broken ${wrong.map(([name]) => name).join(", ")}` : "ok";
    },
    sealfile: (fileKey, plain) => `sealed ${word(sealFile(data(plain), data(fileKey)))}`,
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
