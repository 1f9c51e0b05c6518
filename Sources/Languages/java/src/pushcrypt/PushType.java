package pushcrypt;

import java.util.List;

/** A push type that can be sealed: a value of {@code apns-push-type}. */
public enum PushType {
    /** Shown to the user; the notification service extension opens it. */
    ALERT(4096, 2816, 1),
    /** Wakes the app, which opens it; shows nothing. */
    BACKGROUND(4096, 2816, 2),
    /** A call; the app opens it. */
    VOIP(5120, 3584, 3);

    private static final List<String> OF_THE_SYSTEM = List.of(
        "complication", "controls", "fileprovider", "liveactivity", "location", "mdm", "pushtotalk", "widgets");
    /** What of it is signed. */
    final int pushClass;
    final int limit, largestBucket;

    PushType(int limit, int largestBucket, int pushClass) {
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
    public static PushType of(String name) throws PushcryptException {
        for (PushType type : values()) if (type.toString().equals(name)) return type;
        throw new PushcryptException("push-type-not-sealable", OF_THE_SYSTEM.contains(name)
            ? "the system reads a " + name + " push before any of the app's code runs, so nothing could open it; send it without secrets"
            : "there is no push type of this name; alert, background and voip can be sealed");
    }

    /**
     * Returns the most bytes of a push that Apple accepts.
     *
     * @return 4,096, or 5,120 for a call
     */
    public int maximumPushLength() {
        return limit;
    }

    /**
     * Returns the most bytes of a payload, without white space.
     *
     * @return 2,717, or 3,485 for a call; 121 fewer from epoch 1 on
     */
    public int maximumPayloadLength() {
        return largestBucket - Envelope.BODY;
    }

    /** Returns Apple's name. */
    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
