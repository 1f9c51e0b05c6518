internal import PushcryptCommandKit

// The property lists and entitlements of the three targets.
extension IOSScaffold {
    // MARK: App

    /// The additions to the app's own property list.
    var appInfo: ScaffoldFile {
        let intents = ("NSUserActivityTypes", PropertyListText.Value.array([.text("INSendMessageIntent")]))
        return PropertyListText.file(
            "App/Info.plist",
            (hasCommunication ? [intents] : []).map { (key: $0.0, value: $0.1) } + [
                (EntitlementRules.keychainProperty, .text(accessGroup))
            ])
    }

    var appEntitlements: ScaffoldFile {
        // The first group is the default of other libraries in the app: the app's own, which the extension does not have.
        let own = usesAppGroupAsKeychainGroup ? [] : ["$(AppIdentifierPrefix)\(topic)"]
        let communication =
            hasCommunication ? [(EntitlementRules.communication, PropertyListText.Value.bool(true))] : []
        return PropertyListText.file(
            "App/App.entitlements",
            [("aps-environment", .text("development"))] + communication.map { (key: $0.0, value: $0.1) }
                + groups(after: own))
    }

    // MARK: Service extension

    var serviceInfo: ScaffoldFile {
        PropertyListText.file(
            "NotificationService/Info.plist",
            Self.bundle(displayName: "Notification Service") + [
                (
                    "NSExtension",
                    .dictionary([
                        ("NSExtensionPointIdentifier", .text(IOSProject.ExtensionPoint.service.rawValue)),
                        ("NSExtensionPrincipalClass", .text(PrincipalClass.example("NotificationService"))),
                    ])
                ),
                (EntitlementRules.keychainProperty, .text(accessGroup)),
            ])
    }

    var serviceEntitlements: ScaffoldFile {
        PropertyListText.file("NotificationService/NotificationService.entitlements", groups(after: []))
    }

    // MARK: Content extension

    var contentInfo: ScaffoldFile {
        PropertyListText.file(
            "NotificationContent/Info.plist",
            Self.bundle(displayName: "Notification Content") + [
                (
                    "NSExtension",
                    .dictionary([
                        (
                            "NSExtensionAttributes",
                            .dictionary([
                                ("UNNotificationExtensionCategory", .array(categories.map { .text($0) })),
                                // The view shows title and body.
                                ("UNNotificationExtensionDefaultContentHidden", .bool(true)),
                                ("UNNotificationExtensionInitialContentSizeRatio", .real("0.5")),
                                ("UNNotificationExtensionUserInteractionEnabled", .bool(false)),
                            ])
                        ),
                        ("NSExtensionPointIdentifier", .text(IOSProject.ExtensionPoint.content.rawValue)),
                        ("NSExtensionPrincipalClass", .text(PrincipalClass.example("NotificationViewController"))),
                    ])
                )
            ])
    }

    /// It receives the opened notification, and needs no keys.
    var contentEntitlements: ScaffoldFile {
        PropertyListText.file("NotificationContent/NotificationContent.entitlements", [appGroups])
    }

    // MARK: Common parts

    /// The reason for reading file times that Apple requires at upload: they are the app's own files.
    func privacyManifest(in folder: String) -> ScaffoldFile {
        let times: [(key: String, value: PropertyListText.Value)] = [
            ("NSPrivacyAccessedAPIType", .text("NSPrivacyAccessedAPICategoryFileTimestamp")),
            ("NSPrivacyAccessedAPITypeReasons", .array([.text("C617.1")])),
        ]
        return PropertyListText.file(
            "\(folder)/PrivacyInfo.xcprivacy",
            [
                ("NSPrivacyAccessedAPITypes", .array([.dictionary(times)])),
                ("NSPrivacyCollectedDataTypes", .array([])),
                ("NSPrivacyTracking", .bool(false)),
                ("NSPrivacyTrackingDomains", .array([])),
            ])
    }

    private func groups(after own: [String]) -> [(key: String, value: PropertyListText.Value)] {
        let keychainGroups = own + (usesAppGroupAsKeychainGroup ? [] : [accessGroup])
        return [appGroups]
            + (keychainGroups.isEmpty ? [] : [("keychain-access-groups", .array(keychainGroups.map { .text($0) }))])
    }

    private var appGroups: (key: String, value: PropertyListText.Value) {
        ("com.apple.security.application-groups", .array([.text(appGroup)]))
    }

