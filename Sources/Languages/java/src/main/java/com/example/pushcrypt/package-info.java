/**
 * End-to-end encrypted push notifications: what a provider needs.
 *
 * <ul>
 *   <li>{@link com.example.pushcrypt.Sealer} seals.
 *   <li>{@link com.example.pushcrypt.Registration} decides about what phones register, and {@link com.example.pushcrypt.StoredDevice} is what to keep of them.
 *   <li>{@link com.example.pushcrypt.CertificatePlan} and {@link com.example.pushcrypt.CertificateRequest} rotate the key that signs.
 * </ul>
 *
 * <p>A refusal is a {@link com.example.pushcrypt.PushcryptException} with a {@link com.example.pushcrypt.Code}; {@code pushcrypt explain CODE} explains each. Numbers in brackets, such as
 * [D-32], are rules of Docs/Format.md and its parts. No parameter, result or part of a record is {@code null} unless its documentation says so; {@code null} in
 * another place is a {@link java.lang.NullPointerException}. All values are immutable and may be shared by threads. The JDK does the cryptography.
 */
package com.example.pushcrypt;
