return Rookery.QuickStatus.TryRun(args) ?? await Rookery.CommandLine.RunAsync(args);
