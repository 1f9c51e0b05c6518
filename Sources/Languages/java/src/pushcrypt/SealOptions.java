package pushcrypt;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * How one message is sealed. Values never change; each method returns another one:
 *
 * <pre>{@code SealOptions.STANDARD.messageName("table-17").timeToLive(Duration.ofHours(1))}</pre>
 */
public final class SealOptions implements Cloneable {
    /** An alert for 30 days. */
    public static final SealOptions STANDARD = new SealOptions();

    PushType pushType = PushType.ALERT;
    String messageName;
    long timeToLive = Envelope.LONGEST_TIME_TO_LIVE;
    boolean sentExactly, isDropped;
    List<AttachmentReference> attachments = List.of();
    AttachmentReference fullBody;
    MessageSender from;
    List<String> withdrawing = List.of();

    private SealOptions() {}

    private interface Change {
        void apply(SealOptions options);
    }

    private SealOptions with(Change change) {
        try {
            SealOptions copy = (SealOptions) super.clone();
            change.apply(copy);
            return copy;
        } catch (CloneNotSupportedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Seals as another push type.
     *
     * @param pushType the type
     * @return the options
     */
    public SealOptions pushType(PushType pushType) {
        Objects.requireNonNull(pushType, "pushType");
        return with(options -> options.pushType = pushType);
    }

    /**
     * Names the message, the same in every retry, so that the phone shows it once.
     *
     * @param name the name, not empty
     * @return the options
     * @throws PushcryptException {@code invalid-request}
     */
    public SealOptions messageName(String name) throws PushcryptException {
        Objects.requireNonNull(name, "name");
        if (Json.checked(name, "the message's name").isEmpty()) throw new PushcryptException("invalid-request", "the message's name is empty; leave it out");
        return with(options -> options.messageName = name);
    }

    /**
     * Sets for how long receivers show the message. Unless it is a call, the end is rounded to ten minutes.
     *
     * @param timeToLive 1 second to 30 days
     * @return the options
     * @throws PushcryptException {@code invalid-time}
     */
    public SealOptions timeToLive(Duration timeToLive) throws PushcryptException {
        long seconds = timeToLive.getSeconds();
        if (timeToLive.getNano() != 0 || seconds < 1 || seconds > Envelope.LONGEST_TIME_TO_LIVE) throw new PushcryptException("invalid-time");
        return with(options -> options.timeToLive = seconds);
    }

    /**
     * Says that the JSON reaches Apple byte for byte: its own length is limited, and not that of the longest re-encoding.
     *
     * @return the options
     */
    public SealOptions sentExactly() {
        return with(options -> options.sentExactly = true);
    }

    /**
     * Adds files that were sealed and stored.
     *
     * @param references at most 8
     * @return the options
     */
    public SealOptions attachments(List<AttachmentReference> references) {
        List<AttachmentReference> all = List.copyOf(references);
        return with(options -> options.attachments = all);
    }

    /**
     * Adds the whole text, if the payload has only its beginning.
     *
     * @param reference what {@link Sealer#sealFullBody} returned
     * @return the options
     */
    public SealOptions fullBody(AttachmentReference reference) {
        Objects.requireNonNull(reference, "reference");
        return with(options -> options.fullBody = reference);
    }

    /**
     * Says who the notification is from, to be shown with a face.
     *
     * @param sender the person
     * @return the options
     */
    public SealOptions from(MessageSender sender) {
        Objects.requireNonNull(sender, "sender");
        return with(options -> options.from = sender);
    }

    /**
     * Takes earlier messages off the screen.
     *
     * @param names their names, at most 64
     * @return the options
     */
    public SealOptions withdrawing(List<String> names) {
        List<String> all = List.copyOf(names);
        return with(options -> options.withdrawing = all);
    }

    /**
     * Says that the message is not to be shown.
     *
     * @return the options
     */
    public SealOptions drop() {
        return with(options -> options.isDropped = true);
    }
}
