// Reads questions from standard input, a line each, and answers them with the installed package. ../README.md has the language.
import { createInterface } from "node:readline";
import { Credential, ProviderKey, PushcryptError, Sealer } from "pushcrypt";

const data = (word) => (word === "-" ? Buffer.alloc(0) : Buffer.from(word, "hex"));

/** A function that remembers its answers. */
function cached(make) {
    const known = new Map();
    return (text) => {
        if (!known.has(text)) known.set(text, make(text));
        return known.get(text);
    };
}

/** A provider's secret key, or the three lines of a signing key file. */
const secretKey = cached((text) => (text.includes(",") ? Credential.parse(text.replaceAll(",", "\n")) : ProviderKey.parse(text)));
const sealer = cached((options) => {
    const { topic, key, ...placeholder } = JSON.parse(options);
    return new Sealer({ topic, key: secretKey(key), placeholder });
});

const ANSWERS = {
    message(topic, to, key, at, payload, ...words) {
        const given = Object.fromEntries(words.map((each) => each.split("=")).map(([name, value]) => [name, Buffer.from(value, "hex").toString()]));
        const { title, sound, id: messageId, "push-type": pushType, "time-to-live": timeToLive } = given;
        const own = sealer(JSON.stringify({ topic, key, title, sound }));
        return `sealed ${Buffer.from(own.seal(data(payload), { device: "phone1", topic, publicKey: to, generation: 1, user: null }, { at: new Date(Number(at)), pushType, messageId, timeToLive: Number(timeToLive) }).json).toString("hex")}`;
    },
    sealfile(secret, plain) {
        const { sealed, reference } = new Sealer({ topic: "a", key: secretKey(secret) }).sealFile(data(plain), { url: "https://a", type: "a.b", name: "a" });
        return `sealed ${Buffer.from(reference.key).toString("hex")} ${Buffer.from(sealed).toString("hex")}`;
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
