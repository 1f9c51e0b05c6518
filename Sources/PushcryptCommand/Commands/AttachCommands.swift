internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let attach = Command(group: "attach", "seal a file for a notification, and open one") {
        CommandGroup(
            discussion: [
                "A file is sealed once, under a separate key, and stored where the phone fetches it. The notification carries a reference with the key, so only those who can open the notification can open the file."
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
                "Does what a phone does with a sealed file: the plain one appears only when the size, every part, the end and the hash agree. Otherwise the command ends with exit 65 and the reason, and there is no file.",
                "The reference is the output of 'pushcrypt attach seal', with or without a url. Nothing is fetched, and the name in the reference is not used.",
            ],
            examples: [
                Example("pushcrypt attach open --reference photo.json photo.sealed -o photo.jpg"),
                Example(
                    "curl --proto =https https://files.example.com/7f3a | pushcrypt attach open --reference photo.json -o photo.jpg"
                ),
            ])
    }

    private let sealed: String
    private let reference: String
    private let output: String
    private let force: Bool

    init(_ arguments: inout Arguments) {
        sealed = arguments.optionalInput("SEALED", help: "the sealed file; standard input otherwise")
        reference = arguments.requiredValue(
            "--reference", "REF", .secret, help: "the reference of the file: a file, fd:N, or - for standard input")
        output = arguments.requiredValue(
            "--output", short: "-o", "FILE", .file, help: "the plain file, which appears only after success")
        force = arguments.force()
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        guard output != "-" else {
            throw .usage(
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
        try input.forEachPiece { (piece) throws(CommandFailure) in
            try withAttachmentErrors { () throws(AttachmentError) in try opener.open(piece, into: &plain) }
            try output.write(plain.span)
            plain.removeAll(keepingCapacity: true)
            progress.advance(by: piece.count)
        }
        do throws(AttachmentError) { try opener.finish(into: &plain) } catch { throw CommandFailure(error) }
        try output.write(plain.span)
        try output.commit()
        return .done
    }
}
