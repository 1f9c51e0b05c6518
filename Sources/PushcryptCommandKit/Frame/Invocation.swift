/// A command line that was parsed and checked.
package struct Invocation: Sendable {
    package let table: CommandTable
    package let path: [String]
    package let body: any CommandBody.Type
    package let declarations: Declarations
    /// In the order given.
    let optionValues: [(name: String, value: String)]
    let operandValues: [(name: String, values: [String])]

    /// The command with its values.
    package var command: any CommandBody { Arguments.read(body, from: self) }

    /// The values of an option in the order given; an empty text for a flag.
    func values(_ name: String) -> [String] {
        var values: [String] = []
        for option in optionValues where option.name == name { values.append(option.value) }
        return values
    }

    /// The arguments of an operand.
    func operands(_ name: String) -> [String] {
        operandValues.first { $0.name == name }?.values ?? []
    }
}
