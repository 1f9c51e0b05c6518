package pushcrypt;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** Seals APNs payloads for the devices of one app. It keeps no state between messages, and any thread may use it. */
public final class Sealer {
    private static final int LONGEST_FULL_BODY = 65536;

    private static final System.Logger LOGGER = System.getLogger("pushcrypt");

    private final Sealing.Identity own;
    private final String topic;
    private final Placeholder placeholder;

    /**
     * Creates a sealer at epoch 0, with the standard placeholder.
     *
     * @param key the provider key
     * @param topic the app's bundle id, without {@code .voip}
     * @throws PushcryptException {@code wrong-topic}
     */
    public Sealer(ProviderKey key, String topic) throws PushcryptException {
        this(key, topic, Placeholder.STANDARD);
    }

    /**
     * Creates a sealer at epoch 0.
     *
     * @param key the provider key
     * @param topic the app's bundle id, without {@code .voip}
     * @param placeholder what a phone shows if it cannot open a message
     * @throws PushcryptException {@code wrong-topic}
     */
    public Sealer(ProviderKey key, String topic, Placeholder placeholder) throws PushcryptException {
        this(new Sealing.Identity(key.publicKey, key.publicKey, null, Sealing.hedgeKey(key.secret), message -> Sealing.sign(key.signing, message)), topic, placeholder);
    }

    /**
     * Creates a sealer from epoch 1 on.
     *
     * @param credential the signing key, its certificate and the provider key
     * @param topic the app's bundle id, without {@code .voip}
     * @param placeholder what a phone shows if it cannot open a message
     * @throws PushcryptException {@code wrong-topic}, {@code bad-certificate-signature} or {@code weak-key}
     */
    public Sealer(Credential credential, String topic, Placeholder placeholder) throws PushcryptException {
        this(new Sealing.Identity(
            credential.provider().key, credential.key().publicKey, credential.certificate(), Sealing.hedgeKey(credential.key().secret),
            message -> Sealing.sign(credential.key().signing, message)), topic, placeholder);
    }

    /**
     * Creates a sealer at epoch 0 with the provider key in a service, which is asked once: its hedge key comes from a signature over a label.
     *
     * @param signer the key that signs
     * @param topic the app's bundle id, without {@code .voip}
     * @param placeholder what a phone shows if it cannot open a message
     * @throws PushcryptException {@code wrong-topic}, {@code weak-key} or {@code wrong-signature}
     */
    public Sealer(Signer signer, String topic, Placeholder placeholder) throws PushcryptException {
        this(identity(signer, ProviderPublicKey.of(signer.publicKey()), null), topic, placeholder);
    }

    /**
     * Creates a sealer from epoch 1 on with the signing key in a service, which is asked once.
     *
     * @param signer the key that signs
     * @param certificate its certificate
     * @param provider the provider key
     * @param topic the app's bundle id, without {@code .voip}
     * @param placeholder what a phone shows if it cannot open a message
     * @throws PushcryptException {@code wrong-topic}, {@code wrong-certificate}, {@code bad-certificate-signature}, {@code weak-key} or {@code wrong-signature}
     */
    public Sealer(Signer signer, Certificate certificate, ProviderPublicKey provider, String topic, Placeholder placeholder) throws PushcryptException {
        this(identity(signer, provider, Objects.requireNonNull(certificate, "certificate")), topic, placeholder);
    }

    private Sealer(Sealing.Identity own, String topic, Placeholder placeholder) throws PushcryptException {
        Envelope.checkContext(topic);
        if (topic.endsWith(".voip")) LOGGER.log(System.Logger.Level.WARNING, "the topic is the app's bundle id, without .voip; phones would not open this");
        if (own.certificate() != null) own.certificate().check(own.provider(), topic);
        this.own = own;
        this.topic = topic;
        this.placeholder = Objects.requireNonNull(placeholder, "placeholder");
    }

