// What a caller can get wrong, and no file of the kit can ask about: each has to be refused, or to do no harm.
import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import {
    AttachmentReference, Credential, DeviceKey, FileOpener, ProviderKey, PushcryptError, RemoteSealer, Sealer, SigningKey, Trust, applyReply,
    checkRegistration, formatDeviceRecord, formatProviderRecord, formatReply, issueCertificate, open, parseDeviceRecord, parseProviderRecord, parseReply,
    showsStaleStore,
} from "pushcrypt";

/** Whether the call throws an error that quotes no name of a payload. */
function isSilent(call) {
    try {
        call();
        return false;
    } catch (error) {
        return !/secretName/.test(error.message);
    }
}

/** Whether the call throws this error, of a code or a type. */
function refused(what, call) {
    try {
        call();
    } catch (error) {
        return typeof what === "string" ? error instanceof PushcryptError && error.code === what : error instanceof what;
    }
    return false;
}

/** A name for each, and whether it is as it must be. The keys are good ones. */
export function* answers(to, provider, internal) {
    yield* misusedSeals(to, provider);
    yield* changedPayloads(to, provider);
    yield* misusedTrust(provider, internal("keys"));
    yield* misusedRecords(to, provider);
    yield* printed(provider);
    const zeros = Buffer.alloc(32), opener = new FileOpener({ key: zeros, size: 22, sha256: zeros });
    const first = refused("not-a-sealed-file", () => opener.update(Buffer.alloc(22)));
    yield ["a file after it was refused", first && refused("malformed-file", () => opener.update(zeros)) && refused("malformed-file", () => opener.finish())];
}
/** Signers that do not sign: nothing is sealed. */
export async function signers(to, provider, publicKey) {
    const payload = { aps: { alert: "a" } }, failure = new Error("the service is gone");
    const other = ProviderKey.generate(), found = [];
    for (const [name, what, signer] of [
        ["a signature by another key", "wrong-signature", { publicKey, sign: () => Buffer.alloc(64, 1) }],
        ["a signature of 63 bytes", "wrong-signature", { publicKey, sign: () => Buffer.alloc(63) }],
        ["a signature as text", TypeError, { publicKey, sign: async () => "signed" }],
        ["a signer that fails", failure, { publicKey, sign: async () => Promise.reject(failure) }],
        ["a signer without a key", TypeError, { sign: () => Buffer.alloc(64) }],
        ["a signer that is a key", TypeError, other],
    ]) {
        const error = await RemoteSealer.create({ signer, topic: "a" }).then((sealer) => sealer.seal(payload, { to }), (error) => error);
        found.push([name, typeof what === "string" ? error.code === what : error === what || (typeof what === "function" && error instanceof what)]);
    }
    return found;
}

