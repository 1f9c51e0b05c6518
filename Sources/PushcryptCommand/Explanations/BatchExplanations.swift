internal import Pushcrypt
internal import PushcryptCommandKit

extension Explanation {
    static let batches = [
        Explanation(
            LineError.Code.malformedLine, .batches,
            summary: "a line of a batch or an import, or an answer of APNs, says something else than it must",
            cause: """
                The line is JSON, but no object, or one of its members is missing or of the wrong kind: neither to nor to-user,
                or both; a payload that is a string and not an object; a ttl without a unit; a member of placeholder that there
                is none of. With one payload for all, a line must not bring another. A line of an import has no device or no
                record, or is what an export wrote. An answer of APNs, for 'device remove --from-apns-410', has no status, or says that
                a device is gone and not which, or not when in milliseconds.
                """,
            fix: """
                Write the line as the --help of the command says, and give it again; the other lines are done.
                """,
            shown: refusedLine),
        Explanation(
            LineError.Code.lineTooLong, .batches,
            summary: "a line is longer than 1 MiB in a batch, or 64 KiB in an import or in answers of APNs",
            cause: """
                No push, no record and no answer is nearly as long: a newline is missing between two of them, or the input is no
                newline-delimited JSON. Such a line is passed over without being kept, so nothing is said of it but its number.
                """,
            fix: "Write one of them in each line, and end each with a newline.",
            shown: refusedLine),
        Explanation(
            LineError.Code.reservedKey, .batches,
            summary: "a key that is passed through is one of the answer's own",
            cause: """
                Keys that mean nothing here are passed from a line to its answer. One of them has the name of a member that the
                answer has by itself, such as unencrypted, or with --json fingerprint, and the answer cannot have both. The error leaves that key out.
                """,
            fix: "Rename the key in the line.",
            shown: notAnswered),
        Explanation(
            LineError.Code.noDevice, .batches,
            summary: "the user has no device",
            cause: "No device in the store belongs to this user: none was added with --user, or all were removed.",
            fix: """
                Say whose a device is when it is added: 'pushcrypt device add --user'. A user who has no device any more gets
                no push; nothing needs to be done then.
                """,
            shown: notAnswered),
        Explanation(
            LineError.Code.noKey, .batches,
            summary: "the device has no key to seal to",
            cause:
                "The line has null for to, which is a device whose app has not registered a key: an old version, mostly.",
            fix: """
                Leave the device out until it has registered, or let its pushes go out as they are, readable to the relay, with
                --unencrypted pass.
                """,
            shown: notAnswered),
        Explanation(
            LineError.Code.noTopic, .batches,
            summary: "nobody says which app the message is for",
            cause: """
                Neither the line nor the command line has a topic, neither the sender's key nor the device is bound to one, and
                the store has none either.
                """,
            fix: "Add --topic with the app's bundle id, or give the line a topic of its own.",
            shown: notAnswered),
        Explanation(
            LineError.Code.overflowFailed, .batches,
            summary: "the file of a body that is too long cannot be written",
            cause: "The folder of --overflow is gone, full, or not this user's to write to.",
            fix: "Make room in the folder, or name another, and send the line again.",
            shown: notAnswered),
    ]

    private static let refusedLine = """
        Nobody is shown anything. In a batch the error is the line's answer, in its place, and the command ends with 1. \
        'device import' and 'device remove' name the line on standard error, and end with 65. The other lines are not touched.
        """
    private static let notAnswered =
        "Nobody is shown anything: the line's answer is the error in its place. The other lines are not touched, and the command ends with 1."
}
