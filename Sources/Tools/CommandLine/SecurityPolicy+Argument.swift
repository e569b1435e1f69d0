public import ArgumentParser
public import CallSecurity

extension SecurityPolicy: ExpressibleByArgument {}