function* misusedSeals(to, provider) {
    const half = "\ud800", payload = { aps: { alert: "a", sound: "b" } };
    const sealer = (placeholder) => new Sealer({ key: provider, topic: "a", placeholder });
    const seal = (options, given = payload) => sealer({}).seal(given, { to, at: 0, ...options });
    for (const [name, what, options] of [
        ["a name with half of a pair", "invalid-request", { messageName: half }],
        ["an empty name", "invalid-request", { messageName: "" }],
        ["a name that is a number", TypeError, { messageName: 7 }],
        ["a time to live with a fraction", "invalid-time", { timeToLive: 1.5 }],
        ["a time to live as text", TypeError, { timeToLive: "1h" }],
        ["a time with a fraction", "invalid-time", { at: 0.5 }],
        ["a time as text", TypeError, { at: "now" }],
        ["a misspelt option", TypeError, { ttl: 60 }],
        ["an option in capitals", TypeError, { timetolive: 60 }],
        ["no device", TypeError, { to: undefined }],
        ["a device that is null", TypeError, { to: null }],
        ["a push type of the system", "push-type-not-sealable", { pushType: "liveactivity" }],
        ["a push type that every object has", "push-type-not-sealable", { pushType: "constructor" }],
        ["65 withdrawals", "invalid-request", { withdrawing: Array.from({ length: 65 }, (_, index) => `${index}`) }],
        ["a withdrawal of itself", "invalid-request", { messageName: "b", withdrawing: ["b"] }],
        ["a withdrawal without a name", "invalid-request", { withdrawing: [""] }],
        ["a withdrawal that is a string", TypeError, { withdrawing: "table" }],
        ["a drop that is 1", TypeError, { drop: 1 }],
        ["a sender without a name", TypeError, { from: {} }],
        ["a sender with a misspelt member", TypeError, { from: { name: "Anna", Handle: "u" } }],
        ["a sender of two lines", "invalid-request", { from: { name: "Anna\nBen" } }],
        ["nine recipients", "invalid-request", { from: { name: "Anna", recipients: Array(9).fill("Ben") } }],
        ["an attachment as JSON", TypeError, { attachments: [{ url: "https://a" }] }],
    ]) yield [name, refused(what, () => seal(options))];
    yield ["no options", refused(TypeError, () => sealer({}).seal(payload))];
    yield ["a title with half of a pair", refused("invalid-request", () => sealer({ title: half }))];
    yield ["a sound with half of a pair", refused("invalid-request", () => sealer({ sound: half }))];
    yield ["a title of spaces", refused("invalid-placeholder", () => sealer({ title: " \u00a0" }))];
    yield ["a title of 4,097 bytes", refused("invalid-placeholder", () => sealer({ title: "a".repeat(4097) }))];
    yield ["a clear field that is the alert", refused(TypeError, () => sealer({ clearFields: ["alert"] }))];
    yield ["a misspelt member of the placeholder", refused(TypeError, () => sealer({ Title: "a" }))];
    yield ["a topic of another type", refused(TypeError, () => new Sealer({ key: provider, topic: undefined }))];
    yield ["a topic with a space", refused("wrong-topic", () => new Sealer({ key: provider, topic: "a b" }))];
    yield ["a device's key as the provider's", refused(TypeError, () => new Sealer({ key: DeviceKey.generate(), topic: "a" }))];
    for (const [name, what, given] of [
        ["no aps", "missing-aps", '{"a":1}'],
        ["aps beside ENCRYPTED_DATA", "reserved-key", '{"ENCRYPTED_DATA":null}'],
        ["a badge as text", "invalid-field", { aps: { alert: "a", badge: "1" } }],
        ["a sound's volume of 2", "invalid-field", { aps: { alert: "a", sound: { volume: 2 } } }],
        ["a title that is a number", "invalid-field", { aps: { alert: { title: 1 } } }],
        ["an alert without text", "nothing-to-show", { aps: { alert: { body: "" } } }],
        ["no alert", "nothing-to-show", { aps: {} }],
        ["a name twice", "malformed-payload", '{"aps":{"alert":"a"},"a":1,"a":1}'],
        ["a text with half of a pair", "malformed-payload", `{"aps":{"alert":"${half}"}}`],
        ["an escaped half of a pair", "malformed-payload", '{"aps":{"alert":"\\ud800"}}'],
        ["a payload that is null", TypeError, null],
        ["a payload that is a number", TypeError, 7],
    ]) yield [name, refused(what, () => seal({}, given))];
    yield ["a payload that is undefined", refused(TypeError, () => sealer({}).seal(undefined, { to }))];
    const push = seal({}), request = (options) => sealer({}).request(push, options);
    yield ["an empty collapse name", refused("invalid-request", () => request({ collapseName: "" }))];
    yield ["an empty device name", refused("invalid-request", () => request({ device: "" }))];
    yield ["a device name of 256 bytes", refused("invalid-request", () => request({ device: "é".repeat(128) }))];
    yield ["an expiration in milliseconds", refused("invalid-request", () => request({ expiration: 1_767_225_600_000 }))];
    yield ["a priority of 7", refused(TypeError, () => request({ priority: 7 }))];
    yield ["a background push at once", refused("invalid-request", () => sealer({}).request(seal({ pushType: "background" }), { priority: 10 }))];
    yield ["a request of another object", refused(TypeError, () => sealer({}).request({ ...push }))];
    const key = DeviceKey.generate(), own = sealer({}).seal(payload, { to: key.publicKey, at: 0 });
    const trust = new Trust([provider.publicKey]);
    const opened = open(own.json, { topic: "a", devices: [key], trust, at: 0 });
    yield ["an opened payload that is printed", !inspect(opened).includes("alert") && opened.content().aps.alert === "a"];
    yield ["no trust", refused(TypeError, () => open(own.json, { topic: "a", devices: [key] }))];
    yield ["a device key as text", refused(TypeError, () => open(own.json, { topic: "a", devices: ["pcr1"], trust }))];
    yield ["a push that is an object", open(own.toJSON(), { topic: "a", devices: [key], trust, at: 0 }).messageID === own.messageID];
}

