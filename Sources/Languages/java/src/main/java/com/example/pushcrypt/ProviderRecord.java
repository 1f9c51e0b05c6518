package com.example.pushcrypt;

import java.util.Objects;
import com.example.pushcrypt.internal.*;
import com.example.pushcrypt.internal.Payload.Members;

/**
 * What a provider says of itself, in an app or to a phone.
 *
 * @param publicKey the provider key
 * @param topic the app's bundle id, or {@code null}
 * @param generation counts the provider's keys from 1
 * @param created when the key was made, in milliseconds since 1970, or {@code null}
 * @param certificate the current certificate, or {@code null} at epoch 0
 */
public record ProviderRecord(ProviderPublicKey publicKey, String topic, long generation, Long created, Certificate certificate) {
    /**
     * Creates a value.
     *
     * @param publicKey the provider key
     * @param topic the app's bundle id, or {@code null}
     * @param generation counts the provider's keys from 1
     * @param created when the key was made, in milliseconds since 1970, or {@code null}
     * @param certificate the current certificate, or {@code null} at epoch 0
     */
    public ProviderRecord {
        Objects.requireNonNull(publicKey, "publicKey");
    }

    /**
     * Reads a record.
     *
     * @param json the record
     * @return the record
     * @throws PushcryptException {@code malformed-record}, or the code of a key
     */
    public static ProviderRecord fromJson(String json) {
        Members members = Payload.parse(json, Code.MALFORMED_RECORD);
        Records.begin(members);
        Records.checkSuite(members, Format.SUITE);
        String topic = Records.topic(members);
        Long generation = Records.integer(members, "generation"), created = Records.integer(members, "created");
        Certificate certificate = Records.certificate(members);
        Records.text(members, "key_id");
        ProviderPublicKey publicKey = ProviderPublicKey.parse(Records.text(members, "public_key"));
        Records.checkId(members, publicKey);
        return new ProviderRecord(publicKey, topic, generation == null ? 1 : generation, created, certificate);
    }

    /**
     * Writes the record.
     *
     * @return JSON
     * @throws PushcryptException {@code malformed-record} if it breaks a rule
     */
    public String toJson() {
        String json = Json.object(
            "public_key", Json.quoted(publicKey), "key_id", Json.quoted(publicKey.id()), "topic", Json.quoted(topic), "generation", generation,
            "created", created, "certificate", Json.quoted(certificate));
        fromJson(json);
        return json;
    }
}
