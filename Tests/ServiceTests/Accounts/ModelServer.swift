import Pushcrypt
import PushcryptKeyStore
import TestPhone

@testable import PushcryptService

/// A provider's server by `Docs/FormatRecords.md`, as far as a phone sees it: a value.
struct ModelServer {
    struct Device {
        let id, user: String
        let record: DeviceRegistration
        /// The grant that it was sent last.
        let grant: String?
    }

    /// The update key and sequence of a device, kept also when it has ended.
    struct Signing {
        let key: SigningPublicKey?
        let sequence: UInt64
    }

    let key: ProviderKey
    /// The app.
    let topic: Topic
    /// The signer of replies.
    var signer: EnvelopeSigner
    private(set) var devices: [Device] = []
    private(set) var signing: [String: Signing] = [:]
    /// Every grant that it was sent.
    private(set) var grants: Set<String> = []
    /// The push key that the server names to a user.
    var pushKeys: [String: SigningPublicKey] = [:]
    /// The push key that follows it.
    var nextPushKeys: [String: SigningPublicKey] = [:]
    /// The grants for which the relay has answered 410, as the server says.
    var endedGrants: Set<String> = []
    /// Whether each record is told that there was a later one.
    var isAlwaysLater = false

    init(_ key: ProviderKey = ProviderKey(), _ topic: Topic = TestPhone.topic) {
        (self.key, self.topic, signer) = (key, topic, EnvelopeSigner(key))
    }

    /// Answers a post; nil for one that breaks a rule, status 404.
    mutating func answer(_ body: ContiguousArray<UInt8>, session user: String? = nil) -> ContiguousArray<UInt8>? {
        switch try? PhonePost(json: body, over: user == nil ? .open : .session) {
        case .hello(let nonce):
            let text = nonce.description
            return sign(RegistrationReply(.hello(text)), to: ContiguousArray(text.utf8))
        case .record(let record):
            let held = isAlwaysLater ? record.sequence + 1 : signing[record.device]?.sequence
            let verdict = verdict(on: record, session: user)
            let reply = reply(verdict, to: record, held: held)
            return user == nil ? sign(reply, to: record.asked) : reply.json
        case .answer: return []
        case .pairing, nil: return nil
        }
    }

    private func sign(_ reply: RegistrationReply, to asked: ContiguousArray<UInt8>) -> ContiguousArray<UInt8> {
        SignedReply.body(reply, to: asked, by: signer, for: topic)
    }

    private func reply(
        _ verdict: RegistrationReply.Verdict, to record: SignedRecord, held: UInt64?
    ) -> RegistrationReply {
        let device = devices.first { $0.id == record.device }
        var reply = reply(verdict, user: device?.user)
        if verdict == .refused(.staleRecord) { reply.sequence = held }
        reply.isGrantEnded = device?.record.grant.map(endedGrants.contains) ?? false
        return reply
    }

    private func reply(_ verdict: RegistrationReply.Verdict, user: String?) -> RegistrationReply {
        var reply = RegistrationReply(verdict, provider: key.publicKey, certificate: signer.certificate)
        (reply.pushKey, reply.nextPushKey) = (user.flatMap { pushKeys[$0] }, user.flatMap { nextPushKeys[$0] })
        return reply
    }

    /// D-23 to D-26, and D-32.
    private mutating func verdict(
        on record: SignedRecord, session user: String?
    ) -> RegistrationReply.Verdict {
        let (id, held) = (record.device, devices.first { $0.id == record.device })
        switch record.content {
        case .end:
            guard held != nil else { return .refused(.unknownDevice) }
            guard let key = signing[id]?.key, record.isSigned(by: key, over: .open, for: topic) else {
                return .refused(.badRecordSignature)
            }
            remove(id, sequence: DeviceEnd.sequence)
            return .ended(id)
        case .registration(let registration):
            guard user != nil || held != nil else { return .refused(.unknownDevice) }
            let key = user == nil ? signing[id]?.key : registration.updateKey
            guard let key, key == registration.updateKey,
                record.isSigned(by: key, over: user == nil ? .open : .session, for: topic)
            else { return .refused(.badRecordSignature) }
            guard record.sequence > signing[id]?.sequence ?? 0, !isAlwaysLater else { return .refused(.staleRecord) }
            return store(registration, of: user ?? held?.user ?? "")
        }
    }