/** Payloads that JSON.stringify would change; those that it would not; and bytes, which stay as they are. */
function* changedPayloads(to, provider) {
    const key = DeviceKey.generate(), sealer = new Sealer({ key: provider, topic: "a" }), trust = new Trust([provider.publicKey]);
    const sealed = (given) => sealer.seal(given, { to: key.publicKey, at: 0 });
    const back = (given) => open(sealed(given).json, { topic: "a", devices: [key], trust, at: 0 }).payload.toString();
    const cycle = { aps: { alert: "a" } };
    cycle.own = cycle;
    for (const [name, value] of [
        ["2^53", 2 ** 53], ["-2^60", -(2 ** 60)], ["1e300", 1e300], ["NaN", NaN], ["infinity", Infinity], ["-0", -0], ["a BigInt", 1n], ["undefined", undefined],
        ["a function", () => 1], ["a symbol", Symbol("a")], ["a date", new Date(0)], ["a map", new Map()], ["half of a pair", "\udc00"],
        ["an array with a hole", [, 1]], ["an array with a name", Object.assign([1], { a: 2 })], ["bytes", Buffer.alloc(1)], ["a boxed number", Object(1)], ["a name with half of a pair", { "\ud800": 1 }],
        ["a symbol as a name", { [Symbol("a")]: 1 }], ["an object that writes itself", { toJSON: () => 1 }], ["undefined in an array", [undefined]],
    ]) yield [`${name} in a payload`, refused("malformed-payload", () => sealed({ aps: { alert: "a" }, value }))];
    yield ["an error that names nothing of the payload", isSilent(() => sealed({ aps: { alert: "a" }, secretName: [{ secretName: NaN }] }))];
    yield ["a payload in itself", refused("malformed-payload", () => sealed(cycle))];
    const good = { aps: { alert: "a" }, list: [1, 0.1, -5, null, true, "\ud83d\ude00"], __proto__: null, nested: Object.create(null) };
    yield ["a payload that JSON keeps", back(good) === JSON.stringify(good)];
    const written = '{"aps":{"alert":"\\u0041"},"big":123456789012345678901234567890,"f":1.0,"e":1E+2}';
    yield ["text with large numbers", back(written) === written && back(Buffer.from(written)) === written];
}

