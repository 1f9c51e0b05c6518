// What operators see: counts, health, and a line a minute while something fails.
import { MINUTE } from "./bytes.mjs";

const FAILING = 5 * MINUTE;

export class Operations {
    #counts = new Map();
    #faults = new Map();
    #failingSince;
    #failedAt;

    constructor(log, now) {
        Object.assign(this, { log, now });
    }

    /** Adds to a counter with labels, such as `path="/v1/push"`. */
    count(name, labels, by = 1) {
        const series = `${name}{${labels}}`;
        this.#counts.set(series, (this.#counts.get(series) ?? 0) + by);
    }

    /** Logs a failure of `apns`, `store` or `relay` with its cause, at most once a minute. */
    fault(event, cause, more = {}) {
        const known = this.#faults.get(event) ?? { count: 0 };
        this.#faults.set(event, known);
        known.count += 1;
        if (this.now() < known.at + MINUTE) return;
        this.log({ event, cause, ...more, count: known.count });
        Object.assign(known, { at: this.now(), count: 0 });
    }

    /** Notes whether APNs answered. */
    reached(cause) {
        if (cause === undefined) return (this.#failingSince = undefined);
        this.#failingSince ??= this.now();
        this.#failedAt = this.now();
        this.fault("apns", cause);
    }

    /** Whether every attempt of the last 5 minutes to reach APNs failed, and there were some. */
    get isCutOff() {
        const minutesAgo = this.now() - FAILING;
        return this.#failingSince <= minutesAgo && this.#failedAt > minutesAgo;
    }

    /** Counters and gauges as Prometheus reads them. */
    text(gauges) {
        return [...this.#counts, ...gauges].map(([series, value]) => `pushcrypt_relay_${series} ${value}\n`).join("");
    }
}
