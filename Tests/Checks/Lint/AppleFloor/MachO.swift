// Stands in for the module MachO while the floor check typechecks on Linux.

/// The path of the running program.
public func _NSGetExecutablePath(_ room: UnsafeMutablePointer<CChar>?, _ size: UnsafeMutablePointer<UInt32>) -> Int32 {
    -1
}
