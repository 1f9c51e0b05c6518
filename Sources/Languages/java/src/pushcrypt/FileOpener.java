package pushcrypt;

/**
 * Opens a sealed file in pieces.
 *
 * <p>Write what {@link #update} returns to a file with a temporary name, and rename it when {@link #finish} has returned the rest, [A-35].
 * After a refusal everything is refused.
 */
public final class FileOpener {
    private final FileStream.Opener opener;

    /**
     * Begins a file.
     *
     * @param reference the reference of the file
     */
    public FileOpener(AttachmentReference reference) {
        this(reference.parts.key(), reference.size(), reference.parts.sha256());
    }

    FileOpener(byte[] key, long size, byte[] sha256) {
        try {
            opener = new FileStream.Opener(key, size, sha256);
        } catch (java.security.GeneralSecurityException missing) {
            throw new IllegalStateException(missing);
        }
    }

    /**
     * Accepts bytes of the file.
     *
     * @param piece the next bytes
     * @return those of the chunks that are now known not to be the last
     * @throws PushcryptException a code of Docs/FormatAttachments.md, "Opening a file"
     */
    public byte[] update(byte[] piece) throws PushcryptException {
        return Platform.run(() -> opener.update(piece));
    }

    /**
     * Ends the file.
     *
     * @return the last chunk, if the whole file matches its reference
     * @throws PushcryptException a code of Docs/FormatAttachments.md, "Opening a file"
     */
    public byte[] finish() throws PushcryptException {
        return Platform.run(opener::finish);
    }

    /**
     * Returns the text in the opened file of a full body.
     *
     * @param plain the whole plain file
     * @return the text
     * @throws PushcryptException {@code malformed-file}; then the payload's own body is shown
     */
    public static String fullBody(byte[] plain) throws PushcryptException {
        return Attachments.checkFullBody(plain);
    }
}