    private mutating func store(
        _ record: DeviceRegistration, of user: String
    ) -> RegistrationReply.Verdict {
        let id = record.deviceID ?? ""
        for other in devices where other.id != id && other.record.publicKey == record.publicKey {
            guard other.user == user else { return .refused(.keyTaken) }
            remove(other.id)
        }
        let held = devices.first { $0.id == id }
        if let grant = record.grant { grants.insert(grant) }
        devices.removeAll { $0.id == id }
        devices.append(Device(id: id, user: user, record: record, grant: record.grant ?? held?.grant))
        signing[id] = Signing(key: record.updateKey, sequence: record.sequence ?? 0)
        return .acknowledged(record.publicKey)
    }

    /// Removes a device, whose next record has to be later.
    mutating func remove(_ id: String, sequence: UInt64? = nil) {
        devices.removeAll { $0.id == id }
        let last = signing[id]
        signing[id] = Signing(key: last?.key, sequence: sequence ?? last?.sequence ?? 0)
    }

    /// Makes the next record of a device have to be later.
    mutating func raise(_ id: String, to sequence: UInt64) {
        signing[id] = Signing(key: signing[id]?.key, sequence: sequence)
    }

    /// Takes the record of a phone that has a code, which replaces the device.
    mutating func pair(_ record: DeviceRegistration, of user: String) -> RegistrationReply {
        let verdict = store(record, of: user)
        return reply(verdict, user: user)
    }

    /// Acknowledges again, and stores nothing. [P-6]
    func repeatReply(to record: DeviceRegistration, of user: String) -> RegistrationReply {
        reply(.acknowledged(record.publicKey), user: user)
    }
}

/// A code that a server shows, for one phone, as `Docs/FormatRecords.md`, Pairing, says: a value.
struct ModelPairing {
    static let url = "https://home.example.net/pair"

    let code: String
    let user: String
    private let exchange: PairingExchange
    private var paired: DeviceRegistration?

    /// The device that the code has paired.
    var pairedDevice: String? { paired?.deviceID }

    init(_ provider: ProviderPublicKey, url: String = url, of user: String = "home") throws {
        let code = try PairingCode(url: url, provider: provider)
        self.code = code.withText { String(decoding: ContiguousArray(copying: $0), as: UTF8.self) }
        self.user = user
        exchange = PairingExchange(code.secret, url: url, topic: TestPhone.topic, fingerprint: code.fingerprint)
    }

    /// Answers a request for the server of the code.
    mutating func answer(_ request: ContiguousArray<UInt8>, _ server: inout ModelServer) -> WebAnswer {
        let (before, user) = (paired, user)
        var new: DeviceRegistration?
        let answer = answer(request, by: server.signer) { record in
            guard let before else {
                let reply = server.pair(record, of: user)
                if case .acknowledged = reply.verdict { new = record }
                return reply
            }
            guard (before.deviceID, before.publicKey) == (record.deviceID, record.publicKey),
                before.updateKey == record.updateKey
            else { return RegistrationReply(.refused(.pairingUsed), provider: server.key.publicKey) }
            return server.repeatReply(to: record, of: user)
        }
        paired = new ?? before
        return answer
    }

    /// Answers as somebody does who knows the code.
    func answer(
        _ request: ContiguousArray<UInt8>, by signer: EnvelopeSigner,
        _ accept: (DeviceRegistration) -> RegistrationReply
    ) -> WebAnswer {
        guard let record = exchange.open(request: request.span),
            let registration = try? DeviceRegistration(json: record)
        else { return WebAnswer(status: 404, body: []) }
        let reply = SignedReply.body(accept(registration), to: record, by: signer, for: TestPhone.topic)
        let text = PairingText.encode(exchange.seal(reply: reply, to: request.span)) + "\n"
        return WebAnswer(status: 200, body: ContiguousArray(text.utf8))
    }
}
