import Testing
import VectorKit

@testable import Pushcrypt

/// A key that cannot be taken: what is wrong, and nothing of the key.
@Suite struct KeyErrorTests {
    private static let devicePublic = "pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx"
    private static let providerPublic = "pcs1rqc3xgvzk2wqcguwxtkf62wj2w8lxk2ev8rvs88qnj8zsjtftrkst37dvk"
    private static let deviceSecret = "PCR-SECRET-145HAW2SRDFRXKJRZVU33YCGGHHFLEELAGG52A3VC6HWZJ2L5HJ0SADFV30"
    private static let providerSecret = "PCS-SECRET-1E5QLJK9AQ39DDTLF8ZW3VHSKTL59Q07DGAS5GFPKGVKT4F9YVNNQLKFTVZ"
    /// The seed 7 (×32), by the reference's encoder.
    private static let signingSecret = "PCK-SECRET-1QURSWPC8QURSWPC8QURSWPC8QURSWPC8QURSWPC8QURSWPC8QURSDHCXFQ"

    private static func refusal(of text: String, as kind: KeyTextKind) -> KeyError? {
        do throws(KeyError) {
            _ = try kind.read(Bytes(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    /// No eight characters in a row of any key that is refused, secret ones above all.
    @Test(arguments: try KitGroup.keys.vectors().filter { $0.expect != "accepted" })
    func noRefusedKeyIsSeenInItsError(_ vector: KitVector) throws {
        let text = try vector.text
        let error = try #require(try Self.refusal(of: text, as: KeyTextKind(vector)))
        let characters = Array(text)
        for start in characters.indices where start + 8 <= characters.count {
            let part = String(characters[start..<start + 8])
            // The prefix is no part of the key, and naming it helps.
            if !"PCR-SECRET-1 PCS-SECRET-1 PCK-SECRET-1".contains(part) { #expect(!error.description.contains(part)) }
        }
        #expect(!error.description.isEmpty)
    }

    @Test(arguments: [
        (
            devicePublic, KeyTextKind.providerPublic, "a device's public key (pcr1…)",
            "a provider's public key (pcs1…)"
        ),
        (providerPublic, .devicePublic, "a provider's public key (pcs1…)", "a device's public key (pcr1…)"),
        (deviceSecret, .devicePublic, "a device's secret key (PCR-SECRET-1…)", "a device's public key (pcr1…)"),
        (
            providerSecret, .deviceSecret, "a provider's secret key (PCS-SECRET-1…)",
            "a device's secret key (PCR-SECRET-1…)"
        ),
        (
            signingSecret, .providerSecret, "a signing key's secret (PCK-SECRET-1…)",
            "a provider's secret key (PCS-SECRET-1…)"
        ),
        (
            providerSecret, .signingSecret, "a provider's secret key (PCS-SECRET-1…)",
            "a signing key's secret (PCK-SECRET-1…)"
        ),
        (devicePublic, .providerSecret, "a device's public key (pcr1…)", "a provider's secret key (PCS-SECRET-1…)"),
    ])
    func theWrongKindIsNamedWithTheRightOne(
        _ text: String, _ kind: KeyTextKind, _ given: String, _ needed: String
    ) throws {
        let error = try #require(Self.refusal(of: text, as: kind))
        #expect(error.code == .wrongKind)
        #expect(error.description == "this is \(given); \(needed) is needed here")
    }

    /// Every byte at a place of every kind of text: refused, with the place if it is no character of the alphabet.
    @Test(arguments: Bech32.Kind.allCases) func everyOtherByteIsRefused(_ kind: Bech32.Kind) throws {
        let key = Bytes((0..<kind.keyLength).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) })
        let text = Bech32.encode(key.span, as: kind).withSpan { Bytes(copying: $0) }
        #expect(try Bech32.decode(text.span, as: kind).withSpan { Bytes(copying: $0) } == key)
        let alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
        let allowed = Bytes((kind.isUpperCase ? alphabet.uppercased() : alphabet).utf8)
        let start = kind.prefix.utf8CodeUnitCount + 1
        // Of a long text the beginning, the middle and the end.
        for place in start..<text.count
        where text.count < 99 || place < start + 8 || (900..<908).contains(place) || place > text.count - 10 {
            var changed = text
            // An expectation for each byte would take most of the time.
            var wrong: [UInt8] = []
            for byte in UInt8.min...UInt8.max where byte != text[place] {
                changed[place] = byte
                // A newline at the end is no part of the text.
                let isShorter = byte == UInt8(ascii: "\n") && place == text.count - 1
                do throws(KeyError) {
                    _ = try Bech32.decode(changed.span, as: kind)
                    wrong.append(byte)
                } catch {
                    let isAllowed = allowed.contains(byte)
                    let namesThePlace = error.description.hasPrefix("character \(place + 1) is")
                    if error.code != (isAllowed ? .wrongChecksum : .malformedKey)
                        || namesThePlace != (!isAllowed && !isShorter)
                    {
                        wrong.append(byte)
                    }
                }
            }
            #expect(wrong == [], "at \(place)")
        }
    }

    @Test(arguments: [0, 31, 33, 64]) func keysOfAnotherLengthAreRefused(_ count: Int) {
        let bytes = Bytes(repeating: 9, count: count)
        let errors = [
            #expect(throws: KeyError.self) { try DevicePublicKey(bytes: bytes.span) },
            #expect(throws: KeyError.self) { try ProviderPublicKey(bytes: bytes.span) },
            #expect(throws: KeyError.self) { try DeviceKey(scalar: bytes.span) },
            #expect(throws: KeyError.self) { try ProviderKey(seed: bytes.span) },
            #expect(throws: KeyError.self) { try SigningKey(seed: bytes.span) },
        ]
        for error in errors { #expect(error?.code == .malformedKey) }
    }
}
