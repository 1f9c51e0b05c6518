package pushcrypt;

import java.util.List;

/**
 * What an opened message says beside its text.
 *
 * @param attachments the files to fetch
 * @param fullBody the file with the whole text, or {@code null}
 * @param withdraws the ids of messages to take off the screen
 * @param isDropped whether the message is not to be shown
 * @param sender the person that it is from, or {@code null}
 * @param dropped a code for each file that is left out
 */
public record Extras(
    List<AttachmentReference> attachments, AttachmentReference fullBody, List<String> withdraws, boolean isDropped, MessageSender sender,
    List<String> dropped) {}