    private static Sealing.Identity identity(Signer signer, ProviderPublicKey provider, Certificate certificate) throws PushcryptException {
        byte[] publicKey = signer.publicKey().clone();
        if (certificate != null && !Arrays.equals(publicKey, certificate.signingKey())) throw new PushcryptException("wrong-certificate");
        Platform.Sign sign = message -> {
            byte[] signature = signer.sign(message.clone());
            if (signature.length != 64 || !Keys.verifies(publicKey, signature, message)) {
                throw new PushcryptException("wrong-signature", "the signer returned no signature by its key; it has to sign the bytes, with pure Ed25519");
            }
            return signature;
        };
        byte[] seed = Platform.run(() -> sign.sign(Bytes.ascii("pushcrypt/1 hedge seed\0")));
        return new Sealing.Identity(provider.key, publicKey, certificate, Sealing.hedgeKey(seed), sign);
    }

    /**
     * Returns the provider key that phones have pinned.
     *
     * @return the key
     */
    public ProviderPublicKey provider() {
        return ProviderPublicKey.checked(own.provider());
    }

    /**
     * Seals a payload for one device.
     *
     * @param payload JSON, whose numbers and strings are kept as they are written
     * @param to the device's registered key
     * @param at the present time
     * @param options how it is sealed
     * @return what to send instead of the payload
     * @throws PushcryptException {@code malformed-payload}, {@code missing-aps}, {@code invalid-field}, {@code nothing-to-show}, {@code reserved-key},
     *     {@code too-many-attachments}, {@code payload-too-large}, {@code push-too-large}, {@code invalid-time}, {@code invalid-request},
     *     {@code unsupported-suite} or {@code malformed-reference}, or {@code wrong-signature} of a signer
     */
    public SealedPush seal(byte[] payload, DevicePublicKey to, Instant at, SealOptions options) throws PushcryptException {
        return seal(payload, to, Platform.milliseconds(at), options, Sealing.Fixed.random());
    }

    /**
     * Seals a payload for one device, now.
     *
     * @param payload JSON, whose numbers and strings are kept as they are written
     * @param to the device's registered key
     * @param options how it is sealed
     * @return what to send instead of the payload
     * @throws PushcryptException as the method with bytes
     */
    public SealedPush seal(String payload, DevicePublicKey to, SealOptions options) throws PushcryptException {
        return seal(Json.bytes(payload, "malformed-payload"), to, Instant.now(), options);
    }

    /**
     * Seals a payload for one device, now.
     *
     * @param payload maps with texts as keys, lists, texts, booleans, {@code null} and numbers; other values, and numbers that JSON does not have, are refused
     * @param to the device's registered key
     * @param options how it is sealed
     * @return what to send instead of the payload
     * @throws PushcryptException as the method with bytes
     */
    public SealedPush seal(Map<String, ?> payload, DevicePublicKey to, SealOptions options) throws PushcryptException {
        return seal(Json.write(payload), to, Instant.now(), options);
    }

    SealedPush seal(byte[] payload, DevicePublicKey to, long at, SealOptions options, Sealing.Fixed fixed) throws PushcryptException {
        Objects.requireNonNull(payload, "payload");
        Objects.requireNonNull(to, "to");
        if (to.suite() != Records.SUITE) throw new PushcryptException("unsupported-suite");
        return new SealedPush(Platform.run(() -> Sealing.seal(payload, own, topic, placeholder, to, at, options, fixed)), to, at, options.pushType);
    }

    /**
     * Creates the request to APNs for a push of this sealer, with the standard priority and the end of the message.
     *
     * @param push what {@link #seal} returned
     * @return the request
     */
    public PushRequest request(SealedPush push) {
        byte[] device = Bytes.concat(new byte[] {2}, push.recipient().key);
        return request(push, device, Bytes.concat(new byte[] {2}, push.id), push.pushType() == PushType.BACKGROUND ? 5 : 10);
    }

