"""Compilers of CUDA from packages, for tests; a test exits with 77 where they cannot be had."""
import subprocess
import sys

LIMIT_S = 240


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def install(cache, packages):
    """The folder that they share in an environment of their own: fetched on the first call, found on the next ones."""
    marker = cache / "+".join(packages)
    if not marker.exists():
        if not run([sys.executable, "-m", "venv", "--clear", str(cache)]):
            skip("no virtual environment can be made")
        if not run([str(cache / "bin" / "python"), "-m", "pip", "install", "-q", "--no-deps", "--retries", "1", *packages]):
            skip(f"{' '.join(packages)} cannot be installed")
        marker.touch()
    found = sorted(cache.glob("lib/python*/site-packages/nvidia/cu*"))
    if not found:
        skip(f"{' '.join(packages)} hold nothing")
    return found[0]
