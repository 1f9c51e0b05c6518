internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// What a provider's store answers to the phones that it registers.
struct RegistrationReplies {
    /// None in a store for devices alone.
    private let providers: ProviderKeys
    private let suites: [UInt8]
    /// What phones fetch a relay's grants for; nil without a push key.
    private let pushKeys: PushKeys<PushKeyRecord>?
    private let store: SQLiteKeyStore

    init(of store: SQLiteKeyStore, at now: Timestamp) throws {
        self.store = store
        (providers, suites, pushKeys) = (
            try ProviderKeys(of: store), try store.permittedSuites(), try store.pushKeys(at: now)
        )
    }

    /// Why the store may be an old copy; nil if no phone says so.
    var warning: KeyStoreError? { providers.records.lazy.compactMap(\.warning).first }

    /// Refuses a phone that trusts no key and would be told none: it could open nothing.
    func check(_ registration: DeviceRegistration, of id: String) throws {
        guard registration.pinnedProvider == nil else { return }
        let topic = try topic(registration, id)
        _ = try providers.key(for: topic)
    }

    /// The reply to a registration that is stored, with the newest certificate of its provider key.
    func reply(
        to registration: DeviceRegistration, of id: String, foreign: [RegistrationReply.ForeignMember]
    ) throws -> RegistrationReply {
        let provider = try provider(for: registration, id)
        var reply = RegistrationReply(
            .acknowledged(registration.publicKey), provider: provider?.publicKey, certificate: provider?.certificate,
            foreign: foreign, suites: suites, pushKey: pushKeys?.current.publicKey)
        reply.nextPushKey = pushKeys?.next?.publicKey
        if let grant = registration.grant {
            reply.isGrantEnded = try store.device(id: id)?.hasEnded(grant) ?? false
        }
        return reply
    }

    /// The reply to a registration that is refused, which may hear of a theft by it. [D-37]
    func reply(
        to registration: DeviceRegistration, of id: String, refused refusal: RegistrationReply.Refusal
    ) throws -> RegistrationReply {
        var reply = RegistrationReply(.refused(refusal), certificate: try provider(for: registration, id)?.certificate)
        if refusal == .staleRecord {
            reply.sequence = try store.sequence(of: id)
        }
        return reply
    }

    private func provider(
        for registration: DeviceRegistration, _ id: String
    ) throws -> ProviderKeyRecord? {
        let topic = try topic(registration, id)
        // A phone that trusts another key need not be told one.
        do throws(KeyStoreError) {
            return try providers.key(for: topic, pinned: registration.pinnedProvider)
        } catch {
            return nil
        }
    }

    /// The phone's app: a registration may leave out what the store knows.
    private func topic(_ registration: DeviceRegistration, _ id: String) throws -> Topic? {
        guard registration.topic == nil, providers.records.count > 1 else { return registration.topic }
        return try store.device(id: id)?.topic
    }
}
