import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

/// The cases of `Tests/Vectors/envelopes.json`, which an independent program made, through a store on the disk: what a
/// person is shown, and what becomes of the store.
@Suite struct ReceiverVectorTests {
    struct Trust: Decodable {
        struct Superseded: Decodable {
            let key: String
            let statement: String
        }

        let pinned: [String]
        let superseded: [Superseded]
    }

    struct Receiver: Decodable {
        let topic: String
        let deviceSecrets: [String]
        let trust: Trust
    }

    /// A case of `open`, which has an envelope, or of `received`, which has a push.
    struct Case: Decodable {
        let name: String
        let receiver: Receiver
        let now: UInt64
        let envelope: String?
        let received: String?
        let result: String
        let payload: String?
        let trustAfter: Trust?

        var push: Bytes {
            get throws {
                if let received { return Bytes(received.utf8) }
                let text = try JSONEncoder().encode(#require(envelope))
                return Scene.push(value: String(decoding: text, as: UTF8.self))
            }
        }
    }

    struct File: Decodable {
        let open: [Case]
        let received: [Case]
    }

    @Test func theReceiverAgreesWithTheVectors() throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = try JSONDecoder().decode(
            File.self, from: Data(contentsOf: tests.appendingPathComponent("Vectors/envelopes.json")))
        for vector in file.open + file.received { try check(vector) }
        #expect(!file.open.isEmpty && !file.received.isEmpty)
        print("vectors: envelopes.json, through the receiver: \(file.open.count + file.received.count)")
    }

    private func check(_ vector: Case) throws {
        let name = Comment(rawValue: vector.name)
        let phone = try makePhone(vector.receiver)
        let push = try vector.push
        let before = try StoreFiles(in: phone.folder)
        let reception = try phone.receive(
            push, topic: Topic(vector.receiver.topic), at: Timestamp(milliseconds: vector.now))
        let changes = try StoreFiles(in: phone.folder).changes(since: before)

        #expect(reception.code == vector.result, name)
        #expect(reception.opened.map { String(decoding: $0.payload, as: UTF8.self) } == vector.payload, name)
        if let after = vector.trustAfter {
            try expect(after, of: phone, name)
        } else {
            #expect(changes == [], name)
            #expect(reception.shown.subtitle == (vector.result == "not-encrypted" ? "" : "(Encrypted)"), name)
            #expect(reception.shown.body == (vector.result == "not-encrypted" ? "(Encrypted)" : ""), name)
        }
    }

    /// A phone with these keys, which believes these senders because it was told so and has followed their statements.
    private func makePhone(_ receiver: Receiver) throws -> Phone {
        let phone = try Phone(floor: Timestamp(milliseconds: 0), hasKey: false)
        for secret in receiver.deviceSecrets {
            let scalar = try bytes(secret)
            _ = try phone.store.importDeviceKey(DeviceKey(scalar: scalar.span), name: secret, now: .start)
        }
        for superseded in receiver.trust.superseded {
            try pin(superseded.key, on: phone)
            let signed = try bytes(superseded.statement)
            let statement = try RotationStatement(bytes: signed.span)
            _ = try phone.store.acceptStatements([statement], topic: Topic(receiver.topic), now: statement.issuedAt)
        }
        for key in receiver.trust.pinned { try pin(key, on: phone) }
        try expect(receiver.trust, of: phone, "the phone is not the one of the case")
        return phone
    }

    private func pin(_ key: String, on phone: Phone) throws {
        guard try !phone.store.trustedSenders().contains(where: { $0.key.bytes.hex == key }) else { return }
        let point = try bytes(key)
        try phone.store.trustSender(name: key, SenderPublicKey(bytes: point.span), now: .start)
    }

    private func expect(_ trust: Trust, of phone: Phone, _ name: Comment) throws {
        let senders = try phone.store.trustedSenders()
        for (state, keys) in [
            (TrustedSenderRecord.State.pinned, trust.pinned), (.superseded, trust.superseded.map(\.key)),
        ] {
            #expect(Set(senders.filter { $0.state == state }.map(\.key.bytes.hex)) == Set(keys), name)
        }
    }

    private func bytes(_ hex: String) throws -> Bytes {
        let digits = Array(hex)
        return Bytes(
            try stride(from: 0, to: digits.count, by: 2).map {
                try #require(UInt8(String(digits[$0..<min($0 + 2, digits.count)]), radix: 16))
            })
    }
}
