package com.example.pushcrypt;

import java.util.*;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import com.example.pushcrypt.internal.*;
import com.example.pushcrypt.internal.Payload.Members;

/**
 * What a provider answers to a record.
 *
 * @param acknowledged the key that it seals to from now on, or {@code null}
 * @param refused why the record was refused, a code, or {@code null}
 * @param ended the id of the device that has ended, or {@code null}
 * @param hello what the phone had posted, or {@code null}
 * @param sequence the one held, beside the refusal {@code stale-record}, or {@code null}
 * @param provider its provider key, or {@code null}
 * @param certificate its current certificate, or {@code null} at epoch 0 [D-37]
 * @param suites the suites of which the phone may make a key
 * @param foreign the members of the record that name a key which it never had
 * @param pushKey the public key with which it signs requests to a relay, 43 characters of base64url, or {@code null}
 * @param nextPushKey the key that will follow, or {@code null}
 * @param grantEnded whether the relay has ended the record's grant
 */
public record Reply(
    DevicePublicKey acknowledged, String refused, String ended, String hello, Long sequence, ProviderPublicKey provider, Certificate certificate,
    List<Integer> suites, List<String> foreign, String pushKey, String nextPushKey, boolean grantEnded) {
    private static final Pattern REASON = Pattern.compile("[a-z0-9-]{1," + Format.LONGEST_REASON + "}");

    /**
     * Creates a value, and copies the lists.
     *
     * @param acknowledged the key that it seals to from now on, or {@code null}
     * @param refused why the record was refused, a code, or {@code null}
     * @param ended the id of the device that has ended, or {@code null}
     * @param hello what the phone had posted, or {@code null}
     * @param sequence the one held, beside the refusal {@code stale-record}, or {@code null}
     * @param provider its provider key, or {@code null}
     * @param certificate its current certificate, or {@code null} at epoch 0 [D-37]
     * @param suites the suites of which the phone may make a key
     * @param foreign the members of the record that name a key which it never had
     * @param pushKey the public key with which it signs requests to a relay, 43 characters of base64url, or {@code null}
     * @param nextPushKey the key that will follow, or {@code null}
     * @param grantEnded whether the relay has ended the record's grant
     */
    public Reply {
        suites = List.copyOf(suites);
        foreign = List.copyOf(foreign);
    }

    /**
     * Creates the reply to a refused record of a provider at epoch 0.
     *
     * @param reason what {@link DeviceRecord#fromJson(String)} or {@link Registration#accept} threw
     * @return the reply
     */
    public static Reply refusal(PushcryptException reason) {
        return refusal(reason, null);
    }

    /**
     * Creates the reply to a refused record.
     *
     * @param reason what {@link DeviceRecord#fromJson(String)} or {@link Registration#accept} threw
     * @param certificate the provider's current certificate, or {@code null} at epoch 0
     * @return the reply
     */
    public static Reply refusal(PushcryptException reason, Certificate certificate) {
        return new Reply(null, reason.code().toString(), null, null, null, null, certificate, List.of(Format.SUITE), List.of(), null, null, false);
    }

    /**
     * Reads a reply.
     *
     * @param json the reply
     * @return the reply
     * @throws PushcryptException {@code malformed-record}, or the code of a key
     */
    public static Reply fromJson(String json) {
        Members members = Payload.parse(json, Code.MALFORMED_RECORD);
        Long version = Records.integer(members, "version");
        Records.rule(version != null && version == 1, "version is not 1");
        String confirmed = Records.text(members, "acknowledged"), refused = Records.text(members, "refused"), own = Records.text(members, "provider");
        String ended = Records.text(members, "ended"), hello = Records.text(members, "hello"), grant = Records.text(members, "grant");
        long kinds = Stream.of(confirmed, refused, ended, hello).filter(Objects::nonNull).count();
        Records.rule(kinds == 1, "there is not one of acknowledged, refused, ended and hello");
        Records.rule(refused == null || REASON.matcher(refused).matches(), "refused is not a reason");
        Records.rule(ended == null || Records.isDevice(ended), "ended is not a device id");
        Records.rule(grant == null || grant.equals("ended"), "grant is not ended");
        Long sequence = Records.integer(members, "sequence");
        List<Integer> suites = Records.suites(members, null);
        List<String> foreign = Records.texts(members, "foreign", Format.MOST_FOREIGN);
        Certificate certificate = Records.certificate(members);
        String pushKey = Records.text(members, "push_key"), nextPushKey = Records.text(members, "next_push_key");
        DevicePublicKey acknowledged = confirmed == null ? null : DevicePublicKey.parse(confirmed);
        ProviderPublicKey provider = Records.provider(own);
        Records.checkKey(pushKey);
        Records.checkKey(nextPushKey);
        return new Reply(acknowledged, refused, ended, hello, sequence, provider, certificate, suites, foreign, pushKey, nextPushKey, grant != null);
    }

    /**
     * Writes the reply.
     *
     * @return JSON
     * @throws PushcryptException {@code malformed-record} if it breaks a rule
     */
    public String toJson() {
        String json = Json.object(
            "version", 1, "acknowledged", Json.quoted(acknowledged), "refused", Json.quoted(refused), "ended", Json.quoted(ended), "hello", Json.quoted(hello),
            "sequence", sequence, "provider", Json.quoted(provider),
            "certificate", Json.quoted(certificate), "suites", suites.equals(List.of(Format.SUITE)) ? null : Records.written(suites),
            "foreign", Json.texts(foreign), "push_key", Json.quoted(pushKey), "next_push_key", Json.quoted(nextPushKey),
            "grant", grantEnded ? "\"ended\"" : null);
        fromJson(json);
        return json;
    }
}
