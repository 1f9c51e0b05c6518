package pushcrypt;

import java.security.GeneralSecurityException;
import java.security.Signature;
import java.security.SignatureException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Whom a receiver believes, and how that changes: Docs/Format.md, "Rotation", rules to.
 *
 * <p>The pinned sender keys, and the superseded ones, which the app keeps for good. It is durable and grows only: see
 * {@link Envelope.Opened} for how it is changed. No key is in both places, and none is there that [K-7] refuses, as a setting that
 * was never filled in would be.
 */
public final class Trust {
    public static final int STATEMENT = 181;
    /** The last time of all: times are unsigned. */
    public static final long NEVER = -1;
    static final long TOLERANCE = 86_400;
    private static final int TRIED = 4, ISSUED_AT = 37, ACCEPT_FOR = 45, OVERLAP = 49, OLD_SIGNATURE = 53, NEW_SIGNATURE = 117;
    private static final long LARGEST_OVERLAP = 5_184_000;

    /**
     * A sender key that lost its place. It verifies no statement ever again.
     *
     * <p>It verifies messages until its end, that millisecond included; without one, which is {@code null}, because the app
     * replaced it, none. The statement that superseded it, if there was one, is kept in any case: and ask for it.
     */
    public record Superseded(byte[] key, Long verifiesUntil, byte[] statement) {
        /** A key that lost its place to the statement. */
        public static Superseded by(byte[] key, byte[] statement) {
            long issuedAt = Bytes.number(statement, ISSUED_AT, ACCEPT_FOR);
            return new Superseded(key, later(issuedAt, Bytes.number(statement, OVERLAP, OLD_SIGNATURE)), statement);
        }

        boolean verifies(long now) {
            return verifiesUntil != null && !isAfter(now, verifiesUntil);
        }
    }

    /** The statements that were accepted, and whether there was a conflict. */
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

    /** Another one with the same keys, which were checked already. */
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

    /** Evaluates statements in order; one that fails is passed over. */
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

    /** Follows a statement, or refuses it and changes nothing. False when it is the one that was followed before. */
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

    /** What the key of a role signs: 0x01 the old one, 0x02 the new one. */
    private static byte[] signed(byte[] statement, int role, byte[] old) {
        byte[] label = Bytes.ascii("pushcrypt/1 rotation\0");
        return Bytes.concat(label, new byte[] {(byte) role}, old, Bytes.part(statement, 0, OLD_SIGNATURE));
    }

    /** Ed25519 with S < L, by a key of prime order: `checkSenderKey` has seen to that. The JDK throws when a signature has no form. */
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

    /** Times are unsigned, and so the last of all is -1. */
    static boolean isAfter(long time, long other) {
        return Long.compareUnsigned(time, other) > 0;
    }

    /** A time and a duration in seconds; what does not fit in 64 bits is the last time of all [K-3]. */
    static long later(long time, long seconds) {
        long sum = time + 1000 * seconds;
        return isAfter(time, sum) ? NEVER : sum;
    }
}
