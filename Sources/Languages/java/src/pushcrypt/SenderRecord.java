package pushcrypt;

import java.util.List;
import java.util.Objects;
import pushcrypt.Payload.Members;

/**
 * What a provider says of itself, in an app or to a phone.
 *
 * @param publicKey the key that it signs with
 * @param topic the app's bundle id, or {@code null}
 * @param generation counts the provider's keys from 1
 * @param created when the key was made, in milliseconds since 1970, or {@code null}
 * @param recoveryKeys at most two
 */
public record SenderRecord(SenderPublicKey publicKey, String topic, long generation, Long created, List<RecoveryPublicKey> recoveryKeys) {
    /**
     * Creates a value, and copies the list.
     *
     * @param publicKey the key that it signs with
     * @param topic the app's bundle id, or {@code null}
     * @param generation counts the provider's keys from 1
     * @param created when the key was made, in milliseconds since 1970, or {@code null}
     * @param recoveryKeys at most two
     */
    public SenderRecord {
        Objects.requireNonNull(publicKey, "publicKey");
        recoveryKeys = List.copyOf(recoveryKeys);
    }

    /**
     * Reads a record.
     *
     * @param json the record
     * @return the record
     * @throws PushcryptException {@code malformed-record}, or the code of a key
     */
    public static SenderRecord parse(byte[] json) throws PushcryptException {
        Members members = Records.begin(json);
        Records.checkSuite(members, Records.SUITE);
        String topic = Records.topic(members);
        Long generation = Records.integer(members, "generation"), created = Records.integer(members, "created");
        List<String> recovery = Records.texts(members, "recovery", 2);
        Records.text(members, "key_id");
        SenderPublicKey publicKey = SenderPublicKey.parse(Records.text(members, "public_key"));
        List<RecoveryPublicKey> recoveryKeys = Records.recoveryKeys(recovery);
        Records.checkId(members, publicKey);
        Records.checkDifferent(publicKey, recoveryKeys);
        return new SenderRecord(publicKey, topic, generation == null ? 1 : generation, created, recoveryKeys);
    }

    /**
     * Writes the record.
     *
     * @return JSON
     * @throws PushcryptException {@code malformed-record} if it breaks a rule
     */
    public String json() throws PushcryptException {
        String json = Json.object(
            "public_key", Json.quoted(publicKey.toString()), "key_id", Json.quoted(publicKey.id()), "topic", Json.quotedOrNull(topic), "generation", generation,
            "created", created, "recovery", Json.texts(recoveryKeys));
        parse(Records.bytes(json));
        return json;
    }
}
