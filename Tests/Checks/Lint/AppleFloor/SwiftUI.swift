// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Stands in for SwiftUI while the floor check typechecks on Linux: the declarations that a scaffold uses.
public import UIKit

@MainActor @preconcurrency public protocol View {}
@MainActor @preconcurrency public protocol Scene {}
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}
extension App { public static func main() {} }

@resultBuilder public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
@resultBuilder public struct ViewBuilder {
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
}
public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
}
public struct Button: View {
    public init(_ title: String, action: @escaping @MainActor () -> Void) {}
}
@MainActor @preconcurrency @propertyWrapper public struct UIApplicationDelegateAdaptor<Delegate: UIApplicationDelegate>
{
    public init(_ type: Delegate.Type) {}
    public var wrappedValue: Delegate { fatalError() }
}
