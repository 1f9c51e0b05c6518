internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let attach = Command(group: "attach", "seal a file for a notification, and open one") {
        CommandGroup(
            discussion: [
                "A file is sealed once, under a separate key, and stored where phones fetch it. The notification carries a reference with the key."
            ],
            examples: [
                Example("pushcrypt attach seal photo.jpg -o photo.sealed --reference photo.json"),
                Example(
                    "pushcrypt seal --to phone1 --attachment photo.json --attachment-url https://files.example.com/7f3a payload.json",
                    "after photo.sealed was stored there"),
                Example("pushcrypt attach open --reference photo.json photo.sealed -o photo.jpg"),
            ],
            commands: [
                Command("seal", "seal a file, and write its reference", AttachSealCommand.self),
                Command("open", "open a sealed file with its reference", AttachOpenCommand.self),
            ])
    }
}

/// `attach open`: one pass over the sealed file, into a plain one that appears only when everything agrees.
struct AttachOpenCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Writes the plain file only if the size, every part, the end and the hash agree, as a phone does; otherwise ends with exit 65. Nothing is fetched, and the reference's url and file name are not used."
            ],
            examples: [
                Example(
                    "curl --proto =https https://files.example.com/7f3a | pushcrypt attach open --reference photo.json -o photo.jpg"
                )
            ])
    }

    private let sealed: String
    private let reference: String
    private let output: String
    private let force: Bool

    init(_ arguments: inout Arguments) {
        sealed = arguments.optionalInput("SEALED", help: "the sealed file; default standard input")
        reference = arguments.requiredValue(
            "--reference", "REF", .secret, help: "the reference of the file: a file, fd:N or -")
        output = arguments.requiredValue(
            "--output", short: "-o", "FILE", .file, help: "write to a file that appears only after success")
        force = arguments.force()
    }

    func run(_ console: Console) throws -> ExitCode {
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
