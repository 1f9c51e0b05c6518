import DeviceSimulator
import Foundation
import ModelKeychain
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import PushcryptService
import TestPhone
import Testing

/// Responses that an app cannot handle yet.
@Suite struct KeptResponseTests {
    @Test func whatTheAppWantsLaterItGetsLater() async throws {
        let app = try RespondingPhone { $0.keptAt == nil ? .later : .done }
        try await app.show()
        #expect(await app.respond(.write("On my way", action: "REPLY")).completions == 1)
        #expect(app.reports.all == [ResponseReport(outcome: .kept)])

        #expect(await app.restarted().replayKept() == 1)
        let again = try #require(app.received.all.last)
        #expect(again.value == app.received.all.first?.value)
        #expect(again.value.userText == "On my way")
        #expect(again.origin == .app)
        #expect(again.keptAt != nil)
        #expect(app.keys == [["chat": "c41"], ["chat": "c41"]])

        #expect(await app.restarted().replayKept() == 0)
        #expect(app.received.all.count == 2)
    }

    @Test func whatTheAppIsNotDoneWithStays() async throws {
        let app = try RespondingPhone { _ in .later }
        try await app.show()
        _ = await app.respond(.choose("MUTE"))
        for _ in 0..<3 { #expect(await app.restarted().replayKept() == 0) }
        #expect(app.received.all.count == 4)
        #expect(await app.restarted { _ in .done }.replayKept() == 1)
    }

    private struct Thrown: Error {}

    @Test func whatTheAppThrowsAtDoesNotComeAgain() async throws {
        let app = try RespondingPhone { _ in .later }
        try await app.show()
        _ = await app.respond(.tap)
        #expect(await app.restarted { _ in throw Thrown() }.replayKept() == 1)
        #expect(await app.restarted().replayKept() == 0)
        #expect(app.reports.all.last == ResponseReport(outcome: .failed, problem: "Thrown"))
    }

    /// The user believes that a reply was sent: it comes again for three days.
    @Test func aReplyThatTheAppThrowsAtComesAgainForThreeDays() async throws {
        let later = Notebook<Interval>()
        let app = try RespondingPhone { _ in
            throw Thrown()
        } changing: { configuration, phone in
            configuration.opening.now = { phone.now.adding(later.all.last ?? .days(0)) }
        }
        try await app.show()
        _ = await app.respond(.write("on my way", action: "REPLY"))
        #expect(app.reports.all.map(\.outcome) == [.failed, .kept])
        later.add(.days(3))
        #expect(await app.restarted().replayKept() == 0)
        later.add(.days(4))
        #expect(await app.restarted().replayKept() == 1)
        #expect(await app.restarted().replayKept() == 0)
        #expect(app.received.all.map(\.value.userText) == ["on my way", "on my way", "on my way"])
    }

    @Test func twoReplaysAtOnceGiveEachOnce() async throws {
        let app = try RespondingPhone { $0.keptAt == nil ? .later : .done }
        for _ in 0..<4 {
            try await app.show()
            _ = await app.respond(.choose("MUTE"))
        }
        let responder = app.restarted()
        async let first = responder.replayKept()
        async let second = responder.replayKept()
        #expect(await first + second == 4)
        #expect(app.received.all.count == 8)
    }

    // MARK: Locked keys

    /// A phone whose user unlocks it between the opening of a push and the keeping of the response.
    private func unlocking(answer: @escaping NotificationResponder.Handler = { _ in .done }) throws -> RespondingPhone {
        let requests = Notebook<Int>()
        return try RespondingPhone(
            opens: false, answer: answer,
            changing: { configuration, phone in
                configuration.opening.keys = {
                    requests.add(1)
                    if requests.all.count == 1 { throw KeyStoreError(.storeLocked, "") }
                    return phone.keys
                }
            })
    }

    @Test func whatIsUnlockedMeanwhileIsKept() async throws {
        let app = try unlocking()
        try await app.show()
        #expect(await app.respond(.tap).completions == 1)
        #expect(app.received.all.isEmpty)
        #expect(app.reports.all.map(\.outcome) == [.kept])
        #expect(app.reports.all.map(\.reason?.code) == ["store-locked"])

        // Too early: nothing is lost.
        app.phone.keychain.restart()
        #expect(await app.restarted().replayKept() == 0)
        #expect(app.received.all.isEmpty)

        app.phone.keychain.unlock()
        #expect(await app.restarted().replayKept() == 1)
        #expect(app.received.all.map(\.origin) == [.opened])
        #expect(app.keys == [["chat": "c41"]])
    }

    @Test func whatIsLockedAgainWhileItIsReplayedIsNotLost() async throws {
        let requests = Notebook<Int>()
        let app = try RespondingPhone(
            opens: false, answer: { $0.keptAt == nil ? .later : .done },
            changing: { configuration, phone in
                configuration.opening.keys = {
                    requests.add(1)
                    // With the first the push is opened, with the second the response is kept, the third is for the
                    // replay, and with the fourth the push is opened.
                    if [1, 4].contains(requests.all.count) { throw KeyStoreError(.storeLocked, "") }
                    return phone.keys
                }
            })
        try await app.show()
        _ = await app.respond(.tap)
        #expect(await app.restarted().replayKept() == 0)
        #expect(app.received.all.isEmpty)
        #expect(await app.restarted().replayKept() == 1)
        #expect(app.keys == [["chat": "c41"]])
    }

    @Test func beforeTheFirstUnlockTheAppGetsAResponseWithoutKeys() async throws {
        let app = try RespondingPhone(opens: false)
        try await app.show()
        app.phone.keychain.restart()
        #expect(await app.respond(.tap).completions == 1)
        #expect(app.received.all.map(\.unknown) == ["store-locked"])
        #expect(app.keys == [[:]])
        #expect(app.reports.all.map(\.outcome) == [.notKept, .done])
    }

    @Test func whatTheDiskDoesNotTakeIsReported() async throws {
        let app = try RespondingPhone(
            answer: { _ in .later },
            changing: { configuration, _ in
                configuration.opening.directory = { URL(fileURLWithPath: "/dev/null/app", isDirectory: true) }
            })
        try await app.show()
        #expect(await app.respond(.tap).completions == 1)
        #expect(app.reports.all.map(\.outcome) == [.notKept])
        #expect(await app.restarted().replayKept() == 0)
        #expect(app.reports.all.map(\.outcome) == [.notKept, .unreadable])
    }
}
