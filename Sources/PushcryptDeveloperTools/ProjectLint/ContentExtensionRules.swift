internal import Pushcrypt
internal import PushcryptCommandKit

/// Rules for a notification content extension's property list and sources.
struct ContentExtensionRules {
    /// The attributes that Apple documents.
    private static let attributeNames = [
        "UNNotificationExtensionCategory", "UNNotificationExtensionInitialContentSizeRatio",
        "UNNotificationExtensionDefaultContentHidden", "UNNotificationExtensionUserInteractionEnabled",
        "UNNotificationExtensionOverridesDefaultTitle",
    ]
    private static let contentProtocol = "UNNotificationContentExtension"

    let target: IOSProject.Extension

    var findings: [Finding] { entryFindings + attributeFindings + controllerFindings }

    private var file: String { target.file }
    private var attributes: JSONValue? { target.info["NSExtension"]?["NSExtensionAttributes"] }

    // MARK: Principal class or storyboard

    /// Checks for either a principal class or a storyboard.
    private var entryFindings: [Finding] {
        let storyboard = target.info["NSExtension"]?["NSExtensionMainStoryboard"]
        switch (PrincipalClass(of: target), storyboard) {
        case (.missing, nil):
            return [
                .error(
                    file, "NSExtension has neither NSExtensionPrincipalClass nor NSExtensionMainStoryboard",
                    fix:
                        "add one of them: \(PrincipalClass.example("NotificationViewController")), or the storyboard's name"
                )
            ]
        case (.missing, let storyboard?): return storyboardFindings(storyboard)
        case (_, .some):
            return [
                .error(
                    file, "NSExtension has both NSExtensionPrincipalClass and NSExtensionMainStoryboard",
                    fix: "remove one of them: the view controller comes from one place")
            ]
        case (.malformed(let finding), nil): return [finding]
        case (.named(let name, let doubt), nil): return (doubt.map { [$0] } ?? []) + classFindings(name)
        }
    }

    private func storyboardFindings(_ value: JSONValue) -> [Finding] {
        guard let name = value.string, !name.isEmpty else {
            return [
                .error(
                    file, "NSExtensionMainStoryboard is not a name",
                    fix: "write the storyboard's name, without its ending")
            ]
        }
        guard let storyboard = target.storyboards.first(where: { $0.name == name }) else {
            return [
                .error(
                    file, "there is no storyboard \(quoted(name)) beside it",
                    fix: "write the name of one that is there, without .storyboard")
            ]
        }
        if storyboard.viewControllers == 1 { return [] }
        return [
            .error(
                file,
                "the storyboard \(quoted(name)) has \(storyboard.viewControllers) view controllers instead of one",
                fix: "leave exactly one view controller in it")
        ]
    }

    private func classFindings(_ name: String) -> [Finding] {
        let classes = target.classes
        guard classes.declared.contains(name) else {
            return PrincipalClass.unknown(name, target).map { [$0] } ?? []
        }
        var findings: [Finding] = []
        let ancestors = classes.ancestors(of: name)
        if !ancestors.contains(where: { $0.hasSuffix("ViewController") }) {
            findings.append(.error(file, "the class \(name) is not a view controller", fix: "inherit UIViewController"))
        }
        if !ancestors.contains(Self.contentProtocol) {
            findings.append(
                .error(
                    file, "the class \(name) does not conform to \(Self.contentProtocol)",
                    fix: "add \(Self.contentProtocol) to it"))
        }
        return findings
    }

    /// Checks that one class is the view controller of the extension.
    private var controllerFindings: [Finding] {
        let names = target.classes.declared.filter { target.classes.ancestors(of: $0).contains(Self.contentProtocol) }
            .sorted()
        guard names.count > 1 else { return [] }
        return [
            .error(
                file,
                "\(names.joined(separator: " and ")) conform to \(Self.contentProtocol), but an extension has one view controller",
                fix: "keep one of them, and create other extensions for other categories")
        ]
    }

    // MARK: NSExtensionAttributes

    private var attributeFindings: [Finding] {
        guard let attributes, attributes.kind == .object else {
            return [
                .error(
                    file, "NSExtension has no NSExtensionAttributes",
                    fix:
                        "add a dictionary with UNNotificationExtensionCategory and UNNotificationExtensionInitialContentSizeRatio"
                )
            ]
        }
        return categoryFindings(attributes["UNNotificationExtensionCategory"])
            + ratioFindings(attributes["UNNotificationExtensionInitialContentSizeRatio"])
            + flagFindings(attributes) + unknownFindings(attributes)
    }

