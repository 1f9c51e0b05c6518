package import PushcryptCommandKit

extension CommandTable {
    /// The version of this program; appears nowhere else.
    package static let programVersion = "1.0.0-beta.1"
}
