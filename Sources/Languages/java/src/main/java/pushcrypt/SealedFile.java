package pushcrypt;

/** A file that was sealed: its bytes are stored at the url of the reference. */
public final class SealedFile {
    private final byte[] bytes;
    private final AttachmentReference reference;

    SealedFile(byte[] bytes, AttachmentReference reference) {
        this.bytes = bytes;
        this.reference = reference;
    }

    /**
     * Returns the sealed file, to be stored.
     *
     * @return the bytes, which are not copied: a file may be large
     */
    public byte[] bytes() {
        return bytes;
    }

    /**
     * Returns the reference for {@link SealOptions}.
     *
     * @return the reference
     */
    public AttachmentReference reference() {
        return reference;
    }
}
