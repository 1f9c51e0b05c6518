package com.example.pushcrypt;

import java.nio.charset.StandardCharsets;
import java.util.*;
import com.example.pushcrypt.internal.*;

/**
 * The person that a notification is from, whom a phone may show with a face. (Docs/Format.md, "Sender")
 *
 * @param name the name to show
 * @param handle the app's name for the person; the name if there is no other
 * @param conversation the app's name for the conversation, or {@code null}
 * @param recipients the names of the others in the conversation, at most 8
 * @param avatar a sealed picture, or {@code null}
 */
public record Person(String name, String handle, String conversation, List<String> recipients, Reference avatar) {
    /**
     * Creates a person, and copies the list of recipients.
     *
     * @param name the name to show
     * @param handle the app's name for the person; the name if there is no other
     * @param conversation the app's name for the conversation, or {@code null}
     * @param recipients the names of the others in the conversation, at most 8
     * @param avatar a sealed picture, or {@code null}
     * @throws PushcryptException {@code invalid-request} unless each text has 1 to 255 bytes without control characters [N-9];
     *     {@code malformed-reference} of an avatar that is no picture of at most 1,000,000 bytes
     */
    public Person {
        recipients = List.copyOf(recipients);
        List<String> texts = new ArrayList<>(recipients);
        texts.add(Objects.requireNonNull(name, "name"));
        texts.add(Objects.requireNonNull(handle, "handle"));
        if (conversation != null) texts.add(conversation);
        boolean isGood = recipients.size() <= Format.MOST_RECIPIENTS && texts.stream().allMatch(text -> isText(text, Format.LONGEST_LABEL));
        if (!isGood) {
            throw new PushcryptException(Code.INVALID_REQUEST,
                "a sender's texts have 1 to 255 bytes and no control characters, and it has at most 8 recipients");
        }
        if (avatar != null && !avatar.isAvatar()) throw new PushcryptException(Code.MALFORMED_REFERENCE);
    }

    /**
     * Creates a person with a name alone.
     *
     * @param name the name
     * @return the person
     * @throws PushcryptException {@code invalid-request}
     */
    public static Person of(String name) {
        return new Person(name, name, null, List.of(), null);
    }

    /** Whether a text has 1 to so many bytes, and no control characters. */
    static boolean isText(String text, int most) {
        // Each character has a byte or more: a text without end is not encoded.
        return !text.isEmpty() && text.length() <= most && Json.isUnicode(text) && text.getBytes(StandardCharsets.UTF_8).length <= most
            && text.codePoints().noneMatch(Character::isISOControl);
    }

    String json() {
        return Json.object(
            "name", Json.quoted(name), "handle", handle.equals(name) ? null : Json.quoted(handle), "conversation", Json.quoted(conversation),
            "recipients", Json.texts(recipients), "avatar", avatar == null ? null : avatar.toJson());
    }
}
