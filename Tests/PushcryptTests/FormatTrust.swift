import Pushcrypt
import Testing

/// Whom a receiver of the vectors trusts.
struct FormatTrust: Codable, Sendable {
    struct Superseded: Codable, Hashable, Sendable {
        let key: Hex
        let statement: Hex
    }

    let pinned: [Hex]
    let superseded: [Superseded]

    /// The trust as the library has it.
    var trust: SenderTrust {
        get throws {
            SenderTrust(
                pinned: try pinned.map { try SenderPublicKey(bytes: $0.bytes.span) },
                superseded: try superseded.map { entry in
                    let statement = try RotationStatement(bytes: entry.statement.bytes.span)
                    return SenderTrust.Superseded(
                        key: try SenderPublicKey(bytes: entry.key.bytes.span), verifiesUntil: statement.overlapEnd,
                        statement: statement)
                })
        }
    }

    /// Compares with what the library made of it; the order of keys means nothing.
    func expect(_ trust: SenderTrust, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(
            trust.pinned.map(\.bytes.hex).sorted() == pinned.map(\.bytes.hex).sorted(), sourceLocation: sourceLocation)
        #expect(
            Set(trust.superseded.map { [$0.key.bytes, $0.statement?.bytes] })
                == Set(superseded.map { [$0.key.bytes, $0.statement.bytes] }), sourceLocation: sourceLocation)
        #expect(trust.superseded.count == superseded.count, sourceLocation: sourceLocation)
        for entry in trust.superseded {
            #expect(entry.verifiesUntil == entry.statement?.overlapEnd, sourceLocation: sourceLocation)
        }
    }
}
