// Compiled by tsc, and not run: the types as a program uses them. A line after `@ts-expect-error` must not compile.
import { Credential, DeviceKey, ProviderKey, Sealer, SigningKey, issueCertificate, Trust, open, PushcryptError, SealFilter, checkRegistration, parseDeviceRecord, type SealedPush } from "pushcrypt";

const provider: ProviderKey = ProviderKey.generate(), key = SigningKey.generate();
const certificate: string = issueCertificate({ provider, signingKey: key.publicBytes, topic: "com.example.app", past: [{ epoch: 0, replacedAt: new Date() }] });
const credential = new Credential({ key, certificate, provider: provider.publicKey });
const sealer = new Sealer({ key: credential, topic: "com.example.app", placeholder: { title: "News", sound: null, clearFields: ["badge"] } });
const push: SealedPush = sealer.seal({ aps: { alert: "a" } }, { to: "pcr1", at: new Date(), pushType: "voip", timeToLive: 60 });
const id: string = push.messageID, topic: string = sealer.request(push, { priority: 5 }).headers["apns-topic"];
const opened = open(push.json, { topic, devices: [DeviceKey.generate()], pushType: "voip", trust: new Trust(["pcs1"], [{ provider: "pcs1", certificate, floor: 0 }]) });
const badge: unknown = opened.content().aps["badge"];
const answer = checkRegistration(parseDeviceRecord("{}"), { user: null });
const foreign: readonly "provider"[] = answer.foreign;
const text: string = `${opened.learned?.floor} ${opened.epoch}`;
export async function run(): Promise<string> {
    for await (const { answer, error } of new SealFilter().sealAll([{ to: "a", payload: "{}" }])) {
        if (error instanceof PushcryptError) return error.code;
        if (answer !== undefined) return answer.payload;
    }
    return `${id} ${badge} ${foreign.length} ${text}`;
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
checkRegistration(parseDeviceRecord("{}"), {});
