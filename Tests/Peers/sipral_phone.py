#!/usr/bin/env python3
"""A phone by Sipral (PyPI sipral) that says back what it hears.

usage: sipral_phone.py PORT [call URI]
Commands on standard input: digits TEXT, hold, resume, hangup, quit. Events on standard output, a line each."""
import asyncio
import sys

import sipral
from console import commands, say
from sipral import _sipral_cffi

# The direction of media, of the library.
BOTH_WAYS = 1


async def echo(call):
    while True:
        call.media.send_audio(await call.media.frames.get())


async def follow(call):
    """Prints what happens to a call until its end."""
    tasks = []
    names = _sipral_cffi.lib
    while not call.ended or not call.events.empty():
        event = await call.events.get()
        if event.kind == names.SIPRAL_EVENT_KIND_CALL_CONFIRMED:
            say("connected")
        elif event.kind == names.SIPRAL_EVENT_KIND_MEDIA_STARTED:
            tasks.append(asyncio.create_task(echo(call)))
            say("media active")
        elif event.kind == names.SIPRAL_EVENT_KIND_MEDIA_CHANGED:
            say("media active" if event.fields["direction"] == BOTH_WAYS else "media held")
        elif event.kind == names.SIPRAL_EVENT_KIND_DIGIT_RECEIVED:
            say("digit", event.fields.get("digit"))
        elif event.kind == names.SIPRAL_EVENT_KIND_MEDIA_FAILED:
            say("media failed:", event.fields.get("reason"))
    for task in tasks:
        task.cancel()
    say("ended 200")


async def main():
    port, words = int(sys.argv[1]), sys.argv[2:]
    loop = asyncio.get_running_loop()
    lines = commands(loop)
    with sipral.Stack(bind_host="127.0.0.1", bind_port=port, loop=loop) as stack:
        # It wants a server, though it registers nowhere.
        account = stack.add_account(f"sip:peer@127.0.0.1:{port}", registrar_address="127.0.0.1:9")
        say("ready")
        call = None
        if "call" in words:
            uri = words[words.index("call") + 1]
            host = uri.split("@")[1]
            call = stack.place_call(account, uri, media_host="127.0.0.1", destination=host)
            asyncio.create_task(follow(call))
        event = asyncio.create_task(stack.events.get())
        line = asyncio.create_task(lines.get())
        while True:
            await asyncio.wait([event, line], return_when=asyncio.FIRST_COMPLETED)
            if event.done():
                if event.result().kind == _sipral_cffi.lib.SIPRAL_EVENT_KIND_INCOMING_CALL:
                    say("incoming")
                    call = stack.answer_call(event.result(), media_host="127.0.0.1")
                    asyncio.create_task(follow(call))
                event = asyncio.create_task(stack.events.get())
            if line.done():
                command = line.result()
                if command[0] == "quit":
                    return
                elif command[0] == "digits":
                    call.send_dtmf(command[1])
                elif command[0] == "hold":
                    call.hold()
                elif command[0] == "resume":
                    call.resume()
                elif command[0] == "hangup":
                    call.hangup()
                line = asyncio.create_task(lines.get())


asyncio.run(main())
