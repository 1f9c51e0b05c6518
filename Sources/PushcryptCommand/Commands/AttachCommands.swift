internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let attach = Command(
        group: "attach", "seal a file for a notification, and open one",
        about: [
            "A file is sealed once, under a separate key, and stored where phones fetch it. The notification carries a reference with the key."
        ],
        examples: [
            "pushcrypt attach seal photo.jpg -o photo.sealed --reference photo.json",
            Example(
                "pushcrypt seal --to phone1 --attachment photo.json --attachment-url https://files.example.com/7f3a payload.json",
                "after photo.sealed was stored there"),
            "pushcrypt attach open --reference photo.json photo.sealed -o photo.jpg",
        ],
        [.attachSeal, .attachOpen])
}

extension Command {
    /// `attach open`: one pass over the sealed file, into a plain one that appears only when everything agrees.
    static let attachOpen = Command(
        "open", "open a sealed file with its reference",
        about: [
            "Writes the plain file only if the size, every part, the end and the hash agree, as a phone does; otherwise ends with exit 65. Nothing is fetched, and the reference's url and file name are not used."
        ],
        examples: [
            "curl --proto =https https://files.example.com/7f3a | pushcrypt attach open --reference photo.json -o photo.jpg"
        ]
    ) { a in
        let reference = a.requiredValue(
            "--reference", "REF", .secret, help: "the reference of the file: a file, fd:N or -")
        let output = a.requiredValue(
            "--output", short: "-o", "FILE", .file, help: "write to a file that appears only after success")
        let force = a.force()
        let sealed = a.optionalInput("SEALED", help: "the sealed file; default standard input")
        return { console in
            guard output != "-" else {
                throw Failure.usage(
                    "the plain file does not go to standard output",
                    hint: "whether all of it is genuine shows only at its end; name a file with --output")
            }
            let file = try console.readReference(from: reference) { (fields) throws(AttachmentError) in
                try SealedFile(fields)
            }
            let input = try InputFile(sealed, console)
            let output = try OutputFile(output, mode: 0o600, force: force)

            var progress = Progress("opening", total: Int(clamping: file.size), console)
            var opener = AttachmentOpener(file)
            var plain = ContiguousArray<UInt8>()
            try input.forEachPiece { piece in
                try opener.open(piece, into: &plain)
                try output.write(plain.span)
                plain.removeAll(keepingCapacity: true)
                progress.advance(by: piece.count)
            }
            do throws(AttachmentError) { try opener.finish(into: &plain) } catch { throw Failure(error) }
            try output.write(plain.span)
            try output.commit()
            return .done
        }
    }
}
