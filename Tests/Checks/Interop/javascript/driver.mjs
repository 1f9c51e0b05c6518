// Reads questions from standard input, a line each, and answers them with the receiver in JavaScript. ../README.md has the
// language.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import * as attachments from "../../../../Sources/Languages/javascript/attachments.mjs";
import * as envelope from "../../../../Sources/Languages/javascript/envelope.mjs";
import * as keys from "../../../../Sources/Languages/javascript/keys.mjs";
import * as payload from "../../../../Sources/Languages/javascript/payload.mjs";
import { SenderKey, seal } from "../../../../Sources/Languages/javascript/seal.mjs";
import { NEVER, Sender, Superseded, Trust } from "../../../../Sources/Languages/javascript/trust.mjs";
import * as misuse from "./misuse.mjs";

const data = (word) => (word === "-" ? Buffer.alloc(0) : Buffer.from(word, "hex"));
const optional = (word) => (word === "-" ? undefined : data(word));
const word = (data) => (data.length > 0 ? data.toString("hex") : "-");
const several = (text) => (text === "-" ? [] : text.split(","));
const senderText = (key) => keys.keyText(key, keys.SENDER_PUBLIC);

/** A function that remembers its answers. */
function cached(make) {
    const known = new Map();
    return (text, kind) => {
        const name = `${kind} ${text}`;
        if (!known.has(name)) known.set(name, make(text, kind));
        return known.get(name);
    };
}

const key = cached(keys.parseKey);
const senderKey = cached((text) => new SenderKey(key(text, keys.SENDER_SECRET)));
const devices = cached((text) =>
    several(text).map((device) => {
        const [secret, end] = device.split("@");
        return new envelope.DeviceKey(key(secret, keys.DEVICE_SECRET), end ? BigInt(end) : NEVER);
    }));
const readTrust = cached((text) => new Trust(text === "-" ? [] : text.split("/").map(readSender)));

function readSender(text) {
    const [name, pinned, superseded, recovery, last] = text.split(";");
    return new Sender(name, pinned === "-" ? null : key(pinned, keys.SENDER_PUBLIC), {
        superseded: several(superseded).map((pair) => {
            const [old, by] = pair.split(":");
            return new Superseded(key(old, keys.SENDER_PUBLIC), by === "-" ? null : data(by));
        }),
        recovery: several(recovery).map((own) => key(own, keys.RECOVERY_PUBLIC)),
        lastRecovery: data(last),
    });
}

function writeTrust(trust) {
    return trust.senders.map(writeSender).join("/") || "-";
}

function writeSender(sender) {
    const superseded = sender.superseded.map((old) => `${senderText(old.key)}:${word(old.statement ?? Buffer.alloc(0))}`);
    const recovery = sender.recovery.map((own) => keys.keyText(own, keys.RECOVERY_PUBLIC));
    const pinned = sender.pinned === null ? "-" : senderText(sender.pinned);
    return [sender.name, pinned, superseded.join(",") || "-", recovery.join(",") || "-", word(sender.lastRecovery)].join(";");
}

function answerOpen(open, input, context, device, trust, now) {
    const found = open(input, context, devices(device), readTrust(trust), BigInt(now)), after = readTrust(trust).copy();
    const { payload, messageID, sentAt, timeToLive, sender, statements } = found;
    if (after.follow(statements, context, BigInt(now)).accepted.length !== statements.length) return "broken the statements are not accepted again";
    const told = found.told.join(",") || "-";
    return `opened ${word(payload)} ${word(messageID)} ${sentAt} ${timeToLive} ${senderText(sender)} ${writeTrust(after)} ${told}`;
}

function referenceText(reference) {
    const texts = [reference.url, reference.type, reference.name].map((text) => Buffer.from(text));
    return [...texts, reference.key, reference.sha256].map(word).join(" ") + ` ${reference.size}`;
}

