import Pushcrypt
import PushcryptReceiver
import Testing

/// Categories and actions, declared once.
@Suite struct CategorySetTests {
    /// Everything that can be declared.
    private static let full =
        #"{"version":1,"categories":[{"identifier":"MESSAGE","actions":["#
        + #"{"identifier":"REPLY","title":{"key":"REPLY_TO","arguments":["Ann"]},"options":["authenticationRequired"],"#
        + #""icon":{"system":"arrowshape.turn.up.left"},"textInput":{"buttonTitle":{"key":"SEND"},"placeholder":"Message"}},"#
        + #"{"identifier":"DELETE","title":"Delete","options":["destructive","foreground"],"icon":{"template":"bin"}},"#
        + #"{"identifier":"NOTE","title":"Note","textInput":{"buttonTitle":"Keep"}}],"#
        + #""intentIdentifiers":["INSendMessageIntent"],"hiddenPreviewsBodyPlaceholder":"%u new messages","#
        + #""summaryFormat":{"key":"MORE"},"options":["customDismissAction","allowInCarPlay","hiddenPreviewsShowTitle","#
        + #""hiddenPreviewsShowSubtitle"]},{"identifier":"message2"}]}"#

    private static func set(_ json: String) throws(CategoryError) -> CategorySet {
        try CategorySet(json: ContiguousArray(json.utf8))
    }

    @Test func declarationsAreReadAsTheyStand() throws {
        let set = try CategorySet([
            CategoryDeclaration(
                "MESSAGE",
                actions: [
                    ActionDeclaration(
                        "REPLY", title: .localized(key: "REPLY_TO", arguments: ["Ann"]),
                        options: [.authenticationRequired], icon: .system("arrowshape.turn.up.left"),
                        textInput: .init(buttonTitle: .localized(key: "SEND", arguments: []), placeholder: "Message")),
                    ActionDeclaration(
                        "DELETE", title: "Delete", options: [.foreground, .destructive], icon: .template("bin")),
                    ActionDeclaration("NOTE", title: "Note", textInput: .init(buttonTitle: "Keep")),
                ], intentIdentifiers: ["INSendMessageIntent"], hiddenPreviewsBodyPlaceholder: "%u new messages",
                summaryFormat: .localized(key: "MORE", arguments: []),
                options: [
                    .hiddenPreviewsShowSubtitle, .hiddenPreviewsShowTitle, .allowInCarPlay, .customDismissAction,
                ]), CategoryDeclaration("message2"),
        ])
        #expect(try Self.set(Self.full) == set)
        #expect(set["MESSAGE"]?.actions.map(\.identifier) == ["REPLY", "DELETE", "NOTE"])
        #expect(set["message"] == nil)
    }

    @Test func noCategoryIsASetToo() throws {
        #expect(try Self.set(#"{"version":1,"categories":[]}"#) == CategorySet([]))
    }

    /// The same action may belong to several categories.
    @Test func anActionOfAnotherCategoryMayHaveTheSameIdentifier() throws {
        let reply = ActionDeclaration("REPLY", title: "Reply")
        let set = try CategorySet([
            CategoryDeclaration("A", actions: [reply]), CategoryDeclaration("B", actions: [reply]),
        ])
        #expect(set.categories.count == 2)
    }

    @Test func tenActionsAreTheMost() throws {
        func set(_ count: Int) throws(CategoryError) -> CategorySet {
            try CategorySet([
                CategoryDeclaration("A", actions: (0..<count).map { ActionDeclaration("\($0)", title: "a") })
            ])
        }
        #expect(try set(10)["A"]?.actions.count == 10)
        let error = try #require(#expect(throws: CategoryError.self) { try set(11) })
        #expect(error.code == .tooManyActions)
        #expect(error.place == "categories[0].actions")
    }

    @Test func nullIsAMemberThatIsNotThere() throws {
        let set = try Self.set(
            #"{"version":1.0,"categories":[{"identifier":"A","actions":[{"identifier":"R","title":"r","icon":null,"textInput":null,"options":null}],"summaryFormat":null,"intentIdentifiers":null}]}"#
        )
        let same = try CategorySet([CategoryDeclaration("A", actions: [ActionDeclaration("R", title: "r")])])
        #expect(set == same)
    }

    // MARK: Refusals

    struct Fault: Sendable, CustomTestStringConvertible {
        let json: String
        let code: CategoryError.Code
        let place: String

        var testDescription: String { json }

