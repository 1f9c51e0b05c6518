import Testing

@testable import Pushcrypt

@Suite("Sealing a payload")
struct SealerTests {
    let device = DeviceKey()
    let sender = SenderKey()
    let now = Timestamp(milliseconds: 1_790_000_000_000)

    @Test func whatIsSealedOpensAsItWas() throws {
        let topic = try Topic("com.example.app")
        let payload =
            #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8 🚲 — 내일 봐"},"sound":"default"},"chat":"c41"}"#
        let sealed = try Sealer(sender: sender, topic: topic).seal(payload.utf8, to: device.publicKey, at: now)
        print(String(decoding: sealed.json, as: UTF8.self))
        let opener = Opener(topic: topic, deviceKeys: [device], trust: SenderTrust(pinned: [sender.publicKey]))
        let opened = try opener.open(sealed.json, at: now)
        #expect(String(decoding: opened.payload, as: UTF8.self) == payload)
        #expect(throws: OpenError(.authenticationFailed, "")) {
            try Opener(
                topic: Topic("com.example.other"), deviceKeys: [device], trust: SenderTrust(pinned: [sender.publicKey])
            ).open(sealed.json, at: now)
        }
    }
}
