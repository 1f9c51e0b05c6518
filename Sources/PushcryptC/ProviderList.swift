internal import Pushcrypt

/// A caller's list of trusted senders: sender keys, recovery keys, and the last recovery.
///
/// All sender keys have the same recovery keys.
struct ProviderList {
    private static let lastRecovery = "recovered "
    let trust: ProviderTrust

    /// Reads the list; of a sender with an end, only messages are trusted, and one that ended at 0 is revoked.
    init(_ start: UnsafePointer<CChar>?) throws(CallError) {
        let list = try unsafe KeyList(start, "senders")
        let (last, keys) = list.divided(by: Self.lastRecovery)
        let (recovery, senders) = keys.divided(by: "pcv1")
        let own = try senders.keys { (text) throws(KeyError) in
            try ProviderPublicKey(text: String(decoding: ContiguousArray(copying: text), as: UTF8.self))
        }
        guard !own.isEmpty else { throw .invalid("senders has no sender's key") }
        let recoveryKeys = try recovery.keys { (text) throws(KeyError) in
            try RecoveryPublicKey(text: String(decoding: ContiguousArray(copying: text), as: UTF8.self))
        }
        guard recoveryKeys.allSatisfy({ $0.until == nil }) else {
            throw .invalid("senders: a recovery key has no end")
        }
        guard recoveryKeys.count <= RecoveryPublicKey.maximumPerSender else {
            throw .invalid("senders has more than \(RecoveryPublicKey.maximumPerSender) recovery keys")
        }
        guard !own.contains(where: { key, _ in recoveryKeys.contains { $0.key.bytes == key.bytes } }) else {
            throw .invalid("senders: one key is a sender's and a recovery key")
        }
        let superseded = own.compactMap { key, until in
            until.map {
                ProviderTrust.Superseded(key: key, verifiesUntil: $0.milliseconds == 0 ? nil : $0, statement: nil)
            }
        }
        let pins = own.filter { $0.until == nil }.map { Optional($0.key) }
        let lastRecovery = try Self.recovery(last.texts, among: recoveryKeys.map(\.key))
        trust = ProviderTrust(
            (pins.isEmpty ? [nil] : pins).map {
                ProviderTrust.Sender(
                    pinned: $0, superseded: superseded, recoveryKeys: recoveryKeys.map(\.key),
                    lastRecovery: lastRecovery)
            })
    }

    /// Returns nil if the key that signed it is no longer in the list: its serial does not count for others.
    private static func recovery(
        _ lines: [String], among recoveryKeys: [RecoveryPublicKey]
    ) throws(CallError) -> ProviderTrust.LastRecovery? {
        guard let line = lines.first else { return nil }
        guard lines.count == 1,
            let claim = ProviderTrust.LastRecovery.claim(ofText: line.utf8.dropFirst(lastRecovery.utf8.count))
        else { throw .invalid("senders: the line of the last recovery is not as the library wrote it") }
        return ProviderTrust.LastRecovery(claim: claim, among: recoveryKeys)
    }
}
