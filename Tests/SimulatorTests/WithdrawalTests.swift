import DeviceSimulator
import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import PushcryptService
import TestPhone
import Testing
import UserNotifications
import Waiting

/// Messages that are withdrawn or dropped, on a simulated device with and without Apple's entitlement to show nothing.
@Suite struct WithdrawalTests {
    private let phone: TestPhone

    init() throws { phone = try TestPhone() }

    private func service(isEntitled: Bool = true) -> ServiceDevice {
        var configuration = phone.configuration
        configuration.hasFilteringEntitlement = isEntitled
        let service = ServiceDevice(configuration)
        service.device.app.hasFilteringEntitlement = isEntitled
        return service
    }

    private func push(
        _ text: String, named name: String? = nil, withdrawing: [String] = [], isDropped: Bool = false,
        id: String? = nil
    ) throws -> APNsPush {
        var message = Sealer.Message([])
        (message.name, message.withdrawing, message.isDropped) = (name, withdrawing, isDropped)
        let payload = #"{"aps":{"alert":"\#(text)","sound":"default","badge":3},"chat":"c41"}"#
        return APNsPush(try phone.seal(payload, like: message), collapseID: id ?? name)
    }

    @Test(arguments: [true, false])
    func aMessageIsTakenOffTheScreen(_ isEntitled: Bool) async throws {
        let service = service(isEntitled: isEntitled)
        _ = await service.device.push(try push("Table 17 is free", named: "table-17"))
        _ = await service.device.push(try push("Table 18 is free", named: "table-18"))
        #expect(service.device.list == ["table-17", "table-18"])
        let outcome = await service.device.push(try push("Changed", withdrawing: ["table-17"], id: "w"))
        #expect(outcome.shown?.body == "Changed" && outcome.faults.isEmpty)
        #expect(service.device.list == ["table-18", "w"])
        #expect(await service.codes(3) == ["opened", "opened", "opened"])
    }

