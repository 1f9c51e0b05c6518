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
        var input = SignerInput()
        var replies: [SignerFrames.Reply] = []
        for byte in stream {
            input.append([byte])
            replies += try input.takeReplies()
        }
        #expect(
            replies == [
                SignerFrames.Reply(id: 9, status: .done, body: [5]),
                SignerFrames.Reply(id: 256, status: .refused, body: [0x6E, 0x6F]),
            ])
        input.append([0, 0, 6, 0, 0, 0, 10, 0, 8])
        #expect(try input.takeReplies() == [SignerFrames.Reply(id: 10, status: .done, body: [8])])
    }

    @Test("What was taken is overwritten, and what is left stays")
    func overwritten() throws {
        var input = SignerInput()
        input.append([0, 0, 0, 7, 0, 0, 0, 1, 0, 0xEE, 0xEE, 0, 0, 0, 6, 0])
        #expect(try input.takeReplies().count == 1)
        var buffer = ContiguousArray<UInt8>()
        _ = input.fill { span, start in
            #expect(start == 5)
            for index in 0..<32 { buffer.append(span[index]) }
            return 0
        }
        #expect(buffer == [0, 0, 0, 6, 0] + ContiguousArray(repeating: 0, count: 27))
    }

    @Test(
        "A length or a status that no reply has is refused, before what it announces is waited for",
        arguments: [
            [0, 0, 0, 4], [0, 0, 0, 0], [0, 0, 4, 1], [0x80, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF],
            [0, 0, 0, 5, 0, 0, 0, 1, 2],
        ])
    func malformed(bytes: [UInt8]) {
        var input = SignerInput()
        input.append(bytes)
        var failure: SignerFrames.Malformed?
        do throws(SignerFrames.Malformed) { _ = try input.takeReplies() } catch { failure = error }
        #expect(failure != nil)
    }

    @Test("The longest reply is taken")
    func longest() throws {
        var input = SignerInput()
        input.append([0, 0, 4, 0, 0, 0, 0, 1, 1] + [UInt8](repeating: 0x61, count: 1019))
        #expect(try input.takeReplies().map(\.body.count) == [1019])
    }
}

extension SignerInput {
    fileprivate mutating func append(_ bytes: [UInt8]) {
        _ = fill { span, start in
            for (index, byte) in bytes.enumerated() { span[start + index] = byte }
            return bytes.count
        }
    }
}
