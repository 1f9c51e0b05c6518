package com.example.pushcrypt;

import java.util.*;
import com.example.pushcrypt.internal.Envelope;

/**
 * What a provider knows when it decides about a record:
 *
 * <pre>{@code AcceptOptions.builder(sealer.provider(), "com.example.app").certificate(current).issued(all).build()}</pre>
 */
public final class AcceptOptions {
    final ProviderPublicKey provider;
    final String topic;
    Set<ProviderPublicKey> ownKeys;
    Certificate certificate;
    List<Certificate> issued;
    String deviceId;
    boolean replaces;
    byte[] pushKey;

    private AcceptOptions(ProviderPublicKey provider, String topic) {
        Envelope.checkContext(topic);
        this.provider = provider;
        this.topic = topic;
        ownKeys = Set.of(provider);
    }

    private AcceptOptions(AcceptOptions made) {
        provider = made.provider;
        topic = made.topic;
        ownKeys = made.ownKeys;
        certificate = made.certificate;
        issued = made.issued;
        deviceId = made.deviceId;
        replaces = made.replaces;
        pushKey = made.pushKey;
    }

    String pushKeyText() {
        return pushKey == null ? null : Envelope.encode(pushKey);
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
        return new Builder(new AcceptOptions(provider, topic));
    }

    /** Builds options. */
    public static final class Builder {
        private final AcceptOptions made;

        private Builder(AcceptOptions made) {
            this.made = made;
        }

        /**
         * Names your current certificate, which is in every reply [D-37].
         *
         * @param certificate the certificate; {@code null} at epoch 0
         * @return this
         */
        public Builder certificate(Certificate certificate) {
            made.certificate = certificate;
            return this;
        }

        /**
         * Names the certificates that you issued. Without them a stale store is noticed at epoch 0 only [D-36].
         *
         * @param certificates all that are not below the floor of the current one
         * @return this
         */
        public Builder issued(Collection<Certificate> certificates) {
            made.issued = List.copyOf(certificates);
            return this;
        }

        /**
         * Names other provider keys that you have or had [D-35].
         *
         * @param keys the keys
         * @return this
         */
        public Builder ownKeys(Collection<ProviderPublicKey> keys) {
            Set<ProviderPublicKey> all = new HashSet<>(keys);
            all.add(made.provider);
            made.ownKeys = Set.copyOf(all);
            return this;
        }

        /**
         * Names the device, for a record that does not.
         *
         * @param deviceId your id for it, 1 to 255 bytes
         * @return this
         */
        public Builder deviceId(String deviceId) {
            if (!Records.isDevice(deviceId)) throw new IllegalArgumentException("a device id has 1 to 255 bytes");
            made.deviceId = deviceId;
            return this;
        }

        /**
         * Says that your operator knows the device was set up again: what is held does not refuse the record.
         *
         * @return this
         */
        public Builder replace() {
            made.replaces = true;
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
            made.pushKey = ProviderPublicKey.of(publicKey).key;
            return this;
        }

        /**
         * Builds the options.
         *
         * @return the options, which never change
         */
        public AcceptOptions build() {
            return new AcceptOptions(made);
        }
    }
}
