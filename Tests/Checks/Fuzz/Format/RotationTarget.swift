import FuzzHarness

@testable import Pushcrypt

/// Rotation statements: a device takes one exactly when the format says so, and a refused one changes nothing.
///
/// Input: whom the device trusts, then up to three statements, field by field and signed by the harness, or one as raw bytes.
struct RotationTarget: FuzzTarget {
    static let name = "rotation"

    private let senders = (1...8 as ClosedRange<UInt8>).map(KnownKeys.sender)

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let start = choices.byte()
        var trust = trust(start)
        var model = RotationModel(trust)
        if start & 0x80 != 0 { return take(choices.rest(), nil, into: &trust, &model) }
        for _ in 0..<3 where !choices.isEmpty {
            let (bytes, facts) = statement(&choices)
            take(bytes, facts, into: &trust, &model)
        }
    }

    /// One key; one that was rotated; one that the app replaced; several.
    private func trust(_ choice: UInt8) -> SenderTrust {
        let keys = senders.map(\.publicKey)
        switch choice & 3 {
        case 0: return SenderTrust(pinned: [keys[0]])
        case 1:
            var fields = Fields(old: senders[0], new: senders[1])
            fields.overlap = 86_400
            let statement = KnownKeys.known { () throws(RotationError) in
                try RotationStatement(bytes: fields.bytes.span)
            }
            return SenderTrust(
                pinned: [keys[1]],
                superseded: [
                    SenderTrust.Superseded(key: keys[0], verifiesUntil: statement.overlapEnd, statement: statement)
                ])
        case 2:
            return SenderTrust(
                pinned: [keys[1]],
                superseded: [SenderTrust.Superseded(key: keys[0], verifiesUntil: nil, statement: nil)])
        default: return SenderTrust(pinned: [keys[0], keys[1], keys[2]])
        }
    }

    // MARK: Statements

    /// A statement before it is signed.
    private struct Fields {
        var version: UInt8 = 1
        let old: SenderKey
        let new: SenderKey
        var oldID: UInt32
        var newKey: Bytes
        var issuedAt = KnownKeys.now.milliseconds
        var acceptFor: UInt32 = 1000
        var overlap: UInt32 = 0

        init(old: SenderKey, new: SenderKey) {
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
            for (role, key) in [(UInt8(1), old), (2, new)] {
                var message = Bytes()
                message.append("pushcrypt/1 rotation\0")
                message.append(role)
                message.append(contentsOf: old.publicKey.bytes)
                message.append(contentsOf: unsigned)
                bytes.append(contentsOf: key.signature(of: message.span))
            }
            return bytes
        }
    }

    private func statement(_ choices: inout Choices) -> (Bytes, RotationModel.Facts) {
        let flags = choices.byte()
        var fields = Fields(
            old: senders[choices.number(below: senders.count)], new: senders[choices.number(below: senders.count)])
        if flags & 1 != 0 { fields.version = choices.byte() }
        if flags & 2 != 0 { fields.oldID ^= choices.integer() }
        if flags & 4 != 0 { fields.newKey = choices.bytes(SenderPublicKey.length) }
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
            old: fields.old.publicKey, isSignedByOld: bytes.prefix(117) == signed.prefix(117),
            isSignedByNew: bytes.prefix(53) == signed.prefix(53) && bytes.dropFirst(117) == signed.dropFirst(117)
                && fields.newKey == fields.new.publicKey.bytes)
        return (bytes, facts)
    }

    // MARK: The device

    /// Gives a statement to the device; without facts nobody has signed it.
    private func take(
        _ bytes: Bytes, _ facts: RotationModel.Facts?, into trust: inout SenderTrust, _ model: inout RotationModel
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
        require(model.keys == RotationModel(trust).keys, "rotation: the keys of each sender are those of the format")
        for sender in trust.senders {
            let goesBack = sender.superseded.contains { $0.key == sender.pinned }
            require(!goesBack, "rotation: trust never goes back")
        }
    }
}
