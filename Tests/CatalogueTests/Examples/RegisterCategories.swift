import PushcryptReceiver
import PushcryptService

/// Before `application(_:didFinishLaunchingWithOptions:)` returns, at each launch.
func registerCategories() throws {
    let reply = ActionDeclaration(
        "REPLY", title: "Reply", options: [.authenticationRequired],
        textInput: .init(buttonTitle: "Send", placeholder: "Message"))
    let mute = ActionDeclaration("MUTE", title: .localized(key: "MUTE", arguments: []), options: [.destructive])
    let categories = try CategorySet([
        CategoryDeclaration(
            "MESSAGE", actions: [reply, mute], hiddenPreviewsBodyPlaceholder: "%u new messages",
            options: [.customDismissAction])
    ])
    categories.register()
}
