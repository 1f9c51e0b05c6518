// A blind relay: takes sealed messages from self-hosted servers and gives them to APNs, and takes answers back.
// Docs/Relay.md is its protocol, Docs/SelfHosted.md says how to run it. serve.mjs runs it.
import {
    DAY, MINUTE, RelayError, decode, equal, fingerprint, hasOnly, isTime, malformed, parseObject, tooMany, unavailable,
} from "./bytes.mjs";
import { cutoffName, grantSecret, isPhone, openGrant, sealGrant } from "./grants.mjs";
import { NetworkLimiter, Places, networkPlaces } from "./limits.mjs";
import { Mailbox } from "./mailbox.mjs";
import { Operations } from "./operations.mjs";
import { Pushes, standingGrant } from "./pushes.mjs";
import { verifyRelayRequest } from "./signature.mjs";

/** The longest body of a request of pushes, and of any other. */
const LONGEST_PUSHES = 524_288, LONGEST = 65_536;
const MESSAGES = 45, PATIENCE = 20_000, LONGEST_ANSWER = 6144, MOST_DONE = 200, LONGEST_WAIT = 25;
/** How many requests may wait for answers: for a push key, of an address, and in all. */
const WAITS_FOR_KEY = 2, WAITS_OF_ADDRESS = 16, WAITS = 1000;
/** How many requests of pushes an address may have at once, for each that a push key may have. */
const PUSHES_OF_ADDRESS = 4;

/**
 * Makes a relay of `configuration`, which `checkConfiguration` returned. `relayKeys` are 32 bytes each, the newest
 * first; `keys` has the private keys of the `.p8` files by key id. `store` is as `fileStore` makes it, `transport` as
 * `http2Transport`. Returns `handle`, `metrics`, and `stop`, after which everything is answered within seconds.
 */
