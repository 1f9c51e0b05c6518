package pushcrypt;

/**
 * A key that is not in this process: in a key service or a hardware module.
 *
 * <p>It signs the bytes themselves, with pure Ed25519. Each signature is checked before a push is returned. What it signs reveals nothing of the notification but
 * the device's key and the app.
 */
public interface Signer {
    /**
     * Returns the public half, which must not change.
     *
     * @return 32 bytes
     */
    byte[] publicKey();

    /**
     * Signs a message. What it throws passes through {@link Sealer#seal}.
     *
     * @param message at most 512 bytes
     * @return 64 bytes
     */
    byte[] sign(byte[] message);
}
