using Rookery.Hosting.Logging;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>What stays the same however often a process serves its node anew.</summary>
/// <param name="Configuration">What its owner wants.</param>
/// <param name="Secrets">The code that claims it, and the token for its own machine.</param>
/// <param name="WebhookToken">What alerts are sent with; null for nothing.</param>
/// <param name="DebugParts">What a debug package tells of the machine.</param>
/// <param name="Disk">The disk.</param>
/// <param name="Systemd">Who started it.</param>
/// <param name="Log">The log.</param>
/// <param name="Time">The clock.</param>
internal sealed record NodeSetting(
    ServeConfiguration Configuration,
    AccessSecrets Secrets,
    string? WebhookToken,
    IReadOnlyList<DebugPart> DebugParts,
    PosixDisk Disk,
    SystemdNotifier Systemd,
    StandardErrorLog Log,
    TimeProvider Time
);
