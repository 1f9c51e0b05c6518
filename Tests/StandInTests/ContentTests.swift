import Foundation
import Testing
import UserNotifications

@Suite struct ContentTests {
    /// A content with every field set.
    static func full() -> UNMutableNotificationContent {
        let content = UNMutableNotificationContent()
        content.attachments = [
            UNNotificationAttachment(identifier: "a", url: URL(fileURLWithPath: "/a.png"), type: "public.png")
        ]
        content.badge = 3
        content.body = "body"
        content.categoryIdentifier = "category"
        content.filterCriteria = "filter"
        content.interruptionLevel = .timeSensitive
        content.launchImageName = "image"
        content.relevanceScore = 0.5
        content.sound = .criticalSoundNamed(UNNotificationSoundName("bell.aiff"), withAudioVolume: 0.25)
        content.subtitle = "subtitle"
        content.targetContentIdentifier = "target"
        content.threadIdentifier = "thread"
        content.title = "title"
        content.userInfo = ["list": [1, "two", 2.5], "aps": ["alert": "text"], "data": Data([1, 2])]
        return content
    }

    /// One change to each field.
    static let changes: [(name: String, change: @Sendable (UNMutableNotificationContent) -> Void)] = [
        ("attachments", { $0.attachments = [] }), ("badge", { $0.badge = nil }), ("body", { $0.body += "!" }),
        ("category", { $0.categoryIdentifier = "CATEGORY" }), ("filter", { $0.filterCriteria = nil }),
        ("level", { $0.interruptionLevel = .passive }), ("image", { $0.launchImageName = "" }),
        ("relevance", { $0.relevanceScore = 0.6 }), ("sound", { $0.sound = .default }),
        ("subtitle", { $0.subtitle = "" }), ("target", { $0.targetContentIdentifier = nil }),
        ("thread", { $0.threadIdentifier = "" }), ("title", { $0.title = "" }),
        ("userInfo", { $0.userInfo["list"] = [1, "two"] }),
    ]

    @Test func aNewContentIsEmptyAndActive() {
        let content = UNNotificationContent()
        #expect([content.title, content.subtitle, content.body, content.categoryIdentifier] == ["", "", "", ""])
        #expect([content.threadIdentifier, content.launchImageName] == ["", ""])
        #expect(content.badge == nil && content.sound == nil && content.attachments.isEmpty && content.userInfo.isEmpty)
        #expect(content.targetContentIdentifier == nil && content.filterCriteria == nil)
        #expect(content.interruptionLevel == .active && content.relevanceScore == 0)
    }

    @Test(arguments: changes.indices)
    func aCopyCannotBeChangedAndKeepsWhatItWas(field: Int) throws {
        let content = Self.full()
        let copy = try #require(content.copy() as? UNNotificationContent)
        #expect(!(copy is UNMutableNotificationContent))
        #expect(copy.isEqual(content))
        Self.changes[field].change(content)
        #expect(!copy.isEqual(content), "\(Self.changes[field].name)")
        #expect(copy.isEqual(Self.full()))
    }

    @Test(arguments: changes.indices)
    func aMutableCopyHasAllFieldsAndChangesAlone(field: Int) throws {
        let content = try #require(Self.full().copy() as? UNNotificationContent)
        let copy = try #require(content.mutableCopy() as? UNMutableNotificationContent)
        #expect(copy.isEqual(content))
        Self.changes[field].change(copy)
        #expect(!copy.isEqual(content), "\(Self.changes[field].name)")
        #expect(content.isEqual(Self.full()))
    }

    @Test func theCopyOfWhatCannotBeChangedIsItself() {
        let content = UNNotificationContent()
        #expect(content.copy() as AnyObject === content)
    }

    @Test func equalContentsHashAlike() {
        #expect(Self.full().hash == Self.full().hash)
        #expect(Set([Self.full(), Self.full()]).count == 1)
    }

    @Test func aRequestKeepsTheContentThatItWasGiven() {
        let content = UNMutableNotificationContent()
        content.body = "before"
        let request = UNNotificationRequest(identifier: "1", content: content, trigger: nil)
        content.body = "after"
        #expect(request.content.body == "before")
        #expect(!(request.content is UNMutableNotificationContent))
    }

    @Test func contentsAndHandlersAreNotSendable() {
        #expect(!isSendable(UNNotificationContent.self))
        #expect(!isSendable(UNNotificationRequest.self))
        #expect(!isSendable(UNNotificationResponse.self))
        #expect(!isSendable(UNUserNotificationCenter.self))
        #expect(isSendable(UNNotificationSoundName.self))
    }

    @Test(
        arguments: [(UNNotificationInterruptionLevel.passive, 0), (.active, 1), (.timeSensitive, 2), (.critical, 3)]
            as [(UNNotificationInterruptionLevel, UInt)])
    func interruptionLevelsHaveApplesNumbers(level: UNNotificationInterruptionLevel, number: UInt) {
        #expect(level.rawValue == number)
    }
}

// The compiler selects the second one for a type known to be Sendable.
private func isSendable<T>(_: T.Type) -> Bool { false }
private func isSendable<T: Sendable>(_: T.Type) -> Bool { true }
