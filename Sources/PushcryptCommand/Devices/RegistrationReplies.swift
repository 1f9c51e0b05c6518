internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// What a provider's store answers to the phones that it registers.
struct RegistrationReplies {
    /// The keys that sign, and their recovery keys; none in a store for devices alone, whose signing key is elsewhere.
    private let senders: [(record: ProviderKeyRecord, recoveryKeys: [RecoveryPublicKey])]
    private let suites: [UInt8]
    private let store: SQLiteKeyStore

    init(of store: SQLiteKeyStore) throws(CommandFailure) {
        self.store = store
        (senders, suites) = try withStoreErrors { () throws(KeyStoreError) in
            var senders: [(ProviderKeyRecord, [RecoveryPublicKey])] = []
            for record in try store.providerKeys() {
                senders.append((record, try store.announcedRecoveryKeys(of: record.name)))
            }
            return (senders, try store.permittedSuites())
        }
    }

    /// Refuses a phone that trusts no key and would be told none: it could open nothing.
    func check(_ registration: DeviceRegistration, of id: String) throws(CommandFailure) {
        let topic = try topic(registration, id)
        let found = senders(for: topic)
        guard registration.pinnedProvider == nil, found.count != 1 else { return }
        let app = topic.map { " for \($0)" } ?? ""
        throw CommandFailure(
            found.isEmpty
                ? KeyStoreError(.unknownName, "the store has no sender key\(senders.isEmpty ? "" : app)")
                : KeyStoreError(.ambiguousName, "the store has several sender keys\(app): make one the default"))
    }

    /// The reply to a registration that is stored.
    func reply(
        to registration: DeviceRegistration, of id: String, foreign: [RegistrationReply.ForeignMember]
    ) throws(CommandFailure) -> RegistrationReply {
        let found = senders(for: try topic(registration, id))
        let sender = found.count == 1 ? found.first : nil
        return RegistrationReply(
            .acknowledged(registration.publicKey), sender: sender?.record.publicKey,
            recoveryKeys: sender?.recoveryKeys ?? [], foreign: foreign, suites: suites)
    }

    /// The phone's app: a registration may leave out what the store knows.
    private func topic(_ registration: DeviceRegistration, _ id: String) throws(CommandFailure) -> Topic? {
        guard registration.topic == nil, senders.count > 1 else { return registration.topic }
        return try withStoreErrors { () throws(KeyStoreError) in try store.device(id: id)?.topic }
    }

    /// The default key, if it may sign for the app; otherwise those that are bound to it.
    private func senders(
        for topic: Topic?
    ) -> [(record: ProviderKeyRecord, recoveryKeys: [RecoveryPublicKey])] {
        let standard = senders.filter { $0.record.isDefault }
        guard let topic else { return standard.isEmpty ? senders : standard }
        let able = standard.filter { $0.record.topic == nil || $0.record.topic == topic }
        return able.isEmpty ? senders.filter { $0.record.topic == topic } : able
    }
}
