internal import Pushcrypt
internal import PushcryptCommandKit

/// `attach open`: one pass over the sealed file, into a plain one that appears only when everything agrees.
func runAttachOpen(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let path = invocation.requiredValue("--output")
    guard path != "-" else {
        throw .usage(
            "the plain file does not go to standard output",
            hint: "whether all of it is genuine shows only at its end; name a file with --output")
    }
    let file = try console.readReference(from: invocation.requiredValue("--reference")) {
        (fields) throws(AttachmentError) in try SealedFile(fields)
    }
    let input = try InputFile(invocation.operand("SEALED"), console)
    let output = try OutputFile(path, mode: 0o600, force: invocation.flag("--force"))

    var progress = Progress("opening", total: Int(clamping: file.size), console)
    var opener = AttachmentOpener(file)
    var plain = ContiguousArray<UInt8>()
    try input.forEachPiece { (piece) throws(CommandFailure) in
        try withAttachmentErrors { () throws(AttachmentError) in try opener.open(piece, into: &plain) }
        try output.write(plain.span)
        plain.removeAll(keepingCapacity: true)
        progress.advance(by: piece.count)
    }
    do throws(AttachmentError) { try opener.finish(into: &plain) } catch { throw CommandFailure(error) }
    try output.write(plain.span)
    try output.commit()
    return .done
}
