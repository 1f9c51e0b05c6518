import Foundation
import Testing
import UserNotifications

@testable import NotificationSamples

/// Typical service extensions, driven by hand.
@Suite struct ServiceExtensionTests {
    private func deliveries(
        of service: UNNotificationServiceExtension, _ request: UNNotificationRequest, expires: Bool = false
    ) -> [UNNotificationContent] {
        var delivered: [UNNotificationContent] = []
        service.didReceive(request) { delivered.append($0) }
        if expires { service.serviceExtensionTimeWillExpire() }
        return delivered
    }

    private let secret = UNNotificationRequest.push(
        title: "Secret Message!", body: "(Encrypted)", userInfo: ["ENCRYPTED_DATA": "olleh"])

    @Test func aSealedTextIsOpened() {
        let delivered = deliveries(of: DecryptingService(), secret)
        #expect(delivered.map(\.title) == ["Secret Message!"])
        #expect(delivered.map(\.body) == ["hello"])
        #expect(secret.content.body == "(Encrypted)")
    }

    @Test(arguments: [[:], ["ENCRYPTED_DATA": 7]] as [[String: Int]])
    func withoutSealedTextTheBodySaysSo(userInfo: [String: Int]) {
        let request = UNNotificationRequest.push(body: "clear", userInfo: userInfo)
        #expect(deliveries(of: DecryptingService(), request).map(\.body) == ["(Encrypted)"])
    }

    @Test func whenTimeRunsOutTheSubtitleSaysSo() {
        let service = DecryptingService()
        service.isSlow = true
        let delivered = deliveries(of: service, secret, expires: true)
        #expect(delivered.map(\.subtitle) == ["(Encrypted)"])
        #expect(delivered.map(\.body) == [""])
    }

    /// Code like the article's has this fault, and the stand-in shows it.
    @Test func expiryAfterDeliveryDeliversAgainAndChangesWhatWasDelivered() {
        let delivered = deliveries(of: DecryptingService(), secret, expires: true)
        #expect(delivered.map(\.body) == ["", ""])
        #expect(delivered.first === delivered.last)
    }

    @Test func aPictureIsAttached() throws {
        let scratch = try Scratch()
        let file = try scratch.file("download.tmp")
        let service = PictureService()
        let center = UNUserNotificationCenter()
        center.strings = ["PARCEL_TITLE": "A parcel from %@"]
        let request = UNNotificationRequest.push(userInfo: ["picture": file.path, "carrier": "Ann"])
        let content = try #require(
            UNUserNotificationCenter.withCurrent(center) { deliveries(of: service, request) }.first)
        #expect(content.attachments.map(\.type) == ["public.png"])
        #expect(content.title == "A parcel from Ann")
        #expect(content.sound == .default && content.badge == 1 && content.interruptionLevel == .timeSensitive)
        #expect(service.problem == nil)
    }

    @Test func aMissingPictureIsCaughtByItsCode() throws {
        let request = UNNotificationRequest.push(userInfo: ["picture": "/nowhere.png", "carrier": "Ann"])
        let content = try #require(deliveries(of: PictureService(), request).first)
        #expect(content.subtitle == "without its picture" && content.attachments.isEmpty)
    }

    @Test func anExtensionThatOverridesNothingShowsThePush() {
        let delivered = deliveries(of: UNNotificationServiceExtension(), secret, expires: true)
        #expect(delivered == [secret.content])
    }
}
