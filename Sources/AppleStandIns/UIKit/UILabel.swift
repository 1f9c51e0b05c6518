public import Foundation

/// How lines are set.
public enum NSTextAlignment: Int, Sendable {
    /// To the left.
    case left
    /// To the middle.
    case center
    /// To the right.
    case right
    /// To both sides.
    case justified
    /// As the language does.
    case natural
}

/// A font, by size alone.
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

    /// Gives the system's font.
    open class func systemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont(pointSize: fontSize, isBold: false) }

    /// Gives the system's bold font.
    open class func boldSystemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont(pointSize: fontSize, isBold: true) }
}

/// Text on the screen.
@MainActor
open class UILabel: UIView {
    /// The text.
    open var text: String?
    /// Its colour.
    open var textColor: UIColor! = .label
    /// Its font.
    open var font: UIFont! = .systemFont(ofSize: 17)
    /// How its lines are set.
    open var textAlignment = NSTextAlignment.natural
    /// How many lines at most; zero for as many as it takes.
    open var numberOfLines = 1
}
