// Requests that a push key signs: Docs/Relay.md, "Push key".
import { createPublicKey, verify } from "node:crypto";
import { HOUR, RelayError, decode, isTime, label, number, prefixed, sha256 } from "./bytes.mjs";
import { Recent } from "./limits.mjs";

const SPKI = Buffer.from("302a300506032b6570032100", "hex");

/** Keys that have signed: Node takes a third of a verification to read one. */
const KEYS = new Recent(1000);

/** [K-9]: the points of order 4, 1, 2 and 8, without the sign of x. */
const SMALL_ORDER = [
    "00".repeat(32), `01${"00".repeat(31)}`, `ec${"ff".repeat(30)}7f`,
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
];

/**
 * Verifies who signed a request, [R-7] to; returns the push key, 43 characters. `header` gives a header's value by
 * its lower-case name, or null. Throws `clock` or `bad-signature`.
 */
export function verifyRelayRequest(origin, path, header, body, now) {
    const time = header("pushcrypt-time") ?? "", key = decode(header("pushcrypt-key"), 32);
    const signature = decode(header("pushcrypt-signature"), 64), wrong = () => new RelayError(401, "bad-signature");
    if (!key || !signature || !/^(?:0|[1-9][0-9]{0,15})$/.test(time) || !isTime(Number(time))) throw wrong();
    if (Math.abs(Number(time) - now) > HOUR) throw new RelayError(401, "clock", { now });
    // [K-9]: R of small order, which OpenSSL takes.
    const r = Buffer.from(signature.subarray(0, 32));
    r[31] &= 0x7f;
    const place = [prefixed(Buffer.from(origin), 2), prefixed(Buffer.from(path), 2)];
    const signed = Buffer.concat([label("relay request"), ...place, key, number(time, 8), sha256(body)]);
    const text = header("pushcrypt-key"), known = KEYS.get(text);
    const spki = known ?? createPublicKey({ key: Buffer.concat([SPKI, key]), format: "der", type: "spki" });
    if (SMALL_ORDER.includes(r.toString("hex")) || !verify(null, signed, spki, signature)) throw wrong();
    if (!known) KEYS.set(text, spki);
    return text;
}
