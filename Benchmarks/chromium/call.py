"""One end of a WebRTC call by Debian's Chromium, headless: call.py answer|call HEADSET FOLDER.

Both ends exchange their session descriptions as files in FOLDER. "ready" is printed when the browser is up, and
"connected" when the peers are. Speech goes as a browser sends it by default, but without echo cancellation, noise
suppression and gain control.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

PAGE = """<!doctype html><title>call</title><script>
const settings = {echoCancellation: false, noiseSuppression: false, autoGainControl: false};
let peer;
async function begin() {
  const microphone = await navigator.mediaDevices.getUserMedia({audio: settings});
  peer = new RTCPeerConnection();
  for (const track of microphone.getTracks()) peer.addTrack(track, microphone);
  peer.ontrack = event => {
    const speaker = new Audio();
    speaker.srcObject = event.streams[0];
    speaker.play();
  };
}
async function described(description) {
  await peer.setLocalDescription(description);
  while (peer.iceGatheringState != 'complete') await new Promise(done => setTimeout(done, 20));
  return peer.localDescription.sdp;
}
async function offer() { return described(await peer.createOffer()); }
async function answer(sdp) {
  await peer.setRemoteDescription({type: 'offer', sdp});
  return described(await peer.createAnswer());
}
async function accept(sdp) { await peer.setRemoteDescription({type: 'answer', sdp}); }
async function connected() {
  while (peer.connectionState != 'connected') await new Promise(done => setTimeout(done, 20));
}
</script>"""

OPTIONS = [
    "--headless=new", "--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage",
    "--use-fake-ui-for-media-stream", "--autoplay-policy=no-user-gesture-required",
    "--allow-loopback-in-peer-connection",
    "--disable-features=WebRtcHideLocalIpsWithMdns,AudioServiceSandbox",
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--remote-debugging-pipe",
]


class Browser:
    """A browser with one page, told what to do by the DevTools protocol over a pipe."""

    def __init__(self, headset, folder):
        folder.mkdir(parents=True)
        page = folder / "page.html"
        page.write_text(PAGE)
        shim = folder / "one_card.so"
        source = pathlib.Path(__file__).parent / "one_card.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, source], check=True)
        theirs, self.commands = os.pipe()
        self.answers, mine = os.pipe()
        # The protocol is spoken over the descriptors 3 and 4; copies beyond them stay out of the way.
        pair = [os.dup2(theirs, 100), os.dup2(mine, 101)]

        def connect():
            os.dup2(pair[0], 3)
            os.dup2(pair[1], 4)

        environment = dict(
            os.environ, LD_PRELOAD=str(shim), RIVAL_HEADSET=headset, PULSE_SERVER="unix:/nonexistent", HOME=str(folder),
        )
        self.process = subprocess.Popen(
            ["chromium", *OPTIONS, f"--user-data-dir={folder / 'profile'}",
             f"--alsa-input-device={headset}", f"--alsa-output-device={headset}"],
            env=environment, preexec_fn=connect, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=open(folder / "chromium.log", "w"),
        )
        for descriptor in (theirs, mine, *pair):
            os.close(descriptor)
        self.count, self.rest, self.session = 0, b"", None
        target = self.ask("Target.createTarget", url=page.as_uri())["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        while self.run("typeof connected") != "function":
            time.sleep(0.05)

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers, 65536)
            if not more:
                raise SystemExit("chromium has ended; see chromium.log")
            self.rest += more
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, **parameters):
        self.count += 1
        request = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.commands, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.count:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"{script[:40]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")


def leave(path, text):
    """Nobody reads half of it."""
    part = path.with_suffix(".part")
    part.write_text(text)
    part.rename(path)


def find(path):
    while not path.exists():
        time.sleep(0.02)
    return path.read_text()


def main():
    role, headset, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    browser = Browser(headset, folder / f"chromium-{headset}")
    try:
        browser.run("begin()")
        print("ready", flush=True)
        offer, answer = folder / "offer.sdp", folder / "answer.sdp"
        if role == "call":
            leave(offer, browser.run("offer()"))
            browser.run(f"accept({json.dumps(find(answer))})")
        else:
            leave(answer, browser.run(f"answer({json.dumps(find(offer))})"))
        browser.run("connected()")
        print("connected", flush=True)
        browser.process.wait()
    except KeyboardInterrupt:
        pass
    finally:
        browser.process.kill()
        browser.process.wait()


main()
