import Pushcrypt
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct SecretTextTests {
    @Test(
        "Of a secret key in a text, its prefix stays and says what was there",
        arguments: [
            ("PCS-SECRET-1QPZRY9X8GF2TVDW0", "PCS-SECRET-1…"), ("pcr-secret-1qpzry9x8", "pcr-secret-1…"),
            ("there is no 'Pcr-Secret-1QPZRY9X8'!", "there is no 'Pcr-Secret-1…'!"),
            ("é PCS-SECRET-1QPZRY9X8 und PCR-SECRET-1GF2TVDW0 ü", "é PCS-SECRET-1… und PCR-SECRET-1… ü"),
            ("pPCS-SECRET-1QPZRY9X8", "pPCS-SECRET-1…"), ("PCS-PCS-SECRET-1QPZRY9X8", "PCS-PCS-SECRET-1…"),
            ("PCS-SECRET-1QPZRY9X8\u{301}", "PCS-SECRET-1…\u{301}"),
            (#"{"crv":"Ed25519","d":"nWGxne_9WmC6","x":"11qYAYKx"}"#, #"{"crv":"Ed25519","d":"…","x":"11qYAYKx"}"#),
            (#"no "{\"d\" : \"nWGxne_9WmC6hEr0\"}"!"#, #"no "{\"d\" : \"…\"}"!"#), (#""d":"nWGxne_9"#, #""d":"…"#),
            (
                "-----BEGIN PRIVATE KEY-----\nMC4CAQAw\nBQYDK2Vw\n-----END PRIVATE KEY-----, new",
                "-----BEGIN PRIVATE KEY-----…-----END PRIVATE KEY-----, new"
            ),
            (#"-----BEGIN PRIVATE KEY-----\u000aMC4CAQAwBQYD"#, "-----BEGIN PRIVATE KEY-----…"),
        ])
    func removed(text: String, safe: String) {
        #expect(SecretText.removed(from: text) == safe && SecretText.isIn(text))
    }

    @Test(
        "What is no key stays as it is",
        arguments: [
            "", "p", "PCR-SECRET-1…", "pcs-secret-1.txt", "pcr1qpzry9x8gf2tvdw0", "PCS-SECRET-2QPZRY9X8",
            "pcs-secret-1qpzry9x", #""d":"short""#, #""d"nWGxne_9WmC6"#, #""device":"nWGxne_9WmC6""#,
            #"{"x":"nWGxne_9WmC6"}"#,
            "from -----BEGIN PRIVATE KEY----- or -----BEGIN PUBLIC KEY----- to its END",
            "-----BEGIN PUBLIC KEY-----\nMCowBQYD",
        ])
    func untouched(text: String) {
        #expect(SecretText.removed(from: text) == text && !SecretText.isIn(text))
    }

    @Test("A key that somebody has taken for a name is neither in the answer to its line nor in a message")
    func messages() throws {
        let key = ProviderKey().withText { String(decoding: ContiguousArray(copying: $0), as: UTF8.self) }
        var json = JSONWriter()
        json.object { json in Failure.noDevice(of: key).write(line: 1, to: &json) }
        let answer = String(decoding: json.bytes, as: UTF8.self)
        #expect(answer.contains("PCS-SECRET-1…") && !answer.contains(key.dropFirst(12).prefix(8)))
        for format in LogFormat.allCases {
            let captured = try CapturedConsole()
            var console = captured.console
            console.messageFormat = format.messages
            console.error("there is no \(quoted(key))")
            console.log("\(key): done")
            console.log("sealed", [("to", .word(key))])
            let messages = try captured.messages
            #expect(messages.split(separator: "PCS-SECRET-1…").count == 4)
            #expect(!messages.contains(key.dropFirst(12).prefix(8)))
        }
    }
}
