internal import Pushcrypt

/// Where a body goes that is too long for its push: a sealed file under a random name, which the caller stores where phones
/// fetch it.
struct SealOverflow: Sendable {
    private static let nameLength = 16

    private let folder: String
    private let prefix: String

    /// One body that has gone there.
    struct File: Sendable {
        /// The name in the folder.
        let name: String
        let path: String
        let fullBody: FullBody

        /// Writes what the caller has to store, and where.
        func write(to json: inout JSONWriter) {
            json.object(for: "overflow") { json in
                json.string(name, for: "file")
                json.string(fullBody.reference.url, for: "url")
                json.integer(fullBody.sealedFile.count, for: "bytes")
            }
        }

        /// Writes the file, whole or not at all.
        func store() throws(CommandFailure) {
            try OutputFile.write(fullBody.sealedFile.span, to: path, mode: 0o666, force: false)
        }
    }

    /// Reads `--overflow` and `--url`; nil without.
    init?(_ invocation: Invocation) throws(CommandFailure) {
        switch (invocation.value("--overflow"), invocation.value("--url")) {
        case (nil, nil): return nil
        case (nil, _?): throw .usage("--url goes with --overflow", hint: "add --overflow with the folder of the files")
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
        let example = prefix + "A"
        try checkOption("--url") { () throws(AttachmentError) in try AttachmentRules.check(url: example) }
    }

    /// Seals the body of a payload apart; nil for a payload that has none to show.
    func file(for payload: ContiguousArray<UInt8>, by sealer: Sealer) throws(AttachmentError) -> File? {
        let name = Sodium.randomBytes(Self.nameLength).hex
        let path = folder.hasSuffix("/") ? folder + name : folder + "/" + name
        return try FullBody(of: payload, url: prefix + name, by: sealer).map {
            File(name: name, path: path, fullBody: $0)
        }
    }
}
