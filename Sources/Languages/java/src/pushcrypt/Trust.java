package pushcrypt;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The pins of one account, for one app, and what the phone has learned of provider keys there: Docs/FormatTrust.md, [T-3] to [T-6].
 *
 * <p>An account has one pin, or two while the app changes its provider key by a release. What is learned belongs to the provider key and the app, whatever the
 * account, and only grows: store what is stored {@link Learned#merged} with what came of a message or a reply. Removing a pin removes none of it. It is not
 * safe for several threads.
 */
public final class Trust {
    private static final int MOST_PINS = 2;

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
    public Trust(List<ProviderPublicKey> pins, Map<ProviderPublicKey, Learned> learned) throws PushcryptException {
        this.pins = List.copyOf(pins);
        this.learned = new HashMap<>(Map.copyOf(learned));
        if (pins.size() > MOST_PINS || pins.stream().distinct().count() < pins.size()) throw new PushcryptException("too-many-pins");
    }

    /**
     * Creates a trust in a provider of whom nothing else is known.
     *
     * @param pin its key
     * @return the trust
     */
    public static Trust of(ProviderPublicKey pin) {
        try {
            return new Trust(List.of(pin), Map.of());
        } catch (PushcryptException impossible) {
            throw new IllegalStateException(impossible);
        }
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
    public Change accept(Certificate certificate, String topic) throws PushcryptException {
        Envelope.checkContext(topic);
        PushcryptException refused = new PushcryptException("bad-certificate-signature", "no provider is pinned");
        for (ProviderPublicKey pin : pins) {
            try {
                certificate.check(pin.key, topic);
            } catch (PushcryptException failure) {
                refused = failure;
                continue;
            }
            Learned known = learned(pin);
            learn(pin, known.after(certificate));
            if (certificate.conflicts(known.certificate())) return Change.CONFLICT;
            return known.isRaisedBy(certificate) ? Change.RAISED : Change.UNCHANGED;
        }
        throw refused;
    }

    /** Pins the provider of an account's first reply [D-13]. */
    void pin(ProviderPublicKey first) {
        pins = List.of(first);
    }
}
