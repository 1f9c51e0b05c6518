// A receiver's trust in senders, and its changes: Docs/FormatRotation.md, rules to.
"use strict";

const { verify } = require("node:crypto");
const { PushcryptError } = require("./errors.js");
const { ED25519, RECOVERY, checkSenderKey, keyID, publicKey } = require("./keys.js");

const STATEMENT = 181;
const RECOVERS = 0x02;
const TOLERANCE = 86_400;
const NEVER = 2n ** 64n - 1n;
const SIGNED = 53;
const ROTATES = 0x01;
const LARGEST_OVERLAP = 5_184_000;
const MOST_RECOVERY_KEYS = 2;
const CONFLICTS = ["rotation-conflict", "recovery-conflict"];
const IDENTITY = Buffer.concat([Buffer.of(1), Buffer.alloc(31)]);

/**
 * A superseded sender key. It never verifies a statement again.
 *
 * It verifies messages up to and including the millisecond of its end. Without a statement it is revoked, by the app or
 * by a recovery: it verifies nothing, for any sender. The statement is always kept: and require it.
 */
class Superseded {
    constructor(key, statement = null) {
        this.key = key;
        this.statement = statement;
    }

    verifies(now) {
        if (this.statement === null) return false;
        return now <= later(this.statement.readBigUInt64BE(37), this.statement.readUInt32BE(49));
    }
}

/**
 * What a receiver has of one sender: a name that the app gives. With a `pinned` of `null`, the app has removed the pin.
 *
 * `lastRecovery` is the first 53 bytes of the last recovery statement, which include the serial, or empty. Recovery
 * keys come from the app, or with the reply that brings the first pin.
 */
class Sender {
    constructor(name, pinned, { superseded = [], recovery = [], lastRecovery = Buffer.alloc(0) } = {}) {
        Object.assign(this, { name, pinned, superseded: [...superseded], recovery: [...recovery], lastRecovery });
    }

    get past() {
        return this.superseded.map((old) => old.key);
    }

    get keys() {
        return this.pinned === null ? this.past : [this.pinned, ...this.past];
    }

    get serial() {
        return this.lastRecovery.length === 0 ? 0 : this.lastRecovery.readUInt32BE(49);
    }
}

/**
 * The senders that an app trusts for one context, in order. Its keys have passed [K-7]; none is both a sender's and a recovery key [K-10], and no sender has one key twice.
 *
 * It is durable and only grows: see `openText` for how it changes.
 */
class Trust {
    constructor(senders = []) {
        this.senders = [...senders];
        for (const { keys, recovery, lastRecovery } of this.senders) {
            if (keys.some((key, index) => has(keys.slice(0, index), key))) throw new PushcryptError("sender-superseded");
            const isEmpty = lastRecovery.length === 0;
            if (recovery.length > MOST_RECOVERY_KEYS || (!isEmpty && lastRecovery.length !== SIGNED)) throw new PushcryptError("corrupt-store");
            if (keys.some((key) => has(this.recoveryKeys(), key))) throw new PushcryptError("sender-superseded");
        }
    }

    /** A trust that may change without this one. No sender in it ever changes. */
    copy() {
        return Object.assign(Object.create(Trust.prototype), { senders: [...this.senders] });
    }

    revoked() {
        return this.senders.flatMap((sender) => sender.superseded).filter((old) => old.statement === null).map((old) => old.key);
    }

    recoveryKeys() {
        return this.senders.flatMap((sender) => sender.recovery);
    }

    /** The keys under which a message with the sender key id may verify. */
    candidates(id, now) {
        const pinned = this.senders.map((sender) => sender.pinned).filter((key) => key !== null);
        const overlapping = this.senders.flatMap((sender) => sender.superseded).filter((old) => old.verifies(now));
        const revoked = this.revoked();
        return [...pinned, ...overlapping.map((old) => old.key)]
            .filter((key) => !has(revoked, key) && keyID(ED25519, key).equals(id));
    }

    /**
     * Evaluates statements in order; ignores one that fails. Returns the accepted statements, and the conflicts
     * to tell the app of.
     */
    follow(statements, context, now) {
        const accepted = [], told = new Set();
        for (const statement of statements) {
            try {
                const { changed, conflict } = this.evaluate(statement, context, now);
                if (changed) accepted.push(Buffer.from(statement));
                if (conflict !== null) told.add(conflict);
            } catch (refused) {
                if (!(refused instanceof PushcryptError)) throw refused;
                if (CONFLICTS.includes(refused.code)) told.add(refused.code);
            }
        }
        return { accepted, told: [...told].sort() };
    }

    /**
     * Follows a statement, or refuses it and changes nothing. Each sender is evaluated separately.
     *
     * Returns whether something changed, and a conflict that the statement raises nevertheless.
     */
    evaluate(statement, context, now) {
        const version = checkForm(statement);
        // A slice of a message would keep the whole message in memory, with the keys of its files.
        statement = Buffer.from(statement);
        const failures = [];
        const senders = this.senders.map((sender) => {
            try {
                return version === ROTATES ? this.rotated(sender, statement, now) : this.recovered(sender, statement, context);
            } catch (fails) {
                if (!(fails instanceof Fails)) throw fails;
                failures.push(fails);
                return sender;
            }
        });
        const conflict = failures.find((fails) => CONFLICTS.includes(fails.code))?.code ?? null;
        if (senders.some((sender, index) => sender !== this.senders[index])) {
            this.senders = senders;
            return { changed: true, conflict };
        }
        if (conflict !== null) throw new PushcryptError(conflict);
        if (failures.length < this.senders.length) return { changed: false, conflict };
        const nobody = version === ROTATES ? new Fails(3, "untrusted-old-key") : new Fails(15, "unknown-recovery-key");
        throw new PushcryptError(failures.reduce((last, fails) => (fails.rule > last.rule ? fails : last), nobody).code);
    }

