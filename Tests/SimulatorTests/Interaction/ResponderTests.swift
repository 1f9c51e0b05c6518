import DeviceSimulator
import Foundation
import Pushcrypt
import PushcryptReceiver
import PushcryptService
import TestPhone
import Testing
import UserNotifications
import Waiting

/// An app gets each response once, with authentic keys or none.
@Suite struct ResponderTests {
    private static let actions: [(UserAction, NotificationResponseValue.Action, text: String?)] = [
        (.tap, .open, nil), (.dismiss, .dismiss, nil), (.choose("MUTE"), .custom("MUTE"), nil),
        (.write("On my way 🚲", action: "REPLY"), .custom("REPLY"), "On my way 🚲"),
    ]

    @Test(arguments: actions)
    func theAppGetsWhatWasSealed(
        _ action: UserAction, _ heard: NotificationResponseValue.Action, text: String?
    ) async throws {
        let app = try RespondingPhone()
        try await app.show()
        #expect(await app.respond(action).completions == 1)
        let response = try #require(app.received.all.first)
        #expect(app.received.all.count == 1)
        #expect(response.value.action == heard)
        #expect(response.value.userText == text)
        #expect(response.value.requestIdentifier == "a")
        #expect(response.value.categoryIdentifier == "CHAT")
        #expect(response.origin == .app)
        #expect(response.keptAt == nil)
        #expect(app.keys == [["chat": "c41"]])
        #expect(app.reports.all == [ResponseReport(outcome: .done)])
    }

    // MARK: Not opened by the extension

    @Test func whatTheExtensionNeverOpenedIsOpenedFirst() async throws {
        let app = try RespondingPhone(opens: false)
        try await app.show(clear: ["chat": "forged", "url": "https://example.com"])
        #expect(await app.respond(.tap).completions == 1)
        let response = try #require(app.received.all.first)
        #expect(response.origin == .opened)
        #expect(response.value.categoryIdentifier == "CHAT")
        #expect(app.keys == [["chat": "c41"]])
    }

    @Test func whatTheExtensionRememberedAndNeverShowedIsStillOpened() async throws {
        let app = try RespondingPhone(opens: false)
        let json = try app.phone.seal(RespondingPhone.payload)
        // The extension is ended after it has recorded the message.
        let handler = Handler()
        let service = NotificationServiceHandler(configuration: app.phone.configuration)
        service.handle(try TestPhone.request(json, identifier: "a"), contentHandler: handler.handler)
        #expect(await handler.delivered()?.body == "See you at 8")
        _ = await app.device.push(APNsPush(json, collapseID: "a"))
        _ = await app.respond(.tap)
        #expect(app.keys == [["chat": "c41"]])
    }

    @Test func aDamagedEnvelopeGivesNothing() async throws {
        let app = try RespondingPhone(opens: false)
        let push = try JSONSerialization.jsonObject(with: Data(app.phone.seal())) as? [String: Any]
        let text = try #require(push?["ENCRYPTED_DATA"] as? String)
        let damaged = text.dropLast(9) + (text.suffix(9).first == "A" ? "B" : "A") + text.suffix(8)
        try await app.show(clear: ["ENCRYPTED_DATA": String(damaged), "chat": "forged"], clearCategory: "CHAT")
        #expect(await app.respond(.write("the code is 4711", action: "REPLY")).completions == 1)
        let response = try #require(app.received.all.first)
        #expect(response.unknown == "authentication-failed")
        #expect(app.keys == [[:]])
        #expect(response.value.categoryIdentifier == "")
        #expect(app.reports.all.map(\.reason?.code) == ["authentication-failed"])
    }

    @Test(arguments: [
        #"{"aps":{"alert":"Pay?","category":"CHAT"},"chat":"forged"}"#,
        #"{"aps":{"alert":"Pay?","category":"CHAT"},"chat":"forged","ENCRYPTED_DATA":7}"#,
        #"{"aps":{"alert":"Pay?","category":"CHAT"},"ENCRYPTED_DATA":null,"pushcrypt":{}}"#,
    ])
    func aPushThatWasNeverSealedGivesNothing(_ push: String) async throws {
        // Without `mutable-content` the extension does not run.
        let app = try RespondingPhone()
        _ = await app.device.push(APNsPush(json: push, collapseID: "a"))
        #expect(await app.respond(.choose("MUTE")).completions == 1)
        let response = try #require(app.received.all.first)
        #expect(response.unknown == "not-encrypted")
        #expect(app.keys == [[:]])
        #expect(response.value.categoryIdentifier == "")
    }

