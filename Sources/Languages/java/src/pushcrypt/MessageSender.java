package pushcrypt;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The person that a notification is from, to be shown with a face.
 *
 * @param name the name to show
 * @param handle what names the person in the app; the name if there is no other
 * @param conversation what names the conversation, or {@code null}
 * @param recipients the names of the others in the conversation
 * @param avatar a sealed picture, or {@code null}
 */
public record MessageSender(String name, String handle, String conversation, List<String> recipients, AttachmentReference avatar) {
    private static final int LONGEST_TEXT = 255, MOST_RECIPIENTS = 8;
    private static final long LARGEST_AVATAR = 1_000_000;
    private static final List<String> PICTURES = List.of("public.jpeg", "public.png");

    /**
     * Creates a person, and copies the list of recipients.
     *
     * @param name the name to show
     * @param handle what names the person in the app; the name if there is no other
     * @param conversation what names the conversation, or {@code null}
     * @param recipients the names of the others in the conversation
     * @param avatar a sealed picture, or {@code null}
     */
    public MessageSender {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(handle, "handle");
        recipients = List.copyOf(recipients);
    }

    /**
     * Creates a person with a name alone.
     *
     * @param name the name
     * @return the person
     */
    public static MessageSender of(String name) {
        return new MessageSender(name, name, null, List.of(), null);
    }

    static boolean isAvatar(Attachments.Reference reference) {
        return PICTURES.contains(reference.type()) && reference.size() <= LARGEST_AVATAR;
    }

    /** Whether the format allows all texts [N-9]. */
    boolean isShown() {
        List<String> texts = new ArrayList<>(recipients);
        texts.add(name);
        texts.add(handle);
        if (conversation != null) texts.add(conversation);
        return recipients.size() <= MOST_RECIPIENTS && texts.stream().allMatch(MessageSender::isShown);
    }

    private static boolean isShown(String text) {
        return Json.isUnicode(text) && isText(text, LONGEST_TEXT);
    }

    /** Whether a text has 1 to so many bytes, and no control characters. */
    static boolean isText(String text, int most) {
        return !text.isEmpty() && text.getBytes(StandardCharsets.UTF_8).length <= most && text.codePoints().noneMatch(Character::isISOControl);
    }
}
