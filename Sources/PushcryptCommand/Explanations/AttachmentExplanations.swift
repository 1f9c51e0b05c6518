internal import Pushcrypt

extension Explanation {
    static let attachments = [
        Explanation(
            AttachmentError.Code.malformedReference, .attachments,
            summary: "what the payload says of an attachment cannot be used",
            cause: """
                A reference lacks a member, or one breaks its rule: a url that is not https, a key or a hash that is not
                base64url of 32 bytes, a name with a slash in it, a type that is no uniform type identifier.
                """,
            fix: """
                Give the sealer what came of sealing the file, unchanged, with the address that the file was stored at. The section
                Attachments of Docs/Format.md has the rules.
                """,
            shown: attachmentDropped),
        Explanation(
            AttachmentError.Code.tooMany, .attachments, .sealing,
            summary: "more than the 8 attachments that a notification may have",
            cause: "Each reference costs some 200 bytes of the payload, and a phone has seconds for all of them.",
            fix: "Send 8 or fewer. Most phones show one.",
            shown: """
                Nothing is sealed. On a phone, from another sealer: the notification with its first 8 attachments.
                """),
        Explanation(
            AttachmentError.Code.bodyTooLong, .attachments,
            summary: "a body that is too long for a sealed file, too",
            cause: "The text has more than 65,536 bytes: no system shows a tenth of it.",
            fix: "Send the beginning of the text, and let the app fetch the rest when the notification is opened.",
            shown: nothingSealed),
        Explanation(
            AttachmentError.Code.changedFile, .attachments,
            summary: "the file changed while it was being sealed",
            cause: """
                A file is read twice, once for its hash and once to seal it, and the second time it was another one: something
                was still writing to it.
                """,
            fix: "Seal it again when nothing writes to it. What was written so far must not be used.",
            shown: "Whoever seals sees it; no reference was made, so no phone does."),
        Explanation(
            AttachmentError.Code.notSealed, .attachments,
            summary: "the file does not begin as a sealed file does",
            cause: """
                At the url lies something else: the plain file, a page that asks for a login or says that nothing was found, or a
                file of a later version.
                """,
            fix: """
                Fetch the url without a login, as a phone does, and look at the first bytes: a sealed file begins with PCA1.
                """,
            shown: attachmentDropped),
        Explanation(
            AttachmentError.Code.wrongSize, .attachments,
            summary: "the file is longer or shorter than the payload says",
            cause: """
                Another file lies at the url, the upload or the download was cut, or the server has changed it on the way, as image
                services and compressing proxies do. The size is that of the sealed file.
                """,
            fix: "Store the sealed file as bytes of no known type, and compare its length with the reference's size.",
            shown: attachmentDropped),
        Explanation(
            AttachmentError.Code.wrongHash, .attachments,
            summary: "the file is not the one that the payload means",
            cause: """
                The file opens, and its hash is another: it was sealed a second time under the same key, or swapped by somebody who
                got the same key with the same file.
                """,
            fix:
                "Store the file that belongs to this reference once more, or seal it again and send the new reference.",
            shown: attachmentDropped),
        Explanation(
            AttachmentError.Code.authenticationFailed, .attachments,
            summary: "a piece of the file was changed, or is not sealed under this key",
            cause:
                "The file was changed where it is stored or on the way, or key and url belong to two different files.",
            fix: "Store the file once more, or seal it again, and keep each reference with its own url.",
            shown: attachmentDropped),
        Explanation(
            AttachmentError.Code.malformedFile, .attachments,
            summary: "sealed under this key, but against the rules of the format",
            cause: "Another sealer than this project's has made the file, and does not keep to the format.",
            fix: "Fix that sealer: see the section Attachments of Docs/Format.md.",
            shown: attachmentDropped),
        Explanation(
            AttachmentError.Code.truncatedFile, .attachments,
            summary: "the end of the file is missing, and the payload was made without it",
            cause: "The sealer was ended before the last piece of the file, and its reference was used all the same.",
            fix: "Seal the file again, and use a reference only when sealing has ended without an error.",
            shown: attachmentDropped),
    ]

    private static let attachmentDropped =
        "On the phone: the notification with its text, without this attachment. The journal has opened-without-attachment."
}
