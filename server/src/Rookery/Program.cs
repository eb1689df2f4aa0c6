using Rookery;
using Rookery.Terminal;

if (QuickStatus.TryRun(args) is { } quick)
{
    return quick;
}

Messages.RedirectConsole();
return Messages.CodeOf(await CommandLine.RunAsync(args));
