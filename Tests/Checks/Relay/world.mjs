// A relay with a clock, a store and an APNs of the test's own, and a push key that signs.
import { generateKeyPairSync, sign } from "node:crypto";

import { encode, label, number, prefixed, sha256 } from "../../../Sources/Relay/bytes.mjs";
import { checkConfiguration } from "../../../Sources/Relay/configuration.mjs";
import { sealGrant } from "../../../Sources/Relay/grants.mjs";
import { createRelay } from "../../../Sources/Relay/relay.mjs";

export const origin = "https://relay.example.com", topic = "com.example.app", MINUTE = 60_000, DAY = 86_400_000;
export const data = encode(Uint8Array.of(1, ...new Uint8Array(308))), relayKeys = [Buffer.alloc(32, 7)];
export const p8 = generateKeyPairSync("ec", { namedCurve: "P-256" });
export const app = { team: "TEAM123456", key_id: "ABC123DEFG", alert: { title: "New message" } };

export const codeOf = ({ code, reason, status }) => code ?? reason ?? status;
/** The counts of what occurs. */
export const tally = (values) => values.reduce((sums, value) => ({ ...sums, [value]: (sums[value] ?? 0) + 1 }), {});

export class PushKey {
    constructor() {
        const { privateKey, publicKey } = generateKeyPairSync("ed25519");
        Object.assign(this, { privateKey, text: publicKey.export({ format: "jwk" }).x });
    }

    headers(path, body, now, at = origin) {
        const place = [label("relay request"), prefixed(Buffer.from(at), 2), prefixed(Buffer.from(path), 2)];
        const signed = Buffer.concat([...place, Buffer.from(this.text, "base64url"), number(now, 8), sha256(body)]);
        const signature = encode(sign(null, signed, this.privateKey));
        return { "pushcrypt-key": this.text, "pushcrypt-time": `${now}`, "pushcrypt-signature": signature };
    }
}

/** A store in memory: `grants` and `cutoffs` by hexadecimal id. `fault` is thrown by what writes. */
export function memoryStore(most = Infinity) {
    const grants = new Map(), cutoffs = new Map(), hex = (id) => id.toString("hex");
    const add = (rows, ended) => {
        if (own.fault) throw own.fault;
        for (const [id, time] of ended) rows.set(hex(id), Math.max(time, rows.get(hex(id)) ?? time));
    };
    const own = {
        grants, cutoffs, fault: undefined,
        get rows() {
            return grants.size + cutoffs.size;
        },
        hasEnded: (id) => grants.has(hex(id)), cutoff: (name) => cutoffs.get(hex(name)) ?? -1, hasRoom: () => own.rows < most,
        end: async (...ended) => add(grants, ended), cut: async (...ended) => add(cutoffs, ended),
        probe: async () => add(grants, []),
    };
    return own;
}

/**
 * `answers` are APNs': objects in order, one for all, or a function of the push. An `Error` is thrown. `ownKeys` are
 * the relay's, and `more` is configuration.
 */
export function world({ answers = [], store = memoryStore(), keys, ownKeys = relayKeys, ...more } = {}) {
    const own = { now: 1_800_000_000_000, pushes: [], lines: [], store, key: new PushKey() };
    const standard = { origin, apps: { [topic]: app }, kinds: ["alert", "background"] };
    const configuration = checkConfiguration({ ...standard, ...more });
    own.relay = createRelay({
        configuration, relayKeys: ownKeys, keys: keys ?? new Map([[app.key_id, p8.privateKey]]), store,
        transport: async (push, milliseconds) => {
            own.pushes.push({ ...push, milliseconds, at: own.now });
            const answer = typeof answers === "function" ? await answers(push) : answers.shift?.() ?? answers;
            if (answer instanceof Error) throw answer;
            return answer.status ? answer : { status: 200, apnsID: "id" };
        },
        now: () => own.now, sleep: async (milliseconds) => (own.now += milliseconds), log: (line) => own.lines.push(line),
    });
    own.ask = async (method, path, bytes = "", { headers = {}, address = "192.0.2.1", whenGone = () => {} } = {}) => {
        const request = { method, path, address, whenGone, header: (name) => headers[name] ?? null };
        const read = async (most) => (bytes.length > most ? undefined : Buffer.from(bytes));
        const answer = await own.relay.handle({ ...request, read });
        return { ...answer, json: JSON.parse(answer.body) };
    };
    own.post = (path, value, more) => own.ask("POST", path, typeof value === "string" ? value : JSON.stringify(value), more);
    own.signed = (path, value, { key = own.key, at = own.now, ...more } = {}) => {
        const body = typeof value === "string" ? value : JSON.stringify(value);
        return own.post(path, body, { headers: key.headers(path, body, at), ...more });
    };
    /** The answers for messages, one for each grant. */
    own.pushAll = async (grants, message = {}, more = {}) => {
        const answer = await own.signed("/v1/push", { messages: grants.map((grant) => ({ grant, data, ...message })) }, more);
        return answer.json.answers ?? [answer.json];
    };
    own.push = async (grant, message, more) => (await own.pushAll([grant], message, more))[0];
    own.seal = (more = {}) => {
        const phone = { token: "0a0b", environment: "production", topic, pushKey: own.key.text, issued: own.now };
        return sealGrant(ownKeys[0], origin, { ...phone, ...more });
    };
    own.grant = (more) => own.seal(more).grant;
    /** What the relay itself grants. */
    own.granted = async (token = "0a0b", more = {}) => {
        const phone = { token, environment: "production", topic, push_key: own.key.text, kinds: ["alert"] };
        return (await own.post("/v1/grants", phone, more)).json;
    };
    return own;
}
