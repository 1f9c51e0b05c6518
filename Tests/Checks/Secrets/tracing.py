"""Runs a program and stops it at each system call."""

import ctypes, errno, os, signal

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long

TRACEME, SYSCALL, SETOPTIONS = 0, 24, 0x4200
SYSCALLS_APART, TRACE_CLONE, KILL_WITH_TRACER = 0x01, 0x08, 0x100000
EVERY_CHILD = 0x40000000
SYSCALL_STOP = signal.SIGTRAP | 0x80


def call(request: int, process: int, data: int = 0) -> None:
    if libc.ptrace(request, process, None, data) == -1 and ctypes.get_errno() != errno.ESRCH:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def run(arguments: list[str], environment: dict[str, str], directory: str, streams: tuple[int, int, int], visit) -> int:
    """Calls `visit(process)` before each system call of each thread. Returns the exit code, or minus the signal."""
    process = os.fork()
    if process == 0:
        try:
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            os.chdir(directory)
            call(TRACEME, 0)
            os.execve(arguments[0], arguments, environment)
        finally:
            os._exit(127)
    os.waitpid(process, 0)
    call(SETOPTIONS, process, SYSCALLS_APART | TRACE_CLONE | KILL_WITH_TRACER)
    call(SYSCALL, process)
    inside: set[int] = set()
    while True:
        thread, status = os.waitpid(-1, EVERY_CHILD)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            if thread == process:
                return os.waitstatus_to_exitcode(status)
            continue
        passed_on = 0
        if os.WSTOPSIG(status) == SYSCALL_STOP:
            # A call stops twice: at its start and at its end.
            inside ^= {thread}
            if thread in inside:
                visit(thread)
        elif status >> 16 == 0 and os.WSTOPSIG(status) not in (signal.SIGTRAP, signal.SIGSTOP):
            passed_on = os.WSTOPSIG(status)
        call(SYSCALL, thread, passed_on)
