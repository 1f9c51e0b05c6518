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

    @Test(
        "The distance counts insertions, deletions, substitutions and swaps",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "ab", 1),
            ("abc", "xabc", 1), ("abcd", "acbd", 1), ("kitten", "sitting", 3), ("ca", "abc", 3),
        ])
    func distance(first: String, second: String, distance: Int) {
        #expect(editDistance(Array(first.utf8), Array(second.utf8)) == distance)
    }
}
