// From the messages of a request to APNs' answers: Docs/Relay.md, "Messages" and "Answers".
import { DAY, HOUR, MINUTE, RelayError, equal, unavailable } from "./bytes.mjs";
import { keysOf } from "./configuration.mjs";
import { cutoffName, openGrant } from "./grants.mjs";
import { Limiter, networks } from "./limits.mjs";
import { collapseID, isEnvelope, isMessage, pushOf } from "./messages.mjs";
import { Spared, isPublishers, providerTokens } from "./apns.mjs";

/** Bad tokens a minute, after which who names them waits. */
const BAD_A_MINUTE = 20;
/** Before the end of the relay, what waits for APNs is answered within this. */
const LAST_PATIENCE = 5000;

/**
 * Opens a grant that still counts, [R-15] and. `pushKey` is the signer, if the request was signed.
 * Returns its content; throws why it does not count.
 */
export function standingGrant({ configuration, relayKeys, store, now }, grant, pushKey) {
    const opened = openGrant(relayKeys, configuration.origin, grant);
    if (pushKey !== undefined && !equal(opened.pushKey, pushKey)) throw new RelayError(403, "wrong-key");
    if (opened.expires < now()) throw new RelayError(410, "grant-expired");
    const isCut = store.cutoff(cutoffName(opened.relayKey, opened)) >= opened.issued;
    if (isCut || store.hasEnded(opened.id) || !Object.hasOwn(configuration.apps, opened.topic)) {
        throw new RelayError(410, "grant-revoked");
    }
    return opened;
}

export class Pushes {
    #stopAt = Infinity;

    /** `relay` has what `createRelay` was given, and `operations`. */
    constructor(relay) {
        const { limits } = relay.configuration;
        const { pushes_a_minute: minutes, pushes_a_day: days, token_factor: factor } = limits;
        Object.assign(this, relay, {
            tokens: providerTokens(relay.keys, relay.now), spared: new Spared(),
            byGrant: new Limiter([[MINUTE, minutes], [DAY, days]]),
            byToken: new Limiter([[MINUTE, minutes * factor], [DAY, days * factor]]),
            byBackground: new Limiter([[HOUR, limits.background_an_hour]]),
            badByKey: new Limiter([[MINUTE, BAD_A_MINUTE]]), badByAddress: new Limiter([[MINUTE, BAD_A_MINUTE]]),
        });
    }

    /** The answers for messages that `pushKey` signed, in order. */
    answers(messages, sender, deadline) {
        return Promise.all(messages.map(async (message) => {
            try {
                return await this.#answer(message, sender, deadline);
            } catch (error) {
                const { status, code, more } = error instanceof RelayError ? error : this.failed(error);
                return { status, code, from: "relay", sent: "no", ...more };
            }
        }));
    }

    /** Answers within seconds what is open, and what comes. */
    stop() {
        this.#stopAt = this.now() + LAST_PATIENCE;
    }

    /** An error of this program. */
    failed(error) {
        this.operations.fault("relay", `${error?.name}: ${error?.message}`);
        return unavailable(60);
    }

