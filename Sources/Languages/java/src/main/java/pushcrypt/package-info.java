/**
 * End-to-end encrypted push notifications: what a provider needs.
 *
 * <ul>
 *   <li>{@link pushcrypt.Sealer} seals.
 *   <li>{@link pushcrypt.Registration} decides about what phones register, and {@link pushcrypt.StoredDevice} is what to keep of them.
 *   <li>{@link pushcrypt.CertificatePlan} and {@link pushcrypt.CertificateRequest} rotate the key that signs.
 * </ul>
 *
 * <p>A refusal is a {@link pushcrypt.PushcryptException} with a {@link pushcrypt.Code}; {@code pushcrypt explain CODE} explains each. Numbers in brackets, such as
 * [D-32], are rules of Docs/Format.md and its parts. No parameter, result or part of a record is {@code null} unless its documentation says so; {@code null} in
 * another place is a {@link java.lang.NullPointerException}. All values are immutable and may be shared by threads. The JDK does the cryptography.
 */
package pushcrypt;
