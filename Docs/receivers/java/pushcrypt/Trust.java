package pushcrypt;

import java.security.GeneralSecurityException;
import java.security.Signature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Whom a receiver believes, and how that changes: Docs/Format.md, "Rotation", rules to.
 *
 * <p>The pinned sender keys, which the app has checked with {@link Keys#checkSenderKey}, and the superseded ones, which it keeps for good.
 */
public final class Trust {
    public static final int STATEMENT = 181;
    static final long TOLERANCE = 86_400, NEVER = -1;
    private static final int TRIED = 4, ISSUED_AT = 37, ACCEPT_FOR = 45, OVERLAP = 49, OLD_SIGNATURE = 53, NEW_SIGNATURE = 117;
    private static final long LARGEST_OVERLAP = 5_184_000;

    /** A sender key that lost its place: to the statement, or to nothing, with {@code null}, because the app replaced it. */
    public record Superseded(byte[] key, byte[] statement) {
        /** Whether it verifies messages still. It verifies no statement ever again. */
        boolean verifies(long now) {
            if (statement == null) return false;
            return !isAfter(now, later(Bytes.number(statement, ISSUED_AT, ACCEPT_FOR), Bytes.number(statement, OVERLAP, OLD_SIGNATURE)));
        }
    }

    public final List<byte[]> pinned;
    public final List<Superseded> superseded;

    public Trust(List<byte[]> pinned, List<Superseded> superseded) {
        this.pinned = new ArrayList<>(pinned);
        this.superseded = new ArrayList<>(superseded);
    }

    public Trust copy() {
        return new Trust(pinned, superseded);
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

    /** Follows a statement, or refuses it and changes nothing. False when it is the one that was followed before. */
    public boolean evaluate(byte[] statement, long now) throws Refused {
        if (statement.length != STATEMENT || statement[0] != 0x01) throw new Refused("malformed-statement");
        if (superseded.stream().anyMatch(past -> Arrays.equals(past.statement(), statement))) return false;
        byte[] added = Bytes.part(statement, 5, ISSUED_AT), old = null;
        List<byte[]> keys = keys(Bytes.part(statement, 1, 5), superseded);
        if (keys.isEmpty()) throw new Refused("untrusted-old-key");
        byte[] oldSignature = Bytes.part(statement, OLD_SIGNATURE, NEW_SIGNATURE), newSignature = Bytes.part(statement, NEW_SIGNATURE, STATEMENT);
        for (byte[] key : keys) if (old == null && verifies(key, oldSignature, signed(statement, 0x01, key))) old = key;
        if (old == null) throw new Refused("bad-statement-signature");
        Keys.checkSenderKey(added);
        if (!verifies(added, newSignature, signed(statement, 0x02, old))) throw new Refused("bad-statement-signature");
        if (!contains(pinned, old)) {
            final byte[] signer = old;
            boolean byStatement = superseded.stream().anyMatch(past -> Arrays.equals(past.key(), signer) && past.statement() != null);
            throw new Refused(byStatement ? "rotation-conflict" : "untrusted-old-key");
        }
        if (Arrays.equals(added, old) || contains(superseded.stream().map(Superseded::key).toList(), added)) throw new Refused("superseded-new-key");
        long issuedAt = Bytes.number(statement, ISSUED_AT, ACCEPT_FOR);
        if (Bytes.number(statement, OVERLAP, OLD_SIGNATURE) > LARGEST_OVERLAP) throw new Refused("overlap-too-long");
        if (isAfter(issuedAt, later(now, TOLERANCE))) throw new Refused("statement-not-yet-valid");
        if (isAfter(now, later(issuedAt, Bytes.number(statement, ACCEPT_FOR, OVERLAP)))) throw new Refused("statement-expired");
        final byte[] replaced = old;
        pinned.removeIf(key -> Arrays.equals(key, replaced) || Arrays.equals(key, added));
        pinned.add(added);
        superseded.add(new Superseded(old, statement));
        return true;
    }

    private static boolean contains(List<byte[]> keys, byte[] key) {
        return keys.stream().anyMatch(other -> Arrays.equals(other, key));
    }

    /** What the key of a role signs: 0x01 the old one, 0x02 the new one. */
    private static byte[] signed(byte[] statement, int role, byte[] old) {
        return Bytes.concat(Bytes.ascii("pushcrypt/1 rotation\0"), new byte[] {(byte) role}, old, Bytes.part(statement, 0, OLD_SIGNATURE));
    }

    /** Ed25519 with S < L. The key is of prime order: `checkSenderKey` has seen to that. The JDK throws when a signature has no form. */
    static boolean verifies(byte[] key, byte[] signature, byte[] data) {
        try {
            Signature verifier = Signature.getInstance("Ed25519");
            verifier.initVerify(Keys.publicKey("Ed25519", 0x70, key));
            verifier.update(data);
            return verifier.verify(signature);
        } catch (GeneralSecurityException malformed) {
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
