/// Waits up to 20 seconds until a condition is true. Returns whether it is.
///
/// A test that blocked its thread instead could block the work that it waits for: there are few threads for tasks.
@discardableResult
package func eventually(_ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now.advanced(by: .seconds(20))
    while !condition() {
        if ContinuousClock.now > end { return false }
        try? await Task.sleep(nanoseconds: 2_000_000)
    }
    return true
}
