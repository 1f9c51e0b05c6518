internal import Pushcrypt
internal import PushcryptCommandKit

/// Rules for the groups that app and extensions share, and for the topic: what the extension needs to find the app's keys.
struct GroupRules {
    /// The properties that name a group for the library; they are not Apple's.
    private static let keychainProperty = "PushcryptKeychainGroup"
    private static let appGroupProperty = "PushcryptAppGroup"

    let installed: Installed

    var findings: [Finding] {
        installed.extensions.compactMap(folderFinding)
            + installed.services.flatMap { service in
                propertyFindings(Self.keychainProperty, service) + propertyFindings(Self.appGroupProperty, service)
            } + literalFindings
    }

    /// App and extension have a folder in common.
    private func folderFinding(_ built: Built) -> Finding? {
        guard let list = built.entitlements else { return nil }
        let app = installed.app
        let (own, others) = (built.groups(Built.appGroups), app.groups(Built.appGroups))
        // A content extension may need only its notification.
        if own.contains(where: { Self.contains(others, $0) }) || others.contains(nil)
            || built.kind == .content && own.isEmpty
        {
            return nil
        }
        return .error(
            list.file,
            "\(built.name) and \(app.name) share no app group: \(built.name) has \(Self.listed(own)), \(app.name) \(Self.listed(others))",
            fix: "add the same group to \(Built.appGroups) of both")
    }

    // MARK: Properties

    /// A property that app and extension need, with the same group, of which both are members.
    private func propertyFindings(_ name: String, _ service: Built) -> [Finding] {
        let isKeychain = name == Self.keychainProperty
        var findings: [Finding] = []
        var named: [(list: Built.List, built: Built, group: String)] = []
        for built in [service, installed.app] {
            guard let list = built.info else { continue }
            guard let value = list.values?[name] else {
                if isKeychain ? needsKeychainProperty(service) : needsAppGroupProperty(built) {
                    findings.append(
                        .error(
                            list.file,
                            "the property list of \(built.name) has no \(name), so it does not find the \(isKeychain ? "keys" : "app group")",
                            fix: "add it with the group\(isKeychain ? ", including $(AppIdentifierPrefix)" : "")"
                                + (list.values == nil ? ", to a list that INFOPLIST_FILE names" : "")))
                }
                continue
            }
            guard let text = value.string, !text.isEmpty else {
                findings.append(.error(list.file, "\(name) is not the name of a group", fix: "write it as a string"))
                continue
            }
            guard let group = built.group(text) else { continue }
            named.append((list, built, group))
        }
        for holder in [service, installed.app] {
            // One whose own list is unknown is a member of the other's.
            guard let own = named.first(where: { $0.built.name == holder.name }) ?? named.first else { continue }
            // The Keychain also accepts app groups.
            let groups = (isKeychain ? holder.groups(Built.keychain) : []) + holder.groups(Built.appGroups)
            if Self.contains(groups, own.group) { continue }
            findings.append(
                .error(
                    own.list.file,
                    "\(name) is \(quoted(own.group)), and the entitlements of \(holder.name) have \(Self.listed(groups)), so it has no \(isKeychain ? "keys" : "folder")",
                    fix: "write the same group in both, and in app and extension"))
        }
        if named.count == 2, named[0].group != named[1].group {
            findings.append(
                .error(
                    named[0].list.file,
                    "\(name) of \(named[0].built.name) is \(quoted(named[0].group)), and of \(named[1].built.name) \(quoted(named[1].group))",
                    fix: "write the same in both"))
        }
        return findings
    }

    /// Whether a class of this package opens the pushes, with the keys that `SharedKeyStore` finds.
    private func needsKeychainProperty(_ service: Built) -> Bool {
        let ownStores: Set<String> = ["KeychainDeviceStore", "SQLiteKeyStore", "DeviceStore"]
        return usesLibrary(service) && installed.all.allSatisfy { ownStores.isDisjoint(with: $0.sources.words) }
    }

    private func needsAppGroupProperty(_ built: Built) -> Bool {
        let isUser = built.kind == .service ? usesLibrary(built) : built.sources.words.contains("PushAccounts")
        return isUser && built.sources.words.isDisjoint(with: ["appGroup", "directory"])
    }

    private func usesLibrary(_ service: Built) -> Bool {
        !service.sources.words.isDisjoint(with: ["EncryptedNotificationService", "NotificationServiceHandler"])
    }

    // MARK: Names in sources

    private var literalFindings: [Finding] {
        let holders = [installed.app] + installed.services.prefix(1)
        let sources = holders.map(\.sources)
        let (appGroups, accessGroups) = (sources.flatMap(\.appGroups), sources.flatMap(\.accessGroups))
        let groups =
            appGroups.map { ($0, "app group", [Built.appGroups]) }
            + accessGroups.map { ($0, "access group", [Built.keychain, Built.appGroups]) }
        let foreign = groups.compactMap { literal, kind, entitlements -> Finding? in
            let lacking = holders.filter { holder in
                !Self.contains(entitlements.flatMap { holder.groups($0) }, holder.group(literal.text))
            }
            guard !lacking.isEmpty else { return nil }
            let names = lacking.map { "\($0.name) (\(Self.listed(entitlements.flatMap($0.groups))))" }
            return .error(
                literal.file,
                "the \(kind) \(quoted(literal.text)) is not in the entitlements of \(names.joined(separator: " and of "))",
                fix: "write one that app and extension have")
        }
        guard let bundleID = installed.app.bundleID else { return foreign }
        return foreign
            + sources.flatMap(\.topics).filter { $0.text != bundleID }.map { literal in
                .error(
                    literal.file,
                    "the topic \(quoted(literal.text)) is not the bundle id of \(installed.app.name), \(quoted(bundleID)), so no push opens",
                    fix: "leave the topic out: by default it is the app's bundle id")
            }
    }

    /// Whether a group is among others, or may be.
    private static func contains(_ groups: [String?], _ group: String?) -> Bool {
        group == nil || groups.contains { $0 == nil || $0 == group }
    }

    private static func listed(_ groups: [String?]) -> String {
        groups.isEmpty ? "none" : groups.map { $0 ?? "?" }.joined(separator: ", ")
    }
}
