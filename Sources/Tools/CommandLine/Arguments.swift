public import ArgumentParser
public import CallSecurity
public import SIPSignalling

extension SecurityPolicy: ExpressibleByArgument {}

extension SIPAccount.Connection: ExpressibleByArgument {}
