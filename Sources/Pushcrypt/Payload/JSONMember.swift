/// A member of an object, to be written again.
package struct JSONMember: Sendable {
    /// The name, unescaped.
    package let name: String
    /// What stands under the name.
    package let value: JSONValue

    fileprivate let nameRange: Range<Int>

    /// Appends the name and the value without the white space between tokens; names, strings and numbers keep their bytes.
    fileprivate func append(to output: inout ContiguousArray<UInt8>) {
        output.append(contentsOf: value.document.bytes[nameRange])
        output.append(UInt8(ascii: ":"))
        value.appendMinified(to: &output)
    }
}

extension JSONValue {
    /// The members of an object in the order of the text, to be written again.
    package var writtenMembers: [JSONMember] {
        members.map { name, value in
            JSONMember(name: name, value: value, nameRange: document.nodes[value.index - 1].range)
        }
    }

    /// The bytes that the value was written with.
    package var written: ContiguousArray<UInt8> { ContiguousArray(document.bytes[range]) }
}

extension JSONWriter {
    /// Writes a member of another object, minified: its name, its numbers and strings keep their bytes.
    package mutating func member(_ member: JSONMember) {
        separate()
        member.append(to: &bytes)
    }
}
