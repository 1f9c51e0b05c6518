// Compiled by tsc, and not run: the types as a program uses them. A line after `@ts-expect-error` must not compile.
import {
    CertificateRequest, Credential, ProviderKey, PushcryptError, Sealer, SigningKey, accept, issueCertificate, parseDeviceRecord, refusal,
    type Accepted, type Code, type Devices, type SealedPush, type StoredDevice,
} from "pushcrypt";
import { Pairing, answerPost, type Home } from "pushcrypt/home";
import { PushKey, relayMessage, relayRequest } from "pushcrypt/relay";
import { DeviceKey, open } from "pushcrypt/testing";

const provider: ProviderKey = ProviderKey.generate(), key = SigningKey.generate(), topic = "com.example.app";
const certificate: string = issueCertificate({ provider, signingKey: key.publicBytes, topic, past: [{ certificate: null, replacedAt: new Date() }] });
export const next = (): string => issueCertificate({ provider, signingKey: key.publicBytes, topic, current: sealer.certificate });
const credential = new Credential({ key, certificate, provider: provider.publicKey });
const sealer = new Sealer({ key: credential, topic, placeholder: { title: "News", sound: null, clear: ["badge"] } });
const device: StoredDevice = JSON.parse("{}");
const push: SealedPush = sealer.seal({ aps: { alert: "a" } }, device, { at: new Date(), pushType: "voip", timeToLive: 60, messageId: "a", withdraws: ["b"] });
const id: string = push.messageId, host: string = sealer.request(push, { priority: 5, collapseName: "c" }).headers["apns-topic"];
const opened: string = open(push.json, { topic, device: DeviceKey.generate(), pushType: "voip", provider: "pcs1" }).payload;
const devices: Devices = { find: () => null, holders: async (publicKey: string, token: string | null) => [device] };
const accepting: Promise<Accepted> = accept(parseDeviceRecord("{}"), devices, null, { topic, provider: sealer.provider, certificate: sealer.certificate, issued: [certificate] });
export const foreign = async (): Promise<readonly "provider"[]> => (await accepting).foreign;
const text = `${id} ${host} ${opened} ${device.sequence ?? push.expiration} ${refusal(new Error(), { certificate: sealer.certificate }).refused}`;
export function run(error: unknown): string {
    if (error instanceof PushcryptError) return reason(error.code);
    const request = new CertificateRequest({ topic, provider: provider.publicKey, signingKey: key.publicBytes });
    return `${text} ${request.install(key, request.certify(provider)).epoch}`;
}
export async function post(pushKey: PushKey): Promise<Uint8Array> {
    const { url, headers, body } = relayRequest("https://push.example.com", pushKey, [relayMessage(sealer.request(push))], { at: new Date() });
    await Promise.resolve({ url, headers, body });
    return pushKey.publicKey;
}
export async function home(body: Uint8Array): Promise<string> {
    const pairing = Pairing.create({ provider: provider.publicKey, url: "https://a", topic, user: "alice" });
    const home: Home = { ...devices, pairing: (id) => (id === pairing.id ? pairing : null) };
    const { status, body: reply, changes, pairing: claimed, answer } = await answerPost(body, home, { key: credential, topic });
    return `${status} ${reply} ${changes.length} ${claimed?.json()} ${answer}`;
}
// An interface has no index signature.
interface Table { aps: { alert: string }; table: number }
export const typed = (table: Table): string => sealer.seal(table, device).json;
function reason(code: Code): string {
    return code === "payload-too-large" ? "shorten it" : code;
}

// @ts-expect-error a misspelt option
sealer.seal("{}", device, { ttl: 60 });
// @ts-expect-error a push type of the system
sealer.seal("{}", device, { pushType: "liveactivity" });
// @ts-expect-error no device
sealer.seal("{}");
// @ts-expect-error a field that is never clear
new Sealer({ key: provider, topic, placeholder: { clear: ["alert"] } });
// @ts-expect-error a signing key without its certificate
new Sealer({ key, topic });
// @ts-expect-error no user
accept(parseDeviceRecord("{}"), devices, undefined, { topic, provider: "pcs1" });
// @ts-expect-error a stored device without its user
sealer.seal("{}", { device: "d", topic, publicKey: "pcr1", generation: 1 });
// @ts-expect-error a store without look-ups by key
accept(parseDeviceRecord("{}"), { find: () => null }, null, { topic, provider: "pcs1" });
// @ts-expect-error no such code
reason("payload-to-large");
// @ts-expect-error a pairing without an address
Pairing.create({ provider: "pcs1", topic });
