package com.example.pushcrypt;

import java.util.*;
import java.util.regex.Pattern;
import com.example.pushcrypt.internal.*;
import com.example.pushcrypt.internal.Payload.Members;

/**
 * What a phone sends to its provider. The provider takes the device's id, and its user, from the session that sent the record.
 *
 * @param deviceId the id under which the provider keeps the device, or {@code null}
 * @param publicKey the key to seal to; one of suite 2 can be held, but not sealed to
 * @param suites the suites that the device opens
 * @param topic the app's bundle id, or {@code null}
 * @param generation counts the device's keys from 1
 * @param created when the key was made, in milliseconds since 1970, or {@code null}
 * @param provider the provider key that the device has pinned, or {@code null}
 * @param certificate the highest certificate that it knows, or {@code null}
 * @param appVersion the version of the app, or {@code null}
 * @param token the token of APNs in hexadecimal digits, or {@code null}
 * @param environment where the token is valid: {@code production} or {@code development}, or {@code null}
 * @param grant a relay's permission, or {@code null}
 * @param updateKey the key that signs the device's records without a session, 43 characters of base64url, or {@code null}
 * @param sequence the number of the record, 1 to 2^53 - 2, of which a later one has a higher one, or {@code null}
 */
public record DeviceRecord(
    String deviceId, DevicePublicKey publicKey, List<Integer> suites, String topic, long generation, Long created, ProviderPublicKey provider,
    Certificate certificate, String appVersion, String token, String environment, String grant, String updateKey, Long sequence) {
    private static final Pattern TOKEN = Pattern.compile("(?:[0-9a-f]{2}){1," + Format.LONGEST_TOKEN / 2 + "}"), ENVIRONMENT = Pattern.compile("production|development");
    static final Pattern GRANT = Pattern.compile("[A-Za-z0-9_-]{1," + Format.LONGEST_GRANT + "}"), NONCE = Pattern.compile("[A-Za-z0-9_-]{21}[AQgw]");

    /**
     * Creates a value, and copies the lists.
     *
     * @param deviceId the id under which the provider keeps the device, or {@code null}
     * @param publicKey the key to seal to; one of suite 2 can be held, but not sealed to
     * @param suites the suites that the device opens
     * @param topic the app's bundle id, or {@code null}
     * @param generation counts the device's keys from 1
     * @param created when the key was made, in milliseconds since 1970, or {@code null}
     * @param provider the provider key that the device has pinned, or {@code null}
     * @param certificate the highest certificate that it knows, or {@code null}
     * @param appVersion the version of the app, or {@code null}
     * @param token the token of APNs in hexadecimal digits, or {@code null}
     * @param environment where the token is valid: {@code production} or {@code development}, or {@code null}
     * @param grant a relay's permission, or {@code null}
     * @param updateKey the key that signs the device's records without a session, 43 characters of base64url, or {@code null}
     * @param sequence the number of the record, 1 to 2^53 - 2, of which a later one has a higher one, or {@code null}
     */
    public DeviceRecord {
        Objects.requireNonNull(publicKey, "publicKey");
        suites = List.copyOf(suites);
        if (generation < 0) throw new IllegalArgumentException("a generation is 0 or more");
    }

    /**
     * Reads a record.
     *
     * @param json the record
     * @return the record
     * @throws PushcryptException {@code malformed-record}, or the code of a key
     */
    public static DeviceRecord fromJson(String json) {
        return read(Payload.parse(json, Code.MALFORMED_RECORD), Format.LARGEST_TIME - 1);
    }

    /**
     * Reads a record.
     *
     * @param json the record in UTF-8
     * @return the record
     * @throws PushcryptException {@code malformed-record}, or the code of a key
     */
    public static DeviceRecord fromJson(byte[] json) {
        return read(Payload.parse(json, Code.MALFORMED_RECORD), Format.LARGEST_TIME - 1);
    }

    /** Reads a record, whose sequence is at most this. */
    static DeviceRecord read(Members members, long most) {
        Records.begin(members);
        int own = Records.suiteOf(Records.text(members, "public_key"));
        Records.checkSuite(members, own);
        String device = Records.text(members, "device"), version = Records.text(members, "app_version"), topic = Records.topic(members);
        Records.rule(device == null || Records.isDevice(device), "device has not 1 to 255 bytes, or is blank, has invisible characters or begins like a key");
        Records.rule(version == null || Person.isText(version, Format.LONGEST_APP_VERSION), "app_version has not 1 to 64 bytes, or has control characters");
        List<Integer> suites = Records.suites(members, own);
        Long generation = Records.integer(members, "generation"), created = Records.integer(members, "created");
        String pinned = Records.text(members, "provider");
        Certificate certificate = Records.certificate(members);
        String token = Records.matching(members, "token", TOKEN), environment = Records.matching(members, "environment", ENVIRONMENT);
        String grant = Records.matching(members, "grant", GRANT), updateKey = Records.text(members, "update_key");
        Long sequence = Records.integer(members, "sequence");
        Records.rule(sequence == null || sequence > 0 && sequence <= most, "sequence is not from 1 to 2^53 - 2");
        Records.matching(members, "nonce", NONCE);
        Records.rule(Records.member(members, "ended") == null, "ended is of a signed end alone");
        Records.text(members, "key_id");
        DevicePublicKey publicKey = DevicePublicKey.parse(Records.text(members, "public_key"));
        ProviderPublicKey provider = Records.provider(pinned);
        Records.checkKey(updateKey);
        Records.checkId(members, publicKey);
        return new DeviceRecord(
            device, publicKey, suites, topic, generation == null ? 1 : generation, created, provider, certificate, version, token, environment, grant, updateKey,
            sequence);
    }

    /**
     * Creates a record with what every phone says.
     *
     * @param publicKey the key to seal to
     * @param topic the app's bundle id, or {@code null}
     * @param generation counts the device's keys from 1
     * @return the record
     * @throws IllegalArgumentException for a negative generation
     */
    public static DeviceRecord of(DevicePublicKey publicKey, String topic, long generation) {
        return new DeviceRecord(null, publicKey, List.of(publicKey.suite()), topic, generation, null, null, null, null, null, null, null, null, null);
    }

    DeviceRecord withToken(String token, String environment) {
        return new DeviceRecord(
            deviceId, publicKey, suites, topic, generation, created, provider, certificate, appVersion, token, environment, grant, updateKey, sequence);
    }

    DeviceRecord withoutGrant() {
        return new DeviceRecord(
            deviceId, publicKey, suites, topic, generation, created, provider, certificate, appVersion, token, environment, null, updateKey, sequence);
    }

    DeviceRecord withDeviceId(String deviceId) {
        return new DeviceRecord(
            deviceId, publicKey, suites, topic, generation, created, provider, certificate, appVersion, token, environment, grant, updateKey, sequence);
    }

    /** Returns the id, the key and the generation. */
    @Override
    public String toString() {
        return "DeviceRecord(" + deviceId + ", " + publicKey.id() + ", " + generation + ")";
    }

    /**
     * Writes the record.
     *
     * @return JSON
     * @throws PushcryptException {@code malformed-record} if it breaks a rule
     */
    public String toJson() {
        String json = Json.object(members());
        fromJson(json);
        return json;
    }

    /** Names and values as they are written. */
    Object[] members() {
        return new Object[] {
            "device", Json.quoted(deviceId), "public_key", Json.quoted(publicKey), "key_id", Json.quoted(publicKey.id()), "suite", publicKey.suite(),
            "suites", Records.written(suites), "topic", Json.quoted(topic), "generation", generation, "created", created,
            "provider", Json.quoted(provider), "certificate", Json.quoted(certificate), "app_version", Json.quoted(appVersion),
            "token", Json.quoted(token), "environment", Json.quoted(environment), "grant", Json.quoted(grant),
            "update_key", Json.quoted(updateKey), "sequence", sequence};
    }
}
