internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// Where a body goes that is too long for its push: a sealed file under a random name, which the caller stores where phones
/// fetch it.
struct SealOverflow: Sendable {
    /// The random bytes of a name: nobody guesses one, and no two are the same.
    private static let nameLength = 16

    private let folder: String
    private let prefix: String

    /// The file of one payload, for all the devices that it goes to: whoever seals for the first of them stores it.
    final class SharedFile: Sendable {
        private let kept = Locked(Kept())

        private final class Kept {
            var file: File?
            var isStored = false
        }

        /// The file that is there, or that is made now; nil where there is none to make.
        fileprivate func file(_ make: () throws(Failure) -> File?) throws(Failure) -> File? {
            try kept.withLock { (kept) throws(Failure) in
                if kept.file == nil { kept.file = try make() }
                return kept.file
            }
        }

        fileprivate func store() throws(Failure) {
            try kept.withLock { (kept) throws(Failure) in
                guard let file = kept.file, !kept.isStored else { return }
                try file.store()
                kept.isStored = true
            }
        }
    }

    /// One body that has gone there.
    struct File: Sendable {
        /// The member of a result that tells of it.
        static let member = "overflow"

        /// The name in the folder.
        let name: String
        let path: String
        let fullBody: FullBody

        /// Writes what the caller has to store, and where.
        func write(to json: inout JSONWriter) {
            json.object(for: Self.member) { json in
                json.string(name, for: "file")
                json.string(fullBody.reference.url, for: "url")
                json.integer(fullBody.sealedFile.count, for: "bytes")
            }
        }

        /// Writes the file, whole or not at all.
        fileprivate func store() throws(Failure) {
            do throws(CommandFailure) {
                try OutputFile.write(fullBody.sealedFile.span, to: path, mode: 0o666, force: false)
            } catch {
                throw .file(error)
            }
        }
    }

    /// Why a message is not sealed although its body may go elsewhere.
    enum Failure: Error {
        case seal(SealError)
        case fullBody(AttachmentError)
        case file(CommandFailure)

        var ofCommand: CommandFailure {
            switch self {
            case .seal(let error): CommandFailure(error)
            case .fullBody(let error): CommandFailure(error)
            case .file(let failure): failure
            }
        }

        var ofLine: LineFailure {
            switch self {
            case .seal(let error): LineFailure(error)
            case .fullBody(let error): LineFailure(error)
            case .file(let failure): LineFailure(.overflowFailed, failure.message)
            }
        }
    }

    /// Reads `--overflow` and `--url`; nil without.
    init?(_ invocation: Invocation) throws(CommandFailure) {
        switch (invocation.value("--overflow"), invocation.value("--url")) {
        case (nil, nil): return nil
        case (nil, _?):
            throw .usage("--url goes with --overflow", hint: "add --overflow with a folder for the files")
        case (_?, nil):
            throw .usage(
                "--url is missing", hint: "add it with the address that the files of --overflow are fetched from")
        case (let folder?, let url?):
            guard Folder.kind(of: folder, followingLinks: true) == .folder else {
                throw .usage("--overflow: there is no folder \(quoted(folder))", hint: "make it first")
            }
            self.folder = folder
            prefix = url.hasSuffix("/") || url.hasSuffix("=") ? url : url + "/"
        }
        let example = prefix + "0"
        try checkOption("--url") { () throws(AttachmentError) in try AttachmentRules.check(url: example) }
    }

    /// Whether the length was the reason.
    func isNeeded(after error: SealError) -> Bool { [.payloadTooLarge, .pushTooLarge].contains(error.code) }

    /// Seals a message that was too long: with its body apart, if it has one, and what may be shortened is. Messages share a
    /// file only if they have one payload.
    func seal(
        _ message: Sealer.Message, fitting texts: [AlertText], by sealer: Sealer, sharing shared: SharedFile
    ) throws(Failure) -> (SealedPayload, File?) {
        let file = try shared.file { () throws(Failure) in try self.file(for: message.payload, by: sealer) }
        var message = message
        message.fullBody = file?.fullBody
        message.options.fitting = texts
        let sealed: SealedPayload
        do throws(SealError) { sealed = try sealer.seal(message) } catch { throw .seal(error) }
        try shared.store()
        return (sealed, file)
    }

    /// Seals the body of a payload; nil for a payload that has none to show.
    private func file(
        for payload: ContiguousArray<UInt8>, by sealer: Sealer
    ) throws(Failure) -> File? {
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