function* misusedTrust(provider, { keyText }) {
    const zeros = keyText(Buffer.alloc(32), "pcs"), topic = "a", at = 1_767_225_600_000, key = SigningKey.generate(), pin = provider.publicKey;
    const issued = (more) => issueCertificate({ provider, signingKey: key.publicBytes, topic, at, ...more }), certificate = issued({});
    yield ["a pin of zeros", refused("weak-key", () => new Trust([zeros]))];
    yield ["a pin that is undefined", refused(TypeError, () => new Trust([undefined]))];
    const three = [provider, ProviderKey.generate(), ProviderKey.generate()].map(({ publicKey }) => publicKey);
    yield ["three pins", refused("too-many-pins", () => new Trust(three)) && refused("too-many-pins", () => new Trust([pin, pin]))];
    yield ["a misspelt member of what is learned", refused(TypeError, () => new Trust([pin], [{ provider: pin, certificate, flor: 0 }]))];
    yield ["a certificate as bytes", refused(TypeError, () => new Trust([pin]).accept(Buffer.alloc(121), { topic }))];
    yield ["a certificate for nobody", refused("bad-certificate-signature", () => new Trust([]).accept(certificate, { topic }))];
    const trust = new Trust([pin]);
    trust.accept(certificate, { topic });
    const stored = JSON.parse(JSON.stringify(trust.learned)), again = new Trust([pin], stored);
    yield ["a trust that was stored", again.accept(certificate, { topic }) === "unchanged" && inspect(again.learned) === inspect(trust.learned)];
    const second = issued({ current: certificate, stolen: true });
    again.accept(second, { topic });
    stored.forEach((one) => again.learn(one));
    yield ["an older state that is merged", again.learned[0].certificate === second && again.learned[0].floor === 1_767_225_601];
    yield ["an epoch of tomorrow", refused("implausible-epoch", () => issued({ current: second, at: at - 86_400_001 + 1_000 }))];
    yield ["the provider key as signing key", refused("weak-key", () => issued({ signingKey: new SigningKey(Buffer.alloc(32, 7)).publicBytes, provider: new ProviderKey(Buffer.alloc(32, 7)) }))];
    yield ["the certificate of another key", refused("wrong-certificate", () => new Credential({ key: SigningKey.generate(), certificate, provider: pin }))];
    yield ["the certificate of another app", refused("bad-certificate-signature", () => new Sealer({ key: new Credential({ key, certificate, provider: pin }), topic: "b" }))];
    yield ["a signing key without its certificate", refused(TypeError, () => new Sealer({ key, topic }))];
    const credential = new Credential({ key, certificate, provider: pin });
    yield ["a signing key file of two lines", refused("malformed-key", () => Credential.parse(credential.secretText().split("\n").slice(0, 2).join("\n")))];
    yield ["a signing key file", Credential.parse(credential.secretText()).secretText() === credential.secretText() && !inspect(credential).includes(key.secretText())];
    const record = parseDeviceRecord(formatDeviceRecord({ publicKey: DeviceKey.generate().publicKey, provider: pin, certificate }));
    const shows = (issued) => showsStaleStore(record, { provider: pin, topic, issued });
    yield ["a certificate that was never issued", shows([second]) && !shows([certificate])];
}

