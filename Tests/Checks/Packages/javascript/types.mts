// Compiled by tsc, and not run: the types as a program uses them. A line after `@ts-expect-error` must not compile.
import {
    CertificateRequest, Credential, FilterError, ProviderKey, PushcryptError, RemoteSealer, SealFilter, Sealer, SigningKey, accept, canWithdraw, issueCertificate,
    parseDeviceRecord, providerPublicKey, refuse, type Accepted, type Code, type SealedPush, type Signer, type StoredDevice,
} from "pushcrypt";
import { Pairing, pairingId, type PairingRequest } from "pushcrypt/pairing";
import { DeviceKey, PairingCode, Trust, open } from "pushcrypt/testing";

const provider: ProviderKey = ProviderKey.generate(), key = SigningKey.generate(), topic = "com.example.app";
const certificate: string = issueCertificate({ provider, signingKey: key.publicBytes, topic, past: [{ certificate: null, replacedAt: new Date() }] });
const credential = new Credential({ key, certificate, provider: provider.publicKey });
const sealer = new Sealer({ key: credential, topic, placeholder: { title: "News", sound: null, clearFields: ["badge"] } });
const push: SealedPush = sealer.seal({ aps: { alert: "a" } }, { to: "pcr1", at: new Date(), pushType: "voip", timeToLive: 60, messageId: "a", withdraws: ["b"] });
const id: string = push.messageId, host: string = sealer.request(push, { priority: 5, deviceId: "d" }).headers["apns-topic"];
const opened = open(push.json, { topic, devices: [DeviceKey.generate()], pushType: "voip", trust: new Trust(["pcs1"], [{ provider: "pcs1", certificate, floor: 0 }]) });
const badge: unknown = opened.content().aps["badge"];
const device: StoredDevice = JSON.parse("{}");
const answer: Accepted = accept(parseDeviceRecord("{}"), device, null, { topic, provider: sealer.provider, certificate: sealer.certificate, issued: [certificate] });
const foreign: readonly "provider"[] = answer.foreign, text = `${id} ${host} ${badge} ${foreign.length} ${canWithdraw(device, "")} ${refuse(new Error())}`;
const signer: Signer = { publicKey: new Uint8Array(32), sign: async (message) => message };
export async function run(): Promise<string> {
    const filter = new SealFilter({ answerTimeout: 5 });
    for await (const { answer, error } of filter.sealAll([{ to: "a", payload: "{}" }])) {
        if (answer !== undefined) return answer.payload;
        if (error instanceof FilterError) return error.retryable ? "later" : error.code;
        if (error instanceof PushcryptError) return reason(error.code);
    }
    await filter.close(1);
    const request = new CertificateRequest({ topic, provider: providerPublicKey(signer.publicKey), signingKey: key.publicBytes });
    const remote = await RemoteSealer.create({ signer, topic, provider: request.provider, certificate });
    return `${text} ${request.install(key, await request.certify(signer)).epoch} ${(await remote.seal("{}", { to: "pcr1" })).json}`;
}
export function pair(body: Uint8Array): [string, string] {
    const pairing = Pairing.create({ provider: provider.publicKey, url: "https://a", topic, at: new Date() }), request: PairingRequest = pairing.open(body);
    if (request.record === undefined || pairingId(body) !== pairing.id) return [pairing.code, new PairingCode(pairing.code, { topic }).url];
    const { pairing: claimed, answer } = request.seal(accept(request.record, null, "alice", { topic, provider: pairing.provider }).reply);
    return [claimed.json(), `${answer} ${request.record.deviceId.length} ${claimed.claimed ?? 0}`];
}
// An interface has no index signature.
interface Table { aps: { alert: string }; table: number }
interface Line { to: string; payload: Table; token: string }
export async function typed(table: Table, line: Line, filter: SealFilter): Promise<string> {
    for await (const { message } of filter.sealAll([line])) sealer.seal(message.payload, { to: message.token });
    return (await filter.seal({ ...line, collapse_id: "a" })).payload + (await filter.seal(line)).payload + sealer.seal(table, { to: "pcr1" }).json;
}
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
