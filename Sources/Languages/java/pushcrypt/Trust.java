package pushcrypt;

import java.security.GeneralSecurityException;
import java.security.Signature;
import java.security.SignatureException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A receiver's trust in senders, and its changes: Docs/FormatRotation.md, rules to.
 *
 * <p>The pinned sender keys, and the superseded ones, which the app keeps permanently. It is durable and only grows:
 * see {@link Envelope.Opened} for how it changes. No key is in both lists, and none that [K-7] refuses, such as an
 * unset setting.
 */
public final class Trust {
    public static final int STATEMENT = 181;
    /** The largest time; times are unsigned. */
    public static final long NEVER = -1;
    static final long TOLERANCE = 86_400;
    private static final int TRIED = 4, ISSUED_AT = 37, ACCEPT_FOR = 45, OVERLAP = 49, OLD_SIGNATURE = 53, NEW_SIGNATURE = 117;
    private static final long LARGEST_OVERLAP = 5_184_000;

    /**
     * A superseded sender key. It never verifies a statement again.
     *
     * <p>It verifies messages up to and including the millisecond of its end. If the app replaced it, the end is {@code
     * null} and it verifies none. The statement that superseded it, if there is one, is always kept: and
     * require it.
     */
    public record Superseded(byte[] key, Long verifiesUntil, byte[] statement) {
        /** A key superseded by the statement. */
        public static Superseded by(byte[] key, byte[] statement) {
            long issuedAt = Bytes.number(statement, ISSUED_AT, ACCEPT_FOR);
            return new Superseded(key, later(issuedAt, Bytes.number(statement, OVERLAP, OLD_SIGNATURE)), statement);
        }

        boolean verifies(long now) {
            return verifiesUntil != null && !isAfter(now, verifiesUntil);
        }
    }

    /** The accepted statements, and whether there was a conflict. */
    public record Followed(List<byte[]> accepted, boolean conflict) {}

    private List<byte[]> pinned;
    private List<Superseded> superseded;

    public Trust(List<byte[]> pinned, List<Superseded> superseded) throws GeneralSecurityException, Refused {
        this.pinned = List.copyOf(pinned);
        this.superseded = List.copyOf(superseded);
        List<byte[]> past = superseded.stream().map(Superseded::key).toList();
        for (byte[] key : pinned) {
            Keys.checkSenderKey(key);
            if (contains(past, key)) throw new Refused("sender-superseded");
        }
        for (byte[] key : past) Keys.checkSenderKey(key);
    }

    /** A copy. The keys are already checked. */
    private Trust(Trust other) {
        this.pinned = other.pinned;
        this.superseded = other.superseded;
    }

    public List<byte[]> pinned() {
        return pinned;
    }

    public List<Superseded> superseded() {
        return superseded;
    }

    public Trust copy() {
        return new Trust(this);
    }

    /** The keys under which a message with the sender key id may verify: pinned ones first, at most 4. */
    public List<byte[]> candidates(byte[] id, long now) {
        return keys(id, superseded.stream().filter(old -> old.verifies(now)).toList());
    }

    private List<byte[]> keys(byte[] id, List<Superseded> old) {
        List<byte[]> keys = new ArrayList<>(pinned);
        old.forEach(past -> keys.add(past.key()));
        return keys.stream().filter(key -> Arrays.equals(Keys.keyID(Keys.ED25519, key), id)).limit(TRIED).toList();
    }

    /** Evaluates statements in order; ignores one that fails. */
    public Followed follow(List<byte[]> statements, long now) throws GeneralSecurityException {
        List<byte[]> accepted = new ArrayList<>();
        boolean conflict = false;
        for (byte[] statement : statements) {
            try {
                if (evaluate(statement, now)) accepted.add(statement);
            } catch (Refused refused) {
                conflict |= refused.code.equals("rotation-conflict");
            }
        }
        return new Followed(accepted, conflict);
    }

    /** Follows a statement, or refuses it and changes nothing. Returns false if it was followed before. */
    public boolean evaluate(byte[] statement, long now) throws GeneralSecurityException, Refused {
        if (statement.length != STATEMENT || statement[0] != 0x01) throw new Refused("malformed-statement");
        if (superseded.stream().anyMatch(past -> Arrays.equals(past.statement(), statement))) return false;
        byte[] added = Bytes.part(statement, 5, ISSUED_AT), old = null;
        List<byte[]> keys = keys(Bytes.part(statement, 1, 5), superseded);
        if (keys.isEmpty()) throw new Refused("untrusted-old-key");
        byte[] oldSignature = Bytes.part(statement, OLD_SIGNATURE, NEW_SIGNATURE);
        byte[] newSignature = Bytes.part(statement, NEW_SIGNATURE, STATEMENT);
        for (byte[] key : keys) if (old == null && verifies(key, oldSignature, signed(statement, 0x01, key))) old = key;
        if (old == null) throw new Refused("bad-statement-signature");
        Keys.checkSenderKey(added);
        if (!verifies(added, newSignature, signed(statement, 0x02, old))) throw new Refused("bad-statement-signature");
        if (!contains(pinned, old)) {
            final byte[] signer = old;
            boolean byStatement = superseded.stream().anyMatch(past -> Arrays.equals(past.key(), signer) && past.statement() != null);
            throw new Refused(byStatement ? "rotation-conflict" : "untrusted-old-key");
        }
        boolean wasSuperseded = contains(superseded.stream().map(Superseded::key).toList(), added);
        if (Arrays.equals(added, old) || wasSuperseded) throw new Refused("superseded-new-key");
        long issuedAt = Bytes.number(statement, ISSUED_AT, ACCEPT_FOR);
        if (Bytes.number(statement, OVERLAP, OLD_SIGNATURE) > LARGEST_OVERLAP) throw new Refused("overlap-too-long");
        if (isAfter(issuedAt, later(now, TOLERANCE))) throw new Refused("statement-not-yet-valid");
        if (isAfter(now, later(issuedAt, Bytes.number(statement, ACCEPT_FOR, OVERLAP)))) throw new Refused("statement-expired");
        final byte[] replaced = old;
        Stream<byte[]> others = pinned.stream().filter(key -> !Arrays.equals(key, replaced) && !Arrays.equals(key, added));
        pinned = Stream.concat(others, Stream.of(added)).toList();
        superseded = Stream.concat(superseded.stream(), Stream.of(Superseded.by(old, statement))).toList();
        return true;
    }

    private static boolean contains(List<byte[]> keys, byte[] key) {
        return keys.stream().anyMatch(other -> Arrays.equals(other, key));
    }

    /** The bytes that the key of a role signs: 0x01 for the old key, 0x02 for the new one. */
    private static byte[] signed(byte[] statement, int role, byte[] old) {
        byte[] label = Bytes.ascii("pushcrypt/1 rotation\0");
        return Bytes.concat(label, new byte[] {(byte) role}, old, Bytes.part(statement, 0, OLD_SIGNATURE));
    }

    /**
     * Ed25519 with S < L. `checkSenderKey` ensured that the key is of prime order. The JDK throws if a signature is
     * malformed.
     */
    static boolean verifies(byte[] key, byte[] signature, byte[] data) throws GeneralSecurityException {
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
