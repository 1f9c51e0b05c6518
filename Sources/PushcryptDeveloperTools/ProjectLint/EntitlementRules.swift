internal import Pushcrypt
internal import PushcryptCommandKit

/// The entitlements that app and extensions must share, so that an extension has the app's keys.
struct EntitlementRules {
    /// The key of the Keychain group in the property lists of app and extension; it is not Apple's.
    static let keychainProperty = "PushcryptKeychainGroup"

    private static let keychain = "keychain-access-groups"
    private static let appGroups = "com.apple.security.application-groups"
    private static let sandbox = "com.apple.security.app-sandbox"
    static let communication = "com.apple.developer.usernotifications.communication"
    private static let filtering = "com.apple.developer.usernotifications.filtering"
    private static let apsEnvironment = "aps-environment"

    let project: IOSProject
    /// The checked folder.
    let root: String

    var findings: [Finding] {
        appFindings + project.extensions.flatMap { findings(of: $0) + keychainPropertyFindings($0) }
    }

    // MARK: The app

    private var appFindings: [Finding] {
        guard !project.appEntitlements.isEmpty else {
            return [
                .warning(
                    root, "the app's entitlements are not here, so they were not compared with the extension's",
                    fix: "name the folder that has both")
            ]
        }
        let environments = project.appEntitlements.compactMap { list in
            list.values[Self.apsEnvironment].map { (list.file, $0) }
        }
        var findings = environments.compactMap { file, value in
            ["development", "production"].contains(value.string)
                ? nil
                : Finding.error(
                    file, "\(Self.apsEnvironment) is neither development nor production",
                    fix: "write development; Xcode writes production when it exports for the App Store")
        }
        if environments.isEmpty, let list = project.appEntitlements.first {
            findings.append(
                .error(
                    list.file, "there is no \(Self.apsEnvironment), so the app gets no push",
                    fix: "add the capability Push Notifications, or \(Self.apsEnvironment) with the value development")
            )
        }
        return findings
            + project.appEntitlements.filter { $0.values[Self.filtering] != nil }.map {
                .warning(
                    $0.file, "\(Self.filtering) is in the app's entitlements, where it has no effect",
                    fix: "move it to the service extension's")
            }
            + project.appEntitlements.flatMap { groupFindings($0) + defaultGroupFindings($0) }
            + communicationFindings
    }

    /// Checks that other libraries in the app do not store their items where the extension reads: without a group, an item
    /// goes into the first one.
    private func defaultGroupFindings(_ list: IOSProject.Entitlements) -> [Finding] {
        guard let first = Self.groups(Self.keychain, list).first else { return [] }
        let services = project.extensions.filter { $0.point == .service }
        let shared = services.flatMap { $0.entitlements.flatMap { Self.groups(Self.keychain, $0) } }
        guard shared.contains(where: { Self.withoutPrefix($0) == Self.withoutPrefix(first) }) else { return [] }
        return [
            .warning(
                list.file,
                "the extension's Keychain group is the app's first one, so what other libraries store without a group goes there",
                fix: "put the app's own group first, $(AppIdentifierPrefix) and the bundle id"
            )
        ]
    }

    /// Notifications with a sender's face need both, and nothing reports that one is missing.
    private var communicationFindings: [Finding] {
        let entitled = project.appEntitlements.filter { $0.values[Self.communication] != nil }
        let intent = "INSendMessageIntent"
        let declared = project.appInfos.filter {
            $0.info["NSUserActivityTypes"]?.elements.contains { $0.string == intent } ?? false
        }
        if let list = entitled.first, declared.isEmpty, let app = project.appInfos.first {
            return [
                .warning(
                    app.file,
                    "there is no NSUserActivityTypes with \(intent), so notifications have no sender (\(list.file) has the entitlement)",
                    fix: "add the array with this string to the app's property list")
            ]
        }
        if let app = declared.first, entitled.isEmpty, let list = project.appEntitlements.first {
            return [
                .note(
                    list.file,
                    "there is no \(Self.communication), so notifications have no sender (\(app.file) declares \(intent))",
                    fix: "add the capability Communication Notifications, unless the intent has another purpose")
            ]
        }
        return []
    }

