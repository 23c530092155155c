"""Submissions that start processes and threads, attack other processes, or never end."""

from tests.transformer_course.sandbox.hostile.submission import Answer, blocked, right_after, wrong
from tests.transformer_course.sandbox.test_attacks import ENDLESS

RUNNER = "if os.fork() == 0:\n  while True:\n    if os.fork(): os._exit(0)"
DAEMON = """
if os.fork() == 0:
    try: os.setsid()
    except OSError: pass
    if os.fork() == 0: os.execve('/bin/sleep', ['sleep', '1000', 'MARK'], {})
    os._exit(0)
"""
FILL = "for _ in range(500):\n    if os.fork() == 0: time.sleep(1000)"

ANSWERS = [
    right_after("leaves 40 idle threads", "for _ in range(40): threading.Thread(target=time.sleep, args=[99]).start()"),
    right_after("forks faster than single processes can be killed", RUNNER),
    wrong("forks endlessly", "while True: os.fork()", seconds=0.5),
    wrong("uses up its processes", FILL.replace("\n  ", "\n"), "64 processes"),
    blocked("sets limits for its parent process", "import resource\nresource.prlimit(os.getppid(), 0, (1, 1)); exit()"),
    right_after("uses up its processes and ignores the error", f"try:\n  {FILL}\nexcept OSError: pass"),
    right_after("leaves a daemon", DAEMON),
    right_after("forks, and both processes continue the job", "os.fork()"),
    blocked("forks in every call, and both processes continue", "os.fork()"),
    blocked("locks one of Python's files to signal other processes",
            "import fcntl\nfcntl.flock(open(os.__file__), fcntl.LOCK_SH); exit()"),
    right_after("leaves a child", "if os.fork() == 0: time.sleep(1000)"),
    right_after("leaves a program", "subprocess.Popen(['sleep', '1000', 'MARK'])"),
    right_after("leaves a thread that computes", "threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()"),
    right_after("ignores signals", "for n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)"),
    right_after("sleeps at exit", "import atexit; atexit.register(time.sleep, 1000)"),
    right_after("exits between its definitions", "sys.exit(0)"),
    Answer("ends the process while its cell runs", "import os\nos._exit(0)\ndef softmax(s): return s.softmax(-1)"),
    wrong("ends the process when it is called", "os._exit(0)", "ended the process"),
    wrong("replaces itself with another program", "os.execv('/bin/sleep', ['sleep', '1000'])", seconds=0.5),
    wrong("kills itself", "os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    wrong("kills its process group", "os.killpg(0, signal.SIGKILL)", "SIGKILL"),
    wrong("sets its own alarm", "signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(5)", "SIGALRM"),
    blocked("kills every process it can", "os.kill(-1, signal.SIGKILL)"),
    blocked("kills its supervisor", "os.getppid() and os.kill(os.getppid(), signal.SIGKILL)"),
    blocked("stops its supervisor", "os.getppid() and os.kill(os.getppid(), signal.SIGSTOP)"),
    blocked("lowers the priority of the user's processes", "os.setpriority(os.PRIO_USER, 0, 19); exit()"),
    blocked("restricts its supervisor to one core", "os.sched_setaffinity(os.getppid(), {0}); exit()"),
    blocked("raises its own limits", "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (999, 999)); exit()"),
    blocked("starts threads until it cannot", "try:\n  for _ in range(500): threading.Timer(99, print).start()"
            "\nexcept RuntimeError: pass"),
    *(Answer(f"never ends: {name}", source, message="no answer within", seconds=0.3) for name,
    source in ENDLESS.items()),
]  # fmt: skip
