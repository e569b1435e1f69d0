#!/usr/bin/env python3
"""A phone by PJSIP (PyPI pjsua2-python) that says back what it hears.

usage: pjsua.py PORT [call URI]
Commands on standard input: digits TEXT, hold, resume, hangup, quit. Events on standard output, a line each."""
import select
import sys

import pjsua2 as pj
from console import say


class Call(pj.Call):
    def onCallState(self, parameter):
        info = self.getInfo()
        if info.state == pj.PJSIP_INV_STATE_CONFIRMED:
            say("connected")
        elif info.state == pj.PJSIP_INV_STATE_DISCONNECTED:
            say("ended", info.lastStatusCode, info.lastReason)

    def onCallMediaState(self, parameter):
        # The vector of media lives as long as the information does.
        info = self.getInfo()
        for index, media in enumerate(info.media):
            if media.type != pj.PJMEDIA_TYPE_AUDIO:
                continue
            if media.status == pj.PJSUA_CALL_MEDIA_ACTIVE:
                audio = self.getAudioMedia(index)
                audio.startTransmit(audio)
                say("media active")
            else:
                say("media held")

    def onDtmfDigit(self, parameter):
        say("digit", parameter.digit)


class Account(pj.Account):
    call = None

    def onIncomingCall(self, parameter):
        say("incoming")
        self.call = Call(self, parameter.callId)
        answer = pj.CallOpParam()
        answer.statusCode = 200
        self.call.answer(answer)


def main():
    port, words = int(sys.argv[1]), sys.argv[2:]
    endpoint = pj.Endpoint()
    endpoint.libCreate()
    configuration = pj.EpConfig()
    configuration.logConfig.level = configuration.logConfig.consoleLevel = 0
    configuration.uaConfig.threadCnt = 0
    configuration.uaConfig.mainThreadOnly = True
    configuration.medConfig.ecTailLen = 0
    endpoint.libInit(configuration)
    transport = pj.TransportConfig()
    transport.port = port
    transport.boundAddress = "127.0.0.1"
    endpoint.transportCreate(pj.PJSIP_TRANSPORT_UDP, transport)
    endpoint.transportCreate(pj.PJSIP_TRANSPORT_TCP, transport)
    endpoint.libStart()
    endpoint.audDevManager().setNullDev()
    settings = pj.AccountConfig()
    settings.idUri = f"sip:pj@127.0.0.1:{port}"
    settings.mediaConfig.transportConfig.boundAddress = "127.0.0.1"
    account = Account()
    account.create(settings)
    say("ready")
    if "call" in words:
        account.call = Call(account)
        account.call.makeCall(words[words.index("call") + 1], pj.CallOpParam(True))
    while True:
        endpoint.libHandleEvents(10)
        if not select.select([sys.stdin], [], [], 0)[0]:
            continue
        line = sys.stdin.readline().split()
        if not line or line[0] == "quit":
            break
        try:
            if line[0] == "digits":
                account.call.dialDtmf(line[1])
            elif line[0] == "hold":
                account.call.setHold(pj.CallOpParam(True))
            elif line[0] == "resume":
                parameter = pj.CallOpParam(True)
                parameter.opt.flag = pj.PJSUA_CALL_UNHOLD
                account.call.reinvite(parameter)
            elif line[0] == "hangup":
                account.call.hangup(pj.CallOpParam(True))
        except pj.Error as error:
            say("error", error.info())
    account.call = None
    endpoint.libDestroy()


main()
