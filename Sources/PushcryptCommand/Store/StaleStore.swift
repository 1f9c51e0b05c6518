internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Console {
    /// Warns that the store may be an old copy.
    func warn(ofStale warning: KeyStoreError?) {
        if let warning { self.warning("\(warning.code): \(warning)") }
    }
}