    /** The sender after a rotation to; the same one if nothing changes. */
    rotated(sender, statement, now) {
        const first = statement.subarray(0, SIGNED), issuedAt = statement.readBigUInt64BE(37);
        if (sender.superseded.some((old) => old.statement !== null && old.statement.subarray(0, SIGNED).equals(first))) return sender;
        const own = sender.keys.filter((key) => keyID(ED25519, key).equals(statement.subarray(1, 5)));
        must(own.length > 0, 3, "untrusted-old-key");
        const old = own.find((key) => verifies(key, statement.subarray(53, 117), signed(statement, 0x01, key)));
        must(old !== undefined, 4, "bad-statement-signature");
        const added = statement.subarray(5, 37);
        must(isSenderKey(added), 5, "weak-key");
        must(verifies(added, statement.subarray(117), signed(statement, 0x02, old)), 6, "bad-statement-signature");
        must(!has(this.revoked(), old), 7, "untrusted-old-key");
        must(sender.pinned !== null && sender.pinned.equals(old), 7, "rotation-conflict");
        must(!added.equals(old) && this.mayPin(added, sender), 8, "superseded-new-key");
        must(statement.readUInt32BE(49) <= LARGEST_OVERLAP, 9, "overlap-too-long");
        must(issuedAt <= later(now, TOLERANCE), 10, "statement-not-yet-valid");
        must(now <= later(issuedAt, statement.readUInt32BE(45)), 11, "statement-expired");
        return new Sender(sender.name, added, { ...sender, superseded: [...sender.superseded, new Superseded(old, statement)] });
    }

    /** The sender after a recovery to; the same one if nothing changes. No clock decides. */
    recovered(sender, statement, context) {
        const own = sender.recovery.filter((key) => keyID(RECOVERY, key).equals(statement.subarray(1, 5)));
        must(sender.pinned !== null && own.length > 0, 15, "unknown-recovery-key");
        const recovery = own.find((key) => verifies(key, statement.subarray(53, 117), recoverySigned(statement, 0x03, key, context)));
        must(recovery !== undefined, 16, "bad-statement-signature");
        const added = statement.subarray(5, 37), serial = statement.readUInt32BE(49), first = statement.subarray(0, SIGNED);
        must(isSenderKey(added), 17, "weak-key");
        const data = recoverySigned(statement, 0x02, recovery, context);
        must(verifies(added, statement.subarray(117), data), 18, "bad-statement-signature");
        if (serial < sender.serial || first.equals(sender.lastRecovery)) return sender;
        must(serial > sender.serial, 19, "recovery-conflict");
        must(this.mayPin(added, sender), 20, "superseded-new-key");
        const revoked = [...sender.past, sender.pinned].filter((key) => !key.equals(added)).map((key) => new Superseded(key));
        return new Sender(sender.name, added, { ...sender, superseded: revoked, lastRecovery: first });
    }

    mayPin(key, sender) {
        return ![sender.past, this.revoked(), this.recoveryKeys()].some((keys) => has(keys, key));
    }
}

/** A rule that a statement breaks for one sender. */
class Fails extends Error {
    constructor(rule, code) {
        super(code);
        Object.assign(this, { rule, code });
    }
}

/** Refuses what is not a statement. Returns its version. */
function checkForm(statement) {
    const version = statement[0];
    if (statement.length !== STATEMENT || (version !== ROTATES && version !== RECOVERS)) throw new PushcryptError("malformed-statement");
    if (version === RECOVERS && statement.readUInt32BE(49) === 0) throw new PushcryptError("malformed-statement");
    return version;
}

function must(condition, rule, code) {
    if (!condition) throw new Fails(rule, code);
}

function has(keys, key) {
    return keys.some((other) => other.equals(key));
}

function isSenderKey(key) {
    try {
        checkSenderKey(key);
        return true;
    } catch (refused) {
        if (!(refused instanceof PushcryptError)) throw refused;
        return false;
    }
}

/** The bytes that the key of a role signs: 0x01 for the old key, 0x02 for the new one. */
function signed(statement, role, old) {
    return Buffer.concat([Buffer.from("pushcrypt/1 rotation\0"), Buffer.of(role), old, statement.subarray(0, SIGNED)]);
}

/** The bytes that the key of a role signs: 0x03 for the recovery key, 0x02 for the new one. */
function recoverySigned(statement, role, recovery, context) {
    const length = Buffer.of(context.length >> 8, context.length);
    return Buffer.concat([
        Buffer.from("pushcrypt/1 recovery\0"), Buffer.of(role), recovery, length, Buffer.from(context), statement.subarray(0, SIGNED),
    ]);
}

/** Ed25519 by [K-9]. `checkSenderKey` ensured that the key is of prime order; OpenSSL compares the bytes of R. */
function verifies(key, signature, data) {
    return !signature.subarray(0, 32).equals(IDENTITY) && verify(null, data, publicKey(ED25519, key), signature);
}

/** Adds a duration in seconds to a time; the result is at most the largest 64-bit time [K-3]. */
function later(time, seconds) {
    const sum = time + 1000n * BigInt(seconds);
    return sum < NEVER ? sum : NEVER;
}

module.exports = {
    STATEMENT, RECOVERS, TOLERANCE, NEVER, LARGEST_OVERLAP, Superseded, Sender, Trust, checkForm, verifies, later, signed, recoverySigned,
};
