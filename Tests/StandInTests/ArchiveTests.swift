import Foundation
import Testing
import UserNotifications

/// An app may keep a response while its files are locked, and read it later.
@Suite struct ArchiveTests {
    private func archived<T: NSObject & NSSecureCoding>(_ object: T) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    @Test func aContentKeepsEveryField() throws {
        let content = try #require(ContentTests.full().copy() as? UNNotificationContent)
        let data = try archived(content)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: UNNotificationContent.self, from: data))
        #expect(read.title == "title" && read.subtitle == "subtitle" && read.body == "body")
        #expect(read.badge == 3 && read.interruptionLevel == .timeSensitive && read.relevanceScore == 0.5)
        #expect(read.sound?.volume == 0.25 && read.attachments.first?.url.path == "/a.png")
        #expect((read.userInfo["aps"] as? [String: Any])?["alert"] as? String == "text")
        #expect(read.isEqual(ContentTests.full()))
    }

    @Test func anEmptyContentStaysEmpty() throws {
        let data = try archived(UNNotificationContent())
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: UNNotificationContent.self, from: data))
        #expect(read.isEqual(UNNotificationContent()))
        #expect(read.badge == nil && read.sound == nil && read.targetContentIdentifier == nil)
    }

    @Test func aTextResponseKeepsItsTextAndNotification() throws {
        let request = UNNotificationRequest.push("order", title: "Parcel", userInfo: ["PARCEL_ID": "7"])
        let response = UNTextInputNotificationResponse(
            notification: .pushed(request), actionIdentifier: "NOTE", userText: "ring twice")
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: UNTextInputNotificationResponse.self, from: archived(response)))
        #expect(read.userText == "ring twice" && read.actionIdentifier == "NOTE")
        #expect(read.notification.date == Date(timeIntervalSince1970: 1_800_000_000))
        #expect(read.notification.request.identifier == "order")
        #expect(read.notification.request.trigger is UNPushNotificationTrigger)
        #expect(read.notification.request.content.userInfo["PARCEL_ID"] as? String == "7")
        #expect(read == response)
    }
}
