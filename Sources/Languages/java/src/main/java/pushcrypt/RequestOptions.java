package pushcrypt;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import pushcrypt.internal.*;

/**
 * How one push is sent:
 *
 * <pre>{@code RequestOptions.builder().deviceId("phone1").collapseName("table").build()}</pre>
 */
public final class RequestOptions {
    /** The standard priority, the end of the message, and its own collapse id. */
    public static final RequestOptions DEFAULT = builder().build();

    /** What of the collapse id's input stands for the device and for the pushes; null for the key and the message id. */
    final byte[] device, pushes;
    final Integer priority;
    final Long expiration;

    private RequestOptions(Builder builder) {
        device = builder.device;
        pushes = builder.pushes;
        priority = builder.priority;
        expiration = builder.expiration;
    }

    /**
     * Starts with the default options.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Builds options. */
    public static final class Builder {
        private byte[] device, pushes;
        private Integer priority;
        private Long expiration;

        private Builder() {}

        /**
         * Names the device, so that its collapse ids stay when its key changes. Who knows the name can test guesses of a collapse name.
         *
         * @param id the provider's name for the device, 1 to 255 bytes
         * @return this
         * @throws PushcryptException {@code invalid-request}
         */
        public Builder deviceId(String id) {
            device = named(id, "the name of a device", Format.LONGEST_COLLAPSE_DEVICE);
            return this;
        }

        /**
         * Names pushes that replace each other on a device. The relay gets a hash of the name.
         *
         * @param name the name, 1 to 65,535 bytes
         * @return this
         * @throws PushcryptException {@code invalid-request}
         */
        public Builder collapseName(String name) {
            pushes = named(name, "the collapse name", 65_535);
            return this;
        }

        private static byte[] named(String text, String what, int longest) {
            byte[] name = Json.checked(text, what).getBytes(StandardCharsets.UTF_8);
            if (name.length >= 1 && name.length <= longest) return Bytes.concat(new byte[] {1}, Envelope.lp16(name));
            throw new PushcryptException(Code.INVALID_REQUEST, what + " must have 1 to " + longest + " bytes");
        }

        /**
         * Sets the priority.
         *
         * @param priority 10, 5 or 1; APNs refuses background pushes with 10
         * @return this
         */
        public Builder priority(int priority) {
            if (priority != 10 && priority != 5 && priority != 1) throw new IllegalArgumentException("a priority is 10, 5 or 1");
            this.priority = priority;
            return this;
        }

        /**
         * Sets until when Apple keeps the push, in place of the end of the message. It is sent as it is.
         *
         * @param expiration a time in whole seconds; the epoch for a push that Apple does not keep
         * @return this
         */
        public Builder expiration(Instant expiration) {
            if (expiration.getEpochSecond() < 0) throw new IllegalArgumentException("a time before 1970");
            this.expiration = expiration.getEpochSecond();
            return this;
        }

        /**
         * Builds the options.
         *
         * @return the options, which never change
         */
        public RequestOptions build() {
            return new RequestOptions(this);
        }
    }
}
