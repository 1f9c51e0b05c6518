// A receiver's trust in senders, and its changes: Docs/FormatRotation.md, rules to.
import { verify } from "node:crypto";
import { ED25519, Refused, checkSenderKey, keyID, publicKey } from "./keys.mjs";

export const STATEMENT = 181;
export const TOLERANCE = 86_400;
export const NEVER = 2n ** 64n - 1n;
const TRIED = 4;
const LARGEST_OVERLAP = 5_184_000;

/**
 * A superseded sender key. It never verifies a statement again.
 *
 * It verifies messages up to and including the millisecond of its end. If the app replaced it, it has no end and
 * verifies none. The statement that superseded it, if there is one, is always kept: and require it.
 */
export class Superseded {
    constructor(key, verifiesUntil = null, statement = null) {
        this.key = key;
        this.verifiesUntil = verifiesUntil;
        this.statement = statement;
    }

    /** A key superseded by the statement. */
    static by(key, statement) {
        return new Superseded(key, later(statement.readBigUInt64BE(37), statement.readUInt32BE(49)), statement);
    }

    verifies(now) {
        return this.verifiesUntil != null && now <= this.verifiesUntil;
    }
}

/**
 * The pinned sender keys, and the superseded ones, which the app keeps permanently.
 *
 * It is durable and only grows: see `openText` for how it changes. No key is in both lists, and none that [K-7]
 * refuses, such as an unset setting.
 */
export class Trust {
    constructor(pinned = [], superseded = []) {
        this.pinned = [...pinned];
        this.superseded = [...superseded];
        const past = this.superseded.map((old) => old.key);
        for (const key of [...this.pinned, ...past]) checkSenderKey(key);
        if (this.pinned.some((key) => past.some((old) => old.equals(key)))) throw new Refused("sender-superseded");
    }

    copy() {
        const { pinned, superseded } = this;
        return Object.assign(Object.create(Trust.prototype), { pinned: [...pinned], superseded: [...superseded] });
    }

    /** The keys under which a message with the sender key id may verify: pinned ones first, at most 4. */
    candidates(id, now) {
        const keys = [...this.pinned, ...this.superseded.filter((old) => old.verifies(now)).map((old) => old.key)];
        return keys.filter((key) => keyID(ED25519, key).equals(id)).slice(0, TRIED);
    }

    /**
     * Evaluates statements in order; ignores one that fails. Returns the accepted statements, and whether there
     * was a conflict.
     */
    follow(statements, now) {
        const accepted = [];
        let conflict = false;
        for (const statement of statements) {
            try {
                if (this.evaluate(statement, now)) accepted.push(Buffer.from(statement));
            } catch (refused) {
                if (!(refused instanceof Refused)) throw refused;
                conflict ||= refused.code === "rotation-conflict";
            }
        }
        return { accepted, conflict };
    }

    /** Follows a statement, or refuses it and changes nothing. Returns false if it was followed before. */
    evaluate(statement, now) {
        if (statement.length !== STATEMENT || statement[0] !== 0x01) throw new Refused("malformed-statement");
        // A slice of a message would keep the whole message in memory, with the keys of its files.
        statement = Buffer.from(statement);
        if (this.superseded.some((old) => old.statement?.equals(statement))) return false;
        const id = statement.subarray(1, 5), added = statement.subarray(5, 37), issuedAt = statement.readBigUInt64BE(37);
        const keys = [...this.pinned, ...this.superseded.map((old) => old.key)]
            .filter((key) => keyID(ED25519, key).equals(id))
            .slice(0, TRIED);
        if (keys.length === 0) throw new Refused("untrusted-old-key");
        const old = keys.find((key) => verifies(key, statement.subarray(53, 117), signed(statement, 0x01, key)));
        if (old === undefined) throw new Refused("bad-statement-signature");
        checkSenderKey(added);
        if (!verifies(added, statement.subarray(117), signed(statement, 0x02, old))) throw new Refused("bad-statement-signature");
        if (!this.pinned.some((key) => key.equals(old))) {
            const byStatement = this.superseded.some((past) => past.key.equals(old) && past.statement != null);
            throw new Refused(byStatement ? "rotation-conflict" : "untrusted-old-key");
        }
        if (added.equals(old) || this.superseded.some((past) => past.key.equals(added))) throw new Refused("superseded-new-key");
        if (statement.readUInt32BE(49) > LARGEST_OVERLAP) throw new Refused("overlap-too-long");
        if (issuedAt > later(now, TOLERANCE)) throw new Refused("statement-not-yet-valid");
        if (now > later(issuedAt, statement.readUInt32BE(45))) throw new Refused("statement-expired");
        this.pinned = [...this.pinned.filter((key) => !key.equals(old) && !key.equals(added)), added];
        this.superseded.push(Superseded.by(old, statement));
        return true;
    }
}

/** The bytes that the key of a role signs: 0x01 for the old key, 0x02 for the new one. */
function signed(statement, role, old) {
    return Buffer.concat([Buffer.from("pushcrypt/1 rotation\0"), Buffer.of(role), old, statement.subarray(0, 53)]);
}

/** Ed25519 with S < L. `checkSenderKey` ensured that the key is of prime order. */
export function verifies(key, signature, data) {
    return verify(null, data, publicKey(ED25519, key), signature);
}

/** Adds a duration in seconds to a time; the result is at most the largest 64-bit time [K-3]. */
export function later(time, seconds) {
    const sum = time + 1000n * BigInt(seconds);
    return sum < NEVER ? sum : NEVER;
}
