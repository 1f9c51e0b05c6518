package pushcrypt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Base64;
import org.junit.jupiter.api.function.Executable;

/** What several test classes share. */
final class Fixtures {
    static final String HALF = "\ud800", TOPIC = "com.example.app", PAYLOAD = "{\"aps\":{\"alert\":\"a\",\"sound\":\"b\"}}";
    static final ProviderKey PROVIDER = ProviderKey.parse(Vectors.PROVIDER_SECRET);
    static final DevicePublicKey DEVICE = DevicePublicKey.parse("pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx");

    private Fixtures() {}

    /** The call is refused with the code, and says something that quotes none of the secrets of these tests. */
    static PushcryptException refused(Code code, Executable call) {
        PushcryptException refused = assertThrows(PushcryptException.class, call);
        assertEquals(code, refused.code());
        assertFalse(refused.getMessage().isEmpty());
        assertEquals(code.isRetryable(), refused.isRetryable());
        return refused;
    }

    /** The call is a fault of the program. */
    static void fault(Executable call) {
        Throwable thrown = assertThrows(RuntimeException.class, call);
        assertEquals(true, thrown instanceof NullPointerException || thrown instanceof IllegalArgumentException, () -> thrown.toString());
    }

    static AttachmentReference reference(byte[] key, String type) {
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(key);
        return new AttachmentReference("https://a", text, 22, text, type, "a");
    }
}
