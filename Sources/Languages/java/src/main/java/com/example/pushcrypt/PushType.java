package com.example.pushcrypt;

import java.util.Locale;
import com.example.pushcrypt.internal.Format;

/** A push type that can be sealed: a value of {@code apns-push-type}. */
public enum PushType {
    /** Shown to the user; the notification service extension opens it. */
    ALERT(Format.ALERT_CLASS, Format.ALERT_LIMIT, Format.ALERT_LARGEST_BUCKET),
    /** Wakes the app, which opens it; shows nothing. */
    BACKGROUND(Format.BACKGROUND_CLASS, Format.BACKGROUND_LIMIT, Format.BACKGROUND_LARGEST_BUCKET),
    /** A call; the app opens it. */
    VOIP(Format.VOIP_CLASS, Format.VOIP_LIMIT, Format.VOIP_LARGEST_BUCKET);

    /** What of it is signed. */
    final int pushClass;
    final int limit, largestBucket;

    PushType(int pushClass, int limit, int largestBucket) {
        this.pushClass = pushClass;
        this.limit = limit;
        this.largestBucket = largestBucket;
    }

    /**
     * Reads Apple's name.
     *
     * @param name such as {@code alert}
     * @return the type
     * @throws PushcryptException {@code push-type-not-sealable}
     */
    public static PushType of(String name) {
        for (PushType type : values()) if (type.toString().equals(name)) return type;
        throw new PushcryptException(Code.PUSH_TYPE_NOT_SEALABLE, Format.SYSTEM_PUSH_TYPES.contains(name)
            ? "the system reads a " + name + " push before any of the app's code runs, so nothing could open it; send it without secrets"
            : "there is no push type of this name; alert, background and voip can be sealed");
    }

    /** Returns Apple's name. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
