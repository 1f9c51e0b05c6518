import Foundation
import Testing

@testable import Pushcrypt

/// A secret key prints its public half only, whichever way it is printed.
@Suite struct SecretPrintingTests {
    /// The seed of RFC 8032, test 1: not random, so that a failure can be repeated.
    private static let secret = Bytes(hex: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")

    /// HMAC-SHA256 under that seed of "pushcrypt/1 hedge" and a zero byte.
    private static let hedgeKey = Bytes(hex: "338b77bd77628e91d17fb9254061e9ab8d51bfd4f0d6ca1a6c82f268b0c6ce89")

    @Test func deviceKeyPrintsItsPublicHalfOnly() throws {
        let key = try DeviceKey(scalar: Self.secret.span)
        let detector = Detector(Self.secret, text: key.withText { Bytes(copying: $0) })
        for text in printings(of: key) { #expect(!detector.isLeaked(in: text)) }
        #expect("\(key)" == "DeviceKey(\(key.publicKey))")
    }

    @Test func signingKeysAndCredentialsPrintNothingSecret() throws {
        let key = try SigningKey(seed: Self.secret.span)
        let (seed, hedgeKey) = (
            Detector(Self.secret, text: key.withText { Bytes(copying: $0) }), Detector(Self.hedgeKey)
        )
        let provider = try FormatFixture.provider(101)
        let plan = CertificatePlan(epoch: 1, floor: 1, graceUntil: nil, expiresAt: nil)
        let certificate = try UnsignedCertificate(
            plan, for: key.publicKey, provider: provider.publicKey, topic: FormatFixture.app
        ).signed(by: provider)
        let credential = try SigningCredential(key, certificate, by: provider.publicKey)
        let signer = try EnvelopeSigner(credential, for: FormatFixture.app)
        for text in printings(of: key) + printings(of: credential) + printings(of: signer) {
            #expect(!seed.isLeaked(in: text) && !hedgeKey.isLeaked(in: text))
        }
        #expect("\(key)" == "SigningKey(\(key.publicKey.id))")
    }

    @Test func providerKeyPrintsItsPublicHalfOnly() throws {
        let key = try ProviderKey(seed: Self.secret.span)
        let seed = Detector(Self.secret, text: key.withText { Bytes(copying: $0) })
        let hedgeKey = Detector(Self.hedgeKey)
        for text in printings(of: key) { #expect(!seed.isLeaked(in: text) && !hedgeKey.isLeaked(in: text)) }
        #expect("\(key)" == "ProviderKey(\(key.publicKey))")
    }

    @Test func detectorSeesWhatIsPrinted() throws {
        let text = try DeviceKey(scalar: Self.secret.span).withText { Bytes(copying: $0) }
        let detector = Detector(Self.secret, text: text)
        let leaks = [
            String(decoding: text, as: UTF8.self), String(decoding: text, as: UTF8.self).lowercased(),
            "PCR-SECRET-1…" + String(decoding: text.suffix(12), as: UTF8.self),
            Self.secret.hex, Self.secret.hex.uppercased(), String(Self.secret.hex.dropFirst(7)),
            Data(Self.secret).base64EncodedString(), Data([0] + Self.secret).base64EncodedString(),
            Base64URL.string(Self.secret.span),
        ]
        for leak in leaks + printings(of: Self.secret) { #expect(detector.isLeaked(in: leak), "\(leak)") }
        #expect(!detector.isLeaked(in: "PCR-SECRET-1, 157, 97, 177 and 9d61b19"))
    }
}

/// The value alone and inside others, in all ways that Swift has to print it.
private func printings<Value>(of value: Value) -> [String] {
    func each<Outer>(_ outer: Outer) -> [String] {
        var dumped = ""
        dump(outer, to: &dumped)
        return ["\(outer)", String(reflecting: outer), dumped, walk(outer)]
    }
    return each(value) + each(Optional(value)) + each([value]) + each(["key": value]) + each((0, value))
}

/// All that mirrors show of a value, one line for each child.
private func walk(_ value: Any, depth: Int = 8) -> String {
    guard depth > 0 else { return "" }
    let mirrors = sequence(first: Mirror(reflecting: value)) { $0.superclassMirror }
    return mirrors.flatMap(\.children).map { "\($0.value)\n" + walk($0.value, depth: depth - 1) }.joined()
}

/// Finds the bytes of a secret in a text, in any of the forms that they could have there.
private struct Detector {
    private let forms: [Bytes]
    private let numbers: [Int]

    /// `text` is the key's own text form; what stands before the 1 in it is no secret.
    init(_ secret: Bytes, text: Bytes? = nil) {
        let base64 = (0..<3).map { Data(secret.dropFirst($0)).base64EncodedString() }
        let urlSafe = base64.map {
            $0.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        }
        let symbols = String(decoding: text?.drop { $0 != UInt8(ascii: "1") }.dropFirst() ?? [], as: UTF8.self)
        let texts = [secret.hex, secret.hex.uppercased(), symbols, symbols.lowercased()] + base64 + urlSafe
        forms = texts.map { Bytes($0.utf8) }
        numbers = secret.map(Int.init)
    }

    /// Whether 8 characters of a form, or 4 of the bytes as decimal numbers, stand in a row in `text`.
    func isLeaked(in text: String) -> Bool {
        let characters = Set(runs(of: 8, in: Array(text.utf8)))
        if forms.contains(where: { runs(of: 8, in: Array($0)).contains(where: characters.contains) }) { return true }
        let printed = text.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            .map { Int(String(decoding: $0, as: UTF8.self)) ?? -1 }
        return runs(of: 4, in: numbers).contains(where: Set(runs(of: 4, in: printed)).contains)
    }

    private func runs<T>(of count: Int, in values: [T]) -> [[T]] {
        values.indices.dropLast(count - 1).map { Array(values[$0..<$0 + count]) }
    }
}