function* misusedRecords(publicKey, { publicKey: provider }) {
    const record = parseDeviceRecord(formatDeviceRecord({ publicKey, provider, deviceID: "a", generation: 2, created: 5, topic: "a", appVersion: "1" }));
    const again = parseDeviceRecord(formatDeviceRecord(record));
    yield ["a record that is read and written", inspect(record) === inspect(again) && record.provider === provider && record.generation === 2];
    const held = { publicKey: DeviceKey.generate().publicKey, generation: 1, user: "alice" };
    yield ["another key from a session without a user", refused("user-mismatch", () => checkRegistration(record, { user: null, held }))];
    yield ["the same key from one", checkRegistration(record, { user: null, held: { ...held, publicKey } }).user === "alice"];
    yield ["a registration without a user", refused(TypeError, () => checkRegistration(record, { held }))];
    const { user: alice, ...nobody } = held;
    for (const [name, wrong] of Object.entries({
        text: { ...held, generation: "1" }, bigint: { ...held, generation: 1n }, misspelt: { publicKey, user: alice, generaton: 1 }, none: { publicKey, user: alice },
        column: { ...nobody, user_id: alice }, nobody, number: { ...held, user: 1 }, key: { ...held, publicKey: undefined }, topic: { ...held, topic: 1 },
    })) {
        yield [`a held device from a database: ${name}`, refused(TypeError, () => checkRegistration(record, { user: alice, held: wrong }))];
    }
    yield ["another device without a user", refused(TypeError, () => checkRegistration(record, { user: alice, sameKey: { user_id: alice } }))];
    yield ["a misspelt registration", refused(TypeError, () => checkRegistration(record, { user: null, Held: held }))];
    yield ["a device of spaces", refused("malformed-record", () => formatDeviceRecord({ publicKey, deviceID: " " }))];
    yield ["a device with an invisible character", refused("malformed-record", () => formatDeviceRecord({ publicKey, deviceID: "a\u200b" }))];
    for (const [name, call] of Object.entries({
        "a generation that is no number": () => formatDeviceRecord({ publicKey, generation: NaN }),
        "a token of one digit": () => formatDeviceRecord({ publicKey, token: "a" }),
        "another environment": () => formatDeviceRecord({ publicKey, environment: "sandbox" }),
        "a topic that is a symbol": () => formatDeviceRecord({ publicKey, topic: Symbol("a") }),
        "a time that is none": () => formatProviderRecord({ publicKey: provider, created: new Date(NaN) }),
    })) yield [name, refused("malformed-record", call)];
    for (const [name, call] of Object.entries({
        "foreign keys that are a text": () => formatReply({ acknowledged: publicKey, foreign: "provider" }),
        "own keys that are a set": () => checkRegistration(record, { user: null, ownKeys: new Set([provider]) }),
        "own keys that are none": () => checkRegistration(record, { user: null, ownKeys: null }),
        "a record that was not parsed": () => checkRegistration({ public_key: publicKey }, { user: null }),
        "a reply that was not parsed": () => applyReply({ acknowledged: publicKey }, { publicKey, trust: new Trust([]), topic: "a" }),
        "a reply that is a number": () => applyReply(7, { publicKey, trust: new Trust([]), topic: "a" }),
        "a trust that is a list": () => applyReply(parseReply(formatReply({ acknowledged: publicKey })), { publicKey, trust: [], topic: "a" }),
        "a built-in key as text": () => applyReply(parseReply(formatReply({ acknowledged: publicKey, provider })), {
            publicKey, trust: new Trust([]), topic: "a", isBuiltIn: "provider",
        }),
    })) yield [name, refused(TypeError, call)];
    yield ["a reply of both kinds", refused("malformed-record", () => formatReply({ acknowledged: publicKey, refused: "key-taken" }))];
    yield ["a reply that is written", parseReply(formatReply({ acknowledged: publicKey, provider })).acknowledged === publicKey];
    yield ["a provider's record", parseProviderRecord(formatProviderRecord({ publicKey: provider, topic: "a" })).publicKey === provider];
}

function* printed(provider) {
    const key = randomBytes(32), text = key.toString("base64url");
    const json = { url: "https://a", type: "a.b", name: "a", size: 22, key: text, sha256: "A".repeat(43) };
    const reference = AttachmentReference.parse(json), opener = new FileOpener(reference), device = new DeviceKey(key), own = new ProviderKey(key);
    const all = [opener, reference, device, own, new Sealer({ key: own, topic: "a" })];
    const shown = all.map((value) => inspect(value, { maxStringLength: null, showHidden: false, depth: 9 }) + JSON.stringify(value) + String(value)).join("");
    const forms = [text, inspect(key).slice(8, 40), JSON.stringify([...key]).slice(1, 40), device.secretText(), own.secretText(), key.toString("hex")];
    yield ["a key that is printed", reference.key.equals(key) && !forms.some((form) => shown.includes(form)) && provider.publicKey.startsWith("pcs1")];
}
