internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The folder for bodies that are too long for a push: each becomes a sealed file under a random name, which the caller stores
/// where phones fetch it.
struct Overflow: Sendable {
    /// The random bytes of a file's name, enough that names are neither guessed nor repeated.
    private static let nameLength = 16

    private let folder: String
    private let prefix: String

    /// Checks `--overflow` and `--url`.
    init(folder: String, url: String?) throws {
        guard let url else {
            throw Failure.usage(
                "--url is missing", hint: "add it with the address that the files of --overflow are fetched from")
        }
        guard Folder.kind(of: folder, followingLinks: true) == .folder else {
            throw Failure.usage("--overflow: there is no folder \(quoted(folder))", hint: "make it first")
        }
        self.folder = folder.hasSuffix("/") ? folder : folder + "/"
        prefix = url.hasSuffix("/") || url.hasSuffix("=") ? url : url + "/"
        try naming("--url", exit: .usage) { try AttachmentRules.check(url: prefix + "0") }
    }

    /// Seals a message; if it is too long, again with its body in a file and its texts shortened as it allows.
    ///
    /// The file is written once the first message that refers to it is sealed.
    func seal(
        _ message: Message, to device: DevicePublicKey, by sealer: Sealer, at now: Timestamp
    ) throws -> (SealedPayload, OverflowFile?) {
        var content = message.content
        content.fitting = []
        do {
            return (try sealer.seal(content, to: device, at: now), nil)
        } catch {
            guard [.payloadTooLarge, .pushTooLarge].contains(error.code) else { throw error }
        }
        content = message.content
        let shared = message.file ?? SharedFile()
        let file = try shared.file { try self.file(for: content.payload, by: sealer) }
        content.fullBody = file?.fullBody
        let sealed = try sealer.seal(content, to: device, at: now)
        try shared.store()
        return (sealed, file)
    }

    /// Seals the body of a payload; nil if it has none.
    private func file(for payload: ContiguousArray<UInt8>, by sealer: Sealer) throws -> OverflowFile? {
        let name = Sodium.randomBytes(Self.nameLength).hex
        return try FullBody(of: payload, url: prefix + name, by: sealer).map {
            OverflowFile(name: name, path: folder + name, fullBody: $0)
        }
    }
}

/// The sealed file of a body.
struct OverflowFile: Sendable {
    /// The name in the folder.
    let name: String
    let path: String
    let fullBody: FullBody

    /// Writes the name, the address and the size of the file to store.
    func write(to json: inout JSONWriter) {
        json.object(for: "overflow") { json in
            json.string(name, for: "file")
            json.string(fullBody.reference.url, for: "url")
            json.integer(fullBody.sealedFile.count, for: "bytes")
        }
    }
}

/// The file of one payload, shared by the messages for all devices; the first thread that needs it makes it.
final class SharedFile: Sendable {
    private let state = Locked(State())

    private final class State {
        var file: OverflowFile?
        var isStored = false
    }

    /// Returns the file, made by `make` on the first call; nil if there is no body to put into it.
    fileprivate func file(_ make: () throws -> OverflowFile?) throws -> OverflowFile? {
        try state.withLock { state in
            if state.file == nil { state.file = try make() }
            return state.file
        }
    }

    /// Writes the file, completely or not at all.
    fileprivate func store() throws {
        try state.withLock { state in
            guard let file = state.file, !state.isStored else { return }
            do throws(Failure) {
                try OutputFile.write(file.fullBody.sealedFile.span, to: file.path, mode: 0o666, force: false)
            } catch {
                throw Failure(
                    error.exit, code: LineCode.overflowFailed.rawValue, reason: error.message, error.message,
                    hints: error.hints)
            }
            state.isStored = true
        }
    }
}
