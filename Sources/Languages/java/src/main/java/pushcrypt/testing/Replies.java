package pushcrypt.testing;

import pushcrypt.*;

/** What a phone does with a provider's replies: Docs/FormatRecords.md, "Rules of phones". */
public final class Replies {
    private Replies() {}

    /**
     * What came of a reply.
     *
     * @param confirms whether the record's key is confirmed
     * @param told a code to tell the app of, or {@code null}
     */
    public record Applied(boolean confirms, Code told) {}

    /**
     * Does what a phone does with the reply to its record [D-12], [D-13], [D-20]. Store what changes in the trust in one transaction.
     *
     * @param reply the reply
     * @param key the key of the record
     * @param trust the account's trust, which may change
     * @param topic the app's bundle id
     * @param isBuiltIn whether the app has a provider key built in
     * @return what came of it
     */
    public static Applied apply(Reply reply, DevicePublicKey key, Trust trust, String topic, boolean isBuiltIn) {
        boolean confirms = key.equals(reply.acknowledged());
        if (reply.acknowledged() != null && !confirms) return new Applied(false, null);
        if (confirms && trust.pins().isEmpty() && !isBuiltIn && reply.provider() != null) trust.pin(reply.provider());
        if (reply.certificate() == null || trust.pins().isEmpty()) return new Applied(confirms, reply.refusedCertificate());
        try {
            boolean isConflict = trust.accept(reply.certificate(), topic) == Trust.Change.CONFLICT;
            return new Applied(confirms, isConflict ? Code.CERTIFICATE_CONFLICT : null);
        } catch (PushcryptException refused) {
            return new Applied(confirms, refused.code());
        }
    }
}
