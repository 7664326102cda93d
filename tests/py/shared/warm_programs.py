"""fissile's programs without their start: forked from one process that has imported everything they import.

A start costs 0.1 s of processor time, and 0.5 s more for a compile's worker: about half of what compiling a small
program costs. A forked program is the same code with its own arguments, environment, folder, streams and exit status;
only the interpreter's start is left out. Tests of the start itself (packaging, late imports, a worker that PYTHONPATH
makes crash) run the installed programs.

`Server.run` is `subprocess.run` for `fissile` and `fissile-opt`, `Server.call` calls a function so. As a script this
file is the client on lit's PATH, `warm_programs.py SOCKET PROGRAM ARGUMENTS...`, or the server, `warm_programs.py SOCKET`.
"""

import array
import json
import os
import signal
import socket
import subprocess
import sys

ANSWER_LOST = '{"status": -9, "seconds": 0}'


def request(path, program, streams, environment, folder=None) -> socket.socket:
    """Sends ``program`` to the server at ``path``; the connection answers with one line of JSON when it has ended."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(path))
    words = {"program": list(program), "folder": str(folder or os.getcwd()), "environment": dict(environment)}
    text = json.dumps(words).encode() + b"\n"
    sent = connection.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))])
    if sent < len(
        text
    ):  # a program may have ended by now: to send nothing to a closed connection is an error
        connection.sendall(text[sent:])
    return connection


def answer(connection: socket.socket) -> dict:
    """The status and the processor seconds of the program, its children's among them."""
    with connection, connection.makefile("rb") as lines:
        return json.loads(lines.readline() or ANSWER_LOST)


def client(path: str, program: list[str]) -> int:
    """What lit starts: its streams and folder are the forked program's."""
    ended = answer(request(path, program, (0, 1, 2), os.environ))
    if ended["status"] < 0:
        os.kill(os.getpid(), -ended["status"])
    return ended["status"]


class Server:
    """The forking process of this test run; ``seconds`` is the processor time of what it has run."""

    def __init__(self) -> None:
        import tempfile

        self._folder = tempfile.TemporaryDirectory(prefix="fissile-warm-")
        self.socket = os.path.join(self._folder.name, "socket")
        self.seconds = 0.0
        command = [sys.executable, "-P", __file__, self.socket]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert self._process.stdout.readline() == b"ready\n"

    def end(self) -> None:
        self._process.communicate()
        self._folder.cleanup()

    def run(
        self,
        program,
        *,
        capture_output=False,
        text=False,
        timeout=None,
        check=False,
        cwd=None,
        env=None,
        input=None,
    ):
        """`subprocess.run` for a program of `_program`."""
        import tempfile

        with (
            tempfile.TemporaryFile() as stdin,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            stdin.write(input.encode() if isinstance(input, str) else input or b"")
            stdin.seek(0)
            streams = (stdin.fileno(), *((out.fileno(), err.fileno()) if capture_output else (1, 2)))
            words = [os.fspath(word) for word in program]
            connection = request(self.socket, words, streams, os.environ if env is None else env, cwd)
            connection.settimeout(timeout)
            try:
                ended = answer(connection)
            except TimeoutError:
                connection.close()
                raise subprocess.TimeoutExpired(words, timeout) from None
            self.seconds += ended["seconds"]
            printed = []
            for stream in (out, err):
                stream.seek(0)
                printed.append(stream.read().decode() if text else stream.read())
        done = subprocess.CompletedProcess(
            words, ended["status"], *(printed if capture_output else (None, None))
        )
        if check:
            done.check_returncode()
        return done

    def call(self, function, *arguments):
        """``function(*arguments)`` in a forked process; both are pickled, and so is what comes back."""
        import pickle
        import tempfile
        from pathlib import Path

        with tempfile.TemporaryDirectory(prefix="fissile-call-") as folder:
            Path(folder, "path").write_text(json.dumps(sys.path))
            Path(folder, "call").write_bytes(pickle.dumps((function, arguments)))
            self.run(["call", folder], check=True)
            result, error = pickle.loads(Path(folder, "result").read_bytes())
        if error is not None:
            raise error
        return result


# --- the server: single-threaded, no IREE session is ever opened in it, so that a fork is whole


def serve(path: str) -> None:
    """Forks a program for each request until standard input ends; the processes it has made end with it."""
    import gc
    import selectors

    _import_everything()
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("ready", flush=True)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
    running: dict[int, int] = {}  # the connection of each process
    while True:
        for key, _events in selector.select():
            if selector.get_map().get(key.fd) is not key:
                continue  # unregistered by an event before this one
            if key.fd == sys.stdin.fileno():
                for pid in running.values():
                    _kill(pid)
                os._exit(0)
            if key.fileobj is listener:
                connection, _ = listener.accept()
                words, streams = _received(connection)
                pid = os.fork()
                if not pid:
                    selector.close()
                    _become(words, streams)
                for descriptor in streams:
                    os.close(descriptor)
                running[connection.fileno()] = pid
                selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, connection))
                selector.register(connection, selectors.EVENT_READ, pid)
            elif isinstance(key.data, int):  # the caller has gone, or given up
                selector.unregister(key.fileobj)
                _kill(key.data)
            else:
                pid, connection = key.data
                selector.unregister(key.fd)
                os.close(key.fd)
                if connection.fileno() in selector.get_map():
                    selector.unregister(connection)
                del running[connection.fileno()]
                _pid, status, usage = os.wait4(pid, 0)
                ended = {
                    "status": os.waitstatus_to_exitcode(status),
                    "seconds": usage.ru_utime + usage.ru_stime,
                }
                try:
                    connection.sendall(json.dumps(ended).encode() + b"\n")
                except OSError:
                    pass
                connection.close()


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(pid, signal.SIGKILL)  # not yet a group of its own


