package pushcrypt;

import java.time.Instant;
import java.util.List;

/**
 * Opens pushes for one app.
 *
 * <p>There is no replay guard and no store: the app remembers {@link OpenedPush#sender} and {@link OpenedPush#messageId} of what it has shown, durably, and
 * stores what {@link Trust#follow} makes of the <i>currently</i> stored trust, under one lock.
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
     * @param trust the senders that the app trusts
     * @param at the present time
     * @return the message
     * @throws PushcryptException a code of Docs/Format.md, "Opening"
     */
    public OpenedPush open(byte[] push, List<DeviceKey> devices, Trust trust, Instant at) throws PushcryptException {
        return new OpenedPush(Platform.run(() -> Envelope.openPush(push, topic, devices, trust.rules, Platform.milliseconds(at))));
    }

    /**
     * Opens the value of {@code ENCRYPTED_DATA}. Changes nothing.
     *
     * @param text the value
     * @param devices the device's keys: active, pending and retiring
     * @param trust the senders that the app trusts
     * @param at the present time
     * @return the message
     * @throws PushcryptException a code of Docs/Format.md, "Opening"
     */
    public OpenedPush openEnvelope(String text, List<DeviceKey> devices, Trust trust, Instant at) throws PushcryptException {
        return new OpenedPush(Platform.run(() -> Envelope.openText(text, topic, devices, trust.rules, Platform.milliseconds(at))));
    }
}
