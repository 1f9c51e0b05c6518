import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// A phone whose account is paired, and its provider at epoch 1: what happens to them, and to a backup of the phone.
final class TraceWorld {
    let provider: Provider
    let phone: Installation
    var now = Timestamp.start
    /// Whether the provider is one that cannot seal to suite 2.
    var lacksSuite2 = false
    private var image: DeviceState?
    /// A signing key that somebody has a copy of.
    private var stolen: EnvelopeSigner?

    init() throws {
        provider = try Provider()
        try provider.rotate(at: now)
        phone = Installation()
        #expect(try phone.pair(with: provider, at: now).key == .acknowledged)
        try exchange()
    }

    /// The id of the device.
    var device: String { get throws { try phone.device } }

    // MARK: The phone

    /// Makes a record.
    func record() throws -> EnrolmentRequest { try phone.request(at: now) }

    /// Makes a record, which reaches the provider, and whose reply reaches the phone.
    @discardableResult
    func exchange() throws -> EnrolmentResult? {
        let request = try record()
        return try phone.take(answer(request), to: request, at: now)
    }

    func makeKey(_ suite: CipherSuite? = nil) throws {
        try phone.store.edit { try $0.rotate(suite: suite, at: now) }
    }

    func backUp() throws { image = try phone.state }

    func restore() throws {
        let image = try #require(image)
        try phone.store.edit { $0 = image }
    }

    // MARK: The provider

    func answer(_ request: EnrolmentRequest) throws -> Bytes {
        if lacksSuite2, request.record.publicKey.suite == .xwing, try held != request.record.publicKey {
            return try reply(.refused(.unsupportedSuite), to: request)
        }
        return try provider.answer(request.signed.body, hasSession: false, at: now)
    }

    /// The fate of a record that arrives too late.
    func refusal(ofLate request: EnrolmentRequest) throws -> RegistrationReply.Refusal? {
        let answer = try #require(try provider.store.accept(request.signed.body, at: now))
        guard case .refused(let refusal, _) = answer.event else { return nil }
        return refusal
    }

    /// A reply that the provider signs, whatever it has.
    func reply(
        _ verdict: RegistrationReply.Verdict, sequence: UInt64? = nil, to request: EnrolmentRequest,
        by signer: EnvelopeSigner? = nil
    ) throws -> Bytes {
        var reply = RegistrationReply(verdict, provider: try provider.key.publicKey)
        reply.sequence = sequence
        let signer = try signer ?? provider.store.signer(named: nil)
        return SignedReply.body(reply, to: request.signed.asked, by: signer, for: .app)
    }

    /// The key that the provider seals to.
    var held: DevicePublicKey? { get throws { try provider.store.device(id: device)?.publicKey } }

    func removeByAPNs() throws {
        #expect(try provider.store.removeDevices([LostDevice(id: device, at: now)], at: now).removed == 1)
    }

    func removeByOperator() throws { #expect(try provider.store.removeDevice(id: device, at: now)) }

    // MARK: A thief

    func steal() throws { stolen = try provider.store.signer(named: nil) }

    /// Answers the next record with the stolen key; nil if the phone does not believe that.
    func forge(_ verdict: RegistrationReply.Verdict, sequence: UInt64? = nil) throws -> EnrolmentResult? {
        let (request, thief) = (try record(), try #require(stolen))
        return try phone.take(
            reply(verdict, sequence: sequence, to: request, by: thief), to: request, at: now)
    }

    /// Acknowledges the next record, which the provider never sees.
    func forgeAcknowledgement() throws -> EnrolmentResult? {
        let (request, thief) = (try record(), try #require(stolen))
        return try phone.take(
            reply(.acknowledged(request.record.publicKey), to: request, by: thief), to: request, at: now)
    }

    // MARK: What must hold

    /// Whether the phone knows what the provider has, and opens what is sealed to it.
    var isGood: Bool {
        get throws {
            let registration = try phone.registration
            guard let held = try held, let at = registration.acknowledgedAt, at <= now,
                registration.report?.publicKey == held
            else { return false }
            return try phone.receive(provider.push(to: device, at: now), at: now) == "opened"
        }
    }

    /// How many exchanges it takes until all is good; more than 12 if it never is.
    func heal() throws -> Int {
        for count in 0...12 {
            if try isGood { return count }
            try exchange()
        }
        return 13
    }
}
