// Whom a receiver believes, and how that changes: Docs/Format.md, "Rotation", rules to.
import { verify } from "node:crypto";
import { ED25519, Refused, checkSenderKey, keyID, publicKey } from "./keys.mjs";

export const STATEMENT = 181;
export const TOLERANCE = 86_400;
export const NEVER = 2n ** 64n - 1n;
const TRIED = 4;
const LARGEST_OVERLAP = 5_184_000;

/**
 * A sender key that lost its place. It verifies no statement ever again.
 *
 * It verifies messages until its end, that millisecond included; without one, because the app replaced it, none. The statement
 * that superseded it, if there was one, is kept in any case: and ask for it.
 */
export class Superseded {
    constructor(key, verifiesUntil = null, statement = null) {
        this.key = key;
        this.verifiesUntil = verifiesUntil;
        this.statement = statement;
    }

    /** A key that lost its place to the statement. */
    static by(key, statement) {
        return new Superseded(key, later(statement.readBigUInt64BE(37), statement.readUInt32BE(49)), statement);
    }

    verifies(now) {
        return this.verifiesUntil != null && now <= this.verifiesUntil;
    }
}

/**
 * The pinned sender keys, and the superseded ones, which the app keeps for good.
 *
 * It is durable and grows only: see `openText` for how it is changed. No key is in both places, and none is there that [K-7]
 * refuses, as a setting that was never filled in would be.
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
     * Evaluates statements in order; one that fails is passed over. Gives those that were accepted, and whether there was a
     * conflict.
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

    /** Follows a statement, or refuses it and changes nothing. False when it is the one that was followed before. */
    evaluate(statement, now) {
        if (statement.length !== STATEMENT || statement[0] !== 0x01) throw new Refused("malformed-statement");
        // A part of a message would keep all of it in memory, with the keys of its files.
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

/** What the key of a role signs: 0x01 the old one, 0x02 the new one. */
function signed(statement, role, old) {
    return Buffer.concat([Buffer.from("pushcrypt/1 rotation\0"), Buffer.of(role), old, statement.subarray(0, 53)]);
}

/** Ed25519 with S < L. The key is of prime order: `checkSenderKey` has seen to that. */
export function verifies(key, signature, data) {
    return verify(null, data, publicKey(ED25519, key), signature);
}

/** A time and a duration in seconds; what does not fit in 64 bits is the last time of all [K-3]. */
export function later(time, seconds) {
    const sum = time + 1000n * BigInt(seconds);
    return sum < NEVER ? sum : NEVER;
}
