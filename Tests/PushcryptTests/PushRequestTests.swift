import Foundation
import Testing

@testable import Pushcrypt

/// `Tests/Data/Vectors/requests.json`.
struct RequestVectors: Codable {
    struct Collapse: FormatVector {
        let name: String
        let topic: String
        let providerPublic: Hex
        let devicePublic: Hex?
        let device: String?
        let callerID: String
        let collapseName: String?
        let collapseID: String
    }

    struct Expiration: FormatVector {
        let name: String
        let pushType: String
        let sentAt: UInt64
        let requested: UInt64
        let ttl: UInt64
        let expiration: UInt64
    }

    let collapse: [Collapse]
    let expiration: [Expiration]

    static func file() throws -> RequestVectors { try FormatVectors.read("requests.json") }
}

/// The request to APNs besides the device's token.
@Suite struct PushRequestTests {
    private let fixture: FormatFixture
    private let sealer: Sealer

    init() throws {
        fixture = try FormatFixture()
        sealer = Sealer(provider: fixture.provider, topic: fixture.topic)
    }

    private func sealed(_ pushType: PushType = .alert, timeToLive: UInt32 = 60) throws -> SealedPayload {
        var message = Sealer.Message(alertPayload().utf8)
        message.pushType = pushType
        message.timeToLive = .seconds(UInt64(timeToLive))
        return try sealer.seal(message, to: fixture.device.publicKey, at: FormatFixture.now)
    }

    // MARK: Collapse ids

    @Test(.vectors("requests.json, collapse"), arguments: try RequestVectors.file().collapse)
    func aCollapseIDIsOneOfTheVectors(_ vector: RequestVectors.Collapse) throws {
        let provider = try ProviderPublicKey(bytes: vector.providerPublic.bytes.span)
        let topic = try Topic(vector.topic)
        let message = MessageID(callerName: vector.callerID)
        guard let key = vector.devicePublic else {
            #expect(CollapseID.text(of: provider, topic, withoutKey: message) == vector.collapseID)
            return
        }
        let device = try vector.device.map(CollapseID.Device.named) ?? .key(DevicePublicKey(bytes: key.bytes.span))
        let pushes = vector.collapseName.map(CollapseID.Subject.named) ?? .message(message)
        #expect(try CollapseID.text(of: provider, topic, device, pushes) == vector.collapseID)
    }

    /// A push still replaces the one before it after either side's keys were replaced.
    @Test func aCollapseIDStaysWhateverKeysChange() throws {
        func request(_ epoch: UInt32, _ device: UInt8) throws -> PushRequest {
            let fixture = try FormatFixture(device: device, epoch: epoch)
            let sealed = try fixture.seal(alertPayload())
            return try fixture.sealer.request(for: sealed, device: "phone1", collapseName: "chat")
        }
        let ids = try [request(0, 1), request(1, 1), request(2, 2)].map(\.collapseID)
        #expect(Set(ids).count == 1)
        #expect(ids[0].utf8.count == 43)
    }

