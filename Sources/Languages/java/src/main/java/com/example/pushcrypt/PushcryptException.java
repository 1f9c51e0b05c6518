package com.example.pushcrypt;

import com.example.pushcrypt.internal.Format;

/**
 * Says that something was refused, and why, with the page about it. The text is for logs, never for the user, and quotes no byte of a key or payload.
 *
 * <p>A caller's own mistake, such as {@code null}, is a {@link NullPointerException} or {@link IllegalArgumentException} instead.
 */
public final class PushcryptException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The reason. */
    private final Code code;
    /** The held one, of {@link Code#STALE_RECORD}. */
    private final Long sequence;

    /**
     * Creates an exception with the description of the code.
     *
     * @param code the reason
     */
    public PushcryptException(Code code) {
        this(code, code.description());
    }

    /**
     * Creates an exception.
     *
     * @param code the reason
     * @param message what is wrong and what to do
     */
    public PushcryptException(Code code, String message) {
        this(code, message, null);
    }

    PushcryptException(Code code, String message, Long sequence) {
        super(code + ": " + message + " (" + Format.CODE_PAGE + code + ")");
        this.code = code;
        this.sequence = sequence;
    }

    /**
     * Returns the reason.
     *
     * @return the code
     */
    public Code code() {
        return code;
    }

    /**
     * Returns the held sequence of a record that is not later.
     *
     * @return the sequence; {@code null} unless the code is {@code stale-record}
     */
    public Long sequence() {
        return sequence;
    }

    /**
     * Returns the page about the code: its cause and its fix.
     *
     * @return a URL
     */
    public String url() {
        return Format.CODE_PAGE + code;
    }

    /**
     * Returns whether the same call may succeed later, because something outside was busy or failed.
     *
     * @return whether to try again
     */
    public boolean isRetryable() {
        return code.isRetryable();
    }
}
