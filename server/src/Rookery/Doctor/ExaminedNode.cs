using Rookery.Access;
using Rookery.Cluster.Identity;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Server.Configuration;

namespace Rookery.Doctor;

/// <summary>
/// The node that `rookery doctor` looks at: where it answers, and where it lies as far as that was said.
/// </summary>
/// <param name="Connection">Where it answers, if it runs.</param>
internal sealed record ExaminedNode(NodeConnection Connection)
{
    /// <summary>Its data directory; null when only its address is known.</summary>
    public string? DataDirectory { get; private init; }

    /// <summary>Its journal's directory, where that is another.</summary>
    public string? JournalDirectory { get; private init; }

    /// <summary>Its ports and what for, as far as they are known.</summary>
    public IReadOnlyList<(int Port, string Purpose, bool IsForMembers)> Ports { get; private init; } = [];

    /// <summary>
    /// How it could be named instead, should nothing answer; empty when there is no doubt where it answers.
    /// </summary>
    public string OtherName { get; private init; } =
        "Name its address with --url, or its configuration file with --config.";

    /// <summary>By the configuration that it is served with.</summary>
    public static ExaminedNode Of(ServeConfiguration configuration)
    {
        var disk = new PosixDisk();
        bool isMember =
            disk.Exists(configuration.DataDirectory) && IdentityDirectory.ExistsIn(disk, configuration.DataDirectory);

        // What an earlier start wrote down, before the file said https, is not where this one answers.
        var known =
            configuration.IsSecure && Known(disk, configuration.DataDirectory) is { Address.Scheme: "https" } written
                ? written
                : null;
        return new ExaminedNode(
            known ?? new NodeConnection(LocalAccess.AddressOf(configuration), Token: null, Authorities: null)
        )
        {
            DataDirectory = configuration.DataDirectory,
            OtherName = string.Empty,
            JournalDirectory = configuration.JournalDirectory,
            Ports =
            [
                (configuration.Listen.Port, "clients", false),
                .. isMember ? [(configuration.PeerListen.Port, "members", true)] : Array.Empty<(int, string, bool)>(),
            ],
        };
    }

    /// <summary>
    /// By its data directory alone: a node writes down where it answers; one that never ran is looked for at the
    /// default address.
    /// </summary>
    /// <exception cref="AdminException">There is no such directory.</exception>
    public static ExaminedNode Of(string directory)
    {
        var disk = new PosixDisk();
        if (!disk.Exists(directory))
        {
            throw new AdminException($"There is no directory {directory}.", ExitCode.Configuration);
        }

        var known = Known(disk, directory);
        var connection = known ?? new NodeConnection(new Uri(NodeAddress.DefaultUrl), Token: null, Authorities: null);
        return new ExaminedNode(connection)
        {
            DataDirectory = directory,
            OtherName = known is null
                ? "If it listens elsewhere, name its configuration file with --config."
                : string.Empty,
            Ports = [(connection.Address.Port, "clients", false)],
        };
    }

    private static NodeConnection? Known(PosixDisk disk, string directory)
    {
        try
        {
            return disk.Exists(directory) && LocalAccess.TryRead(disk, directory) is { } local
                ? NodeConnection.Of(local, disk, directory)
                : null;
        }
        catch (IdentityException)
        {
            return null; // said of its certificate
        }
    }
}
