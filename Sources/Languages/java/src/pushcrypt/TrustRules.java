package pushcrypt;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.security.SignatureException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A receiver's trust in senders, and its changes: Docs/FormatRotation.md, rules to.
 *
 * <p>The senders that an app trusts for one context, in order. It is durable and only grows. Its keys have
 * passed [K-7]; none is both a sender's and a recovery key [K-10], and no sender has one key twice.
 */
final class TrustRules {
    static final int STATEMENT = 181;
    /** The largest time; times are unsigned. */
    static final long NEVER = -1;
    static final long TOLERANCE = 86_400;
    static final int RECOVERS = 0x02, SIGNED = 53, ISSUED_AT = 37, ACCEPT_FOR = 45, OVERLAP = 49, FIRST_SIGNATURE = 53, SECOND_SIGNATURE = 117;
    private static final int ROTATES = 0x01, SERIAL = 49, MOST_RECOVERY_KEYS = 2;
    static final long LARGEST_OVERLAP = 5_184_000;
    private static final List<String> CONFLICTS = List.of("rotation-conflict", "recovery-conflict");

    /**
     * A superseded sender key. It never verifies a statement again.
     *
     * <p>It verifies messages up to and including the millisecond of its end. Without a statement it is revoked, by the
     * app or by a recovery: it verifies nothing, for any sender. The statement is always kept: and
     * require it.
     */
    record Superseded(byte[] key, byte[] statement) {
        boolean isRevoked() {
            return statement == null;
        }

        boolean verifies(long now) {
            if (isRevoked()) return false;
            long issuedAt = Bytes.number(statement, ISSUED_AT, ACCEPT_FOR);
            return !isAfter(now, later(issuedAt, Bytes.number(statement, OVERLAP, SIGNED)));
        }
    }

    /**
     * What a receiver has of one sender: a name that the app gives. With a `pinned` of {@code null}, the app has removed
     * the pin.
     *
     * <p>`lastRecovery` is the first 53 bytes of the last recovery statement, which include the serial, or empty.
     * Recovery keys come from the app, or with the reply that brings the first pin.
     */
    record Sender(String name, byte[] pinned, List<Superseded> superseded, List<byte[]> recovery, byte[] lastRecovery) {
        static Sender of(String name, byte[] pinned) {
            return new Sender(name, pinned, List.of(), List.of(), new byte[0]);
        }

        List<byte[]> past() {
            return superseded.stream().map(Superseded::key).toList();
        }

        List<byte[]> keys() {
            return Stream.concat(Stream.ofNullable(pinned), past().stream()).toList();
        }

        long serial() {
            return lastRecovery.length == 0 ? 0 : Bytes.number(lastRecovery, SERIAL, SIGNED);
        }
    }

    /** The accepted statements, and the conflicts to tell the app of. */
    record Followed(List<byte[]> accepted, List<String> told) {}

    /** Whether a statement changed something, and a conflict that it raises nevertheless, or {@code null}. */
    record Evaluated(boolean changed, String conflict) {}

    private List<Sender> senders;

    TrustRules(List<Sender> senders) throws PushcryptException {
        this.senders = List.copyOf(senders);
        for (Sender sender : senders) {
            List<byte[]> keys = sender.keys();
            for (int index = 1; index < keys.size(); index++) {
                if (contains(keys.subList(0, index), keys.get(index))) throw new PushcryptException("sender-superseded");
            }
            int length = sender.lastRecovery().length;
            if (sender.recovery().size() > MOST_RECOVERY_KEYS || length != 0 && length != SIGNED) throw new PushcryptException("corrupt-store");
            if (keys.stream().anyMatch(key -> contains(recoveryKeys(), key))) throw new PushcryptException("sender-superseded");
        }
    }

    /** A copy. The keys are already checked, and no sender ever changes. */
    private TrustRules(TrustRules other) {
        this.senders = other.senders;
    }

    List<Sender> senders() {
        return senders;
    }

    TrustRules copy() {
        return new TrustRules(this);
    }

    private List<byte[]> revoked() {
        return senders.stream().flatMap(sender -> sender.superseded().stream()).filter(Superseded::isRevoked).map(Superseded::key).toList();
    }

    private List<byte[]> recoveryKeys() {
        return senders.stream().flatMap(sender -> sender.recovery().stream()).toList();
    }

    /** The keys under which a message with the sender key id may verify. */
    List<byte[]> candidates(byte[] id, long now) {
        Stream<byte[]> pinned = senders.stream().flatMap(sender -> Stream.ofNullable(sender.pinned()));
        Stream<Superseded> overlapping = senders.stream().flatMap(sender -> sender.superseded().stream()).filter(old -> old.verifies(now));
        List<byte[]> revoked = revoked();
        return Stream.concat(pinned, overlapping.map(Superseded::key))
            .filter(key -> !contains(revoked, key) && hasID(Keys.ED25519, key, id)).toList();
    }

