import Testing

@testable import Pushcrypt

/// Apple's `apns-push-type`, and which of them an app's own code can open. (`Docs/Format.md`, S-1)
@Suite struct PayloadPushTypeTests {
    @Test(arguments: [
        "complication", "controls", "fileprovider", "liveactivity", "location", "mdm", "pushtotalk", "widgets",
    ])
    func whatTheSystemReadsIsRefusedWithThatReason(_ name: String) throws {
        let type = try PushType(name)
        #expect(type.description == name)
        let error = try #require(#expect(throws: SealError.self) { try type.sealableClass() })
        #expect(error.code == .pushTypeNotSealable)
        #expect(error.description.contains(name))
        #expect(error.description.contains("the system reads"))
    }

    @Test(arguments: ["", "Alert", "alert ", "silent", "zebra"]) func anUnknownNameIsRefused(_ name: String) throws {
        let error = try #require(#expect(throws: SealError.self) { try PushType(name) })
        #expect(error.code == .pushTypeNotSealable)
        #expect(error.description.contains("alert, background and voip"))
        #expect(!error.description.contains("zebra"))
    }
}
