// Messages, and what goes to APNs of them: Docs/Relay.md, "Messages".
import { decode, encode, hasOnly, label, sha256 } from "./bytes.mjs";
import { KINDS } from "./grants.mjs";

/** The longest push, and its longest `data` in this format. */
export const LONGEST_PUSH = 4096, LONGEST_DATA = 3826;
const MEMBERS = ["grant", "data", "kind", "priority", "expiration", "collapse_id", "sound", "content_available"];
const BUCKETS = { 1: [53, [256, 512, 1024, 1536, 2048, 2560, 2816]], 2: [1141, [256, 512, 1024, 1536, 1728]] };
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** but for sounds, which are an app's. */
export function isMessage(message) {
    if (!hasOnly(message, ...MEMBERS)) return false;
    const { grant, data, kind = "alert", priority, expiration = 0, collapse_id = "a", sound } = message;
    const isBackground = kind === "background", content = message.content_available;
    const priorities = isBackground ? [5, undefined] : [10, 5, 1, undefined];
    return [grant, data].every((text) => typeof text === "string") && KINDS.includes(kind) &&
        priorities.includes(priority) &&
        Number.isSafeInteger(expiration) && expiration >= 0 && expiration < 2 ** 32 &&
        typeof collapse_id === "string" && /^[!-~]{1,64}$/.test(collapse_id) &&
        (sound === undefined || typeof sound === "string") && (content === undefined || typeof content === "boolean") &&
        !(isBackground && (sound !== undefined || content !== undefined));
}

/** Steps 1 and 2 of opening, Docs/Format.md, for what fits a push. */
export function isEnvelope(text) {
    if (text.length > LONGEST_DATA || !/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) return false;
    const unused = [0, 0, 15, 3][text.length % 4];
    if ((BASE64.indexOf(text.at(-1)) & unused) !== 0) return false;
    const suite = (BASE64.indexOf(text[0]) << 2) | (BASE64.indexOf(text[1]) >> 4);
    const [overhead, buckets] = BUCKETS[suite] ?? [0, []];
    return buckets.includes(Math.floor((text.length * 3) / 4) - overhead);
}

/** The push without its headers. Without an alert it is a background push. */
export function pushOf({ alert, sound, content }, member, data) {
    const shown = alert && { "mutable-content": 1, alert, sound, ...(content && { "content-available": 1 }) };
    return JSON.stringify({ aps: shown || { "content-available": 1 }, [member]: data });
}

/** What APNs gets of a collapse id: no server replaces what another sent. */
export function collapseID(pushKey, { collapse_id: name }) {
    if (name === undefined) return undefined;
    return encode(sha256(Buffer.concat([label("relay collapse"), decode(pushKey, 32), Buffer.from(name)])));
}
