internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// What a provider's store answers to the phones that it registers.
struct RegistrationReplies {
    /// The provider's keys; none in a store for devices alone.
    private let providers: [ProviderKeyRecord]
    private let suites: [UInt8]
    private let store: SQLiteKeyStore

    init(of store: SQLiteKeyStore) throws(CommandFailure) {
        self.store = store
        (providers, suites) = try withStoreErrors { () throws(KeyStoreError) in
            (try store.providerKeys(), try store.permittedSuites())
        }
    }

    /// Why the store may be an old copy; nil if no phone says so.
    var warning: KeyStoreError? { providers.lazy.compactMap(\.warning).first }

    /// Refuses a phone that trusts no key and would be told none: it could open nothing.
    func check(_ registration: DeviceRegistration, of id: String) throws(CommandFailure) {
        let topic = try topic(registration, id)
        let found = providers(for: topic)
        guard registration.pinnedProvider == nil, found.count != 1 else { return }
        let app = topic.map { " for \($0)" } ?? ""
        throw CommandFailure(
            found.isEmpty
                ? KeyStoreError(.unknownName, "the store has no provider key\(providers.isEmpty ? "" : app)")
                : KeyStoreError(.ambiguousName, "the store has several provider keys\(app): make one the default"))
    }

    /// The reply to a registration that is stored, with the newest certificate of its provider key.
    func reply(
        to registration: DeviceRegistration, of id: String, foreign: [RegistrationReply.ForeignMember]
    ) throws(CommandFailure) -> RegistrationReply {
        // While an app's releases change from one key to another, a phone is told about the one that it has.
        let pinned = providers.first { $0.publicKey == registration.pinnedProvider }
        let found = providers(for: try topic(registration, id))
        let provider = pinned ?? (found.count == 1 ? found.first : nil)
        return RegistrationReply(
            .acknowledged(registration.publicKey), provider: provider?.publicKey, certificate: provider?.certificate,
            foreign: foreign, suites: suites)
    }

    /// The phone's app: a registration may leave out what the store knows.
    private func topic(_ registration: DeviceRegistration, _ id: String) throws(CommandFailure) -> Topic? {
        guard registration.topic == nil, providers.count > 1 else { return registration.topic }
        return try withStoreErrors { () throws(KeyStoreError) in try store.device(id: id)?.topic }
    }

    /// The default key, if it may sign for the app; otherwise those that are bound to it.
    private func providers(for topic: Topic?) -> [ProviderKeyRecord] {
        let standard = providers.filter(\.isDefault)
        guard let topic else { return standard.isEmpty ? providers : standard }
        let able = standard.filter { $0.topic == nil || $0.topic == topic }
        return able.isEmpty ? providers.filter { $0.topic == topic } : able
    }
}
