public import Foundation

/// The alignment of lines.
public enum NSTextAlignment: Int, Sendable {
    /// Left.
    case left
    /// Centred.
    case center
    /// Right.
    case right
    /// Justified.
    case justified
    /// The language's default.
    case natural
}

/// A font, described by its size only.
open class UIFont: NSObject, @unchecked Sendable {
    /// The size in points.
    public let pointSize: CGFloat
    /// Whether it is bold.
    package let isBold: Bool

    init(pointSize: CGFloat, isBold: Bool) {
        self.pointSize = pointSize
        self.isBold = isBold
        super.init()
    }

    /// Returns the system font.
    open class func systemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont(pointSize: fontSize, isBold: false) }

    /// Returns the bold system font.
    open class func boldSystemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont(pointSize: fontSize, isBold: true) }
}

/// A view that shows text.
@MainActor
open class UILabel: UIView {
    /// The body.
    open var text: String?
    /// The colour of the text.
    open var textColor: UIColor! = .label
    /// The font.
    open var font: UIFont! = .systemFont(ofSize: 17)
    /// The alignment of lines.
    open var textAlignment = NSTextAlignment.natural
    /// The most lines; zero for no limit.
    open var numberOfLines = 1
}
