using System.CommandLine;
using Rookery.Access;
using Rookery.Cluster;
using Rookery.Cluster.Identity;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Server.Configuration;

namespace Rookery;

/// <summary>Opens the data of a stopped node for commands that work on it.</summary>
internal static class StoppedNode
{
    /// <summary>Creates the option that names a separate journal directory.</summary>
    public static Option<string?> JournalOption() =>
        new("--journal")
        {
            Description = "Journal directory of the stopped node, if it is not in the data directory.",
            HelpName = "DIR",
        };

    /// <summary>
    /// Opens the node, runs <paramref name="work"/>, which must only read, and closes the node cleanly.
    /// </summary>
    /// <param name="directory">The data directory.</param>
    /// <param name="journal">The journal directory; null if the journal is in the data directory.</param>
    /// <param name="work">The work; its result is the exit code.</param>
    /// <param name="commandLeftOut">See <see cref="NodeOptions.CommandLeftOut"/>. If null, data whose journal cannot be
    /// replayed because of damage are refused.</param>
    /// <returns>The exit code of the work, or of the reason why it could not begin.</returns>
    public static Task<int> UseAsync(
        string directory,
        string? journal,
        Func<Node, Task<int>> work,
        Action<string>? commandLeftOut = null
    ) =>
        Refusal.GuardAsync(async () =>
        {
            string path = DirectoryPath.Absolute(directory);
            long memory = MemorySize.DefaultBytes();
            ProcessMemory.Bound(memory);
            var disk = new PosixDisk();
            if (!Node.IsDataDirectory(disk, path))
            {
                return await Refusal.WriteAsync(
                    $"There is no data directory of a node at {path}.",
                    ExitCode.Configuration
                );
            }

            using var node = Open(
                new NodeOptions
                {
                    DataDirectory = path,
                    JournalDirectory = journal is null ? null : DirectoryPath.Absolute(journal),
                    CommandLeftOut = commandLeftOut,
                    ExpirationInterval = Timeout.InfiniteTimeSpan,
                    HasPeers = HasPeers(disk, path),
                },
                disk,
                memory
            );
            if (node.Diagnosis is { } diagnosis)
            {
                return await Refusal.WriteAsync(diagnosis, ExitCode.Failure);
            }

            int code = await work(node);
            node.StopCleanly();
            return code;
        });

    private static Node Open(NodeOptions options, PosixDisk disk, long memory)
    {
        try
        {
            return Node.Open(
                options,
                disk,
                new MemoryBudget(memory),
                new IoTimeline(TimeProvider.System, disk.DeviceOf(options.DataDirectory)),
                TimeProvider.System,
                store => OpenConsensus(store, reports: options.CommandLeftOut is not null)
            );
        }
        catch (DataDirectoryInUseException busy)
        {
            throw new AdminException(
                $"{busy.Message} Or leave --data out and name the running node by --url.",
                ExitCode.Configuration
            );
        }
    }

    private static bool HasPeers(PosixDisk disk, string path)
    {
        try
        {
            using var identity = IdentityDirectory.TryLoad(disk, path);
            return identity is { Peers.Count: > 0 };
        }
        catch (IdentityException)
        {
            // The identity cannot be read, so the node may be a member of a cluster.
            return true;
        }
    }

    private static IConsensusHost OpenConsensus(NodeStore store, bool reports)
    {
        try
        {
            return RaftConsensus.Alone(store);
        }
        catch (UnknownCommitException unknown) when (reports)
        {
            Console.Error.WriteLine(
                $"This node is a member of a cluster. Its whole journal is read, entries "
                    + $"{unknown.LastInTables + 1} to {unknown.LastInJournal}, although the last of them may not be "
                    + $"committed."
            );
            throw;
        }
    }
}
