import DeviceSimulator
import Foundation
import ModelKeychain
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import PushcryptService
import TestPhone
import Testing
import UserNotifications
import Waiting

/// The extension that opens sealed pushes, on a simulated device, has none of the usual faults.
@Suite struct EncryptedServiceTests {
    private let phone: TestPhone

    init() throws { phone = try TestPhone() }

    private func push(_ payload: String = TestPhone.payload, collapseID: String? = nil) throws -> APNsPush {
        APNsPush(try phone.seal(payload), collapseID: collapseID)
    }

    @Test func aSealedPushIsShownOpened() async throws {
        let service = ServiceDevice(phone.configuration)
        let outcome = await service.device.push(try push())
        #expect(outcome.shown?.title == "Table for two")
        #expect(outcome.shown?.body == "See you at 8")
        #expect(outcome.deliveries == 1)
        #expect(outcome.milliseconds == 0)
        #expect(outcome.faults.isEmpty)
        #expect(await service.codes() == ["opened"])
    }

    @Test func sealedKeysOfTextsAreLookedUpInTheAppsStrings() async throws {
        let service = ServiceDevice(phone.configuration)
        service.device.app.strings = ["SEALED_INVITE": "%@ invites you"]
        let push = try push(#"{"aps":{"alert":{"loc-key":"SEALED_INVITE","loc-args":["Ann"]}}}"#)
        #expect(await service.device.push(push).shown?.body == "Ann invites you")
    }

    /// The system refuses a content with a null in it, and shows the push instead.
    @Test func nullsInTheCustomKeysAreLeftOut() async throws {
        let service = ServiceDevice(phone.configuration)
        let outcome = await service.device.push(
            try push(#"{"aps":{"alert":"See you at 8"},"chat":null,"b":{"c":[1,null,{"d":null}]}}"#))
        #expect(outcome.shown?.body == "See you at 8")
        #expect(outcome.faults.isEmpty)
    }

    @Test func theArticlesSampleTextShowsTheFallback() async throws {
        let service = ServiceDevice(phone.configuration)
        let outcome = await service.device.push(
            APNsPush(
                json: #"""
                    {"aps":{"mutable-content":1,"alert":{"title":"Bank","body":"placeholder"}},
                    "ENCRYPTED_DATA":"Salted__·öîQÊ$UDì_¶Ù∞èΩ^¬%gq∞NÿÒQùw"}
                    """#))
        #expect(outcome.shown?.subtitle == "(Encrypted)")
        #expect(outcome.shown?.body == "")
        #expect(outcome.faults.isEmpty)
    }

    // MARK: Time

    @Test func keysThatHangEndInTheFallbackAtTheDeadline() async throws {
        let gate = Gate()
        var configuration = phone.configuration
        configuration.keys = { [phone] in
            gate.pass()
            return phone.keys
        }
        let service = ServiceDevice(configuration)
        let arrival = service.device.send(try push(collapseID: "a"))
        #expect(await gate.hasVisitors())
        service.clock.advance(by: 24.999)
        #expect(arrival.outcome == nil)
        service.clock.advance(by: 0.001)
        let outcome = await arrival.decided()
        #expect(outcome.shown?.subtitle == "(Encrypted)")
        #expect(outcome.milliseconds == 25_000)
        #expect(!outcome.isExpired)

        // The message was not shown, so its next copy is new.
        gate.open()
        let again = await service.device.push(try push(collapseID: "a"))
        #expect(again.shown?.body == "See you at 8")
        #expect(again.shown?.sound == .standard)
        #expect(arrival.outcome?.deliveries == 1)
        #expect(arrival.outcome?.faults == [])
        #expect(await service.codes(2) == ["deadline", "opened"])
    }

    @Test func withoutADeadlineTheSystemsExpiryIsInTime() async throws {
        let gate = Gate()
        var configuration = phone.configuration
        configuration.deadlines = DeliveryDeadlines(delivery: 60_000, attachments: 60_000)
        configuration.keys = { [phone] in
            gate.pass()
            return phone.keys
        }
        let service = ServiceDevice(configuration)
        let arrival = service.device.send(try push())
        #expect(await gate.hasVisitors())
        service.clock.advance(by: 60)
        let outcome = await arrival.decided()
        gate.open()
        #expect(outcome.isExpired)
        #expect(outcome.milliseconds == 30_000)
        #expect(outcome.shown?.subtitle == "(Encrypted)")
        #expect(outcome.deliveries == 1)
        #expect(outcome.faults.isEmpty)
        #expect(await service.codes() == ["system-expired"])
    }

    @Test func anAppThatNeverEndsItsChangeShowsTheOpenedContent() async throws {
        let began = Gate()
        var configuration = phone.configuration
        configuration.change = { _, content, _ in
            await began.waitUntilOpen()
            return content
        }
        let service = ServiceDevice(configuration)
        let arrival = service.device.send(try push())
        #expect(await began.hasVisitors())
        service.clock.advance(by: 25)
        let outcome = await arrival.decided()
        began.open()
        #expect(outcome.shown?.body == "See you at 8")
        #expect(outcome.milliseconds == 25_000)
        #expect(outcome.faults.isEmpty)
        #expect(await service.codes() == ["opened"])
    }

    @Test func anAppThatKeepsTheContentCannotChangeWhatIsShown() async throws {
        let kept = Notebook<Handed<UNMutableNotificationContent>>()
        var configuration = phone.configuration
        configuration.change = { _, content, _ in
            kept.add(Handed(content))
            return content
        }
        let service = ServiceDevice(configuration)
        let arrival = service.device.send(try push(collapseID: "a"))
        _ = await arrival.decided()
        kept.all.first?.value.body = "another"
        #expect(arrival.outcome?.faults == [])
        #expect(service.device.shown("a")?.body == "See you at 8")
    }

    // MARK: Lock

    @Test func beforeTheFirstUnlockTheFallbackIsShownAndNothingIsLost() async throws {
        let service = ServiceDevice(phone.configuration)
        let push = try push(collapseID: "a")
        service.device.lockState = .beforeFirstUnlock
        phone.keychain.restart()
        let locked = await service.device.push(push)
        #expect(locked.shown?.subtitle == "(Encrypted)")
        #expect(locked.shown?.presentation == [.lockScreen, .list])
        #expect(locked.faults.isEmpty)
        #expect(await service.reports.all(1).map(\.keyState.rawValue) == ["locked"])

        service.device.lockState = .unlocked
        phone.keychain.unlock()
        let opened = await service.device.push(push)
        #expect(opened.shown?.body == "See you at 8")
        #expect(service.device.list == ["a"])
    }

    // MARK: Several

    @Test func manyAtOnceAreEachDeliveredOnce() async throws {
        let service = ServiceDevice(phone.configuration)
        let pushes = try (0..<40).map { index in
            try push(#"{"aps":{"alert":{"body":"message \#(index)"}}}"#, collapseID: "id\(index)")
        }
        await withTaskGroup { group in
            for push in pushes {
                group.addTask { await service.device.push(push) }
            }
            for await outcome in group {
                #expect(outcome.deliveries == 1)
                #expect(outcome.faults.isEmpty)
            }
        }
        for index in 0..<40 { #expect(service.device.shown("id\(index)")?.body == "message \(index)") }
    }

    @Test func aRetryUnderTheSameIDReplacesItsFirstCopy() async throws {
        let service = ServiceDevice(phone.configuration)
        let push = try push(collapseID: "a")
        let first = await service.device.push(push)
        let second = await service.device.push(push)
        #expect(first.shown?.body == second.shown?.body)
        #expect(service.device.list == ["a"])
    }

    @Test func aCopyUnderAnotherIDIsNotShownWithTheEntitlementForThat() async throws {
        var configuration = phone.configuration
        configuration.duplicates = .suppress
        let service = ServiceDevice(configuration)
        service.device.app.hasFilteringEntitlement = true
        let json = try phone.seal()
        #expect(await service.device.push(APNsPush(json)).source == .delivered)
        let copy = await service.device.push(APNsPush(json))
        #expect(copy.source == .nothing)
        #expect(copy.faults.isEmpty)
        #expect(service.device.list.count == 1)

        service.device.app.hasFilteringEntitlement = false
        #expect(await service.device.push(APNsPush(json)).faults == [.emptyWithoutEntitlement])
    }
}