    // MARK: An extension

    private func findings(of target: IOSProject.Extension) -> [Finding] {
        var findings: [Finding] = []
        guard !target.entitlements.isEmpty else {
            // A content extension may need only its notification.
            guard target.point == .service else { return [] }
            return [
                .error(
                    target.file,
                    "the extension has no entitlements beside it, so it can read neither the keys nor the app group",
                    fix: "add an .entitlements file with \(Self.keychain) and \(Self.appGroups), the same as the app's"
                )
            ]
        }
        for list in target.entitlements {
            findings += groupFindings(list) + sandboxFindings(list, target.targets)
            if target.point == .service {
                findings += sharing(Self.keychain, list, "the extension cannot read the app's keys")
                findings += filteringFindings(list)
            }
            findings += sharing(Self.appGroups, list, "app and extension share no folder")
        }
        return findings
    }

    /// Checks the property that `SharedKeyStore` needs to find the keys.
    private func keychainPropertyFindings(_ target: IOSProject.Extension) -> [Finding] {
        guard target.point == .service, target.usesSharedKeyStore else { return [] }
        let name = Self.keychainProperty
        guard let value = target.info[name] else {
            return [
                .warning(
                    target.file, "there is no \(name), so SharedKeyStore does not find the keys",
                    fix:
                        "add it with the Keychain group, including $(AppIdentifierPrefix), unless the extension has another key store"
                )
            ]
        }
        guard let group = value.string, !group.isEmpty else {
            return [.error(target.file, "\(name) is not the name of a group", fix: "write it as a string")]
        }
        let own = target.entitlements.flatMap { Self.groups(Self.keychain, $0) }
        // The Keychain also accepts app groups.
        let others = target.entitlements.flatMap { Self.groups(Self.appGroups, $0) }
        if own.isEmpty || own.contains(group) || others.contains(group) { return [] }
        let plain = Self.withoutPrefix(group)
        if plain != group, own.contains(where: { Self.withoutPrefix($0) == plain }) {
            return [
                .warning(
                    target.file, "\(name) has the extension's Keychain group with another prefix",
                    fix: "write it as in \(Self.keychain)")
            ]
        }
        return [
            .error(
                target.file,
                "\(name) names \(quoted(group)), which is not one of the extension's Keychain groups (\(own.joined(separator: ", "))), so it has no keys",
                fix: "write the one of \(Self.keychain) that the app has, exactly")
        ]
    }

    private func sharing(_ name: String, _ list: IOSProject.Entitlements, _ effect: String) -> [Finding] {
        let own = Self.groups(name, list)
        if name == Self.keychain, own.isEmpty, keysAreInAppGroup(list) { return [] }
        guard !own.isEmpty else {
            return [.error(list.file, "there is no \(name), so \(effect)", fix: "add the app's group")]
        }
        guard !project.appEntitlements.isEmpty else { return [] }
        let others = project.appEntitlements.flatMap { Self.groups(name, $0) }
        guard !others.isEmpty else {
            return project.appEntitlements.prefix(1).map {
                .error($0.file, "there is no \(name), so \(effect)", fix: "add \(own[0]), which the extension has")
            }
        }
        if own.contains(where: others.contains) { return [] }
        if own.contains(where: { group in others.contains { Self.withoutPrefix($0) == Self.withoutPrefix(group) } }) {
            return [
                .warning(
                    list.file, "\(name) has the app's group with another prefix",
                    fix: "write $(AppIdentifierPrefix) in both, and sign both with one team")
            ]
        }
        return [
            .error(
                list.file, "\(name) has none of the app's groups (\(others.joined(separator: ", "))), so \(effect)",
                fix: "add one of them to the extension")
        ]
    }

