package com.example.pushcrypt;

import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.*;
import com.example.pushcrypt.internal.*;

/**
 * Seals APNs payloads for the devices of one app. (Docs/Format.md, "Sealing")
 *
 * <p>It keeps no state between messages, and any number of threads may use it.
 */
public final class Sealer {
    private final Sealing.Identity own;
    private final String topic;
    private final Placeholder placeholder;
    private final Clock clock;

    private Sealer(Builder builder) {
        own = builder.own;
        topic = builder.topic;
        placeholder = builder.placeholder;
        clock = builder.clock;
    }

    /**
     * Creates a sealer at epoch 0, with the standard placeholder.
     *
     * @param key the provider key
     * @param topic the app's bundle id, without {@code .voip}
     * @throws PushcryptException {@code wrong-topic}
     */
    public Sealer(ProviderKey key, String topic) {
        this(builder(key, topic));
    }

    /**
     * Creates a sealer from epoch 1 on, with the standard placeholder.
     *
     * @param credential the signing key, its certificate and the provider key
     * @param topic the app's bundle id, without {@code .voip}
     * @throws PushcryptException {@code wrong-topic}, {@code bad-certificate-signature} or {@code weak-key}
     */
    public Sealer(Credential credential, String topic) {
        this(builder(credential, topic));
    }

    /**
     * Starts a sealer at epoch 0.
     *
     * @param key the provider key
     * @param topic the app's bundle id, without {@code .voip}
     * @return a builder
     * @throws PushcryptException {@code wrong-topic}
     */
    public static Builder builder(ProviderKey key, String topic) {
        return new Builder(new Sealing.Identity(key, key.publicKey, null), topic);
    }

    /**
     * Starts a sealer from epoch 1 on.
     *
     * @param credential the signing key, its certificate and the provider key
     * @param topic the app's bundle id, without {@code .voip}
     * @return a builder
     * @throws PushcryptException {@code wrong-topic}, {@code bad-certificate-signature} or {@code weak-key}
     */
    public static Builder builder(Credential credential, String topic) {
        return new Builder(new Sealing.Identity(credential.key(), credential.provider().key, credential.certificate()), topic);
    }

    /**
     * Returns the provider key that phones have pinned.
     *
     * @return the key
     */
    public ProviderPublicKey provider() {
        return new ProviderPublicKey(own.provider());
    }

    /**
     * Returns the certificate that each message carries.
     *
     * @return the certificate; {@code null} at epoch 0
     */
    public Certificate certificate() {
        return own.certificate();
    }

    /**
     * Returns the app.
     *
     * @return its bundle id
     */
    public String topic() {
        return topic;
    }

    /**
     * Seals a payload for one device with the default options: an alert for 30 days.
     *
     * @param payload JSON, whose numbers are kept as they are written, and strings without needless escapes
     * @param to the device, as you have stored it
     * @return what to send instead of the payload
     * @throws PushcryptException as {@link #seal(String, StoredDevice, SealOptions)}
     */
    public SealedPush seal(String payload, StoredDevice to) {
        return seal(payload, to, SealOptions.DEFAULT);
    }

    /**
     * Seals a payload for one device.
     *
     * @param payload JSON, whose numbers are kept as they are written, and strings without needless escapes
     * @param to the device, as you have stored it
     * @param options how it is sealed
     * @return what to send instead of the payload
     * @throws PushcryptException {@code malformed-payload}, {@code missing-aps}, {@code invalid-field}, {@code nothing-to-show}, {@code reserved-key},
     *     {@code payload-too-large}, {@code push-too-large}, {@code removed-device}, {@code topic-mismatch},
     *     {@code unsupported-suite} or {@code unusable-key}; {@code invalid-time} if the clock is wrong or the
     *     certificate has expired [S-10]
     */
    public SealedPush seal(String payload, StoredDevice to, SealOptions options) {
        return seal(payload, to, options, Sealing.Fixed.random());
    }

    /**
     * Seals a payload in UTF-8 for one device.
     *
     * @param payload JSON, whose numbers are kept as they are written, and strings without needless escapes
     * @param to the device, as you have stored it
     * @param options how it is sealed
     * @return what to send instead of the payload
     * @throws PushcryptException as {@link #seal(String, StoredDevice, SealOptions)}
     */
    public SealedPush seal(byte[] payload, StoredDevice to, SealOptions options) {
        return seal(Payload.decode(payload, Code.MALFORMED_PAYLOAD), to, options);
    }

    SealedPush seal(String payload, StoredDevice to, SealOptions options, Sealing.Fixed fixed) {
        if (to.isRemoved()) throw new PushcryptException(Code.REMOVED_DEVICE);
        if (!to.topic().equals(topic)) throw new PushcryptException(Code.TOPIC_MISMATCH, "the device has registered for another app than this sealer's");
        if (to.publicKey().suite() != Format.SUITE) throw new PushcryptException(Code.UNSUPPORTED_SUITE);
        long at = Times.milliseconds(clock.instant());
        return Sealing.seal(payload, own, topic, placeholder, to, at, options, fixed);
    }

    /**
     * Seals the smallest message that takes earlier ones off a device's screen. It is a background push, which shows nothing, and which iOS may bring later. With the
     * filtering entitlement an alert that {@link SealOptions.Builder#withdraws withdraws} and {@link SealOptions.Builder#drop drops} is quicker.
     *
     * @param messageIds the names of the messages, at most 64
     * @param to the device, as you have stored it
     * @return what to send
     * @throws PushcryptException as {@link #seal(String, StoredDevice, SealOptions)}
     */
    public SealedPush withdraw(List<String> messageIds, StoredDevice to) {
        return seal("{\"aps\":{}}", to, SealOptions.builder().pushType(PushType.BACKGROUND).withdraws(messageIds).drop().build());
    }

