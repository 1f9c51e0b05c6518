internal import Pushcrypt
internal import PushcryptCommandKit

/// The content of `--signing-key-file`.
enum SigningKeyFile {
    /// Signs messages of epoch 0, for any app.
    case provider(ProviderKey)
    /// A signing key, which its certificate binds to an app.
    case signing(SigningCredential)

    /// The key for hedging files, for which the app does not matter.
    var hedge: Sealer {
        switch self {
        case .provider(let key): Sealer(provider: key, topic: .example)
        case .signing(let credential):
            Sealer(
                signer: EnvelopeSigner(
                    verified: credential.certificate, credential.key, by: credential.provider, for: .example),
                topic: .example)
        }
    }

    /// The key for signing messages, and the app that it is bound to.
    func signer(for topic: Topic?) throws -> (signer: EnvelopeSigner, topic: Topic?) {
        switch self {
        case .provider(let key): return (EnvelopeSigner(key), nil)
        case .signing(let credential):
            guard let topic else {
                throw Failure.usage(
                    "--topic is missing", hint: "a signing key is for one app: add --topic with its bundle id")
            }
            return try naming("--signing-key-file") { (try EnvelopeSigner(credential, for: topic), topic) }
        }
    }
}

extension Console {
    func readSigningKey(from source: String) throws -> SigningKeyFile {
        let text = try readSecret(from: source)
        return try naming(inputName(source)) {
            try text.withSpan { text in
                do {
                    return .signing(try SigningCredential(text: text))
                } catch let error as KeyError where error.code == .wrongKind {
                    return .provider(try ProviderKey(text: text))
                }
            }
        }
    }

    /// Reads the JSON of a reference, a secret that the sender shares with all recipients of the file.
    func readReference<R>(
        from source: String, _ read: (AttachmentFields) throws -> R
    ) throws -> R {
        let text = try readSecret(from: source, isShared: true)
        return try naming(inputName(source), exit: .refused) {
            try read(text.withSpan { text in try AttachmentFields(Bytes(copying: text)) })
        }
    }

    func inputName(_ source: String) -> String { source == "-" ? "standard input" : quoted(source) }
}
