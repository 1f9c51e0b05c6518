// What phones leave for servers: sealed answers, for an hour, in memory alone, [R-28].
import { EventEmitter, once } from "node:events";
import { HOUR, MINUTE, encode, sha256 } from "./bytes.mjs";
import { networks } from "./limits.mjs";

/** How many texts and bytes there may be of a grant, for a push key, of a network, and in all. */
const OF_GRANT = [16, 65_536], FOR_KEY = [200, 524_288];
const OF_NETWORK = [Infinity, 1 << 20], IN_ALL = [Infinity, 64 << 20];
/** A text takes memory beside its characters. */
const LEAST = 1024;

/** How `done` names a text: 22 characters. */
const nameOf = (text) => encode(sha256(text).subarray(0, 16));

export class Mailbox {
    #boxes = new Map();
    #used = new Map();
    #arrivals = new EventEmitter().setMaxListeners(0);
    #ends = new Set();
    #swept = 0;
    isClosed = false;

    get bytes() {
        return this.#used.get("all")?.[1] ?? 0;
    }

    /** Keeps a text, once; returns whether there was room. */
    put(pushKey, { grant, address, text, now }) {
        this.#sweep(now);
        const box = this.#boxes.get(pushKey) ?? new Map(), name = nameOf(text), size = Math.max(text.length, LEAST);
        if (box.has(name)) return true;
        const [own, , narrow] = networks(address), network = address.includes(".") ? narrow : own;
        const ofKey = [[`g ${grant}`, OF_GRANT], [`k ${pushKey}`, FOR_KEY]];
        const places = [...ofKey, [`n ${network}`, OF_NETWORK], ["all", IN_ALL]];
        const used = places.map(([place]) => this.#used.get(place) ?? [0, 0]);
        const isFull = places.some(([, [texts, bytes]], at) => used[at][0] + 1 > texts || used[at][1] + size > bytes);
        if (isFull) return false;
        places.forEach(([place], at) => this.#used.set(place, [used[at][0] + 1, used[at][1] + size]));
        box.set(name, { text, until: now + HOUR, size, places: places.map(([place]) => place) });
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
            const { size, places = [] } = box?.get(name) ?? {};
            for (const place of places) {
                const [texts, bytes] = this.#used.get(place);
                if (texts === 1) this.#used.delete(place);
                else this.#used.set(place, [texts - 1, bytes - size]);
            }
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
