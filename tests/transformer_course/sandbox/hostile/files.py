"""Submissions that access the files of the instructor, the sandbox or other students, or try to fill the disk."""

import os

from tests.transformer_course.sandbox.hostile.submission import blocked, wrong

DEEP = "if len(os.getcwd()) < 500:\n  for _ in range(1100): os.mkdir('a'); os.chdir('a')"

ANSWERS = [
    blocked("makes a file of the grader writable for everyone", "os.chmod('VICTIM/grades.csv', 0o666)"),
    wrong("fills the disk with many files", "for i in range(400_000): open(str(i), 'w').close()", "10000 files"),
    blocked("blocks the sandbox for later students", "os.chmod(os.path.dirname(os.getcwd()), 0)"),
    wrong(
        "reads a file of the grader",
        "raise ValueError(open('VICTIM/grades.csv').read())",
        "PermissionError|FileNotFoundError",
    ),
    wrong(
        "fills the disk with large files",
        "for i in range(4000):\n  with open(str(i), 'wb') as file: file.write(bytes(15 << 20))",
        "64 MB",
    ),
    wrong("fills the disk with one file", "f = open('a', 'wb')\nwhile True: f.write(bytes(1 << 20))", "16 MB in one"),
    blocked("overwrites a file of the grader", "open('VICTIM/grades.csv', 'w').write('eve,100')"),
    blocked("appends to a file of the grader", "open('VICTIM/grades.csv', 'a').write('eve,100')"),
    blocked("deletes a file of the grader", "os.remove('VICTIM/grades.csv')"),
    blocked("empties a file of the grader", "os.truncate('VICTIM/grades.csv', 0)"),
    blocked("renames a file of the grader", "os.rename('VICTIM/grades.csv', 'VICTIM/old')"),
    blocked("moves a file of the grader into its folder", "os.rename('VICTIM/grades.csv', 'mine')"),
    blocked("changes the time of a file of the grader", "os.utime('VICTIM/grades.csv', (0, 0))"),
    blocked("adds an attribute to a file of the grader", "os.setxattr('VICTIM/grades.csv', 'user.mine', b'1')"),
    blocked("changes the owner of a file of the grader", "os.chown('VICTIM/grades.csv', 0, 0)"),
    blocked("creates a folder next to the grader's files", "os.mkdir('VICTIM/new')"),
    blocked("creates a link next to the grader's files", "os.symlink('/etc/passwd', 'VICTIM/link')"),
    blocked("links a file of the grader into its folder", "os.link('VICTIM/grades.csv', 'mine')"),
    blocked(
        "writes through its own link",
        "os.path.lexists('l') or os.symlink('VICTIM/grades.csv', 'l')\nopen('l', 'w').write('eve,100')",
    ),
    blocked("lists a folder of the grader", "raise SystemExit(os.listdir('VICTIM'))"),
    blocked("deletes the sandbox's folder", "import shutil\nshutil.rmtree(os.path.dirname(os.getcwd()))"),
    blocked("rewrites the sandbox's own code", "open(sys.modules['transformer_course'].__file__, 'w')"),
    blocked("writes into /dev/shm", "open('/dev/shm/eve', 'w')"),
    blocked("writes into /tmp", "open('/tmp/eve', 'w')"),
    blocked("reads the environment of its parent process", "open(f'/proc/{os.getppid()}/environ').read(); exit()"),
    blocked("reads the memory of the supervisor", "open(f'/proc/{os.getppid()}/mem', 'rb'); exit()"),
    blocked("creates a device", "os.mknod('kmem', 0o20600, os.makedev(1, 2)); exit()"),
    blocked("leaves deeply nested folders", DEEP),
    blocked("leaves a folder without permissions", "os.mkdir('closed', 0)"),
    blocked("creates a file of one terabyte", "os.truncate(open('big', 'wb').name, 1 << 40)"),
    blocked("uses its own folder", "open('a', 'w').write('x')\nassert open('a').read() == 'x'"),
]

REQUIRE_PRIVATE_ROOT = [
    blocked("reads the size of a file of the grader", "raise SystemExit(os.stat('VICTIM/grades.csv'))"),
    blocked("reads a link of the grader", "raise SystemExit(os.readlink('VICTIM/notes'))"),
    blocked("reads the metadata of /etc/passwd", "raise SystemExit(os.stat('/etc/passwd'))"),
    blocked("reads the metadata of another process", "raise SystemExit(os.stat('/proc/1'))"),
    blocked("reads the free space of the disk", "raise SystemExit(os.statvfs('/proc'))"),
    blocked("leaves its root directory", "os.chdir('/..'); raise SystemExit(os.stat('etc/passwd'))"),
    blocked("changes its root directory again", "os.mkdir('x'); os.chroot('x'); raise SystemExit('went through')"),
]
"""Answers that only a private root can block. Without namespaces, only Landlock applies, but it allows these calls."""
if "NO_NAMESPACES" not in os.environ:
    ANSWERS += REQUIRE_PRIVATE_ROOT
