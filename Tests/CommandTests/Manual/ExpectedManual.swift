/// The manual of the sample table, as it must be.
enum ExpectedManual {
    static let pages: [(path: [String], text: String)] = [
        ([], programPage), (["device"], groupPage), (["send"], commandPage), (["join"], operandsPage),
    ]

    static let chapters = [programChapter, groupChapter, commandChapter]

    private static let programPage = #"""
        .Dd May 1, 2024
        .Dt SAMPLE 1
        .Os
        .Sh NAME
        .Nm sample
        .Nd a table for tests
        .Sh SYNOPSIS
        .Nm sample
        .Op Ar options
        .Ar COMMAND
        .Sh DESCRIPTION
        A table for tests.
        .Sh KEYS
        .Bl -tag -width Ds
        .It Xr sample-device 1
        work with devices
        .El
        .Sh MESSAGES
        .Bl -tag -width Ds
        .It Xr sample-send 1
        send a message
        .It Xr sample-join 1
        join files into one
        .It Xr sample-greet 1
        say hello
        .El
        .Sh MORE
        .Bl -tag -width Ds
        .It Xr sample-help 1
        show how a command is used
        .El
        .Sh OPTIONS
        .Bl -tag -width Ds
        .It Fl \-store Ar \&DIR
        the key store; default PUSHCRYPT_STORE, or the user\(aqs data directory
        .It Fl \-json
        write JSON, for programs
        .It Fl q , Fl \-quiet
        write only errors and warnings to standard error
        .It Fl h , Fl \-help
        show this help
        .It Fl \-version
        show the versions of this program and its libraries
        .El
        .Sh ENVIRONMENT
        .Bl -tag -width Ds
        .It Ev SAMPLE
        what is read
        .El
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa \(ti/.sample
        what is kept
        .El
        .Sh EXIT STATUS
        .Bl -tag -width Ds
        .It 0
        done
        .It 1
        failed, and may succeed later: a full disk, a busy store, a file that cannot
        be read
        .It 64
        the command line or the set-up must change first
        .It 65
        the input is refused, and will be again; for open: the fallback is shown
        .It 130
        interrupted on a terminal, with control-c
        .El
        .Sh EXAMPLES
        Says hello:
        .Bd -literal -offset indent
        sample greet
        .Ed

        """#

    private static let groupPage = #"""
        .Dd May 1, 2024
        .Dt SAMPLE-DEVICE 1
        .Os
        .Sh NAME
        .Nm sample-device
        .Nd work with devices
        .Sh SYNOPSIS
        .Nm sample
        .Cm device
        .Ar COMMAND
        .Sh DESCRIPTION
        Devices receive messages.
        .Sh COMMANDS
        .Bl -tag -width Ds
        .It Xr sample-device-add 1
        add a device
        .It Xr sample-device-list 1
        list the devices
        .El
        .Sh OPTIONS
        .Bl -tag -width Ds
        .It Fl h , Fl \-help
        show this help
        .El
        .Sh EXAMPLES
        .Bd -literal -offset indent
        sample device add phone1
        .Ed
        .Sh SEE ALSO
        .Xr sample 1

        """#

    private static let commandPage = #"""
        .Dd May 1, 2024
        .Dt SAMPLE-SEND 1
        .Os
        .Sh NAME
        .Nm sample-send
        .Nd send a message
        .Sh SYNOPSIS
        .Nm sample
        .Cm send
        .Fl \-to Ar \&ID
        .Op Ar options
        .Op Ar FILE
        .Sh DESCRIPTION
        Sends the message that FILE holds to every device that \-\-to names, and waits
        for none of them to answer.
        .Pp
        A second paragraph.
        .Pp
        Few people read this.
        .Sh OPERANDS
        .Bl -tag -width Ds
        .It Ar FILE
        the message
        .El
        .Sh OPTIONS
        .Bl -tag -width Ds
        .It Fl t , Fl \-to Ar \&ID
        the device to send to; repeatable
        .It Fl \-ttl Ar DURATION
        how long it lives
        .It Fl \-priority Ar LEVEL
        how urgent it is (low, normal, high)
        .It Fl \-key Ar SOURCE
        where the key is read from
        .It Fl \-trace
        say how it went
        .It Fl \-store Ar \&DIR
        the key store; default PUSHCRYPT_STORE, or the user\(aqs data directory
        .It Fl \-json
        write JSON, for programs
        .It Fl o , Fl \-output Ar FILE
        write to a file that appears only after success
        .It Fl \-force
        replace the output file if it exists
        .It Fl q , Fl \-quiet
        write only errors and warnings to standard error
        .It Fl h , Fl \-help
        show this help
        .El
        .Sh EXAMPLES
        .Bd -literal -offset indent
        sample send \-\-to phone1 message.json
        .Ed
        .Pp
        From a pipe:
        .Bd -literal -offset indent
        sample send \-t a \-t b \-
        .Ed
        .Sh SEE ALSO
        .Xr sample 1

        """#

    private static let operandsPage = #"""
        .Dd May 1, 2024
        .Dt SAMPLE-JOIN 1
        .Os
        .Sh NAME
        .Nm sample-join
        .Nd join files into one
        .Sh SYNOPSIS
        .Nm sample
        .Cm join
        .Op Ar options
        .Ar TARGET
        .Ar FILE ...
        .Sh DESCRIPTION
        Join files into one.
        .Sh OPERANDS
        .Bl -tag -width Ds
        .It Ar TARGET
        the file to make
        .It Ar FILE
        what goes into it
        .El
        .Sh OPTIONS
        .Bl -tag -width Ds
        .It Fl \-json
        write JSON, for programs
        .It Fl q , Fl \-quiet
        write only errors and warnings to standard error
        .It Fl h , Fl \-help
        show this help
        .El
        .Sh EXAMPLES
        .Bd -literal -offset indent
        sample join all.txt a.txt b.txt
        .Ed
        .Sh SEE ALSO
        .Xr sample 1

        """#

    private static let programChapter = """
        **Keys:** [`device`](#sample-device)

        **Messages:** [`send`](#sample-send), [`join`](#sample-join), [`greet`](#sample-greet)

        **More:** [`help`](#sample-help)

        **Shared options**

        The chapter of a command only names these. '--store', '--json', '--quiet' may precede the command.

        - `--store DIR`: the key store; default PUSHCRYPT_STORE, or the user's data directory
        - `--json`: write JSON, for programs
        - `-q, --quiet`: write only errors and warnings to standard error
        - `-h, --help`: show this help
        - `--version`: show the versions of this program and its libraries

        **Exit codes**

        """

    private static let groupChapter = """

        ## sample device

        Work with devices.

            sample device COMMAND

        Devices receive messages.

        Examples:

            sample device add phone1

        ### sample device add

        Add a device.

        """

    private static let commandChapter = """

        ## sample send

        Send a message.

            sample send --to ID [options] [FILE]

        Sends the message that FILE holds to every device that --to names, and waits for none of them to answer.

        A second paragraph.

        Few people read this.

        - `FILE`: the message
        - `-t, --to ID`: the device to send to; repeatable
        - `--ttl DURATION`: how long it lives
        - `--priority LEVEL`: how urgent it is (low, normal, high)
        - `--key SOURCE`: where the key is read from
        - `--trace`: say how it went
        - `-o, --output FILE`: write to a file that appears only after success
        - `--force`: replace the output file if it exists

        Shared: `--store`, `--json`.

        Examples:

            sample send --to phone1 message.json
            # from a pipe
            sample send -t a -t b -

        """
}
