// The rules' types are part of this module's interface.
@_exported public import SIPRules
