internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// Says once in a batch that its store may be an old copy, whenever that turns out.
final class StaleStoreWarning: Sendable {
    private let console: Console
    private let isGiven = Monitor(false)

    init(_ console: Console) { self.console = console }

    func report(_ signers: [SealingKeys.Signer]) {
        guard let warning = signers.lazy.compactMap(\.warning).first else { return }
        let isFirst = isGiven.change { given in
            defer { given = true }
            return !given
        }
        if isFirst { console.warn(ofStale: warning) }
    }
}
