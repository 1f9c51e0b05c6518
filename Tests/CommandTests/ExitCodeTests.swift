import PushcryptCommandKit
import Testing

@testable import PushcryptCommand

/// How a batch ends, by the codes of its refused lines.
@Suite struct ExitCodeTests {
    @Test(
        "A line that may succeed later, alone or once the set-up is right, is 1",
        arguments: [
            "store-busy", "disk-full", "input-output", "overflow-failed", "changed-file", "store-missing",
            "newer-version", "older-version", "store-locked", "store-key-missing",
            "wrong-passphrase",
            "passphrase-needed", "provider-offline", "unknown-name", "ambiguous-name", "no-topic", "unsupported-suite",
        ])
    func later(code: String) {
        #expect(ExitCode(refusedLines: [code]) == .failed)
        #expect(ExitCode(refusedLines: ["unknown-device", code, "payload-too-large"]) == .failed)
    }

    @Test(
        "A line that is refused now and later is 65",
        arguments: [
            "unknown-device", "removed-device", "corrupt-store", "malformed-line", "payload-too-large",
            "topic-mismatch", "generation-rollback", "no-key", "reserved-key",
        ])
    func never(code: String) {
        #expect(ExitCode(refusedLines: [code]) == .refused)
    }

    @Test("Without refused lines it is 0")
    func none() {
        #expect(ExitCode(refusedLines: [String]()) == .done)
    }
}
