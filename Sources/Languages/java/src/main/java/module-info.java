/**
 * End-to-end encrypted push notifications for providers: the phone alone reads what is in a push.
 *
 * <p>{@code com.example.pushcrypt} is the package of a provider. {@code com.example.pushcrypt.testing} is a phone, for tests.
 */
module com.example.pushcrypt {
    exports com.example.pushcrypt;
    exports com.example.pushcrypt.testing;
}