    private func categoryFindings(_ value: JSONValue?) -> [Finding] {
        let name = "UNNotificationExtensionCategory"
        guard let value else {
            return [missing(name, "the category of the notifications to show, a string or an array of strings")]
        }
        let categories = value.kind == .array ? value.elements.map(\.string) : [value.string]
        guard !categories.isEmpty, categories.allSatisfy({ $0?.isEmpty == false }) else {
            return [
                .error(
                    file, "\(name) is not a category, or a list of categories",
                    fix: "write a string, or an array of strings, none of them empty")
            ]
        }
        let repeated = Self.repeated(categories.compactMap(\.self))
        return repeated.map {
            .warning(file, "\(name) has \(quoted($0)) twice", fix: "remove one of the two")
        }
    }

    private func ratioFindings(_ value: JSONValue?) -> [Finding] {
        let name = "UNNotificationExtensionInitialContentSizeRatio"
        guard let value else { return [missing(name, "the height of the view divided by its width, a number above 0")] }
        if let ratio = value.double, ratio > 0 { return [] }
        return [
            .error(
                file, "\(name) is not a number above 0",
                fix: "write a number such as 0.5, as <real> and not as <string>")
        ]
    }

    private func flagFindings(_ attributes: JSONValue) -> [Finding] {
        Self.attributeNames.dropFirst(2).compactMap { name in
            guard let value = attributes[name], value.kind != .bool else { return nil }
            return .error(file, "\(name) is not a boolean", fix: "write <true/> or <false/>")
        }
    }

    /// Finds attributes that are misspelt, or a level too high.
    private func unknownFindings(_ attributes: JSONValue) -> [Finding] {
        let misspelt = attributes.members.map(\.name).filter {
            $0.hasPrefix("UNNotificationExtension") && !Self.attributeNames.contains($0)
        }
        let misplaced = [target.info["NSExtension"], target.info].compactMap(\.self).flatMap { $0.members.map(\.name) }
            .filter(Self.attributeNames.contains)
        return misspelt.map { name in
            .warning(
                file, "the system has no attribute \(quoted(name))",
                fix: nearestName(to: name, among: Self.attributeNames).map { "did you mean \($0)?" } ?? "remove it")
        }
            + misplaced.map {
                .error(
                    file, "\($0) is not in NSExtensionAttributes, so it has no effect", fix: "move it there"
                )
            }
    }

    private func missing(_ name: String, _ meaning: String) -> Finding {
        .error(file, "NSExtensionAttributes has no \(name)", fix: "add it: \(meaning)")
    }
}

// MARK: Several extensions

extension ContentExtensionRules {
    /// Finds categories that several extensions declare. The system compares them exactly, including case.
    static func findings(of targets: [IOSProject.Extension]) -> [Finding] {
        var findings: [Finding] = []
        for (index, target) in targets.enumerated() {
            for earlier in targets[..<index] {
                for category in categories(of: target) {
                    for other in categories(of: earlier) {
                        if category == other {
                            findings.append(
                                .error(
                                    target.file,
                                    "the category \(quoted(category)) is also that of \(earlier.file), so one of the two is never shown",
                                    fix: "declare each category in one extension"))
                        } else if category.lowercased() == other.lowercased() {
                            findings.append(
                                .warning(
                                    target.file,
                                    "the category \(quoted(category)) differs from \(quoted(other)) of \(earlier.file) only in case, so they are two categories",
                                    fix: "write the name in the payloads, or choose names that differ in more than case"
                                ))
                        }
                    }
                }
            }
        }
        return findings
    }

    private static func categories(of target: IOSProject.Extension) -> [String] {
        let value = target.info["NSExtension"]?["NSExtensionAttributes"]?["UNNotificationExtensionCategory"]
        let categories =
            value?.kind == .array ? value?.elements.compactMap(\.string) ?? [] : value?.string.map { [$0] } ?? []
        return Set(categories).sorted()
    }

    private static func repeated(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { !seen.insert($0).inserted }
    }
}

/// A storyboard: XML that is searched but not parsed, with an element for each view controller.
enum Storyboard {
    /// The number of elements that Xcode writes for view controllers.
    static func viewControllers(in source: ContiguousArray<UInt8>) -> Int {
        let text = String(decoding: source, as: UTF8.self)
        return kinds.map { kind in
            text.split(separator: "<").count { $0.hasPrefix(kind + " ") || $0.hasPrefix(kind + ">") }
        }.reduce(0, +)
    }

    private static let kinds = [
        "viewController", "tableViewController", "collectionViewController", "navigationController", "tabBarController",
        "splitViewController", "pageViewController", "glkViewController", "avPlayerViewController",
        "hostingController",
    ]
}