    /// By default they stay: the time to live is also how late a message may arrive.
    @Test(arguments: [true, false])
    func theNextPushRemovesExpiredMessages(_ removesExpired: Bool) async throws {
        var configuration = phone.configuration
        configuration.removesExpired = removesExpired
        let hours = Notebook<UInt64>()
        configuration.now = { [phone] in phone.now.adding(.hours(hours.all.reduce(0, +))) }
        let service = ServiceDevice(configuration)
        for (name, life) in [("code", Interval.minutes(10)), ("news", .hours(2))] {
            var message = Sealer.Message([])
            (message.name, message.timeToLive) = (name, life)
            let payload = try phone.seal(#"{"aps":{"alert":"\#(name)"}}"#, like: message)
            _ = await service.device.push(APNsPush(payload, collapseID: name))
        }
        hours.add(1)
        _ = await service.device.push(try push("Table 17 is free", named: "table-17"))
        let expected = removesExpired ? ["news", "table-17"] : ["code", "news", "table-17"]
        #expect(await eventually { service.device.list == expected })
    }

    @Test func whatComesAfterItsWithdrawalIsHidden() async throws {
        let service = service()
        _ = await service.device.push(try push("Changed", withdrawing: ["table-17"], id: "w"))
        for id in ["a", "b", "a"] {
            let outcome = await service.device.push(try push("Table 17 is free", named: "table-17", id: id))
            #expect(outcome.shown == nil && outcome.faults.isEmpty)
        }
        #expect(service.device.list == ["w"])
        #expect(await service.codes(4) == ["opened", "withdrawn", "withdrawn", "withdrawn"])
    }

    @Test func withoutTheEntitlementItIsAQuietFallback() async throws {
        let service = service(isEntitled: false)
        _ = await service.device.push(try push("Changed", withdrawing: ["table-17"], id: "w"))
        let outcome = await service.device.push(try push("Table 17 is free", named: "table-17"))
        let shown = try #require(outcome.shown)
        #expect(shown.subtitle == "(Encrypted)" && shown.body.isEmpty)
        #expect(shown.presentation == .list && shown.sound == nil && outcome.faults.isEmpty, "\(shown)")
        #expect(service.device.content(of: "table-17")?.userInfo.isEmpty == true)
    }

    @Test(arguments: [true, false])
    func aDroppedMessageIsHiddenOrQuiet(_ isEntitled: Bool) async throws {
        let service = service(isEntitled: isEntitled)
        _ = await service.device.push(try push("Table 17 is free", named: "table-17"))
        let outcome = await service.device.push(
            try push("Nothing to see", withdrawing: ["table-17"], isDropped: true, id: "w"))
        #expect(outcome.faults.isEmpty)
        #expect(service.device.list == (isEntitled ? [] : ["w"]))
        #expect(outcome.shown?.body == (isEntitled ? nil : "Nothing to see"))
        #expect(outcome.shown?.sound == nil)
        #expect(await service.codes(2) == ["opened", "dropped"])
    }

    /// The system shows the push as it came if an app claims an entitlement that it does not have.
    @Test func aClaimedEntitlementShowsThePlaceholder() async throws {
        let service = service()
        service.device.app.hasFilteringEntitlement = false
        let outcome = await service.device.push(try push("Nothing to see", isDropped: true))
        #expect(outcome.shown?.title == "New message" && outcome.faults == [.emptyWithoutEntitlement])
    }

    @Test func anotherProvidersMessageAndUnknownOnesAreLeft() async throws {
        let service = service()
        _ = await service.device.push(try push("Table 17 is free", named: "table-17"))
        let other = ProviderKey()
        try phone.keys.change { (state) throws(KeyStoreError) in try state.pin(ProviderPin(other.publicKey)) }
        var message = Sealer.Message(#"{"aps":{"alert":"Hello"}}"#.utf8)
        message.withdrawing = ["table-17", "table-99"]
        let device = try #require(try phone.deviceKeys.last?.publicKey)
        let foreign = try Sealer(provider: other, topic: TestPhone.topic).seal(
            message, to: device, at: phone.now)
        _ = await service.device.push(APNsPush(foreign.json, collapseID: "w"))
        #expect(service.device.list == ["table-17", "w"])
        // Nor does a message that does not open withdraw anything.
        var broken = try phone.seal(TestPhone.payload, like: message)
        broken[broken.count - 4] ^= 1
        _ = await service.device.push(APNsPush(broken, collapseID: "x"))
        #expect(service.device.list == ["table-17", "w", "x"])
    }

    /// Under one request: what the screen shows decides, not what the request once showed.
    @Test func whatHasTakenItsPlaceStays() async throws {
        let service = service()
        _ = await service.device.push(try push("Table 17 is free", named: "table-17", id: "table"))
        _ = await service.device.push(try push("Table 18 is free", named: "table-18", id: "table"))
        _ = await service.device.push(try push("Changed", withdrawing: ["table-17"], id: "w"))
        #expect(service.device.content(of: "table")?.body == "Table 18 is free")
        _ = await service.device.push(
            APNsPush(
                Array(#"{"aps":{"mutable-content":1,"alert":"x"},"ENCRYPTED_DATA":"A"}"#.utf8), collapseID: "table"))
        _ = await service.device.push(try push("Changed", withdrawing: ["table-18"], id: "w"))
        #expect(service.device.content(of: "table")?.subtitle == "(Encrypted)", "a fallback")
    }

    @Test func whatIsBeingPreparedIsStillWithdrawn() async throws {
        let waiting = AsyncStream<Void>.makeStream()
        var configuration = phone.configuration
        configuration.hasFilteringEntitlement = true
        configuration.change = { opened, content, _ in
            if opened.body == "Table 17 is free" { for await _ in waiting.stream { break } }
            return content
        }
        let service = ServiceDevice(configuration)
        service.device.app.hasFilteringEntitlement = true
        let arrival = service.device.send(try push("Table 17 is free", named: "table-17"))
        _ = await service.device.push(try push("Changed", withdrawing: ["table-17"], id: "w"))
        waiting.continuation.yield()
        #expect(await arrival.decided().shown == nil)
        #expect(service.device.list == ["w"])
    }
}
