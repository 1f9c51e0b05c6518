/// A text of an alert that a sealer may shorten.
public enum AlertText: String, CaseIterable, Sendable {
    /// The body, or an alert that is a string.
    case body
    /// The second line.
    case subtitle
    /// The first line.
    case title
}
