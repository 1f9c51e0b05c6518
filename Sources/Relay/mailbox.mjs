// What phones leave for servers: sealed answers, for an hour, in memory alone, [R-28].
import { EventEmitter, once } from "node:events";
import { HOUR, MINUTE, encode, sha256 } from "./bytes.mjs";
import { Places, networkPlaces } from "./limits.mjs";

/** The most texts and bytes of a grant and for a push key; and the most bytes of an address, and in all. */
const OF_GRANT = [16, 65_536], FOR_KEY = [200, 524_288], OF_ADDRESS = 1 << 20, IN_ALL = 64 << 20;
/** A text takes memory beside its characters. */
const LEAST = 1024;

/** How `done` names a text: 22 characters. */
const nameOf = (text) => encode(sha256(text).subarray(0, 16));

export class Mailbox {
    #boxes = new Map();
    #texts = new Places();
    #bytes = new Places();
    #arrivals = new EventEmitter().setMaxListeners(0);
    #ends = new Set();
    #swept = 0;
    isClosed = false;

    get bytes() {
        return this.#bytes.count("all");
    }

    /** Keeps a text, once; returns whether there was room. */
    put(pushKey, { grant, address, text, now }) {
        this.#sweep(now);
        const box = this.#boxes.get(pushKey) ?? new Map(), name = nameOf(text), size = Math.max(text.length, LEAST);
        const kept = box.get(name);
        if (kept) {
            kept.until = now + HOUR;
            this.#arrivals.emit(pushKey);
            return true;
        }
        const own = (at) => [[`grant ${grant}`, OF_GRANT[at]], [`key ${pushKey}`, FOR_KEY[at]]];
        const leaveTexts = this.#texts.enter(own(0)), network = networkPlaces("network", address, OF_ADDRESS);
        const leaveBytes = leaveTexts && this.#bytes.enter([...own(1), ...network, ["all", IN_ALL]], size);
        if (!leaveBytes) {
            leaveTexts?.();
            return false;
        }
        box.set(name, { text, until: now + HOUR, leave: () => [leaveTexts, leaveBytes].forEach((leave) => leave()) });
        this.#boxes.set(pushKey, box);
        this.#arrivals.emit(pushKey);
        return true;
    }

    /** The texts for a push key, the oldest first. */
    texts(pushKey, now) {
        const kept = [...(this.#boxes.get(pushKey)?.values() ?? [])];
        return kept.filter(({ until }) => until > now).map(({ text }) => text);
    }

    /** Forgets the texts of these names. */
    remove(pushKey, names) {
        const box = this.#boxes.get(pushKey);
        for (const name of names) {
            box?.get(name)?.leave();
            box?.delete(name);
        }
        if (box?.size === 0) this.#boxes.delete(pushKey);
    }

    /** Returns when a text came, after some milliseconds, when the client has gone, or when the relay ends. */
    async arrival(pushKey, milliseconds, whenGone) {
        if (this.isClosed) return;
        const ending = new AbortController(), end = () => ending.abort(), timer = setTimeout(end, milliseconds);
        this.#ends.add(end);
        whenGone(end);
        await once(this.#arrivals, pushKey, ending).catch(() => {});
        this.#ends.delete(end);
        clearTimeout(timer);
    }

    /** Ends all waiting. */
    close() {
        this.isClosed = true;
        this.#ends.forEach((end) => end());
    }

    /** Forgets what is older than an hour, once a minute. */
    #sweep(now) {
        if (now >= this.#swept && now < this.#swept + MINUTE) return;
        this.#swept = now;
        for (const [pushKey, box] of this.#boxes) {
            this.remove(pushKey, [...box].filter(([, { until }]) => until <= now).map(([name]) => name));
        }
    }
}
