import Foundation
import Testing
import VectorKit

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// `pushcrypt inspect` over the test kit: it needs no key, never fails otherwise than the format says, and agrees with the
/// kit about what anybody can see.
@Suite struct KitInspectTests {
    private struct Outside: Decodable {
        struct Envelope: Decodable {
            let fingerprint: String
            let recipient_key_id: String
            let bucket: Int
            let characters: Int
        }

        let envelope: Envelope
    }

    @Test func inspectAgreesWithTheKit() throws {
        let vectors = try KitGroup.envelopes.vectors()
        for vector in vectors { try check(vector) }
        print("vectors: kit/envelopes, inspected: \(vectors.count)")
    }

    @Test func inspectTakesEveryPush() throws {
        // Without a brace, the command reads an envelope.
        let vectors = try KitGroup.pushes.vectors().filter { $0.body.contains(UInt8(ascii: "{")) }
        for vector in vectors {
            let outcome = try inspect(vector.body)
            // A push that fails before the keys fails here too, with the same code.
            let isOfOutside = ["malformed-notification", "not-encrypted", "malformed-envelope"].contains(vector.expect)
            #expect((outcome.exit == .done) == !isOfOutside, "\(vector): \(outcome.messages)")
            if isOfOutside { #expect(outcome.messages.contains(vector.expect), "\(vector): \(outcome.messages)") }
        }
        print("vectors: kit/pushes, inspected: \(vectors.count)")
    }

    private func check(_ vector: KitVector) throws {
        let outcome = try inspect(vector.body)
        guard let id = vector.optional("recipient-key-id") else {
            // The command drops the newline of a line.
            let isLine = vector.path == "envelopes/a-trailing-newline"
            #expect((outcome.exit == .done) == isLine, "\(vector): \(outcome.output)")
            let message = vector.body.isEmpty ? "is empty" : vector.expect
            if !isLine { #expect(outcome.messages.contains(message), "\(vector): \(outcome.messages)") }
            return
        }
        let outside = try JSONDecoder().decode(Outside.self, from: Data(outcome.output.utf8)).envelope
        #expect(outside.recipient_key_id == id, "\(vector)")
        #expect(try String(outside.bucket) == vector.one("bucket"), "\(vector)")
        #expect(try outside.fingerprint == vector.one("fingerprint"), "\(vector)")
        #expect(outside.characters == vector.body.count, "\(vector)")
    }

    private func inspect(_ input: ContiguousArray<UInt8>) throws -> Outcome {
        let captured = try CapturedConsole()
        let file = captured.directory.file("input")
        try Data(input).write(to: URL(filePath: file))
        let exit = run(arguments: ["inspect", "--json", file], table: .pushcrypt, console: captured.console)
        return Outcome(exit: exit, output: try captured.output, messages: try captured.messages)
    }
}
