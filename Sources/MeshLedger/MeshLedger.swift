@_exported public import EventLog
@_exported public import LogTransfer
@_exported public import MeshViews
@_exported public import Meshtastic
@_exported public import Projections
@_exported public import ViewQuery
