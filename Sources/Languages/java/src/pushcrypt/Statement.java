package pushcrypt;

import static pushcrypt.Bytes.concat;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;

/** A statement that changes a sender's key: a rotation or a recovery, 181 bytes. Whether it is accepted is up to {@link Trust}. */
public final class Statement {
    /** For how long receivers accept a rotation, if nothing else is said: 400 days. */
    public static final Duration STANDARD_ACCEPT_FOR = Duration.ofDays(400);
    /** For how long the old key still signs messages, if nothing else is said: 31 days. */
    public static final Duration STANDARD_OVERLAP = Duration.ofDays(31);

    private static final long ALWAYS = 0xffffffffL;
    final byte[] bytes;

    private Statement(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Reads a statement.
     *
     * @param bytes 181 bytes
     * @return the statement
     * @throws PushcryptException {@code malformed-statement}
     */
    public static Statement of(byte[] bytes) throws PushcryptException {
        TrustRules.checkForm(bytes);
        return new Statement(bytes.clone());
    }

    /**
     * Issues the statement by which one sender key replaces another.
     *
     * @param from the old key
     * @param to the new key
     * @param at the present time
     * @param acceptFor for how long receivers accept it
     * @param overlap for how long the old key still signs messages, at most 60 days
     * @return the statement
     * @throws PushcryptException {@code overlap-too-long} or {@code superseded-new-key}
     */
    public static Statement rotation(SenderKey from, SenderKey to, Instant at, Duration acceptFor, Duration overlap) throws PushcryptException {
        if (seconds(overlap) > TrustRules.LARGEST_OVERLAP) throw new PushcryptException("overlap-too-long");
        if (Arrays.equals(from.publicKey, to.publicKey)) throw new PushcryptException("superseded-new-key", "a key cannot replace itself");
        byte[] head = concat(new byte[] {0x01}, from.id, to.publicKey, Bytes.bigEndian(Platform.milliseconds(at), 8),
            Bytes.bigEndian(seconds(acceptFor), 4), Bytes.bigEndian(seconds(overlap), 4));
        byte[] first = sign(from.secret, TrustRules.signed(head, 0x01, from.publicKey)), second = sign(to.secret, TrustRules.signed(head, 0x02, from.publicKey));
        return new Statement(concat(head, first, second));
    }

    /**
     * Issues the statement by which a recovery key replaces whatever is trusted, for one app.
     *
     * @param by the recovery key
     * @param to the new sender key
     * @param topic the app's bundle id
     * @param serial above that of the last recovery, 1 to 2^32 - 1
     * @param at the present time
     * @return the statement
     * @throws PushcryptException {@code wrong-topic} or {@code superseded-new-key}
     */
    public static Statement recovery(RecoveryKey by, SenderKey to, String topic, long serial, Instant at) throws PushcryptException {
        Envelope.checkContext(topic);
        if (serial < 1 || serial > ALWAYS) throw new IllegalArgumentException("a serial is 1 to 2^32 - 1");
        if (Arrays.equals(by.publicKey, to.publicKey)) throw new PushcryptException("superseded-new-key", "the new key is the recovery key; each needs its own");
        byte[] head = concat(new byte[] {0x02}, by.id, to.publicKey, Bytes.bigEndian(Platform.milliseconds(at), 8), Bytes.bigEndian(ALWAYS, 4),
            Bytes.bigEndian(serial, 4));
        byte[] first = sign(by.secret, TrustRules.recoverySigned(head, 0x03, by.publicKey, topic));
        return new Statement(concat(head, first, sign(to.secret, TrustRules.recoverySigned(head, 0x02, by.publicKey, topic))));
    }

    static long seconds(Duration duration) {
        if (duration.getNano() != 0 || duration.isNegative() || duration.getSeconds() > ALWAYS) throw new IllegalArgumentException("a duration is 0 to 2^32 - 1 whole seconds");
        return duration.getSeconds();
    }

    private static byte[] sign(byte[] seed, byte[] data) throws PushcryptException {
        return Platform.run(() -> Sealing.sign(Keys.privateKey("Ed25519", 0x70, seed), data));
    }

    /**
     * Returns the statement as it is sent.
     *
     * @return 181 bytes
     */
    public byte[] bytes() {
        return bytes.clone();
    }

    /**
     * Returns the line of the statement, with its newline, for {@link AnnouncedStatements}.
     *
     * @param key for a rotation, the key it replaces; for a recovery, the key that the next line replaces or, if that is the last line, the key that
     *     signs: unless rotations are missing, this is the recovery's new key
     * @return the line
     * @throws PushcryptException {@code untrusted-old-key} if a rotation replaces another key
     */
    public String line(SenderPublicKey key) throws PushcryptException {
        Objects.requireNonNull(key, "key");
        if (!isRecovery() && !Arrays.equals(key.id, keyID())) {
            throw new PushcryptException("untrusted-old-key", "the line of a rotation needs the key that it replaces");
        }
        return lineOf(key);
    }

    String lineOf(SenderPublicKey key) {
        return key + " " + Envelope.encode(bytes) + "\n";
    }

    boolean isRecovery() {
        return bytes[0] == TrustRules.RECOVERS;
    }

    byte[] keyID() {
        return Bytes.part(bytes, 1, 5);
    }

    byte[] newKey() {
        return Bytes.part(bytes, 5, TrustRules.ISSUED_AT);
    }

    /** Whether phones no longer accept it, which is never so of a recovery. */
    boolean isExpired(long now) {
        long issuedAt = Bytes.number(bytes, TrustRules.ISSUED_AT, TrustRules.ACCEPT_FOR);
        return !isRecovery() && TrustRules.isAfter(now, TrustRules.later(issuedAt, Bytes.number(bytes, TrustRules.ACCEPT_FOR, TrustRules.OVERLAP)));
    }

    /** Whether messages still announce it, which they do for some seconds after its issue. */
    boolean isAnnounced(long now, long seconds) {
        return !TrustRules.isAfter(now, TrustRules.later(Bytes.number(bytes, TrustRules.ISSUED_AT, TrustRules.ACCEPT_FOR), seconds));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Statement statement && Arrays.equals(bytes, statement.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }
}
