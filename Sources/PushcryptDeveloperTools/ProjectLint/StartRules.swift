internal import Pushcrypt
internal import PushcryptCommandKit

/// Rules for whether the system finds an extension, and starts it for its notifications.
struct StartRules {
    private static let bases = [
        Built.Kind.service: ["EncryptedNotificationService", "UNNotificationServiceExtension"],
        .content: ["UNNotificationContentExtension"],
    ]

    let installed: Installed

    var findings: [Finding] {
        installed.extensions.compactMap(classFinding) + installed.contents.compactMap(categoryFinding)
            + sharedCategories
            + (serviceFinding.map { [$0] } ?? [])
    }

    private var serviceFinding: Finding? {
        guard installed.services.count > 1, let info = installed.services[1].info else { return nil }
        let names = installed.services.map(\.name).joined(separator: ", ")
        return .warning(
            info.file, "there are several notification service extensions, but the system starts one per app: \(names)",
            fix: "remove all but one, unless they belong to several apps")
    }

    // MARK: The principal class

    private func classFinding(_ built: Built) -> Finding? {
        guard let info = built.info, let point = info.values?["NSExtension"] else { return nil }
        let (key, example) = ("NSExtensionPrincipalClass", "$(PRODUCT_MODULE_NAME).")
        if built.kind == .content, point[key] == nil, point["NSExtensionMainStoryboard"] != nil { return nil }
        guard let text = point[key]?.string, let name = text.split(separator: ".").last.map(String.init),
            !text.hasSuffix(".")
        else {
            return .error(
                info.file,
                "NSExtension of \(built.name) names no class under \(key), so the system cannot start it",
                fix: "add it as a string, for example \(example)NotificationService")
        }
        let sources = built.sources
        // Sources that are not here, and classes for Objective-C.
        if sources.declared.isEmpty || sources.objectiveCNames.contains(name) { return nil }
        if name == text {
            return .error(
                info.file, "\(key) is \(quoted(text)), but the system finds a Swift class only with its module's name",
                fix: "write \(example)\(name), or give the class @objc(\(name))")
        }
        guard sources.declared.contains(name) else {
            return .error(
                info.file, "there is no class \(name) in the Swift sources of \(built.name)",
                fix: "add the class, or name the one that is there")
        }
        let (ancestors, bases) = (sources.ancestors(of: name), Self.bases[built.kind] ?? [])
        // A base that is not in these sources is unknown.
        let foreign = ancestors.subtracting(sources.declared).subtracting(["NSObject"])
        if !ancestors.isDisjoint(with: bases) || built.kind == .service && !foreign.isEmpty { return nil }
        return .error(
            info.file, "the class \(name) is not one that the system starts",
            fix: "inherit \(bases.joined(separator: " or "))")
    }

    // MARK: Categories

    private func categoryFinding(_ built: Built) -> Finding? {
        guard let info = built.info, categories(of: built).isEmpty else { return nil }
        return .error(
            info.file,
            "NSExtensionAttributes of \(built.name) has no UNNotificationExtensionCategory, so its view is never shown",
            fix: "add it: the category of its notifications, a string or an array of strings")
    }

    /// The system compares categories exactly, and asks one extension.
    private var sharedCategories: [Finding] {
        var owners: [String: Built] = [:]
        var findings: [Finding] = []
        for built in installed.contents {
            for category in categories(of: built) {
                if let owner = owners.updateValue(built, forKey: category), let info = built.info {
                    findings.append(
                        .error(
                            info.file,
                            "the category \(quoted(category)) is also that of \(owner.name), so one of the two is never shown",
                            fix: "declare each category in one extension"))
                }
            }
        }
        return findings
    }

    private func categories(of built: Built) -> [String] {
        let value = built.info?.values?["NSExtension"]?["NSExtensionAttributes"]?["UNNotificationExtensionCategory"]
        let names = value?.kind == .array ? value?.elements.compactMap(\.string) ?? [] : [value?.string ?? ""]
        return Set(names.filter { !$0.isEmpty }).sorted()
    }
}
