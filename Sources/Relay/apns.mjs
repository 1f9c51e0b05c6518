// The way to APNs: provider tokens, one connection for each environment, and what spares Apple.
import { sign } from "node:crypto";
import * as http2 from "node:http2";
import { HOUR, MINUTE, encode, isTime, parseObject, unavailable } from "./bytes.mjs";
import { Recent } from "./limits.mjs";

export const APNS = { production: "https://api.push.apple.com", development: "https://api.sandbox.push.apple.com" };
const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM } = http2.constants;
const PUBLISHERS = /^(BadCertificate|BadTopic|InvalidPushType|MissingTopic|TopicDisallowed|TooManyProviderTokenUpdates)/;
const LONGEST_ANSWER = 4096, IDLE = 15 * MINUTE, PING = 5000, PAUSE = 30_000;

/** Provider tokens, ES256: one for each key, for 40 minutes; Apple allows another every 20, and believes one for 60. */
export function providerTokens(keys, now) {
    const made = new Map();
    const make = (team, id, issued) => {
        const claims = [{ alg: "ES256", kid: id }, { iss: team, iat: Math.floor(issued / 1000) }];
        const text = claims.map((part) => encode(JSON.stringify(part))).join(".");
        return `${text}.${encode(sign("sha256", Buffer.from(text), { key: keys.get(id), dsaEncoding: "ieee-p1363" }))}`;
    };
    return {
        current(team, id) {
            const name = `${team} ${id}`, held = made.get(name);
            if (held && now() >= held.issued && now() < held.issued + 40 * MINUTE) return held.token;
            const next = { issued: now(), token: make(team, id, now()) };
            made.set(name, next);
            return next.token;
        },
        /** Whether another token may be tried instead of `used`, which APNs calls expired. */
        replace(team, id, used) {
            const held = made.get(`${team} ${id}`);
            if (held?.token !== used) return true;
            return now() >= held.issued + 20 * MINUTE && made.delete(`${team} ${id}`);
        },
    };
}

/** Whether APNs' answer concerns the publisher [R-25], and not the device or the message. */
export const isPublishers = ({ status, reason }) =>
    [401, 403, 404, 405].includes(status) || (status >= 300 && status < 400) || PUBLISHERS.test(reason);

/** Whether APNs says that there is no such token. */
const isBad = ({ status, reason }) => status === 410 || reason === "BadDeviceToken";

/** Spares APNs questions whose answers are known. */
export class Spared {
    #tokens = new Recent();
    #publisher = new Map();

    /** The answer of the last hour that said that there is no such token. */
    answerFor({ environment, topic, token }, now) {
        const known = this.#tokens.get(`${environment} ${topic} ${token}`);
        return known && now >= known.at && now < known.at + HOUR ? known.answer : undefined;
    }

    /** Remembers a bad token; returns whether it is one. */
    isBad({ environment, topic, token }, answer, now) {
        if (isBad(answer)) this.#tokens.set(`${environment} ${topic} ${token}`, { answer, at: now });
        return isBad(answer);
    }

    /** Lets through one question in 30 seconds after a refusal of the publisher's key or topic; throws the others' answer. */
    check(names, now) {
        for (const name of names) {
            const until = this.#publisher.get(name);
            if (until > now && until <= now + PAUSE) throw unavailable(Math.ceil((until - now) / 1000));
        }
        for (const name of names) if (this.#publisher.has(name)) this.#publisher.set(name, now + PAUSE);
    }

    /** Notes what an answer says of a key, or of a topic. */
    learn([key, topic], answer, now) {
        if (isPublishers(answer)) this.#publisher.set([401, 403, 429].includes(answer.status) ? key : topic, now + PAUSE);
        else [key, topic].forEach((name) => this.#publisher.delete(name));
    }
}

/** APNs' answer. */
export function answerOf(status, headers, text) {
    const { reason, timestamp } = parseObject(Buffer.from(text)) ?? {};
    const retryAfter = Number(headers["retry-after"] ?? 0);
    return {
        status, apnsID: headers["apns-id"], reason: typeof reason === "string" ? reason.slice(0, 64) : undefined,
        timestamp: isTime(timestamp) ? timestamp : undefined, retryAfter: isTime(retryAfter) ? retryAfter : 0,
    };
}

/**
 * Speaks HTTP/2 to APNs, on one connection for each environment. Answers for APNs, or throws an error with `cause`, and
 * `unread` if APNs cannot have read the push. `open` counts the requests.
 */
export function http2Transport(hosts = APNS, options = {}) {
    const sessions = new Map();
    let isClosed = false;

    function session(environment) {
        const held = sessions.get(environment);
        if (held && !held.closed && !held.destroyed) return held;
        const made = http2.connect(hosts[environment], { ...options, settings: { enablePush: false } });
        made.once("connect", () => (made.isConnected = true));
        made.on("error", (error) => (made.failure = error.code ?? error.message));
        made.setTimeout(IDLE, () => made.close());
        // A connection that does not answer a ping is dead; a request that waits long is not its fault.
        const watch = setInterval(() => {
            if (made.isWaiting) return made.destroy();
            if (made.requests > 0 && made.isConnected) made.isWaiting = made.ping(() => (made.isWaiting = false));
        }, PING);
        made.once("close", () => clearInterval(watch));
        made.requests = 0;
        sessions.set(environment, made);
        return made;
    }

    const transport = ({ environment, token, headers, body }, milliseconds) => new Promise((answer, reject) => {
        const fault = (cause, unread) => reject(Object.assign(new Error("APNs did not answer"), { cause, unread }));
        if (isClosed) return fault("the relay is shutting down", true);
        const own = session(environment);
        let stream, head, text = "";
        try {
            stream = own.request({ ":method": "POST", ":path": `/3/device/${token}`, ...headers });
        } catch (error) {
            return fault(error.code, true);
        }
        const cancel = () => stream.close(NGHTTP2_CANCEL), timer = setTimeout(cancel, Math.max(milliseconds, 1));
        own.requests += 1;
        transport.open += 1;
        stream.setEncoding("utf8");
        stream.on("response", (received) => (head = received));
        stream.on("data", (part) => (text.length < LONGEST_ANSWER ? (text += part) : cancel()));
        stream.on("error", () => {});
        stream.on("close", () => {
            clearTimeout(timer);
            own.requests -= 1;
            transport.open -= 1;
            if (head && stream.rstCode === 0) return answer(answerOf(head[":status"], head, text));
            // Refused, after a GOAWAY too; or never sent.
            const isUnread = stream.rstCode === NGHTTP2_REFUSED_STREAM || !own.isConnected || stream.id === undefined;
            const cause = own.failure ?? (own.isConnected ? "no answer in time" : "no connection in time");
            return fault(cause, isUnread && !head);
        });
        stream.end(body);
    });
    transport.open = 0;
    /** Ends the connections, and with them what is open. */
    transport.close = () => {
        isClosed = true;
        sessions.forEach((one) => one.destroy());
    };
    return transport;
}
