import Foundation
import Pushcrypt
import PushcryptReceiver
import PushcryptService
import TestPhone
import Testing
import UserNotifications
import Waiting

/// The app changes what is shown, throws, is late, or goes on afterwards.
@Suite struct ChangeTests {
    private let phone: TestPhone
    private let reports = Reports()
    private let clock = ManualClock()

    init() throws { phone = try TestPhone() }

    private func request() throws -> UNNotificationRequest {
        try TestPhone.request(try phone.seal(), identifier: "1")
    }

    private func changing(_ change: @escaping NotificationServiceHandler.Configuration.Change)
        -> NotificationServiceHandler.Configuration
    {
        var configuration = phone.configuration
        configuration.observe = reports.append
        configuration.clock = clock
        configuration.change = change
        return configuration
    }

    @Test func theAppChangesWhatIsShown() async throws {
        let configuration = changing { opened, content, _ in
            content.title = "\(opened.title ?? "") (Ann)"
            return content
        }
        let content = try #require(await configuration.show(try request()))
        #expect(content.title == "Table for two (Ann)" && content.body == "See you at 8")
        #expect(reports.first?.outcome == .opened && reports.first?.warnings == [])
    }

    @Test func aChangeThatThrowsLeavesTheOpenedContent() async throws {
        let configuration = changing { _, content, _ in
            content.title = "half done"
            throw CocoaError(.fileNoSuchFile)
        }
        #expect(await configuration.show(try request())?.title == "Table for two")
        #expect(reports.first?.outcome == .opened)
        #expect(reports.first?.warnings == ["the app's change failed: CocoaError"])
    }

    @Test func aChangeThatIsLateIsLeftOutAndCancelled() async throws {
        let (handler, begun, cancelled) = (Handler(), Gate(), Gate())
        // A reader waits until the task is cancelled.
        let (silence, end) = AsyncStream.makeStream(of: Void.self)
        begun.open()
        cancelled.open()
        let service = NotificationServiceHandler(
            configuration: changing { _, content, _ in
                content.title = "too late"
                begun.pass()
                for await _ in silence {}
                cancelled.pass()
                return content
            })
        service.handle(try request(), contentHandler: handler.handler)
        #expect(await begun.hasVisitors())
        clock.advance(milliseconds: 25_000)
        #expect(await handler.delivered()?.title == "Table for two")
        #expect(handler.count == 1)
        #expect(await cancelled.hasVisitors())
        end.finish()
        #expect(await reports.next()?.warnings == ["the app's change was not done in time"])
        #expect(handler.count == 1)
    }

    @Test func whoGoesOnChangingAfterwardsChangesNothing() async throws {
        let kept = Kept()
        let configuration = changing { _, content, _ in
            kept.set(content)
            return content
        }
        let delivered = try #require(await configuration.show(try request()))
        kept.change()
        #expect(delivered.title == "Table for two")
    }

    private final class Kept: @unchecked Sendable {
        private var content: UNMutableNotificationContent?

        func set(_ content: UNMutableNotificationContent) { self.content = content }
        func change() { content?.title = "changed behind" }
    }
}
