using Rookery.Documents.Apply;
using Rookery.Documents.Backups;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Records;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// An opened data directory without threads: storage, journal, and what apply knows. It holds what consensus needs to
/// carry out what it orders, and orders nothing itself.
/// <see cref="Node"/> puts consensus and threads around it; simulation drives it step by step.
/// </summary>
public sealed class NodeStore : IDisposable
{
    private readonly DataDirectory _directory;
    private readonly IDisk _disk;
    private readonly IIoRecorder _io;
    private readonly AgreedFormatLevel _level;
    private readonly PreviousVersions _previous;

    internal NodeStore(
        DataDirectory directory,
        NodeOptions options,
        IDisk disk,
        IIoRecorder io,
        TimeProvider time,
        StorageEngine storage,
        NodeJournal journal,
        DatabaseCatalog databases,
        ClusterRecords clusterRecords,
        AgreedFormatLevel level,
        Applier applier,
        BackgroundWork background,
        NodeSpace space,
        Admission admission
    )
    {
        _directory = directory;
        _disk = disk;
        _io = io;
        _level = level;
        _previous = new PreviousVersions(storage);
        Options = options;
        Time = time;
        Storage = storage;
        Journal = journal;
        Databases = databases;
        ClusterRecords = clusterRecords;
        Applier = applier;
        Background = background;
        Space = space;
        Admission = admission;
        Offers = new StateOffers(storage, journal, disk, directory.OfferPath, Transfers, time)
        {
            Reserve = options.Reserve,
        };
        Inbox = new StateInbox(storage, disk, directory.InboxPath, options.Reserve, Transfers);
        Installation = new StateInstallation(storage, journal, applier, clusterRecords, Inbox);
        storage.Memtables.ManifestDurable = position => ReleaseJournal(position.Index);
    }

    /// <summary>
    /// Opens the directory. What the journal holds beyond the manifest is not applied: how much of it is committed,
    /// consensus knows.
    /// </summary>
    /// <param name="options">Where the data is.</param>
    /// <param name="disk">The disk.</param>
    /// <param name="memory">What bounds memory.</param>
    /// <param name="io">Is told of all disk work.</param>
    /// <param name="time">The clock.</param>
    /// <exception cref="DataDirectoryInUseException">Another process holds a directory.</exception>
    /// <exception cref="IOException">The data cannot be opened; the message says why. Nothing is open then.</exception>
    public static NodeStore Open(
        NodeOptions options,
        IDisk disk,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time
    ) => new NodeStoreOpening(options, disk, memory, io, time).Open();

    /// <summary>The node's random identity.</summary>
    public string NodeId => _directory.NodeId;

    /// <summary>The cluster's random identity.</summary>
    public string ClusterId => _directory.ClusterId;

    /// <summary>What it was opened with.</summary>
    public NodeOptions Options { get; }

    /// <summary>What this node may write: it is noted beside the data.</summary>
    public FormatLevel FormatLevel => _level.Current;

    /// <summary>The clock.</summary>
    public TimeProvider Time { get; }

    /// <summary>The tables. Written by who applies, and by who does background work.</summary>
    public StorageEngine Storage { get; }

    /// <summary>The journal: the log that consensus orders.</summary>
    public NodeJournal Journal { get; }

    /// <summary>The databases, as far as frames were applied.</summary>
    public DatabaseCatalog Databases { get; }

    /// <summary>What the members of the cluster agree on, as far as frames were applied.</summary>
    public ClusterRecords ClusterRecords { get; }

    /// <summary>Applies committed frames.</summary>
    public Applier Applier { get; }

    /// <summary>The work that is done beside what commits.</summary>
    public BackgroundWork Background { get; }

    /// <summary>What stays free on the node's file systems.</summary>
    public NodeSpace Space { get; }

    /// <summary>What bounds the bytes of commands in flight.</summary>
    public Admission Admission { get; }

    /// <summary>What was given to members that fell behind, and taken.</summary>
    public StateTransferStatistics Transfers { get; } = new();

    /// <summary>This node's state for members that fell behind.</summary>
    public StateOffers Offers { get; }

    /// <summary>Where this node gathers the state of another.</summary>
    public StateInbox Inbox { get; }

    /// <summary>Puts what was gathered in the place of this node's own.</summary>
    public StateInstallation Installation { get; }

    /// <summary>Index of the last frame applied.</summary>
    public long AppliedIndex => Storage.AppliedIndex;

