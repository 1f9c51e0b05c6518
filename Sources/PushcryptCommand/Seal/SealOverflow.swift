internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The options for texts that are too long.
struct FittingArguments: Sendable {
    /// The texts to shorten, most expendable first.
    let texts: [AlertText]
    let overflow: String?
    let url: String?

    init(_ arguments: inout Arguments) {
        let texts = arguments.values(
            "--fit", "TEXT", .choice(AlertText.allCases.map { $0.rawValue }),
            help: "shorten this text if the payload is too long, in the order given"
        ).compactMap(AlertText.init(rawValue:))
        overflow = arguments.value(
            "--overflow", "DIR", .folder,
            help: "put a body that is too long into a sealed file in this folder")
        url = arguments.value(
            "--url", "PREFIX",
            help: "with --overflow: the folder's address, to which names of files are appended")
        // With a file for the whole body, the short one may be cut.
        self.texts = texts.isEmpty && overflow != nil ? [.body] : texts
        arguments.option("--url", needs: "--overflow", hint: "add --overflow with a folder for the files")
    }
}

/// The folder for bodies that are too long for a push: each becomes a sealed file under a random name, which the caller stores
/// where phones fetch it.
struct SealOverflow: Sendable {
    /// The random bytes of a file's name: names are neither guessed nor repeated.
    private static let nameLength = 16

    private let folder: String
    private let prefix: String

    /// Checks `--overflow` and `--url`; nil without them.
    init?(_ arguments: FittingArguments) throws(CommandFailure) {
        guard let folder = arguments.overflow else { return nil }
        guard let url = arguments.url else {
            throw .usage(
                "--url is missing", hint: "add it with the address that the files of --overflow are fetched from")
        }
        guard Folder.kind(of: folder, followingLinks: true) == .folder else {
            throw .usage("--overflow: there is no folder \(quoted(folder))", hint: "make it first")
        }
        self.folder = folder
        prefix = url.hasSuffix("/") || url.hasSuffix("=") ? url : url + "/"
        let example = prefix + "0"
        try checkOption("--url") { () throws(AttachmentError) in try AttachmentRules.check(url: example) }
    }

    /// Whether a message was refused because of its length.
    func isNeeded(after error: SealError) -> Bool { [.payloadTooLarge, .pushTooLarge].contains(error.code) }

    /// Seals a message that is too long, with its body in a file if it has one, and with texts shortened as `texts` allows.
    ///
    /// The file is written once the first message that refers to it is sealed.
    ///
    /// - Parameter shared: the file of this payload; messages with different payloads must not share one.
    func seal(
        _ message: Sealer.Message, fitting texts: [AlertText], by sealer: Sealer, sharing shared: SharedFile
    ) throws(SealFailure) -> (SealedPayload, File?) {
        let file = try shared.file { () throws(SealFailure) in try self.file(for: message.payload, by: sealer) }
        var message = message
        message.fullBody = file?.fullBody
        message.options.fitting = texts
        let sealed: SealedPayload
        do throws(SealError) { sealed = try sealer.seal(message) } catch { throw .sealing(error) }
        try shared.store()
        return (sealed, file)
    }

    /// Seals the body of a payload; nil if it has none.
    private func file(
        for payload: ContiguousArray<UInt8>, by sealer: Sealer
    ) throws(SealFailure) -> File? {
        let name = Sodium.randomBytes(Self.nameLength).hex
        let path = folder.hasSuffix("/") ? folder + name : folder + "/" + name
        do throws(AttachmentError) {
            let fullBody = try FullBody(of: payload, url: prefix + name, by: sealer)
            return fullBody.map { File(name: name, path: path, fullBody: $0) }
        } catch {
            throw .fullBody(error)
        }
    }
}

// MARK: Files

extension SealOverflow {
    /// The sealed file of a body.
    struct File: Sendable {
        /// The member of an answer that describes the file.
        static let member = "overflow"

        /// The name in the folder.
        let name: String
        let path: String
        let fullBody: FullBody

        /// Writes the name, the address and the size of the file to store.
        func write(to json: inout JSONWriter) {
            json.object(for: Self.member) { json in
                json.string(name, for: "file")
                json.string(fullBody.reference.url, for: "url")
                json.integer(fullBody.sealedFile.count, for: "bytes")
            }
        }

        /// Writes the file, completely or not at all.
        fileprivate func store() throws(SealFailure) {
            do throws(CommandFailure) {
                try OutputFile.write(fullBody.sealedFile.span, to: path, mode: 0o666, force: false)
            } catch {
                throw .file(error)
            }
        }
    }

    /// The file of one payload, shared by the messages for all devices; the first thread that needs it makes it.
    final class SharedFile: Sendable {
        private let state = Locked(State())

        private final class State {
            var file: File?
            var isStored = false
        }

        /// Returns the file, made by `make` on the first call; nil if there is no body to put into it.
        fileprivate func file(_ make: () throws(SealFailure) -> File?) throws(SealFailure) -> File? {
            try state.withLock { (state) throws(SealFailure) in
                if state.file == nil { state.file = try make() }
                return state.file
            }
        }

        fileprivate func store() throws(SealFailure) {
            try state.withLock { (state) throws(SealFailure) in
                guard let file = state.file, !state.isStored else { return }
                try file.store()
                state.isStored = true
            }
        }
    }
}
