internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// What a provider's store answers to the phones that it registers.
struct RegistrationReplies {
    /// The key that signs, and its recovery keys; nil in a store for devices alone, whose signing key is elsewhere.
    private let sender: (key: SenderPublicKey, recoveryKeys: [RecoveryPublicKey])?
    /// The reason why there is no such key.
    private let missing: CommandFailure?
    private let suites: [UInt8]

    init(of store: SQLiteKeyStore) throws(CommandFailure) {
        suites = try withStoreErrors { () throws(KeyStoreError) in try store.permittedSuites() }
        do throws(KeyStoreError) {
            sender = (try store.senderKey(named: nil).record.publicKey, try store.announcedRecoveryKeys())
            missing = nil
        } catch {
            guard error.code == .unknownName || error.code == .ambiguousName else { throw CommandFailure(error) }
            (sender, missing) = (nil, CommandFailure(error))
        }
    }

    /// Refuses a phone that trusts no key and would be told none: it could open nothing.
    func check(_ registration: DeviceRegistration) throws(CommandFailure) {
        if let missing, registration.pinnedSender == nil { throw missing }
    }

    /// The reply to a registration that is stored.
    func reply(to registration: DeviceRegistration, foreign: [RegistrationReply.ForeignMember]) -> RegistrationReply {
        RegistrationReply(
            .acknowledged(registration.publicKey), sender: sender?.key, recoveryKeys: sender?.recoveryKeys ?? [],
            foreign: foreign, suites: suites)
    }
}