    /// <summary>What the manifest holds, durably and without the journal.</summary>
    public JournalPosition Durable => new(Storage.Durable.Index, Storage.Durable.Term, Storage.Durable.Sequence);

    /// <summary>
    /// Told when the manifest holds more, after the journal gave back what it keeps no longer. On the thread of
    /// background work.
    /// </summary>
    public Action<JournalPosition>? ManifestDurable { get; set; }

    /// <summary>Whether deletions are kept for members that may fall behind; a node that has none need not.</summary>
    public bool KeepsDeletions
    {
        get => Storage.KeptDeletions > 0;
        set => Storage.KeptDeletions = value ? Options.KeptDeletions : 0;
    }

    /// <summary>
    /// Reads what a command will look up, on the caller's thread, before it is queued. Once it is in the journal it has
    /// to be applied: what is known not to be possible is refused before.
    /// </summary>
    /// <param name="command">The command.</param>
    /// <param name="previous">What is held in memory for it, to be disposed when it is answered.</param>
    /// <returns>Why the command is refused; null when it may be queued.</returns>
    public Rejection? LookAhead(scoped CommandReader command, out LoadedVersion previous)
    {
        previous = default;
        if (command.Kind == CommandKind.ChangeIndexes && FormatLevel.Level < FormatLevel.Indexes)
        {
            return new Rejection(
                RejectionKind.Invalid,
                "Indexes cannot be defined while members may go back to the program of before, which does not "
                    + "know them. When all run the new one, end the upgrade: `rookery cluster finalize-upgrade`."
            );
        }

        try
        {
            previous = _previous.Load(command);
            return null;
        }
        catch (DamagedException failure)
        {
            return new Rejection(
                RejectionKind.Damaged,
                $"Nothing was stored, because what the write would replace cannot be read. {failure.Message} "
                    + $"Other documents are not affected."
            );
        }
        catch (OutOfMemoryException)
        {
            return new Rejection(
                RejectionKind.Overloaded,
                "There was no memory to look up what the write would replace. Nothing was stored; send less at "
                    + "once, or try again in a second."
            );
        }
    }

    /// <summary>
    /// Applies all that the journal holds, committed or not: for who only reads a stopped node, and for a restore.
    /// </summary>
    /// <exception cref="UnappliedDamageException">A frame needs a row that cannot be read.</exception>
    internal void ApplyAll()
    {
        using var reader = Journal.Read(Storage.AppliedIndex + 1);
        while (reader.Next(out var frame))
        {
            Replay.Apply(frame, Applier);
        }
    }

    /// <summary>
    /// Commits one command on a store that nobody else uses yet, without consensus: a restored backup belongs to no
    /// cluster. Nobody but consensus judges clocks, so no time passes in it.
    /// </summary>
    internal CommandOutcome CommitAlone(CommandBuffer command)
    {
        int operations = new CommandReader(command.Written.Span).OperationCount;
        var position = new FramePosition(
            Journal.LastIndex + 1,
            Math.Max(Journal.LastTerm, 1),
            Journal.OperationsBeforeNext,
            operations
        );
        byte[] content = FrameContent.Of(Applier.LastLogTicks + 1, command.Written.Span);
        byte[] payload = new byte[Payload.MaxEncodedLength(content.Length)];
        int length = Payload.Encode(content, payload);
        Journal.Write([
            new JournalFrame(
                FrameType.Batch,
                position.Index,
                position.Term,
                position.OperationsBefore,
                operations,
                payload.AsMemory(0, length)
            ),
        ]);
        var outcomes = new CommandOutcome[1];
        Applier.Apply(position, content, outcomes);
        return outcomes[0];
    }

    /// <summary>Begins a backup. On the thread of background work, or while there is none.</summary>
    /// <exception cref="BackupException">One is being taken already, or the data is damaged.</exception>
    internal NodeBackup BeginBackup() => NodeBackup.Begin(this, _directory.CheckpointPath, _disk, _io);

    /// <inheritdoc/>
    public void Dispose()
    {
        Databases.Complete();
        ClusterRecords.Complete();
        Background.Dispose();
        Offers.Dispose();
        Applier.Dispose();
        Journal.Dispose();
        Storage.Dispose();
        _directory.Dispose();
    }

    private void ReleaseJournal(long index)
    {
        try
        {
            Journal.ReleaseThrough(index);
        }
        catch (DiskException)
        {
            // A segment that could not be deleted is out of use all the same; the next start deletes it. The flush that
            // let it go has not failed.
        }

        ManifestDurable?.Invoke(Durable);
    }
}