    @Test func aClearPushThatThePolicyLetsPassKeepsItsKeys() async throws {
        let app = try RespondingPhone(changing: { configuration, _ in
            configuration.opening.mayPassInTheClear = { $0.userInfo["url"] as? String == "https://example.com" }
        })
        let push = #"{"aps":{"alert":"News","mutable-content":1},"url":"https://example.com"}"#
        _ = await app.device.push(APNsPush(json: push, collapseID: "a"))
        _ = await app.respond(.tap)
        let response = try #require(app.received.all.first)
        #expect(response.origin == .passed)
        #expect(response.value.customKeys["url"] as? String == "https://example.com")
    }

    @Test func theFallbackHasNoKeys() async throws {
        let app = try RespondingPhone()
        try await app.show(clear: ["ENCRYPTED_DATA": "Salted__", "chat": "forged"])
        _ = await app.respond(.tap)
        #expect(app.received.all.map(\.origin) == [.app])
        #expect(app.keys == [[:]])
    }

    // MARK: Completion handler

    private struct Thrown: Error {}

    @Test func anAppThatThrowsIsReported() async throws {
        let app = try RespondingPhone { _ in throw Thrown() }
        try await app.show()
        #expect(await app.respond(.tap).completions == 1)
        #expect(app.clock.milliseconds == 0)
        #expect(app.reports.all == [ResponseReport(outcome: .failed, problem: "Thrown")])
        #expect(await app.restarted().replayKept() == 0)
    }

    @Test func anAppThatHangsDoesNotHoldTheSystemUp() async throws {
        let gate = Gate()
        let app = try RespondingPhone { _ in
            await gate.waitUntilOpen()
            return .done
        }
        try await app.show()
        async let outcome = app.respond(.tap)
        _ = await app.received.all(1)
        app.clock.advance(by: 20)
        #expect(await outcome.completions == 1)
        #expect(app.reports.all.isEmpty)
        gate.open()
        // It finishes later, and the handler is not called again.
        #expect(await app.reports.all(1) == [ResponseReport(outcome: .done)])
    }

    @Test func keysThatHangDoNotHoldTheSystemUp() async throws {
        let gate = Gate()
        let app = try RespondingPhone(
            opens: false,
            changing: { configuration, phone in
                configuration.opening.keys = {
                    gate.pass()
                    return phone.keys
                }
            })
        try await app.show()
        async let outcome = app.respond(.tap)
        #expect(await gate.hasVisitors())
        app.clock.advance(by: 20)
        #expect(await outcome.completions == 1)
        #expect(app.received.all.isEmpty)
        gate.open()
        #expect(await app.received.all(1).map(\.origin) == [.opened])
    }

    /// An app with its own delegate.
    private final class Delegate: NSObject, UNUserNotificationCenterDelegate, @unchecked Sendable {
        let responder: NotificationResponder
        let completions = Notebook<Bool>()

        init(_ responder: NotificationResponder) { self.responder = responder }

        func userNotificationCenter(
            _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
            withCompletionHandler completionHandler: @escaping @Sendable () -> Void
        ) {
            responder.userNotificationCenter(center, didReceive: response) { [completions] in
                completions.add(Main.isHere)
                completionHandler()
            }
        }
    }

    @Test func aDelegateOfTheAppsOwnHandsTheCallOn() async throws {
        let app = try RespondingPhone()
        let delegate = Delegate(app.restarted())
        app.device.center.delegate = delegate
        try await app.show()
        #expect(await app.respond(.choose("MUTE")).completions == 1)
        #expect(app.keys == [["chat": "c41"]])
        // UIKit ends an app that completes a response on another thread.
        #expect(delegate.completions.all == [true])
    }

    // MARK: Foreground

    @Test func inFrontOfThePersonANotificationIsShownOpened() async throws {
        let app = try RespondingPhone(changing: { configuration, _ in configuration.foreground = { _ in [.banner] } })
        app.device.isAppInForeground = true
        let push = APNsPush(try app.phone.seal(RespondingPhone.payload), collapseID: "a")
        let outcome = await app.device.push(push)
        #expect(outcome.shown?.body == "See you at 8")
        #expect(outcome.shown?.presentation == .banner)
    }
}
