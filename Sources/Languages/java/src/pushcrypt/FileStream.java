package pushcrypt;

import static pushcrypt.Bytes.concat;
import static pushcrypt.Bytes.part;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.ChaCha20ParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Files that accompany a push: Docs/FormatAttachments.md, "Sealed file" and "Opening a file".
 *
 * <p>The JDK has no secret stream, so it is built here from ChaCha20. Poly1305 in BigInteger is slow and does not run
 * in constant time: it leaks through timing to an adversary who can measure it closely. Keys are not wiped.
 */
final class FileStream {
    private static final byte[] PREFIX = {'P', 'C', 'A', '1', 0x10};
    private static final int HEADER = 24, START = 29, CHUNK = 65553, OVERHEAD = 17, MAC = 16;
    private static final int MESSAGE = 0x00, FINAL = 0x03;

    private FileStream() {}

    /** A chunk and its tag. */
    private record Chunk(byte[] plain, int tag) {}

    /** The state of a stream: a key, and a nonce that changes with each chunk. */
    private static final class SecretStream {
        private final byte[] key, nonce;

        SecretStream(byte[] key, byte[] header) throws GeneralSecurityException {
            // HChaCha20 is words 0-3 and 12-15 of ChaCha20's state after its rounds. A ChaCha20 block is that state
            // plus the initial state, of which these words are known: the constants, and the input used here as counter
            // and nonce.
            byte[] block = chacha20(key, part(header, 0, 16), new byte[64]);
            byte[] after = concat(part(block, 0, 16), part(block, 48, 64));
            byte[] known = concat(Bytes.ascii("expand 32-byte k"), part(header, 0, 16));
            this.key = new byte[32];
            for (int at = 0; at < 32; at += 4) store(this.key, at, load(after, at) - load(known, at));
            this.nonce = concat(new byte[] {1, 0, 0, 0}, part(header, 16, HEADER));
        }

        Chunk pull(byte[] sealed) throws GeneralSecurityException, PushcryptException {
            byte[] tagBlock = new byte[64], cipher = part(sealed, 1, sealed.length - MAC);
            tagBlock[0] = sealed[0];
            int tag = xor(1, tagBlock)[0];
            byte[] mac = mac(sealed[0], cipher);
            boolean same = MessageDigest.isEqual(mac, part(sealed, sealed.length - MAC, sealed.length));
            if (!same) throw new PushcryptException("authentication-failed");
            byte[] plain = xor(2, cipher);
            next(mac);
            return new Chunk(plain, tag);
        }

        byte[] push(byte[] plain, int tag) throws GeneralSecurityException {
            byte[] tagBlock = new byte[64];
            tagBlock[0] = (byte) tag;
            byte sealedTag = xor(1, tagBlock)[0];
            byte[] cipher = xor(2, plain), mac = mac(sealedTag, cipher);
            next(mac);
            return concat(new byte[] {sealedTag}, cipher, mac);
        }

        /**
         * The tag's block counts as 64 bytes of ciphertext. The padding after the ciphertext is libsodium's, not RFC
         * 8439's.
         */
        private byte[] mac(byte sealedTag, byte[] cipher) throws GeneralSecurityException {
            byte[] tagBlock = xor(1, new byte[64]), lengths = new byte[16];
            tagBlock[0] = sealedTag;
            store(lengths, 0, PREFIX.length);
            store(lengths, 8, 64 + cipher.length);
            byte[] padded = concat(PREFIX, new byte[16 - PREFIX.length], tagBlock, cipher, new byte[cipher.length % 16], lengths);
            return poly1305(xor(0, new byte[32]), padded);
        }

        private byte[] xor(int block, byte[] data) throws GeneralSecurityException {
            return chacha20(key, concat(new byte[] {(byte) block, 0, 0, 0}, nonce), data);
        }

        /** The nonce of the next chunk. Files of 2^32 chunks or more, 256 TiB, would need a new key here and do not open. */
        private void next(byte[] mac) {
            for (int at = 0; at < 8; at++) nonce[4 + at] ^= mac[at];
            store(nonce, 0, load(nonce, 0) + 1);
        }
    }

