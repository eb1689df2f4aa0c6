using Rookery.Cluster.Identity;
using Rookery.Cluster.Log;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Documents.Recovery;
using Rookery.Platform;

namespace Rookery.Cluster.Joining;

/// <summary>
/// A node without peers that is unclaimed and has never held a database. At its first boot, a node founds a cluster
/// whose only member it is, to have a certificate. Such a node may later join another cluster. First its identity is
/// moved aside, durably and atomically. From then on its directory counts as one in which a join began, and the rest of
/// the old node is deleted.
/// </summary>
public static class UnclaimedNode
{
    // The names of all files that a node has in its data directory if it was started and never used.
    private static readonly string[] NamesOfUnusedNode =
    [
        "lock",
        "format",
        FormatLevel.RecordKey,
        "storage",
        "journal",
        "cluster",
        "claim-code",
        "local-access",
        NodeIds.JoiningName,
        NodeIds.FormingName,
        "lost+found",
    ];

    /// <summary>Moves aside the identity of the data directory's node, if it has one.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="options">The directories of the node.</param>
    /// <param name="clusterId">The cluster to join instead.</param>
    /// <param name="memory">The memory budget.</param>
    /// <param name="io">Records disk operations.</param>
    /// <param name="time">The clock.</param>
    /// <returns>Why the node is kept, in sentences; null when its identity was moved aside or did not exist.</returns>
    /// <exception cref="DataDirectoryInUseException">The node is running.</exception>
    /// <exception cref="IdentityException">The identity cannot be read.</exception>
    /// <exception cref="DiskException">The disk failed.</exception>
    public static string? MoveAside(
        IDisk disk,
        NodeOptions options,
        string clusterId,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time
    )
    {
        string directory = options.DataDirectory;
        using var identity = IdentityDirectory.TryLoad(disk, directory);
        if (identity is null)
        {
            return null;
        }

        StoppedStore? store = null;
        StoppedDirectory? held = null;
        try
        {
            string? reason;
            try
            {
                if (NodeIds.TryRead(disk, directory) is null)
                {
                    if (Node.IsDataDirectory(disk, directory))
                    {
                        return Refusal(
                            directory,
                            identity,
                            $"a part of its data is missing: {Node.WhyNotNew(disk, options)}"
                        );
                    }

                    // The node has never been started, so there is no store to inspect.
                    held = StoppedDirectory.Hold(disk, directory);
                }
                else
                {
                    store = StoppedStore.Open(options, disk, memory, io, time);
                }

                reason = WhyKept(disk, directory, identity, store);
            }
            catch (IOException unreadable) when (unreadable is not DataDirectoryInUseException)
            {
                reason = $"whether it was ever used cannot be read: {unreadable.Message}";
            }

            if (reason is not null)
            {
                return Refusal(directory, identity, reason);
            }

            JoinAttempt.ResumeOrBegin(disk, directory, clusterId).Key.Dispose();
            IdentityDirectory.MoveAside(disk, directory);
            return null;
        }
        finally
        {
            held?.Dispose();
            store?.Dispose();
        }
    }

    /// <summary>Deletes the remaining files of a node whose identity was moved aside.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="dataDirectory">The node's data directory.</param>
    /// <param name="held">The lock on the data directory.</param>
    /// <param name="kept">The names of files to keep.</param>
    public static void Clear(IDisk disk, string dataDirectory, StoppedDirectory held, params IReadOnlyList<string> kept)
    {
        if (IdentityDirectory.IsMovedAsideIn(disk, dataDirectory))
        {
            // The identity that was moved aside is deleted last: it marks the directory as one in which a join began.
            held.Empty([NodeIds.JoiningName, IdentityDirectory.MovedAsideName, .. kept]);
            held.Empty([NodeIds.JoiningName, .. kept]);
        }
    }

    /// <summary>
    /// Whether a join may replace this running node. The caller has caught up, so that the records are current.
    /// </summary>
    internal static bool IsUnclaimed(NodeStore store, IJoinRecordStore recordStore, NodeIdentity identity) =>
        identity.Peers.Count == 0
        && !store.Applier.HasEverHadDatabase
        && recordStore.List(ClusterRecordPrefix.Access).Count == 0
        && recordStore.List(ClusterRecordPrefix.ClientCertificate).Count == 0
        && recordStore.List(ClusterRecordPrefix.JoinToken).Count == 0
        && recordStore
            .List(ClusterRecordPrefix.Member)
            .All(record => string.Equals(record.Key, MemberRecord.KeyOf(identity.NodeId), StringComparison.Ordinal));

    private static string Refusal(string directory, NodeIdentity identity, string reason) =>
        $"The node of {directory} is {identity.NodeName} of another cluster, {identity.ClusterName} "
        + $"({identity.ClusterId}), and {reason.TrimEnd('.')}. Nothing was changed. To join the "
        + $"other cluster, name an empty data directory.";

    private static string? WhyKept(IDisk disk, string directory, NodeIdentity identity, StoppedStore? store)
    {
        if (identity.Peers.Count > 0)
        {
            return "it has other members";
        }

        if (IdentityDirectory.ReadRetirement(disk, directory) is { } retirement)
        {
            return $"it takes no part there any more: {retirement.Why}";
        }

        string? foreign = disk.List(directory).FirstOrDefault(static name => !IsOfUnusedNode(name));
        if (foreign is not null)
        {
            return $"{Path.Join(directory, foreign)} is not a file of a node that was never used";
        }

        if (store is null)
        {
            if (NodeIds.TryRead(disk, directory) is null)
            {
                return null;
            }

            // The ids were absent when the caller looked, so another process has started the node since.
            throw new DataDirectoryInUseException(directory);
        }

        return WhyUsed(identity, store);
    }

    // An interrupted write leaves a file with the suffix ".new".
    private static bool IsOfUnusedNode(string name)
    {
        bool isUnfinished = name.EndsWith(".new", StringComparison.Ordinal);
        string finishedName = isUnfinished ? name[..^".new".Length] : name;
        return NamesOfUnusedNode.Contains(finishedName, StringComparer.Ordinal);
    }

    private static string? WhyUsed(NodeIdentity identity, StoppedStore store)
    {
        if ((store.Damage ?? store.RecoveryDamage) is { } damage)
        {
            return $"whether it was ever used cannot be read: {damage}";
        }

        var keys = store.RecordKeys.ToList();
        var members = ConfigurationEncoding.Read(store.Configuration.Span).Configuration;
        if (
            keys.Exists(static key =>
                HasPrefix(key, ClusterRecordPrefix.Access) || HasPrefix(key, ClusterRecordPrefix.ClientCertificate)
            )
        )
        {
            return "it was claimed";
        }

        if (store.HasServed)
        {
            return "it held a database";
        }

        string ownKey = MemberRecord.KeyOf(identity.NodeId);
        bool hasRecordOfOthers = keys.Exists(key =>
            HasPrefix(key, ClusterRecordPrefix.JoinToken)
            || (HasPrefix(key, ClusterRecordPrefix.Member) && !string.Equals(key, ownKey, StringComparison.Ordinal))
        );
        var configured = members.Voters.ToArray().Concat(members.Learners.ToArray());
        if (hasRecordOfOthers || configured.Any(member => member != identity.Member))
        {
            return "other nodes were admitted";
        }

        return null;
    }

    private static bool HasPrefix(string key, string prefix) => key.StartsWith(prefix, StringComparison.Ordinal);
}
