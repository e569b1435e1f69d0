"""What the peers' scripts have in common: events as lines on standard output, commands as lines on standard input."""
import asyncio
import sys
import threading


def say(*words):
    print(*words, flush=True)


def commands(loop):
    """A queue of the commands, each a list of words; the last is `quit`."""
    queue = asyncio.Queue()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(queue.put_nowait, line.split() or [""])
        loop.call_soon_threadsafe(queue.put_nowait, ["quit"])

    threading.Thread(target=read, daemon=True).start()
    return queue
