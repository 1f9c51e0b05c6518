@testable import Pushcrypt

/// Rotation and recovery statements: a device takes one exactly when the format says so, and a refused one changes nothing.
///
/// Input: whom the device trusts, then up to three statements, field by field and signed by the harness, or one as raw bytes.
struct RotationTarget: FuzzTarget {
    static let name = "rotation"

    private let senders = (1...8 as ClosedRange<UInt8>).map(KnownKeys.sender)
    /// The second has the bytes of a sender's key.
    private let recoveries = [9, 8].map(KnownKeys.recovery)

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let start = choices.byte()
        var trust = withRotationErrors(trust(start), start)
        var model = RotationModel(trust)
        if start & 0x80 != 0 { return take(choices.rest(), nil, into: &trust, &model) }
        for _ in 0..<3 where !choices.isEmpty {
            let (bytes, facts) = statement(&choices)
            take(bytes, facts, into: &trust, &model)
        }
    }

    /// One key; one that was rotated; one that the app replaced; several.
    private func trust(_ choice: UInt8) -> ProviderTrust {
        let keys = senders.map(\.publicKey)
        switch choice & 3 {
        case 0: return ProviderTrust(pinned: [keys[0]])
        case 1:
            var fields = Fields(old: senders[0], new: senders[1])
            fields.overlap = 86_400
            let statement = KnownKeys.known { () throws(RotationError) in
                try RotationStatement(bytes: fields.bytes.span)
            }
            return ProviderTrust(
                pinned: [keys[1]],
                superseded: [
                    ProviderTrust.Superseded(key: keys[0], verifiesUntil: statement.overlapEnd, statement: statement)
                ])
        case 2:
            return ProviderTrust(
                pinned: [keys[1]],
                superseded: [ProviderTrust.Superseded(key: keys[0], verifiesUntil: nil, statement: nil)])
        default: return ProviderTrust(pinned: [keys[0], keys[1], keys[2]])
        }
    }

    /// Recovery keys for the first sender, or for all, which have perhaps had a recovery.
    private func withRotationErrors(_ trust: ProviderTrust, _ choice: UInt8) -> ProviderTrust {
        guard choice & 4 != 0 else { return trust }
        let keys = choice & 8 != 0 ? recoveries : [recoveries[0]]
        var fields = Fields(old: senders[0], new: senders[6])
        fields.overlap = 1000
        fields.recovery = recoveries[0]
        let last = ProviderTrust.LastRecovery(
            serial: 1000, claim: Bytes(fields.bytes.prefix(53)), by: recoveries[0].publicKey)
        return ProviderTrust(
            trust.senders.enumerated().map { index, sender in
                guard index == 0 || choice & 16 != 0 else { return sender }
                return ProviderTrust.Sender(
                    name: sender.name, pinned: sender.pinned, superseded: sender.superseded,
                    recoveryKeys: keys.map(\.publicKey), lastRecovery: choice & 32 != 0 ? last : nil)
            })
    }

    // MARK: Statements

    /// A statement before it is signed.
    private struct Fields {
        var version: UInt8 = 1
        /// Of a recovery, which has a serial instead of an overlap.
        var recovery: RecoveryKey? {
            didSet {
                version = 2
                oldID = recovery?.publicKey.id.value ?? oldID
            }
        }
        let old: ProviderKey
        let new: ProviderKey
        var oldID: UInt32
        var newKey: Bytes
        var issuedAt = KnownKeys.now.milliseconds
        var acceptFor: UInt32 = 1000
        var overlap: UInt32 = 0

        init(old: ProviderKey, new: ProviderKey) {
            self.old = old
            self.new = new
            oldID = old.id.value
            newKey = new.publicKey.bytes
        }

        var bytes: Bytes {
            var bytes: Bytes = [version]
            bytes.append(bigEndian: oldID)
            bytes.append(contentsOf: newKey)
            bytes.append(bigEndian: issuedAt)
            bytes.append(bigEndian: acceptFor)
            bytes.append(bigEndian: overlap)
            let unsigned = bytes
            func message(_ label: String, _ role: UInt8, _ key: Bytes, _ context: Bytes) -> Bytes {
                Bytes("pushcrypt/1 \(label)\0".utf8) + [role] + key + context + unsigned
            }
            guard let recovery else {
                for (role, key) in [(UInt8(1), old), (2, new)] {
                    bytes += key.signature(of: message("rotation", role, old.publicKey.bytes, []).span)
                }
                return bytes
            }
            let context: Bytes = [0, UInt8(KnownKeys.topic.bundleID.utf8.count)] + Bytes(KnownKeys.topic.bundleID.utf8)
            bytes += recovery.signature(of: message("recovery", 3, recovery.publicKey.bytes, context).span)
            bytes += new.signature(of: message("recovery", 2, recovery.publicKey.bytes, context).span)
            return bytes
        }
    }

    private func statement(_ choices: inout Choices) -> (Bytes, RotationModel.Facts) {
        let flags = choices.byte()
        let old = choices.number(below: senders.count)
        var fields = Fields(old: senders[old], new: senders[choices.number(below: senders.count)])
        let isRecovery = flags & 128 != 0
        if isRecovery { fields.recovery = recoveries[old % recoveries.count] }
        if flags & 1 != 0 { fields.version = choices.byte() }
        if flags & 2 != 0 { fields.oldID ^= choices.integer() }
        if flags & 4 != 0 { fields.newKey = choices.bytes(ProviderPublicKey.length) }
        if flags & 8 != 0 {
            fields.issuedAt = choices.integer()
        } else {
            fields.issuedAt &-= UInt64(choices.integer(UInt16.self)) << 12
        }
        if flags & 16 != 0 { fields.issuedAt &+= 2 * 86_400_000 }
        fields.acceptFor = choices.integer()
        fields.overlap = choices.integer(UInt32.self) >> (flags & 32 != 0 ? 0 : 10)
        var bytes = fields.bytes
        let signed = bytes
        if flags & 64 != 0 { bytes.edit(&choices) }
        let facts = RotationModel.Facts(
            version: isRecovery ? 2 : 1, signer: fields.recovery?.publicKey.bytes ?? fields.old.publicKey.bytes,
            isSignedBySigner: bytes.prefix(117) == signed.prefix(117),
            isSignedByNew: bytes.prefix(53) == signed.prefix(53) && bytes.dropFirst(117) == signed.dropFirst(117)
                && fields.newKey == fields.new.publicKey.bytes)
        return (bytes, facts)
    }

    // MARK: The device

    /// Gives a statement to the device; without facts nobody has signed it.
    private func take(
        _ bytes: Bytes, _ facts: RotationModel.Facts?, into trust: inout ProviderTrust, _ model: inout RotationModel
    ) {
        let expected = model.take(bytes, facts, now: KnownKeys.now.milliseconds)
        let before = trust
        do throws(RotationError) {
            let statement = try RotationStatement(bytes: bytes.span)
            require(statement.bytes == bytes, "rotation: a statement is written as it was read")
            let change = try trust.accept(statement, for: KnownKeys.topic, at: KnownKeys.now)
            require(expected == nil, "rotation: refused with \(expected?.description ?? "")")
            require((change == .unchanged) == (trust == before), "rotation: the change is what has changed")
        } catch {
            require(expected == error.code, "rotation: \(expected?.description ?? "taken"), not \(error.code)")
            require(trust == before, "rotation: a refused statement changes nothing")
        }
        require(model == RotationModel(trust), "rotation: the trust is that of the format")
        for sender in trust.senders {
            let goesBack = sender.superseded.contains { $0.key == sender.pinned }
            require(!goesBack, "rotation: trust never goes back")
        }
    }
}
