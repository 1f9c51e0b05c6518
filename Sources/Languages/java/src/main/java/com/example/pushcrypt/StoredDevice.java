package com.example.pushcrypt;

import java.time.Duration;
import java.util.*;
import com.example.pushcrypt.internal.*;
import com.example.pushcrypt.internal.Payload.Members;

/**
 * What a provider keeps of a device: store {@link #toJson} in the row of its id. Two are equal if all parts are.
 *
 * @param record the last accepted record, with what earlier ones said and it did not; it has an id and a topic
 * @param user whose device it is, or {@code null}
 * @param isRemoved whether the device was removed: then this only decides about a record that comes later [D-38]
 * @param endedGrant the grant that the relay ended, until the phone brings another, or {@code null}
 */
public record StoredDevice(DeviceRecord record, String user, boolean isRemoved, String endedGrant) {
    /**
     * Creates a value.
     *
     * @param record the last accepted record, with what earlier ones said and it did not; it has an id and a topic
     * @param user whose device it is, not empty, or {@code null}
     * @param isRemoved whether the device was removed
     * @param endedGrant the grant that the relay ended, until the phone brings another, or {@code null}
     */
    public StoredDevice {
        Objects.requireNonNull(record, "record");
        checkUser(user);
        if (record.deviceId() == null || record.topic() == null) throw new IllegalArgumentException("a stored device has an id and a topic");
    }

    /**
     * Creates a value of which the relay ended no grant.
     *
     * @param record the last accepted record, with what earlier ones said and it did not; it has an id and a topic
     * @param user whose device it is, not empty, or {@code null}
     * @param isRemoved whether the device was removed
     */
    public StoredDevice(DeviceRecord record, String user, boolean isRemoved) {
        this(record, user, isRemoved, null);
    }

    /** An empty name would make one user of all whose names a program lost. */
    static void checkUser(String user) {
        if (user != null && (user.isEmpty() || !Json.isUnicode(user))) throw new IllegalArgumentException("a user's name is not empty; null means none");
    }

    /**
     * Reads what {@link #toJson} wrote.
     *
     * @param json the device
     * @return the device
     * @throws PushcryptException {@code malformed-record}, or the code of a key
     */
    public static StoredDevice fromJson(String json) {
        Members members = Payload.parse(json, Code.MALFORMED_RECORD);
        String user = Records.text(members, "user");
        Records.rule(user == null || !user.isEmpty(), "user is empty");
        Object removed = Records.member(members, "removed");
        Records.rule(removed == null || removed instanceof Boolean, "removed is not true or false");
        DeviceRecord record = DeviceRecord.read(members, Format.LARGEST_TIME);
        Records.rule(record.deviceId() != null && record.topic() != null, "there is no device or topic");
        return new StoredDevice(record, user, Boolean.TRUE.equals(removed), Records.matching(members, "ended_grant", DeviceRecord.GRANT));
    }

    /**
     * Returns the id under which it is stored.
     *
     * @return 1 to 255 bytes
     */
    public String deviceId() {
        return record.deviceId();
    }

    /**
     * Returns the key to seal to.
     *
     * @return the device's key
     */
    public DevicePublicKey publicKey() {
        return record.publicKey();
    }

    /**
     * Returns the app.
     *
     * @return its bundle id
     */
    public String topic() {
        return record.topic();
    }

    /**
     * Returns where to send.
     *
     * @return the token of APNs in hexadecimal digits; {@code null} if it is not known
     */
    public String token() {
        return record.token();
    }

    /**
     * Returns the device without its token, after APNs answered 410.
     *
     * @return another value
     */
    public StoredDevice withoutToken() {
        return new StoredDevice(record.withToken(null, null), user, isRemoved, endedGrant);
    }

    /**
     * Returns the device after the relay answered 410 to a push with this grant. {@link Registration#accept} does not take the grant again, and its reply
     * tells the phone to fetch another [D-33].
     *
     * @param grant the grant of the push
     * @return another value; the same if a record has brought another grant since
     */
    public StoredDevice withoutGrant(String grant) {
        return grant.equals(record.grant()) ? new StoredDevice(record.withoutGrant(), user, isRemoved, grant) : this;
    }

    /**
     * Returns what is kept of a device that is removed now: its user, key, suites, topic, generation, update key and sequence [D-38]. Store it instead of the device. A
     * record that the phone sent before does not bring it back: {@link Registration#accept} refuses one whose sequence, a time, is not over a day from now.
     *
     * @return another value
     */
    public StoredDevice removed() {
        long tomorrow = Times.milliseconds(Times.now()) + Duration.ofDays(1).toMillis(), held = record.sequence() == null ? 0 : record.sequence();
        return ended(Math.max(held, tomorrow));
    }

    /** What is kept of a removed device, with another sequence. */
    StoredDevice ended(Long sequence) {
        DeviceRecord kept = new DeviceRecord(
            deviceId(), publicKey(), record.suites(), topic(), record.generation(), record.created(), null, null, null, null, null, null, record.updateKey(), sequence);
        return new StoredDevice(kept, user, true);
    }

    /**
     * Writes the device.
     *
     * @return the members of the record, {@code user}, {@code removed} and {@code ended_grant}, as JSON
     * @throws PushcryptException {@code malformed-record} if the record breaks a rule
     */
    public String toJson() {
        Object[] of = record.members(), members = Arrays.copyOf(of, of.length + 6);
        List<Object> own = Arrays.asList("user", Json.quoted(user), "removed", isRemoved ? true : null, "ended_grant", Json.quoted(endedGrant));
        for (int at = 0; at < own.size(); at++) members[of.length + at] = own.get(at);
        String json = Json.object(members);
        fromJson(json);
        return json;
    }

    /** Returns the id, the key and the generation. */
    @Override
    public String toString() {
        return "StoredDevice(" + record.deviceId() + ", " + publicKey().id() + ", " + record.generation() + (isRemoved ? ", removed)" : ")");
    }
}
