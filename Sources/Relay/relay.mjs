// A blind relay: takes sealed messages from self-hosted servers and gives them to APNs. Docs/Relay.md is its protocol, Docs/SelfHosted.md says how to
// run it. serve.mjs runs it on Node.

const DAY = 86_400_000, LIFE = 180 * DAY;
export const limitsOfProtocol = Object.freeze({
    body: 524_288, messages: 45, push: 4096, data: 3826, clock: 3_600_000, patience: 20_000, life: LIFE,
});
const ENVIRONMENTS = ["production", "development"], KINDS = ["alert", "background"];
const GRANT_BYTES = 444, GRANT_CHARACTERS = 592, PLAINTEXT = 407, HEADER = 5, ID = 16;
const { subtle } = globalThis.crypto;

/** Why a request, or one message, was refused. */
export class RelayError extends Error {
    constructor(status, code, more = {}) {
        super(code);
        Object.assign(this, { name: "RelayError", status, code, more });
    }
}

const malformed = () => new RelayError(400, "malformed-request");
const unavailable = (seconds = 5) => new RelayError(503, "relay-unavailable", { retry_after: seconds });

// Bytes

const utf8 = (text) => new TextEncoder().encode(text);
const label = (text) => utf8(`pushcrypt/1 ${text}\0`);
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));

function concat(...parts) {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
    return all;
}

function number(value, size) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
    return bytes.subarray(8 - size);
}

const prefixed = (bytes, size) => concat(number(bytes.length, size), bytes);

