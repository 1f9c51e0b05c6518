package pushcrypt;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * What signs messages from epoch 1 on. Printing it shows no secret.
 *
 * @param key the signing key
 * @param certificate its certificate
 * @param provider the provider key
 */
public record Credential(SigningKey key, Certificate certificate, ProviderPublicKey provider) {
    private static final int LINES = 3;

    /**
     * Creates a credential.
     *
     * @param key the signing key
     * @param certificate its certificate
     * @param provider the provider key
     */
    public Credential {
        Objects.requireNonNull(provider, "provider");
        if (!Arrays.equals(certificate.signingKey(), key.publicKey)) throw new IllegalArgumentException("the certificate is that of another signing key");
    }

    /**
     * Reads a signing key file: the secret key, the certificate and the provider key, a line each.
     *
     * @param text the text of the file
     * @return the credential
     * @throws PushcryptException {@code wrong-certificate}, or the code of a key or of the certificate
     */
    public static Credential parse(String text) throws PushcryptException {
        List<String> lines = List.of((text.endsWith("\n") ? text.substring(0, text.length() - 1) : text).split("\n", -1));
        if (lines.size() != LINES) {
            throw new PushcryptException("malformed-key", "a signing key file has three lines: the key, its certificate, the provider key");
        }
        SigningKey key = SigningKey.parse(lines.get(0));
        Certificate certificate = Certificate.parse(lines.get(1));
        ProviderPublicKey provider = ProviderPublicKey.parse(lines.get(2));
        if (!Arrays.equals(certificate.signingKey(), key.publicKey)) throw new PushcryptException("wrong-certificate");
        return new Credential(key, certificate, provider);
    }

    /**
     * Returns the text of the file: store it where only the sealer reads it.
     *
     * @return three lines
     */
    public String secretText() {
        return key.secretText() + "\n" + certificate + "\n" + provider + "\n";
    }
}