    /// Whether the property lists name an app group of these entitlements as the Keychain group, which it may be.
    private func keysAreInAppGroup(_ list: IOSProject.Entitlements) -> Bool {
        let groups = Self.groups(Self.appGroups, list)
        return project.extensions.contains { target in
            guard target.entitlements.contains(where: { $0.file == list.file }) else { return false }
            let named = target.info[Self.keychainProperty]?.string
            // An extension with another key store does not name it here.
            return named.map(groups.contains) ?? (!groups.isEmpty && !target.usesSharedKeyStore)
        }
    }

    private func filteringFindings(_ list: IOSProject.Entitlements) -> [Finding] {
        guard let value = list.values[Self.filtering] else { return [] }
        guard value.kind == .bool else {
            return [.error(list.file, "\(Self.filtering) is not a boolean", fix: "write <true/>, or remove it")]
        }
        return [
            .note(
                list.file, "the extension may hide notifications (\(Self.filtering))",
                fix: "Apple grants it on request; declare it in the app's code, so that copies can be hidden"
            )
        ]
    }

    /// macOS, also for Catalyst, starts only extensions in the sandbox.
    private func sandboxFindings(_ list: IOSProject.Entitlements, _ targets: [XcodeSettings.Target]) -> [Finding] {
        let isMissing = targets.flatMap(\.settings).contains { settings in
            let platforms = "\(settings["SDKROOT"] ?? "") \(settings["SUPPORTED_PLATFORMS"] ?? "")"
            let isForMac =
                platforms.split(separator: " ").contains("macosx") || settings["SUPPORTS_MACCATALYST"] == "YES"
            return isForMac && !settings.isIncomplete && settings["ENABLE_APP_SANDBOX"] != "YES"
        }
        guard isMissing, list.values[Self.sandbox]?.bool != true else { return [] }
        return [
            .error(
                list.file, "there is no \(Self.sandbox), so macOS does not start the extension",
                fix: "add the capability App Sandbox, with outgoing connections if notifications have attachments")
        ]
    }

    // MARK: Groups

    /// Checks that groups are arrays of names, and that an app group's name begins with `group.`.
    private func groupFindings(_ list: IOSProject.Entitlements) -> [Finding] {
        var findings: [Finding] = []
        for name in [Self.keychain, Self.appGroups] {
            guard let value = list.values[name] else { continue }
            if value.kind != .array || value.elements.contains(where: { $0.string?.isEmpty ?? true }) {
                findings.append(.error(list.file, "\(name) is not a list of groups", fix: "write an array of strings"))
            }
        }
        for group in Self.groups(Self.appGroups, list)
        where !group.hasPrefix("group.") && !group.hasPrefix("$(") && Self.withoutPrefix(group) == group {
            findings.append(
                .error(
                    list.file, "the app group \(quoted(group)) does not begin with 'group.'",
                    fix: "write group.\(group), as it is registered"))
        }
        return findings
    }

    private static func groups(_ name: String, _ list: IOSProject.Entitlements) -> [String] {
        list.values[name]?.elements.compactMap(\.string).filter { !$0.isEmpty } ?? []
    }

    /// The group without the team's prefix, which is ten letters and digits or an Xcode variable.
    private static func withoutPrefix(_ group: String) -> String {
        for variable in ["$(AppIdentifierPrefix)", "$(TeamIdentifierPrefix)"] where group.hasPrefix(variable) {
            return String(group.dropFirst(variable.count))
        }
        let parts = group.split(separator: ".", maxSplits: 1)
        let isTeam = parts.count == 2 && parts[0].count == 10 && parts[0].allSatisfy { $0.isNumber || $0.isUppercase }
        return isTeam ? String(parts[1]) : group
    }
}

extension IOSProject.Extension {
    /// Whether a class of this package opens the pushes, with the keys that `SharedKeyStore` finds.
    fileprivate var usesSharedKeyStore: Bool {
        classes.declared.contains { classes.ancestors(of: $0).contains(ServiceExtensionRules.encryptedBaseClass) }
    }
}
