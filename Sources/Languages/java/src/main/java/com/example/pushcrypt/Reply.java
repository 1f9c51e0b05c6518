package com.example.pushcrypt;

import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import com.example.pushcrypt.internal.*;

/**
 * What a provider answers to a record.
 *
 * @param acknowledged the key that it seals to from now on, or {@code null}
 * @param refused why the record was refused, a code, or {@code null}
 * @param ended the device that has logged out, or {@code null}
 * @param sequence the held one, with the reason {@code stale-record}, or {@code null}
 * @param provider its provider key, or {@code null}
 * @param certificate its current certificate, or {@code null} at epoch 0 [D-37]
 * @param foreign the members of the record that name a key which it never had
 * @param pushKey the public key with which it signs requests to a relay, 43 characters of base64url, or {@code null}
 * @param nextPushKey the key that will follow, or {@code null}
 * @param grantEnded whether the relay has ended the record's grant
 */
public record Reply(
    DevicePublicKey acknowledged, String refused, String ended, Long sequence, ProviderPublicKey provider, Certificate certificate,
    List<String> foreign, String pushKey, String nextPushKey, boolean grantEnded) {
    private static final Pattern REASON = Pattern.compile("[a-z0-9-]{1," + Format.LONGEST_REASON + "}");

    /**
     * Creates a value, and copies the list.
     *
     * @param acknowledged the key that it seals to from now on, or {@code null}
     * @param refused why the record was refused, a code, or {@code null}
     * @param ended the device that has logged out, or {@code null}
     * @param sequence the held one, with the reason {@code stale-record}, or {@code null}
     * @param provider its provider key, or {@code null}
     * @param certificate its current certificate, or {@code null} at epoch 0 [D-37]
     * @param foreign the members of the record that name a key which it never had
     * @param pushKey the public key with which it signs requests to a relay, 43 characters of base64url, or {@code null}
     * @param nextPushKey the key that will follow, or {@code null}
     * @param grantEnded whether the relay has ended the record's grant
     * @throws PushcryptException {@code malformed-record} if it breaks a rule, or the code of a key
     */
    public Reply {
        foreign = List.copyOf(foreign);
        long verdicts = Stream.of(acknowledged, refused, ended).filter(Objects::nonNull).count();
        Records.rule(verdicts == 1, "there is not one of acknowledged, refused and ended");
        Records.rule(ended == null || Records.isDevice(ended), "ended is no device");
        Records.rule(refused == null || REASON.matcher(refused).matches(), "refused is not a reason");
        Records.rule(foreign.size() <= Format.MOST_FOREIGN, "foreign has over 16 members");
        Records.checkKey(pushKey);
        Records.checkKey(nextPushKey);
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
        return new Reply(null, reason.code().toString(), null, reason.sequence(), null, certificate, List.of(), null, null, false);
    }

    /**
     * Writes the reply.
     *
     * @return JSON
     */
    public String toJson() {
        return Json.object(
            "version", 1, "acknowledged", Json.quoted(acknowledged), "refused", Json.quoted(refused),
            "ended", Json.quoted(ended), "sequence", sequence, "provider", Json.quoted(provider), "certificate", Json.quoted(certificate), "foreign", Json.texts(foreign),
            "push_key", Json.quoted(pushKey), "next_push_key", Json.quoted(nextPushKey), "grant", grantEnded ? "\"ended\"" : null);
    }
}
