internal import Pushcrypt

/// Reads one object of a declaration, and names the place of whatever is not as it must be.
struct DeclarationReader {
    private let value: JSONValue
    private let place: String

    /// Takes an object with no other members than these.
    init(_ value: JSONValue, at place: String, knowing names: [String]) throws(CategoryError) {
        self.value = value
        self.place = place
        guard value.kind == .object else { throw malformed(nil, "must be an object") }
        for member in value.members where !names.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) {
            throw malformed(nil, "has a member that is not known; it may have \(names.joined(separator: ", "))")
        }
    }

    subscript(_ name: String) -> JSONValue? { value[name] }

    func required<R>(_ name: String, _ value: R?) throws(CategoryError) -> R {
        guard let value else { throw malformed(name, "is missing") }
        return value
    }

    func string(_ name: String) throws(CategoryError) -> String? {
        guard let value = value[name] else { return nil }
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
        guard let value = value[name] else { return nil }
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
        guard let value = value[name] else { return nil }
        return try read(value, path(name))
    }

    func elements(_ name: String, isRequired: Bool = false) throws(CategoryError) -> [(JSONValue, String)] {
        guard let value = value[name] else {
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
