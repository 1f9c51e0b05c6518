import Pushcrypt
import Testing

/// Every value of RFC 9180's own vectors, in all four modes, on the sender's side and on the recipient's.
@Suite struct HPKEVectorTests {
    /// Compares values and counts them.
    private struct Comparison {
        let mode: UInt8
        private(set) var count = 0

        init(mode: UInt8) { self.mode = mode }

        mutating func compare(
            _ value: Bytes?, _ expected: Hex?, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            count += 1
            #expect(value != nil && value == expected?.bytes, "\(name) in mode \(mode)", sourceLocation: sourceLocation)
        }
    }

    @Test func everyValueOfEveryModeIsThatOfTheRFC() throws {
        guard let vectors = try HPKEVector.all() else { return }
        #expect(vectors.map(\.mode) == [0, 1, 2, 3])
        var count = 0
        for vector in vectors {
            var comparison = Comparison(mode: vector.mode)
            try check(vector, &comparison)
            count += comparison.count
        }
        #expect(count > 0)
        print("vectors: HPKE RFC 9180, values of \(vectors.count) modes: \(count)")
    }

    private func check(_ vector: HPKEVector, _ comparison: inout Comparison) throws {
        let sent: Ephemeral
        let received: Ephemeral
        let recipient = try DHKEM.deriveKeyPair(ikm: vector.ikmR.bytes.span)
        let ephemeral = try DHKEM.deriveKeyPair(ikm: vector.ikmE.bytes.span)
        comparison.compare(recipient.secret.bytes, vector.skRm, "skRm")
        comparison.compare(recipient.publicKey, vector.pkRm, "pkRm")
        comparison.compare(ephemeral.secret.bytes, vector.skEm, "skEm")
        comparison.compare(ephemeral.publicKey, vector.pkEm, "pkEm")
        if let ikmS = vector.ikmS {
            let sender = try DHKEM.deriveKeyPair(ikm: ikmS.bytes.span)
            comparison.compare(sender.secret.bytes, vector.skSm, "skSm")
            comparison.compare(sender.publicKey, vector.pkSm, "pkSm")
            comparison.compare(ephemeral.publicKey, vector.enc, "enc")
            sent = try HPKEAuthenticated.encapsulate(to: vector.pkRm.bytes, sender: sender, ephemeral: ephemeral)
            received = try HPKEAuthenticated.decapsulate(
                vector.enc.bytes, recipient: recipient, sender: sender.publicKey)
        } else {
            let encapsulation = try DHKEM.encapsulate(to: vector.pkRm.bytes.span, ephemeral: ephemeral)
            comparison.compare(encapsulation.enc, vector.enc, "enc")
            sent = encapsulation.sharedSecret.withSpan { Ephemeral(copying: $0) }
            received = try DHKEM.decapsulate(
                vector.enc.bytes.span, secret: vector.skRm.bytes.span, publicKey: vector.pkRm.bytes.span)
        }
        comparison.compare(sent.bytes, vector.sharedSecret, "shared_secret, sender")
        comparison.compare(received.bytes, vector.sharedSecret, "shared_secret, recipient")

        let sender = try context(of: vector, sharedSecret: sent)
        try check(sender, against: vector, &comparison)
        let opener = try context(of: vector, sharedSecret: received)
        try checkMessages(of: vector, sender: sender, recipient: opener, &comparison)
        if vector.mode == HPKEContext.Mode.base.rawValue {
            // The envelope's own way into the key schedule.
            try check(
                HPKEContext(sharedSecret: received, info: vector.info.bytes.span), against: vector, &comparison)
        }
    }

    private func context(of vector: HPKEVector, sharedSecret: borrowing Ephemeral) throws -> HPKEContext {
        let pskID = vector.pskID?.bytes ?? []
        let psk = vector.psk?.bytes ?? []
        return try HPKEContext(
            mode: try #require(HPKEContext.Mode(rawValue: vector.mode)), sharedSecret: sharedSecret,
            info: vector.info.bytes.span, psk: psk.span, pskIDHash: HPKEContext.pskIDHash(pskID.span))
    }

    private func check(
        _ context: borrowing HPKEContext, against vector: HPKEVector, _ comparison: inout Comparison
    ) throws {
        comparison.compare(context.keyScheduleContext, vector.keyScheduleContext, "key_schedule_context")
        comparison.compare(context.secret.bytes, vector.secret, "secret")
        comparison.compare(context.key.bytes, vector.key, "key")
        comparison.compare(context.baseNonce.bytes, vector.baseNonce, "base_nonce")
        comparison.compare(try context.exporterSecret().bytes, vector.exporterSecret, "exporter_secret")
        #expect(vector.exports.count == 3)
        for export in vector.exports {
            let value = try context.export(export.context.bytes.span, length: export.length).bytes
            comparison.compare(value, export.value, "exported_value for \(export.context)")
        }
    }

    private func checkMessages(
        of vector: HPKEVector, sender: borrowing HPKEContext, recipient: borrowing HPKEContext,
        _ comparison: inout Comparison
    ) throws {
        #expect(vector.encryptions.count == 257)
        for (sequence, message) in zip(UInt64(0)..., vector.encryptions) {
            comparison.compare(sender.nonce(sequence: sequence).bytes, message.nonce, "nonce \(sequence)")
            var sealed = Bytes()
            try sender.seal(
                message.pt.bytes.span, authenticating: message.aad.bytes.span, sequence: sequence,
                appendingTo: &sealed)
            comparison.compare(sealed, message.ct, "ct \(sequence)")
            let opened = try? recipient.open(
                message.ct.bytes.span, authenticating: message.aad.bytes.span, sequence: sequence
            ).bytes
            comparison.compare(opened, message.pt, "pt \(sequence)")
        }
    }
}
