internal import Pushcrypt
internal import PushcryptKeyStore

extension SQLiteKeyStore {
    /// The accounts that have device keys.
    func namesWithKeys() throws(KeyStoreError) -> [String] {
        try state().accounts.filter { !$0.keys.isEmpty }.map(\.name)
    }
}
