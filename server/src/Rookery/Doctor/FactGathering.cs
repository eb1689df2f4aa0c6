using System.Net;
using System.Text.Json;
using Rookery.Board;
using Rookery.Board.Doctor;
using Rookery.Cluster.Identity;
using Rookery.Hosting;
using Rookery.Hosting.Machine;
using Rookery.Platform;

namespace Rookery.Doctor;

/// <summary>
/// Gathers the facts for `rookery doctor`. A fact that cannot be determined stays unknown, and each check is bounded in
/// time.
/// </summary>
internal static class FactGathering
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(5);

    public static async Task<DoctorFacts> GatherAsync(
        ExaminedNode node,
        bool probes,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        var disk = new PosixDisk();
        using var board = MachineBoard.Open(disk, time, node.DataDirectory, node.JournalDirectory);
        using var identity = TryLoad(disk, node, out string? identityTrouble);
        var network = NetworkFactGathering.GatherAsync(identity, cancellationToken);
        using var answer = await AskAsync(node, cancellationToken);
        var (mdns, peers) = await network;
        var sockets = ReadSockets(disk);
        var notes = new MachineFiles(disk).Read();
        var facts = new DoctorFacts
        {
            Image = notes.ImageRelease is { } release ? new ImageFacts(release, notes.PackagesLocked) : null,
            Now = time.GetUtcNow(),
            Model = board.Model,
            IsSimulated = board.IsSimulated,
            Reading = board.Read(),
            Storage = board.ReadStorage(),
            Space = [.. SpaceOf(disk, node)],
            IsClockSynchronised = KernelClock.IsSynchronised(),
            CertificateEnds = identity?.Certificate.NotAfter.ToUniversalTime(),
            CertificateTrouble = identityTrouble,
            Mdns = mdns,
            Network = peers,
        };
        facts = answer.Status is { } status
            ? WithAnswer(facts, node, status.RootElement, disk, sockets)
            : WithoutAnswer(facts, node, answer.NoAnswerReason, sockets);

        // The probe is last, because it disturbs a running node.
        return probes ? WithProbe(facts, disk, node, time) : facts;
    }

    /// <summary>Loads the node's identity; null if it has none, or if it cannot be read.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="node">The node.</param>
    /// <param name="trouble">Why the identity cannot be read; null if it can, or if there is none.</param>
    private static NodeIdentity? TryLoad(PosixDisk disk, ExaminedNode node, out string? trouble)
    {
        trouble = null;
        try
        {
            return node.DataDirectory is { } directory && disk.Exists(directory)
                ? IdentityDirectory.TryLoad(disk, directory)
                : null;
        }
        catch (IdentityException unreadable)
        {
            trouble = unreadable.Message;
            return null;
        }
    }

    private static IEnumerable<SpaceFacts> SpaceOf(PosixDisk disk, ExaminedNode node)
    {
        // A separate journal device is not checked here: its reserve is small, and its spare segments take space that
        // the node counts as free. The node reports when that device has little space.
        if (node.DataDirectory is { } directory && disk.Exists(directory))
        {
            var space = disk.SpaceOf(directory);
            yield return new SpaceFacts(directory, space.FreeBytes, ReserveRule.Default.BytesOf(space.TotalBytes));
        }
    }

    private static async Task<Answer> AskAsync(ExaminedNode examined, CancellationToken cancellationToken)
    {
        var node = examined.Connection;
        try
        {
            using var client = node.NewClient(Timeout);
            using var response = await client.GetAsync(new Uri(node.Address, "/readyz?verbose"), cancellationToken);
            return new Answer(
                JsonDocument.Parse(await response.Content.ReadAsByteArrayAsync(cancellationToken)),
                string.Empty
            );
        }
        catch (HttpRequestException failure)
        {
            return new Answer(Status: null, node.Describe(failure));
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return new Answer(Status: null, node.NoAnswer($"nothing came within {Timeout.TotalSeconds} s"));
        }
        catch (JsonException)
        {
            return new Answer(Status: null, $"The server at {node.Address} is not Rookery.");
        }
    }

    private static string ReadSockets(PosixDisk disk) =>
        KernelTable.Read(disk, "/proc/net/tcp") + KernelTable.Read(disk, "/proc/net/tcp6");

    private static DoctorFacts WithoutAnswer(DoctorFacts facts, ExaminedNode node, string reason, string sockets)
    {
        int[] listening = [.. NetworkTables.Listeners(sockets).Select(static listener => listener.Port)];
        return facts with
        {
            Node = new NodeFacts(
                node.Connection.Address.Authority,
                reason,
                Reason: null,
                ClusterTrouble: null,
                ClockDoubt: null
            ),
            Ports =
            [
                .. node.Ports.Select(port => new PortFacts(port.Port, port.Purpose, listening.Contains(port.Port))),
            ],
        };
    }

    private static DoctorFacts WithAnswer(
        DoctorFacts facts,
        ExaminedNode node,
        JsonElement status,
        PosixDisk disk,
        string sockets
    )
    {
        // `Forming` is reported only for a node without an owner. If a node with an owner waits for other members, the
        // cluster's status shows it.
        bool isUnclaimed =
            node.DataDirectory is { } directory && LocalAccess.TryReadClaimCode(disk, directory) is not null;
        var cluster = Member(status, "Cluster");
        var certificate = Member(status, "Certificate");
        var clock = Member(cluster, "Clock");
        return facts with
        {
            Node = new NodeFacts(
                node.Connection.Address.ToString(),
                NoAnswerReason: null,
                Member(status, "Ready")?.ValueKind == JsonValueKind.True
                    ? null
                    : Text(status, "Reason") ?? "it gives no reason",
                Text(cluster, "Trouble"),
                Text(clock, "Doubt")
            )
            {
                RefusedConnections = RefusedConnectionsIn(Member(status, "Connections")),
                GrowthRefusal = Text(status, "GrowthRefusal"),
                Forming = isUnclaimed ? Text(status, "Forming") : null,
                OtherMembers = Member(cluster, "Members") is { ValueKind: JsonValueKind.Array } members
                    ? Math.Max(0, members.GetArrayLength() - 1)
                    : 0,
            },
            OpenPorts = [.. OpenPortsOf(node, sockets)],
            ClockAheadSeconds = Member(clock, "OwnAheadSeconds") is { ValueKind: JsonValueKind.Number } ahead
                ? ahead.GetDouble()
                : null,
            CertificateEnds =
                Member(certificate, "Expires") is { ValueKind: JsonValueKind.String } expires
                && expires.TryGetDateTimeOffset(out var expiry)
                    ? expiry
                    : facts.CertificateEnds,
            CertificateTrouble = Text(certificate, "Trouble") ?? facts.CertificateTrouble,
            Reading =
                node.DataDirectory is null && !node.Connection.Address.IsLoopback
                    ? facts.Reading
                    : facts.Reading with
                    {
                        SinceBoot = facts.Reading.SinceBoot | ReadThrottlingSinceBoot(status),
                    },
        };
    }

    private static RefusedConnections? RefusedConnectionsIn(JsonElement? connections) =>
        Member(connections, "LastRefusedSecondsAgo") is { ValueKind: JsonValueKind.Number } since
        && Member(connections, "Refused") is { ValueKind: JsonValueKind.Number } count
        && Member(connections, "MaxPerAddress") is { ValueKind: JsonValueKind.Number } max
            ? new RefusedConnections(count.GetInt64(), max.GetInt32(), TimeSpan.FromSeconds(since.GetDouble()))
            : null;

    private static IEnumerable<OpenPortFacts> OpenPortsOf(ExaminedNode node, string sockets)
    {
        var own = PeerAddresses.OfThisMachine().ToHashSet();
        foreach (var (port, purpose, isForMembers) in node.Ports)
        {
            IPEndPoint[] listeners = [.. NetworkTables.Listeners(sockets).Where(listener => listener.Port == port)];
            var callers = NetworkTables
                .Connections(sockets)
                .Where(connection => connection.Local.Port == port)
                .Select(static connection => connection.Remote.Address)
                .Where(address => !IPAddress.IsLoopback(address) && !own.Contains(address));
            if (listeners.Length > 0)
            {
                yield return new OpenPortFacts(
                    port,
                    purpose,
                    isForMembers,
                    Array.TrueForAll(listeners, static listener => IPAddress.IsLoopback(listener.Address)),
                    callers.Distinct().Count()
                );
            }
        }
    }

    /// <summary>
    /// Returns the throttling flags that the running node has seen since the boot. Firmware and kernel may no longer
    /// report some of them.
    /// </summary>
    private static Throttling ReadThrottlingSinceBoot(JsonElement status)
    {
        var seen = Throttling.None;
        if (Member(Member(status, "Board"), "SinceBoot") is { ValueKind: JsonValueKind.Array } flags)
        {
            foreach (var flag in flags.EnumerateArray())
            {
                seen |= flag.GetString() switch
                {
                    "under_voltage" => Throttling.UnderVoltage,
                    "frequency_capped" => Throttling.FrequencyCapped,
                    "throttled" => Throttling.Throttled,
                    "soft_temperature_limit" => Throttling.SoftTemperatureLimit,
                    _ => Throttling.None,
                };
            }
        }

        return seen;
    }

    private static DoctorFacts WithProbe(DoctorFacts facts, PosixDisk disk, ExaminedNode node, TimeProvider time)
    {
        try
        {
            // Probes the device on which writes are synced. The reserve of a separate journal device is small, so
            // it is not added.
            bool hasSeparateJournal = node.JournalDirectory is not null && disk.Exists(node.JournalDirectory);
            string directory = hasSeparateJournal ? node.JournalDirectory! : node.DataDirectory!;
            var space = disk.SpaceOf(directory);
            long needed =
                DiskProbe.FileBytes + (hasSeparateJournal ? 0 : ReserveRule.Default.BytesOf(space.TotalBytes));
            return space.FreeBytes < needed
                ? facts with
                {
                    ProbeRefusal =
                        $"{directory} has {Amount.Bytes(space.FreeBytes)} free, and the probe needs "
                        + $"{Amount.Bytes(needed)}{(hasSeparateJournal ? "" : ", including the node's reserve")}.",
                }
                : facts with
                {
                    Probe = DiskProbe.Run(disk, directory, time),
                };
        }
        catch (DiskException refused)
        {
            return facts with { ProbeRefusal = refused.Message };
        }
    }

    private static JsonElement? Member(JsonElement? parent, string name) =>
        parent is { ValueKind: JsonValueKind.Object } found && found.TryGetProperty(name, out var member)
            ? member
            : null;

    private static string? Text(JsonElement? parent, string name) =>
        Member(parent, name) is { ValueKind: JsonValueKind.String } text ? text.GetString() : null;

    private sealed record Answer(JsonDocument? Status, string NoAnswerReason) : IDisposable
    {
        public void Dispose() => Status?.Dispose();
    }
}