    @Test func aRequestHasTheCollapseIDOfItsDeviceAndPushes() throws {
        let sealed = try sealed()
        let (provider, topic) = (fixture.provider.publicKey, fixture.topic)
        #expect(
            try sealer.request(for: sealed, device: "phone1", collapseName: "chat").collapseID
                == CollapseID.text(of: provider, topic, .named("phone1"), .named("chat")))
        #expect(
            try sealer.request(for: sealed).collapseID
                == CollapseID.text(of: provider, topic, .key(sealed.recipient), .message(sealed.messageID)))
    }

    @Test(
        "Names that would join what is not one are refused",
        arguments: [
            ("", "chat" as String?), (String(repeating: "d", count: 256), "chat"), ("phone1", ""),
            ("phone1", String(repeating: "c", count: 65_536)),
        ])
    func refusedNames(_ device: String, _ collapseName: String?) throws {
        let sealed = try sealed()
        #expect(throws: SealError(.invalidRequest, "")) {
            try sealer.request(for: sealed, device: device, collapseName: collapseName)
        }
    }

    // MARK: Headers

    @Test(arguments: [
        (PushType.alert, "com.example.app", 10), (.background, "com.example.app", 5),
        (.voip, "com.example.app.voip", 10),
    ])
    func eachTypeHasItsTopicAndItsPriority(_ pushType: PushType, _ topic: String, _ priority: Int) throws {
        let sealed = try sealed(pushType)
        let request = try sealer.request(for: sealed)
        #expect(request.topic == topic)
        #expect(request.pushType == pushType)
        #expect(request.priority.rawValue == priority)
        #expect(request.payload == sealed.json)
    }

    @Test func eachHeaderHasItsValue() throws {
        let request = try sealer.request(for: sealed(.voip), priority: .conservingAboveAll)
        let values = PushRequest.Header.allCases.map { request.value(of: $0) }
        #expect(values == ["com.example.app.voip", "voip", "1", "\(request.expiration)", request.collapseID])
    }

    /// Apple's "Sending notification requests to APNs": a background push with priority 10 is an error.
    @Test(arguments: [PushType.alert, .background, .voip], PushRequest.Priority.allCases)
    func everyPriorityButTenInTheBackgroundIsTaken(_ pushType: PushType, _ priority: PushRequest.Priority) throws {
        let sealed = try sealed(pushType)
        if pushType == .background, priority == .immediate {
            #expect(throws: SealError(.invalidRequest, "")) { try sealer.request(for: sealed, priority: priority) }
        } else {
            #expect(try sealer.request(for: sealed, priority: priority).priority == priority)
        }
    }

    /// APNs counts in seconds, and must not keep a push longer than it is taken; the relay must not read when it was
    /// sealed. A call that is over must not ring.
    @Test(.vectors("requests.json, expiration"), arguments: try RequestVectors.file().expiration)
    func theEndIsOneOfTheVectors(_ vector: RequestVectors.Expiration) throws {
        var message = Sealer.Message(alertPayload().utf8)
        message.pushType = try PushType(vector.pushType)
        message.timeToLive = .seconds(vector.requested)
        let now = Timestamp(milliseconds: vector.sentAt)
        if message.pushType == .background { message.payload = Bytes(#"{"aps":{"content-available":1}}"#.utf8) }
        let sealed = try sealer.seal(message, to: fixture.device.publicKey, at: now)
        #expect(sealed.expiresAt == now.adding(.seconds(vector.ttl)))
        let opened = try fixture.opener().open(sealed.json, at: now, as: message.pushType.sealableClass())
        #expect(opened.expiresAt == sealed.expiresAt)
        #expect(try sealer.request(for: sealed).expiration == vector.expiration)
        let unsealed = try sealer.request(unsealed: message, at: now)
        #expect(unsealed.expiration == vector.expiration)
    }

    // MARK: Texts

    @Test func theJSONHasSixMembersAndThePayloadAsItIs() throws {
        let sealed = try sealed(.voip)
        let request = try sealer.request(for: sealed, device: "phone1", collapseName: "chat-c41", priority: .conserving)
        let payload = String(decoding: sealed.json, as: UTF8.self)
        #expect(
            String(decoding: request.json, as: UTF8.self)
                == #"{"topic":"com.example.app.voip","push_type":"voip","priority":5,"expiration":1790000060,"#
                + #""collapse_id":"gzwmBWuDnsgCGHE8yp9x1QT6OICIvllqMpgs2p8bbH0","payload":"# + payload + "}")
    }

    @Test(arguments: [PushType.alert, .background, .voip])
    func theSimulatorsFileIsThePayloadAndTheApp(_ pushType: PushType) throws {
        let sealed = try sealed(pushType)
        let file = try sealer.request(for: sealed).simulatorFile
        let object = try #require(try JSONSerialization.jsonObject(with: Data(file)) as? [String: Any])
        #expect(object["Simulator Target Bundle"] as? String == "com.example.app")
        #expect(object["ENCRYPTED_DATA"] as? String == sealed.envelope.text)
        #expect(object["aps"] is [String: Any] && object.count == 3)
    }

    // MARK: Custom keys

    /// As a library encodes it that writes `aps` itself and lets the app's payload add members.
    private struct LibraryPayload: Encodable {
        let aps: [String: Int]
        let custom: SealedPayload.CustomKeys

        private enum CodingKeys: String, CodingKey {
            case aps
        }

        func encode(to encoder: any Encoder) throws {
            try custom.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(aps, forKey: .aps)
        }
    }

    @Test func theCustomKeysAreTheEnvelopeAlone() throws {
        let sealed = try sealed()
        let alone = try JSONEncoder().encode(sealed.customKeys)
        #expect(String(decoding: alone, as: UTF8.self) == #"{"ENCRYPTED_DATA":"\#(sealed.envelope.text)"}"#)
        let push = try JSONEncoder().encode(LibraryPayload(aps: ["mutable-content": 1], custom: sealed.customKeys))
        let opened = try fixture.opener().open(push, at: FormatFixture.now)
        #expect(opened.payload == Bytes(alertPayload().utf8))
    }
}
