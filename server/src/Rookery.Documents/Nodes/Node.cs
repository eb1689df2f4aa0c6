using Rookery.Documents.Attachments;
using Rookery.Documents.Backups;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Records;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// A running node: its data directory is locked, its journal replayed, its databases readable. If the data cannot be
/// opened or written, the node stays up in diagnosis mode (docs/explanation/architecture.md): <see cref="Diagnosis"/>
/// states the reason, and every read and write is refused with it.
/// </summary>
public abstract class Node : IDisposable
{
    private protected Node(DatabaseCatalog databases, ClusterRecords clusterRecords, IConsensus consensus) =>
        (Databases, ClusterRecords, Consensus) = (databases, clusterRecords, consensus);

    /// <summary>Why the node refuses reads and writes, in one sentence; null if it accepts them.</summary>
    public virtual string? Diagnosis => null;

    /// <summary>
    /// Whether the data was opened at the start. If so, the node still knows its cluster after a later failure of the
    /// disk.
    /// </summary>
    public virtual bool HasOpened => false;

    /// <summary>The databases; empty if the data could not be opened.</summary>
    public DatabaseCatalog Databases { get; }

    /// <summary>The cluster records, on which all members agree; empty if the data could not be opened.</summary>
    public ClusterRecords ClusterRecords { get; }

    /// <summary>Decides the sequence of the writes and commits them.</summary>
    public IConsensus Consensus { get; }

    /// <summary>
    /// The node's random id: 22 characters, chosen when the data directory was first used; empty if the data could not
    /// be opened.
    /// </summary>
    public abstract string NodeId { get; }

    /// <summary>
    /// The cluster's random id; empty if the data could not be opened. A single node is a cluster of its own.
    /// </summary>
    public abstract string ClusterId { get; }

    /// <summary>The formats that this node may write; the first level if the data could not be opened.</summary>
    public abstract FormatLevel FormatLevel { get; }

    /// <summary>
    /// Share of one core that background work may take, 0 to 1, in addition to work that writers wait for. 0 pauses
    /// merges and scrubs. The default is 0.25. The temperature control changes it. Ignored by nodes without background
    /// work.
    /// </summary>
    public virtual double BackgroundShare
    {
        get => 0;
        set { }
    }

    /// <summary>Whether background work is running.</summary>
    public virtual bool IsMaintaining => false;

    /// <summary>
    /// Whether writes that grow the data are accepted: the file system of the data has more free space than its
    /// reserve.
    /// </summary>
    public abstract bool HasRoom { get; }

    /// <summary>
    /// Returns whether the state includes an operation, given by its number, and everything that this node applied
    /// before its start. True if the data could not be opened.
    /// </summary>
    public virtual bool HasReapplied(long sequence) => true;

    /// <summary>The contents of attachments; null on nodes that only read, or could not open the data.</summary>
    public virtual AttachmentContents? Attachments => null;

    /// <summary>Number of flushes, merges and other background steps since the start.</summary>
    public virtual long BackgroundSteps => 0;

    /// <summary>Returns whether a node or a restore began to write this directory, even if it did not finish.</summary>
    public static bool IsDataDirectory(IDisk disk, string directory) =>
        !DataDirectory.IsNewAt(disk, directory)
        || DataDirectory.IsUnfinished(disk, directory)
        || (!BackupManifest.IsBackup(disk, directory) && DataDirectory.WhyNoFormat(disk, directory) is not null);

    /// <summary>
    /// Returns why a first start is not allowed in the directory or its journal's directory, for instance because of an
    /// unfinished restore or foreign files. Null if it is allowed, or if a node was started here before.
    /// </summary>
    public static string? WhyNotNew(IDisk disk, NodeOptions options) =>
        DataDirectory.WhyNotNew(disk, options.DataDirectory, options.JournalDirectory);

    /// <summary>Opens a node and starts its threads.</summary>
    /// <param name="options">The directories and settings.</param>
    /// <param name="disk">The disk.</param>
    /// <param name="memory">Bounds the memory that the node uses.</param>
    /// <param name="io">Records all disk work.</param>
    /// <param name="time">The clock.</param>
    /// <param name="openConsensus">Creates the consensus, which decides the sequence of the writes.</param>
    /// <exception cref="DataDirectoryInUseException">Another process has locked the data directory or the journal's
    /// directory.</exception>
    /// <exception cref="ForeignJournalException">The journal belongs to another data directory.</exception>
    /// <exception cref="DiskException">A directory cannot be created or entered: a file has its name, or permission is
    /// denied.</exception>
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
    /// Returns figures of journal, storage and queue, for metrics and <c>/readyz?verbose</c>; null if the data could
    /// not be opened.
    /// </summary>
    public abstract NodeStatistics? ReadStatistics();

    /// <summary>
    /// Begins a backup. The caller reads it and disposes it before stopping the node. Only one can run at a time.
    /// </summary>
    /// <exception cref="BackupException">Another backup is running, the data is damaged, or the node is in diagnosis
    /// mode.</exception>
    /// <exception cref="IOException">The hard links to the runs cannot be created.</exception>
    public virtual Task<NodeBackup> BeginBackupAsync() =>
        throw new BackupException(Diagnosis ?? "This node was opened to read damaged data: no backup is taken of it.");

    /// <summary>
    /// Merges the files of all databases on this node, so that they take no more space for replaced and deleted rows
    /// than they need. The thread of background work does it, at its pace.
    /// </summary>
    /// <param name="ending">Ends the merges after the part that runs, which writes at most one file. What is merged
    /// stays merged.</param>
    /// <exception cref="OperationCanceledException"><paramref name="ending"/> ended the merges.</exception>
    /// <exception cref="FileMergeException">A flush or merge failed several times in a row, or a damaged file was left
    /// out. What is merged stays merged.</exception>
    /// <exception cref="IOException">The node is stopping, or in diagnosis mode.</exception>
    public virtual Task MergeFilesAsync(CancellationToken ending) =>
        Task.FromException(new IOException("The node is in diagnosis mode."));

    /// <summary>
    /// Stops the node cleanly: finishes queued commands, refuses new ones and writes a clean-stop frame. Flushes
    /// nothing, because the journal contains every write.
    /// </summary>
    public virtual void StopCleanly() => Dispose();

    /// <summary>
    /// Finishes queued commands, then releases threads, files and the lock. Writes no clean-stop frame, so the next
    /// start recovers as after a crash.
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
            JournalSpace = store.Space.Journal,
            Transfers = store.Transfers,
            Storage = store.Storage.Statistics(),
            ContentDamage = store.Attachments.Damage,
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

    /// <summary>Returns what the owner can do about damage that prevents a start.</summary>
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
