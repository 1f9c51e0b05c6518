internal import PushcryptCommandKit

// The property lists and entitlements of the three targets.
extension IOSScaffold {
    // MARK: App

    /// Only what comes on top of the app's own.
    var appInfo: ScaffoldFile {
        PropertyListText.file("App/Info.plist", [(EntitlementRules.keychainProperty, .text(accessGroup))])
    }

    var appEntitlements: ScaffoldFile {
        PropertyListText.file("App/App.entitlements", [("aps-environment", .text("development"))] + groups)
    }

    // MARK: Service extension

    var serviceInfo: ScaffoldFile {
        PropertyListText.file(
            "NotificationService/Info.plist",
            Self.bundle + [
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
        PropertyListText.file("NotificationService/NotificationService.entitlements", groups)
    }

    // MARK: Content extension

    var contentInfo: ScaffoldFile {
        PropertyListText.file(
            "NotificationContent/Info.plist",
            Self.bundle + [
                (
                    "NSExtension",
                    .dictionary([
                        (
                            "NSExtensionAttributes",
                            .dictionary([
                                ("UNNotificationExtensionCategory", .array(categories.map { .text($0) })),
                                // The view shows title and body itself.
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

    /// It is shown the opened notification, and has no use for keys.
    var contentEntitlements: ScaffoldFile {
        PropertyListText.file("NotificationContent/NotificationContent.entitlements", [appGroups])
    }

    // MARK: Common parts

    /// The reason that Apple requires at upload for reading file times: they are the app's own files.
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

    private var groups: [(key: String, value: PropertyListText.Value)] {
        [appGroups, ("keychain-access-groups", .array([.text(accessGroup)]))]
    }

    private var appGroups: (key: String, value: PropertyListText.Value) {
        ("com.apple.security.application-groups", .array([.text(appGroup)]))
    }

    /// Keys that Xcode adds automatically where it generates property lists.
    private static let bundle: [(key: String, value: PropertyListText.Value)] = [
        ("CFBundleDevelopmentRegion", "$(DEVELOPMENT_LANGUAGE)"), ("CFBundleExecutable", "$(EXECUTABLE_NAME)"),
        ("CFBundleIdentifier", "$(PRODUCT_BUNDLE_IDENTIFIER)"), ("CFBundleInfoDictionaryVersion", "6.0"),
        ("CFBundleName", "$(PRODUCT_NAME)"), ("CFBundlePackageType", "$(PRODUCT_BUNDLE_PACKAGE_TYPE)"),
        ("CFBundleShortVersionString", "$(MARKETING_VERSION)"), ("CFBundleVersion", "$(CURRENT_PROJECT_VERSION)"),
    ].map { ($0, .text($1)) }
}
