internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let attach = Command(
        group: "attach", "seal a file for a notification, and open one",
        about:
            "A file is sealed once, under a separate key, and stored where phones fetch it. The notification carries a reference with the key.",
        examples: [
            "pushcrypt attach seal photo.jpg -o photo.sealed --reference photo.json",
            Example(
                "pushcrypt seal --to phone1 --attachment photo.json --attachment-url https://files.example.com/7f3a payload.json",
                "after photo.sealed was stored there"),
            "pushcrypt attach open --reference photo.json photo.sealed -o photo.jpg",
        ],
        [attachSeal, attachOpen])

    /// Two passes over the file, and then the reference, which is written last because it says that all is done.
    private static let attachSeal = Command(
        "seal", "seal a file, and write its reference",
        about: """
            Writes the sealed file, and its reference to standard output: a JSON object with the key, size and hash of the sealed file, and the type and name of the plain one. Give it to 'seal --attachment'. The reference is secret; the sealed file shows only its size and url.
            The file is read twice, so it cannot come from a pipe; memory use is small and constant. The key that signs hedges the file's random key.
            """,
        examples: [
            Example(
                "pushcrypt attach seal film.mov --type com.apple.quicktime-movie -o - --reference film.json | upload",
                "without a copy on the disk")
        ]
    ) { a in
        let output = a.requiredValue(
            "--output", short: "-o", "SEALED", .file, help: "the sealed file; - for standard output, with --reference")
        let reference = a.value(
            "--reference", "REF", .file, help: "write the reference to this file, which only its owner can read"
        ).flatMap { $0 == "-" ? nil : $0 }
        let url = a.value(
            "--url", "URL", help: "the sealed file's address; 'seal --attachment-url' can set it later")
        let type = a.value(
            "--type", "TYPE",
            help: "a uniform type identifier such as public.jpeg; default from the name of a picture, sound or film")
        let name = a.value("--name", "NAME", help: "the phone's name for the file; default FILE without folders")
        let keyFile = a.value(
            "--signing-key-file", "FILE", .secret,
            help: "the key that hedges, instead of a store's: a file, fd:N or -")
        let store = StoreArguments(&a)
        let force = a.force()
        a.keyFile("--signing-key-file")
        let file = a.operand("FILE", .input, help: "the file to seal; - for standard input that is a file")
        return { console in
            if output == "-", reference == nil {
                throw Failure.usage(
                    "the sealed file and its reference cannot both go to standard output",
                    hint: "add --reference FILE for one of them")
            }
            if reference == output {
                throw Failure.usage(
                    "--output and --reference name the same file",
                    hint: "the sealed file is stored; its reference is not")
            }
            if file == "-", name == nil {
                throw Failure.usage("--name is missing", hint: "standard input has no name")
            }
            let description = try FileDescription(
                name ?? file.split(separator: "/").last.map(String.init) ?? file, type, url)
            let key: Sealer
            if let keyFile {
                key = try console.readSigningKey(from: keyFile).hedge
            } else {
                let signer = try Keys(.store(try console.open(store), signWith: nil)).anySigner()
                key = Sealer(signer: signer.signer, topic: signer.topic ?? .example)
            }
            let input = try InputFile(file, console)
            guard let size = input.size else {
                throw Failure.usage(
                    "\(input.name) can be read only once, and a file is sealed in two passes",
                    hint: "save it to a file first")
            }
            let referenceFile = try reference.map { path in try OutputFile(path, mode: 0o600, force: force) }
            let sealed: SealedFile
            if output == "-" {
                sealed = try console.seal(input, by: key) { bytes in try console.write(bytes) }
            } else {
                let output = try OutputFile(output, mode: 0o666, force: force)
                sealed = try console.seal(input, by: key) { bytes in try output.write(bytes) }
                try output.commit()
            }
            description.warn(size: size, console)
            let line = description.reference(to: sealed) + [newline]
            if let referenceFile {
                try referenceFile.write(line.span)
                try referenceFile.commit()
            } else {
                console.warnIfOthersRead("the reference and its key go", option: "--reference")
                try console.write(line.span)
            }
        }
    }

    /// One pass over the sealed file, into a plain one that appears only when everything agrees.
    private static let attachOpen = Command(
        "open", "open a sealed file with its reference",
        about:
            "Writes the plain file only if the size, every part, the end and the hash agree, as a phone does; otherwise ends with exit 65. Nothing is fetched, and the reference's url and file name are not used.",
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
            let file = try console.readReference(from: reference) { try SealedFile($0) }
            let input = try InputFile(sealed, console)
            let output = try OutputFile(output, mode: 0o600, force: force)
            var opener = AttachmentOpener(file)
            var plain = ContiguousArray<UInt8>()
            try input.forEachPiece { piece in
                try opener.open(piece, into: &plain)
                try output.write(plain.span)
                plain.removeAll(keepingCapacity: true)
            }
            try opener.finish(into: &plain)
            try output.write(plain.span)
            try output.commit()
        }
    }
}

extension Console {
    fileprivate func seal(
        _ input: borrowing InputFile, by key: Sealer, to write: (Span<UInt8>) throws -> Void
    ) throws -> SealedFile {
        var first = AttachmentSealer.FirstPass()
        try input.forEachPiece { piece in first.update(piece) }
        try input.rewind()
        var sealer = first.sealer(for: key)
        var sealed = ContiguousArray<UInt8>()
        try input.forEachPiece { piece in
            try sealer.seal(piece, into: &sealed)
            try write(sealed.span)
            sealed.removeAll(keepingCapacity: true)
        }
        let file = try sealer.finish(into: &sealed)
        try write(sealed.span)
        return file
    }
}

/// The plain file, as its reference describes it; checked before a long file is read.
private struct FileDescription {
    let name: String
    let type: String
    let url: String?
    private let kind: ShownFileType?

    init(_ name: String, _ type: String?, _ url: String?) throws {
        kind = ShownFileType(fileName: name)
        guard let type = type ?? kind?.type else {
            throw Failure.usage(
                "the name \(quoted(name)) does not tell what the file is",
                hint: "add --type with a uniform type identifier, for example --type com.adobe.pdf",
                "notifications show these without it: "
                    + ShownFileType.all.flatMap(\.fileExtensions).joined(separator: ", "))
        }
        (self.name, self.type, self.url) = (name, type, url)
        try naming("--name", exit: .usage) { try AttachmentRules.check(name: name) }
        try naming("--type", exit: .usage) { try AttachmentRules.check(type: type) }
        if let url { try naming("--url", exit: .usage) { try AttachmentRules.check(url: url) } }
    }

    /// The reference, without a url if none is known yet.
    func reference(to file: SealedFile) -> ContiguousArray<UInt8> {
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