    /** Evaluates statements in order; ignores one that fails. */
    Followed follow(List<byte[]> statements, String context, long now) throws GeneralSecurityException {
        List<byte[]> accepted = new ArrayList<>();
        TreeSet<String> told = new TreeSet<>();
        for (byte[] statement : statements) {
            try {
                Evaluated evaluated = evaluate(statement, context, now);
                if (evaluated.changed()) accepted.add(statement);
                if (evaluated.conflict() != null) told.add(evaluated.conflict());
            } catch (PushcryptException refused) {
                if (CONFLICTS.contains(refused.code())) told.add(refused.code());
            }
        }
        return new Followed(accepted, List.copyOf(told));
    }

    /** Refuses what is not a statement. */
    static void checkForm(byte[] statement) throws PushcryptException {
        if (statement.length != STATEMENT || statement[0] != ROTATES && statement[0] != RECOVERS) throw new PushcryptException("malformed-statement");
        if (statement[0] == RECOVERS && Bytes.number(statement, SERIAL, SIGNED) == 0) throw new PushcryptException("malformed-statement");
    }

    /** Follows a statement, or refuses it and changes nothing. Each sender is evaluated separately. */
    Evaluated evaluate(byte[] statement, String context, long now) throws GeneralSecurityException, PushcryptException {
        checkForm(statement);
        boolean rotates = statement[0] == ROTATES, isChanged = false;
        List<Sender> after = new ArrayList<>();
        List<Fails> failures = new ArrayList<>();
        for (Sender sender : senders) {
            try {
                Sender changed = rotates ? rotated(sender, statement, now) : recovered(sender, statement, context);
                isChanged |= changed != sender;
                after.add(changed);
            } catch (Fails fails) {
                failures.add(fails);
                after.add(sender);
            }
        }
        String conflict = failures.stream().map(fails -> fails.code).filter(CONFLICTS::contains).findFirst().orElse(null);
        if (isChanged) {
            senders = List.copyOf(after);
            return new Evaluated(true, conflict);
        }
        if (conflict != null) throw new PushcryptException(conflict);
        if (failures.size() < senders.size()) return new Evaluated(false, null);
        Fails furthest = rotates ? new Fails(3, "untrusted-old-key") : new Fails(15, "unknown-recovery-key");
        for (Fails fails : failures) if (fails.rule > furthest.rule) furthest = fails;
        throw new PushcryptException(furthest.code);
    }

    /** The sender after a rotation to; the same one if nothing changes. */
    private Sender rotated(Sender sender, byte[] statement, long now) throws GeneralSecurityException, Fails {
        byte[] first = Bytes.part(statement, 0, SIGNED), id = Bytes.part(statement, 1, 5), added = Bytes.part(statement, 5, ISSUED_AT);
        for (Superseded past : sender.superseded()) {
            if (!past.isRevoked() && Arrays.equals(Bytes.part(past.statement(), 0, SIGNED), first)) return sender;
        }
        List<byte[]> own = sender.keys().stream().filter(key -> hasID(Keys.ED25519, key, id)).toList();
        require(!own.isEmpty(), 3, "untrusted-old-key");
        byte[] old = null, firstSignature = Bytes.part(statement, FIRST_SIGNATURE, SECOND_SIGNATURE);
        byte[] secondSignature = Bytes.part(statement, SECOND_SIGNATURE, STATEMENT);
        for (byte[] key : own) if (old == null && verifies(key, firstSignature, signed(first, 0x01, key))) old = key;
        require(old != null, 4, "bad-statement-signature");
        require(isSenderKey(added), 5, "weak-key");
        require(verifies(added, secondSignature, signed(first, 0x02, old)), 6, "bad-statement-signature");
        require(!contains(revoked(), old), 7, "untrusted-old-key");
        require(Arrays.equals(sender.pinned(), old), 7, "rotation-conflict");
        require(!Arrays.equals(added, old) && mayPin(added, sender), 8, "superseded-new-key");
        long issuedAt = Bytes.number(statement, ISSUED_AT, ACCEPT_FOR);
        require(Bytes.number(statement, OVERLAP, SIGNED) <= LARGEST_OVERLAP, 9, "overlap-too-long");
        require(!isAfter(issuedAt, later(now, TOLERANCE)), 10, "statement-not-yet-valid");
        require(!isAfter(now, later(issuedAt, Bytes.number(statement, ACCEPT_FOR, OVERLAP))), 11, "statement-expired");
        List<Superseded> past = Stream.concat(sender.superseded().stream(), Stream.of(new Superseded(old, statement))).toList();
        return new Sender(sender.name(), added, past, sender.recovery(), sender.lastRecovery());
    }