    /** ChaCha20 of RFC 8439; counter and nonce are one string of 16 bytes. */
    private static byte[] chacha20(byte[] key, byte[] counterAndNonce, byte[] data) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("ChaCha20");
        ChaCha20ParameterSpec parameters = new ChaCha20ParameterSpec(part(counterAndNonce, 4, 16), load(counterAndNonce, 0));
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "ChaCha20"), parameters);
        return cipher.doFinal(data);
    }

    /** Poly1305 of RFC 8439. */
    private static byte[] poly1305(byte[] key, byte[] data) {
        BigInteger r = Bytes.integer(part(key, 0, 16)).and(new BigInteger("0ffffffc0ffffffc0ffffffc0fffffff", 16));
        BigInteger p = BigInteger.TWO.pow(130).subtract(BigInteger.valueOf(5)), sum = BigInteger.ZERO;
        for (int at = 0; at < data.length; at += 16) {
            byte[] block = part(data, at, Math.min(at + 16, data.length));
            sum = sum.add(Bytes.integer(block)).add(BigInteger.ONE.shiftLeft(8 * block.length)).multiply(r).mod(p);
        }
        return Bytes.littleEndian(sum.add(Bytes.integer(part(key, 16, 32))), 16);
    }

    private static int load(byte[] bytes, int at) {
        return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8 | (bytes[at + 2] & 0xff) << 16 | (bytes[at + 3] & 0xff) << 24;
    }

    private static void store(byte[] bytes, int at, int word) {
        for (int index = 0; index < 4; index++) bytes[at + index] = (byte) (word >> 8 * index);
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
        private final byte[] buffer = new byte[CHUNK];
        private int buffered;
        private long came;
        private SecretStream stream;
        private boolean first = true, ended;

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
            ByteArrayOutputStream plain = new ByteArrayOutputStream();
            for (int taken = 0; taken < within; ) {
                int full = stream == null ? START : CHUNK;
                if (buffered == full) {
                    plain.writeBytes(takeBuffer());
                    continue;
                }
                int count = Math.min(within - taken, full - buffered);
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
            if (ended) throw new PushcryptException("malformed-file");
            ended = true;
        }

        /** Processes the start of the file, or a chunk that is not the last. */
        private byte[] takeBuffer() throws GeneralSecurityException, PushcryptException {
            byte[] sealed = part(buffer, 0, buffered);
            buffered = 0;
            if (stream == null) {
                if (!Arrays.equals(part(sealed, 0, PREFIX.length), PREFIX)) throw new PushcryptException("not-a-sealed-file");
                stream = new SecretStream(key, part(sealed, PREFIX.length, START));
                return new byte[0];
            }
            Chunk chunk = stream.pull(sealed);
            if (chunk.tag != MESSAGE) throw new PushcryptException("malformed-file");
            first = false;
            return chunk.plain;
        }

        /** Returns the last chunk, if the whole file matches its reference. */
        byte[] finish() throws GeneralSecurityException, PushcryptException {
            begin();
            if (came != size) throw new PushcryptException("wrong-size");
            if (stream == null || buffered < OVERHEAD) throw new PushcryptException("truncated-file");
            Chunk chunk = stream.pull(part(buffer, 0, buffered));
            if (chunk.tag == MESSAGE) throw new PushcryptException("truncated-file");
            if (chunk.tag != FINAL || chunk.plain.length == 0 && !first) throw new PushcryptException("malformed-file");
            if (!MessageDigest.isEqual(hash.digest(), sha256)) throw new PushcryptException("wrong-hash");
            return chunk.plain;
        }
    }

    /** Seals a file under a key that is never used for anything else to. `header` is random. */
    static byte[] seal(byte[] plain, byte[] key, byte[] header) throws GeneralSecurityException {
        SecretStream stream = new SecretStream(key, header);
        ByteArrayOutputStream sealed = new ByteArrayOutputStream();
        sealed.writeBytes(concat(PREFIX, header));
        int at = 0, most = CHUNK - OVERHEAD;
        for (; plain.length - at > most; at += most) sealed.writeBytes(stream.push(part(plain, at, at + most), MESSAGE));
        sealed.writeBytes(stream.push(part(plain, at, plain.length), FINAL));
        return sealed.toByteArray();
    }
}
