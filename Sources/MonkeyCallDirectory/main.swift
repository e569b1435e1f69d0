import CallKit

CallDirectoryHandler.main()
