/// A moment on both clocks, in milliseconds.
struct Moment: Equatable {
    /// A clock that never steps.
    var uptime: UInt64
    /// The time since 1970-01-01 UTC.
    var wall: UInt64
}
