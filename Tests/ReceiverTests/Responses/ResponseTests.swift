import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import Simulated

/// The user's responses to a notification, their origin, and how they wait until the app can accept them.
@Suite struct ResponseTests {
    @Test(arguments: [
        ("com.apple.UNNotificationDefaultActionIdentifier", NotificationResponseValue.Action.open),
        ("com.apple.UNNotificationDismissActionIdentifier", .dismiss), ("REPLY", .custom("REPLY")),
        ("com.apple.UNNotificationSilenceActionIdentifier", .custom("com.apple.UNNotificationSilenceActionIdentifier")),
        ("", .custom("")),
    ])
    func anActionIsWhatItsIdentifierSays(_ identifier: String, _ action: NotificationResponseValue.Action) {
        #expect(NotificationResponseValue.Action(identifier: identifier) == action)
        #expect(action.identifier == identifier)
    }

    /// The content of an unopened push is not the provider's.
    @Test(arguments: [
        ("{}", NotificationResponseValue.Source.app), (#"{"chat":"c41"}"#, .app),
        (#"{"aps":{},"chat":"c41"}"#, .clear), (#"{"aps":{},"ENCRYPTED_DATA":"AQ"}"#, .sealed),
        (#"{"ENCRYPTED_DATA":"AQ"}"#, .sealed), (#"{"aps":{},"ENCRYPTED_DATA":1}"#, .clear), ("", .clear),
        ("[]", .clear),
        (#"{"chat":"#, .clear),
    ])
    func theUserInfoTellsWhereItComesFrom(_ userInfo: String, _ source: NotificationResponseValue.Source) {
        let response = NotificationResponseValue(
            requestIdentifier: "r", action: .open, userInfo: Bytes(userInfo.utf8))
        #expect(response.source == source)
    }

    // MARK: Opening late

    private static let payload =
        #"{"aps":{"alert":{"body":"See you at 8"},"category":"MESSAGE"},"chat":"c41","n":1.50}"#

    /// The extension never ran, and the response comes with the push as it was.
    @Test func aNotificationThatWasNeverOpenedIsOpenedForTheResponse() throws {
        let provider = try Provider()
        let phone = try Phone(enrolledWith: provider)
        let push = try provider.push(Self.payload, at: .start)
        var response = NotificationResponseValue(
            requestIdentifier: "r", action: .custom("REPLY"), userText: "yes", userInfo: push,
            categoryIdentifier: "FORGED")
        #expect(response.source == .sealed)
        let receiver = phone.receiver()
        let received = response.received(by: receiver, at: .start)
        #expect(received.origin == .opened)
        let opened = received.value
        #expect(String(decoding: opened.userInfo, as: UTF8.self) == #"{"chat":"c41","n":1.50}"#)
        #expect(opened.categoryIdentifier == "MESSAGE")
        // The user answered the clear part, which anyone may have written.
        #expect(opened.action == .open && opened.userText == nil)
        #expect(opened.source == .app)
        // A second response to the same notification.
        #expect(response.received(by: receiver, at: .start) == received)
        // Nothing is opened twice.
        #expect(opened.received(by: receiver, at: .start).origin == .app)
        #expect(opened.received(by: receiver, at: .start).value == opened)

        // Sealed for another phone.
        let other = try Phone(enrolledWith: provider, as: "phone2")
        response.userInfo = try provider.push(Self.payload, to: "phone2", at: .start)
        #expect(unknown(response.received(by: receiver, at: .start)) == "unknown-recipient-key")
        #expect(response.received(by: other.receiver(), at: .start).value.userInfo == opened.userInfo)
        // Never sealed.
        response.userInfo = Bytes(#"{"aps":{"alert":"hi"},"chat":"c41"}"#.utf8)
        #expect(unknown(response.received(by: receiver, at: .start)) == "not-encrypted")
        #expect(response.received(by: receiver, at: .start, mayPass: true).origin == .passed)
        #expect(response.received(by: receiver, at: .start, mayPass: true).value == response)
    }

    /// Why nothing is known of the notification; nil when something is, or when custom keys are given all the same.
    private func unknown(_ received: ReceivedResponse) -> String? {
        guard case .unknown(let reason) = received.origin, received.value.source == .app,
            received.value.userInfo == NotificationContent.emptyUserInfo, received.value.categoryIdentifier == ""
        else { return nil }
        return reason.code
    }

    /// A strict app shows a message once, and hears what it says once.
    @Test(arguments: [DuplicatePolicy.fallback, .suppress])
    func aMessageThatWasShownUnderAnotherRequestIsADuplicate(_ duplicates: DuplicatePolicy) throws {
        let provider = try Provider()
        let phone = try Phone(enrolledWith: provider)
        let receiver = phone.receiver(duplicates: duplicates)
        let push = try provider.push(Self.payload, at: .start)
        _ = receiver.receive(push, requestID: "first", at: .start)
        let response = NotificationResponseValue(requestIdentifier: "second", action: .open, userInfo: push)
        #expect(unknown(response.received(by: receiver, at: .start)) == "duplicate")
    }

    /// A notification that is still on the screen when its withdrawal has come.
    @Test func aResponseToAWithdrawnMessageHasNothingOfIt() throws {
        let provider = try Provider()
        let phone = try Phone(enrolledWith: provider)
        let receiver = phone.receiver()
        var options = Sealer.Message([])
        options.name = "order-17"
        let push = try provider.push(Self.payload, at: .start, like: options)
        var withdrawal = Sealer.Message([])
        withdrawal.withdrawing = ["order-17"]
        _ = receiver.receive(try provider.push(at: .start, like: withdrawal), requestID: "2", at: .start)
        let response = NotificationResponseValue(requestIdentifier: "1", action: .open, userInfo: push)
        #expect(unknown(response.received(by: receiver, at: .start)) == "withdrawn")
    }

    // MARK: Keeping

    @Test(arguments: StoreKind.allCases) func aResponseIsGivenAgainAsItWas(_ kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.make()
        let key = try store.edit { try $0.add(at: .start).publicKey }
        let kept = ExtensionDatabase(in: folder.path).responses
        let deep = Bytes((String(repeating: "[", count: 31) + String(repeating: "]", count: 31)).utf8)
        let responses = [
            NotificationResponseValue(requestIdentifier: "a", action: .open),
            NotificationResponseValue(
                requestIdentifier: "b \"\n", action: .custom("REPLY"), userText: "on my way 🚲\u{0}",
                userInfo: Bytes(#"{ "deep" : "#.utf8) + deep + Bytes("}".utf8), categoryIdentifier: "MESSAGE"),
            NotificationResponseValue(
                requestIdentifier: "c", action: .dismiss, userText: String(repeating: "x", count: (1 << 19) - 200)),
        ]
        for response in responses { try kept.keep(response.json, sealedTo: key, at: .start) }
        let tooLong = NotificationResponseValue(
            requestIdentifier: "d", action: .dismiss, userText: String(repeating: "x", count: 1 << 19))
        #expect(throws: KeyStoreError(.responseTooLarge, "")) { try kept.keep(tooLong.json, sealedTo: key, at: .start) }
        #expect(try kept.responses(openedWith: store, at: .start).map(\.value) == responses)
        for waiting in try kept.responses(openedWith: store, at: .start) { try kept.remove(waiting) }
        #expect(try kept.responses(openedWith: store, at: .start).isEmpty)
    }

    /// The app was downgraded, and will be upgraded again.
    @Test func aResponseThatALaterVersionHasKeptStays() throws {
        let folder = try TemporaryFolder()
        let store = try StoreKind.sqlite.make()
        let key = try store.edit { try $0.add(at: .start).publicKey }
        let file = ExtensionDatabase(in: folder.path).responses
        for json in [#"{"version":2,"request":"r"}"#, #"{"version":1,"request":"r"}"#, "?"] {
            try file.keep(Bytes(json.utf8), sealedTo: key, at: .start)
        }
        #expect(try file.responses(openedWith: store, at: .start).map(\.value) == [nil, nil, nil])
    }
}