    /**
     * Creates the request to APNs for a push of this sealer.
     *
     * @param push what {@link #seal} returned
     * @param device the provider's name for the device, 1 to 255 bytes, so that the collapse id stays when its key changes; or {@code null}
     * @param collapseName the name of pushes that replace each other on a device, of which the relay gets a keyed hash; or {@code null}
     * @param priority 10, 5 or 1; 10 is not for background pushes
     * @return the request
     * @throws PushcryptException {@code invalid-request}
     */
    public PushRequest request(SealedPush push, String device, String collapseName, int priority) throws PushcryptException {
        if (priority != 10 && priority != 5 && priority != 1) throw new IllegalArgumentException("a priority is 10, 5 or 1");
        if (push.pushType() == PushType.BACKGROUND && priority == 10) {
            throw new PushcryptException("invalid-request", "APNs refuses background pushes with priority 10; use 5 or 1");
        }
        byte[] which = Bytes.concat(new byte[] {2}, push.recipient().key), pushes = Bytes.concat(new byte[] {2}, push.id);
        if (device != null) {
            byte[] name = Json.bytes(device, "invalid-request");
            if (name.length < 1 || name.length > 255) throw new PushcryptException("invalid-request", "the name of a device must have 1 to 255 bytes");
            which = Bytes.concat(new byte[] {1}, Bytes.bigEndian(name.length, 2), name);
        }
        if (collapseName != null) {
            if (collapseName.isEmpty()) throw new PushcryptException("invalid-request", "the collapse name is empty; leave it out");
            pushes = Bytes.concat(new byte[] {1}, Json.bytes(collapseName, "invalid-request"));
        }
        return request(push, which, pushes, priority);
    }

    private PushRequest request(SealedPush push, byte[] device, byte[] pushes, int priority) {
        byte[] hash = Sealing.hedged(own, "pushcrypt/1 collapse\0", Envelope.lp16(topic), device, pushes);
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("apns-topic", topic + (push.pushType() == PushType.VOIP ? ".voip" : ""));
        headers.put("apns-push-type", push.pushType().toString());
        headers.put("apns-priority", Integer.toString(priority));
        headers.put("apns-expiration", Long.toString(push.expiresAt().getEpochSecond()));
        headers.put("apns-collapse-id", Envelope.encode(Bytes.part(hash, 0, 24)));
        return new PushRequest(headers, push.json());
    }

    /**
     * Seals a file that accompanies a message.
     *
     * @param plain the file
     * @param url where the sealed file will be stored
     * @param type its uniform type identifier
     * @param name its name
     * @return the sealed file, and the reference for {@link SealOptions#attachments}
     * @throws PushcryptException {@code malformed-reference}
     */
    public SealedFile sealFile(byte[] plain, String url, String type, String name) throws PushcryptException {
        byte[] random = new byte[32];
        new SecureRandom().nextBytes(random);
        return sealFile(plain, url, type, name, random);
    }

    SealedFile sealFile(byte[] plain, String url, String type, String name, byte[] random) throws PushcryptException {
        byte[] key = Sealing.hedged(own, "pushcrypt/1 file\0", random, Bytes.bigEndian(plain.length, 8), Bytes.sha256(plain));
        byte[] sealed = Platform.run(() -> FileStream.seal(plain, key));
        Attachments.Reference parts = new Attachments.Reference(url, key, sealed.length, Bytes.sha256(sealed), type, name);
        return new SealedFile(sealed, AttachmentReference.parse(Json.bytes(new AttachmentReference(parts).json(), "malformed-reference")));
    }

    /**
     * Seals a text that is too long for a push.
     *
     * @param text the whole text
     * @param url where the sealed file will be stored
     * @return the sealed file, and the reference for {@link SealOptions#fullBody}
     * @throws PushcryptException {@code body-too-long}, {@code malformed-file} for an empty text, {@code malformed-reference} or {@code invalid-request}
     */
    public SealedFile sealFullBody(String text, String url) throws PushcryptException {
        byte[] plain = Json.checked(text, "the text").getBytes(StandardCharsets.UTF_8);
        if (plain.length > LONGEST_FULL_BODY) throw new PushcryptException("body-too-long", "a full body has at most 65536 bytes; shorten it, or let the app fetch it");
        if (plain.length == 0) throw new PushcryptException("malformed-file", "a full body is not empty");
        return sealFile(plain, url, "public.plain-text", "body");
    }
}
