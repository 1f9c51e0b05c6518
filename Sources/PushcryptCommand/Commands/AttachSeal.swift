internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// `attach seal`: two passes over the file, and then the reference, which is written last because it says that all is done.
func runAttachSeal(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let plan = try AttachmentPlan(invocation)
    let sender = try hedgingKey(invocation, console)
    let input = try InputFile(plan.path, console)
    guard let size = input.size else {
        throw .usage(
            "\(input.name) can be read only once, and a file is sealed in two passes",
            hint: "save it to a file first")
    }
    let force = invocation.flag("--force")
    let reference = try plan.reference.map { (path) throws(CommandFailure) in
        try OutputFile(path, mode: 0o600, force: force)
    }
    let file: SealedFile
    if plan.output == "-" {
        file = try seal(input, size, by: sender, console) { (bytes) throws(CommandFailure) in try console.write(bytes) }
    } else {
        let output = try OutputFile(plan.output, mode: 0o666, force: force)
        file = try seal(input, size, by: sender, console) { (bytes) throws(CommandFailure) in try output.write(bytes) }
        try output.commit()
    }
    plan.warn(size: size, console)
    var line = plan.json(file)
    line.append(UInt8(ascii: "\n"))
    if let reference {
        try reference.write(line.span)
        try reference.commit()
    } else {
        if console.output.isFileOpenToOthers {
            console.warning(
                "others may read the file that the reference and its key go to; chmod 0600 it, or use --reference FILE")
        }
        try console.write(line.span)
    }
    return .done
}

private func seal(
    _ input: borrowing InputFile, _ size: Int, by sender: SenderKey, _ console: Console,
    to write: (Span<UInt8>) throws(CommandFailure) -> Void
) throws(CommandFailure) -> SealedFile {
    var progress = Progress("sealing", total: size > Int.max / 2 ? .max : 2 * size, console)
    var first = AttachmentSealer.FirstPass()
    try input.forEachPiece { (piece) throws(CommandFailure) in
        first.update(piece)
        progress.advance(by: piece.count)
    }
    try input.rewind()
    var sealer = first.sealer(for: sender)
    var sealed = ContiguousArray<UInt8>()
    try input.forEachPiece { (piece) throws(CommandFailure) in
        try withAttachmentErrors { () throws(AttachmentError) in try sealer.seal(piece, into: &sealed) }
        try write(sealed.span)
        sealed.removeAll(keepingCapacity: true)
        progress.advance(by: piece.count)
    }
    let file: SealedFile
    do throws(AttachmentError) { file = try sealer.finish(into: &sealed) } catch { throw CommandFailure(error) }
    try write(sealed.span)
    return file
}

/// The sender's key, which only hedges: what it seals shows nothing of it.
private func hedgingKey(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> SenderKey {
    guard let source = invocation.value("--sender-key-file") else {
        let store = try console.openStore(invocation)
        return try withStoreErrors { () throws(KeyStoreError) in
            try store.senderKey(named: invocation.value("--from")).key
        }
    }
    for name in ["--store", "--from", "--passphrase-file"] where invocation.flag(name) {
        throw .usage("--sender-key-file and \(name) exclude each other", hint: "a key file is used without a store")
    }
    return try console.readSenderKey(from: source)
}

// MARK: What is said of a file

/// What the command line says, checked before a long file is read.
private struct AttachmentPlan {
    let path: String
    let output: String
    let reference: String?

    private let url: String?
    private let type: String
    private let name: String
    private let kind: ShownFileType?

    init(_ invocation: Invocation) throws(CommandFailure) {
        path = invocation.operand("FILE")
        output = invocation.requiredValue("--output")
        reference = invocation.value("--reference").flatMap { $0 == "-" ? nil : $0 }
        if output == "-", reference == nil {
            throw .usage(
                "the sealed file and its reference cannot both go to standard output",
                hint: "add --reference FILE for one of them")
        }
        if let reference, reference == output {
            throw .usage(
                "--output and --reference name the same file", hint: "the sealed file is stored; its reference is not")
        }
        if path == "-", !invocation.flag("--name") {
            throw .usage("--name is missing", hint: "what comes from standard input has no name of its own")
        }
        name = invocation.value("--name") ?? path.split(separator: "/").last.map(String.init) ?? path
        kind = ShownFileType(fileName: name)
        guard let type = invocation.value("--type") ?? kind?.type else {
            throw .usage(
                "the name \(quoted(name)) does not tell what the file is",
                hint: "add --type with a uniform type identifier, for example --type com.adobe.pdf",
                "notifications show these by themselves: "
                    + ShownFileType.all.flatMap(\.fileExtensions).joined(separator: ", "))
        }
        self.type = type
        url = invocation.value("--url")
        try checkOption("--name") { () throws(AttachmentError) in try AttachmentRules.check(name: name) }
        try checkOption("--type") { () throws(AttachmentError) in try AttachmentRules.check(type: type) }
        if let url { try checkOption("--url") { () throws(AttachmentError) in try AttachmentRules.check(url: url) } }
    }

    /// The reference, without a url when none is known yet.
    func json(_ file: SealedFile) -> ContiguousArray<UInt8> {
        var json = JSONWriter()
        AttachmentReference.write(url: url, file, type: type, name: name, to: &json)
        return json.bytes
    }

    /// Tells of a file that is sealed for nothing.
    func warn(size: Int, _ console: Console) {
        guard let kind, kind.type == type, size > kind.largestSize else { return }
        console.warning(
            "a notification shows a file of this type up to \(kind.largestSize / 1_000_000) MB; this one is longer")
    }
}
