package pushcrypt;

import java.util.Objects;

/**
 * Says that something was refused, and why. The text is for logs, never for the user, and quotes no byte of a key or payload.
 *
 * <p>A caller's own mistake, such as {@code null}, is a {@link NullPointerException} or {@link IllegalArgumentException} instead.
 */
public final class PushcryptException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The reason. */
    private final Code code;

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
        super(message);
        this.code = Objects.requireNonNull(code, "code");
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
     * Returns whether the same call may succeed later, because something outside was busy or failed.
     *
     * @return whether to try again
     */
    public boolean isRetryable() {
        return code.isRetryable();
    }
}
