internal import Pushcrypt

extension Explanation {
    static let attachments = [
        Explanation(
            AttachmentError.Code.malformedReference, .attachments,
            summary: "the payload's reference to an attachment cannot be used",
            cause: """
                A member is missing, or url is not https, key or hash not base64url of 32 bytes, name has a slash, or
                type is not a uniform type identifier.
                """,
            fix: """
                Give the sealer what sealing the file returned, with the stored file's address. See Attachments in
                Docs/Format.md.
                """),
        Explanation(
            AttachmentError.Code.tooMany, .attachments, .sealing,
            summary: "more than the 8 attachments that a notification may have",
            cause: "Each costs about 200 bytes of the payload, and a phone has seconds for all.",
            fix: "Send 8 or fewer. Most phones show one.",
            shown: "Nothing is sealed. From another sealer: the notification with its first 8 attachments."),
        Explanation(
            AttachmentError.Code.bodyTooLong, .attachments,
            summary: "a body that is too long even for a sealed file",
            cause: "It exceeds 65,536 bytes; no system shows a tenth of that.",
            fix: "Send the beginning, and let the app fetch the rest when the notification is opened.",
            shown: "Nothing is sealed."),
        Explanation(
            AttachmentError.Code.changedFile, .attachments,
            summary: "the file changed while it was being sealed",
            cause: "It is read twice, for its hash and to seal it, and something was still writing to it.",
            fix: "Seal it again when nothing writes to it. Discard the output.",
            shown: "Only the caller gets it, and no reference was made."),
        Explanation(
            AttachmentError.Code.notSealed, .attachments,
            summary: "the file does not begin as a sealed file does",
            cause: "The url leads to the plain file, a login or not-found page, or a file of a later version.",
            fix: "Fetch the url without a login, as a phone does: a sealed file begins with PCA1."),
        Explanation(
            AttachmentError.Code.wrongSize, .attachments,
            summary: "the file is longer or shorter than the payload says",
            cause: """
                Another file is at the url, a transfer was cut, or the server changed it, as image services and
                compressing proxies do.
                """,
            fix: "Store the sealed file as bytes of no known type, and compare its length with the reference's size."),
        Explanation(
            AttachmentError.Code.wrongHash, .attachments,
            summary: "the file is not the one that the payload means",
            cause: "It was sealed again under the same key, or swapped by someone who got that key with the file.",
            fix: "Store this reference's file again, or send the reference of a newly sealed one."),
        Explanation(
            AttachmentError.Code.authenticationFailed, .attachments,
            summary: "a piece of the file was changed, or is not sealed under this key",
            cause: "The file was changed in storage or on the way, or key and url belong to different files.",
            fix: "Store or seal the file again, and keep each reference with its own url."),
        Explanation(
            AttachmentError.Code.malformedFile, .attachments,
            summary: "sealed under this key, but against the rules of the format",
            cause: "Another sealer made the file.",
            fix: "Fix that sealer: see Attachments in Docs/Format.md."),
        Explanation(
            AttachmentError.Code.truncatedFile, .attachments,
            summary: "the end of the file is missing, and the reference was made without it",
            cause: "Sealing was stopped early, and its reference was used all the same.",
            fix: "Seal it again, and use a reference only after sealing has ended without an error."),
    ]
}