def _received(connection: socket.socket) -> tuple[dict, list[int]]:
    text, streams = b"", array.array("i")
    while not text.endswith(b"\n"):
        part, ancillary, _flags, _address = connection.recvmsg(
            1 << 20, socket.CMSG_SPACE(3 * streams.itemsize)
        )
        text += part
        for _level, _kind, data in ancillary:
            streams.frombytes(data)
    return json.loads(text), list(streams)


def _import_everything() -> None:
    """What the programs and the workers import, most of it in the functions that use it; not what runs as a script."""
    from fissile.passes.iree.late_imports import load_late

    load_late()
    import pkgutil
    from importlib import import_module
    from importlib.util import find_spec
    from pathlib import Path

    for package in ("fissile.cli", "fissile.passes", "fissile.pipelines"):
        found = pkgutil.walk_packages(import_module(package).__path__, f"{package}.")
        for name in [package, *(module.name for module in found)]:
            if RUNS not in Path(find_spec(name).origin).read_text() or package == "fissile.cli":
                import_module(name)


RUNS = '__name__ == "__main__"'


def _become(words: dict, streams: list[int]) -> None:
    """Ends as ``words["program"]`` ends; never returns."""
    signal.set_wakeup_fd(-1)
    os.setsid()
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    os.closerange(3, 1 << 12)
    os.chdir(words["folder"])
    same = words["environment"].get("PYTHONPATH") == os.environ.get("PYTHONPATH")
    _settle(words["environment"])
    name, *arguments = words["program"]
    if same:
        subprocess.Popen = ForkedWorker
    _end(lambda: _program(name, arguments))


def _settle(environment: dict[str, str]) -> None:
    """Takes the caller's environment, and forgets what was derived from the old one."""
    import tempfile

    environment = dict(environment)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None


def _program(name: str, arguments: list[str]) -> int:
    sys.argv = [name, *arguments]
    if name == "call":
        return _called(*arguments)
    if name == "fissile":
        from fissile.cli.main import main
        from fissile.pipelines.process import child

        child.is_small = lambda: False  # its workers are started, by `ForkedWorker`, which no worker inherits
    elif name == "fissile-opt":
        from fissile.cli.opt import main
    else:
        raise ValueError(f"no program '{name}'")
    return main()


def _end(run) -> None:
    """Runs ``run`` and ends this process as an interpreter would: its exit functions, its streams, the native exit functions."""
    import atexit
    import ctypes
    import traceback
    import weakref

    weakref.finalize._registry.clear()  # the temporary folders of the processes above
    status = 1
    try:
        status = run() or 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    ctypes.CDLL(None).exit(int(status))


class ForkedWorker(subprocess.Popen):
    """`python -P -m fissile.…` as a fork of this process, which has the module's imports; any other command as it is."""

    def _execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more):
        words = [os.fspath(word) for word in args] if isinstance(args, (list, tuple)) else []
        if (
            words[:3] != [sys.executable, "-P", "-m"]
            or not words[3].startswith("fissile.")
            or cwd
            or pass_fds
        ):
            return super()._execute_child(args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more)
        _startup_info, _flags, _shell, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, *_rest = more
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            try:
                subprocess.Popen = (
                    ForkedWorker.__base__
                )  # a worker opens IREE's sessions: it is not forked from
                os.setsid()
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, signal.SIG_DFL)
                for number, descriptor in enumerate((p2cread, c2pwrite, errwrite)):
                    if descriptor != -1:
                        os.dup2(descriptor, number)
                os.closerange(3, 1 << 12)
                _settle(os.environ if env is None else env)
                sys.argv, sys.orig_argv = words[3:], words
                _end(lambda: _as_main(words[3]))
            finally:
                os._exit(1)
        self._child_created = True
        devnull = getattr(self, "_devnull", None)
        for descriptor, other in ((p2cread, p2cwrite), (c2pwrite, c2pread), (errwrite, errread)):
            if descriptor not in (-1, devnull) and other != -1:
                os.close(descriptor)
        if devnull is not None:
            os.close(devnull)


def _as_main(module: str) -> None:
    import runpy

    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _called(folder: str) -> int:
    """Calls what is pickled in ``folder``; leaves the result, or what was raised, there."""
    import pickle
    from pathlib import Path

    sys.path += [one for one in json.loads(Path(folder, "path").read_text()) if one not in sys.path]
    function, arguments = pickle.loads(Path(folder, "call").read_bytes())
    try:
        result = (function(*arguments), None)
    except Exception as error:
        result = (None, error)
    Path(folder, "result").write_bytes(pickle.dumps(result))
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.path[:] = [p for p in sys.path if p != os.path.dirname(os.path.abspath(__file__))]
        serve(sys.argv[1])
    else:
        sys.exit(client(sys.argv[1], sys.argv[2:]))
