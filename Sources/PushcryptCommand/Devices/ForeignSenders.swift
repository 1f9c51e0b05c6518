internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The devices that trust a sender key which their provider never had: evidence of a theft, or of a false enrolment.
struct ForeignSenders {
    private static let listed = 10

    private let isForeign: @Sendable (SenderPublicKey?) -> Bool
    private var first: [String] = []
    private(set) var count = 0

    init(of store: SQLiteKeyStore) throws(CommandFailure) {
        isForeign = try withStoreErrors { () throws(KeyStoreError) in try store.unknownSenderTest() }
    }

    mutating func add(_ id: String, trusting sender: SenderPublicKey?) {
        guard isForeign(sender) else { return }
        count += 1
        if count <= Self.listed { first.append(id) }
    }

    mutating func add(_ changes: [DeviceChange], except refused: Set<Int>) {
        for (index, change) in changes.enumerated() where !refused.contains(index) {
            guard case .registered(let id, let registration, _, _) = change else { continue }
            add(id, trusting: registration.pinnedSender)
        }
    }

    /// The members of a device's record that name a foreign key.
    var members: [String] { count > 0 ? ["sender"] : [] }

    var text: String {
        let names = first.map(quoted).joined(separator: ", ") + (count > first.count ? ", …" : "")
        let subject = count == 1 ? "device \(names) trusts" : "\(count) devices trust"
        return "\(subject) a sender key that this store never had" + (count == 1 ? "" : ": \(names)")
    }
}

extension Console {
    /// Warns if a device trusts a foreign sender key.
    func warn(of foreign: ForeignSenders) {
        guard foreign.count > 0 else { return }
        warning(foreign.text)
        hint("somebody else enrolled it, or holds a stolen key: see Stolen signing key in Docs/KeyRotation.md")
    }
}
