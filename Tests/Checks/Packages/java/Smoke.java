import pushcrypt.ProviderKey;
import pushcrypt.Sealer;
import pushcrypt.testing.DeviceKey;
import pushcrypt.testing.Receiver;
import pushcrypt.testing.Trust;

/** A message that opens: a mutant that cannot do this much is broken altogether. */
class Smoke {
    public static void main(String[] arguments) {
        ProviderKey provider = ProviderKey.generate();
        DeviceKey phone = DeviceKey.generate();
        String push = new Sealer(provider, "com.example.app").seal("{\"aps\":{\"alert\":\"Hello\"}}", phone.publicKey()).json();
        new Receiver("com.example.app").open(push, phone, Trust.of(provider.publicKey()));
    }
}
