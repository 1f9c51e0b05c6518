internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    /// `attach seal`: two passes over the file, and then the reference, which is written last because it says that all is done.
    static let attachSeal = Command(
        "seal", "seal a file, and write its reference",
        about: [
            "Writes the sealed file, and its reference to standard output: a JSON object with the key, size and hash of the sealed file, and the type and name of the plain one. Give it to 'seal --attachment'. The reference is secret; the sealed file shows only its size and url.",
            "The file is read twice, so it cannot come from a pipe; memory use is small and constant. The key that signs hedges the file's random key.",
        ],
        examples: [
            Example(
                "pushcrypt attach seal film.mov --type com.apple.quicktime-movie -o - --reference film.json | upload",
                "without a copy on the disk")
        ]
    ) { a in
        let command = AttachSealCommand(&a)
        return { try command.run($0) }
    }
}

struct AttachSealCommand {
    private let file: String
    private let output: String
    private let reference: String?
    private let url: String?
    private let type: String?
    private let name: String?
    private let signer: String?
    private let signingKeyFile: String?
    private let store: StoreArguments
    private let force: Bool

    init(_ arguments: inout Arguments) {
        output = arguments.requiredValue(
            "--output", short: "-o", "SEALED", .file,
            help: "the sealed file; - for standard output, with --reference")
        reference = arguments.value(
            "--reference", "REF", .file, help: "write the reference to this file, which only its owner can read"
        ).flatMap { $0 == "-" ? nil : $0 }
        url = arguments.value(
            "--url", "URL",
            help: "the sealed file's address; 'seal --attachment-url' can set it later")
        type = arguments.value(
            "--type", "TYPE",
            help:
                "a uniform type identifier such as public.jpeg; default from the name of a picture, sound or film"
        )
        name = arguments.value("--name", "NAME", help: "the phone's name for the file; default FILE without folders")
        signer = arguments.value(
            "--sign-with", "NAME",
            help: "the provider key in the store, if not the default one")
        signingKeyFile = arguments.value(
            "--signing-key-file", "FILE", .secret,
            help: "the key that hedges, instead of a store's: a file, fd:N or -")
        store = StoreArguments(&arguments)
        force = arguments.force()
        arguments.option(
            "--signing-key-file", excludes: ["--store", "--sign-with", "--passphrase-file"],
            hint: "a key file is used without a store")
        file = arguments.operand("FILE", .input, help: "the file to seal; - for standard input that is a file")
    }

    func run(_ console: Console) throws -> ExitCode {
        let plan = try AttachmentPlan(self)
        let key = try hedgingKey(console)
        let input = try InputFile(file, console)
        guard let size = input.size else {
            throw Failure.usage(
                "\(input.name) can be read only once, and a file is sealed in two passes",
                hint: "save it to a file first")
        }
        let reference = try reference.map { path in
            try OutputFile(path, mode: 0o600, force: force)
        }
        let sealed: SealedFile
        if output == "-" {
            sealed = try seal(input, size, by: key, console) { bytes in
                try console.write(bytes)
            }
        } else {
            let output = try OutputFile(output, mode: 0o666, force: force)
            sealed = try seal(input, size, by: key, console) { bytes in
                try output.write(bytes)
            }
            try output.commit()
        }
        plan.warn(size: size, console)
        let line = plan.json(sealed) + [newline]
        if let reference {
            try reference.write(line.span)
            try reference.commit()
        } else {
            if console.output.isFileOpenToOthers {
                console.warning(
                    "others may read the file that the reference and its key go to; chmod 0600 it, or use --reference FILE"
                )
            }
            try console.write(line.span)
        }
        return .done
    }

    private func seal(
        _ input: borrowing InputFile, _ size: Int, by key: Sealer, _ console: Console,
        to write: (Span<UInt8>) throws -> Void
    ) throws -> SealedFile {
        var progress = Progress("sealing", total: size > Int.max / 2 ? .max : 2 * size, console)
        var first = AttachmentSealer.FirstPass()
        try input.forEachPiece { piece in
            first.update(piece)
            progress.advance(by: piece.count)
        }
        try input.rewind()
        var sealer = first.sealer(for: key)
        var sealed = ContiguousArray<UInt8>()
        try input.forEachPiece { piece in
            try sealer.seal(piece, into: &sealed)
            try write(sealed.span)
            sealed.removeAll(keepingCapacity: true)
            progress.advance(by: piece.count)
        }
        let file = try sealer.finish(into: &sealed)
        try write(sealed.span)
        return file
    }

    /// The key that only hedges: what it seals shows nothing of it.
    private func hedgingKey(_ console: Console) throws -> Sealer {
        if let signingKeyFile { return try console.readSigningKey(from: signingKeyFile).hedge }
        let store = try console.open(store)
        let key = try Keys(.store(store, signWith: signer)).anySigner()
        return Sealer(signer: key.signer, topic: key.topic ?? .example)
    }

    /// The description of the file, checked before a long file is read.
    private struct AttachmentPlan {
        private let url: String?
        private let type: String
        private let name: String
        private let kind: ShownFileType?

        init(_ command: AttachSealCommand) throws {
            if command.output == "-", command.reference == nil {
                throw Failure.usage(
                    "the sealed file and its reference cannot both go to standard output",
                    hint: "add --reference FILE for one of them")
            }
            if let reference = command.reference, reference == command.output {
                throw Failure.usage(
                    "--output and --reference name the same file",
                    hint: "the sealed file is stored; its reference is not")
            }
            if command.file == "-", command.name == nil {
                throw Failure.usage("--name is missing", hint: "standard input has no name")
            }
            name = command.name ?? command.file.split(separator: "/").last.map(String.init) ?? command.file
            kind = ShownFileType(fileName: name)
            guard let type = command.type ?? kind?.type else {
                throw Failure.usage(
                    "the name \(quoted(name)) does not tell what the file is",
                    hint: "add --type with a uniform type identifier, for example --type com.adobe.pdf",
                    "notifications show these without it: "
                        + ShownFileType.all.flatMap(\.fileExtensions).joined(separator: ", "))
            }
            self.type = type
            url = command.url
            try naming("--name", exit: .usage) { try AttachmentRules.check(name: name) }
            try naming("--type", exit: .usage) { try AttachmentRules.check(type: type) }
            if let url {
                try naming("--url", exit: .usage) { try AttachmentRules.check(url: url) }
            }
        }

        /// The reference, without a url if none is known yet.
        func json(_ file: SealedFile) -> ContiguousArray<UInt8> {
            var json = JSONWriter()
            AttachmentReference.write(url: url, file, type: type, name: name, to: &json)
            return json.bytes
        }

        /// Warns of a file that notifications will not show.
        func warn(size: Int, _ console: Console) {
            guard let kind, kind.type == type, size > kind.largestSize else { return }
            console.warning(
                "a notification shows a file of this type up to \(kind.largestSize / 1_000_000) MB; this one is longer")
        }
    }
}
