// Compiled by tsc, and not run: the types as a program uses them. A line after `@ts-expect-error` must not compile.
import {
    CertificateRequest, Credential, ProviderKey, PushcryptError, Sealer, SigningKey, accept, issueCertificate, parseDeviceRecord, refuse,
    type Accepted, type Code, type SealedPush, type StoredDevice,
} from "pushcrypt";
import { Pairing, pairingId, type PairingRequest } from "pushcrypt/pairing";
import { PushKey, relayMessage, relayRequest } from "pushcrypt/relay";
import { DeviceKey, open } from "pushcrypt/testing";

const provider: ProviderKey = ProviderKey.generate(), key = SigningKey.generate(), topic = "com.example.app";
const certificate: string = issueCertificate({ provider, signingKey: key.publicBytes, topic, past: [{ certificate: null, replacedAt: new Date() }] });
const credential = new Credential({ key, certificate, provider: provider.publicKey });
const sealer = new Sealer({ key: credential, topic, placeholder: { title: "News", sound: null, clearFields: ["badge"] } });
const push: SealedPush = sealer.seal({ aps: { alert: "a" } }, { to: "pcr1", at: new Date(), pushType: "voip", timeToLive: 60, messageId: "a", withdraws: ["b"] });
const id: string = push.messageId, host: string = sealer.request(push, { priority: 5, deviceId: "d" }).headers["apns-topic"];
const opened: string = open(push.json, { topic, device: DeviceKey.generate(), pushType: "voip", provider: "pcs1" }).payload;
const device: StoredDevice = JSON.parse("{}");
const answer: Accepted = accept(parseDeviceRecord("{}"), device, null, { topic, provider: sealer.provider, certificate: sealer.certificate, issued: [certificate] });
const foreign: readonly "provider"[] = answer.foreign, text = `${id} ${host} ${opened} ${foreign.length} ${device.sequence ?? push.expiration} ${refuse(new Error())}`;
export function run(error: unknown): string {
    if (error instanceof PushcryptError) return reason(error.code);
    const request = new CertificateRequest({ topic, provider: provider.publicKey, signingKey: key.publicBytes });
    return `${text} ${request.install(key, request.certify(provider)).epoch}`;
}
export async function post(pushKey: PushKey, grant: string): Promise<Uint8Array> {
    const { url, headers, body } = relayRequest("https://push.example.com", pushKey, [relayMessage(grant, sealer.request(push))], { at: new Date() });
    await Promise.resolve({ url, headers, body });
    return pushKey.publicKey;
}
export function pair(body: Uint8Array): [string, string] {
    const pairing = Pairing.create({ provider: provider.publicKey, url: "https://a", topic, at: new Date() }), request: PairingRequest = pairing.open(body, { key: credential });
    if (request.record === undefined || pairingId(body) !== pairing.id) return [pairing.code, pairing.url];
    const { pairing: claimed, answer } = request.seal(accept(request.record, null, "alice", { topic, provider: pairing.provider }).reply);
    return [claimed.json(), `${answer} ${request.record.deviceId.length} ${claimed.claimed ?? 0}`];
}
// An interface has no index signature.
interface Table { aps: { alert: string }; table: number }
export const typed = (table: Table): string => sealer.seal(table, { to: "pcr1" }).json;
function reason(code: Code): string {
    return code === "payload-too-large" ? "shorten it" : code;
}

// @ts-expect-error a misspelt option
sealer.seal("{}", { to: "pcr1", ttl: 60 });
// @ts-expect-error a push type of the system
sealer.seal("{}", { to: "pcr1", pushType: "liveactivity" });
// @ts-expect-error no device
sealer.seal("{}", {});
// @ts-expect-error a field that is never clear
new Sealer({ key: provider, topic, placeholder: { clearFields: ["alert"] } });
// @ts-expect-error a signing key without its certificate
new Sealer({ key, topic });
// @ts-expect-error no user
accept(parseDeviceRecord("{}"), null, undefined, { topic, provider: "pcs1" });
// @ts-expect-error a stored device without its user
accept(parseDeviceRecord("{}"), { publicKey: "pcr1", generation: 1 }, null, { topic, provider: "pcs1" });
// @ts-expect-error no such code
reason("payload-to-large");
// @ts-expect-error a pairing without an address
Pairing.create({ provider: "pcs1", topic });
