package pushcrypt;

import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.time.Instant;
import java.util.List;

/** What the package does not export, and only tests ask: on the class path, a test may be in its package. */
public final class Inside {
    public static final int OUTSIDE = Envelope.OUTSIDE;

    private Inside() {}

    private static Keys.Kind kind(String prefix) {
        for (Keys.Kind kind : Keys.Kind.values()) if (kind.prefix.equals(prefix)) return kind;
        throw new IllegalArgumentException(prefix);
    }

    public static byte[] parseKey(String kind, String text) throws PushcryptException {
        return Platform.run(() -> Keys.parseKey(text, kind(kind)));
    }

    public static String keyText(String kind, byte[] key) {
        return Keys.keyText(key, key.length == Keys.LENGTH ? kind(kind) : Keys.Kind.DEVICE_PUBLIC_2);
    }

    public static void checkContext(String context) throws PushcryptException {
        Envelope.checkContext(context);
    }

    public static byte[] decode(String text) throws PushcryptException {
        return Envelope.decode(text);
    }

    public static String encode(byte[] envelope) {
        return Envelope.encode(envelope);
    }

    public static String fingerprint(String text) {
        return Envelope.fingerprint(text);
    }

    public static SealedFile sealFile(Sealer sealer, byte[] plain, byte[] random) throws PushcryptException {
        return sealer.sealFile(plain, "https://a", "a.b", "a", random);
    }

    public static Certificate certificate(byte[] bytes) throws PushcryptException {
        return new Certificate(bytes);
    }

    public static byte[] bytes(Certificate certificate) {
        return certificate.bytes;
    }

    /** Epoch, floor, grace until and expires at. */
    public static String[] claim(CertificatePlan plan, String now) throws PushcryptException {
        CertificatePlan.Claim claim = plan.claim(Long.parseUnsignedLong(now));
        String[] times = {Long.toUnsignedString(claim.graceUntil()), Long.toUnsignedString(claim.expiresAt())};
        return new String[] {Long.toString(claim.epoch()), Long.toString(claim.floor()), times[0], times[1]};
    }

    public static Certificate certify(ProviderKey provider, String topic, String[] claim, byte[] signingKey) throws PushcryptException {
        CertificatePlan.Claim own = new CertificatePlan.Claim(
            Long.parseLong(claim[0]), Long.parseLong(claim[1]), Long.parseUnsignedLong(claim[2]), Long.parseUnsignedLong(claim[3]));
        return Certificate.of(own, signingKey, provider, topic);
    }

    public static FileOpener opener(byte[] key, long size, byte[] sha256) {
        return new FileOpener(key, size, sha256);
    }

    public static Extras extras(byte[] payload) throws PushcryptException {
        return Reserved.read(Payload.checkPayload(payload), "");
    }

    /** A key in a service: it signs the same, but its seed is not known. */
    public static Signer signer(ProviderKey key) {
        return signer(key.publicKey, key.signing);
    }

    public static Signer signer(SigningKey key) {
        return signer(key.publicKey, key.signing);
    }

    private static Signer signer(byte[] publicKey, PrivateKey key) {
        return new Signer() {
            @Override
            public byte[] publicKey() {
                return publicKey;
            }

            @Override
            public byte[] sign(byte[] message) {
                try {
                    return Sealing.sign(key, message);
                } catch (GeneralSecurityException missing) {
                    throw new IllegalStateException(missing);
                }
            }
        };
    }

    /** Seals with the random bytes of a vector; those that it lacks are drawn. */
    public static SealedPush seal(Sealer sealer, byte[] payload, DevicePublicKey to, long at, SealOptions options, List<byte[]> drawn, long life)
        throws PushcryptException {
        Sealing.Fixed random = Sealing.Fixed.random();
        byte[] messageID = drawn.get(0) == null ? random.messageID() : drawn.get(0), ephemeral = drawn.get(1) == null ? random.ephemeral() : drawn.get(1);
        return sealer.seal(payload, to, at, options, new Sealing.Fixed(messageID, ephemeral, life));
    }

    public static Instant instant(String milliseconds) {
        return Platform.instant(Long.parseUnsignedLong(milliseconds));
    }

    /** A reference of 22 bytes with a key, and that key's text. */
    public static AttachmentReference reference(byte[] key, String type) throws PushcryptException {
        Attachments.Reference parts = new Attachments.Reference("https://a", key, 22, key, type, "a");
        return AttachmentReference.parse(new AttachmentReference(parts).json().getBytes());
    }
}
