package pushcrypt;

import java.util.List;
import java.util.regex.Pattern;
import pushcrypt.Payload.Members;

/**
 * What a provider answers to a record.
 *
 * @param acknowledged the key that it seals to from now on, or {@code null}
 * @param refused why the record was refused, a code, or {@code null}
 * @param sender the key that it signs with, or {@code null}
 * @param recoveryKeys its recovery keys, at most two
 * @param foreign the members of the record that name a key which it never had
 */
public record Reply(
    DevicePublicKey acknowledged, String refused, SenderPublicKey sender, List<RecoveryPublicKey> recoveryKeys, List<String> foreign) {
    private static final Pattern REASON = Pattern.compile("[a-z0-9-]{1,64}");
    private static final int MOST_FOREIGN = 16;

    /**
     * What a phone has of its provider.
     *
     * @param publicKey the key that its record had
     * @param pinned the sender key that it trusts, or {@code null}
     * @param recoveryKeys its recovery keys of that sender
     * @param hasSenderBuiltIn whether the app has a sender key built in
     * @param hasRecoveryBuiltIn whether the app has a recovery key built in
     */
    public record Phone(
        DevicePublicKey publicKey, SenderPublicKey pinned, List<RecoveryPublicKey> recoveryKeys, boolean hasSenderBuiltIn, boolean hasRecoveryBuiltIn) {}

    /**
     * What a phone trusts after a reply.
     *
     * @param confirms whether its key is confirmed
     * @param pinned the sender key, or {@code null}
     * @param recoveryKeys the recovery keys
     */
    public record Applied(boolean confirms, SenderPublicKey pinned, List<RecoveryPublicKey> recoveryKeys) {}

    /**
     * Creates a value, and copies the lists.
     *
     * @param acknowledged the key that it seals to from now on, or {@code null}
     * @param refused why the record was refused, a code, or {@code null}
     * @param sender the key that it signs with, or {@code null}
     * @param recoveryKeys its recovery keys, at most two
     * @param foreign the members of the record that name a key which it never had
     */
    public Reply {
        recoveryKeys = List.copyOf(recoveryKeys);
        foreign = List.copyOf(foreign);
    }

    /**
     * Creates the reply to an accepted record.
     *
     * @param key the record's key
     * @param sender the key that the provider signs with
     * @return the reply
     */
    public static Reply acknowledge(DevicePublicKey key, SenderPublicKey sender) {
        return new Reply(key, null, sender, List.of(), List.of());
    }

    /**
     * Creates the reply to a refused record.
     *
     * @param reason the refusal
     * @return the reply
     */
    public static Reply refuse(PushcryptException reason) {
        return new Reply(null, reason.code(), null, List.of(), List.of());
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
        String confirmed = Records.text(members, "acknowledged"), refused = Records.text(members, "refused"), own = Records.text(members, "sender");
        Records.rule((confirmed == null) != (refused == null), "there is not either acknowledged or refused");
        Records.rule(refused == null || REASON.matcher(refused).matches(), "refused is not a reason");
        Records.suites(members, null);
        List<String> recovery = Records.texts(members, "recovery", 2), foreign = Records.texts(members, "foreign", MOST_FOREIGN);
        DevicePublicKey acknowledged = confirmed == null ? null : DevicePublicKey.parse(confirmed);
        SenderPublicKey sender = Records.sender(own);
        List<RecoveryPublicKey> recoveryKeys = Records.recoveryKeys(recovery);
        Records.checkDifferent(sender, recoveryKeys);
        return new Reply(acknowledged, refused, sender, recoveryKeys, foreign);
    }

    /**
     * Writes the reply.
     *
     * @return JSON
     * @throws PushcryptException {@code malformed-record} if it breaks a rule
     */
    public String json() throws PushcryptException {
        String json = Json.object(
            "version", 1, "acknowledged", Json.quotedOrNull(acknowledged), "refused", Json.quotedOrNull(refused), "sender", Json.quotedOrNull(sender),
            "recovery", Json.texts(recoveryKeys), "foreign", Json.texts(foreign));
        parse(Records.bytes(json));
        return json;
    }

    /**
     * Returns what a phone trusts after this reply [D-12], [D-13], [D-20]. A refusal changes nothing here.
     *
     * @param phone what it has
     * @return what it has then
     */
    public Applied apply(Phone phone) {
        boolean confirms = phone.publicKey().equals(acknowledged);
        boolean pins = confirms && phone.pinned() == null && !phone.hasSenderBuiltIn() && sender != null;
        boolean takes = pins && phone.recoveryKeys().isEmpty() && !phone.hasRecoveryBuiltIn();
        return new Applied(confirms, pins ? sender : phone.pinned(), takes ? recoveryKeys : List.copyOf(phone.recoveryKeys()));
    }
}
