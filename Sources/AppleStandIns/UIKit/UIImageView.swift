public import Foundation

/// An image's bytes; they are not decoded.
open class UIImage: NSObject, @unchecked Sendable {
    /// The bytes; empty for one that is known by name.
    package let data: Data
    /// The name, of one that is known by name.
    package let name: String?

    init(data: Data, name: String?) {
        self.data = data
        self.name = name
        super.init()
    }

    /// Takes bytes; nil if there are none. Whether they are an image is not checked.
    public convenience init?(data: Data) {
        guard !data.isEmpty else { return nil }
        self.init(data: data, name: nil)
    }

    /// Reads a file; nil if it cannot be read or is empty. Whether it is an image is not checked.
    public convenience init?(contentsOfFile path: String) {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        self.init(data: data)
    }

    /// Takes an image of the app by name. Whether there is one is not checked.
    public convenience init?(named name: String) { self.init(data: Data(), name: name) }
}

/// An image on the screen.
@MainActor
open class UIImageView: UIView {
    /// The image.
    open var image: UIImage?

    /// Takes an image.
    public init(image: UIImage?) {
        self.image = image
        super.init(frame: .zero)
    }

    /// Makes a view.
    public override init(frame: CGRect) { super.init(frame: frame) }

    /// Makes a view without image: nothing is read from an archive.
    public required init?(coder: NSCoder) { super.init(coder: coder) }
}
