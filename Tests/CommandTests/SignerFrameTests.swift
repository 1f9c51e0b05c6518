import Pushcrypt
import Testing

@testable import PushcryptCommand

@Suite struct SignerFrameTests {
    @Test("A request has a length, the client's number, a kind and the message")
    func request() {
        var output: ContiguousArray<UInt8> = [0xAA]
        SignerFrames.append(.sign, id: 0x0102_0304, [7, 8], to: &output)
        #expect(output == [0xAA, 0, 0, 0, 7, 1, 2, 3, 4, 2, 7, 8])
    }

    @Test("Replies are taken one by one, whatever pieces they come in")
    func pieces() throws {
        let stream: ContiguousArray<UInt8> = [0, 0, 0, 6, 0, 0, 0, 9, 0, 5, 0, 0, 0, 7, 0, 0, 1, 0, 1, 0x6E, 0x6F, 0]
        var input = ContiguousArray<UInt8>()
        var replies: [SignerFrames.Reply] = []
        for byte in stream {
            input.append(byte)
            if let reply = try SignerFrames.takeReply(from: &input) { replies.append(reply) }
        }
        #expect(
            replies == [
                SignerFrames.Reply(id: 9, status: .done, body: [5]),
                SignerFrames.Reply(id: 256, status: .refused, body: [0x6E, 0x6F]),
            ])
        #expect(input == [0])
    }

    @Test(
        "A length or a status that no reply has is refused, before what it announces is waited for",
        arguments: [
            [0, 0, 0, 4], [0, 0, 0, 0], [0, 0, 4, 1], [0x80, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF],
            [0, 0, 0, 5, 0, 0, 0, 1, 2],
        ])
    func malformed(bytes: [UInt8]) {
        var input = ContiguousArray(bytes)
        #expect(throws: SignerFrames.Malformed.self) { try SignerFrames.takeReply(from: &input) }
    }

    @Test("The longest reply is taken")
    func longest() throws {
        var input: ContiguousArray<UInt8> = [0, 0, 4, 0, 0, 0, 0, 1, 1] + ContiguousArray(repeating: 0x61, count: 1019)
        #expect(try SignerFrames.takeReply(from: &input)?.body.count == 1019)
        #expect(input.isEmpty)
    }
}
