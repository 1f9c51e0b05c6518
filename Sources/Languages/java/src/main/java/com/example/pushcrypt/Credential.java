package com.example.pushcrypt;

import java.util.*;

/**
 * What signs messages from epoch 1 on. Printing it shows no secret. Two are equal if their three parts are.
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
     * @throws PushcryptException {@code wrong-certificate} if it is that of another signing key
     */
    public Credential {
        Objects.requireNonNull(provider, "provider");
        if (!Arrays.equals(certificate.signingKey(), key.publicKey)) throw new PushcryptException(Code.WRONG_CERTIFICATE);
    }

    /**
     * Reads a signing key file: the secret key, the certificate and the provider key, a line each.
     *
     * @param text the text of the file
     * @return the credential
     * @throws PushcryptException {@code wrong-certificate}, or the code of a key or of the certificate
     */
    public static Credential parse(String text) {
        String[] lines = text.endsWith("\n") ? text.substring(0, text.length() - 1).split("\n", LINES + 1) : text.split("\n", LINES + 1);
        if (lines.length != LINES) {
            throw new PushcryptException(Code.MALFORMED_KEY, "a signing key file has three lines: the key, its certificate, the provider key");
        }
        return new Credential(SigningKey.parse(lines[0]), Certificate.parse(lines[1]), ProviderPublicKey.parse(lines[2]));
    }

    /**
     * Returns the text of the file. Store it where only what seals reads it.
     *
     * @return three lines
     */
    public String secretText() {
        return key.secretText() + "\n" + certificate + "\n" + provider + "\n";
    }
}
