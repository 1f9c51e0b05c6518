package pushcrypt;

import static pushcrypt.Bytes.part;

import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** Files that accompany a push, in the STREAM construction: Docs/FormatAttachments.md, "Sealed file" and "Opening a file". Keys are not wiped. */
final class FileStream {
    private static final byte[] PREFIX = {'P', 'C', 'A', '2', 0x10};
    private static final int OVERHEAD = 16, PLAIN_CHUNK = 65536, CHUNK = PLAIN_CHUNK + OVERHEAD;
    static final long SMALLEST_FILE = 21;
    private static final long LARGEST_FILE = (1L << 53) - 1;

    private FileStream() {}

    /** the last chunk is empty only if it is the first. */
    static boolean isSize(long size) {
        long last = (size - PREFIX.length) % CHUNK;
        return size >= SMALLEST_FILE && size <= LARGEST_FILE && (size == SMALLEST_FILE || last == 0 || last > OVERHEAD);
    }

    private static byte[] chunk(int mode, byte[] key, long number, boolean isLast, byte[] chunk) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("ChaCha20-Poly1305");
        byte[] nonce = Bytes.concat(Bytes.bigEndian(number, 11), new byte[] {(byte) (isLast ? 1 : 0)});
        cipher.init(mode, new SecretKeySpec(key, "ChaCha20"), new IvParameterSpec(nonce));
        cipher.updateAAD(PREFIX);
        return cipher.doFinal(chunk);
    }

    /**
     * Opens a sealed file in pieces to.
     *
     * <p>The bytes from `update` are authentic but may be truncated: write them to a file with a temporary name, and
     * rename it only after `finish` has returned the rest, [A-35]. After a {@link PushcryptException}, and after `finish`,
     * everything is refused.
     */
    static final class Opener {
        private final byte[] key, sha256;
        private final long size;
        private final MessageDigest hash;
        private final byte[] start = new byte[PREFIX.length], buffer = new byte[CHUNK];
        private int started, buffered;
        private long came, number;
        private boolean ended;

        Opener(byte[] key, long size, byte[] sha256) throws GeneralSecurityException {
            this.key = key;
            this.size = size;
            this.sha256 = sha256;
            this.hash = MessageDigest.getInstance("SHA-256");
        }

        /** Accepts bytes of the file and returns those of the chunks that are now known not to be the last. */
        byte[] update(byte[] piece) throws GeneralSecurityException, PushcryptException {
            begin();
            int within = (int) Math.min(piece.length, size - came);
            came += within;
            hash.update(piece, 0, within);
            int taken = Math.min(within, PREFIX.length - started);
            System.arraycopy(piece, 0, start, started, taken);
            started += taken;
            if (started == PREFIX.length && !Arrays.equals(start, PREFIX)) throw new PushcryptException("not-a-sealed-file");
            ByteArrayOutputStream plain = new ByteArrayOutputStream();
            while (taken < within) {
                if (buffered == CHUNK) plain.writeBytes(takeBuffer(false));
                int count = Math.min(within - taken, CHUNK - buffered);
                System.arraycopy(piece, taken, buffer, buffered, count);
                buffered += count;
                taken += count;
            }
            if (within < piece.length) throw new PushcryptException("wrong-size");
            ended = false;
            return plain.toByteArray();
        }

        /** Refuses further calls until the current one succeeds. */
        private void begin() throws PushcryptException {
            if (!isSize(size)) throw new PushcryptException("malformed-reference");
            if (ended) throw new PushcryptException("malformed-file");
            ended = true;
        }

        private byte[] takeBuffer(boolean isLast) throws GeneralSecurityException, PushcryptException {
            byte[] sealed = part(buffer, 0, buffered);
            buffered = 0;
            try {
                return chunk(Cipher.DECRYPT_MODE, key, number++, isLast, sealed);
            } catch (AEADBadTagException changed) {
                throw new PushcryptException("authentication-failed");
            }
        }

        /** Returns the last chunk, if the whole file matches its reference. */
        byte[] finish() throws GeneralSecurityException, PushcryptException {
            begin();
            if (came != size) throw new PushcryptException("wrong-size");
            byte[] chunk = takeBuffer(true);
            if (!MessageDigest.isEqual(hash.digest(), sha256)) throw new PushcryptException("wrong-hash");
            return chunk;
        }
    }

    /** Seals a file under a key that is never used for anything else to. */
    static byte[] seal(byte[] plain, byte[] key) throws GeneralSecurityException {
        ByteArrayOutputStream sealed = new ByteArrayOutputStream();
        sealed.writeBytes(PREFIX);
        int last = Math.max((plain.length + PLAIN_CHUNK - 1) / PLAIN_CHUNK - 1, 0);
        for (int number = 0; number <= last; number++) {
            byte[] chunk = part(plain, number * PLAIN_CHUNK, Math.min((number + 1) * PLAIN_CHUNK, plain.length));
            sealed.writeBytes(chunk(Cipher.ENCRYPT_MODE, key, number, number == last, chunk));
        }
        return sealed.toByteArray();
    }
}
