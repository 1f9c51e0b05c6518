import DeviceSimulator
import Foundation
import Testing
import UserNotifications

/// The system's content for a push, before the extension gets it.
@Suite struct ContentTests {
    private func content(of json: String, strings: [String: String] = [:]) async throws -> UNNotificationContent {
        let device = SimulatedDevice()
        device.app.strings = strings
        let outcome = await device.push(APNsPush(json: json, collapseID: "id"))
        #expect(outcome.shown != nil)
        return try #require(device.content(of: "id"))
    }

    @Test func everyFieldIsRead() async throws {
        let content = try await content(
            of: #"""
                {"aps":{"alert":{"title":"T","subtitle":"S","body":"B","launch-image":"L"},"badge":7,"sound":"ping.caf",
                "thread-id":"th","category":"CAT","target-content-id":"win","interruption-level":"time-sensitive",
                "relevance-score":0.5,"filter-criteria":"work"},"chat":{"id":41,"names":["a","b"]},"on":true}
                """#)
        #expect(content.title == "T")
        #expect(content.subtitle == "S")
        #expect(content.body == "B")
        #expect(content.launchImageName == "L")
        #expect(content.badge == 7)
        #expect(content.sound == UNNotificationSound(named: UNNotificationSoundName("ping.caf")))
        #expect(content.threadIdentifier == "th")
        #expect(content.categoryIdentifier == "CAT")
        #expect(content.targetContentIdentifier == "win")
        #expect(content.interruptionLevel == .timeSensitive)
        #expect(content.relevanceScore == 0.5)
        #expect(content.filterCriteria == "work")
        let chat = try #require(content.userInfo["chat"] as? [String: Any])
        #expect(chat["id"] as? Int == 41)
        #expect(chat["names"] as? [String] == ["a", "b"])
        #expect(content.userInfo["on"] as? Bool == true)
        let aps = try #require(content.userInfo["aps"] as? [String: Any])
        #expect(aps["category"] as? String == "CAT")
    }

    @Test func anAlertMayBeText() async throws {
        #expect(try await content(of: #"{"aps":{"alert":"Hello"}}"#).body == "Hello")
    }

    @Test func aFieldOfAnotherTypeIsNotThere() async throws {
        let content = try await content(
            of: #"""
                {"aps":{"alert":{"title":7,"subtitle":null,"body":"B","launch-image":{}},"badge":"7","sound":1,
                "thread-id":1,"category":[],"target-content-id":false,"interruption-level":"loud",
                "relevance-score":"1","filter-criteria":2}}
                """#)
        #expect([content.title, content.subtitle, content.body] == ["", "", "B"])
        #expect(content.badge == nil)
        #expect(content.sound == nil)
        #expect([content.threadIdentifier, content.categoryIdentifier, content.launchImageName] == ["", "", ""])
        #expect(content.targetContentIdentifier == nil)
        #expect(content.filterCriteria == nil)
        #expect(content.interruptionLevel == .active)
        #expect(content.relevanceScore == 0)
    }

    @Test func keysOfTextsAreLookedUpInTheAppsStrings() async throws {
        let content = try await content(
            of: #"""
                {"aps":{"alert":{"title-loc-key":"INVITE","title-loc-args":["Ann","8 pm"],"title":"unused",
                "subtitle-loc-key":"UNKNOWN","loc-key":"PLAIN","loc-args":[7]}}}
                """#, strings: ["INVITE": "%2$@ with %1$@", "PLAIN": "Come %@"])
        #expect(content.title == "8 pm with Ann")
        #expect(content.subtitle == "UNKNOWN")
        // An argument that is not a string is ignored.
        #expect(content.body == "Come %@")
    }

    private static var sounds: [(field: String, sound: UNNotificationSound?)] {
        [
            (#""default""#, .default), (#""""#, nil), ("null", nil), ("{}", nil), (#"{"critical":1}"#, .loudest),
            (#""a.caf""#, UNNotificationSound(named: UNNotificationSoundName("a.caf"))),
            (#"{"name":"a.caf"}"#, UNNotificationSound(named: UNNotificationSoundName("a.caf"))),
            (#"{"name":"default","critical":1,"volume":0.25}"#, .defaultCriticalSound(withAudioVolume: 0.25)),
            (
                #"{"name":"a.caf","critical":1,"volume":0.5}"#,
                .criticalSoundNamed(UNNotificationSoundName("a.caf"), withAudioVolume: 0.5)
            ),
            (#"{"name":"a.caf","critical":true}"#, UNNotificationSound(named: UNNotificationSoundName("a.caf"))),
        ]
    }

    @Test(arguments: sounds.map { ($0.field, Handed($0.sound)) })
    func aSoundIsANameOrACriticalOne(_ field: String, _ sound: Handed<UNNotificationSound?>) async throws {
        #expect(try await content(of: #"{"aps":{"alert":"a","sound":\#(field)}}"#).sound == sound.value)
    }

    @Test func theRequestIsNamedByCollapseIDThenPushID() async {
        let device = SimulatedDevice()
        #expect(await device.push(alert("a")).requestIdentifier == "00000000-0000-4000-8000-000000000001")
        #expect(await device.push(alert("a")).requestIdentifier == "00000000-0000-4000-8000-000000000002")
        #expect(await device.push(APNsPush(json: "{}", id: "x")).requestIdentifier == "x")
        #expect(await device.push(APNsPush(json: "{}", collapseID: "c", id: "x")).requestIdentifier == "c")
    }

    @Test func theExtensionIsGivenThePushAsItCame() async {
        let seen = Notebook<Handed<UNNotificationRequest>>()
        let device = SimulatedDevice(clock: .simulated(stillClock())) {
            ScriptedExtension { request, deliver in
                seen.add(Handed(request))
                deliver(request.content)
            }
        }
        _ = await device.push(alert("body", aps: #""badge":3"#, collapseID: "c"))
        let request = seen.all.first?.value
        #expect(request?.identifier == "c")
        #expect(request?.content.body == "body")
        #expect(request?.trigger is UNPushNotificationTrigger)
        #expect((request?.content.userInfo["aps"] as? [String: Any])?["badge"] as? Int == 3)
    }
}

extension UNNotificationSound {
    fileprivate static var loudest: UNNotificationSound { .defaultCriticalSound(withAudioVolume: 1) }
}
