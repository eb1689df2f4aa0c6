using Rookery.Hosting.Logging;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>The settings of a process that stay the same when it serves its node again after a join.</summary>
/// <param name="Configuration">The configuration.</param>
/// <param name="Secrets">The claim code and the token for commands on this machine.</param>
/// <param name="WebhookToken">The bearer token of the alert webhook; null for none.</param>
/// <param name="DebugParts">The parts of a debug package that describe the machine.</param>
/// <param name="Disk">The disk.</param>
/// <param name="Systemd">The notifications to systemd.</param>
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
