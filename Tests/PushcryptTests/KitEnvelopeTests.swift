import Testing
import VectorKit

@testable import Pushcrypt

/// `Tests/Data/Vectors/kit`: texts under `ENCRYPTED_DATA` and whole pushes, opened, inspected without keys, and encoded again.
@Suite struct KitEnvelopeTests {
    @Test(.vectors("kit/envelopes"), arguments: try KitGroup.envelopes.vectors())
    func anEnvelopeOpensOrNot(_ vector: KitVector) throws {
        let body = vector.body
        try check(vector) { opener, now in try opener.open(Envelope(text: body.span), at: now) }
    }

    @Test(.vectors("kit/pushes"), arguments: try KitGroup.pushes.vectors())
    func aPushOpensOrNot(_ vector: KitVector) throws {
        try check(vector) { opener, now in try opener.open(vector.body, at: now) }
    }

    /// The facts known without a key, and the one text of an envelope.
    @Test(.vectors("kit/envelopes, from outside"), arguments: try KitGroup.envelopes.vectors())
    func anEnvelopeShowsItsOutside(_ vector: KitVector) throws {
        let fingerprint = try vector.one("fingerprint")
        #expect(try EnvelopeFingerprint(of: vector.text).description == fingerprint)
        let body = vector.body
        do {
            let envelope = try Envelope(text: body.span)
            #expect(envelope.recipientKeyID.description == vector.optional("recipient-key-id"))
            #expect(String(envelope.innerLength) == vector.optional("bucket"))
            #expect(envelope.fingerprint.description == fingerprint)
            #expect(try envelope.text == vector.text)
        } catch let error as OpenError {
            #expect(error.code.description == vector.expect)
            #expect(vector.optional("recipient-key-id") == nil && vector.optional("bucket") == nil)
        }
    }

    private func check(
        _ vector: KitVector, open: (Opener, Timestamp) throws -> OpenedNotification
    ) throws {
        let receiver = try KitReceiver(vector)
        do {
            let opened = try open(receiver.opener, receiver.now)
            #expect(vector.expect == "opened")
            let payload = opened.payload
            #expect(try SHA256.digest(payload.span) == vector.bytes("payload-sha256"))
            #expect(try opened.messageID.bytes == vector.bytes("message-id"))
            #expect(try opened.sentAt.milliseconds == vector.number("sent-at"))
            let timeToLive: UInt64 = try vector.number("time-to-live")
            #expect(opened.expiresAt == opened.sentAt.adding(.seconds(timeToLive)))
            #expect(try opened.sender.description == vector.one("signed-by"))
            #expect(opened.hasRotationConflict == vector.all("told").contains("rotation-conflict"))
            #expect(opened.hasRecoveryConflict == vector.all("told").contains("recovery-conflict"))

            // What the receiver trusts once it has folded in the statements that the message brought.
            var trust = receiver.trust
            for statement in opened.statements {
                let change = try trust.accept(statement, for: receiver.topic, at: receiver.now)
                #expect(change != .unchanged, "a statement without effect was handed out")
            }
            #expect(trust.senders == receiver.trustAfter.senders)
        } catch let error as OpenError {
            #expect(error.code.description == vector.expect, "\(error)")
            #expect(vector.all("sender-after").isEmpty && vector.optional("payload-sha256") == nil)
        }
    }
}
