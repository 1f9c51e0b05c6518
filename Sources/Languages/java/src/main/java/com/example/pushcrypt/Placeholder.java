package com.example.pushcrypt;

import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.regex.Pattern;
import com.example.pushcrypt.internal.*;

/** What a phone shows if it cannot open a message. The relay reads it. The body is always {@code (Encrypted)}. */
public final class Placeholder {
    /** The title {@code New message}, with the system's sound if the payload has one, and nothing else in the clear. */
    public static final Placeholder STANDARD = new Placeholder(Format.STANDARD_TITLE, null, true, Set.of());

    private static final Pattern BLANK = Pattern.compile("\\p{IsWhite_Space}*");

    /** A field of {@code aps} that may also be sent in the clear. */
    public enum ClearField {
        /** The app's badge. */
        BADGE,
        /** The category, which has the text that is shown when previews are hidden. */
        CATEGORY,
        /** The key that groups notifications. */
        THREAD_ID,
        /** How urgent the notification is. */
        INTERRUPTION_LEVEL,
        /** How relevant the notification is. */
        RELEVANCE_SCORE,
        /** The window that the system brings to the front. */
        TARGET_CONTENT_ID,
        /** The criteria for Focus filters. */
        FILTER_CRITERIA;

        /** Returns Apple's name. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    final String title, sound;
    final boolean isMatching;
    final Set<ClearField> clearFields;

    private Placeholder(String title, String sound, boolean isMatching, Set<ClearField> clearFields) {
        this.title = title;
        this.sound = sound;
        this.isMatching = isMatching;
        this.clearFields = clearFields;
    }

    /**
     * Returns the same placeholder with another title.
     *
     * @param title the title, with a visible character
     * @return the placeholder
     * @throws PushcryptException {@code invalid-placeholder} or {@code invalid-request}
     */
    public Placeholder withTitle(String title) {
        return new Placeholder(check(title, "title"), sound, isMatching, clearFields);
    }

    /**
     * Returns the same placeholder with a sound, whether or not the payload has one.
     *
     * @param sound the sound's name
     * @return the placeholder
     * @throws PushcryptException {@code invalid-placeholder} or {@code invalid-request}
     */
    public Placeholder withSound(String sound) {
        return new Placeholder(title, check(sound, "sound"), false, clearFields);
    }

    /**
     * Returns the same placeholder without a sound.
     *
     * @return the placeholder
     */
    public Placeholder withoutSound() {
        return new Placeholder(title, null, false, clearFields);
    }

    /**
     * Returns the same placeholder with other fields in the clear.
     *
     * @param fields the fields
     * @return the placeholder
     */
    public Placeholder withClear(ClearField... fields) {
        return new Placeholder(title, sound, isMatching, Set.of(fields));
    }

    private static String check(String text, String what) {
        Objects.requireNonNull(text, what);
        Json.checked(text, "the placeholder's " + what);
        if (BLANK.matcher(text).matches()) throw new PushcryptException(Code.INVALID_PLACEHOLDER, "the placeholder's " + what + " is empty");
        if (text.getBytes(StandardCharsets.UTF_8).length > Format.LONGEST_CLEAR_TEXT) {
            throw new PushcryptException(Code.INVALID_PLACEHOLDER, "the placeholder's " + what + " is longer than a whole push");
        }
        return text;
    }
}
