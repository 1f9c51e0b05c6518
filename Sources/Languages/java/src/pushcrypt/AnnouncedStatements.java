package pushcrypt;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;

/** The statements that messages of a sender key carry, for a provider without the command's store. */
public final class AnnouncedStatements {
    /** For how long messages announce a rotation, if nothing else is said: 60 days. */
    public static final Duration STANDARD_ANNOUNCEMENT = Duration.ofDays(60);

    private final List<Statement> all;
    /** The key of each line. */
    private final List<SenderPublicKey> keys;
    private final SenderPublicKey sender;

    private AnnouncedStatements(List<Statement> all, List<SenderPublicKey> keys, SenderPublicKey sender) {
        this.all = List.copyOf(all);
        this.keys = List.copyOf(keys);
        this.sender = sender;
    }

    /**
     * Reads what {@code pushcrypt export sender --statements} writes: 1 to 4 lines as of {@link Statement#line}, oldest first. Each rotation leads on from
     * the line before, and the last line to the sender's key. After a recovery, older rotations may be missing. The signatures of rotations are checked; that of
     * a recovery needs the recovery key, which phones have.
     *
     * @param text the text
     * @param sender the key that seals
     * @return the statements
     * @throws PushcryptException {@code malformed-statement}, {@code untrusted-old-key}, {@code bad-statement-signature} or {@code weak-key}
     */
    public static AnnouncedStatements parse(String text, SenderPublicKey sender) throws PushcryptException {
        Objects.requireNonNull(sender, "sender");
        List<Statement> all = new ArrayList<>();
        List<SenderPublicKey> keys = new ArrayList<>();
        byte[] last = null;
        for (String line : text.split("\n")) {
            if (line.isEmpty()) continue;
            String[] words = line.split(" ", -1);
            Statement statement = Statement.of(words.length == 2 ? decoded(words[1]) : new byte[0]);
            SenderPublicKey key = parsed(words[0]);
            last = statement.isRecovery() ? recovered(statement, key, all.isEmpty()) : rotated(statement, key, last);
            all.add(statement);
            keys.add(key);
        }
        if (all.isEmpty() || all.size() > Envelope.MOST_STATEMENTS) {
            throw new PushcryptException("malformed-statement", "there are " + all.size() + " statements, and a message carries 1 to 4");
        }
        if (!Arrays.equals(last, sender.key)) throw foreign("the last statement leads to another key than the one that signs");
        return new AnnouncedStatements(all, keys, sender);
    }

