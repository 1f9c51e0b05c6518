public import Foundation

/// What connects an extension with the system; Foundation's on Apple platforms.
open class NSExtensionContext: NSObject {
    package override init() { super.init() }
}

/// What fills and manages a view.
@MainActor
open class UIViewController: UIResponder {
    /// The text that stands for it.
    open var title: String?
    /// The size that it would like to have.
    open var preferredContentSize = CGSize.zero
    /// The system's side of an extension; nil in an app. Set by whoever plays the system.
    open package(set) var extensionContext: NSExtensionContext?
    private var loadedView: UIView?

    /// Makes a controller; there are no nib files here.
    public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) { super.init() }

    /// Makes a controller.
    public convenience override init() { self.init(nibName: nil, bundle: nil) }

    /// Makes a controller: nothing is read from an archive.
    public required init?(coder: NSCoder) { super.init() }

    /// Its view; the first use loads it.
    open var view: UIView! {
        get {
            loadViewIfNeeded()
            return loadedView
        }
        set { loadedView = newValue }
    }

    /// Its view, if that is loaded.
    open var viewIfLoaded: UIView? { loadedView }

    /// Whether its view is loaded.
    open var isViewLoaded: Bool { loadedView != nil }

    /// Makes its view: an empty one.
    open func loadView() { view = UIView(frame: CGRect(x: 0, y: 0, width: 320, height: 480)) }

    /// Loads its view, unless it is loaded, and then calls `viewDidLoad`.
    open func loadViewIfNeeded() {
        guard loadedView == nil else { return }
        loadView()
        viewDidLoad()
    }

    /// Hears that the view is loaded.
    open func viewDidLoad() {}
    /// Hears that the view will be shown.
    open func viewWillAppear(_ animated: Bool) {}
    /// Hears that the view is shown.
    open func viewDidAppear(_ animated: Bool) {}
    /// Hears that the view will go.
    open func viewWillDisappear(_ animated: Bool) {}
    /// Hears that the view is gone.
    open func viewDidDisappear(_ animated: Bool) {}
}
