// Limits: how often something happens, and how much of it at a time, for push keys, tokens and networks.

/** How many times the limit of an address the wider networks of `networks` have. */
const WIDER = [1, 2, 4, 40];

/** The networks of a client: its address or /64; /56; its /24 or /48; its /16 or /32. */
export function networks(address) {
    const text = address.replace(/^::ffff:(?=[0-9.]+$)/i, "");
    if (!text.includes(":")) {
        const parts = text.split(".");
        return [text, text, parts.slice(0, 3).join("."), parts.slice(0, 2).join(".")];
    }
    const [left, right] = text.split("::").map((half) => (half === "" ? [] : half.split(":")));
    const missing = right && Array(Math.max(8 - left.length - right.length, 0)).fill("0");
    const [a, b, c, d] = [...left, ...(missing ?? []), ...(right ?? [])].map((group) => parseInt(group, 16));
    const wider = [[a, b, c, d], [a, b, c, d & 0xff00], [a, b, c], [a, b]];
    return wider.map((groups) => groups.map((group) => group.toString(16)).join(":"));
}

/** A map that forgets: it has the newest `room` entries, and at most as many older ones. */
export class Recent {
    #young = new Map();
    #old = new Map();

    // More than a /32 has of /48.
    constructor(room = 70_000) {
        this.room = room;
    }

    get(key) {
        return this.#young.get(key) ?? this.#old.get(key);
    }

    set(key, value) {
        if (this.#young.size >= this.room && !this.#young.has(key)) [this.#old, this.#young] = [this.#young, new Map()];
        this.#young.set(key, value);
    }
}

/** Counts uses of keys in windows, `[milliseconds, most]`. */
export class Limiter {
    #counts;

    constructor(windows, room) {
        this.windows = windows;
        this.#counts = new Recent(room);
    }

    /** Seconds after which the key may be used again, or 0 and the use is counted. */
    take(key, now, isCounted = true) {
        const counts = this.#counts.get(key) ?? this.windows.flatMap(() => [now, 0]);
        let wait = 0;
        this.windows.forEach(([length, most], at) => {
            const start = counts[2 * at];
            // A clock that was set back also ends a window.
            if (now >= start + length || now < start) counts.splice(2 * at, 2, now, 0);
            if (counts[2 * at + 1] >= most) wait = Math.max(wait, Math.ceil((counts[2 * at] + length - now) / 1000), 1);
        });
        if (wait > 0 || !isCounted) return wait;
        this.windows.forEach((_, at) => (counts[2 * at + 1] += 1));
        this.#counts.set(key, counts);
        return 0;
    }
}

/** Counts uses by the networks of an address: each network has a limit. */
export class NetworkLimiter {
    constructor(windows) {
        this.limiters = WIDER.map((times) => new Limiter(windows.map(([length, most]) => [length, most * times])));
    }

    /** Seconds after which the address may be used again, or 0 and the use is counted. */
    take(address, now) {
        const names = networks(address);
        const wait = Math.max(...names.map((name, at) => this.limiters[at].take(name, now, false)));
        if (wait === 0) names.forEach((name, at) => this.limiters[at].take(name, now));
        return wait;
    }
}

/** Places that are taken for a time: of requests, or connections. */
export class Places {
    #taken = new Map();

    /** Takes `count` places under each name, `[name, most]`, or none. Returns what gives them back, or undefined. */
    enter(wanted, count = 1) {
        if (wanted.some(([name, most]) => (this.#taken.get(name) ?? 0) + count > most)) return undefined;
        for (const [name] of wanted) this.#taken.set(name, (this.#taken.get(name) ?? 0) + count);
        return () => {
            for (const [name] of wanted) {
                const left = this.#taken.get(name) - count;
                if (left > 0) this.#taken.set(name, left);
                else this.#taken.delete(name);
            }
        };
    }

    count(name) {
        return this.#taken.get(name) ?? 0;
    }
}

/** The networks of an address for `Places`, if one address may have `most`; `use` is what for. */
export const networkPlaces = (use, address, most) =>
    networks(address).map((name, at) => [`${use} ${at} ${name}`, most * WIDER[at]]);
