package pushcrypt;

import java.time.Instant;
import java.util.List;

/**
 * Opens pushes for one app.
 *
 * <p>There is no replay guard and no store: the app remembers {@link OpenedPush#provider} and {@link OpenedPush#messageId} of what it has shown, durably, and
 * lets the <i>currently</i> stored trust {@link Trust#learn} what the message brought, under one lock.
 */
public final class Receiver {
    private final String topic;

    /**
     * Creates a receiver.
     *
     * @param topic the app's own bundle id, never a value from a push [O-0.2]
     * @throws PushcryptException {@code wrong-topic}
     */
    public Receiver(String topic) throws PushcryptException {
        Envelope.checkContext(topic);
        this.topic = topic;
    }

    /**
     * Opens a push as received. Changes nothing.
     *
     * @param push the whole JSON
     * @param devices the device's keys: active, pending and retiring
     * @param trust the account's trust
     * @param pushType with what the push came: a message that was sealed as another is refused
     * @param at the present time
     * @return the message
     * @throws PushcryptException a code of Docs/Format.md, "Opening"
     */
    public OpenedPush open(byte[] push, List<DeviceKey> devices, Trust trust, PushType pushType, Instant at) throws PushcryptException {
        return new OpenedPush(Platform.run(() -> Envelope.openPush(push, topic, devices, trust, pushType, Platform.milliseconds(at))));
    }

    /**
     * Opens the value of {@code ENCRYPTED_DATA}. Changes nothing.
     *
     * @param text the value
     * @param devices the device's keys: active, pending and retiring
     * @param trust the account's trust
     * @param pushType with what the push came: a message that was sealed as another is refused
     * @param at the present time
     * @return the message
     * @throws PushcryptException a code of Docs/Format.md, "Opening"
     */
    public OpenedPush openEnvelope(String text, List<DeviceKey> devices, Trust trust, PushType pushType, Instant at) throws PushcryptException {
        return new OpenedPush(Platform.run(() -> Envelope.openText(text, topic, devices, trust, pushType, Platform.milliseconds(at))));
    }
}
