// The same test for declarations of Apple's frameworks: the stand-ins say since when each exists, and the compiler refuses what is
// newer than the floor.
import Foundation
import PushKit
import UserNotifications

func newerThanTheFloor(_ content: UNMutableNotificationContent, _ center: UNUserNotificationCenter) async throws {
    content.filterCriteria = nil  // refused: compiler
    try await center.setBadgeCount(0)  // refused: compiler
    center.setBadgeCount(0, withCompletionHandler: nil)  // refused: compiler
    _ = URL(fileURLWithPath: "/").path(percentEncoded: true)  // refused: compiler
    _ = PKVoIPPushMetadata.self  // refused: compiler
}

func withinTheFloor(_ content: UNMutableNotificationContent) {
    content.interruptionLevel = .timeSensitive
    content.relevanceScore = 1
    _ = URL(fileURLWithPath: "/").path
    if #available(iOS 16, *) { content.filterCriteria = nil }
}
