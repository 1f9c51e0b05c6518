package pushcrypt;

/** Says that the command of a {@link SealFilter} gave no answer to a message: it cannot be started, ended too often, or the filter was closed. */
public final class FilterException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Whether the next message starts the command again. */
    private final boolean isRetryable;

    FilterException(String message, boolean isRetryable) {
        super(message);
        this.isRetryable = isRetryable;
    }

    /**
     * Returns whether the same message may be sealed later by the same filter.
     *
     * @return false if the command refused its options, or the filter was closed
     */
    public boolean isRetryable() {
        return isRetryable;
    }
}
