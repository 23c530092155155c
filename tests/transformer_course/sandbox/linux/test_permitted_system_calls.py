import platform
import re
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import linux
from transformer_course.sandbox.linux import permitted_system_calls

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
COLUMN = ["x86_64", "aarch64"].index(platform.machine()) if platform.machine() in ("x86_64", "aarch64") else 0
DANGEROUS = {  # numbers on x86-64 and arm64 from linux/unistd.h, or -1 if the architecture lacks the call
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "sendmsg": (46, 211),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, -1), "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54),
    "utime": (132, -1), "utimes": (235, -1), "futimesat": (261, -1), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "getxattr": (191, 8), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "process_madvise": (440, 440), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "setsid": (112, 157), "setpgid": (109, 154),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "fsopen": (430, 430), "fsmount": (432, 432), "move_mount": (429, 429),
    "open_tree": (428, 428), "mount_setattr": (442, 442), "swapon": (167, 224),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_setup": (206, 0),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "fanotify_init": (300, 262),
    "inotify_init1": (294, 26), "mknod": (133, -1), "mknodat": (259, 33), "quotactl": (179, 60),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "syslog": (103, 116), "acct": (163, 89),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    "modify_ldt": (154, -1), "iopl": (172, -1), "ioperm": (173, -1), "personality": (135, 92),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "execveat": (322, 281), "seccomp": (317, 277),
    "setuid": (105, 146), "setgid": (106, 144), "setresuid": (117, 147), "setgroups": (116, 159),
    "capset": (126, 91), "mbind": (237, 235), "set_mempolicy": (238, 237), "move_pages": (279, 239),
    "migrate_pages": (256, 238), "timer_create": (222, 107), "vmsplice": (278, 75), "tee": (276, 77),
    "remap_file_pages": (216, 234), "lookup_dcookie": (212, 18), "landlock_restrict_self": (446, 446),
}  # fmt: skip


@linux
@pytest.mark.parametrize("machine", HEADERS)
def test_system_call_numbers_match_kernel_headers(machine: str):
    if not HEADERS[machine].exists():
        pytest.skip("the kernel's headers are not installed")
    text = HEADERS[machine].read_text()
    numbers = {m[1]: int(m[2]) for m in re.finditer(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", text)}
    numbers |= {m[1]: numbers[m[2]] for m in re.finditer(r"#define __NR_(\w+) __NR3264_(\w+)", text) if m[2] in numbers}
    column = list(HEADERS).index(machine)
    listed = {
        name: row[column]
        for name, row in {**permitted_system_calls.ALLOWED, **permitted_system_calls.ALLOWED_WITH}.items()
    }
    listed |= {"clone": permitted_system_calls.CLONE[column], "clone3": permitted_system_calls.CLONE3}
    listed |= {name: pair[column] if pair[column] >= 0 else None for name, pair in DANGEROUS.items()}
    too_new = {name for name, number in listed.items() if number and number > max(numbers.values())}
    wrong = {name: n for name, n in listed.items() if numbers.get(name) != n and name not in too_new}
    assert not wrong
    assert not permitted_system_calls.ALLOWED.keys() & DANGEROUS.keys()
