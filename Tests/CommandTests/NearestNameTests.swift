import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct NearestNameTests {
    static let names = ["init", "key", "config", "device", "provider", "seal", "open", "rotate", "inspect", "doctor"]

    @Test(
        "A slip is recognised",
        arguments: [
            ("sael", "seal"), ("seel", "seal"), ("opne", "open"), ("opn", "open"), ("confg", "config"),
            ("confgi", "config"), ("devices", "device"), ("dev", "device"), ("inspct", "inspect"),
            ("insepct", "inspect"),
            ("rot", "rotate"), ("doctr", "doctor"),
        ])
    func slip(word: String, name: String) {
        #expect(nearestName(to: word, among: Self.names) == name)
    }

    @Test(
        "What resembles nothing, or two names alike, gets no guess", arguments: ["", "x", "se", "list", "frobnicate"])
    func stranger(word: String) {
        #expect(nearestName(to: word, among: Self.names) == nil)
    }

    @Test("Two names at the same distance are no guess")
    func tie() {
        #expect(nearestName(to: "bat", among: ["bar", "bag"]) == nil)
    }
}
