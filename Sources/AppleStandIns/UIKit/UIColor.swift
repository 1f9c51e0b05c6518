public import Foundation

/// A colour with opacity, each part from 0 to 1.
open class UIColor: NSObject, @unchecked Sendable {
    private let parts: [CGFloat]

    /// Creates a colour from red, green, blue and opacity.
    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
        parts = [red, green, blue, alpha]
        super.init()
    }

    /// Creates a grey from brightness and opacity.
    public convenience init(white: CGFloat, alpha: CGFloat) {
        self.init(red: white, green: white, blue: white, alpha: alpha)
    }

    /// Blue.
    open class var blue: UIColor { UIColor(red: 0, green: 0, blue: 1, alpha: 1) }

    /// Compares the four parts.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UIColor)?.parts == parts }

    /// Hashes the four parts.
    open override var hash: Int { parts.hashValue }
}
