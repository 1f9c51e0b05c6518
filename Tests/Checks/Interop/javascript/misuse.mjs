// What a caller can get wrong, and no file of the kit can ask about: each has to be refused, or to do no harm.
import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import * as attachments from "../../../../Sources/Languages/javascript/attachments.mjs";
import { Refused } from "../../../../Sources/Languages/javascript/keys.mjs";
import { parseObject } from "../../../../Sources/Languages/javascript/payload.mjs";
import { seal } from "../../../../Sources/Languages/javascript/seal.mjs";
import { Sender, Superseded, Trust } from "../../../../Sources/Languages/javascript/trust.mjs";

/** Whether the call is refused with the code. */
function refused(code, call) {
    try {
        call();
    } catch (error) {
        return error instanceof Refused && error.code === code;
    }
    return false;
}

/** A name for each, and whether it is as it must be. The keys are good ones. */
export function* answers(device, sender) {
    const half = "\ud800", key = randomBytes(32), text = key.toString("base64url");
    const seals = (options, payload = '{"aps":{"alert":"a","sound":"b"}}', sentAt = 0n) =>
        seal(Buffer.from(payload), "a", device, sender, sentAt, options);
    yield ["a title with half of a pair", refused("invalid-request", () => seals({ title: half }))];
    yield ["a sound with half of a pair", refused("invalid-request", () => seals({ sound: half }))];
    yield ["a message id of 15 bytes", refused("invalid-request", () => seals({ messageID: Buffer.alloc(15) }))];
    yield ["a statement of 180 bytes", refused("invalid-request", () => seals({ statements: [Buffer.alloc(180)] }))];
    yield ["a time to live with a fraction", refused("invalid-time", () => seals({ timeToLive: 1.5 }))];
    yield ["a time that is no BigInt", refused("invalid-time", () => seals({}, undefined, 5))];
    const woken = seals({}, '{"aps":{"alert":"a","content-available":"1"}}');
    yield ["a string that looks like the number 1", !woken.includes("content-available")];
    const zeros = Buffer.alloc(32), statement = Buffer.concat([Buffer.of(1), Buffer.alloc(180)]);
    const trusts = (pinned, more, ...others) => () => new Trust([new Sender("a", pinned, more), ...others]);
    yield ["a pin of zeros", refused("weak-key", trusts(zeros))];
    yield ["a superseded key of zeros", refused("weak-key", trusts(null, { superseded: [new Superseded(zeros)] }))];
    yield ["a recovery key of zeros", refused("weak-key", trusts(null, { recovery: [zeros] }))];
    const both = trusts(sender.public, { superseded: [new Superseded(sender.public)] });
    yield ["a key that is pinned and superseded", refused("sender-superseded", both)];
    const twoUses = trusts(sender.public, {}, new Sender("b", null, { recovery: [sender.public] }));
    yield ["a key that is a sender's and a recovery key", refused("key-has-two-uses", twoUses)];
    const short = trusts(sender.public, { lastRecovery: Buffer.alloc(52) });
    yield ["a last recovery of 52 bytes", refused("malformed-trust", short)];
    const same = trusts(null, { superseded: [new Superseded(sender.public, statement)] })();
    yield ["the same statement of a sender without a pin", !same.evaluate(statement, "a", 0n).changed];
    const opener = new attachments.FileOpener(key, 46, zeros);
    const first = refused("not-a-sealed-file", () => opener.update(Buffer.alloc(46)));
    const then = refused("malformed-file", () => opener.update(zeros)) && refused("malformed-file", () => opener.finish());
    yield ["a file after it was refused", first && then];
    const json = { url: "https://a", type: "a.b", name: "a", size: 46, key: text, sha256: text };
    const reference = attachments.parseReference(parseObject(Buffer.from(JSON.stringify({ ...json, sha256: "A".repeat(43) })), "a"));
    const printed = [opener, reference].map((value) => inspect(value, { maxStringLength: null }) + JSON.stringify(value)).join("");
    const forms = [text, inspect(key).slice(8, 40), JSON.stringify([...key]).slice(1, 40)];
    yield ["a key that is printed", reference.key.equals(key) && !forms.some((form) => printed.includes(form))];
}
