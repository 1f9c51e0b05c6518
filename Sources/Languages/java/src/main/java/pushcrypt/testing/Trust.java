package pushcrypt.testing;

import java.util.*;
import pushcrypt.*;
import pushcrypt.internal.*;

/**
 * The pins of one account, for one app, and what the phone has learned of provider keys there: Docs/FormatTrust.md, [T-3] to [T-6].
 *
 * <p>An account has one pin, or two while the app changes its provider key by a release. What is learned belongs to the provider key and the app, whatever the
 * account, and only grows: store what is stored {@link Learned#merged} with what came of a message or a reply. Removing a pin removes none of it. It changes, and is
 * not safe for several threads. Two are equal if pins and what is learned are.
 */
public final class Trust {
    private List<ProviderPublicKey> pins;
    private final Map<ProviderPublicKey, Learned> learned;

    /** What an accepted certificate did. */
    public enum Change {
        /** It raised what is known. */
        RAISED,
        /** It was known, or less than what is. */
        UNCHANGED,
        /** Another certificate of its epoch is known: of a restored store, or a stolen provider key. Tell the app. */
        CONFLICT
    }

    /**
     * Creates a trust.
     *
     * @param pins none, one or two
     * @param learned what is stored of provider keys, also of others
     * @throws PushcryptException {@code too-many-pins}
     */
    public Trust(List<ProviderPublicKey> pins, Map<ProviderPublicKey, Learned> learned) {
        this.pins = List.copyOf(pins);
        this.learned = new LinkedHashMap<>(Map.copyOf(learned));
        if (pins.size() > Format.MOST_PINS || pins.stream().distinct().count() < pins.size()) throw new PushcryptException(Code.TOO_MANY_PINS);
    }

    /**
     * Creates a trust in a provider of whom nothing else is known.
     *
     * @param pin its key
     * @return the trust
     */
    public static Trust of(ProviderPublicKey pin) {
        return new Trust(List.of(pin), Map.of());
    }

    /**
     * Reads what {@link #toJson} wrote.
     *
     * @param json the trust
     * @return the trust
     * @throws PushcryptException {@code malformed-record}, {@code too-many-pins}, or the code of a key or certificate
     */
    public static Trust fromJson(String json) {
        Map<String, Object> members = Payload.parse(json, Code.MALFORMED_RECORD);
        if (!(members.get("pins") instanceof List<?> pins) || !(members.get("learned") instanceof Map<?, ?> learned)) throw malformed();
        List<ProviderPublicKey> keys = new ArrayList<>();
        for (Object pin : pins) keys.add(ProviderPublicKey.parse(text(pin)));
        Map<ProviderPublicKey, Learned> known = new HashMap<>();
        learned.forEach((key, value) -> {
            boolean isGood = value instanceof Map<?, ?> one && one.get("floor") instanceof Payload.Number floor && floor.isInteger() && floor.text().length() <= 10;
            if (!isGood) throw malformed();
            Map<?, ?> one = (Map<?, ?>) value;
            Certificate certificate = one.get("certificate") == null ? null : Certificate.parse(text(one.get("certificate")));
            known.put(ProviderPublicKey.parse(text(key)), new Learned(certificate, Long.parseLong(((Payload.Number) one.get("floor")).text())));
        });
        return new Trust(keys, known);
    }

    private static PushcryptException malformed() {
        return new PushcryptException(Code.MALFORMED_RECORD, "this is not a stored trust");
    }

    private static String text(Object value) {
        if (!(value instanceof String text)) throw malformed();
        return text;
    }

    /**
     * Writes the trust.
     *
     * @return JSON: the pins, and for each provider key certificate and floor
     */
    public String toJson() {
        List<Object> known = new ArrayList<>();
        learned.forEach((key, value) -> {
            known.add(key.toString());
            known.add(Json.object("certificate", Json.quoted(value.certificate()), "floor", value.floor()));
        });
        return Json.object("pins", Objects.requireNonNullElse(Json.texts(pins), "[]"), "learned", Json.object(known.toArray()));
    }

    /**
     * Returns the provider keys of the account.
     *
     * @return none, one or two
     */
    public List<ProviderPublicKey> pins() {
        return pins;
    }

    /**
     * Returns what is known of a provider key, pinned or not.
     *
     * @param key the key
     * @return its highest certificate and floor
     */
    public Learned learned(ProviderPublicKey key) {
        return learned.getOrDefault(key, Learned.NOTHING);
    }

    /**
     * Merges what came of a message [O-9.1].
     *
     * @param key the provider key
     * @param more what is known of it now
     */
    public void learn(ProviderPublicKey key, Learned more) {
        learned.put(key, learned(key).merged(more));
    }

    /**
     * Learns a certificate of a reply, for the first pin that verifies it.
     *
     * @param certificate the certificate
     * @param topic the app's bundle id
     * @return what it did
     * @throws PushcryptException {@code weak-key}, {@code bad-certificate-signature} or {@code wrong-topic}
     */
    public Change accept(Certificate certificate, String topic) {
        Envelope.checkContext(topic);
        PushcryptException refused = new PushcryptException(Code.BAD_CERTIFICATE_SIGNATURE, "no provider is pinned");
        for (ProviderPublicKey pin : pins) {
            try {
                certificate.verify(pin, topic);
            } catch (PushcryptException failure) {
                refused = failure;
                continue;
            }
            Learned known = learned(pin);
            learn(pin, known.after(certificate));
            if (known.conflictsWith(certificate)) return Change.CONFLICT;
            return known.isRaisedBy(certificate) ? Change.RAISED : Change.UNCHANGED;
        }
        throw refused;
    }

    /** Pins the provider of an account's first reply [D-13]. */
    void pin(ProviderPublicKey first) {
        pins = List.of(first);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Trust trust && pins.equals(trust.pins) && learned.equals(trust.learned);
    }

    @Override
    public int hashCode() {
        return pins.hashCode();
    }

    /** Returns the ids of the pins. */
    @Override
    public String toString() {
        return "Trust(" + String.join(", ", pins.stream().map(ProviderPublicKey::id).toList()) + ")";
    }
}
