using Rookery.Documents.Backups;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Records;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// A node: its data directory is locked, its journal replayed, its databases readable. When its data cannot be opened
/// or written, the node stays up in diagnosis mode (docs/explanation/architecture.md): <see cref="Diagnosis"/> says
/// why, and every read and write is refused with it.
/// </summary>
public abstract class Node : IDisposable
{
    private protected Node(DatabaseCatalog databases, ClusterRecords clusterRecords, IConsensus consensus) =>
        (Databases, ClusterRecords, Consensus) = (databases, clusterRecords, consensus);

    /// <summary>The sentence that explains why this node neither reads nor writes; null when it does.</summary>
    public virtual string? Diagnosis => null;

    /// <summary>
    /// Whether its data was opened: what it knows of the cluster it still knows when its disk fails later.
    /// </summary>
    public virtual bool HasOpened => false;

    /// <summary>The databases. Empty when the data could not be opened.</summary>
    public DatabaseCatalog Databases { get; }

    /// <summary>What the members of the cluster agree on. None when the data could not be opened.</summary>
    public ClusterRecords ClusterRecords { get; }

    /// <summary>The way of every write.</summary>
    public IConsensus Consensus { get; }

    /// <summary>
    /// This node's random identity: 22 characters, made when the data directory was first used; empty when the data
    /// could not be opened.
    /// </summary>
    public abstract string NodeId { get; }

    /// <summary>
    /// The random identity of the cluster (a single node is one of its own); empty when the data could not be opened.
    /// </summary>
    public abstract string ClusterId { get; }

    /// <summary>What this node may write; the first level when the data could not be opened.</summary>
    public abstract FormatLevel FormatLevel { get; }

    /// <summary>
    /// How much of one core background work may take beside what writers wait for, 0 to 1: whoever knows how hot the
    /// board is says it, again and again. At 0 nothing is merged or scrubbed. A quarter until somebody has said. Kept
    /// by a node that does background work.
    /// </summary>
    public virtual double BackgroundShare
    {
        get => 0;
        set { }
    }

    /// <summary>Whether background work is being done now.</summary>
    public virtual bool IsMaintaining => false;

    /// <summary>
    /// Whether what grows may be written: the free space of the data's file system is above its reserve.
    /// </summary>
    public abstract bool HasRoom { get; }

    /// <summary>
    /// Flushes, merges and other steps of background work since the start. Rises while the node works on its own.
    /// </summary>
    public virtual long BackgroundSteps => 0;

    /// <summary>Whether a node, or a restore, has begun to keep data here, whole or not.</summary>
    public static bool IsDataDirectory(IDisk disk, string directory) =>
        !DataDirectory.IsNewAt(disk, directory)
        || DataDirectory.IsUnfinished(disk, directory)
        || DataDirectory.WhyNoFormat(disk, directory) is not null;

    /// <summary>
    /// Why no node is begun in a directory that none was begun in yet, in a sentence: half a restore or files of others
    /// lie there, or in its journal's; null when nothing speaks against it.
    /// </summary>
    public static string? WhyNotNew(IDisk disk, NodeOptions options) =>
        DataDirectory.WhyNotNew(disk, options.DataDirectory, options.JournalDirectory);

    /// <summary>Opens a node and starts its threads.</summary>
    /// <param name="options">Where the data is.</param>
    /// <param name="disk">The disk.</param>
    /// <param name="memory">What bounds memory.</param>
    /// <param name="io">Is told of all disk work.</param>
    /// <param name="time">The clock.</param>
    /// <param name="openConsensus">Orders its writes, alone or with others.</param>
    /// <exception cref="DataDirectoryInUseException">Another process holds the data directory or the journal
    /// directory.</exception>
    /// <exception cref="ForeignJournalException">The journal belongs to another data directory.</exception>
    /// <exception cref="DiskException">A directory cannot be made or entered: not a directory, permission denied, or a
    /// file has its name.</exception>
    public static Node Open(
        NodeOptions options,
        IDisk disk,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time,
        OpenConsensus openConsensus
    )
    {
        try
        {
            var store = NodeStore.Open(options, disk, memory, io, time);
            try
            {
                return new OpenNode(store, openConsensus(store), options, time);
            }
            catch
            {
                store.Dispose();
                throw;
            }
        }
        catch (Exception unread)
            when (options.CommandLeftOut is not null
                && unread is DamagedException or UnappliedDamageException or UnknownCommitException
            )
        {
            return OpenToRead(options, disk, memory, io, time);
        }
        catch (Exception failure) when (IsDiagnosis(failure))
        {
            return new DiagnosedNode(failure.Message + NextStepAfter(failure, options), options.NodeTag);
        }
    }

