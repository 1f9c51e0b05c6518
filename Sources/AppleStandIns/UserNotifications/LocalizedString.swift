public import Foundation

extension NSString {
    /// Returns the app's text for a key, with the arguments inserted.
    ///
    /// The text is looked up immediately, in the strings of the current notification center, and is an ordinary string;
    /// on Apple platforms the system looks it up when it shows the notification. A key without a text is its own text.
    /// `%@` is the next argument, `%2$@` the second, `%%` a percent sign. A placeholder without an argument stays as it
    /// is.
    public class func localizedUserNotificationString(forKey key: String, arguments: [Any]?) -> String {
        let format = UNUserNotificationCenter.current().strings[key] ?? key
        return format.fillingPlaceholders(with: (arguments ?? []).map(text))
    }

    // As Objective-C prints it: an optional stored as `Any` is its content.
    private static func text(_ argument: Any) -> String {
        (argument as? String) ?? (argument as? NSObject)?.description ?? String(describing: argument)
    }
}

extension String {
    // Foundation's formatter would read past the end of too few arguments, and a push may contain any number.
    fileprivate func fillingPlaceholders(with arguments: [String]) -> String {
        var result = ""
        var rest = self[...]
        var next = 0
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            rest = rest[percent...].dropFirst()
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            if rest.first == "%" {
                result += "%"
                rest = rest.dropFirst()
            } else if rest.first == "@", arguments.indices.contains(next) {
                result += arguments[next]
                next += 1
                rest = rest.dropFirst()
            } else if let number = Int(digits), rest.dropFirst(digits.count).hasPrefix("$@"), number > 0,
                number <= arguments.count
            {
                result += arguments[number - 1]
                rest = rest.dropFirst(digits.count + 2)
            } else {
                result += "%"
            }
        }
        return result + rest
    }
}
