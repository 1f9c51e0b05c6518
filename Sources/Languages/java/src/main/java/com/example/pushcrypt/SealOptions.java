package com.example.pushcrypt;

import java.time.Duration;
import java.util.*;
import com.example.pushcrypt.internal.*;

/**
 * How one message is sealed:
 *
 * <pre>{@code SealOptions.builder().messageId("table-17").timeToLive(Duration.ofHours(1)).build()}</pre>
 */
public final class SealOptions {
    /** An alert with a random id, for 30 days. */
    public static final SealOptions DEFAULT = new SealOptions();

    PushType pushType = PushType.ALERT;
    String messageId;
    long timeToLive = Format.LONGEST_TIME_TO_LIVE;
    boolean isExact, isDropped;
    List<Reference> attachments = List.of();
    Reference fullBody;
    Person person;
    List<String> withdraws = List.of();
    AnswerSecret answers;

    private SealOptions() {}

    /**
     * Starts with the default options.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    private SealOptions(SealOptions made) {
        pushType = made.pushType;
        messageId = made.messageId;
        timeToLive = made.timeToLive;
        isExact = made.isExact;
        isDropped = made.isDropped;
        attachments = made.attachments;
        fullBody = made.fullBody;
        person = made.person;
        withdraws = made.withdraws;
        answers = made.answers;
    }

    /** Builds options. */
    public static final class Builder {
        private final SealOptions made = new SealOptions();

        private Builder() {}

        /**
         * Seals as another push type than an alert.
         *
         * @param pushType the type
         * @return this
         */
        public Builder pushType(PushType pushType) {
            made.pushType = Objects.requireNonNull(pushType, "pushType");
            return this;
        }

        /**
         * Names the message, the same in every retry, so that the phone shows it once.
         *
         * @param name the name, not empty
         * @return this
         * @throws PushcryptException {@code invalid-request}
         */
        public Builder messageId(String name) {
            if (Json.checked(name, "the message's id").isEmpty()) throw new PushcryptException(Code.INVALID_REQUEST, "the message's id is empty; leave it out");
            made.messageId = name;
            return this;
        }

        /**
         * Sets for how long phones show the message. Unless it is a call, the end is rounded to ten minutes. 0 is now or never: APNs tries once.
         *
         * @param timeToLive 0 seconds to 30 days, whole seconds
         * @return this
         * @throws PushcryptException {@code invalid-time}
         */
        public Builder timeToLive(Duration timeToLive) {
            long seconds = timeToLive.getSeconds();
            if (timeToLive.getNano() != 0 || seconds < 0 || seconds > Format.LONGEST_TIME_TO_LIVE) throw new PushcryptException(Code.INVALID_TIME);
            made.timeToLive = seconds;
            return this;
        }

        /**
         * Says that the JSON reaches Apple byte for byte: its own length is limited, and not that of the longest re-encoding [S-4].
         *
         * @return this
         */
        public Builder exact() {
            made.isExact = true;
            return this;
        }

        /**
         * Adds files that were sealed and stored.
         *
         * @param references at most 8
         * @return this
         * @throws PushcryptException {@code too-many-attachments}
         */
        public Builder attachments(List<Reference> references) {
            if (references.size() > Format.MOST_ATTACHMENTS) throw new PushcryptException(Code.TOO_MANY_ATTACHMENTS);
            made.attachments = List.copyOf(references);
            return this;
        }

        /**
         * Adds the whole text, if the payload has only its beginning.
         *
         * @param reference what {@link Sealer#sealFullBody} returned
         * @return this
         * @throws PushcryptException {@code malformed-reference} by
         */
        public Builder fullBody(Reference reference) {
            if (!reference.isFullBody()) throw new PushcryptException(Code.MALFORMED_REFERENCE);
            made.fullBody = reference;
            return this;
        }

        /**
         * Says who the notification is from.
         *
         * @param person the person
         * @return this
         */
        public Builder person(Person person) {
            made.person = Objects.requireNonNull(person, "person");
            return this;
        }

        /**
         * Takes earlier messages off the screen.
         *
         * @param messageIds their names, at most 64
         * @return this
         * @throws PushcryptException {@code invalid-request} for more, or one that is empty
         */
        public Builder withdraws(List<String> messageIds) {
            List<String> names = List.copyOf(messageIds);
            if (names.size() > Format.MOST_WITHDRAWN) throw new PushcryptException(Code.INVALID_REQUEST, "a message withdraws at most 64 others");
            if (names.contains("")) throw new PushcryptException(Code.INVALID_REQUEST, "the name of a message to withdraw is empty");
            for (String name : names) Json.checked(name, "the name of a message to withdraw");
            made.withdraws = names;
            return this;
        }

        /**
         * Says that the message is not to be shown, such as one that only withdraws others.
         *
         * @return this
         */
        public Builder drop() {
            made.isDropped = true;
            return this;
        }

        /**
         * Lets the phone answer: see {@link AnswerOpener}. The name of the message is then never used for another payload.
         *
         * @param secret the app's secret
         * @return this
         */
        public Builder answers(AnswerSecret secret) {
            made.answers = Objects.requireNonNull(secret, "secret");
            return this;
        }

        /**
         * Builds the options.
         *
         * @return the options, which never change
         * @throws PushcryptException {@code invalid-request} if the message would withdraw itself
         */
        public SealOptions build() {
            if (made.messageId != null && made.withdraws.contains(made.messageId)) {
                throw new PushcryptException(Code.INVALID_REQUEST, "the message would withdraw itself; give it another name");
            }
            return new SealOptions(made);
        }
    }
}
