package com.example.pushcrypt;

import static com.example.pushcrypt.internal.Bytes.ascii;
import static com.example.pushcrypt.internal.Bytes.concat;

import java.util.*;
import com.example.pushcrypt.internal.*;

/** Decides about the records of phones: Docs/FormatRecords.md, "Rules of providers". */
public final class Registration {
    private Registration() {}

    /**
     * Decides about a record, and returns what to store and to answer. It changes nothing.
     *
     * <p>What the record says replaces what is held. What it lacks stays: the topic, the user, the version, the token with its environment, the grant, and the time of the same
     * key. Of a device that was removed, only the user, the update key and the sequence stay, and of one that was set up again, the user.
     *
     * @param record what the phone sent
     * @param devices your store, in the transaction in which you store the result
     * @param sessionUser the user whose session sent the record, never a member of it; {@code null} for a session without a user
     * @param options what else you know
     * @return what to store and to answer
     * @throws PushcryptException {@code user-mismatch}, {@code stale-record}, {@code generation-rollback}, {@code generation-too-high}, {@code suite-downgrade},
     *     {@code unsupported-suite}, {@code topic-mismatch} or {@code key-taken}: answer with {@link Reply#refusal(PushcryptException, Certificate)}
     * @throws IllegalArgumentException for a look-up that returns a device that was not asked for
     */
    public static Accepted accept(DeviceRecord record, Devices devices, String sessionUser, AcceptOptions options) {
        StoredDevice.checkUser(sessionUser);
        String id = record.deviceId() != null ? record.deviceId() : options.deviceId;
        if (id == null) throw new PushcryptException(Code.MALFORMED_RECORD, "the record names no device; give your id for it as AcceptOptions.Builder.deviceId");
        StoredDevice held = find(devices, id);
        boolean isSame = held != null && held.publicKey().equals(record.publicKey());
        if (!options.replaces) checkAgainst(record, held, isSame, sessionUser);
        if (record.publicKey().suite() != Format.SUITE && (!isSame || held.isRemoved())) throw new PushcryptException(Code.UNSUPPORTED_SUITE);
        StoredDevice kept = held == null || held.isRemoved() || options.replaces ? null : held;
        boolean isOfApp = record.topic() == null || record.topic().equals(options.topic) && (kept == null || kept.topic().equals(record.topic()));
        if (!isOfApp) throw new PushcryptException(Code.TOPIC_MISMATCH);

        String user = sessionUser != null || held == null ? sessionUser : held.user();
        String endedGrant = kept == null ? null : kept.endedGrant();
        boolean isGrantEnded = record.grant() != null && record.grant().equals(endedGrant), keepsGrant = record.grant() == null || isGrantEnded;
        DeviceRecord said = (isGrantEnded ? record.withoutGrant() : record).withDeviceId(id);
        StoredDevice device = new StoredDevice(
            merged(said, options.replaces ? null : held, kept, options.topic), user, false, keepsGrant ? endedGrant : null);
        List<StoredDevice> changes = displacing(device, kept != null && isSame, devices);
        boolean isForeign = record.provider() != null && !options.ownKeys.contains(record.provider());
        List<String> foreign = isForeign ? List.of("provider") : List.of(), warnings = new ArrayList<>();
        Reply reply = new Reply(
            record.publicKey(), null, null, null, options.provider, options.certificate, foreign, options.pushKeyText(), null, isGrantEnded);
        Certificate stale = neverIssued(record.certificate(), device.topic(), options);
        if (isForeign) warnings.add(id + " names a provider key that you never had: somebody else has enrolled the phone");
        if (stale != null) warnings.add(id + " shows a certificate that you never issued: your store is an old copy, or somebody has your provider key");
        if (record.token() != null && record.environment() == null) warnings.add(id + " has a token without an environment: it is stored as one of production");
        return new Accepted(device, changes, reply, stale, foreign, List.copyOf(warnings));
    }

    /**
     * Decides about what a phone posts after a log-out, without a session: an end, signed under its update key [D-23] to [D-26]. It changes nothing.
     *
     * @param record what the phone sent
     * @param signature what it sent beside it
     * @param devices your store, in the transaction in which you store the result
     * @param options what else you know
     * @return what to store and to answer; {@code null} for any other record, which is for {@link #accept}
     * @throws PushcryptException {@code malformed-record}, or the code of a key; {@code unknown-device}, {@code bad-record-signature} or {@code stale-record}:
     *     answer with {@link Reply#refusal(PushcryptException, Certificate)}
     * @throws IllegalArgumentException for a look-up that returns a device that was not asked for
     */
    public static Accepted acceptEnd(byte[] record, byte[] signature, Devices devices, AcceptOptions options) {
        Payload.Members members = Payload.parse(record, Code.MALFORMED_RECORD);
        if (!Boolean.TRUE.equals(members.get("ended"))) return null;
        String id = Records.text(members, "device"), provider = Records.text(members, "provider");
        Long sequence = Records.integer(members, "sequence");
        boolean isLast = sequence != null && sequence == Format.LARGEST_TIME, hasNonce = Records.matching(members, "nonce", DeviceRecord.NONCE) != null;
        Records.rule(id != null && Records.isDevice(id) && provider != null && hasNonce && isLast, "an end lacks a member");
        byte[] providerKey = ProviderPublicKey.parse(provider).bytes();
        StoredDevice held = find(devices, id);
        if (held == null || held.isRemoved()) throw new PushcryptException(Code.UNKNOWN_DEVICE);
        byte[] message = concat(ascii("pushcrypt/1 record\0\2"), Envelope.lp16(held.topic()), providerKey, record);
        String key = held.record().updateKey();
        boolean isSigned = key != null && Keys.verifies(Envelope.decode(key, Code.MALFORMED_KEY), signature, message);
        if (!isSigned) throw new PushcryptException(Code.BAD_RECORD_SIGNATURE);
        checkSequence(sequence, held);
        StoredDevice device = held.ended(sequence);
        Reply reply = new Reply(null, null, id, null, options.provider, options.certificate, List.of(), options.pushKeyText(), null, false);
        return new Accepted(device, List.of(device), reply, null, List.of(), List.of());
    }