export function createRelay({ now = Date.now, sleep = pause, log = () => {}, ...given }) {
    const { configuration, relayKeys, store } = given, { origin, apps, kinds, isOpaque, limits } = configuration;
    const operations = new Operations(log, now), pushes = new Pushes({ ...given, operations, now, sleep });
    const mailbox = new Mailbox(), places = new Places();
    const said = { version: 1, origin, max_messages: MESSAGES, kinds, data_format: isOpaque ? "opaque" : "pushcrypt" };
    const byAddress = new NetworkLimiter([[MINUTE, limits.requests_a_minute]]);
    const grantsByAddress = new NetworkLimiter([[MINUTE, limits.grants_a_minute]]);
    const endsByAddress = new NetworkLimiter([[MINUTE, limits.grants_a_minute], [DAY, limits.ends_a_day]]);

    function limit(limiter, { address }) {
        const wait = limiter.take(address, now());
        if (wait > 0) throw tooMany(wait);
    }

    /** What a store does; its failure is the relay's. */
    async function stored(work) {
        try {
            return await work();
        } catch (error) {
            operations.fault("store", error.message);
            throw unavailable(30);
        }
    }

    /** The body's object, or `malformed-request`. */
    async function asked(request, isGood) {
        const value = parseObject(await bodyOf(request, LONGEST));
        if (!value || !isGood(value)) throw malformed();
        return value;
    }

    async function health() {
        await stored(() => store.probe());
        if (operations.isCutOff) throw unavailable(30);
        return {};
    }

    async function grants(request) {
        const isGood = (value) => isPhone(value) && value.kinds.every((kind) => kinds.includes(kind));
        const phone = await asked(request, isGood);
        if (!Object.hasOwn(apps, phone.topic)) throw new RelayError(400, "unknown-topic");
        limit(grantsByAddress, request);
        // What could not be revoked is not issued.
        await stored(() => store.probe());
        // A grant is younger than what ended those before it, whatever the clock says.
        const issued = Math.max(now(), store.cutoff(cutoffName(relayKeys[0], phone)) + 1);
        return sealGrant(relayKeys[0], origin, { ...phone, pushKey: phone.push_key, issued });
    }

    /** Whether the request's secret is that of the grant. Who has only read the grant does not know it. */
    function checkSecret({ relayKey, id }, { secret }) {
        if (!equal(grantSecret(relayKey, id), secret)) throw new RelayError(403, "wrong-secret");
    }

    async function revoke(request) {
        const isGood = ({ all, ...texts }) => areTexts(texts, "grant", "secret") && [undefined, true].includes(all);
        const given = await asked(request, isGood), grant = openGrant(relayKeys, origin, given.grant);
        checkSecret(grant, given);
        if (!given.all && (grant.expires < now() || store.hasEnded(grant.id))) return {};
        limit(endsByAddress, request);
        if (!store.hasRoom()) throw tooMany(3600);
        if (!given.all) return stored(() => store.end([grant.id, grant.expires])).then(() => ({}));
        // A day ahead, so that the grants of a clock that was ahead end, too.
        const until = Math.max(now() + DAY, grant.issued), rows = relayKeys.map((key) => [cutoffName(key, grant), until]);
        return stored(() => store.cut(...rows)).then(() => ({}));
    }

    /** A request's push key and object, once its signature is verified to. */
    async function signed(request, most, isGood) {
        const body = await bodyOf(request, most), deadline = now() + PATIENCE;
        const pushKey = verifyRelayRequest(origin, request.path, request.header, body, now());
        request.note.key = fingerprint(pushKey);
        const given = parseObject(body);
        if (!given || !isGood(given)) throw malformed();
        return { pushKey, deadline, ...given };
    }

    async function push(request) {
        const isGood = (value) => hasOnly(value, "messages") && isList(value.messages, 1, MESSAGES);
        const { pushKey, messages, deadline } = await signed(request, LONGEST_PUSHES, isGood);
        // A server whose pushes APNs answers slowly must not occupy the relay.
        const most = limits.requests_at_once, ofAddress = networkPlaces("push", request.address, PUSHES_OF_ADDRESS * most);
        const leave = places.enter([[`push ${pushKey}`, most], ...ofAddress]);
        if (!leave) throw tooMany(1);
        const answers = await pushes.answers(messages, { pushKey, address: request.address }, deadline).finally(leave);
        const counts = (request.note.answers = {});
        for (const { status, code, reason = code ?? "" } of answers) {
            operations.count("answers_total", `status="${status}",reason="${reason.replace(/[^A-Za-z-]/g, "")}"`);
            counts[code ?? status] = (counts[code ?? status] ?? 0) + 1;
        }
        return { answers };
    }

    async function answers(request) {
        const isGood = (value) => areTexts(value, "grant", "secret", "answer") && isAnswer(value.answer);
        const given = await asked(request, isGood);
        const grant = standingGrant({ configuration, relayKeys, store, now }, given.grant);
        checkSecret(grant, given);
        const text = { grant: grant.id.latin1Slice(), address: request.address, text: given.answer, now: now() };
        if (!mailbox.put(grant.pushKey, text)) throw tooMany(3600);
        return {};
    }

    async function take(request) {
        const isDone = (name) => decode(name, 16) !== undefined;
        const isGood = (value) => hasOnly(value, "wait", "done") && isList(value.done, 0, MOST_DONE) &&
            value.done.every(isDone) && isTime(value.wait) && value.wait <= LONGEST_WAIT;
        const { pushKey, wait, done } = await signed(request, LONGEST, isGood);
        mailbox.remove(pushKey, done);
        if (wait > 0 && mailbox.texts(pushKey, now()).length === 0) {
            const ofAddress = networkPlaces("wait", request.address, WAITS_OF_ADDRESS);
            const leave = places.enter([["wait", WAITS], [`wait ${pushKey}`, WAITS_FOR_KEY], ...ofAddress]);
            if (!leave) throw tooMany(1);
            await mailbox.arrival(pushKey, wait * 1000, request.whenGone).finally(leave);
        }
        return { answers: mailbox.texts(pushKey, now()) };
    }

    const routes = {
        "/health": ["GET", health], "/v1/relay": ["GET", async () => ({ ...said, now: now() })],
        "/v1/grants": ["POST", grants], "/v1/revoke": ["POST", revoke], "/v1/push": ["POST", push],
        "/v1/answers": ["POST", answers], "/v1/answers/take": ["POST", take],
    };

    /**
     * Answers a request: `method`, `path`, `address`, `header(name)`, `read(most)`, which gives the body's bytes, or
     * undefined if it is longer, and `whenGone(call)`. Returns `status`, `headers` and `body`, a text.
     */
    async function handle(request) {
        const start = now(), note = {}, isKnown = Object.hasOwn(routes, request.path);
        const [method, route] = isKnown ? routes[request.path] : [];
        let status = 200, value, retry;
        try {
            limit(byAddress, request);
            if (!route) throw new RelayError(404, "not-found");
            if (request.method !== method) throw new RelayError(405, "wrong-method");
            value = await route({ ...request, note });
        } catch (error) {
            const refusal = error instanceof RelayError ? error : pushes.failed(error), { retry_after, ...more } = refusal.more;
            [status, value, retry] = [refusal.status, { code: refusal.code, ...more }, retry_after];
        }
        const path = isKnown ? request.path : undefined, line = { event: "request", path, status, code: value.code, ...note };
        operations.count("requests_total", `path="${path ?? ""}",status="${status}"`);
        if (path !== "/health") log({ ...line, milliseconds: now() - start });
        const headers = { "content-type": "application/json", "cache-control": "no-store" };
        if (retry) headers["retry-after"] = `${retry}`;
        return { status, headers, body: JSON.stringify(value) };
    }

    return {
        handle,
        /** The text for Prometheus; `gauges` are further `[name, value]`. */
        metrics: (gauges = []) => operations.text([
            ["rows", store.rows], ["rows_most", limits.rows], ["answer_bytes", mailbox.bytes], ...gauges,
        ]),
        stop() {
            pushes.stop();
            mailbox.close();
        },
    };
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const isList = (value, least, most) => Array.isArray(value) && value.length >= least && value.length <= most;
const areTexts = (value, ...names) =>
    hasOnly(value, ...names) && names.every((name) => typeof value[name] === "string");
const isAnswer = (text) => text.length >= 1 && text.length <= LONGEST_ANSWER && /^[A-Za-z0-9_-]+$/.test(text);

async function bodyOf(request, most) {
    const body = await request.read(most);
    if (body === undefined) throw new RelayError(413, "too-large");
    return body;
}
