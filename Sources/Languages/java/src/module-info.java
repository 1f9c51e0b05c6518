/** End-to-end encrypted push notifications: a provider seals payloads for APNs, a receiver opens them. */
module pushcrypt {
    exports pushcrypt;
}
