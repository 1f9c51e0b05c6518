import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing
import VectorKit

/// `Tests/Data/Vectors/kit/notifications`: what a person is shown of a push. (`Docs/Format.md`, N-1 to N-7)
@Suite struct KitNotificationTests {
    @Test func aPersonIsShownWhatTheKitSays() throws {
        let vectors = try KitGroup.notifications.vectors()
        for vector in vectors { try check(vector) }
        print("vectors: kit/notifications: \(vectors.count)")
    }

    private func check(_ vector: KitVector) throws {
        let receiver = try KitReceiver(vector)
        let phone = try Phone(receiver, Comment(rawValue: vector.path))
        let delivery: Delivery
        if vector.optional("may-pass-in-the-clear") == "yes" {
            var push = IncomingPush(try ReceivedPush(vector.body))
            push.mayPassInTheClear = true
            delivery =
                phone.receiver(topic: receiver.topic)
                .receive(push, requestID: nil, at: receiver.now).delivery
        } else {
            let repeated = vector.optional("repeated")
            if repeated != nil {
                _ = phone.receive(vector.body, request: "first", topic: receiver.topic, at: receiver.now)
            }
            delivery =
                phone.receive(
                    vector.body, request: repeated == "duplicate-quietly" ? "second" : "first", topic: receiver.topic,
                    at: receiver.now
                ).delivery
        }
        #expect(delivery.code == vector.expect, "\(vector)")
        let shown = try fields(of: delivery.content)
        #expect(try shown == expected(vector), "\(vector)")
        let texts = shown.values.joined() + [String(decoding: delivery.content.userInfo, as: UTF8.self)]
        if let json = vector.optional("shown-user-info-json") {
            let values = try [Bytes(json.utf8), delivery.content.userInfo].map {
                try JSONSerialization.jsonObject(with: Data($0)) as? NSDictionary
            }
            #expect(values[0] == values[1], "\(vector)")
        }
        for word in vector.all("not-shown") {
            #expect(!texts.contains { $0.contains(word) }, "\(vector): \(word)")
        }
    }

    private static let names = KitGroup.notifications.members.filter {
        $0.hasPrefix("shown-") && $0 != "shown-user-info-json"
    }

    private func expected(_ vector: KitVector) throws -> [String: [String]] {
        let shown = Self.names.map { ($0, vector.all($0)) }.filter { !$1.isEmpty }
        var fields = Dictionary(uniqueKeysWithValues: shown)
        for name in ["shown-title-arguments", "shown-subtitle-arguments", "shown-body-arguments"] {
            guard let json = fields[name]?.first else { continue }
            fields[name] = try JSONDecoder().decode([String].self, from: Data(json.utf8))
        }
        fields["shown-user-info"]?.sort()
        return fields
    }

    /// The fields that are not empty, under the names of the kit's members.
    private func fields(of content: NotificationContent) throws -> [String: [String]] {
        var fields: [String: [String]] = [:]
        func put(_ name: String, _ values: String...) { put(name, values) }
        func put(_ name: String, _ values: [String]) {
            if values.contains(where: { !$0.isEmpty }) { fields["shown-\(name)"] = values }
        }
        for (name, text) in [("title", content.title), ("subtitle", content.subtitle), ("body", content.body)] {
            switch text {
            case .plain(let text): put(name, text)
            case .localized(let key, let arguments):
                put("\(name)-key", key)
                put("\(name)-arguments", arguments)
            }
        }
        put("launch-image", content.launchImageName)
        put("badge", content.badge.map(String.init) ?? "")
        put("sound", content.sound.map(sound) ?? "")
        put("thread-id", content.threadIdentifier)
        put("category", content.categoryIdentifier)
        put("target-content-id", content.targetContentIdentifier ?? "")
        put("filter-criteria", content.filterCriteria ?? "")
        put("interruption-level", content.interruptionLevel == .active ? "" : content.interruptionLevel.rawValue)
        put("relevance-score", content.relevanceScore == 0 ? "" : "\(content.relevanceScore)")
        let userInfo = try JSONSerialization.jsonObject(with: Data(content.userInfo)) as? [String: Any]
        put("user-info", try #require(userInfo).keys.sorted())
        return fields
    }

    private func sound(_ sound: NotificationContent.Sound) -> String {
        switch sound {
        case .standard: "default"
        case .named(let name): name
        case .critical(let name, let volume):
            (["critical", "\(volume)"] + [name].compactMap(\.self)).joined(separator: " ")
        }
    }
}
