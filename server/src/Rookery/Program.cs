return await Rookery.CommandLine.RunAsync(args);
