package com.example.pushcrypt;

import java.nio.charset.StandardCharsets;
import java.time.*;
import com.example.pushcrypt.internal.*;

/**
 * How one push is sent:
 *
 * <pre>{@code RequestOptions.builder().collapseName("table").build()}</pre>
 */
public final class RequestOptions {
    /** The standard priority, the end of the message, and its own collapse id. */
    public static final RequestOptions DEFAULT = builder().build();

    /** What of the collapse id's input stands for the pushes; null for the message id. */
    final byte[] pushes;
    final Integer priority;
    final Long expiration;

    private RequestOptions(Builder builder) {
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
        private byte[] pushes;
        private Integer priority;
        private Long expiration;

        private Builder() {}

        /**
         * Names pushes that replace each other on a device. The relay gets a hash of the name and the device's id: who knows that can test guesses.
         *
         * @param name the name, 1 to 65,535 bytes
         * @return this
         * @throws PushcryptException {@code invalid-request}
         */
        public Builder collapseName(String name) {
            byte[] bytes = Json.checked(name, "the collapse name").getBytes(StandardCharsets.UTF_8);
            boolean isGood = bytes.length >= 1 && bytes.length <= 65_535;
            if (!isGood) throw new PushcryptException(Code.INVALID_REQUEST, "the collapse name must have 1 to 65535 bytes");
            pushes = Bytes.concat(new byte[] {1}, Envelope.lp16(bytes));
            return this;
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
         * @throws PushcryptException {@code implausible-time} for one over a day ago, or over 31 days ahead
         */
        public Builder expiration(Instant expiration) {
            Instant now = Times.now();
            boolean isPlausible = expiration.equals(Instant.EPOCH) || expiration.isAfter(now.minus(Duration.ofDays(1))) && expiration.isBefore(now.plus(Duration.ofDays(31)));
            if (!isPlausible) {
                throw new PushcryptException(Code.IMPLAUSIBLE_TIME, "the expiration is over a day ago or over 31 days ahead; were milliseconds taken for seconds?");
            }
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
