package pushcrypt;

import java.util.List;
import java.util.Objects;
import pushcrypt.internal.Envelope;
import pushcrypt.internal.Format;

/** Decides about the records of phones: Docs/FormatRecords.md, "Rules of providers". */
public final class Registration {
    private Registration() {}

    /**
     * Decides about a record, and returns what to store and to answer. It changes nothing.
     *
     * <p>What the record says replaces what is held. What it lacks stays: the topic, the user, the version, the token with its environment, the grant, and the time of the same
     * key. Of a device that was removed or set up again, only the user, the update key and the sequence stay. Read the held device, call this and store the result in one transaction.
     *
     * @param record what the phone sent
     * @param held what you hold under the record's device id, also of a removed one; {@code null} if nothing
     * @param sessionUser the user whose session sent the record, never a member of it; {@code null} for a session without a user
     * @param options what else you know
     * @return what to store and to answer
     * @throws PushcryptException {@code user-mismatch}, {@code generation-rollback}, {@code generation-too-high}, {@code suite-downgrade},
     *     {@code unsupported-suite}, {@code topic-mismatch} or {@code key-taken}: answer with {@link Reply#refuse(PushcryptException, Certificate)}
     */
    public static Accepted accept(DeviceRecord record, StoredDevice held, String sessionUser, AcceptOptions options) {
        StoredDevice.checkUser(sessionUser);
        boolean isSame = held != null && held.publicKey().equals(record.publicKey());
        if (!options.replaces) checkAgainst(record, held, isSame, sessionUser);
        if (record.publicKey().suite() != Format.SUITE && (!isSame || held.isRemoved())) throw new PushcryptException(Code.UNSUPPORTED_SUITE);
        StoredDevice kept = held == null || held.isRemoved() || options.replaces ? null : held;
        boolean isOfApp = record.topic() == null
            || record.topic().equals(options.topic) && (kept == null || kept.topic() == null || kept.topic().equals(record.topic()));
        if (!isOfApp) throw new PushcryptException(Code.TOPIC_MISMATCH);
        String user = sessionUser != null || held == null ? sessionUser : held.user();
        StoredDevice other = options.elsewhere;
        if (other != null && (user == null || !user.equals(other.user()))) throw new PushcryptException(Code.KEY_TAKEN);

        String deviceId = record.deviceId() != null || held == null ? record.deviceId() : held.record().deviceId();
        StoredDevice device = new StoredDevice(merged(record, held, kept, options.topic).withDeviceId(deviceId), user, false);
        boolean isForeign = record.provider() != null && !options.ownKeys.contains(record.provider());
        List<String> foreign = isForeign ? List.of("provider") : List.of();
        String pushKey = options.pushKey == null ? null : Envelope.encode(options.pushKey);
        Reply reply = new Reply(
            record.publicKey(), null, null, null, null, options.provider, options.certificate, List.of(Format.SUITE), foreign, pushKey, null, false);
        return new Accepted(device, reply, other != null, neverIssued(record.certificate(), device.topic(), options), foreign);
    }

    /** [D-22], [D-27], [D-28] and [D-29]. */
    private static void checkAgainst(DeviceRecord record, StoredDevice held, boolean isSame, String user) {
        long generation = held == null ? 0 : held.record().generation();
        if (held != null) {
            if (user == null ? held.user() != null && !isSame : !user.equals(held.user())) throw new PushcryptException(Code.USER_MISMATCH);
            if (record.generation() < generation || record.generation() == generation && !isSame) throw new PushcryptException(Code.GENERATION_ROLLBACK);
        }
        if (record.generation() > generation + Format.GENERATION_STEP) throw new PushcryptException(Code.GENERATION_TOO_HIGH);
        if (held != null && held.publicKey().suite() > record.publicKey().suite()) throw new PushcryptException(Code.SUITE_DOWNGRADE);
    }

    /** The record as it is stored, after what is kept of the device. */
    private static DeviceRecord merged(DeviceRecord record, StoredDevice held, StoredDevice kept, String topic) {
        DeviceRecord old = kept == null ? DeviceRecord.of(record.publicKey(), null, 0) : kept.record(), known = held == null ? record : held.record();
        boolean isLater = known.sequence() == null || record.sequence() != null && record.sequence() > known.sequence();
        String bound = Objects.requireNonNullElse(record.topic(), Objects.requireNonNullElse(old.topic(), topic));
        boolean keepsTime = record.created() == null && old.publicKey().equals(record.publicKey()), keepsToken = record.token() == null;
        DeviceRecord merged = new DeviceRecord(
            record.deviceId(), record.publicKey(), record.suites(), bound, record.generation(), keepsTime ? old.created() : record.created(),
            record.provider(), record.certificate(), record.appVersion() == null ? old.appVersion() : record.appVersion(), record.token(),
            record.environment(), record.grant() == null ? old.grant() : record.grant(),
            record.updateKey() == null ? known.updateKey() : record.updateKey(), isLater ? record.sequence() : known.sequence());
        return keepsToken ? merged.withToken(old.token(), old.environment()) : merged;
    }

    /** A certificate that verifies and that the provider never issued, or null [D-36]. */
    private static Certificate neverIssued(Certificate shown, String topic, AcceptOptions options) {
        Certificate current = options.certificate;
        boolean isAsked = shown != null && (options.issued != null || current == null);
        if (!isAsked || current != null && (shown.hasClaimOf(current) || shown.epoch() < current.floor())) return null;
        if (options.issued != null && options.issued.stream().anyMatch(shown::hasClaimOf)) return null;
        try {
            shown.check(options.provider.key, topic);
            return shown;
        } catch (PushcryptException refused) {
            return null;
        }
    }
}
