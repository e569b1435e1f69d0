import CallKit

CallDirectoryHandler().main()
