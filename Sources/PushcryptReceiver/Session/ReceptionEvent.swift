extension DeliveryMachine.Event {
    /// What became of receiving a push, as a session is told of it.
    ///
    /// - Parameters:
    ///   - delivery: what a `NotificationReceiver` has made of the push.
    ///   - content: the delivery's content, in the form in which it is shown; not asked for when the push did not open.
    ///   - opened: what there is to do with it, if it has opened, before it is shown.
    package init(
        _ delivery: Delivery, content: @autoclosure () -> Content,
        _ opened: DeliveryMachine<Content>.Opened = DeliveryMachine<Content>.Opened()
    ) {
        self =
            switch delivery.outcome {
            case .opened: .opened(content(), opened)
            case .passed: .decided(content(), .passed)
            case .suppressed: .decided(content(), .suppressed)
            case .fallback(let reason): .failed(reason)
            }
    }
}
