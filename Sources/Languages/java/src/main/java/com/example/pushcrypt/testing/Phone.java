package com.example.pushcrypt.testing;

import static com.example.pushcrypt.internal.Bytes.part;

import java.time.Instant;
import java.util.*;
import com.example.pushcrypt.Certificate;
import com.example.pushcrypt.Code;
import com.example.pushcrypt.ProviderPublicKey;
import com.example.pushcrypt.PushType;
import com.example.pushcrypt.PushcryptException;
import com.example.pushcrypt.internal.*;

/**
 * A phone, which opens the pushes of one provider for one app.
 *
 * @param topic the app's bundle id
 * @param key the device's key
 * @param provider the provider key that it has pinned
 */
public record Phone(String topic, DeviceKey key, ProviderPublicKey provider) {
    private static final int ENC = 5, CIPHERTEXT = 37;

    /**
     * Creates a phone.
     *
     * @param topic the app's bundle id
     * @param key the device's key
     * @param provider the provider key that it has pinned
     * @throws PushcryptException {@code wrong-topic}
     */
    public Phone {
        Envelope.checkContext(topic);
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(provider, "provider");
    }

    /**
     * Opens an alert as received, now.
     *
     * @param push the whole JSON
     * @return the message
     * @throws PushcryptException as {@link #open(String, PushType, Instant)}
     */
    public OpenedPush open(String push) {
        return open(push, PushType.ALERT, Times.now());
    }

    /**
     * Opens a push as received.
     *
     * @param push the whole JSON
     * @param pushType with what the push came: a message that was sealed as another is refused
     * @param at the present time, within a day of the clock
     * @return the message
     * @throws PushcryptException {@code malformed-payload}, {@code malformed-envelope}, {@code unknown-recipient-key}, {@code authentication-failed},
     *     {@code wrong-push-class}, {@code expired}, {@code implausible-time}, or the code of a certificate
     */
    public OpenedPush open(String push, PushType pushType, Instant at) {
        Times.plausible(at);
        Object text = Payload.parse(push, Code.MALFORMED_PAYLOAD).get("ENCRYPTED_DATA");
        byte[] envelope = Envelope.decode(text instanceof String ? (String) text : "", Code.MALFORMED_ENVELOPE);
        if (!Format.BUCKETS.contains(envelope.length - Format.ENVELOPE_OVERHEAD)) throw new PushcryptException(Code.MALFORMED_ENVELOPE);
        byte[] header = part(envelope, 0, ENC), enc = part(envelope, ENC, CIPHERTEXT);
        if (!Arrays.equals(header, Bytes.concat(new byte[] {Format.SUITE}, key.id))) throw new PushcryptException(Code.UNKNOWN_RECIPIENT_KEY);
        byte[] inner = Hpke.setupBaseR(enc, key.secret, key.publicKey, Envelope.info(header, topic)).open(part(envelope, CIPHERTEXT, envelope.length));

        byte[] epoch = part(inner, 0, 4), pin = provider.bytes(), signingKey = pin;
        byte[] body = part(inner, Format.INNER_BODY, Format.INNER_BODY + (int) Bytes.number(inner, 97, Format.INNER_BODY));
        long certified = 0;
        if ((inner[Format.INNER_CONTENT] & Format.KIND_CERTIFIED) != 0) {
            Certificate certificate = Certificate.of(part(body, 0, Format.CERTIFICATE_LENGTH));
            certificate.verify(provider, topic);
            body = part(body, Format.CERTIFICATE_LENGTH, body.length);
            signingKey = certificate.signingKey();
            certified = certificate.epoch();
        }
        byte[] contentHash = Platform.sha256(part(inner, Format.INNER_CONTENT, inner.length));
        byte[] signed = Envelope.signed(header, enc, key.publicKey, pin, signingKey, epoch, topic, contentHash);
        boolean isFrom = certified == Bytes.number(epoch, 0, 4) && Keys.verifies(signingKey, part(inner, 4, Format.INNER_CONTENT), signed);
        if (!isFrom) throw new PushcryptException(Code.AUTHENTICATION_FAILED);

        // Classes count from 1 in the order of the types.
        if ((inner[Format.INNER_CONTENT] & Format.KIND_CLASS) != pushType.ordinal() + 1) throw new PushcryptException(Code.WRONG_PUSH_CLASS);
        Instant sentAt = Instant.ofEpochMilli(Bytes.number(inner, 85, 93)), expiresAt = sentAt.plusSeconds(Bytes.number(inner, 93, 97));
        if (at.isAfter(expiresAt)) throw new PushcryptException(Code.EXPIRED);
        return new OpenedPush(Payload.decode(body, Code.MALFORMED_PAYLOAD), HexFormat.of().formatHex(inner, 69, 85), sentAt, expiresAt);
    }
}
