package com.example.pushcrypt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static com.example.pushcrypt.Fixtures.DEVICE;
import static com.example.pushcrypt.Fixtures.PAYLOAD;
import static com.example.pushcrypt.Fixtures.PROVIDER;
import static com.example.pushcrypt.Fixtures.TOPIC;
import static com.example.pushcrypt.Fixtures.fault;
import static com.example.pushcrypt.Fixtures.refused;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import com.example.pushcrypt.testing.DeviceKey;
import com.example.pushcrypt.testing.Phone;

/** Certificates: issued here, requested and installed, and what they mean for sealing. */
final class RotationTest {
    private static final ProviderPublicKey PIN = PROVIDER.publicKey();

    @TempDir
    Path folder;

    private static String text(byte[] key) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(key);
    }

    @Test
    void inThisProcess() {
        DeviceKey phone = DeviceKey.generate();
        Credential first = CertificatePlan.FIRST.issue(PROVIDER, TOPIC);
        SealedPush push = new Sealer(first, TOPIC).seal(PAYLOAD, phone.device(TOPIC));
        assertEquals(PAYLOAD, new Phone(TOPIC, phone, PIN).open(push.json()).payload());
        assertEquals(first, Credential.parse(first.secretText()));
        assertFalse(first.toString().contains(first.key().secretText()));
        Credential stolen = CertificatePlan.after(first.certificate()).withPast(List.of(new CertificatePlan.PastEpoch(null, Instant.now()))).stolen().issue(PROVIDER, TOPIC);
        assertEquals(stolen.certificate().epoch(), stolen.certificate().floor());
        Credential planned = CertificatePlan.after(stolen.certificate()).issue(PROVIDER, TOPIC);
        assertEquals(stolen.certificate().epoch(), planned.certificate().floor());
    }

    /** [S-10] */
    @Test
    void anExpiredCertificateSealsNothing() {
        Credential brief = CertificatePlan.FIRST.withLifetime(Duration.ofHours(1)).issue(PROVIDER, TOPIC);
        Instant end = brief.certificate().expiresAt();
        Sealer in = Sealer.builder(brief, TOPIC).clock(Clock.fixed(end, ZoneOffset.UTC)).build();
        assertTrue(in.seal(PAYLOAD, Fixtures.PHONE).json().length() > 400);
        Sealer after = Sealer.builder(brief, TOPIC).clock(Clock.fixed(end.plusMillis(1), ZoneOffset.UTC)).build();
        refused(Code.INVALID_TIME, () -> after.seal(PAYLOAD, Fixtures.PHONE));
        fault(() -> CertificatePlan.FIRST.withLifetime(Duration.ofMillis(1500)));
    }

    @Test
    void withTheProviderKeyElsewhere() {
        Certificate old = CertificatePlan.FIRST.issue(PROVIDER, TOPIC).certificate();
        SigningKey key = SigningKey.generate();
        CertificatePlan plan = CertificatePlan.after(old).withLifetime(Duration.ofDays(180))
            .withPast(List.of(new CertificatePlan.PastEpoch(null, Instant.ofEpochMilli(1_700_000_000_123L))));
        CertificateRequest request = plan.request(PIN, TOPIC, key.publicText());
        String text = request.toJson();
        assertFalse(text.contains(key.secretText()));
        CertificateRequest carried = CertificateRequest.fromJson(text);
        assertEquals(request, carried);
        assertEquals(plan, carried.plan());
        String answer = carried.certify(PROVIDER);
        Credential installed = request.install(key, answer);
        assertEquals(key, installed.key());
        assertEquals(installed, CertificateRequest.fromJson(text).install(SigningKey.parse(key.secretText()), answer));
        assertTrue(installed.certificate().epoch() > old.epoch());
        assertEquals(PIN, new Sealer(installed, TOPIC).provider());
        assertEquals(installed.certificate(), new Sealer(installed, TOPIC).certificate());
        assertNull(new Sealer(PROVIDER, TOPIC).certificate());
        for (Instant other : List.of(Instant.EPOCH, Instant.ofEpochMilli(1_700_000_000L), Instant.ofEpochSecond(1_700_000_000_123L), Instant.MAX)) {
            refused(Code.IMPLAUSIBLE_TIME, () -> new CertificatePlan.PastEpoch(null, other));
        }

        refused(Code.WRONG_CERTIFICATE, () -> request.install(SigningKey.generate(), answer));
        refused(Code.WRONG_CERTIFICATE, () -> plan.request(PIN, TOPIC, SigningKey.generate().publicText()).install(key, answer));
        refused(Code.WRONG_CERTIFICATE, () -> plan.request(PIN, "b", key.publicText()).install(key, answer));
        refused(Code.WRONG_CERTIFICATE, () -> carried.certify(ProviderKey.generate()));
        refused(Code.BAD_CERTIFICATE_SIGNATURE, () -> request.install(key, answer.replace(TOPIC, "b")));
        refused(Code.BAD_CERTIFICATE_SIGNATURE, () -> plan.request(PIN, "b", key.publicText()).certify(PROVIDER));
        refused(Code.MALFORMED_REQUEST, () -> request.install(key, text));
        refused(Code.MALFORMED_REQUEST, () -> CertificateRequest.fromJson(answer));
        // One that is installed already is not refused; one that is older, or has ended, is.
        assertEquals(installed, CertificatePlan.after(installed.certificate()).request(PIN, TOPIC, key.publicText()).install(key, answer));
        Certificate next = CertificatePlan.after(installed.certificate()).issue(PROVIDER, TOPIC).certificate();
        refused(Code.WRONG_CERTIFICATE, () -> CertificatePlan.after(next).request(PIN, TOPIC, key.publicText()).install(key, answer));
        refused(Code.WRONG_CERTIFICATE, () -> CertificatePlan.FIRST.withProven(next).request(PIN, TOPIC, key.publicText()).install(key, answer));
        long end = installed.certificate().expiresAt().toEpochMilli();
        assertEquals(installed, request.install(key, answer, end - 1));
        refused(Code.WRONG_CERTIFICATE, () -> request.install(key, answer, end));
        // No clock stops a rotation.
        for (int days : new int[] {-2, 3, 400}) request.install(key, carried.certify(PROVIDER, Instant.now().plus(Duration.ofDays(days))));
        refused(Code.WEAK_KEY, () -> CertificatePlan.FIRST.request(PIN, TOPIC, text(PIN.bytes())).certify(PROVIDER));
        refused(Code.WEAK_KEY, () -> CertificatePlan.FIRST.request(PIN, TOPIC, text(new byte[32])));
        refused(Code.MALFORMED_KEY, () -> CertificatePlan.FIRST.request(PIN, TOPIC, text(new byte[31])));
        for (String wrong : List.of("{}", "[]", text.replace("\"version\":1", "\"version\":2"), text.replace("\"expires\":", "\"expires\":-"),
            text.replace("\"past\":[", "\"past\":[7,"), text.replace("\"past\":", "\"past\":1,\"p\":"), text.replace(PIN.toString(), DEVICE.toString()),
            text.replace("\"replaced\":", "\"replace\":"), text.replace("{\"version\"", "{\"stolen\":1,\"version\""), text.replace(TOPIC, "a b"),
            text.replace("\"signing_key\":\"", "\"signing_key\":\"A"))) {
            refused(Code.MALFORMED_REQUEST, () -> CertificateRequest.fromJson(wrong));
        }
        String weak = "pcs1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqd3u8zu";
        refused(Code.MALFORMED_REQUEST, () -> CertificateRequest.fromJson(text.replace(PIN.toString(), weak)));
        refused(Code.MALFORMED_REQUEST, () -> request.install(key, answer.replace(PIN.toString(), weak)));
        refused(Code.MALFORMED_CERTIFICATE, () -> CertificateRequest.fromJson(text.replace("\"current\":\"", "\"current\":\"A")));
    }

    private static String command() {
        String given = System.getenv("PUSHCRYPT");
        if (given != null) return given.isEmpty() ? null : given;
        return Arrays.stream(System.getenv("PATH").split(":")).map(place -> Path.of(place, "pushcrypt")).filter(Files::isExecutable)
            .map(Path::toString).findFirst().orElse(null);
    }

    /** The texts are the command's, in both directions. */
    @Test
    void withTheCommand() throws Exception {
        String command = command();
        Assumptions.assumeTrue(command != null, "no pushcrypt");
        SigningKey key = SigningKey.generate();
        CertificateRequest request = CertificatePlan.FIRST.withLifetime(Duration.ofDays(90)).request(PIN, TOPIC, key.publicText());
        Files.writeString(folder.resolve("request.json"), request.toJson());
        Files.createFile(folder.resolve("provider.key"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(folder.resolve("provider.key"), PROVIDER.secretText());
        run(command, "key", "certify", "request.json", "--provider-key-file", "provider.key", "--yes", "-o", "certificate.json");
        Credential installed = request.install(key, Files.readString(folder.resolve("certificate.json")));
        assertNotEquals(null, installed.certificate().expiresAt());
        run(command, "--store", "P", "init");
        run(command, "--store", "P", "key", "new", "provider", "--topic", TOPIC, "--offline", "-o", "offline.key");
        run(command, "--store", "P", "key", "rotate", "--request", "--stolen", "-o", "theirs.json");
        CertificateRequest theirs = CertificateRequest.fromJson(Files.readString(folder.resolve("theirs.json")));
        assertTrue(theirs.plan().isStolen());
        Files.writeString(folder.resolve("answer.json"), theirs.certify(ProviderKey.parse(Files.readString(folder.resolve("offline.key")))));
        run(command, "--store", "P", "key", "rotate", "--install", "answer.json");
    }

    private void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), said);
    }

    @Test
    void credentials() {
        refused(Code.WEAK_KEY, () -> ProviderPublicKey.of(new byte[32]));
        Credential first = CertificatePlan.FIRST.issue(PROVIDER, TOPIC), second = CertificatePlan.after(first.certificate()).stolen().issue(PROVIDER, TOPIC);
        refused(Code.BAD_CERTIFICATE_SIGNATURE, () -> new Sealer(first, "b"));
        refused(Code.BAD_CERTIFICATE_SIGNATURE, () -> first.certificate().verify(ProviderKey.generate().publicKey(), TOPIC));
        refused(Code.WRONG_CERTIFICATE, () -> new Credential(SigningKey.generate(), first.certificate(), PIN));
        fault(() -> new Credential(first.key(), first.certificate(), null));
        String[] lines = second.secretText().split("\n");
        refused(Code.MALFORMED_KEY, () -> Credential.parse(lines[0] + "\n" + lines[1]));
        refused(Code.MALFORMED_KEY, () -> Credential.parse(second.secretText() + "\n"));
        refused(Code.WRONG_CERTIFICATE, () -> Credential.parse(second.secretText().replace(lines[0], SigningKey.generate().secretText())));
    }
}
