/// Waits until something has come true, for 20 seconds at most; tells whether it has.
///
/// A test that would block its thread instead could hold up what it waits for: there are few threads for tasks.
@discardableResult
package func eventually(_ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now.advanced(by: .seconds(20))
    while !condition() {
        if ContinuousClock.now > end { return false }
        try? await Task.sleep(nanoseconds: 2_000_000)
    }
    return true
}
