package pushcrypt;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import pushcrypt.internal.Envelope;

/**
 * What a provider knows when it decides about a record:
 *
 * <pre>{@code AcceptOptions.builder(sealer.provider(), "com.example.app").certificate(current).issued(all).build()}</pre>
 */
public final class AcceptOptions {
    final ProviderPublicKey provider;
    final String topic;
    final Certificate certificate;
    final List<Certificate> issued;
    final Set<ProviderPublicKey> ownKeys;
    final StoredDevice elsewhere;
    final boolean replaces;
    final byte[] pushKey;

    private AcceptOptions(Builder builder) {
        provider = builder.provider;
        topic = builder.topic;
        certificate = builder.certificate;
        issued = builder.issued;
        ownKeys = Set.copyOf(builder.ownKeys);
        elsewhere = builder.elsewhere;
        replaces = builder.replaces;
        pushKey = builder.pushKey;
    }

    /**
     * Starts with a provider at epoch 0 that had no other key.
     *
     * @param provider your provider key
     * @param topic the app's bundle id. A record that names another app is refused
     * @return a builder
     * @throws PushcryptException {@code wrong-topic}
     */
    public static Builder builder(ProviderPublicKey provider, String topic) {
        return new Builder(provider, topic);
    }

    /** Builds options. */
    public static final class Builder {
        private final ProviderPublicKey provider;
        private final String topic;
        private final Set<ProviderPublicKey> ownKeys = new HashSet<>();
        private Certificate certificate;
        private List<Certificate> issued;
        private StoredDevice elsewhere;
        private boolean replaces;
        private byte[] pushKey;

        private Builder(ProviderPublicKey provider, String topic) {
            Envelope.checkContext(topic);
            this.provider = provider;
            this.topic = topic;
            ownKeys.add(Objects.requireNonNull(provider, "provider"));
        }

        /**
         * Names your current certificate, which is in every reply [D-26].
         *
         * @param certificate the certificate; {@code null} at epoch 0
         * @return this
         */
        public Builder certificate(Certificate certificate) {
            this.certificate = certificate;
            return this;
        }

        /**
         * Names the certificates that you issued. Without them a stale store is noticed at epoch 0 only [D-33].
         *
         * @param certificates all that are not below the floor of the current one
         * @return this
         */
        public Builder issued(Collection<Certificate> certificates) {
            issued = List.copyOf(certificates);
            return this;
        }

        /**
         * Names other provider keys that you have or had [D-22].
         *
         * @param keys the keys
         * @return this
         */
        public Builder ownKeys(Collection<ProviderPublicKey> keys) {
            ownKeys.addAll(keys);
            return this;
        }

        /**
         * Names another device, under another id, that has the record's key [D-17].
         *
         * @param device the device; {@code null} if there is none
         * @return this
         */
        public Builder elsewhere(StoredDevice device) {
            elsewhere = device;
            return this;
        }

        /**
         * Says that your operator knows the device was set up again: what is held does not refuse the record.
         *
         * @return this
         */
        public Builder replace() {
            replaces = true;
            return this;
        }

        /**
         * Names the key with which you sign requests to a relay.
         *
         * @param publicKey an Ed25519 public key, 32 bytes
         * @return this
         * @throws PushcryptException {@code weak-key}
         */
        public Builder pushKey(byte[] publicKey) {
            pushKey = ProviderPublicKey.of(publicKey).key;
            return this;
        }

        /**
         * Builds the options.
         *
         * @return the options, which never change
         */
        public AcceptOptions build() {
            return new AcceptOptions(this);
        }
    }
}