    #answer(message, { pushKey, address }, deadline) {
        if (!isMessage(message)) throw new RelayError(400, "malformed-message");
        const grant = standingGrant(this, message.grant, pushKey), push = this.#pushOf(message, grant);
        this.#count(message, grant, address);
        return this.#deliver(push, grant, { pushKey, address }, deadline);
    }

    /** and; returns the request to APNs. */
    #pushOf(message, grant) {
        const { kind = "alert", data, sound, content_available: content, priority, expiration = 0 } = message;
        const { apps, kinds, isOpaque, data: format } = this.configuration, app = apps[grant.topic];
        if (!grant.kinds.includes(kind) || !kinds.includes(kind)) throw new RelayError(400, "kind-not-granted");
        const isSound = sound === undefined || (app.sounds ?? ["default"]).includes(sound);
        if (!isSound) throw new RelayError(400, "malformed-message");
        const isData = isOpaque ? /^[!#-[\]-~]+$/.test(data) && data.length <= format.limit : isEnvelope(data);
        if (!isData) throw new RelayError(400, "malformed-envelope");
        const collapse = collapseID(grant.pushKey, message), standard = kind === "alert" ? 10 : 5, headers = {
            "apns-topic": grant.topic, "apns-push-type": kind, "apns-priority": `${priority ?? standard}`,
            "apns-expiration": `${expiration}`, ...(collapse && { "apns-collapse-id": collapse }),
        };
        const body = pushOf({ alert: kind === "alert" && app.alert, sound, content }, format.member, data);
        return { environment: grant.environment, token: grant.token, headers, body };
    }

    /** */
    #count({ kind }, { token, pushKey }, address) {
        const now = this.now(), counted = [[this.byGrant, `${token} ${pushKey}`], [this.byToken, token]];
        if (kind === "background") counted.push([this.byBackground, `${token} ${pushKey}`]);
        const bad = [[this.badByKey, pushKey], [this.badByAddress, networks(address)[0]]];
        const wait = Math.max(...[...counted, ...bad].map(([limiter, key]) => limiter.take(key, now, false)));
        if (wait > 0) throw new RelayError(429, "grant-limit", { retry_after: wait });
        for (const [limiter, key] of counted) limiter.take(key, now);
    }

    /** One push, repeated while APNs has not read it. */
    async #deliver(push, grant, { pushKey, address }, deadline) {
        const { environment, topic } = grant, { team, ...app } = this.configuration.apps[topic];
        const id = keysOf(app)[environment];
        const names = [`${environment} ${team} ${id}`, `${environment} ${topic}`];
        for (let wait = 100; ; wait = Math.min(2 * wait, 2000)) {
            let answer = this.spared.answerFor(grant, this.now());
            if (!answer) {
                this.spared.check(names, this.now());
                const token = this.tokens.current(team, id), headers = { ...push.headers, authorization: `bearer ${token}` };
                answer = await this.#ask({ ...push, headers }, deadline);
                if (answer.isUnread) {
                    const end = Math.min(deadline, this.#stopAt);
                    if (this.now() + wait >= end) throw unavailable();
                    await this.sleep(wait);
                    continue;
                }
                const isOld = answer.status === 403 && answer.reason === "ExpiredProviderToken";
                if (isOld && this.tokens.replace(team, id, token)) continue;
                this.spared.learn(names, answer, this.now());
                if (this.spared.isBad(grant, answer, this.now())) {
                    this.badByKey.take(pushKey, this.now());
                    this.badByAddress.take(networks(address)[0], this.now());
                    this.operations.count("tokens_refused_total", `reason="${answer.reason}"`);
                }
            }
            return this.#told(answer, grant);
        }
    }

    /** APNs' answer; `isUnread` if it cannot have read the push. Throws `no-answer` if it may have. */
    async #ask(push, deadline) {
        try {
            const answer = await this.transport(push, Math.min(deadline, this.#stopAt) - this.now());
            this.operations.reached();
            return answer;
        } catch (error) {
            this.operations.reached(error.cause ?? error.message);
            if (error.unread) return { isUnread: true };
            throw new RelayError(504, "no-answer", { sent: "unknown" });
        }
    }

    /** What the server is told. */
    #told(answer, grant) {
        const { status, reason, timestamp, apnsID, retryAfter } = answer;
        if (status === 200) return { status, from: "apns", apns_id: apnsID, grant_expires: grant.expires };
        //
        if (isPublishers(answer)) {
            this.operations.fault("apns", `${status} ${reason}`, { topic: grant.topic });
            throw unavailable(30);
        }
        const waits = retryAfter > 0 && { retry_after: retryAfter };
        return { status, reason, from: "apns", sent: "no", ...(timestamp !== undefined && { timestamp }), ...waits };
    }
}
