internal import Pushcrypt
internal import PushcryptCommandKit

extension Explanation {
    static let batches = [
        Explanation(
            LineError.Code.malformedLine, .batches,
            summary: "a line of a batch or an import, or an answer of APNs, breaks its rules",
            cause: """
                It is not an object, or has neither or both of to and to-user, a payload that is a string or, with one
                for all, given again, a ttl without a unit, an unknown member of placeholder, or another member missing
                or wrong. In an import: no device, no record, or a line of an export, which needs --from-export. For
                'device remove --from-apns-410': no status, or a gone device without its id or time in milliseconds.
                """,
            fix: "Write the line as --help says, and give it again; the other lines are done."),
        Explanation(
            LineError.Code.lineTooLong, .batches,
            summary: "a line is longer than 1 MiB in a batch, or 64 KiB in an import or in answers of APNs",
            cause: """
                A newline is missing, or the input is not newline-delimited JSON. The line is not kept, so only its
                number is reported.
                """,
            fix: "Write one object a line, and end each line with a newline."),
        Explanation(
            LineError.Code.reservedKey, .batches,
            summary: "a key that is passed through is one of the answer's own",
            cause: """
                Unknown keys pass from a line to its answer, but unencrypted, or with --json fingerprint, is among its
                own members. The error leaves it out.
                """,
            fix: "Rename the key in the line."),
        Explanation(
            LineError.Code.noDevice, .batches,
            summary: "the user has no device",
            cause: "None was added with --user, or all were removed.",
            fix: """
                Name the user when adding a device: 'pushcrypt device add --user'. A user without a device needs
                nothing.
                """),
        Explanation(
            LineError.Code.noKey, .batches,
            summary: "the device has no key to seal to",
            cause: "The line has null for to: the app has not registered a key, mostly because it is an old version.",
            fix: "Wait until it registers, or send its pushes readable to the relay, with --unencrypted pass."),
        Explanation(
            LineError.Code.noTopic, .batches,
            summary: "nothing says which app the message is for",
            cause: "The line, the command line, the sender's key, the device and the store have no topic.",
            fix: "Add --topic with the app's bundle id, or a topic to the line."),
        Explanation(
            LineError.Code.overflowFailed, .batches,
            summary: "the file of a body that is too long cannot be written",
            cause: "The folder of --overflow is gone, full, or not writable by this user.",
            fix: "Make room in the folder, or name another, and send the line again."),
    ]
}
