import Testing

@testable import Pushcrypt

/// The proof that somebody has a provider key.
@Suite struct ProviderChallengeTests {
    private let key = ProviderKey()

    @Test func theKeyAloneMeetsItsChallenge() {
        let challenge = ProviderChallenge(to: key.publicKey)
        let signature = key.signature(of: challenge.message.span)
        #expect(challenge.isMet(by: signature))
        let other = ProviderKey().signature(of: challenge.message.span)
        var wrong = signature
        wrong[40] ^= 1
        for signature in [other, wrong, Bytes(), Bytes(signature.dropLast()), signature + [0]] {
            #expect(!challenge.isMet(by: signature))
        }
    }

    /// Nothing else that a provider key signs begins like it, and nobody can keep an answer for later.
    @Test func eachIsNewAndNamesTheKey() {
        let challenges = (0..<2).map { _ in ProviderChallenge(to: key.publicKey).message }
        let start = Bytes("pushcrypt/1 provider challenge\0".utf8) + key.publicKey.bytes
        for message in challenges { #expect(message.count == 95 && message.starts(with: start)) }
        #expect(challenges[0] != challenges[1])
    }
}
