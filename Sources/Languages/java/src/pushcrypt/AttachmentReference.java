package pushcrypt;

import java.util.Base64;

/**
 * The place of a sealed file, and its key. Because of the key, {@link #json} must never reach the app's data or a log; printing a
 * reference shows no key.
 */
public final class AttachmentReference {
    final Attachments.Reference parts;

    AttachmentReference(Attachments.Reference parts) {
        this.parts = parts;
    }

    /**
     * Reads a reference.
     *
     * @param json the reference as an object
     * @return the reference
     * @throws PushcryptException {@code malformed-reference}
     */
    public static AttachmentReference parse(byte[] json) throws PushcryptException {
        return new AttachmentReference(Attachments.parseReference(Payload.parseObject(json, "malformed-reference")));
    }

    /**
     * Returns where the file is fetched, over https only.
     *
     * @return the url
     */
    public String url() {
        return parts.url();
    }

    /**
     * Returns the size of the sealed file, beyond which nothing is fetched.
     *
     * @return the size in bytes
     */
    public long size() {
        return parts.size();
    }

    /**
     * Returns the type of the plain file.
     *
     * @return a uniform type identifier
     */
    public String type() {
        return parts.type();
    }

    /**
     * Returns the name of the plain file: a label to show, never a path.
     *
     * @return the name
     */
    public String name() {
        return parts.name();
    }

    /**
     * Returns the hash of the sealed file.
     *
     * @return SHA-256, 32 bytes
     */
    public byte[] sha256() {
        return parts.sha256().clone();
    }

    /**
     * Returns the key of the file, a secret.
     *
     * @return 32 bytes
     */
    public byte[] key() {
        return parts.key().clone();
    }

    /**
     * Returns the reference with its key, a secret.
     *
     * @return an object as JSON
     */
    public String json() {
        Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
        return Json.object("url", Json.quoted(url()), "key", Json.quoted(encoder.encodeToString(parts.key())), "size", size(),
            "sha256", Json.quoted(encoder.encodeToString(parts.sha256())), "type", Json.quoted(type()), "name", Json.quoted(name()));
    }

    /** Returns the type and the size. */
    @Override
    public String toString() {
        return "AttachmentReference(" + type() + ", " + size() + " bytes)";
    }
}