    /**
     * Creates the request to APNs for a push of this sealer, with the default options.
     *
     * @param push what {@link #seal} returned
     * @return the request
     */
    public PushRequest request(SealedPush push) {
        return request(push, RequestOptions.DEFAULT);
    }

    /**
     * Creates the request to APNs for a push of this sealer.
     *
     * @param push what {@link #seal} returned
     * @param options how it is sent
     * @return the request
     * @throws PushcryptException {@code invalid-request} for a background push with priority 10
     */
    public PushRequest request(SealedPush push, RequestOptions options) {
        boolean isBackground = push.pushType() == PushType.BACKGROUND;
        if (isBackground && options.priority != null && options.priority == 10) {
            throw new PushcryptException(Code.INVALID_REQUEST, "APNs refuses background pushes with priority 10; use 5 or 1");
        }
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("apns-topic", topic + (push.pushType() == PushType.VOIP ? ".voip" : ""));
        headers.put("apns-push-type", push.pushType().toString());
        headers.put("apns-priority", Integer.toString(options.priority != null ? options.priority : isBackground ? 5 : 10));
        headers.put("apns-expiration", Long.toString(options.expiration != null ? options.expiration : push.expiration()));
        headers.put("apns-collapse-id", collapseId(own.provider(), topic, push.device().deviceId(), HexFormat.of().parseHex(push.messageId()), options.pushes));
        StoredDevice device = push.device();
        String host = "development".equals(device.record().environment()) ? Format.DEVELOPMENT_HOST : Format.PRODUCTION_HOST;
        String url = device.token() == null ? null : "https://" + host + "/3/device/" + device.token();
        return new PushRequest(url, device.token(), device.record().environment(), device.record().grant(), headers, push.json());
    }

    /** A hash of device and message, or of the pushes' name: the same whatever signs, and on every server. */
    static String collapseId(byte[] provider, String topic, String device, byte[] messageId, byte[] named) {
        byte[] id = Bytes.concat(new byte[] {1}, Envelope.lp16(device.getBytes(StandardCharsets.UTF_8))), pushes = named != null ? named : Bytes.concat(new byte[] {2}, messageId);
        return Envelope.encode(Platform.sha256(Bytes.ascii(Format.LABEL_COLLAPSE), provider, Envelope.lp16(topic), id, pushes));
    }

    /**
     * Seals a file that accompanies a message. Each call has its own key. (Docs/FormatFiles.md)
     *
     * @param plain the file
     * @param url where the sealed file will be stored
     * @param type its uniform type identifier, such as {@code public.jpeg}
     * @param name its name
     * @return the sealed file, and the reference for {@link SealOptions.Builder#attachments}
     * @throws PushcryptException {@code malformed-reference}
     */
    public SealedFile sealFile(byte[] plain, String url, String type, String name) {
        return sealFile(plain, url, type, name, Platform.random());
    }

    SealedFile sealFile(byte[] plain, String url, String type, String name, byte[] random) {
        byte[] key = Sealing.hedged(own, Format.LABEL_FILE, random, Bytes.bigEndian(plain.length, 8), Platform.sha256(plain));
        byte[] sealed = FileStream.seal(plain, key);
        return new SealedFile(sealed, new Reference(url, Envelope.encode(key), sealed.length, Envelope.encode(Platform.sha256(sealed)), type, name));
    }

    /**
     * Seals a text that is too long for a push. The payload has its beginning.
     *
     * @param text the whole text, 1 to 65,536 bytes
     * @param url where the sealed file will be stored
     * @return the sealed file, and the reference for {@link SealOptions.Builder#fullBody}
     * @throws PushcryptException {@code body-too-long}, {@code malformed-file} for a text that is empty or begins with a byte order mark,
     *     {@code malformed-reference} or {@code invalid-request}
     */
    public SealedFile sealFullBody(String text, String url) {
        byte[] plain = Json.checked(text, "the text").getBytes(StandardCharsets.UTF_8);
        if (plain.length > Format.LONGEST_FULL_BODY) throw new PushcryptException(Code.BODY_TOO_LONG);
        if (plain.length == 0 || text.startsWith("\ufeff")) {
            throw new PushcryptException(Code.MALFORMED_FILE, "a full body is not empty, and has no byte order mark");
        }
        return sealFile(plain, url, Format.FULL_BODY_TYPE, "body");
    }

    /** Builds a sealer. */
    public static final class Builder {
        private final Sealing.Identity own;
        private final String topic;
        private Placeholder placeholder = Placeholder.STANDARD;
        private Clock clock = Clock.systemUTC();

        private Builder(Sealing.Identity own, String topic) {
            Envelope.checkContext(topic);
            if (own.certificate() != null) own.certificate().check(own.provider(), topic);
            this.own = own;
            this.topic = topic;
        }

        /**
         * Sets what a phone shows if it cannot open a message.
         *
         * @param placeholder the placeholder
         * @return this
         */
        public Builder placeholder(Placeholder placeholder) {
            this.placeholder = Objects.requireNonNull(placeholder, "placeholder");
            return this;
        }

        /**
         * Sets the clock, for tests. Messages are sent at its time.
         *
         * @param clock the clock
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * Builds the sealer.
         *
         * @return the sealer
         */
        public Sealer build() {
            return new Sealer(this);
        }
    }
}