export function encode(bytes) {
    return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes of a base64url text, if it is the only text of so many bytes. */
export function decode(text, length) {
    if (typeof text !== "string" || text.length !== Math.ceil((length * 4) / 3) || !/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    return encode(bytes) === text ? bytes : undefined;
}

/** In a time that depends on the lengths alone. */
function equal(one, other) {
    let difference = one.length ^ other.length;
    for (let at = 0; at < one.length; at++) difference |= one[at] ^ other[at % Math.max(other.length, 1)];
    return difference === 0;
}

const sha256 = async (bytes) => new Uint8Array(await subtle.digest("SHA-256", bytes));
const hmac = async (key, ...parts) => new Uint8Array(await subtle.sign("HMAC", key, concat(...parts)));
const fingerprint = async (text) => hex((await sha256(utf8(text))).subarray(0, 4));

// Grants: Docs/Relay.md, "This project's grants"

const imported = new WeakMap();

/** A relay key, 32 bytes, as WebCrypto needs it. */
async function relayKey(raw) {
    if (!(raw instanceof Uint8Array) || raw.length !== 32) throw new TypeError("a relay key is a Uint8Array of 32 bytes");
    if (!imported.has(raw)) {
        const name = await subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
        const seal = await subtle.importKey("raw", raw, "HKDF", false, ["deriveKey"]);
        imported.set(raw, { name, seal, header: concat(number(1, 1), (await hmac(name, label("relay key id"))).subarray(0, 4)) });
    }
    return imported.get(raw);
}

async function grantCipher(key, id, origin, usage) {
    const derivation = { name: "HKDF", hash: "SHA-256", salt: id, info: label("grant") };
    const cipher = await subtle.deriveKey(derivation, key.seal, { name: "AES-GCM", length: 256 }, false, [usage]);
    return [{ name: "AES-GCM", iv: new Uint8Array(12), additionalData: concat(key.header, id, utf8(origin)) }, cipher];
}

const isTopic = (topic) => typeof topic === "string" && /^[A-Za-z0-9.-]{1,255}$/.test(topic);
const isToken = (token) => typeof token === "string" && /^(?:[0-9a-f]{2}){1,100}$/.test(token);
const isKinds = (kinds) => Array.isArray(kinds) && kinds.length >= 1 && new Set(kinds).size === kinds.length && kinds.every((kind) => KINDS.includes(kind));
const isTime = (time) => Number.isSafeInteger(time) && time >= 0;

/** Makes a grant. `pushKey` is 43 characters of base64url; times are milliseconds. */
export async function sealGrant(raw, origin, { token, environment, topic, pushKey, kinds = ["alert"], issued = Date.now(), expires = issued + LIFE }, random) {
    const bound = decode(pushKey, 32);
    const isGood = isToken(token) && ENVIRONMENTS.includes(environment) && isTopic(topic) && bound && isKinds(kinds) && isTime(issued) && isTime(expires);
    if (!isGood) throw malformed();
    const key = await relayKey(raw), plaintext = new Uint8Array(PLAINTEXT);
    const bits = kinds.reduce((sum, kind) => sum | (1 << KINDS.indexOf(kind)), 0);
    plaintext.set(concat(
        Uint8Array.of(ENVIRONMENTS.indexOf(environment) + 1, bits), number(issued, 8), number(expires, 8), bound,
        prefixed(utf8(topic), 1), prefixed(fromHex(token), 1),
    ));
    // Hedged: a random source that repeats gives two grants the same key only if they say the same.
    const id = (await hmac(key.name, label("grant id"), random ?? crypto.getRandomValues(new Uint8Array(16)), plaintext)).subarray(0, ID);
    const sealed = new Uint8Array(await subtle.encrypt(...(await grantCipher(key, id, origin, "encrypt")), plaintext));
    return { grant: encode(concat(key.header, id, sealed)), secret: await grantSecret(key, id), expires };
}

/** What only the phone keeps, and ends a grant with: who reads a grant cannot. */
const grantSecret = async (key, id) => encode((await hmac(key.name, label("grant secret"), id)).subarray(0, ID));

/** Opens a grant by any of the relay keys. Throws `malformed-grant` or `grant-unknown-key`; the caller compares key, end and revocations. */
export async function openGrant(raws, origin, grant) {
    const bytes = decode(grant, GRANT_BYTES), wrong = new RelayError(400, "malformed-grant");
    if (!bytes || bytes[0] !== 1) throw wrong;
    const header = bytes.subarray(0, HEADER), id = bytes.subarray(HEADER, HEADER + ID);
    let found, plain, sealer;
    for (const raw of raws) {
        const key = await relayKey(raw);
        if (!equal(key.header, header)) continue;
        [found, sealer] = [raw, key];
        plain = await subtle.decrypt(...(await grantCipher(key, id, origin, "decrypt")), bytes.subarray(HEADER + ID)).catch(() => undefined);
        if (plain) break;
    }
    if (!found) throw new RelayError(410, "grant-unknown-key");
    if (!plain) throw wrong;
    const text = new Uint8Array(plain), view = new DataView(plain), topicEnd = 51 + text[50], end = topicEnd + 1 + text[topicEnd];
    const isKnown = text[0] >= 1 && text[0] <= ENVIRONMENTS.length && text[1] >= 1 && text[1] < 1 << KINDS.length;
    if (!isKnown || end > PLAINTEXT || text.subarray(end).some((byte) => byte !== 0)) throw wrong;
    return {
        id: hex(id), relayKey: found, secret: await grantSecret(sealer, id), environment: ENVIRONMENTS[text[0] - 1], kinds: KINDS.filter((_, bit) => (text[1] >> bit) & 1),
        issued: Number(view.getBigUint64(2)), expires: Number(view.getBigUint64(10)), pushKey: encode(text.subarray(18, 50)),
        topic: new TextDecoder().decode(text.subarray(51, topicEnd)), token: hex(text.subarray(topicEnd + 1, end)),
    };
}

/** Under what name "all grants of a token until now" is kept, of those that one relay key sealed. */
async function cutoffName(raw, { environment, topic, token }) {
    const { name } = await relayKey(raw), place = number(ENVIRONMENTS.indexOf(environment) + 1, 1);
    return `c${hex((await hmac(name, label("grant cutoff"), place, prefixed(utf8(topic), 2), prefixed(fromHex(token), 2))).subarray(0, ID))}`;
}

// Requests

const PATH = "/v1/push";

/** [K-9]: the points of order 4, 1, 2 and 8, without the sign of x. */
const SMALL_ORDER = [
    "00".repeat(32), `01${"00".repeat(31)}`, `ec${"ff".repeat(30)}7f`,
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
];

/** What a push key signs. */
async function signedBytes(origin, path, key, time, body) {
    return concat(label("relay request"), prefixed(utf8(origin), 2), prefixed(utf8(path), 2), key, number(time, 8), await sha256(body));
}

/**
 * Verifies who signed a request [R-7] to [R-9]; returns the push key, 43 characters. `header` gives a header's value by its lower-case name, or null.
 * Throws `clock` or `bad-signature`.
 */
export async function verifyRelayRequest(origin, path, header, body, now = Date.now()) {
    const wrong = new RelayError(401, "bad-signature"), time = header("pushcrypt-time") ?? "";
    const key = decode(header("pushcrypt-key"), 32), signature = decode(header("pushcrypt-signature"), 64);
    if (!key || !signature || !/^(?:0|[1-9][0-9]{0,15})$/.test(time) || !isTime(Number(time))) throw wrong;
    if (Math.abs(Number(time) - now) > limitsOfProtocol.clock) throw new RelayError(401, "clock", { now });
    // [K-9]: R of small order, which OpenSSL takes.
    const r = signature.slice(0, 32);
    r[31] &= 0x7f;
    const verifier = await subtle.importKey("raw", key, "Ed25519", false, ["verify"]).catch(() => undefined);
    const isSigned = verifier && (await subtle.verify("Ed25519", verifier, signature, await signedBytes(origin, path, key, Number(time), body)));
    if (SMALL_ORDER.includes(hex(r)) || !isSigned) throw wrong;
    return encode(key);
}

/** A JSON object without repeated members, or undefined. A number that is not digits alone becomes null: it is no integer of the protocol. */
export function parseObject(bytes) {
    try {
        const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(
            /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/g, (token) => (/^"|^[0-9]+$/.test(token) ? token : "null"),
        );
        const value = JSON.parse(text);
        // JSON.parse keeps the last of equal names: then there are more colons than members.
        const colons = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, "").split(":").length - 1;
        return isObject(value) && membersOf(value, 8) === colons ? value : undefined;
    } catch {
        return undefined;
    }
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function membersOf(value, depth) {
    if (value === null || typeof value !== "object") return 0;
    if (depth === 0) throw new RangeError("too deep");
    return Object.values(value).reduce((sum, one) => sum + membersOf(one, depth - 1), Array.isArray(value) ? 0 : Object.keys(value).length);
}

/** Whether it is an object without other members than these; which are missing, their types show. */
const hasOnly = (value, ...names) => isObject(value) && Object.keys(value).every((name) => names.includes(name));

/** What a phone says of itself in `POST /v1/grants`. */
const isPhone = ({ token, environment, topic }) => isToken(token) && ENVIRONMENTS.includes(environment) && isTopic(topic);

// Limits

/** Counts uses of keys in windows, `[milliseconds, most]`. Only the newest `room` keys are remembered. */
export class Limiter {
    #counts = new Map();

    constructor(windows, room = 100_000) {
        Object.assign(this, { windows, room });
    }

    /** Seconds after which the key may be used again, or 0 and the use is counted. */
    take(key, now, isCounted = true) {
        const counts = this.#counts.get(key) ?? this.windows.map(() => ({ start: now, used: 0 }));
        let wait = 0;
        for (const [at, [length, most]] of this.windows.entries()) {
            // A clock that was set back also ends a window.
            if (now >= counts[at].start + length || now < counts[at].start) Object.assign(counts[at], { start: now, used: 0 });
            if (counts[at].used >= most) wait = Math.max(wait, Math.ceil((counts[at].start + length - now) / 1000), 1);
        }
        if (wait > 0 || !isCounted) return wait;
        for (const one of counts) one.used += 1;
        if (!this.#counts.has(key) && this.#counts.size >= this.room) this.#counts.delete(this.#counts.keys().next().value);
        this.#counts.set(key, counts);
        return 0;
    }
}

/** The network that a client's address is counted as: an IPv4 address, or 64 bits of IPv6. */
export function network(address) {
    const text = address.replace(/^::ffff:(?=[0-9.]+$)/i, "");
    if (!text.includes(":")) return text;
    const [left, right] = text.split("::").map((half) => (half === "" ? [] : half.split(":")));
    const groups = right === undefined ? left : [...left, ...Array(Math.max(8 - left.length - right.length, 0)).fill("0"), ...right];
    return groups.slice(0, 4).map((group) => parseInt(group, 16).toString(16)).join(":");
}

// Configuration

const DEFAULTS = {
    requests_a_minute: 600, grants_a_minute: 60, pushes_a_minute: 60, pushes_a_day: 1000, background_an_hour: 3, token_factor: 5, requests_at_once: 8,
};
const ALERT = ["title", "subtitle", "body", "title-loc-key", "title-loc-args", "subtitle-loc-key", "subtitle-loc-args", "loc-key", "loc-args", "launch-image"];
const SHOWN = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"];

const isOrigin = (origin) => {
    try {
        return typeof origin === "string" && origin.length <= 255 && new URL(origin).origin === origin && /^https?:/.test(origin);
    } catch {
        return false;
    }
};

/** Checks what a publisher configured, and throws an `Error` that says what is wrong; returns it with the defaults. */
export function checkConfiguration(given) {
    const need = (isGood, text) => {
        if (!isGood) throw new Error(text);
    };
    need(hasOnly(given, "origin", "apps", "kinds", "data_format", "limits"), "it needs origin and apps, and may have kinds, data_format and limits");
    const { origin, apps, kinds = ["alert"], data_format: format = "pushcrypt", limits = {} } = given;
    need(isOrigin(origin), "origin is not like https://push.example.com: lower case, without a path");
    need(isKinds(kinds), "kinds are alert, background or both");
    const isCount = (value) => Number.isSafeInteger(value) && value > 0;
    need(hasOnly(limits, ...Object.keys(DEFAULTS)) && Object.values(limits).every(isCount), `limits are numbers above 0: ${Object.keys(DEFAULTS)}`);
    const isOpaque = format !== "pushcrypt", isMember = (name) => typeof name === "string" && /^[A-Za-z0-9_-]+$/.test(name) && name !== "aps";
    const isRight = !isOpaque || (hasOnly(format, "member", "limit") && isMember(format.member) && isCount(format.limit));
    need(isRight, "data_format is \"pushcrypt\" or has member and limit");
    const data = isOpaque ? format : { member: "ENCRYPTED_DATA", limit: limitsOfProtocol.data };
    need(isObject(apps) && Object.keys(apps).length > 0, "apps has no app");
    for (const [topic, app] of Object.entries(apps)) {
        need(isTopic(topic), `${topic} is no bundle id`);
        need(hasOnly(app, "team", "key_id", "alert", "sounds"), `${topic}: it needs team, key_id and alert, and may have sounds`);
        need([app.team, app.key_id].every((id) => /^[A-Z0-9]{10}$/.test(id)), `${topic}: team and key_id have 10 characters`);
        const { alert, sounds = ["default"] } = app, texts = isObject(alert) ? Object.values(alert).flat() : [];
        need(hasOnly(alert, ...ALERT) && texts.every((text) => typeof text === "string" && text.isWellFormed()), `${topic}: alert has texts: ${ALERT}`);
        need(SHOWN.some((name) => alert[name]), `${topic}: alert has no text, so iOS would not start the extension`);
        need(Array.isArray(sounds) && sounds.every((sound) => typeof sound === "string" && sound !== ""), `${topic}: sounds are names`);
        const longest = Math.max(...[undefined, ...sounds].map((sound) => utf8(pushOf({ alert, sound, content: true }, data.member, "")).length));
        const room = limitsOfProtocol.push - data.limit;
        need(longest <= room, `${topic}: alert and sound make the push ${longest} bytes long without its data, and at most ${room} are left; shorten them`);
    }
    return { origin, apps, kinds, isOpaque, data, limits: { ...DEFAULTS, ...limits } };
}

/** What goes to APNs [R-22]. Without an alert it is a background push. */
function pushOf({ alert, sound, content }, member, data) {
    const aps = alert ? { "mutable-content": 1, alert, sound, ...(content && { "content-available": 1 }) } : { "content-available": 1 };
    return JSON.stringify({ aps, [member]: data });
}

const BUCKETS = { 1: [53, [256, 512, 1024, 1536, 2048, 2560, 2816]], 2: [1141, [256, 512, 1024, 1536, 1728]] };
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Steps 1 and 2 of opening, Docs/Format.md, for what fits a push. */
export function isEnvelope(text) {
    if (typeof text !== "string" || text.length > limitsOfProtocol.data || !/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) return false;
    const unused = [0, 0, 15, 3][text.length % 4];
    if ((BASE64.indexOf(text.at(-1)) & unused) !== 0) return false;
    const [overhead, buckets] = BUCKETS[(BASE64.indexOf(text[0]) << 2) | (BASE64.indexOf(text[1]) >> 4)] ?? [0, []];
    return buckets.includes(Math.floor((text.length * 3) / 4) - overhead);
}

// The relay

/**
 * Makes a relay of `configuration`, which `checkConfiguration` returned. `relayKeys` are 32 bytes each, the newest first. `authorize(team, keyID)` gives the
 * PEM of a `.p8`. `store` has `find(names)`, a Map of those that are there, `put(rows)`, durable once it returns, and `probe()`, whether it can be written.
 * `transport(push, milliseconds)` answers for APNs, or throws an error with `unread` if APNs cannot have read the push.
 */
export function createRelay({ configuration, relayKeys, authorize, store, transport, log = () => {}, now = Date.now, sleep = pause }) {
    const { origin, apps, kinds, isOpaque, data: dataFormat, limits } = configuration;
    const minute = 60_000, byAddress = new Limiter([[minute, limits.requests_a_minute]]);
    const grantsByAddress = new Limiter([[minute, limits.grants_a_minute]]), endsByAddress = new Limiter([[minute, limits.grants_a_minute]]);
    const byGrant = new Limiter([[minute, limits.pushes_a_minute], [DAY, limits.pushes_a_day]]);
    const byBackground = new Limiter([[60 * minute, limits.background_an_hour]]);
    const byToken = new Limiter([[minute, limits.pushes_a_minute * limits.token_factor], [DAY, limits.pushes_a_day * limits.token_factor]]);
    const atWork = new Map(), tokens = providerTokens(authorize, now);

    function limit(limiter, { address }) {
        const wait = limiter.take(network(address), now());
        if (wait > 0) throw new RelayError(429, "too-many-requests", { retry_after: wait });
    }

    async function about() {
        return { version: 1, origin, now: now(), max_messages: limitsOfProtocol.messages, kinds, data_format: isOpaque ? "opaque" : "pushcrypt" };
    }

    async function grants(request) {
        const asked = parseObject(await bodyOf(request));
        const isGood = hasOnly(asked, "token", "environment", "topic", "push_key", "kinds") && isPhone(asked) && decode(asked.push_key, 32);
        if (!isGood || !isKinds(asked.kinds) || !asked.kinds.every((kind) => kinds.includes(kind))) throw malformed();
        if (!Object.hasOwn(apps, asked.topic)) throw new RelayError(400, "unknown-topic");
        limit(grantsByAddress, request);
        // What could not be revoked is not issued [R-13].
        if (!(await stored(() => store.probe()))) throw unavailable();
        // A grant is younger than what ended those before it, whatever the clock says.
        const name = await cutoffName(relayKeys[0], asked), cutoff = (await stored(() => store.find([name]))).get(name) ?? -1;
        const issued = Math.max(now(), cutoff + 1);
        return sealGrant(relayKeys[0], origin, { ...asked, pushKey: asked.push_key, issued });
    }

    async function revoke(request) {
        const asked = parseObject(await bodyOf(request)), texts = ["grant", "secret"];
        if (!hasOnly(asked, ...texts, "all") || texts.some((name) => typeof asked[name] !== "string") || ![undefined, true].includes(asked.all)) throw malformed();
        // Each leaves a row in the store.
        limit(endsByAddress, request);
        const grant = await openGrant(relayKeys, origin, asked.grant);
        if (!equal(utf8(grant.secret), utf8(asked.secret))) throw new RelayError(403, "wrong-secret");
        const rows = [{ name: `g${grant.id}`, at: 0, until: grant.expires }], at = now() + DAY;
        // A day ahead, so that the grants of a clock that was ahead end, too.
        if (asked.all) for (const key of relayKeys) rows.push({ name: await cutoffName(key, grant), at, until: at + LIFE });
        if (asked.all || grant.expires >= now()) await stored(() => store.put(rows));
        return {};
    }

    async function push(request) {
        const deadline = now() + limitsOfProtocol.patience, body = await bodyOf(request);
        const pushKey = await verifyRelayRequest(origin, request.path, request.header, body, now());
        request.note.key = await fingerprint(pushKey);
        const asked = parseObject(body);
        const isGood = hasOnly(asked, "messages") && Array.isArray(asked.messages) && asked.messages.length >= 1;
        if (!isGood || asked.messages.length > limitsOfProtocol.messages) throw malformed();
        // A server whose pushes APNs answers slowly must not occupy the relay [R-21].
        const working = atWork.get(pushKey) ?? 0;
        if (working >= limits.requests_at_once) throw new RelayError(429, "too-many-requests", { retry_after: 1 });
        atWork.set(pushKey, working + 1);
        try {
            return { answers: await answersOf(asked.messages, pushKey, deadline, request.note) };
        } finally {
            if (atWork.get(pushKey) === 1) atWork.delete(pushKey);
            else atWork.set(pushKey, atWork.get(pushKey) - 1);
        }
    }

    async function answersOf(messages, pushKey, deadline, note) {
        const opened = new Map(), named = async (grant) => ({ ...grant, cutoff: await cutoffName(grant.relayKey, grant) });
        const open = (grant) => {
            if (!opened.has(grant)) opened.set(grant, openGrant(relayKeys, origin, grant).then(named));
            return opened.get(grant);
        };
        const granted = await Promise.all(messages.map((message) => grantOf(message, pushKey, open).catch(refused)));
        const names = granted.flatMap((grant) => (grant.id ? [`g${grant.id}`, grant.cutoff] : []));
        const ended = names.length === 0 ? new Map() : await stored(() => store.find([...new Set(names)]));
        const answers = await Promise.all(granted.map(async (grant, at) => {
            if (!grant.id) return grant;
            try {
                return await deliver(messageFor(messages[at], grant, ended, await collapseID(grant.pushKey, messages[at])), grant, deadline);
            } catch (error) {
                return refused(error);
            }
        }));
        for (const { status, code } of answers) note.answers = { ...note.answers, [code ?? status]: (note.answers?.[code ?? status] ?? 0) + 1 };
        return answers;
    }

    /** The answer for a message that was not sent. */
    function refused(error) {
        const { status, code, more } = error instanceof RelayError ? error : failed(error);
        return { status, code, from: "relay", sent: "no", ...more };
    }

    /** An error of this program or its surroundings, such as an unreadable `.p8`. */
    function failed(error) {
        log({ event: "error", text: `${error?.name}: ${error?.message}` });
        return unavailable(60);
    }

    /** [R-14] to [R-16], and the end. */
    async function grantOf(message, pushKey, open) {
        if (!isMessage(message)) throw new RelayError(400, "malformed-message");
        const grant = await open(message.grant);
        if (!equal(utf8(grant.pushKey), utf8(pushKey))) throw new RelayError(403, "wrong-key");
        if (grant.expires < now()) throw new RelayError(410, "grant-expired");
        return grant;
    }

    /** [R-17] to [R-20]; returns the request to APNs. */
    function messageFor(message, grant, ended, collapse) {
        const { kind = "alert", data, sound, content_available: content } = message, app = Object.hasOwn(apps, grant.topic) ? apps[grant.topic] : undefined;
        const isRevoked = ended.has(`g${grant.id}`) || (ended.get(grant.cutoff) ?? -1) >= grant.issued;
        if (isRevoked || !app) throw new RelayError(410, "grant-revoked");
        if (!grant.kinds.includes(kind) || !kinds.includes(kind)) throw new RelayError(400, "kind-not-granted");
        if (sound !== undefined && !(app.sounds ?? ["default"]).includes(sound)) throw new RelayError(400, "malformed-message");
        const isData = isOpaque ? /^[!#-[\]-~]+$/.test(data) && data.length <= dataFormat.limit : isEnvelope(data);
        if (!isData) throw new RelayError(400, "malformed-envelope");
        const time = now(), counted = [[byGrant, `${grant.token} ${grant.pushKey}`], [byToken, grant.token]];
        if (kind === "background") counted.push([byBackground, `${grant.token} ${grant.pushKey}`]);
        const wait = Math.max(...counted.map(([limiter, key]) => limiter.take(key, time, false)));
        if (wait > 0) throw new RelayError(429, "grant-limit", { retry_after: wait });
        for (const [limiter, key] of counted) limiter.take(key, time);
        const headers = {
            "apns-topic": grant.topic, "apns-push-type": kind, "apns-priority": `${message.priority ?? (kind === "alert" ? 10 : 5)}`,
            "apns-expiration": `${message.expiration ?? 0}`, ...(collapse && { "apns-collapse-id": collapse }),
        };
        const body = pushOf({ alert: kind === "alert" && app.alert, sound, content }, dataFormat.member, data);
        return { app, environment: grant.environment, token: grant.token, headers, body };
    }

    /** One push, repeated while APNs has not read it [R-24]. */
    async function deliver({ app, ...push }, grant, deadline) {
        for (let wait = 100; ; wait = Math.min(2 * wait, 2000)) {
            const authorization = await tokens.current(app);
            let answer;
            try {
                answer = await transport({ ...push, headers: { ...push.headers, authorization: `bearer ${authorization}` } }, deadline - now());
            } catch (error) {
                if (!error.unread) return { status: 504, code: "no-answer", from: "relay", sent: "unknown" };
                if (now() + wait >= deadline) throw unavailable();
                await sleep(wait);
                continue;
            }
            const { status, reason, timestamp, apnsID, retryAfter } = answer;
            if (status === 200) return { status, from: "apns", apns_id: apnsID, grant_expires: grant.expires };
            if (status === 403 && reason === "ExpiredProviderToken" && tokens.replace(app, authorization)) continue;
            // [R-25]
            if (isPublishers(status, reason)) {
                log({ event: "apns", status, reason, topic: grant.topic });
                throw unavailable(60);
            }
            const more = { ...(timestamp !== undefined && { timestamp }), ...(retryAfter > 0 && { retry_after: retryAfter }) };
            return { status, reason, from: "apns", sent: "no", ...more };
        }
    }

    const routes = { "/v1/relay": ["GET", about], "/v1/grants": ["POST", grants], "/v1/revoke": ["POST", revoke], [PATH]: ["POST", push] };

    /**
     * Answers a request: `method`, `path`, `address`, `header(name)` and `read(most)`, which gives the body's bytes, or undefined if it is longer. Returns
     * `status`, `headers` and `body`, a text.
     */
    return async function handle(request) {
        const start = now(), note = {};
        let status = 200, value, retry;
        try {
            limit(byAddress, request);
            const [method, route] = Object.hasOwn(routes, request.path) ? routes[request.path] : [];
            if (!route) throw new RelayError(404, "not-found");
            if (request.method !== method) throw new RelayError(405, "wrong-method");
            value = await route({ ...request, note });
        } catch (error) {
            const { status: own, code, more: { retry_after, ...more } } = error instanceof RelayError ? error : failed(error);
            [status, value, retry] = [own, { code, ...more }, retry_after];
        }
        const path = Object.hasOwn(routes, request.path) ? request.path : undefined;
        log({ event: "request", path, status, code: value.code, ...note, milliseconds: now() - start });
        const headers = { "content-type": "application/json", "cache-control": "no-store", ...(retry && { "retry-after": `${retry}` }) };
        return { status, headers, body: JSON.stringify(value) };
    };
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function bodyOf(request) {
    const body = await request.read(limitsOfProtocol.body);
    if (body === undefined) throw new RelayError(413, "too-large");
    return body;
}

/** What a store does; its failure is the relay's. */
async function stored(work) {
    try {
        return await work();
    } catch (error) {
        if (error instanceof RelayError) throw error;
        throw unavailable(30);
    }
}

/** What APNs gets of a collapse id: no server replaces what another sent [R-22]. */
export async function collapseID(pushKey, { collapse_id: name }) {
    return name === undefined ? undefined : encode(await sha256(concat(label("relay collapse"), decode(pushKey, 32), utf8(name))));
}

/** [R-14], but for sounds, which are an app's. */
export function isMessage(message) {
    if (!hasOnly(message, "grant", "data", "kind", "priority", "expiration", "collapse_id", "sound", "content_available")) return false;
    const { grant, data, kind = "alert", priority, expiration = 0, collapse_id = "a", sound, content_available } = message;
    const isBackground = kind === "background", priorities = isBackground ? [5, undefined] : [10, 5, 1, undefined];
    return typeof grant === "string" && typeof data === "string" && KINDS.includes(kind) && priorities.includes(priority) &&
        Number.isSafeInteger(expiration) && expiration >= 0 && expiration < 2 ** 32 && typeof collapse_id === "string" && /^[!-~]{1,64}$/.test(collapse_id) &&
        (sound === undefined || typeof sound === "string") && (content_available === undefined || typeof content_available === "boolean") &&
        !(isBackground && (sound !== undefined || content_available !== undefined));
}

function isPublishers(status, reason) {
    const reasons = ["BadCertificate", "BadCertificateEnvironment", "BadTopic", "InvalidPushType", "MissingTopic", "TopicDisallowed", "TooManyProviderTokenUpdates"];
    return [401, 403, 404, 405].includes(status) || (status >= 300 && status < 400) || reasons.includes(reason);
}

// APNs

/** Provider tokens, ES256: one for each key, renewed after 40 minutes; Apple allows another every 20, and believes one for 60. */
export function providerTokens(authorize, now) {
    const made = new Map(), minutes = 60_000, nameOf = ({ team, key_id }) => `${team} ${key_id}`;

    async function make({ team, key_id }, issued) {
        const pem = await authorize(team, key_id), der = atob(pem.replace(/-----[A-Z ]+-----/g, "").replace(/\s/g, ""));
        const curve = { name: "ECDSA", namedCurve: "P-256" };
        const key = await subtle.importKey("pkcs8", Uint8Array.from(der, (byte) => byte.charCodeAt(0)), curve, false, ["sign"]);
        const parts = [{ alg: "ES256", kid: key_id }, { iss: team, iat: Math.floor(issued / 1000) }].map((part) => encode(utf8(JSON.stringify(part))));
        const signature = await subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, utf8(parts.join(".")));
        return [...parts, encode(new Uint8Array(signature))].join(".");
    }

    return {
        current(app) {
            const name = nameOf(app), held = made.get(name);
            if (held && now() >= held.issued && now() < held.issued + 40 * minutes) return held.token;
            const next = { issued: now(), token: make(app, now()) };
            next.token.then((text) => (next.text = text), () => made.delete(name));
            made.set(name, next);
            return next.token;
        },
        /** Whether another token may be tried instead of `used`, which APNs calls expired. */
        replace(app, used) {
            const held = made.get(nameOf(app));
            if (held?.text !== used) return true;
            return now() >= held.issued + 20 * minutes && made.delete(nameOf(app));
        },
    };
}

export const APNS = { production: "https://api.push.apple.com", development: "https://api.sandbox.push.apple.com" };

/** APNs' answer. */
export function answerOf(status, header, text) {
    const { reason, timestamp } = parseObject(utf8(text)) ?? {}, retryAfter = Number(header("retry-after") ?? 0);
    return {
        status, apnsID: header("apns-id") ?? undefined, reason: typeof reason === "string" ? reason.slice(0, 64) : undefined,
        timestamp: isTime(timestamp) ? timestamp : undefined, retryAfter: isTime(retryAfter) ? retryAfter : 0,
    };
}