    /// <summary>
    /// What there is to know about journal, storage and queue, for metrics and <c>/readyz?verbose</c>; null when the
    /// data could not be opened.
    /// </summary>
    public abstract NodeStatistics? ReadStatistics();

    /// <summary>Begins a backup, which the caller reads and disposes before it stops the node. One at a time.</summary>
    /// <exception cref="BackupException">One is being taken already, the data is damaged, or the node is in diagnosis
    /// mode.</exception>
    /// <exception cref="IOException">The disk refused the checkpoint.</exception>
    public virtual Task<NodeBackup> BeginBackupAsync() =>
        throw new BackupException(Diagnosis ?? "This node was opened to read damaged data: no backup is taken of it.");

    /// <summary>
    /// Ends cleanly: what is queued is finished, new commands are refused, a clean-stop frame is written. Nothing else
    /// is.
    /// </summary>
    public virtual void StopCleanly() => Dispose();

    /// <summary>
    /// Gives back threads, files and the lock without noting a clean stop, as a crash would; what is queued is
    /// finished.
    /// </summary>
    public abstract void Dispose();

    private protected static NodeStatistics ReadStatistics(NodeStore store, IConsensusHost? consensus)
    {
        var commits = consensus?.ReadStatistics() ?? default;
        return new NodeStatistics
        {
            JournalFirstIndex = store.Journal.FirstIndex,
            JournalLastIndex = store.Journal.LastIndex,
            JournalBytes = store.Journal.LiveBytes,
            AppliedIndex = store.AppliedIndex,
            ManifestIndex = store.Storage.Durable.Index,
            Sequence = store.Storage.Sequence,
            QueuedCommands = commits.Queued,
            QueuedBytes = store.Admission.Bytes,
            Frames = commits.Frames,
            Commands = commits.Commands,
            Overloaded = store.Admission.Refused,
            Recovery = store.Journal.Recovery.Sentence,
            Space = store.Space.Data,
            Transfers = store.Transfers,
            Storage = store.Storage.Statistics(),
            Consensus = consensus?.ReadCluster(),
        };
    }

    private static Node OpenToRead(
        NodeOptions options,
        IDisk disk,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time
    )
    {
        NodeStore? store = null;
        try
        {
            store = NodeStore.Open(options with { ReplaysAroundDamage = true }, disk, memory, io, time);
            store.ApplyAll();
            return new ReadOnlyNode(store, options.NodeTag);
        }
        catch (Exception failure) when (IsDiagnosis(failure))
        {
            store?.Dispose();
            return new DiagnosedNode(failure.Message, options.NodeTag);
        }
    }

    /// <summary>What the owner can do about damage that a start cannot go past.</summary>
    private static string NextStepAfter(Exception failure, NodeOptions options) =>
        failure switch
        {
            DamagedException when options.HasPeers =>
                " The start needs them. The other members have them: replace this one, with `rookery cluster "
                    + "node replace NAME` on another, and let it join again with an empty data directory.",
            StorageFormatException when options.HasPeers =>
                " On a member of a cluster, replace it instead, with `rookery cluster node replace NAME` on "
                    + "another one, and let it join again with an empty data directory.",
            DamagedException =>
                " The start needs them. Restore a backup, or take what can be read with `rookery export`, and "
                    + "import it into a new node.",
            _ => string.Empty,
        };

    private static bool IsDiagnosis(Exception failure) =>
        failure switch
        {
            DataDirectoryInUseException or ForeignJournalException => false,
            DiskException refused => refused.Error is not (Errno.NotDirectory or Errno.AccessDenied or Errno.Exists),
            InvariantViolationException or OutOfMemoryException => false,
            _ => true,
        };
}
