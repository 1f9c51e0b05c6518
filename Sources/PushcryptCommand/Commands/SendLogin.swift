package import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The options that say who sends, and to where: those of `send` and of `doctor --send`.
package struct SendLogin: Sendable {
    package let key: String?
    package let keyID: String?
    package let team: String?
    package let certificate: String?
    package let passphraseFile: String?
    package let environment: PushEnvironment?
    package let host: String?
    package let authorities: String?
    /// In milliseconds.
    package let timeout: Int?

    init(_ arguments: inout Arguments) {
        key = arguments.value(
            "--key", "FILE", .secret, help: "the APNs key: AuthKey_KEYID.p8 from the developer account")
        keyID = arguments.value("--key-id", "ID", help: "its id; default the one in its file's name")
        team = arguments.value("--team", "ID", help: "the id of the team that the key belongs to")
        certificate = arguments.value(
            "--certificate", "FILE", .secret,
            help: "certificate and private key, PEM or PKCS #12, instead of a key")
        passphraseFile = arguments.value(
            "--certificate-passphrase-file", "FILE", .secret, help: "the passphrase of the certificate's file")
        environment = arguments.choice(
            "--environment", "WHICH", help: "the APNs of lines that do not say; default production")
        arguments.group("the connection", isAdvanced: true)
        host = arguments.value("--host", "HOST[:PORT]", help: "another host than Apple's, for tests, or its port 2197")
        authorities = arguments.authorities()
        timeout = arguments.milliseconds(
            "--timeout", "TIME", 100...600_000, help: "how long a connection or an answer may take; default 10s and 30s"
        )
        arguments.group(nil)
        arguments.atMostOne(of: "--key", "--certificate")
        arguments.option("--key-id", needs: "--key")
        arguments.option("--team", needs: "--key")
        arguments.option("--key", needs: "--team", hint: "the developer account shows it, ten characters")
        arguments.option("--certificate-passphrase-file", needs: "--certificate")
    }

    /// The store's settings as options, for a command line without a login.
    ///
    /// - Parameter topic: Whether `--topic` is one of them.
    func options(from settings: SQLiteKeyStore?, topic: Bool) throws -> [String] {
        guard let settings else { return [] }
        var words: [String] = []
        func add(_ setting: Setting, as option: String) throws {
            if let value = try settings.setting(setting) { words += [option, value] }
        }
        if try settings.setting(.keyFile) != nil, try settings.setting(.team) != nil {
            try add(.keyFile, as: "--key")
            try add(.keyID, as: "--key-id")
            try add(.team, as: "--team")
        }
        if environment == nil { try add(.environment, as: "--environment") }
        if topic { try add(.topic, as: "--topic") }
        return words
    }

    /// The store whose settings complete the command line; nil with a login, or without a store.
    func settings(of store: StoreArguments, _ console: Console) throws -> SQLiteKeyStore? {
        guard key == nil, certificate == nil, console.storePath(given: store.path) != nil else { return nil }
        do {
            return try console.open(store)
        } catch let error as KeyStoreError where error.code == .storeMissing && !store.isGiven {
            return nil
        }
    }
}

extension Arguments {
    mutating func authorities() -> String? {
        value("--ca-file", "FILE", .file, help: "the CA certificates to trust for the host, instead of the system's")
    }
}

extension Console {
    /// The words of the command line, without the command's: options may stand before it.
    func arguments(without command: [String]) -> [String] {
        var words = arguments
        for name in command { words.firstIndex(of: name).map { _ = words.remove(at: $0) } }
        return words
    }
}

/// Runs `pushcrypt-send`, the program that is linked with HTTP, instead of this one; returns why it cannot.
func runSendProgram(_ words: [String]) -> Failure {
    let program = "pushcrypt-send"
    return ReplacedProcess.run(program, words) == .notFound
        ? .usage(
            "\(program), which talks to APNs, is not installed",
            hint: "in a copy of the source, run make install again, with the same PREFIX")
        : .failed("cannot run \(program)")
}
