package pushcrypt;

import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
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
 * @param provider the provider key that the device has pinned, or {@code null}
 * @param certificate the highest certificate that it knows, or {@code null}
 * @param appVersion the version of the app, or {@code null}
 * @param token the token of APNs in hexadecimal digits, or {@code null}
 * @param environment where the token is valid: {@code production} or {@code development}, or {@code null}
 * @param withdrawal with what the phone can end the device, 32 hexadecimal digits, or {@code null}
 * @param grant a relay's permission, or {@code null}
 */
public record DeviceRecord(
    String deviceId, DevicePublicKey publicKey, List<Integer> suites, String topic, long generation, Long created, ProviderPublicKey provider,
    Certificate certificate, String appVersion, String token, String environment, String withdrawal, String grant) {
    private static final int LONGEST_VERSION = 64;
    private static final Pattern TOKEN = Pattern.compile("(?:[0-9a-f]{2}){1,100}"), ENVIRONMENT = Pattern.compile("production|development");
    private static final Pattern WITHDRAWAL = Pattern.compile("[0-9a-f]{32}"), GRANT = Pattern.compile("[A-Za-z0-9_-]{1,1024}");

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
     * @param withdrawal with what the phone can end the device, 32 hexadecimal digits, or {@code null}
     * @param grant a relay's permission, or {@code null}
     */
    public DeviceRecord {
        Objects.requireNonNull(publicKey, "publicKey");
        suites = List.copyOf(suites);
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
        Records.rule(device == null || Records.isDevice(device), "device has not 1 to 255 bytes, or is blank, has invisible characters or begins like a key");
        Records.rule(version == null || MessageSender.isText(version, LONGEST_VERSION), "app_version has not 1 to 64 bytes, or has control characters");
        List<Integer> suites = Records.suites(members, own);
        Long generation = Records.integer(members, "generation"), created = Records.integer(members, "created");
        String pinned = Records.text(members, "provider");
        Certificate certificate = Records.certificate(members).certificate();
        String token = Records.matching(members, "token", TOKEN), environment = Records.matching(members, "environment", ENVIRONMENT);
        String withdrawal = Records.matching(members, "withdrawal", WITHDRAWAL), grant = Records.matching(members, "grant", GRANT);
        Records.text(members, "key_id");
        DevicePublicKey publicKey = DevicePublicKey.parse(Records.text(members, "public_key"));
        ProviderPublicKey provider = Records.provider(pinned);
        Records.checkId(members, publicKey);
        return new DeviceRecord(
            device, publicKey, suites, topic, generation == null ? 1 : generation, created, provider, certificate, version, token, environment, withdrawal, grant);
    }

    /**
     * Creates a record with what every phone says.
     *
     * @param publicKey the key to seal to
     * @param topic the app's bundle id, or {@code null}
     * @param generation counts the device's keys from 1
     * @return the record
     */
    public static DeviceRecord of(DevicePublicKey publicKey, String topic, long generation) {
        return new DeviceRecord(null, publicKey, List.of(publicKey.suite()), topic, generation, null, null, null, null, null, null, null, null);
    }

    /**
     * Returns whether the record has a certificate by the provider's own key that the provider did not issue [D-33]. Then its store is an old one, or somebody
     * else has the provider key: tell your operator. A certificate by another key is ignored.
     *
     * @param provider the provider key
     * @param topic the app's bundle id
     * @param issued the certificates that the provider issued
     * @return whether there is one
     */
    public boolean showsStaleStore(ProviderPublicKey provider, String topic, List<Certificate> issued) {
        if (certificate == null || issued.stream().anyMatch(certificate::hasClaimOf)) return false;
        try {
            certificate.check(provider.key, topic);
            return true;
        } catch (PushcryptException refused) {
            return false;
        }
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
    public String json() throws PushcryptException {
        String json = Json.object(
            "device", Json.quotedOrNull(deviceId), "public_key", Json.quoted(publicKey.toString()), "key_id", Json.quoted(publicKey.id()), "suite", publicKey.suite(),
            "suites", suites.toString().replace(" ", ""), "topic", Json.quotedOrNull(topic), "generation", generation, "created", created,
            "provider", Json.quotedOrNull(provider), "certificate", Json.quotedOrNull(certificate), "app_version", Json.quotedOrNull(appVersion),
            "token", Json.quotedOrNull(token), "environment", Json.quotedOrNull(environment), "withdrawal", Json.quotedOrNull(withdrawal),
            "grant", Json.quotedOrNull(grant));
        parse(Records.bytes(json));
        return json;
    }
}
