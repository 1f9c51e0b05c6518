import Testing
import VectorKit

@testable import Pushcrypt

/// `Tests/Data/Vectors/kit`: texts under `ENCRYPTED_DATA` and whole pushes, opened, inspected without keys, and encoded again.
@Suite struct KitEnvelopeTests {
    @Test(.vectors("kit/envelopes"), arguments: try KitGroup.envelopes.vectors())
    func anEnvelopeOpensOrNot(_ vector: KitVector) throws {
        let body = vector.body
        try check(vector) { receiver in
            try receiver.opener.open(Envelope(text: body.span), at: receiver.now, as: receiver.pushClass)
        }
    }

    @Test(.vectors("kit/pushes"), arguments: try KitGroup.pushes.vectors())
    func aPushOpensOrNot(_ vector: KitVector) throws {
        try check(vector) { receiver in
            try receiver.opener.open(vector.body, at: receiver.now, as: receiver.pushClass)
        }
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
        _ vector: KitVector, open: (KitReceiver) throws -> OpenedNotification
    ) throws {
        let receiver = try KitReceiver(vector)
        do {
            let opened = try open(receiver)
            #expect(vector.expect == "opened")
            let payload = opened.payload
            #expect(try SHA256.digest(payload.span) == vector.bytes("payload-sha256"))
            #expect(try opened.messageID.bytes == vector.bytes("message-id"))
            #expect(try opened.sentAt.milliseconds == vector.number("sent-at"))
            let timeToLive: UInt64 = try vector.number("time-to-live")
            #expect(opened.expiresAt == opened.sentAt.adding(.seconds(timeToLive)))
            #expect(try opened.provider.description == vector.one("provider"))
            #expect(try opened.epoch == vector.number("epoch"))
            #expect(opened.hasCertificateConflict == vector.all("told").contains("certificate-conflict"))

            // The receiver's knowledge once it has learnt the message's certificate.
            var learned = receiver.learned
            if opened.learned != LearnedTrust() { learned[opened.provider] = opened.learned }
            if let certificate = opened.certificate {
                var known = receiver.learned[opened.provider] ?? LearnedTrust()
                known.merge(LearnedTrust(certificate))
                #expect(known == opened.learned)
            }
            #expect(learned == receiver.learnedAfter)
        } catch let error as OpenError {
            #expect(error.code.description == vector.expect, "\(error)")
            #expect(vector.all("learned-after").isEmpty && vector.optional("payload-sha256") == nil)
        }
    }
}
