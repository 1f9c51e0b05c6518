package pushcrypt;

import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * What an accepted record means for a provider.
 *
 * @param topic the device's topic from now on, or {@code null}
 * @param user the device's user from now on, or {@code null}
 * @param foreign the members of the record that name a key which the provider never had
 */
public record Registration(String topic, String user, List<String> foreign) {
    private static final long GENERATION_STEP = 1024;

    /**
     * Creates a value, and copies the list.
     *
     * @param topic the device's topic from now on, or {@code null}
     * @param user the device's user from now on, or {@code null}
     * @param foreign the members of the record that name a key which the provider never had
     */
    public Registration {
        foreign = List.copyOf(foreign);
    }

    /**
     * What a provider has, or had until it removed it, under the device's id.
     *
     * @param publicKey the text of its key, which may be of suite 2, {@code pcrx1…}
     * @param generation its generation
     * @param topic its topic, or {@code null}
     * @param user its user, or {@code null}
     * @param isRemoved whether the device was removed: what was learned of it is kept [D-34]
     */
    public record Held(String publicKey, long generation, String topic, String user, boolean isRemoved) {
        /**
         * Creates a value.
         *
         * @param publicKey the text of its key, which may be of suite 2, {@code pcrx1…}
         * @param generation its generation
         * @param topic its topic, or {@code null}
         * @param user its user, or {@code null}
         * @param isRemoved whether the device was removed
         */
        public Held {
            Objects.requireNonNull(publicKey, "publicKey");
        }
    }

    /**
     * Another device that has the record's key. If the record is accepted, that one loses it.
     *
     * @param user its user, or {@code null}
     */
    public record SameKey(String user) {}

    /**
     * What a provider knows of the phone that sent a record. Look up and store in one transaction.
     *
     * @param user the user whose session sent the record, or {@code null} if it has none
     * @param held what the provider has under the device's id, or {@code null}
     * @param sameKey another device with the record's key, or {@code null}
     * @param replace whether the operator says that the device was set up again
     * @param ownKeys every provider key that the provider has or had, as text; {@code null} leaves out the check
     */
    public record Situation(String user, Held held, SameKey sameKey, boolean replace, Set<String> ownKeys) {}

    /**
     * Refuses a record that a provider must not accept.
     *
     * @param record the record
     * @param situation what the provider knows
     * @return what the record means
     * @throws PushcryptException {@code user-mismatch}, {@code generation-rollback}, {@code generation-too-high}, {@code suite-downgrade}, {@code unsupported-suite}, {@code topic-mismatch} or {@code key-taken}
     */
    public static Registration check(DeviceRecord record, Situation situation) throws PushcryptException {
        Held held = situation.held();
        String heldUser = held == null ? null : held.user(), user = situation.user() == null ? heldUser : situation.user();
        boolean isSame = held != null && held.publicKey().equals(record.publicKey().toString());
        if (!situation.replace()) checkAgainst(record, held, isSame, situation.user());
        if (record.publicKey().suite() != Records.SUITE && !isSame) throw new PushcryptException("unsupported-suite");
        boolean isBound = !situation.replace() && held != null && !held.isRemoved() && held.topic() != null && record.topic() != null;
        if (isBound && !Objects.equals(record.topic(), held.topic())) throw new PushcryptException("topic-mismatch");
        SameKey other = situation.sameKey();
        if (other != null && (other.user() == null || !other.user().equals(user))) throw new PushcryptException("key-taken");
        String topic = record.topic() == null && held != null && !held.isRemoved() ? held.topic() : record.topic();
        return new Registration(topic, user, foreign(record, situation.ownKeys()));
    }

    private static void checkAgainst(DeviceRecord record, Held held, boolean isSame, String user) throws PushcryptException {
        long generation = held == null ? 0 : held.generation();
        if (held != null && held.user() != null && (user == null ? !isSame : !user.equals(held.user()))) throw new PushcryptException("user-mismatch");
        if (record.generation() < generation || held != null && record.generation() == generation && !isSame) throw new PushcryptException("generation-rollback");
        if (record.generation() > generation + GENERATION_STEP) throw new PushcryptException("generation-too-high");
        if (held != null && Records.suiteOf(held.publicKey()) > record.publicKey().suite()) throw new PushcryptException("suite-downgrade");
    }

    /** The members that name a key which the provider never had [D-22]. */
    private static List<String> foreign(DeviceRecord record, Set<String> own) {
        boolean isForeign = own != null && record.provider() != null && !own.contains(record.provider().toString());
        return isForeign ? List.of("provider") : List.of();
    }
}
