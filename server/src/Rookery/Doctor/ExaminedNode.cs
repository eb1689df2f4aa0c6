using Rookery.Access;
using Rookery.Cluster.Identity;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Server.Configuration;

namespace Rookery.Doctor;

/// <summary>The node that `rookery doctor` examines: its address and, if known, its directories and ports.</summary>
/// <param name="Connection">How to connect to the node, if it runs.</param>
internal sealed record ExaminedNode(NodeConnection Connection)
{
    /// <summary>The node's data directory; null if only its address is known.</summary>
    public string? DataDirectory { get; private init; }

    /// <summary>The node's journal directory; null if the journal is in the data directory.</summary>
    public string? JournalDirectory { get; private init; }

    /// <summary>The node's known ports and their purposes.</summary>
    public IReadOnlyList<(int Port, string Purpose, bool IsForMembers)> Ports { get; private init; } = [];

    /// <summary>Examines the node of a configuration.</summary>
    public static ExaminedNode Of(ServeConfiguration configuration)
    {
        var disk = new PosixDisk();
        bool isMember =
            disk.Exists(configuration.DataDirectory) && IdentityDirectory.ExistsIn(disk, configuration.DataDirectory);

        // Use the file local-access only if its address fits the configuration: a file of an earlier start without TLS
        // does not.
        var known =
            configuration.IsSecure
            && FindLocalConnection(disk, configuration.DataDirectory) is { Address.Scheme: "https" } written
                ? written
                : null;
        List<(int Port, string Purpose, bool IsForMembers)> ports = [(configuration.Listen.Port, "clients", false)];
        if (isMember)
        {
            ports.Add((configuration.PeerListen.Port, "members", true));
        }

        return new ExaminedNode(
            known ?? new NodeConnection(LocalAccess.AddressOf(configuration), Token: null, Authorities: null)
        )
        {
            DataDirectory = configuration.DataDirectory,
            JournalDirectory = configuration.JournalDirectory,
            Ports = ports,
        };
    }

    /// <summary>
    /// Examines the node of a data directory. Its address is in the file local-access; a node that never ran is assumed
    /// at the default address.
    /// </summary>
    /// <exception cref="AdminException">The directory does not exist.</exception>
    public static ExaminedNode Of(string directory)
    {
        var disk = new PosixDisk();
        if (!disk.Exists(directory))
        {
            throw new AdminException($"There is no directory {directory}.", ExitCode.Configuration);
        }

        var known = FindLocalConnection(disk, directory);
        var connection =
            known
            ?? new NodeConnection(new Uri(NodeAddress.DefaultUrl), Token: null, Authorities: null)
            {
                NoAnswerHint = "If it listens elsewhere, name its configuration file with --config.",
            };
        return new ExaminedNode(connection)
        {
            DataDirectory = directory,
            Ports = [(connection.Address.Port, "clients", false)],
        };
    }

    private static NodeConnection? FindLocalConnection(PosixDisk disk, string directory)
    {
        try
        {
            return disk.Exists(directory) && LocalAccess.TryRead(disk, directory) is { } local
                ? NodeConnection.Of(local, disk, directory)
                : null;
        }
        catch (IdentityException)
        {
            return null; // reported as a finding about its certificate
        }
    }
}