    /// Keys that Xcode adds automatically where it generates property lists, and the name that Apple requires at upload.
    private static func bundle(displayName: String) -> [(key: String, value: PropertyListText.Value)] {
        [
            ("CFBundleDevelopmentRegion", "$(DEVELOPMENT_LANGUAGE)"), ("CFBundleDisplayName", displayName),
            ("CFBundleExecutable", "$(EXECUTABLE_NAME)"),
            ("CFBundleIdentifier", "$(PRODUCT_BUNDLE_IDENTIFIER)"), ("CFBundleInfoDictionaryVersion", "6.0"),
            ("CFBundleName", "$(PRODUCT_NAME)"), ("CFBundlePackageType", "$(PRODUCT_BUNDLE_PACKAGE_TYPE)"),
            ("CFBundleShortVersionString", "$(MARKETING_VERSION)"), ("CFBundleVersion", "$(CURRENT_PROJECT_VERSION)"),
        ].map { ($0, .text($1)) }
    }
}

/// The project's texts for users, in one language.
struct StringTable: Equatable, Sendable {
    /// Apple's name of the language, such as `en`.
    let language: String
    /// The replacement of `(Encrypted)`: a push that did not open, or was not sealed.
    let encrypted: String
    /// The replacement of `New message`: a hidden body, and a placeholder.
    let newMessage: String

    /// The keys are the English texts, which are shown in a language without a table.
    static let all = [
        StringTable(language: "ar", encrypted: "(مشفّر)", newMessage: "رسالة جديدة"),
        StringTable(language: "en", encrypted: "(Encrypted)", newMessage: "New message"),
        StringTable(language: "es", encrypted: "(Cifrado)", newMessage: "Mensaje nuevo"),
        StringTable(language: "ja", encrypted: "(暗号化済み)", newMessage: "新着メッセージ"),
        StringTable(language: "ko", encrypted: "(암호화됨)", newMessage: "새 메시지"),
    ]
}

extension IOSScaffold {
    /// The project's texts for users, in one catalogue. String files of the same name beside it would stop the build.
    var stringCatalogue: ScaffoldFile {
        let texts: [(key: String, comment: String, value: (StringTable) -> String)] = [
            ("(Encrypted)", "A push that could not be opened, or was not encrypted.", { $0.encrypted }),
            ("New message", "In place of a text that is hidden, or not opened yet.", { $0.newMessage }),
        ]
        let strings = texts.map { key, comment, value in
            let units = StringTable.all.map { table in
                """
                        "\(table.language)" : {
                          "stringUnit" : {
                            "state" : "translated",
                            "value" : "\(value(table))"
                          }
                        }
                """
            }
            return """
                    "\(key)" : {
                      "comment" : "\(comment)",
                      "extractionState" : "manual",
                      "localizations" : {
                \(units.joined(separator: ",\n"))
                      }
                    }
                """
        }
        return ScaffoldFile(
            path: "App/Localizable.xcstrings",
            text: """
                {
                  "sourceLanguage" : "en",
                  "strings" : {
                \(strings.joined(separator: ",\n"))
                  },
                  "version" : "1.0"
                }

                """)
    }
}

/// A property list as XML, with only the types that a scaffold needs.
enum PropertyListText {
    indirect enum Value: Sendable {
        case text(String)
        case real(String)
        case bool(Bool)
        case array([Value])
        /// In the order given.
        case dictionary([(key: String, value: Value)])
    }

    /// The text of a file.
    static func file(_ path: String, _ members: [(key: String, value: Value)]) -> ScaffoldFile {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        write(.dictionary(members), to: &text, indent: "")
        return ScaffoldFile(path: path, text: text + "</plist>\n")
    }

    private static func write(_ value: Value, to text: inout String, indent: String) {
        let inner = indent + "    "
        switch value {
        case .text(let string): text += indent + element("string", string)
        case .real(let number): text += indent + element("real", number)
        case .bool(let bool): text += indent + (bool ? "<true/>\n" : "<false/>\n")
        case .array(let values):
            text += indent + "<array>\n"
            for value in values { write(value, to: &text, indent: inner) }
            text += indent + "</array>\n"
        case .dictionary(let members):
            text += indent + "<dict>\n"
            for (key, value) in members {
                text += inner + element("key", key)
                write(value, to: &text, indent: inner)
            }
            text += indent + "</dict>\n"
        }
    }

    private static func element(_ name: String, _ content: String) -> String {
        "<\(name)>\(XML.escaped(content))</\(name)>\n"
    }
}
