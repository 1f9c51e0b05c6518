package pushcrypt;

import java.util.List;
import java.util.Objects;
import pushcrypt.Payload.Members;

/**
 * What a phone sends to its provider. The provider takes the device's id, and its user, from the session that sent the record.
 *
 * @param deviceId the id under which the provider keeps the device, or {@code null}
 * @param publicKey the key to seal to; one of suite 2 can be held, but not sealed to
 * @param suites the suites that the device opens
 * @param topic the app's bundle id, or {@code null}
 * @param generation counts the device's keys from 1
 * @param created when the key was made, in milliseconds since 1970, or {@code null}
 * @param sender the sender key that the device trusts, or {@code null}
 * @param recoveryKeys the device's recovery keys of that sender
 * @param appVersion the version of the app, or {@code null}
 */
public record DeviceRecord(
    String deviceId, DevicePublicKey publicKey, List<Integer> suites, String topic, long generation, Long created, SenderPublicKey sender,
    List<RecoveryPublicKey> recoveryKeys, String appVersion) {
    private static final int LONGEST_VERSION = 64;

    /**
     * Creates a value, and copies the lists.
     *
     * @param deviceId the id under which the provider keeps the device, or {@code null}
     * @param publicKey the key to seal to; one of suite 2 can be held, but not sealed to
     * @param suites the suites that the device opens
     * @param topic the app's bundle id, or {@code null}
     * @param generation counts the device's keys from 1
     * @param created when the key was made, in milliseconds since 1970, or {@code null}
     * @param sender the sender key that the device trusts, or {@code null}
     * @param recoveryKeys the device's recovery keys of that sender
     * @param appVersion the version of the app, or {@code null}
     */
    public DeviceRecord {
        Objects.requireNonNull(publicKey, "publicKey");
        suites = List.copyOf(suites);
        recoveryKeys = List.copyOf(recoveryKeys);
    }

    /**
     * Reads a record.
     *
     * @param json the record
     * @return the record
     * @throws PushcryptException {@code malformed-record}, or the code of a key
     */
    public static DeviceRecord parse(byte[] json) throws PushcryptException {
        Members members = Records.begin(json);
        int own = Records.suiteOf(Records.text(members, "public_key"));
        Records.checkSuite(members, own);
        String device = Records.text(members, "device"), version = Records.text(members, "app_version"), topic = Records.topic(members);
        Records.rule(device == null || Records.isDevice(device), "device has not 1 to 255 bytes, or is blank, has control characters or begins like a key");
        Records.rule(version == null || MessageSender.isText(version, LONGEST_VERSION), "app_version has not 1 to 64 bytes, or has control characters");
        List<Integer> suites = Records.suites(members, own);
        Long generation = Records.integer(members, "generation"), created = Records.integer(members, "created");
        String pinned = Records.text(members, "sender");
        List<String> recovery = Records.texts(members, "recovery", 2);
        Records.text(members, "key_id");
        DevicePublicKey publicKey = DevicePublicKey.parse(Records.text(members, "public_key"));
        SenderPublicKey sender = Records.sender(pinned);
        List<RecoveryPublicKey> recoveryKeys = Records.recoveryKeys(recovery);
        Records.checkId(members, publicKey);
        Records.checkDifferent(sender, recoveryKeys);
        return new DeviceRecord(device, publicKey, suites, topic, generation == null ? 1 : generation, created, sender, recoveryKeys, version);
    }

    /**
     * Writes the record.
     *
     * @return JSON
     * @throws PushcryptException {@code malformed-record} if it breaks a rule
     */
    public String json() throws PushcryptException {
        String json = Json.object(
            "device", Json.quotedOrNull(deviceId), "public_key", Json.quoted(publicKey.toString()), "key_id", Json.quoted(publicKey.id()), "suite", publicKey.suite(),
            "suites", suites.toString().replace(" ", ""), "topic", Json.quotedOrNull(topic), "generation", generation, "created", created,
            "sender", Json.quotedOrNull(sender), "recovery", Json.texts(recoveryKeys), "app_version", Json.quotedOrNull(appVersion));
        parse(Records.bytes(json));
        return json;
    }
}
