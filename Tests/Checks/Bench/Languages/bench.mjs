// The package for Node beside the bare calls of node:crypto that a seal is made of: README.md. Started by peers.py, which names the package.
import {
    createCipheriv, createHash, createHmac, createPrivateKey, createPublicKey, diffieHellman, randomBytes, sign,
} from "node:crypto";
import { createInterface } from "node:readline";

const [, , path, secret, topic, payload, ...devices] = process.argv;
const { Sealer, SenderKey } = await import(path);
const sealer = new Sealer({ sender: SenderKey.parse(secret), topic });

// Node does not look at x, and is faster if it has 32 bytes.
const secretKey = (crv, raw) => {
    const d = raw.toString("base64url");
    return createPrivateKey({ key: { kty: "OKP", crv, x: d, d }, format: "jwk" });
};
const publicKey = (crv, raw) => createPublicKey({ key: { kty: "OKP", crv, x: raw.toString("base64url") }, format: "jwk" });
const rawPublic = (key) => Buffer.from(createPublicKey(key).export({ format: "jwk" }).x, "base64url");
const hash = (data) => createHash("sha256").update(data).digest();
const mac = (key, data) => createHmac("sha256", key).update(data).digest();

const none = Buffer.alloc(32), signing = secretKey("Ed25519", randomBytes(32)), hedge = randomBytes(32);
const keys = devices.map(() => rawPublic(secretKey("X25519", randomBytes(32))));
const inner = Buffer.alloc(512), content = inner.subarray(68), body = Buffer.from(payload), label = Buffer.alloc(90), message = Buffer.alloc(180);
const text = `{"aps":{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"}},"ENCRYPTED_DATA":"`;

function bare(index) {
    const device = keys[index % keys.length];
    const random = randomBytes(64);
    hash(device);
    hash(body);
    hash(content);
    mac(hedge, random);
    const ephemeral = secretKey("X25519", mac(mac(none, mac(hedge, message)), label));
    const enc = rawPublic(ephemeral);
    const shared = mac(mac(none, diffieHellman({ privateKey: ephemeral, publicKey: publicKey("X25519", device) })), label);
    mac(none, label);
    const schedule = mac(shared, label), key = mac(schedule, label), nonce = mac(schedule, label).subarray(0, 12);
    sign(null, message, signing).copy(inner, 4);
    const aead = createCipheriv("chacha20-poly1305", key, nonce, { authTagLength: 16 });
    const sealed = Buffer.concat([enc, aead.update(inner), aead.final(), aead.getAuthTag()]);
    return `${text}${sealed.toString("base64url")}"}`;
}

const seal = (index) => sealer.seal(payload, { to: devices[index % devices.length] }).json;

// In turns, so that what else runs here disturbs both; the quartile is of calls that nothing interrupted.
const quartile = (times) => times.sort((a, b) => a - b)[times.length >> 2] / 1000;
for await (const line of createInterface({ input: process.stdin })) {
    const seals = [], calls = [];
    let length = 0;
    for (let index = 0; index < Number(line); index++) {
        const start = performance.now();
        length += seal(index).length;
        const middle = performance.now();
        bare(index);
        calls.push(performance.now() - middle);
        seals.push(middle - start);
    }
    console.log(quartile(seals), quartile(calls), length / seals.length);
}
