"""Submissions that access the files of the instructor, the sandbox or other students, or try to fill the disk."""

import os

from tests.transformer_course.sandbox.hostile.submission import in_vain, wrong

DEEP = "if len(os.getcwd()) < 500:\n  for _ in range(1100): os.mkdir('a'); os.chdir('a')"

ANSWERS = [
    in_vain("makes a file of the grader writable for everyone", "os.chmod('VICTIM/grades.csv', 0o666)"),
    wrong("fills the disk with many files", "for i in range(400_000): open(str(i), 'w').close()", "10000 files"),
    in_vain("blocks the sandbox for later students", "os.chmod(os.path.dirname(os.getcwd()), 0)"),
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
    in_vain("overwrites a file of the grader", "open('VICTIM/grades.csv', 'w').write('eve,100')"),
    in_vain("appends to a file of the grader", "open('VICTIM/grades.csv', 'a').write('eve,100')"),
    in_vain("deletes a file of the grader", "os.remove('VICTIM/grades.csv')"),
    in_vain("empties a file of the grader", "os.truncate('VICTIM/grades.csv', 0)"),
    in_vain("renames a file of the grader", "os.rename('VICTIM/grades.csv', 'VICTIM/old')"),
    in_vain("moves a file of the grader into its folder", "os.rename('VICTIM/grades.csv', 'mine')"),
    in_vain("changes the time of a file of the grader", "os.utime('VICTIM/grades.csv', (0, 0))"),
    in_vain("adds an attribute to a file of the grader", "os.setxattr('VICTIM/grades.csv', 'user.mine', b'1')"),
    in_vain("changes the owner of a file of the grader", "os.chown('VICTIM/grades.csv', 0, 0)"),
    in_vain("creates a folder next to the grader's files", "os.mkdir('VICTIM/new')"),
    in_vain("creates a link next to the grader's files", "os.symlink('/etc/passwd', 'VICTIM/link')"),
    in_vain("links a file of the grader into its folder", "os.link('VICTIM/grades.csv', 'mine')"),
    in_vain(
        "writes through its own link",
        "os.path.lexists('l') or os.symlink('VICTIM/grades.csv', 'l')\nopen('l', 'w').write('eve,100')",
    ),
    in_vain("lists a folder of the grader", "raise SystemExit(os.listdir('VICTIM'))"),
    in_vain("deletes the sandbox's folder", "import shutil\nshutil.rmtree(os.path.dirname(os.getcwd()))"),
    in_vain("rewrites the sandbox's own code", "open(sys.modules['transformer_course'].__file__, 'w')"),
    in_vain("writes into /dev/shm", "open('/dev/shm/eve', 'w')"),
    in_vain("writes into /tmp", "open('/tmp/eve', 'w')"),
    in_vain("reads the environment of its parent process", "open(f'/proc/{os.getppid()}/environ').read(); exit()"),
    in_vain("reads the memory of the supervisor", "open(f'/proc/{os.getppid()}/mem', 'rb'); exit()"),
    in_vain("creates a device", "os.mknod('kmem', 0o20600, os.makedev(1, 2)); exit()"),
    in_vain("leaves deeply nested folders", DEEP),
    in_vain("leaves a folder without permissions", "os.mkdir('closed', 0)"),
    in_vain("creates a file of one terabyte", "os.truncate(open('big', 'wb').name, 1 << 40)"),
    in_vain("uses its own folder", "open('a', 'w').write('x')\nassert open('a').read() == 'x'"),
]

NEED_OWN_ROOT = [
    in_vain("reads the size of a file of the grader", "raise SystemExit(os.stat('VICTIM/grades.csv'))"),
    in_vain("reads a link of the grader", "raise SystemExit(os.readlink('VICTIM/notes'))"),
    in_vain("reads the metadata of /etc/passwd", "raise SystemExit(os.stat('/etc/passwd'))"),
    in_vain("reads the metadata of another process", "raise SystemExit(os.stat('/proc/1'))"),
    in_vain("reads the free space of the disk", "raise SystemExit(os.statvfs('/proc'))"),
    in_vain("leaves its root directory", "os.chdir('/..'); raise SystemExit(os.stat('etc/passwd'))"),
    in_vain("changes its root directory again", "os.mkdir('x'); os.chroot('x'); raise SystemExit('went through')"),
]
"""Answers that only a private root can block. Without namespaces, only Landlock applies, but it allows these calls."""
if "NO_NAMESPACES" not in os.environ:
    ANSWERS += NEED_OWN_ROOT
