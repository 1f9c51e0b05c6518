internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension OnceWarning {
    /// Says that the store of a batch may be an old copy, whenever that turns out.
    func give(ofStale signers: [SealingKeys.Signer]) {
        if let warning = signers.lazy.compactMap(\.warning).first { give("\(warning.code): \(warning)") }
    }
}
