/**
 * End-to-end encrypted push notifications: a provider seals payloads for APNs with {@link pushcrypt.Sealer}, a receiver opens them with {@link pushcrypt.Receiver}.
 *
 * <p>Docs/Format.md is the format, {@code pushcrypt explain CODE} explains every code of a {@link pushcrypt.PushcryptException}. Public keys and certificates are values, secret keys
 * print nothing. The JDK does the cryptography.
 */
package pushcrypt;
