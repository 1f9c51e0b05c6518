import Testing
import VectorKit

@testable import Pushcrypt

/// `Tests/Data/Vectors/kit/certificates` and `kit/plans`, and `trust.json`: certificates byte by byte.
@Suite struct KitTrustTests {
    @Test(.vectors("kit/certificates"), arguments: try KitGroup.certificates.vectors())
    func certificatesAreAcceptedOrNot(_ vector: KitVector) throws {
        let receiver = try KitReceiver(vector, at: FormatFixture.now)
        var trust = receiver.trust
        let outcomes = try vector.lines.map { line in
            do throws(TrustError) {
                switch try trust.accept(Certificate(bytes: line.span), for: receiver.topic) {
                case .unchanged: return "unchanged"
                case .raised: return "accepted"
                case .conflict: return "certificate-conflict"
                }
            } catch {
                return error.code.description
            }
        }
        #expect(outcomes == vector.all("expect"))
        var learned = receiver.learned
        for pin in trust.pins where pin.learned != LearnedTrust() { learned[pin.key] = pin.learned }
        #expect(learned == receiver.learnedAfter)
    }

    @Test(.vectors("kit/plans"), arguments: try KitGroup.plans.vectors())
    func theNextCertificateIsPlannedOrNot(_ vector: KitVector) throws {
        func certificate(_ name: String) throws -> Certificate? {
            try vector.optional(name).map { try Certificate(text: $0) }
        }
        let past = try vector.all("past").map { line in
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count == 2)
            let replaced = try #require(UInt64(words[1]))
            let epoch = words[0] == "-" ? nil : try Certificate(text: words[0])
            return CertificatePlan.PastEpoch(epoch, replacedAt: Timestamp(milliseconds: replaced))
        }
        let kind = try vector.one("kind")
        try #require(kind == "planned" || kind == "stolen")
        let lifetime: UInt64? = vector.optional("lifetime") == nil ? nil : try vector.number("lifetime")
        let (current, proven, now) = (try certificate("certificate"), try certificate("proven"), try vector.time)
        do throws(TrustError) {
            let plan = try CertificatePlan(
                after: current, past: past, proven: proven, at: now, kind == "stolen" ? .stolen : .planned,
                expires: lifetime.map(Interval.seconds))
            #expect(vector.expect == "accepted")
            #expect("\(plan.epoch)" == vector.optional("epoch") && "\(plan.floor)" == vector.optional("floor"))
            #expect("\(plan.graceUntil?.milliseconds ?? 0)" == vector.optional("grace-until"))
            #expect("\(plan.expiresAt?.milliseconds ?? .max)" == vector.optional("expires-at"))
        } catch {
            #expect(error.code.description == vector.expect)
        }
    }

    struct File: Codable {
        let certificates: [Vector]
    }

    struct Vector: FormatVector {
        let name: String
        let topic: String
        let providerSeed: Hex
        let providerPublic: Hex
        let epoch: UInt32
        let floor: UInt32
        let graceUntil: UInt64
        let expiresAt: UInt64
        let signingSeed: Hex
        let signingPublic: Hex
        let signingKeyID: Hex
        let signed: Hex
        let certificate: Hex
        let text: String
    }

    @Test(
        .vectors("trust.json, certificates"),
        arguments: try FormatVectors.read("trust.json", as: File.self).certificates)
    func aCertificateHasTheseBytes(_ vector: Vector) throws {
        let provider = try ProviderKey(seed: vector.providerSeed.bytes.span)
        let key = try SigningKey(seed: vector.signingSeed.bytes.span)
        #expect(provider.publicKey.bytes == vector.providerPublic.bytes)
        #expect(key.publicKey.bytes == vector.signingPublic.bytes)
        #expect(key.publicKey.id.description == vector.signingKeyID.bytes.hex)
        let plan = CertificatePlan(
            epoch: vector.epoch, floor: vector.floor,
            graceUntil: vector.graceUntil == 0 ? nil : Timestamp(milliseconds: vector.graceUntil),
            expiresAt: vector.expiresAt == .max ? nil : Timestamp(milliseconds: vector.expiresAt))
        let unsigned = try UnsignedCertificate(
            plan, for: key.publicKey, provider: provider.publicKey, topic: Topic(vector.topic))
        #expect(unsigned.message == vector.signed.bytes)
        let certificate = try unsigned.signed(by: provider)
        #expect(certificate.bytes == vector.certificate.bytes && certificate.description == vector.text)
        let read = try Certificate(text: vector.text)
        try read.check(for: provider.publicKey, topic: Topic(vector.topic))
        #expect(read.epoch == vector.epoch && read.floor == vector.floor)
        #expect(read.graceUntil == plan.graceUntil && read.expiresAt == plan.expiresAt)
        #expect(read.signingKey == key.publicKey)
    }
}