    private static byte[] decoded(String text) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(text);
            return Envelope.encode(bytes).equals(text) ? bytes : new byte[0];
        } catch (IllegalArgumentException malformed) {
            return new byte[0];
        }
    }

    /** A key, or null if the text is of none. */
    private static SenderPublicKey parsed(String text) {
        try {
            return SenderPublicKey.parse(text);
        } catch (PushcryptException none) {
            return null;
        }
    }

    private static byte[] recovered(Statement statement, SenderPublicKey key, boolean isFirst) throws PushcryptException {
        if (!isFirst || !isSenderKey(statement.newKey())) throw new PushcryptException("malformed-statement", "a recovery must be the first line, and lead to a valid key");
        if (key == null) throw foreign("the line of a recovery must begin with a sender key");
        return key.key;
    }

    private static byte[] rotated(Statement statement, SenderPublicKey old, byte[] last) throws PushcryptException {
        if (old == null || !Arrays.equals(old.id, statement.keyID()) || last != null && !Arrays.equals(last, old.key)) {
            throw foreign("a line does not begin with the key that it replaces, or that the line before leads to");
        }
        if (!verifies(old.key, statement, TrustRules.FIRST_SIGNATURE, 0x01, old.key)) throw new PushcryptException("bad-statement-signature");
        if (!isSenderKey(statement.newKey())) throw new PushcryptException("weak-key");
        if (!verifies(statement.newKey(), statement, TrustRules.SECOND_SIGNATURE, 0x02, old.key)) throw new PushcryptException("bad-statement-signature");
        return statement.newKey();
    }

    private static boolean verifies(byte[] key, Statement statement, int at, int role, byte[] old) throws PushcryptException {
        byte[] signature = Bytes.part(statement.bytes, at, at + 64), claim = Bytes.part(statement.bytes, 0, TrustRules.SIGNED);
        return Platform.run(() -> TrustRules.verifies(key, signature, TrustRules.signed(claim, role, old)));
    }

    private static boolean isSenderKey(byte[] key) throws PushcryptException {
        Platform.Work<Boolean> work = () -> TrustRules.isSenderKey(key);
        return Platform.run(work);
    }

    private static PushcryptException foreign(String text) {
        return new PushcryptException("untrusted-old-key", text);
    }

    /**
     * Returns the key to which the last line leads.
     *
     * @return the key
     */
    public SenderPublicKey sender() {
        return sender;
    }

    /**
     * Returns the text that {@link #parse} reads, to be stored.
     *
     * @return the text
     */
    public String text() {
        StringBuilder text = new StringBuilder();
        for (int index = 0; index < all.size(); index++) text.append(all.get(index).lineOf(keys.get(index)));
        return text.toString();
    }

    /**
     * Returns what to announce after a rotation of the sender's key: these statements and that one. Its sender is the new key. A recovery stays permanently;
     * all that lead on from it stay while phones accept them and there is room. The text of the first rotation is its {@link Statement#line}; so is that of a
     * recovery, instead of all before it.
     *
     * @param rotation the statement
     * @param announcedFor for how long after their issue older rotations stay, such as {@link #STANDARD_ANNOUNCEMENT}
     * @param at the present time
     * @return the statements
     * @throws PushcryptException {@code too-many-announcements} if four others stay; {@code malformed-statement} of a recovery, {@code untrusted-old-key},
     *     {@code bad-statement-signature}, {@code weak-key} or {@code superseded-new-key}
     */
    public AnnouncedStatements adding(Statement rotation, Duration announcedFor, Instant at) throws PushcryptException {
        if (rotation.isRecovery()) throw new PushcryptException("malformed-statement", "a recovery is not added to a text: it begins another");
        if (!Arrays.equals(sender.id, rotation.keyID())) throw foreign("the rotation replaces another key than the one that signs");
        byte[] key = rotated(rotation, sender, null);
        SenderPublicKey next = SenderPublicKey.checked(key);
        if (next.equals(sender) || keys.contains(next)) throw new PushcryptException("superseded-new-key", "the new key was replaced before, and phones never return to one");
        long now = Platform.milliseconds(at), seconds = Statement.seconds(announcedFor);
        int recoveries = all.get(0).isRecovery() ? 1 : 0, first = followsRecovery(now) ? recoveries : all.size();
        while (first > recoveries && all.get(first - 1).isAnnounced(now, seconds)) first -= 1;
        List<Statement> kept = new ArrayList<>(all.subList(0, recoveries));
        kept.addAll(all.subList(first, all.size()));
        if (kept.size() >= Envelope.MOST_STATEMENTS) {
            throw new PushcryptException("too-many-announcements", "4 statements are being announced, the most that a message carries: wait until the first "
                + "rotation's announcement ends, or shorten it and lose the phones that missed it");
        }
        kept.add(rotation);
        List<SenderPublicKey> replaced = new ArrayList<>(keys.subList(first, keys.size()));
        replaced.add(sender);
        // What a recovery leads to from now on.
        replaced.addAll(0, List.copyOf(replaced.subList(0, recoveries)));
        return new AnnouncedStatements(kept, replaced, next);
    }

    /** Whether phones that follow a recovery get to the sender's key, and there is room: without a line they would stop at its key. */
    private boolean followsRecovery(long now) {
        boolean isWhole = all.get(0).isRecovery() && Arrays.equals(all.get(0).newKey(), keys.get(0).key) && accepted(now).size() == all.size();
        return isWhole && all.size() < Envelope.MOST_STATEMENTS;
    }

    /**
     * Returns the statements that phones accept at a time: a recovery always, and rotations after the last expired one.
     *
     * @param at the time
     * @return the statements, oldest first
     */
    public List<Statement> accepted(Instant at) {
        return accepted(Platform.milliseconds(at));
    }

    List<Statement> accepted(long now) {
        int start = 0;
        for (int index = 0; index < all.size(); index++) if (all.get(index).isExpired(now)) start = index + 1;
        List<Statement> accepted = new ArrayList<>(all.subList(start, all.size()));
        if (start > 0 && all.get(0).isRecovery()) accepted.add(0, all.get(0));
        return accepted;
    }
}
