using Rookery;
using Rookery.Terminal;

// `rookery status` usually needs no command-line library: see QuickStatus.
if (QuickStatus.TryRun(args) is { } exitCode)
{
    return exitCode;
}

Messages.RedirectConsole();

// A success becomes a failure here if messages could not be written.
return Messages.CodeOf(await CommandLine.RunAsync(args));
