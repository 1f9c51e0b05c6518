package pushcrypt;

import java.util.List;
import java.util.Objects;

/**
 * A sender, by a name that the app gives.
 *
 * @param name the name
 * @param pinned the key that it signs with, or {@code null} if the app has removed the pin
 * @param superseded keys that lost the pin, in order
 * @param recoveryKeys at most two, from the app, or with the reply that brought the first pin
 * @param lastRecovery the first 53 bytes of the last recovery statement, or none
 */
public record TrustedSender(
    String name, SenderPublicKey pinned, List<Superseded> superseded, List<RecoveryPublicKey> recoveryKeys, byte[] lastRecovery) {
    /**
     * A key that lost the pin. It verifies messages until the end of its overlap.
     *
     * @param key the key
     * @param statement the statement that moved the pin, or {@code null} if the key is revoked
     */
    public record Superseded(SenderPublicKey key, Statement statement) {}

    /**
     * Creates a sender, and copies lists and bytes.
     *
     * @param name the name
     * @param pinned the key that it signs with, or {@code null} if the app has removed the pin
     * @param superseded keys that lost the pin, in order
     * @param recoveryKeys at most two, from the app, or with the reply that brought the first pin
     * @param lastRecovery the first 53 bytes of the last recovery statement, or none
     */
    public TrustedSender {
        Objects.requireNonNull(name, "name");
        superseded = List.copyOf(superseded);
        recoveryKeys = List.copyOf(recoveryKeys);
        lastRecovery = lastRecovery.clone();
    }

    /**
     * Creates a sender of whom nothing but a pin is known.
     *
     * @param name the name
     * @param pinned its key
     * @return the sender
     */
    public static TrustedSender of(String name, SenderPublicKey pinned) {
        return new TrustedSender(name, pinned, List.of(), List.of(), new byte[0]);
    }

    /**
     * Returns the first 53 bytes of the last recovery statement, or none.
     *
     * @return a copy
     */
    @Override
    public byte[] lastRecovery() {
        return lastRecovery.clone();
    }
}
