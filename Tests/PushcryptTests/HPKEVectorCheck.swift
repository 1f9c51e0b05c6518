import Testing

@testable import Pushcrypt

/// Compares every value of a vector with what the library computes, on the sender's side and on the recipient's.
struct HPKEVectorCheck {
    private let vector: HPKEVector
    /// How many values were compared.
    private(set) var count = 0

    init(_ vector: HPKEVector) { self.vector = vector }

    mutating func run() throws {
        #expect((vector.kemID, vector.kdfID, vector.aeadID) == (0x0020, 0x0001, 0x0003))
        let sent: Ephemeral
        let received: Ephemeral
        let recipient = try DHKEM.deriveKeyPair(ikm: vector.ikmR.bytes.span)
        let ephemeral = try DHKEM.deriveKeyPair(ikm: vector.ikmE.bytes.span)
        compare(recipient.secret.bytes, vector.skRm, "skRm")
        compare(recipient.publicKey, vector.pkRm, "pkRm")
        compare(ephemeral.secret.bytes, vector.skEm, "skEm")
        compare(ephemeral.publicKey, vector.pkEm, "pkEm")
        if let ikmS = vector.ikmS {
            let sender = try DHKEM.deriveKeyPair(ikm: ikmS.bytes.span)
            compare(sender.secret.bytes, vector.skSm, "skSm")
            compare(sender.publicKey, vector.pkSm, "pkSm")
            compare(ephemeral.publicKey, vector.enc, "enc")
            sent = try HPKEAuthenticated.encapsulate(to: vector.pkRm.bytes, sender: sender, ephemeral: ephemeral)
            received = try HPKEAuthenticated.decapsulate(
                vector.enc.bytes, recipient: recipient, sender: sender.publicKey)
        } else {
            let encapsulation = try DHKEM.encapsulate(to: vector.pkRm.bytes.span, ephemeral: ephemeral)
            compare(encapsulation.enc, vector.enc, "enc")
            sent = encapsulation.sharedSecret.withSpan { Ephemeral(copying: $0) }
            received = try DHKEM.decapsulate(
                vector.enc.bytes.span, secret: vector.skRm.bytes.span, publicKey: vector.pkRm.bytes.span)
        }
        compare(sent.bytes, vector.sharedSecret, "shared_secret, sender")
        compare(received.bytes, vector.sharedSecret, "shared_secret, recipient")

        let sender = try context(sharedSecret: sent)
        try compare(sender)
        try compareMessages(sender: sender, recipient: context(sharedSecret: received))
        if vector.mode == HPKEKeySchedule.Mode.base.rawValue {
            // The envelope's own way into the key schedule.
            try compare(HPKEContext(.x25519, sharedSecret: received, info: vector.info.bytes.span))
        }
    }

    private func context(sharedSecret: borrowing Ephemeral) throws -> HPKEKeySchedule {
        try HPKEKeySchedule(
            .x25519, mode: try #require(HPKEKeySchedule.Mode(rawValue: vector.mode)), sharedSecret: sharedSecret,
            info: vector.info.bytes, psk: vector.psk?.bytes ?? [], pskID: vector.pskID?.bytes ?? [])
    }

    private mutating func compare(_ context: borrowing HPKEContext) throws {
        compare(context.key.bytes, vector.key, "key")
        compare(context.baseNonce.bytes, vector.baseNonce, "base_nonce")
    }

    private mutating func compare(_ schedule: borrowing HPKEKeySchedule) throws {
        compare(schedule.context, vector.keyScheduleContext, "key_schedule_context")
        compare(schedule.secret.bytes, vector.secret, "secret")
        try compare(schedule.result)
        compare(try schedule.exporterSecret(), vector.exporterSecret, "exporter_secret")
        for export in vector.exports {
            let value = try schedule.export(export.context.bytes, length: export.length)
            compare(value, export.value, "exported_value for \(export.context)")
        }
    }

    private mutating func compareMessages(
        sender: borrowing HPKEKeySchedule, recipient: borrowing HPKEKeySchedule
    ) throws {
        for (sequence, message) in zip(UInt64(0)..., vector.encryptions) {
            compare(sender.nonce(sequence: sequence), message.nonce, "nonce \(sequence)")
            let sealed = try sender.seal(message.pt.bytes, authenticating: message.aad.bytes, sequence: sequence)
            compare(sealed, message.ct, "ct \(sequence)")
            let opened = try? recipient.open(message.ct.bytes, authenticating: message.aad.bytes, sequence: sequence)
            compare(opened, message.pt, "pt \(sequence)")
        }
    }

    private mutating func compare(
        _ value: Bytes?, _ expected: Hex?, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        count += 1
        #expect(
            value != nil && value == expected?.bytes, "\(name), \(vector.testDescription)",
            sourceLocation: sourceLocation)
    }
}
