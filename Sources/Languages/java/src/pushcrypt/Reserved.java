package pushcrypt;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The member `pushcrypt` of a payload: Docs/FormatMessages.md, Docs/FormatAttachments.md. */
final class Reserved {
    private static final int MOST_ATTACHMENTS = 8, MOST_WITHDRAWN = 64;

    private static final Pattern INVISIBLE = Pattern.compile(
        "[\\x{061C}\\x{200B}\\x{200E}\\x{200F}\\x{202A}-\\x{202E}\\x{2060}\\x{2066}-\\x{2069}\\x{FEFF}]");

    private Reserved() {}

    /** The member's text, or nothing. */
    static String write(SealOptions options) throws PushcryptException {
        if (options.attachments.size() > MOST_ATTACHMENTS) throw new PushcryptException("too-many-attachments");
        checkWithdrawals(options.withdrawing, options.messageName);
        if (options.fullBody != null) Attachments.checkFullBodyReference(options.fullBody.parts);
        String files = String.join(",", options.attachments.stream().map(AttachmentReference::json).toList());
        String text = Json.object(
            "body", options.fullBody == null ? null : options.fullBody.json(), "attachments", files.isEmpty() ? null : "[" + files + "]",
            "sender", options.from == null ? null : write(options.from), "withdraw", Json.texts(options.withdrawing),
            "drop", options.isDropped ? "true" : null);
        return text.equals("{}") ? "" : text;
    }

    private static void checkWithdrawals(List<String> names, String messageName) throws PushcryptException {
        if (names.size() > MOST_WITHDRAWN) throw new PushcryptException("invalid-request", "a message withdraws at most 64 others");
        if (names.contains("")) throw new PushcryptException("invalid-request", "the name of a message to withdraw is empty");
        if (messageName != null && names.contains(messageName)) {
            throw new PushcryptException("invalid-request", "the message would withdraw itself; give it another name");
        }
        for (String name : names) Json.checked(name, "the name of a message to withdraw");
    }

    private static String write(MessageSender sender) throws PushcryptException {
        if (!sender.isShown()) {
            throw new PushcryptException("invalid-request", "a sender's texts have 1 to 255 bytes and no control characters, and it has at most 8 recipients");
        }
        if (sender.avatar() != null && !MessageSender.isAvatar(sender.avatar().parts)) throw new PushcryptException("malformed-reference");
        return Json.object(
            "name", Json.quoted(sender.name()), "handle", sender.handle().equals(sender.name()) ? null : Json.quoted(sender.handle()),
            "conversation", Json.quotedOrNull(sender.conversation()), "recipients", Json.texts(sender.recipients()),
            "avatar", sender.avatar() == null ? null : sender.avatar().json());
    }

    /** What an opened payload says beside its text; `own` is the id of its message. */
    static Extras read(Map<String, Object> members, String own) {
        Attachments.Found found = Attachments.attachments(members);
        List<String> dropped = new ArrayList<>(found.dropped());
        Attachments.Reference fullBody = null;
        try {
            fullBody = Attachments.fullBody(members);
        } catch (PushcryptException refused) {
            dropped.add(refused.code());
        }
        Map<?, ?> reserved = members.get("pushcrypt") instanceof Map<?, ?> object ? object : Map.of();
        MessageSender sender = readSender(reserved.get("sender"), dropped);
        return new Extras(
            found.references().stream().map(AttachmentReference::new).toList(), fullBody == null ? null : new AttachmentReference(fullBody),
            readWithdrawals(reserved.get("withdraw"), own), Boolean.TRUE.equals(reserved.get("drop")), sender, List.copyOf(dropped));
    }

    /** The ids of the withdrawn messages [O-8.11]. */
    private static List<String> readWithdrawals(Object value, String own) {
        if (!(value instanceof List<?> names)) return List.of();
        Set<String> ids = new LinkedHashSet<>();
        for (Object name : names.subList(0, Math.min(MOST_WITHDRAWN, names.size()))) {
            if (name instanceof String text && !text.isEmpty()) ids.add(HexFormat.of().formatHex(Sealing.namedMessageID(text)));
        }
        ids.remove(own);
        return List.copyOf(ids);
    }

    /** The sender [N-9], or null. Adds the code of an avatar that is left out. */
    private static MessageSender readSender(Object value, List<String> dropped) {
        if (!(value instanceof Map<?, ?> members)) return null;
        AttachmentReference avatar = null;
        try {
            Object picture = members.get("avatar");
            if (picture != null && picture != Payload.NULL) {
                Attachments.Reference reference = Attachments.parseReference(picture);
                if (!MessageSender.isAvatar(reference)) throw new PushcryptException("malformed-reference");
                avatar = new AttachmentReference(reference);
            }
        } catch (PushcryptException refused) {
            dropped.add(refused.code());
        }
        Object name = members.get("name"), handle = present(members.get("handle"), name), conversation = present(members.get("conversation"), null);
        Object others = present(members.get("recipients"), List.of());
        boolean isGood = name instanceof String && handle instanceof String && (conversation == null || conversation instanceof String)
            && others instanceof List<?> list && list.stream().allMatch(String.class::isInstance);
        if (!isGood) return null;
        List<String> recipients = ((List<?>) others).stream().map(String.class::cast).toList();
        MessageSender sender = new MessageSender((String) name, (String) handle, (String) conversation, recipients, avatar);
        if (!sender.isShown()) return null;
        List<String> visible = recipients.stream().map(Reserved::visible).toList();
        MessageSender shown = new MessageSender(visible((String) name), (String) handle, (String) conversation, visible, avatar);
        return shown.isShown() ? shown : null;
    }

    /** A name without the characters that [N-4] takes away. */
    private static String visible(String name) {
        return INVISIBLE.matcher(name).replaceAll("");
    }

    private static Object present(Object value, Object otherwise) {
        return value == null || value == Payload.NULL ? otherwise : value;
    }
}
