internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The devices that trust a sender or recovery key which their provider never had: evidence of a theft, or of a false enrolment.
struct ForeignProviders {
    private static let listed = 10

    private let foreignMembers: @Sendable (ProviderPublicKey?, [RecoveryPublicKey]) -> [RegistrationReply.ForeignMember]
    private var first: [String] = []
    private(set) var count = 0

    init(of store: SQLiteKeyStore) throws(CommandFailure) {
        foreignMembers = try withStoreErrors { () throws(KeyStoreError) in try store.foreignMemberTest() }
    }

    /// Adds a device; returns the members of its record that name a foreign key.
    @discardableResult
    mutating func add(_ id: String, _ registration: DeviceRegistration) -> [RegistrationReply.ForeignMember] {
        add(id, trusting: registration.pinnedProvider, registration.recoveryKeys)
    }

    @discardableResult
    mutating func add(
        _ id: String, trusting sender: ProviderPublicKey?, _ recoveryKeys: [RecoveryPublicKey]
    ) -> [RegistrationReply.ForeignMember] {
        let foreign = foreignMembers(sender, recoveryKeys)
        guard !foreign.isEmpty else { return [] }
        members += foreign.filter { !members.contains($0) }
        count += 1
        if count <= Self.listed { first.append(id) }
        return foreign
    }

    mutating func add(_ changes: [DeviceChange], except refused: Set<Int>) {
        for (index, change) in changes.enumerated() where !refused.contains(index) {
            guard case .registered(let id, let registration, _, _) = change else { continue }
            add(id, registration)
        }
    }

    /// The members of the devices' records that name a foreign key.
    private(set) var members: [RegistrationReply.ForeignMember] = []

    var text: String {
        let names = first.map(quoted).joined(separator: ", ") + (count > first.count ? ", …" : "")
        let subject = count == 1 ? "device \(names) trusts" : "\(count) devices trust"
        let noun = members == [.recovery] ? "recovery" : "sender"
        return "\(subject) a \(noun) key that this store never had" + (count == 1 ? "" : ": \(names)")
    }
}

extension Console {
    /// Warns if a device trusts a foreign sender key.
    func warn(of foreign: ForeignProviders) {
        guard foreign.count > 0 else { return }
        warning(foreign.text)
        hint("somebody else enrolled it, or is using a stolen key: see A stolen key in Docs/KeyRotation.md")
    }
}
