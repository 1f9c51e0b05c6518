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

    /// Black.
    open class var black: UIColor { UIColor(white: 0, alpha: 1) }
    /// Grey.
    open class var gray: UIColor { UIColor(white: 0.5, alpha: 1) }
    /// White.
    open class var white: UIColor { UIColor(white: 1, alpha: 1) }
    /// Transparent.
    open class var clear: UIColor { UIColor(white: 0, alpha: 0) }
    /// Red.
    open class var red: UIColor { UIColor(red: 1, green: 0, blue: 0, alpha: 1) }
    /// Green.
    open class var green: UIColor { UIColor(red: 0, green: 1, blue: 0, alpha: 1) }
    /// Blue.
    open class var blue: UIColor { UIColor(red: 0, green: 0, blue: 1, alpha: 1) }
    /// The colour of text; black here.
    open class var label: UIColor { .black }
    /// The colour of secondary text; grey here.
    open class var secondaryLabel: UIColor { .gray }
    /// The colour of the background; white here.
    open class var systemBackground: UIColor { .white }

    /// Compares the four parts.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UIColor)?.parts == parts }

    /// Hashes the four parts.
    open override var hash: Int { parts.hashValue }
}
