// Reads questions from standard input, a line each, and answers them with the installed package. ../README.md has the language.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { AttachmentReference, Credential, ProviderKey, PushcryptError, Sealer } from "pushcrypt";
import { DeviceKey, Trust, open, openFile } from "pushcrypt/testing";

const data = (word) => (word === "-" ? Buffer.alloc(0) : Buffer.from(word, "hex"));
const word = (data) => (data.length > 0 ? Buffer.from(data).toString("hex") : "-");
const several = (text) => (text === "-" ? [] : text.split(","));

/** A function that remembers its answers. */
function cached(make) {
    const known = new Map();
    return (text) => {
        if (!known.has(text)) known.set(text, make(text));
        return known.get(text);
    };
}

/** A provider's secret key, or the three lines of a signing key file. */
const secretKey = cached((text) => (several(text).length === 1 ? ProviderKey.parse(text) : Credential.parse(several(text).join("\n"))));
const devices = cached((text) => several(text).map((secret) => DeviceKey.parse(secret)));
const sealer = cached((options) => {
    const { topic, key, ...placeholder } = JSON.parse(options);
    return new Sealer({ topic, key: secretKey(key), placeholder });
});

const readLearned = (line) => {
    const [provider, certificate, floor] = line.split(":");
    return { provider, certificate, floor: Number(floor) };
};

function writeLearned({ pins, learned }) {
    const known = learned.filter(({ provider }) => pins.includes(provider));
    return known.map(({ provider, certificate, floor }) => `${provider}:${certificate}:${floor}`).join(",") || "-";
}

const ANSWERS = {
    push(topic, keys, pins, learned, pushType, at, push) {
        const trust = new Trust(several(pins), several(learned).map(readLearned));
        const found = open(data(push), { topic, devices: devices(keys), trust, pushType, at: BigInt(at) });
        if (found.learned !== null) trust.learn(found.learned);
        const { payload, messageId, sentAt, timeToLive, provider, epoch, hasCertificateConflict } = found;
        const told = hasCertificateConflict ? "certificate-conflict" : "-";
        return `opened ${word(payload)} ${messageId} ${sentAt} ${timeToLive} ${provider} ${epoch} ${writeLearned(trust)} ${told}`;
    },
    message(topic, to, key, at, payload, ...words) {
        const given = Object.fromEntries(words.map((each) => each.split("=")).map(([name, value]) => [name, Buffer.from(value, "hex").toString()]));
        const { title, sound, id: messageId, "push-type": pushType, "time-to-live": timeToLive } = given;
        const own = sealer(JSON.stringify({ topic, key, title, sound }));
        return `sealed ${word(Buffer.from(own.seal(data(payload), { to, at: BigInt(at), pushType, messageId, timeToLive: Number(timeToLive) }).json))}`;
    },
    reference(json) {
        const reference = AttachmentReference.parse(data(json)), texts = [reference.url, reference.type, reference.name].map((text) => Buffer.from(text));
        return `ok ${[...texts, reference.key, reference.sha256].map(word).join(" ")} ${reference.size}`;
    },
    file(key, size, sha256, pieces) {
        const all = openFile({ key: data(key), size: Number(size), sha256: data(sha256) }, Buffer.concat(several(pieces).map(data)));
        return `opened ${all.length} ${createHash("sha256").update(all).digest("hex")}`;
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
        answer = ANSWERS[question](...words);
    } catch (error) {
        answer = error instanceof PushcryptError ? `refused ${error.code}` : `broken ${String(error.stack).replaceAll("\n", " ")}`;
    }
    process.stdout.write(`${answer}\n`);
}
