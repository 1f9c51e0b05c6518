package com.example.pushcrypt;

/**
 * A file that was sealed.
 *
 * @param bytes what to store at the url of the reference; they are not copied, because a file may be large
 * @param reference the reference, for {@link SealOptions}
 */
public record SealedFile(byte[] bytes, Reference reference) {}
