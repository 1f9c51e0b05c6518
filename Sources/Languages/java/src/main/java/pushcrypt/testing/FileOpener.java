package pushcrypt.testing;

import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Cipher;
import pushcrypt.AttachmentReference;
import pushcrypt.Code;
import pushcrypt.PushcryptException;
import pushcrypt.internal.*;

/**
 * Opens a sealed file in pieces: Docs/FormatAttachments.md, "Opening a file".
 *
 * <p>Write what {@link #update} returns to a file with a temporary name, and rename it when {@link #finish} has returned the rest, [A-35].
 * After a refusal everything is refused.
 */
public final class FileOpener {
    private final byte[] key, sha256;
    private final long size;
    private final MessageDigest hash = Platform.run(() -> MessageDigest.getInstance("SHA-256"));
    private final byte[] start = new byte[FileStream.HEADER.length], buffer = new byte[Format.SEALED_CHUNK];
    private int started, buffered;
    private long came, number;
    private boolean isEnded;

    /**
     * Begins a file.
     *
     * @param reference the reference of the file
     */
    public FileOpener(AttachmentReference reference) {
        this(decoded(reference.key()), reference.size(), decoded(reference.sha256()));
    }

    private static byte[] decoded(String text) {
        return Envelope.decode(text, Code.MALFORMED_REFERENCE);
    }

    FileOpener(byte[] key, long size, byte[] sha256) {
        this.key = key;
        this.size = size;
        this.sha256 = sha256;
    }

    /**
     * Accepts bytes of the file.
     *
     * @param piece the next bytes
     * @return those of the chunks that are now known not to be the last
     * @throws PushcryptException {@code not-a-sealed-file}, {@code authentication-failed} or {@code wrong-size}
     */
    public byte[] update(byte[] piece) {
        begin();
        int within = (int) Math.min(piece.length, size - came);
        came += within;
        hash.update(piece, 0, within);
        int taken = Math.min(within, start.length - started);
        System.arraycopy(piece, 0, start, started, taken);
        started += taken;
        if (started == start.length && !Arrays.equals(start, FileStream.HEADER)) throw new PushcryptException(Code.NOT_A_SEALED_FILE);
        ByteArrayOutputStream plain = new ByteArrayOutputStream();
        while (taken < within) {
            if (buffered == buffer.length) plain.writeBytes(takeBuffer(false));
            int count = Math.min(within - taken, buffer.length - buffered);
            System.arraycopy(piece, taken, buffer, buffered, count);
            buffered += count;
            taken += count;
        }
        if (within < piece.length) throw new PushcryptException(Code.WRONG_SIZE);
        isEnded = false;
        return plain.toByteArray();
    }

    /** Refuses further calls until the current one succeeds. */
    private void begin() {
        if (!FileStream.isSize(size)) throw new PushcryptException(Code.MALFORMED_REFERENCE);
        if (isEnded) throw new PushcryptException(Code.MALFORMED_FILE);
        isEnded = true;
    }

    private byte[] takeBuffer(boolean isLast) {
        byte[] sealed = Bytes.part(buffer, 0, buffered);
        buffered = 0;
        return FileStream.chunk(Cipher.DECRYPT_MODE, key, number++, isLast, sealed);
    }

    /**
     * Ends the file.
     *
     * @return the last chunk, if the whole file matches its reference
     * @throws PushcryptException {@code wrong-size}, {@code authentication-failed} or {@code wrong-hash}
     */
    public byte[] finish() {
        begin();
        if (came != size) throw new PushcryptException(Code.WRONG_SIZE);
        byte[] chunk = takeBuffer(true);
        if (!MessageDigest.isEqual(hash.digest(), sha256)) throw new PushcryptException(Code.WRONG_HASH);
        return chunk;
    }

    /**
     * Returns the text in the opened file of a full body, [A-30].
     *
     * @param plain the whole plain file
     * @return the text
     * @throws PushcryptException {@code malformed-file}; then the payload's own body is shown
     */
    public static String fullBody(byte[] plain) {
        if (plain.length < 1 || plain.length > Format.LONGEST_FULL_BODY) throw new PushcryptException(Code.MALFORMED_FILE);
        String text = Payload.decode(plain, Code.MALFORMED_FILE);
        if (text.startsWith("\ufeff")) throw new PushcryptException(Code.MALFORMED_FILE);
        return text;
    }
}
