@testable import Pushcrypt

/// The format's rules for an inner plaintext (`Docs/Format.md`, Opening, steps 5 to 7), read apart from the product. Rotations are
/// left to `ProviderTrust`, which has its own target.
struct InnerModel {
    /// Why it is refused; nil when it opens.
    let code: OpenError.Code?

    private let inner: Bytes
    private let block: Int

    /// - Parameter signer: who has signed this inner plaintext rightly, if anybody has.
    init(inner: Bytes, signer: ProviderPublicKey?, trust: ProviderTrust, now: Timestamp) {
        self.inner = inner
        let type = inner[68]
        let body = inner.dropFirst(99).prefix(Self.number(inner[97..<99]))
        let isWhole = body.count == Self.number(inner[97..<99])
        let statements = type == 2 && isWhole ? Self.statements(body) : nil
        block = statements == nil ? 0 : 1 + 181 * Int(body.first ?? 0)

        let id = KeyID(value: UInt32(Self.number(inner[0..<4])))
        var candidates: [ProviderPublicKey] = []
        var conflicts: [OpenError.Code] = []
        // The second time without the recoveries.
        for isSecond in [false, true] {
            var believed = trust
            conflicts = []
            var isRecovered = false
            for statement in statements ?? [] where !isSecond || !statement.isRecovery {
                do throws(RotationError) {
                    let change = try believed.accept(statement, for: KnownKeys.topic, at: now)
                    if case .recovered = change { isRecovered = true }
                } catch {
                    if error.code == .conflict { conflicts.append(.rotationConflict) }
                    if error.code == .recoveryConflict { conflicts.insert(.recoveryConflict, at: 0) }
                }
            }
            candidates = (isRecovered ? [] : trust.candidates(for: id, at: now)) + believed.candidates(for: id, at: now)
            if !isRecovered || signer.map(candidates.contains) == true { break }
        }

        let sentAt = UInt64(bitPattern: Int64(Self.number(inner[85..<93])))
        let seconds = Self.number(inner[93..<97])
        let (end, isEndless) = sentAt.addingReportingOverflow(UInt64(seconds) * 1000)
        code =
            if !isWhole {
                .authenticationFailed
            } else if candidates.isEmpty, let conflict = conflicts.first {
                conflict
            } else if signer.map(candidates.contains) != true
                || inner.dropFirst(99 + body.count).contains(where: { $0 != 0 })
            {
                .authenticationFailed
            } else if type != 1, type != 2 {
                .unsupportedMessage
            } else if !(1...2_592_000).contains(seconds) || sentAt >= 1 << 53 {
                .unsupportedMessage
            } else if now.milliseconds > end, !isEndless {
                .expired
            } else if sentAt > now.milliseconds + 86_400_000 {
                .notYetValid
            } else if type == 2, statements == nil {
                .malformedPayload
            } else if !Self.isPayload(Bytes(body.dropFirst(block))) {
                .malformedPayload
            } else {
                nil
            }
    }

    /// The bytes of which an opened notification tells; what it does not tell of, the signature and statements, is taken over.
    func written(_ opened: OpenedNotification) -> Bytes {
        var bytes = Bytes()
        bytes.append(bigEndian: opened.sender.id.value)
        bytes.append(contentsOf: inner[4..<69])
        bytes.append(contentsOf: opened.messageID.bytes)
        bytes.append(bigEndian: opened.sentAt.milliseconds)
        bytes.append(bigEndian: UInt32((opened.expiresAt.milliseconds - opened.sentAt.milliseconds) / 1000))
        bytes.append(bigEndian: UInt16(block + opened.payload.count))
        bytes.append(contentsOf: inner[99..<99 + block])
        bytes.append(contentsOf: opened.payload)
        bytes.append(contentsOf: repeatElement(0, count: inner.count - bytes.count))
        return bytes
    }

    /// The statements at the front of a body: a count of 1 to 4, then 181 bytes each.
    private static func statements(_ body: some Collection<UInt8>) -> [RotationStatement]? {
        guard let count = body.first, (1...4).contains(count), body.count >= 1 + 181 * Int(count) else { return nil }
        var statements: [RotationStatement] = []
        for index in 0..<Int(count) {
            let bytes = Bytes(body.dropFirst(1 + 181 * index).prefix(181))
            if let statement = try? RotationStatement(bytes: bytes.span) { statements.append(statement) }
        }
        return statements
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    private static func isPayload(_ bytes: Bytes) -> Bool {
        guard let root = (try? JSONDocument(parsing: bytes))?.root else { return false }
        return root["aps"]?.kind == .object
    }
}