        /// Instead of the list of categories.
        static func categories(
            _ json: String, _ code: CategoryError.Code = .malformedCategories, at place: String
        ) -> Fault {
            Fault(json: #"{"version":1,"categories":\#(json)}"#, code: code, place: place)
        }

        /// Instead of a category's members after the first.
        static func category(
            _ member: String, _ code: CategoryError.Code = .malformedCategories, at place: String
        ) -> Fault {
            categories(#"[{"identifier":"A",\#(member)}]"#, code, at: "categories[0]" + place)
        }

        /// Instead of an action's members after the first two.
        static func action(
            _ member: String, _ code: CategoryError.Code = .malformedCategories, at place: String
        ) -> Fault {
            category(#""actions":[{"identifier":"R","title":"r",\#(member)}]"#, code, at: ".actions[0]" + place)
        }
    }

    static let shapes: [Fault] = [
        Fault(json: "", code: .malformedCategories, place: "the declarations"),
        Fault(json: "[]", code: .malformedCategories, place: "the declarations"),
        Fault(json: "{}", code: .malformedCategories, place: "version"),
        Fault(json: #"{"version":2,"categories":[]}"#, code: .malformedCategories, place: "version"),
        Fault(json: #"{"version":"1","categories":[]}"#, code: .malformedCategories, place: "version"),
        Fault(json: #"{"version":1}"#, code: .malformedCategories, place: "categories"),
        Fault(
            json: #"{"version":1,"categories":[],"Categories":[]}"#, code: .malformedCategories,
            place: "the declarations"),
        .categories("{}", at: "categories"), .categories(#"["A"]"#, at: "categories[0]"),
        .categories("[{}]", at: "categories[0].identifier"),
        .categories(#"[{"identifier":1}]"#, at: "categories[0].identifier"),
        .categories(#"[{"identifier":null}]"#, at: "categories[0].identifier"),
        .categories(#"[{"identifier":"A"},{"identifier":"B","option":[]}]"#, at: "categories[1]"),
        .category(#""actions":{}"#, at: ".actions"), .category(#""actions":["R"]"#, at: ".actions[0]"),
        .category(#""options":"customDismissAction""#, at: ".options"),
        .category(#""options":["customDismissAction","dismiss"]"#, at: ".options[1]"),
        .category(#""options":["foreground"]"#, at: ".options[0]"), .category(#""options":[1]"#, at: ".options[0]"),
        .category(#""intentIdentifiers":[7]"#, at: ".intentIdentifiers[0]"),
        .category(#""hiddenPreviewsBodyPlaceholder":true"#, at: ".hiddenPreviewsBodyPlaceholder"),
        .category(#""hiddenPreviewsBodyPlaceholder":{}"#, at: ".hiddenPreviewsBodyPlaceholder.key"),
        .category(#""summaryFormat":{"key":"a","args":[]}"#, at: ".summaryFormat"),
        .category(#""summaryFormat":{"key":"a","arguments":[1]}"#, at: ".summaryFormat.arguments[0]"),
        .category(#""actions":[{"identifier":"R"}]"#, at: ".actions[0].title"),
        .category(#""actions":[{"title":"r"}]"#, at: ".actions[0].identifier"),
        .action(#""option":[]"#, at: ""), .action(#""options":["Destructive"]"#, at: ".options[0]"),
        .action(#""icon":"bin""#, at: ".icon"), .action(#""icon":{}"#, at: ".icon"),
        .action(#""icon":{"system":"a","template":"b"}"#, at: ".icon"),
        .action(#""icon":{"system":1}"#, at: ".icon.system"),
        .action(#""textInput":true"#, at: ".textInput"), .action(#""textInput":{}"#, at: ".textInput.buttonTitle"),
        .action(#""textInput":{"buttonTitle":"a","placeholder":1}"#, at: ".textInput.placeholder"),
    ]

    static let rules: [Fault] = [
        .categories(#"[{"identifier":""}]"#, .invalidIdentifier, at: "categories[0].identifier"),
        .categories(#"[{"identifier":"A\n"}]"#, .invalidIdentifier, at: "categories[0].identifier"),
        .categories(
            #"[{"identifier":"\#(String(repeating: "A", count: 256))"}]"#, .invalidIdentifier,
            at: "categories[0].identifier"),
        .category(
            #""actions":[{"identifier":"com.apple.UNNotificationDismissActionIdentifier","title":"x"}]"#,
            .invalidIdentifier, at: ".actions[0].identifier"),
        .categories(#"[{"identifier":"A"},{"identifier":"A"}]"#, .repeatedIdentifier, at: "categories[1].identifier"),
        .categories(
            #"[{"identifier":"Msg"},{"identifier":"MSG"}]"#, .repeatedIdentifier, at: "categories[1].identifier"),
        .category(
            #""actions":[{"identifier":"R","title":"a"},{"identifier":"r","title":"b"}]"#, .repeatedIdentifier,
            at: ".actions[1].identifier"),
        .category(#""actions":[{"identifier":"R","title":""}]"#, .emptyTitle, at: ".actions[0].title"),
        .category(#""actions":[{"identifier":"R","title":{"key":""}}]"#, .emptyTitle, at: ".actions[0].title"),
        .action(#""textInput":{"buttonTitle":""}"#, .emptyTitle, at: ".textInput.buttonTitle"),
    ]

    @Test(arguments: shapes + rules) func aFaultIsNamedWithItsPlace(_ fault: Fault) throws {
        let error = try #require(#expect(throws: CategoryError.self) { try Self.set(fault.json) })
        #expect(error.code == fault.code)
        #expect(error.place == fault.place)
        #expect(error.description.hasPrefix("\(fault.place): "))
    }
}
