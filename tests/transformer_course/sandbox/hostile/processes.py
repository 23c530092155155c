"""Submissions that start processes and threads, or reach for those of others; and those that never end."""

from tests.transformer_course.sandbox.hostile.submission import Answer, in_vain, right_after, wrong
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
    right_after("forks faster than it could be killed one by one", RUNNER),
    wrong("forks without end", "while True: os.fork()", seconds=0.5),
    wrong("uses up its processes", FILL.replace("\n  ", "\n"), "64 processes"),
    in_vain("limits the processes around it", "import resource\nresource.prlimit(os.getppid(), 0, (1, 1)); exit()"),
    right_after("uses up its processes, and does not mind", f"try:\n  {FILL}\nexcept OSError: pass"),
    right_after("leaves a daemon", DAEMON),
    right_after("forks, and both go on with the job", "os.fork()"),
    in_vain("forks whenever it is called, and both go on", "os.fork()"),
    in_vain("locks a file of Python's, as a sign to others",
            "import fcntl\nfcntl.flock(open(os.__file__), fcntl.LOCK_SH); exit()"),
    right_after("leaves a child", "if os.fork() == 0: time.sleep(1000)"),
    right_after("leaves a program", "subprocess.Popen(['sleep', '1000', 'MARK'])"),
    right_after("leaves a thread that computes", "threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()"),
    right_after("is deaf to signals", "for n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)"),
    right_after("wants to go on after its end", "import atexit; atexit.register(time.sleep, 1000)"),
    right_after("exits between its definitions", "sys.exit(0)"),
    Answer("ends itself as a statement of its cell", "import os\nos._exit(0)\ndef softmax(s): return s.softmax(-1)"),
    wrong("ends itself when it is called", "os._exit(0)", "ended the process"),
    wrong("becomes another program", "os.execv('/bin/sleep', ['sleep', '1000'])", seconds=0.5),
    wrong("kills itself", "os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    wrong("kills its group", "os.killpg(0, signal.SIGKILL)", "SIGKILL"),
    wrong("rings its own alarm", "signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(5)", "SIGALRM"),
    in_vain("kills every process it can", "os.kill(-1, signal.SIGKILL)"),
    in_vain("kills its supervisor", "os.getppid() and os.kill(os.getppid(), signal.SIGKILL)"),
    in_vain("stops its supervisor", "os.getppid() and os.kill(os.getppid(), signal.SIGSTOP)"),
    in_vain("slows the processes around it", "os.setpriority(os.PRIO_USER, 0, 19); exit()"),
    in_vain("ties its supervisor to one core", "os.sched_setaffinity(os.getppid(), {0}); exit()"),
    in_vain("raises its own limits", "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (999, 999)); exit()"),
    in_vain("starts threads until it cannot", "try:\n  for _ in range(500): threading.Timer(99, print).start()"
            "\nexcept RuntimeError: pass"),
    *(Answer(f"never ends: {name}", source, message="no answer within", seconds=0.3) for name,
    source in ENDLESS.items()),
]  # fmt: skip
