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

    func destination(
        _ environment: PushEnvironment, _ certificate: ClientCertificate?, proxy: String?
    ) throws -> Destination {
        var destination = Destination(host: environment.host)
        if let host { try destination.take(host) }
        destination.certificate = certificate
        return prepared(destination, proxy: proxy)
    }

    private func prepared(_ destination: Destination, proxy: String?) -> Destination {
        var destination = destination
        (destination.authorities, destination.proxy) = (authorities, proxy)
        destination.timeout = timeout.map { UInt64($0) } ?? destination.timeout
        return destination
    }

    /// A publisher's relay, which must speak HTTP/2.
    func destination(_ origin: RelayOrigin, proxy: String?) throws -> Destination {
        let parts = origin.description.split(separator: "://", maxSplits: 1)
        var destination = Destination(host: "", isSecure: parts[0] == "https")
        try destination.take(String(parts[1]))
        destination.withoutHTTP2 =
            "it does not speak HTTP/2: nginx does with 'listen 443 ssl http2', from 1.25.1 on with 'http2 on'"
        return prepared(destination, proxy: proxy)
    }
}

extension SendLogin {
    /// The URL of a proxy; nil for what the environment says.
    ///
    /// Refuses one that TLS leads to: libcurl would show it the certificate for APNs, and offer it HTTP/2.
    func proxyURL(_ console: Console) throws -> String? {
        if proxy?.contains("@") == true {
            throw Failure.usage(
                "--proxy has a login, which every user of this machine sees",
                hint: "write the URL into a file of yours, and name it with --proxy-file; replace the password")
        }
        let written = try proxyFile.map { (file) throws in
            try unsafe withSecret(from: file, console) { unsafe String(decoding: $0, as: UTF8.self) }
        }
        let url = written ?? proxy
        // Which of them libcurl takes.
        let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        let used = url ?? names.lazy.compactMap(SystemEnvironment.variable).first { !$0.isEmpty }
        guard used?.lowercased().hasPrefix("https://") != true else {
            throw Failure.usage(
                "the proxy's URL begins with https://",
                hint: "write http://HOST:PORT in --proxy or https_proxy: what goes through it is encrypted in any case")
        }
        return url
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

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20
    }
}
