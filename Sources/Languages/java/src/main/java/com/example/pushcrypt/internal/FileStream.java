package com.example.pushcrypt.internal;

import java.io.ByteArrayOutputStream;
import javax.crypto.Cipher;

/** Files that accompany a push, in the STREAM construction: Docs/FormatFiles.md, "Sealed file". Keys are not wiped. */
public final class FileStream {
    public static final byte[] HEADER = {'P', 'C', 'A', '2', 0x10};

    private FileStream() {}

    /** the last chunk is empty only if it is the first. */
    public static boolean isSize(long size) {
        long last = (size - HEADER.length) % Format.SEALED_CHUNK;
        boolean isWhole = size == Format.SMALLEST_FILE || last == 0 || last > Format.TAG_LENGTH;
        return size >= Format.SMALLEST_FILE && size <= Format.LARGEST_FILE && isWhole;
    }

    /** Encrypts or decrypts a chunk. */
    public static byte[] chunk(int mode, byte[] key, long number, boolean isLast, byte[] chunk) {
        byte[] nonce = Bytes.concat(Bytes.bigEndian(number, 11), new byte[] {(byte) (isLast ? 1 : 0)});
        return Platform.aead(mode, key, nonce, HEADER, chunk);
    }

    /** Seals a file under a key that is never used for anything else to. */
    public static byte[] seal(byte[] plain, byte[] key) {
        int size = Format.PLAIN_CHUNK, last = Math.max((plain.length + size - 1) / size - 1, 0);
        ByteArrayOutputStream sealed = new ByteArrayOutputStream();
        sealed.writeBytes(HEADER);
        for (int number = 0; number <= last; number++) {
            byte[] chunk = Bytes.part(plain, number * size, number == last ? plain.length : (number + 1) * size);
            sealed.writeBytes(chunk(Cipher.ENCRYPT_MODE, key, number, number == last, chunk));
        }
        return sealed.toByteArray();
    }
}