    /** The sender after a recovery to; the same one if nothing changes. No clock decides. */
    private Sender recovered(Sender sender, byte[] statement, String context) throws GeneralSecurityException, Fails {
        byte[] first = Bytes.part(statement, 0, SIGNED), id = Bytes.part(statement, 1, 5), added = Bytes.part(statement, 5, ISSUED_AT);
        List<byte[]> own = sender.recovery().stream().filter(key -> hasID(Keys.RECOVERY, key, id)).toList();
        require(sender.pinned() != null && !own.isEmpty(), 15, "unknown-recovery-key");
        byte[] recovery = null, firstSignature = Bytes.part(statement, FIRST_SIGNATURE, SECOND_SIGNATURE);
        byte[] secondSignature = Bytes.part(statement, SECOND_SIGNATURE, STATEMENT);
        for (byte[] key : own) {
            if (recovery == null && verifies(key, firstSignature, recoverySigned(first, 0x03, key, context))) recovery = key;
        }
        require(recovery != null, 16, "bad-statement-signature");
        require(isSenderKey(added), 17, "weak-key");
        require(verifies(added, secondSignature, recoverySigned(first, 0x02, recovery, context)), 18, "bad-statement-signature");
        long serial = Bytes.number(statement, SERIAL, SIGNED);
        if (serial < sender.serial() || Arrays.equals(first, sender.lastRecovery())) return sender;
        require(serial > sender.serial(), 19, "recovery-conflict");
        require(mayPin(added, sender), 20, "superseded-new-key");
        List<Superseded> revoked = Stream.concat(sender.past().stream(), Stream.of(sender.pinned()))
            .filter(key -> !Arrays.equals(key, added)).map(key -> new Superseded(key, null)).toList();
        return new Sender(sender.name(), added, revoked, sender.recovery(), first);
    }

    private boolean mayPin(byte[] key, Sender sender) {
        return !contains(sender.past(), key) && !contains(revoked(), key) && !contains(recoveryKeys(), key);
    }

    /** A rule that a statement breaks for one sender. */
    private static final class Fails extends Exception {
        private static final long serialVersionUID = 1;
        final int rule;
        final String code;

        Fails(int rule, String code) {
            super(code, null, false, false);
            this.rule = rule;
            this.code = code;
        }
    }

    private static void require(boolean condition, int rule, String code) throws Fails {
        if (!condition) throw new Fails(rule, code);
    }

    static boolean isSenderKey(byte[] key) throws GeneralSecurityException {
        try {
            Keys.checkSenderKey(key);
            return true;
        } catch (PushcryptException weak) {
            return false;
        }
    }

    private static boolean contains(List<byte[]> keys, byte[] key) {
        return keys.stream().anyMatch(other -> Arrays.equals(other, key));
    }

    private static boolean hasID(int type, byte[] key, byte[] id) {
        return Arrays.equals(Keys.keyID(type, key), id);
    }

    /** The bytes that the key of a role signs: 0x01 for the old key, 0x02 for the new one. */
    static byte[] signed(byte[] first, int role, byte[] old) {
        return Bytes.concat(Bytes.ascii("pushcrypt/1 rotation\0"), new byte[] {(byte) role}, old, first);
    }

    /** The bytes that the key of a role signs: 0x03 for the recovery key, 0x02 for the new one. */
    static byte[] recoverySigned(byte[] first, int role, byte[] recovery, String context) {
        byte[] label = Bytes.ascii("pushcrypt/1 recovery\0"), lp16 = Bytes.bigEndian(context.length(), 2);
        return Bytes.concat(label, new byte[] {(byte) role}, recovery, lp16, Bytes.ascii(context), first);
    }

    /**
     * Ed25519 by [K-9]. `checkSenderKey` ensured that the key is of prime order. The JDK decodes R: of the points that it
     * can be then, only the identity, with y = 1, has more than one encoding. It throws if a signature is malformed.
     */
    static boolean verifies(byte[] key, byte[] signature, byte[] data) throws GeneralSecurityException {
        BigInteger y = Bytes.integer(Bytes.part(signature, 0, Keys.LENGTH)).clearBit(255);
        if (y.mod(Keys.P).equals(BigInteger.ONE)) return false;
        Signature verifier = Signature.getInstance("Ed25519");
        verifier.initVerify(Keys.publicKey("Ed25519", 0x70, key));
        verifier.update(data);
        try {
            return verifier.verify(signature);
        } catch (SignatureException malformed) {
            return false;
        }
    }

    /** Times are unsigned, so the largest is -1. */
    static boolean isAfter(long time, long other) {
        return Long.compareUnsigned(time, other) > 0;
    }

    /** Adds a duration in seconds to a time; the result is at most the largest 64-bit time [K-3]. */
    static long later(long time, long seconds) {
        long sum = time + 1000 * seconds;
        return isAfter(time, sum) ? NEVER : sum;
    }
}
