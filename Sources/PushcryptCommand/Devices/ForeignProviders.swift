internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The devices that have pinned a provider key which their provider never had: evidence of a false enrolment.
struct ForeignProviders {
    private static let listed = 10

    private let foreignMembers: @Sendable (ProviderPublicKey?) -> [RegistrationReply.ForeignMember]
    private var first: [String] = []
    private(set) var count = 0

    init(of store: SQLiteKeyStore) throws {
        foreignMembers = try store.foreignMemberTest()
    }

    /// Adds a device; returns the members of its record that name a foreign key.
    @discardableResult
    mutating func add(_ id: String, pinning provider: ProviderPublicKey?) -> [RegistrationReply.ForeignMember] {
        let foreign = foreignMembers(provider)
        guard !foreign.isEmpty else { return [] }
        count += 1
        if count <= Self.listed { first.append(id) }
        return foreign
    }

    mutating func add(_ changes: [DeviceChange], except refused: Set<Int>) {
        for (index, change) in changes.enumerated() where !refused.contains(index) {
            guard case .registered(let id, let registration, _, _, _) = change else { continue }
            add(id, pinning: registration.pinnedProvider)
        }
    }

    var text: String {
        let names = first.map(quoted).joined(separator: ", ") + (count > first.count ? ", …" : "")
        return (count == 1 ? "device \(names) trusts" : "\(count) devices trust")
            + " a provider key that this store never had" + (count == 1 ? "" : ": \(names)")
    }
}

extension Console {
    /// Warns if a device trusts a foreign provider key.
    func warn(of foreign: ForeignProviders) {
        guard foreign.count > 0 else { return }
        warning(foreign.text)
        hint("somebody else enrolled it: see A foreign key in Docs/Devices.md")
    }
}
