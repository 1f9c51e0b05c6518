package pushcrypt;

/**
 * A key that is not in this process: in a key service or a hardware module. A lambda cannot be one; a class of ten lines is.
 *
 * <p>It signs the bytes themselves, with pure Ed25519 (RFC 8032). Each signature is verified before a push is returned. What it signs reveals nothing of the
 * notification but the device's key and the app.
 */
public interface ExternalSigner {
    /**
     * Returns the public half, which must not change.
     *
     * @return 32 bytes
     */
    byte[] publicKey();

    /**
     * Signs a message. It may block, and threads that seal call it at the same time.
     *
     * @param message at most 512 bytes
     * @return the signature, 64 bytes
     * @throws Exception if it cannot; then {@link Sealer#seal} throws {@code signing-failed}, with this as the cause, or this itself if it is a
     *     {@link PushcryptException}
     */
    byte[] sign(byte[] message) throws Exception;
}
