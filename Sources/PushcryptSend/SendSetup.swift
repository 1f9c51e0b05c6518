internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

// Login and destination, from the options.

extension SendLogin {
    /// Without key and certificate.
    static let missing = Failure.usage(
        "APNs must know who sends: --key with --team, or --certificate",
        hint: "the key is the file AuthKey_….p8 from the developer account; 'config key-file' and 'config team' keep it"
    )

    /// The key's provider tokens; nil without a key.
    func providerToken(keptIn file: String? = nil, _ console: Console) throws -> ProviderToken? {
        guard let key, let team else { return nil }
        guard isAppleID(team) else {
            throw Failure.usage("--team cannot be \(quoted(team))", hint: "it has ten letters and digits")
        }
        guard let id = keyID ?? Self.keyID(ofFile: key), isAppleID(id) else {
            throw Failure.usage("the key's id is not known", hint: "write it with --key-id, ten letters and digits")
        }
        return ProviderToken(try ProviderKey(key, console), keyID: id, team: team, file: file)
    }

    /// The id in the name that Apple gives the file: `AuthKey_ABC123DEFG.p8`.
    static func keyID(ofFile path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        return String(name.dropFirst(8).dropLast(3))
    }

    func certificate(_ console: Console) throws -> ClientCertificate? {
        guard let certificate else { return nil }
        return try ClientCertificate(certificate, passphrase: passphraseFile, console)
    }

    func destination(_ environment: PushEnvironment, _ certificate: ClientCertificate?) throws -> Destination {
        var destination = Destination(host: environment.host)
        if let host { try destination.take(host) }
        destination.certificate = certificate
        destination.authorities = authorities
        destination.timeout = timeout.map { UInt64($0) } ?? destination.timeout
        return destination
    }
}

extension PushEnvironment {
    /// Apple's server.
    fileprivate var host: String {
        switch self {
        case .production: "api.push.apple.com"
        case .development: "api.sandbox.push.apple.com"
        }
    }
}

extension Destination {
    /// A publisher's relay, which must speak HTTP/2.
    init(_ origin: RelayOrigin, authorities: String?) throws {
        let parts = origin.description.split(separator: "://", maxSplits: 1)
        self.init(host: "", isSecure: parts[0] == "https", authorities: authorities)
        try take(String(parts[1]))
        withoutHTTP2 =
            "it does not speak HTTP/2: nginx does with 'listen 443 ssl http2', from 1.25.1 on with 'http2 on'"
    }

    /// Reads `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`.
    mutating func take(_ text: String) throws {
        let colon = text.lastIndex(of: ":")
        let hasPort = colon.map { !text[$0...].contains("]") } ?? false
        let end = hasPort ? colon ?? text.endIndex : text.endIndex
        let standard = isSecure ? 443 : 80
        let port = hasPort ? parseInteger(text[text.index(after: end)...], in: 1...65_535) : standard
        let host = text[..<end]
        guard let port, !host.isEmpty,
            host.utf8.allSatisfy({
                $0.isLetterOrDigit || $0 == 0x2D || $0 == 0x2E || $0 == 0x3A || $0 == 0x5B || $0 == 0x5D
            })
        else { throw Failure.usage("--host cannot be \(quoted(text))", hint: "write HOST or HOST:PORT") }
        self.host = String(host)
        self.port = port
    }
}