const ANSWERS = {
    key(kind, text) {
        text = data(text).toString();
        const found = keys.parseKey(text, kind);
        if (keys.keyText(found, kind) !== text.replace(/\n$/, "")) return "the text of the key is another one";
        if (kind === keys.DEVICE_PUBLIC) return `ok ${word(found)} ${word(keys.keyID(keys.X25519, found))} -`;
        if (kind === keys.RECOVERY_PUBLIC) return `ok ${word(found)} ${word(keys.keyID(keys.RECOVERY, found))} -`;
        if (kind === keys.SENDER_PUBLIC) return `ok ${word(found)} ${word(keys.keyID(keys.ED25519, found))} -`;
        const secret = kind === keys.DEVICE_SECRET ? new envelope.DeviceKey(found) : new SenderKey(found);
        return `ok ${word(found)} - ${word(secret.public)}`;
    },
    check(kind, publicKey) {
        (kind === keys.DEVICE_PUBLIC ? keys.checkDeviceKey : keys.checkSenderKey)(data(publicKey));
        return "ok";
    },
    context(text) {
        envelope.checkContext(data(text).toString());
        return "ok";
    },
    text(text) {
        const decoded = envelope.decode(data(text).toString());
        if (decoded.toString("base64url") !== data(text).toString()) return "encodes as another text";
        return `ok ${word(decoded.subarray(1, 5))} ${decoded.length - envelope.OUTSIDE}`;
    },
    fingerprint: (text) => `ok ${envelope.fingerprint(data(text).toString())}`,
    open: (context, device, trust, now, text) =>
        answerOpen(envelope.openText, data(text).toString(), context, device, trust, now),
    push: (context, device, trust, now, push) => answerOpen(envelope.openPush, data(push), context, device, trust, now),
    statement(trust, context, now, statement) {
        const after = readTrust(trust).copy(), { changed, conflict } = after.evaluate(data(statement), context, BigInt(now));
        return `${changed ? "accepted" : "unchanged"} ${writeTrust(after)} ${conflict ?? "-"}`;
    },
    seal(context, device, secret, sentAt, timeToLive, pushType, title, sound, messageID, ephemeral, statements, text) {
        const push = seal(
            data(text), context, key(device, keys.DEVICE_PUBLIC), senderKey(secret), BigInt(sentAt), {
                timeToLive: Number(timeToLive), pushType, title: data(title).toString(), sound: optional(sound)?.toString() ?? null,
                messageID: optional(messageID), ephemeral: optional(ephemeral), statements: several(statements).map(data),
            });
        return `sealed ${word(push)}`;
    },
    reference: (text) => `ok ${referenceText(attachments.parseReference(payload.parseObject(data(text), "malformed-reference")))}`,
    attachments(text) {
        const members = payload.checkPayload(data(text));
        const { references, dropped } = attachments.attachments(members);
        const names = references.map((reference) => word(Buffer.from(reference.name)));
        let body = null;
        try {
            body = attachments.fullBody(members);
        } catch (refused) {
            dropped.push(refused.code);
        }
        return `ok ${names.join(",") || "-"} ${body === null ? "-" : word(Buffer.from(body.url))} ${dropped.join(",") || "-"}`;
    },
    fullbody(plain) {
        attachments.checkFullBody(data(plain));
        return "ok";
    },
    file(fileKey, size, sha256, pieces) {
        const opener = new attachments.FileOpener(data(fileKey), Number(size), data(sha256));
        const plain = several(pieces).map((piece) => opener.update(data(piece)));
        const all = Buffer.concat([...plain, opener.finish()]);
        return `opened ${all.length} ${createHash("sha256").update(all).digest("hex")}`;
    },
    misuse(device, secret) {
        const wrong = [...misuse.answers(key(device, keys.DEVICE_PUBLIC), senderKey(secret))].filter(([, good]) => !good);
        return wrong.length > 0 ? `broken ${wrong.map(([name]) => name).join(", ")}` : "ok";
    },
    sealfile: (fileKey, plain) => `sealed ${word(attachments.sealFile(data(plain), data(fileKey)))}`,
};

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const [question, ...words] = line.split(" ");
    let answer;
    try {
        answer = ANSWERS[question](...words);
    } catch (error) {
        answer = error instanceof keys.Refused ? `refused ${error.code}` : `broken ${String(error).replaceAll("\n", " ")}`;
    }
    process.stdout.write(answer + "\n");
}
