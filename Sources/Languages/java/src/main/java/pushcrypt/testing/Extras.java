package pushcrypt.testing;

import java.util.*;
import java.util.regex.Pattern;
import pushcrypt.*;
import pushcrypt.internal.*;

/**
 * What an opened message says beside its text: Docs/FormatAttachments.md, Docs/FormatMessages.md.
 *
 * @param attachments the files to fetch
 * @param fullBody the file with the whole text, or {@code null}
 * @param withdraws the ids of messages to take off the screen, 32 hexadecimal digits each
 * @param isDropped whether the message is not to be shown
 * @param sender the person that it is from, or {@code null}
 * @param dropped a code for each file that is left out
 */
public record Extras(
    List<AttachmentReference> attachments, AttachmentReference fullBody, List<String> withdraws, boolean isDropped, MessageSender sender,
    List<Code> dropped) {
    private static final Pattern INVISIBLE = Pattern.compile(Format.INVISIBLE);

    /** Reads the members of an opened payload; `own` is the id of its message. */
    static Extras read(Map<String, Object> members, String own) {
        List<Code> dropped = new ArrayList<>();
        Object value = members.getOrDefault("pushcrypt", Payload.NULL);
        if (!(value instanceof Map) && value != Payload.NULL) dropped.add(Code.MALFORMED_REFERENCE);
        Map<?, ?> reserved = value instanceof Map<?, ?> object ? object : Map.of();
        List<AttachmentReference> attachments = readAttachments(reserved.get("attachments"), dropped);
        AttachmentReference fullBody = readReference(reserved.get("body"), dropped);
        if (fullBody != null && !fullBody.isFullBody()) {
            dropped.add(Code.MALFORMED_REFERENCE);
            fullBody = null;
        }
        MessageSender sender = readSender(reserved.get("sender"), dropped);
        boolean isDropped = Boolean.TRUE.equals(reserved.get("drop"));
        return new Extras(attachments, fullBody, readWithdrawals(reserved.get("withdraw"), own), isDropped, sender, List.copyOf(dropped));
    }

    /** The files to. */
    private static List<AttachmentReference> readAttachments(Object value, List<Code> dropped) {
        if (value == null || value == Payload.NULL) return List.of();
        if (!(value instanceof List<?> elements)) {
            dropped.add(Code.MALFORMED_REFERENCE);
            return List.of();
        }
        List<AttachmentReference> found = new ArrayList<>();
        for (Object element : elements.subList(0, Math.min(Format.MOST_ATTACHMENTS, elements.size()))) {
            AttachmentReference reference = readReference(element == Payload.NULL ? List.of() : element, dropped);
            if (reference != null) found.add(reference);
        }
        if (elements.size() > Format.MOST_ATTACHMENTS) dropped.add(Code.TOO_MANY_ATTACHMENTS);
        return List.copyOf(found);
    }

    /** A reference, or null if there is none or it is malformed, which adds its code. */
    private static AttachmentReference readReference(Object value, List<Code> dropped) {
        if (value == null || value == Payload.NULL) return null;
        try {
            if (!(value instanceof Map<?, ?>)) throw new PushcryptException(Code.MALFORMED_REFERENCE);
            return AttachmentReference.fromJson(Json.write((Map<?, ?>) Json.plain(value), Code.MALFORMED_REFERENCE, "a reference"));
        } catch (PushcryptException refused) {
            dropped.add(refused.code());
            return null;
        }
    }

    /** The ids of the withdrawn messages [O-8.11]. */
    private static List<String> readWithdrawals(Object value, String own) {
        if (!(value instanceof List<?> names)) return List.of();
        Set<String> ids = new LinkedHashSet<>();
        for (Object name : names.subList(0, Math.min(Format.MOST_WITHDRAWN, names.size()))) {
            if (name instanceof String text && !text.isEmpty()) ids.add(HexFormat.of().formatHex(Envelope.namedMessageID(text)));
        }
        ids.remove(own);
        return List.copyOf(ids);
    }

    /** The sender [N-9], or null. Adds the code of an avatar that is left out. */
    private static MessageSender readSender(Object value, List<Code> dropped) {
        if (!(value instanceof Map<?, ?> members)) return null;
        AttachmentReference avatar = readReference(members.get("avatar"), dropped);
        try {
            if (avatar != null) new MessageSender("a", "a", null, List.of(), avatar);
        } catch (PushcryptException refused) {
            dropped.add(refused.code());
            avatar = null;
        }
        Object name = members.get("name"), handle = present(members.get("handle"), name), conversation = present(members.get("conversation"), null);
        Object others = present(members.get("recipients"), List.of());
        boolean isGood = name instanceof String && handle instanceof String && (conversation == null || conversation instanceof String)
            && others instanceof List<?> list && list.stream().allMatch(String.class::isInstance);
        if (!isGood) return null;
        List<String> recipients = ((List<?>) others).stream().map(String.class::cast).toList();
        try {
            // Checked as it came, and as it is shown.
            MessageSender came = new MessageSender((String) name, (String) handle, (String) conversation, recipients, avatar);
            return new MessageSender(
                visible(came.name()), came.handle(), came.conversation(), recipients.stream().map(Extras::visible).toList(), avatar);
        } catch (PushcryptException refused) {
            return null;
        }
    }

    /** A name without the characters that [N-4] takes away. */
    private static String visible(String name) {
        return INVISIBLE.matcher(name).replaceAll("");
    }

    private static Object present(Object value, Object otherwise) {
        return value == null || value == Payload.NULL ? otherwise : value;
    }
}
