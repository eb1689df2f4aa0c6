using System.CommandLine;
using Rookery.Cluster;
using Rookery.Cluster.Identity;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Server.Configuration;

namespace Rookery;

/// <summary>Opens the data of a node that does not run, for commands that work on it.</summary>
internal static class StoppedNode
{
    /// <summary>The option that names a journal on a device of its own.</summary>
    public static Option<string?> JournalOption() =>
        new("--journal")
        {
            Description = "Directory of the stopped node's journal, when it is served with one of its own.",
            HelpName = "DIR",
        };

    /// <summary>Runs <paramref name="work"/>, which only reads, on an opened node and closes it in order.</summary>
    /// <param name="directory">The data directory.</param>
    /// <param name="journal">The journal's directory; null when it lies in the data directory.</param>
    /// <param name="work">What to do; its result is the exit code.</param>
    /// <param name="commandLeftOut">See <see cref="NodeOptions.CommandLeftOut"/>; null refuses data whose journal
    /// cannot be replayed for damage.</param>
    /// <returns>The exit code: that of the work, or of why it could not begin.</returns>
    public static Task<int> UseAsync(
        string directory,
        string? journal,
        Func<Node, Task<int>> work,
        Action<string>? commandLeftOut = null
    ) =>
        Refusal.GuardAsync(async () =>
        {
            string path = Path.GetFullPath(directory);
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

            using var node = Node.Open(
                new NodeOptions
                {
                    DataDirectory = path,
                    JournalDirectory = journal is null ? null : Path.GetFullPath(journal),
                    CommandLeftOut = commandLeftOut,
                    ExpirationInterval = Timeout.InfiniteTimeSpan,
                    HasPeers = HasPeers(disk, path),
                },
                disk,
                new MemoryBudget(memory),
                new IoTimeline(TimeProvider.System, disk.DeviceOf(path)),
                TimeProvider.System,
                store => OpenConsensus(store, tells: commandLeftOut is not null)
            );
            if (node.Diagnosis is { } diagnosis)
            {
                return await Refusal.WriteAsync(diagnosis, ExitCode.Failure);
            }

            int code = await work(node);
            node.StopCleanly();
            return code;
        });

    private static bool HasPeers(PosixDisk disk, string path)
    {
        try
        {
            using var identity = IdentityDirectory.TryLoad(disk, path);
            return identity is { Peers.Count: > 0 };
        }
        catch (IdentityException)
        {
            // Whose it is cannot be read: then it may be one of several.
            return true;
        }
    }

    private static IConsensusHost OpenConsensus(NodeStore store, bool tells)
    {
        try
        {
            return RaftConsensus.Alone(store);
        }
        catch (UnknownCommitException unknown) when (tells)
        {
            Console.Error.WriteLine(
                $"This node is a member of a cluster: all of its journal is read, entries "
                    + $"{unknown.LastInTables + 1} to {unknown.LastInJournal}, though a majority may not have the "
                    + $"last of them."
            );
            throw;
        }
    }
}
