// Why a fallback is shown although neither the push nor the keys are at fault.
extension Delivery.Reason {
    /// Nobody says which app the push is for.
    package static let noTopic = Delivery.Reason(
        code: "no-topic", description: "neither the call nor the device key says which app the push is for")

    /// The receiver's own time is up.
    package static let deadline = Delivery.Reason(
        code: "deadline", description: "the push was not opened within the receiver's own deadline")

    /// The system says that its time is up.
    package static let systemExpired = Delivery.Reason(
        code: "system-expired", description: "the system ended the extension's time before the push was opened")

    /// Nobody waits for the push any more.
    package static let abandoned = Delivery.Reason(
        code: "abandoned", description: "the session was released before the push was opened")

    /// Every one of them.
    package static let all = [noTopic, deadline, systemExpired, abandoned]
}