    private static StoredDevice find(Devices devices, String id) {
        StoredDevice held = devices.find(id);
        boolean isHeld = held == null || held.deviceId().equals(id);
        if (!isHeld) throw new IllegalArgumentException("find(" + id + ") returned another device: one phone would get what is another's");
        return held;
    }

    /** [D-25] */
    private static void checkSequence(Long sequence, StoredDevice held) {
        Long last = held.record().sequence();
        if (sequence != null && last != null && sequence <= last) throw new PushcryptException(Code.STALE_RECORD, Code.STALE_RECORD.description(), last);
    }

    /** [D-22], [D-25] and [D-27] to [D-29]. */
    private static void checkAgainst(DeviceRecord record, StoredDevice held, boolean isSame, String user) {
        long generation = held == null ? 0 : held.record().generation();
        if (held != null) {
            boolean keepsKeys = isSame && (record.updateKey() == null || record.updateKey().equals(held.record().updateKey()));
            if (user == null ? held.user() != null && !keepsKeys : !user.equals(held.user())) throw new PushcryptException(Code.USER_MISMATCH);
            checkSequence(record.sequence(), held);
            if (record.generation() < generation || record.generation() == generation && !isSame) throw new PushcryptException(Code.GENERATION_ROLLBACK);
        }
        if (record.generation() > generation + Format.GENERATION_STEP) throw new PushcryptException(Code.GENERATION_TOO_HIGH);
        if (held != null && held.publicKey().suite() > record.publicKey().suite()) throw new PushcryptException(Code.SUITE_DOWNGRADE);
    }

    /** The device, and what is left of others with its key [D-32] or with its token: one phone of one user got each push twice. */
    private static List<StoredDevice> displacing(StoredDevice device, boolean hasKey, Devices devices) {
        List<StoredDevice> changes = new ArrayList<>(List.of(device));
        for (StoredDevice other : devices.holders(device.publicKey(), device.token())) {
            boolean isKey = other.publicKey().equals(device.publicKey()), isToken = device.token() != null && device.token().equals(other.token());
            boolean isUsers = device.user() != null && device.user().equals(other.user());
            if (!isKey && !isToken) throw new IllegalArgumentException("holders returned " + other.deviceId() + ", which has another key and another token");
            if (other.isRemoved() || other.deviceId().equals(device.deviceId())) continue;
            if (isKey && !hasKey && !isUsers) throw new PushcryptException(Code.KEY_TAKEN);
            boolean isLost = isKey && !hasKey || isUsers && isToken && device.topic().equals(other.topic());
            if (isLost) changes.add(other.ended(other.record().sequence()));
        }
        return List.copyOf(changes);
    }

    /** The record as it is stored, after what is kept of the device. An end outranks all, but for the operator's word [D-26]. */
    private static DeviceRecord merged(DeviceRecord record, StoredDevice held, StoredDevice kept, String topic) {
        boolean isEnded = held != null && held.record().sequence() != null && held.record().sequence() == Format.LARGEST_TIME;
        DeviceRecord old = kept == null ? DeviceRecord.of(record.publicKey(), null, 0) : kept.record(), known = held == null || isEnded ? record : held.record();
        String bound = Objects.requireNonNullElse(record.topic(), Objects.requireNonNullElse(old.topic(), topic));
        boolean keepsTime = record.created() == null && old.publicKey().equals(record.publicKey()), keepsToken = record.token() == null;
        DeviceRecord merged = new DeviceRecord(
            record.deviceId(), record.publicKey(), record.suites(), bound, record.generation(), keepsTime ? old.created() : record.created(),
            record.provider(), null, record.appVersion() == null ? old.appVersion() : record.appVersion(),
            record.token(), record.environment() == null ? "production" : record.environment(), record.grant() == null ? old.grant() : record.grant(),
            record.updateKey() == null ? known.updateKey() : record.updateKey(), record.sequence() == null ? known.sequence() : record.sequence());
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
