package pushcrypt;

import java.util.List;
import java.util.regex.Pattern;
import pushcrypt.Payload.Members;

/**
 * What a provider answers to a record.
 *
 * @param acknowledged the key that it seals to from now on, or {@code null}
 * @param refused why the record was refused, a code, or {@code null}
 * @param provider its provider key, or {@code null}
 * @param certificate its current certificate, or {@code null} at epoch 0 [D-26]
 * @param suites the suites of which the phone may make a key
 * @param foreign the members of the record that name a key which it never had
 * @param pushKey the public key with which it signs requests to a relay, 43 characters of base64url, or {@code null}
 * @param refusedCertificate why a certificate that came is ignored [D-20], or {@code null}; it is not written
 */
public record Reply(
    DevicePublicKey acknowledged, String refused, ProviderPublicKey provider, Certificate certificate, List<Integer> suites, List<String> foreign, String pushKey,
    String refusedCertificate) {
    private static final Pattern REASON = Pattern.compile("[a-z0-9-]{1,64}");
    private static final int MOST_FOREIGN = 16;

    /**
     * What came of a reply.
     *
     * @param confirms whether the record's key is confirmed
     * @param told a code to tell the app of, or {@code null}
     */
    public record Applied(boolean confirms, String told) {}

    /**
     * Creates a value, and copies the lists.
     *
     * @param acknowledged the key that it seals to from now on, or {@code null}
     * @param refused why the record was refused, a code, or {@code null}
     * @param provider its provider key, or {@code null}
     * @param certificate its current certificate, or {@code null} at epoch 0 [D-26]
     * @param suites the suites of which the phone may make a key
     * @param foreign the members of the record that name a key which it never had
     * @param pushKey the public key with which it signs requests to a relay, 43 characters of base64url, or {@code null}
     * @param refusedCertificate why a certificate that came is ignored [D-20], or {@code null}; it is not written
     */
    public Reply {
        suites = List.copyOf(suites);
        foreign = List.copyOf(foreign);
    }

    /**
     * Creates the reply to an accepted record.
     *
     * @param key the record's key
     * @param provider the provider key
     * @param certificate its current certificate, or {@code null} at epoch 0
     * @return the reply
     */
    public static Reply acknowledge(DevicePublicKey key, ProviderPublicKey provider, Certificate certificate) {
        return new Reply(key, null, provider, certificate, List.of(Records.SUITE), List.of(), null, null);
    }

    /**
     * Creates the reply to a refused record.
     *
     * @param reason the refusal
     * @param certificate the provider's current certificate, or {@code null} at epoch 0
     * @return the reply
     */
    public static Reply refuse(PushcryptException reason, Certificate certificate) {
        return new Reply(null, reason.code(), null, certificate, List.of(Records.SUITE), List.of(), null, null);
    }

    /**
     * Reads a reply.
     *
     * @param json the reply
     * @return the reply
     * @throws PushcryptException {@code malformed-record}, or the code of a key
     */
    public static Reply parse(byte[] json) throws PushcryptException {
        Members members = Records.parse(json);
        Long version = Records.integer(members, "version");
        Records.rule(version != null && version == 1, "version is not 1");
        String confirmed = Records.text(members, "acknowledged"), refused = Records.text(members, "refused"), own = Records.text(members, "provider");
        Records.rule((confirmed == null) != (refused == null), "there is not either acknowledged or refused");
        Records.rule(refused == null || REASON.matcher(refused).matches(), "refused is not a reason");
        List<Integer> suites = Records.suites(members, null);
        List<String> foreign = Records.texts(members, "foreign", MOST_FOREIGN);
        Records.Read read = Records.certificate(members);
        String pushKey = Records.text(members, "push_key");
        DevicePublicKey acknowledged = confirmed == null ? null : DevicePublicKey.parse(confirmed);
        ProviderPublicKey provider = Records.provider(own);
        if (pushKey != null) Records.checkPushKey(pushKey);
        return new Reply(acknowledged, refused, provider, read.certificate(), suites, foreign, pushKey, read.refused());
    }

    /**
     * Writes the reply.
     *
     * @return JSON
     * @throws PushcryptException {@code malformed-record} if it breaks a rule
     */
    public String json() throws PushcryptException {
        String json = Json.object(
            "version", 1, "acknowledged", Json.quotedOrNull(acknowledged), "refused", Json.quotedOrNull(refused), "provider", Json.quotedOrNull(provider),
            "certificate", Json.quotedOrNull(certificate), "suites", suites.equals(List.of(Records.SUITE)) ? null : suites.toString().replace(" ", ""),
            "foreign", Json.texts(foreign), "push_key", Json.quotedOrNull(pushKey));
        parse(Records.bytes(json));
        return json;
    }

    /**
     * Does what a phone does with this reply to its record [D-12], [D-13], [D-20]. Store what changes in the trust in one transaction.
     *
     * @param key the key of the record
     * @param trust the account's trust, which may change
     * @param topic the app's bundle id
     * @param isBuiltIn whether the app has a provider key built in
     * @return what came of it
     */
    public Applied apply(DevicePublicKey key, Trust trust, String topic, boolean isBuiltIn) {
        boolean confirms = key.equals(acknowledged);
        if (acknowledged != null && !confirms) return new Applied(false, null);
        if (confirms && trust.pins().isEmpty() && !isBuiltIn && provider != null) trust.pin(provider);
        if (certificate == null || trust.pins().isEmpty()) return new Applied(confirms, refusedCertificate);
        try {
            return new Applied(confirms, trust.accept(certificate, topic) == Trust.Change.CONFLICT ? "certificate-conflict" : null);
        } catch (PushcryptException refused) {
            return new Applied(confirms, refused.code());
        }
    }
}
