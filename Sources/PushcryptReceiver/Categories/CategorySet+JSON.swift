internal import Pushcrypt

// The declarations as JSON, with Apple's names:
//
//     {"version":1,"categories":[
//       {"identifier":"MESSAGE",
//        "actions":[{"identifier":"REPLY","title":{"key":"REPLY","arguments":[]},"options":["authenticationRequired"],
//                    "icon":{"system":"arrowshape.turn.up.left"},
//                    "textInput":{"buttonTitle":"Send","placeholder":"Message"}}],
//        "intentIdentifiers":["INSendMessageIntent"],
//        "hiddenPreviewsBodyPlaceholder":"%u new messages","summaryFormat":"%u more messages",
//        "options":["customDismissAction","hiddenPreviewsShowTitle"]}]}
//
// A text is a string, or an object with the key of a localised one.
extension CategorySet {
    private static let version: Int64 = 1

    /// Parses declarations.
    ///
    /// Parsing is strict, because ignoring a mistake means a button that never appears: every name must be known, every
    /// value of the right kind, or null, which counts as missing; `identifier`, and the `title` of an action, are
    /// required.
    ///
    /// - Throws: `malformedCategories`, and the errors of `init(_:)`.
    public init(json: ContiguousArray<UInt8>) throws(CategoryError) {
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument(parsing: json).root
        } catch {
            throw CategoryError(.malformedCategories, at: "the declarations", "not JSON: \(error)")
        }
        let top = try DeclarationReader(root, at: "", knowing: ["version", "categories"])
        guard top["version"]?.wholeNumber == Self.version else {
            throw CategoryError(
                .malformedCategories, at: "version", "must be \(Self.version)")
        }
        var categories: [CategoryDeclaration] = []
        for (value, place) in try top.elements("categories", isRequired: true) {
            categories.append(try CategoryDeclaration(value, at: place))
        }
        try self.init(categories)
    }
}

extension CategoryDeclaration {
    fileprivate init(_ value: JSONValue, at place: String) throws(CategoryError) {
        let reader = try DeclarationReader(
            value, at: place,
            knowing: [
                "identifier", "actions", "intentIdentifiers", "hiddenPreviewsBodyPlaceholder", "summaryFormat",
                "options",
            ])
        var actions: [ActionDeclaration] = []
        for (value, place) in try reader.elements("actions") { actions.append(try ActionDeclaration(value, at: place)) }
        self.init(
            try reader.required("identifier", reader.string("identifier")), actions: actions,
            intentIdentifiers: try reader.strings("intentIdentifiers"),
            hiddenPreviewsBodyPlaceholder: try reader.text("hiddenPreviewsBodyPlaceholder"),
            summaryFormat: try reader.text("summaryFormat"), options: try reader.options(Option.self))
    }
}

extension ActionDeclaration {
    fileprivate init(_ value: JSONValue, at place: String) throws(CategoryError) {
        let reader = try DeclarationReader(
            value, at: place, knowing: ["identifier", "title", "options", "icon", "textInput"])
        self.init(
            try reader.required("identifier", reader.string("identifier")),
            title: try reader.required("title", reader.text("title")), options: try reader.options(Option.self),
            icon: try reader.object("icon", Icon.init), textInput: try reader.object("textInput", TextInput.init))
    }
}

extension ActionDeclaration.Icon {
    fileprivate init(_ value: JSONValue, at place: String) throws(CategoryError) {
        let reader = try DeclarationReader(value, at: place, knowing: ["system", "template"])
        switch (try reader.string("system"), try reader.string("template")) {
        case (let name?, nil): self = .system(name)
        case (nil, let name?): self = .template(name)
        default: throw CategoryError(.malformedCategories, at: place, "must have either system or template")
        }
    }
}

extension ActionDeclaration.TextInput {
    fileprivate init(_ value: JSONValue, at place: String) throws(CategoryError) {
        let reader = try DeclarationReader(value, at: place, knowing: ["buttonTitle", "placeholder"])
        self.init(
            buttonTitle: try reader.required("buttonTitle", reader.text("buttonTitle")),
            placeholder: try reader.text("placeholder") ?? "")
    }
}

/// Reads one object of a declaration; its errors name the place.
struct DeclarationReader {
    private let value: JSONValue
    private let place: String

    /// Creates a reader for an object that has no other members than these.
    init(_ value: JSONValue, at place: String, knowing names: [String]) throws(CategoryError) {
        self.value = value
        self.place = place
        guard value.kind == .object else { throw malformed(nil, "must be an object") }
        for member in value.members where !names.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) {
            throw malformed(nil, "has an unknown member; the known ones are \(names.joined(separator: ", "))")
        }
    }

    subscript(_ name: String) -> JSONValue? { value[name] }

    func required<R>(_ name: String, _ value: R?) throws(CategoryError) -> R {
        guard let value else { throw malformed(name, "is missing") }
        return value
    }

    func string(_ name: String) throws(CategoryError) -> String? {
        guard let value = value.member(name) else { return nil }
        guard let string = value.string else { throw malformed(name, "must be a string") }
        return string
    }

    func strings(_ name: String) throws(CategoryError) -> [String] {
        var strings: [String] = []
        for (value, place) in try elements(name) {
            guard let string = value.string else {
                throw CategoryError(.malformedCategories, at: place, "must be a string")
            }
            strings.append(string)
        }
        return strings
    }

    func text(_ name: String) throws(CategoryError) -> NotificationContent.Text? {
        guard let value = value.member(name) else { return nil }
        if let string = value.string { return .plain(string) }
        guard value.kind == .object else { throw malformed(name, "must be a string, or an object with a key") }
        let reader = try DeclarationReader(value, at: path(name), knowing: ["key", "arguments"])
        return .localized(
            key: try reader.required("key", reader.string("key")), arguments: try reader.strings("arguments"))
    }

    func options<Option: RawRepresentable<String> & CaseIterable & Hashable>(
        _ type: Option.Type
    ) throws(CategoryError) -> Set<Option> {
        var options: Set<Option> = []
        for (index, name) in try strings("options").enumerated() {
            guard let option = Option(rawValue: name) else {
                let known = Option.allCases.map(\.rawValue).joined(separator: ", ")
                throw CategoryError(
                    .malformedCategories, at: "\(path("options"))[\(index)]", "must be one of \(known)")
            }
            options.insert(option)
        }
        return options
    }

    func object<R>(
        _ name: String, _ read: (JSONValue, String) throws(CategoryError) -> R
    ) throws(CategoryError) -> R? {
        guard let value = value.member(name) else { return nil }
        return try read(value, path(name))
    }

    func elements(_ name: String, isRequired: Bool = false) throws(CategoryError) -> [(JSONValue, String)] {
        guard let value = value.member(name) else {
            if isRequired { throw malformed(name, "is missing") }
            return []
        }
        guard value.kind == .array else { throw malformed(name, "must be an array") }
        return value.elements.enumerated().map { ($1, "\(path(name))[\($0)]") }
    }

    private func path(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

    private func malformed(_ name: String?, _ reason: String) -> CategoryError {
        let place = name.map(path) ?? (place.isEmpty ? "the declarations" : place)
        return CategoryError(.malformedCategories, at: place, reason)
    }
}
