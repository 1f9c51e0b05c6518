import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.Mac;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import pushcrypt.DevicePublicKey;
import pushcrypt.SealOptions;
import pushcrypt.Sealer;
import pushcrypt.SenderKey;

/** The package for Java beside the bare calls of the JDK that a seal is made of: README.md. Started by peers.py. */
class Bench {
    private interface One {
        int run(int index) throws Exception;
    }

    private static final byte[] PRIVATE = HexFormat.of().parseHex("302e020100300506032b656e04220420");
    private static final byte[] PUBLIC = HexFormat.of().parseHex("302a300506032b656e032100");
    private static final byte[] ZEROS = new byte[32];
    private static final String TEXT = "{\"aps\":{\"mutable-content\":1,\"alert\":{\"title\":\"New message\",\"body\":\"(Encrypted)\"}},\"ENCRYPTED_DATA\":\"";

    private final SecureRandom random = new SecureRandom();
    private final byte[] inner = new byte[512], content = new byte[444], label = new byte[90], message = new byte[180], hedge = new byte[32], body, base = new byte[32];
    private final byte[][] keys;
    private final PrivateKey signing;

    private Bench(byte[] body, int devices) throws Exception {
        this.body = body;
        base[0] = 9;
        signing = KeyPairGenerator.getInstance("Ed25519").generateKeyPair().getPrivate();
        keys = new byte[devices][];
        KeyPairGenerator generator = KeyPairGenerator.getInstance("X25519");
        for (int index = 0; index < devices; index++) {
            byte[] encoded = generator.generateKeyPair().getPublic().getEncoded();
            keys[index] = Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length);
        }
    }

    private static byte[] joined(byte[] first, byte[] second) {
        byte[] result = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, result, first.length, second.length);
        return result;
    }

    private static byte[] mac(byte[] key, byte[] data) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(data);
    }

    private static byte[] hash(byte[] data) throws Exception {
        return MessageDigest.getInstance("SHA-256").digest(data);
    }

    private static byte[] x25519(PrivateKey secret, byte[] key) throws Exception {
        KeyAgreement agreement = KeyAgreement.getInstance("X25519");
        agreement.init(secret);
        agreement.doPhase(KeyFactory.getInstance("X25519").generatePublic(new X509EncodedKeySpec(joined(PUBLIC, key))), true);
        return agreement.generateSecret();
    }

    private int bare(int index) throws Exception {
        byte[] device = keys[index % keys.length], drawn = new byte[64];
        random.nextBytes(drawn);
        hash(device);
        hash(body);
        hash(content);
        mac(hedge, drawn);
        byte[] scalar = mac(mac(ZEROS, mac(hedge, message)), label);
        PrivateKey ephemeral = KeyFactory.getInstance("X25519").generatePrivate(new PKCS8EncodedKeySpec(joined(PRIVATE, scalar)));
        byte[] enc = x25519(ephemeral, base), shared = mac(mac(ZEROS, x25519(ephemeral, device)), label);
        mac(ZEROS, label);
        byte[] schedule = mac(shared, label), key = mac(schedule, label), nonce = Arrays.copyOf(mac(schedule, label), 12);
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(signing);
        signer.update(message);
        byte[] signature = signer.sign();
        System.arraycopy(signature, 0, inner, 4, 64);
        Cipher cipher = Cipher.getInstance("ChaCha20-Poly1305");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "ChaCha20"), new IvParameterSpec(nonce));
        byte[] sealed = joined(enc, cipher.doFinal(inner));
        return (TEXT + Base64.getUrlEncoder().withoutPadding().encodeToString(sealed) + "\"}").length();
    }

    public static void main(String[] arguments) throws Exception {
        Sealer sealer = new Sealer(SenderKey.parse(arguments[0]), arguments[1]);
        String payload = arguments[2];
        DevicePublicKey[] devices = new DevicePublicKey[arguments.length - 3];
        for (int index = 0; index < devices.length; index++) devices[index] = DevicePublicKey.parse(arguments[3 + index]);
        Bench bench = new Bench(payload.getBytes(StandardCharsets.UTF_8), devices.length);
        One seal = index -> sealer.seal(payload, devices[index % devices.length], SealOptions.STANDARD).json().length();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            // In turns, so that what else runs here disturbs both; the quartile is of calls that nothing interrupted.
            long[] seals = new long[Integer.parseInt(line)], calls = new long[seals.length];
            long length = 0;
            for (int index = 0; index < seals.length; index++) {
                long start = System.nanoTime();
                length += seal.run(index);
                long middle = System.nanoTime();
                bench.bare(index);
                calls[index] = System.nanoTime() - middle;
                seals[index] = middle - start;
            }
            Arrays.sort(seals);
            Arrays.sort(calls);
            System.out.println(seals[seals.length / 4] / 1e9 + " " + calls[seals.length / 4] / 1e9 + " " + length / seals.length);
        }
    }
}
