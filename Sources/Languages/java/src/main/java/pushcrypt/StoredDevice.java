package pushcrypt;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import pushcrypt.internal.Json;
import pushcrypt.internal.Payload;
import pushcrypt.internal.Payload.Members;

/**
 * What a provider keeps of a device: store {@link #toJson} in the row of its id. Two are equal if all parts are.
 *
 * @param record the last accepted record, with what earlier ones said and it did not
 * @param user whose device it is, or {@code null}
 * @param isRemoved whether the device was removed: then this only decides about a record that comes later [D-38]
 */
public record StoredDevice(DeviceRecord record, String user, boolean isRemoved) {
    /**
     * Creates a value.
     *
     * @param record the last accepted record, with what earlier ones said and it did not
     * @param user whose device it is, not empty, or {@code null}
     * @param isRemoved whether the device was removed
     */
    public StoredDevice {
        Objects.requireNonNull(record, "record");
        checkUser(user);
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
        return new StoredDevice(DeviceRecord.read(members), user, Boolean.TRUE.equals(removed));
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
        return with(record.withToken(null, null));
    }

    /**
     * Returns the device under an id that the provider gave it, if the record had none.
     *
     * @param deviceId 1 to 255 bytes
     * @return another value
     */
    public StoredDevice withDeviceId(String deviceId) {
        return with(record.withDeviceId(deviceId));
    }

    private StoredDevice with(DeviceRecord changed) {
        return new StoredDevice(changed, user, isRemoved);
    }

    /**
     * Returns what is kept of a device that is removed now: its user, key, suite, generation, update key and sequence [D-38]. Store it instead of the device. What
     * the phone sent before, or says within a day, is older.
     *
     * @return another value
     */
    public StoredDevice removed() {
        long tomorrow = System.currentTimeMillis() + Duration.ofDays(1).toMillis(), held = record.sequence() == null ? 0 : record.sequence();
        DeviceRecord kept = new DeviceRecord(
            record.deviceId(), publicKey(), List.of(publicKey().suite()), topic(), record.generation(), null, null, null, null, null, null, null, record.updateKey(),
            Math.max(held, tomorrow));
        return new StoredDevice(kept, user, true);
    }

    /**
     * Writes the device.
     *
     * @return the members of the record, {@code user} and {@code removed}, as JSON
     * @throws PushcryptException {@code malformed-record} if the record breaks a rule
     */
    public String toJson() {
        Object[] of = record.members(), members = Arrays.copyOf(of, of.length + 4);
        List<Object> own = Arrays.asList("user", Json.quoted(user), "removed", isRemoved ? true : null);
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
