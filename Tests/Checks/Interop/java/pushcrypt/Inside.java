package pushcrypt;

import java.security.GeneralSecurityException;
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

    public static byte[] sealFile(byte[] plain, byte[] key, byte[] header) throws GeneralSecurityException {
        return FileStream.seal(plain, key, header);
    }

    public static SealedFile sealFile(SenderKey sender, byte[] plain, byte[] random, byte[] header) throws PushcryptException {
        return new Sealer(sender, "a").sealFile(plain, "https://a", "a.b", "a", random, header);
    }

    public static FileOpener opener(byte[] key, long size, byte[] sha256) {
        return new FileOpener(key, size, sha256);
    }

    public static Extras extras(byte[] payload) throws PushcryptException {
        return Reserved.read(Payload.checkPayload(payload), "");
    }

    /** A key in a service: it signs the same, but its seed is not known. */
    public static Signer signer(SenderKey key) {
        return new Signer() {
            @Override
            public SenderPublicKey publicKey() {
                return key.publicKey();
            }

            @Override
            public byte[] sign(byte[] message) {
                try {
                    return Sealing.sign(key.signing, message);
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

    /** A reference of 46 bytes with a key, and that key's text. */
    public static AttachmentReference reference(byte[] key, String type) throws PushcryptException {
        Attachments.Reference parts = new Attachments.Reference("https://a", key, 46, key, type, "a");
        return AttachmentReference.parse(new AttachmentReference(parts).json().getBytes());
    }
}
