/**
 * End-to-end encrypted push notifications for providers: the phone alone reads what is in a push.
 *
 * <p>{@code pushcrypt} is the package of a provider. {@code pushcrypt.testing} is a phone, for tests.
 */
module pushcrypt {
    exports pushcrypt;
    exports pushcrypt.testing;
}
