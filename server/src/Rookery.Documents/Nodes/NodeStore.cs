using Rookery.Documents.Apply;
using Rookery.Documents.Attachments;
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
/// An open data directory without threads: storage, journal and the state of apply. Applies entries in the sequence
/// that consensus decides. <see cref="Node"/> adds consensus and threads; the simulation runs a store step by step. The
/// properties are the parts that <see cref="Open"/> opens.
/// </summary>
public sealed class NodeStore : IDisposable
{
    private readonly DataDirectory _directory;
    private readonly IDisk _disk;
    private readonly IIoRecorder _io;
    private readonly AgreedFormatLevel _level;
    private readonly PreviousVersions _previous;
    private readonly (long Index, long Term) _logEndAtStart;
    private volatile bool _isBackupRunning;

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
        DatabaseQuota databaseQuota,
        Admission admission
    )
    {
        _directory = directory;
        _disk = disk;
        _io = io;
        _level = level;
        _previous = new PreviousVersions(storage, databases, time);
        Options = options;
        Time = time;
        Storage = storage;
        Journal = journal;
        _logEndAtStart = (journal.LastIndex, journal.LastTerm);
        Databases = databases;
        ClusterRecords = clusterRecords;
        Applier = applier;
        Background = background;
        Space = space;
        DatabaseQuota = databaseQuota;
        Admission = admission;
        Offers = new SnapshotOffers(storage, journal, disk, directory.OfferPath, Transfers, time)
        {
            Reserve = options.Reserve,
        };
        Inbox = new StateInbox(storage, disk, directory.InboxPath, options.Reserve, Transfers);
        Installation = new StateInstallation(storage, journal, applier, clusterRecords, Inbox);
        Attachments = new AttachmentContents(disk, storage, databases, options, journal.LastIndex, time);
        applier.ContentReleased = (database, hash) => Attachments.Garbage.Release(new ContentPlace(database, hash));
        applier.ContentMiscounted = (database, hash) =>
            options.TroubleFound?.Invoke(
                $"An attachment with the content {hash.ToHex()} of database {database} was deleted, but the count of "
                    + "references to the content was already 0. The content's file is kept. This is a bug: keep the "
                    + "data directory and report it."
            );
        applier.DatabaseDeleted = Attachments.Garbage.RequestSweep;
        storage.Memtables.ManifestWritten = position => ReleaseJournal(position.Index);
    }

    /// <summary>
    /// Opens the directory. Does not apply the journal entries after the manifest's index: only consensus knows which
    /// of them are committed.
    /// </summary>
    /// <param name="options">The directories and settings.</param>
    /// <param name="disk">The disk.</param>
    /// <param name="memory">Bounds the memory that the node uses.</param>
    /// <param name="io">Records all disk work.</param>
    /// <param name="time">The clock.</param>
    /// <exception cref="DataDirectoryInUseException">Another process has locked a directory.</exception>
    /// <exception cref="IOException">The data cannot be opened; the message says why. Everything is closed
    /// again.</exception>
    public static NodeStore Open(
        NodeOptions options,
        IDisk disk,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time
    ) => new NodeStoreOpening(options, disk, memory, io, time).Open();

    /// <summary>The node's random id.</summary>
    public string NodeId => _directory.NodeId;

    /// <summary>The cluster's random id.</summary>
    public string ClusterId => _directory.ClusterId;

    /// <summary>Returns the exception for the case that the format file and the log name different nodes.</summary>
    public DataFormatException MakeForeignFormatException() => _directory.MakeForeignFormatException();

    /// <summary>The options with which the directory was opened.</summary>
    public NodeOptions Options { get; }

    /// <summary>The formats that this node may write; also stored in the data directory.</summary>
    public FormatLevel FormatLevel => _level.Current;

    /// <summary>The clock.</summary>
    public TimeProvider Time { get; }

    /// <summary>The tables. Written by the apply thread and by the thread of background work.</summary>
    public StorageEngine Storage { get; }

    /// <summary>The journal, which stores the log.</summary>
    public NodeJournal Journal { get; }

    /// <summary>The databases, as of the last applied entry.</summary>
    public DatabaseCatalog Databases { get; }

    /// <summary>The cluster records, as of the last applied entry.</summary>
    public ClusterRecords ClusterRecords { get; }

    /// <summary>Applies committed entries.</summary>
    public Applier Applier { get; }

    /// <summary>The background work.</summary>
    public BackgroundWork Background { get; }

    /// <summary>The space reserves of the node's file systems.</summary>
    public NodeSpace Space { get; }

    /// <summary>The bound of the number of databases.</summary>
    public DatabaseQuota DatabaseQuota { get; }

    /// <summary>Bounds the bytes of commands in flight.</summary>
    public Admission Admission { get; }

    /// <summary>Counters of snapshots sent to lagging members and received from other members.</summary>
    public StateTransferStatistics Transfers { get; } = new();

    /// <summary>Offers this node's snapshots to lagging members.</summary>
    public SnapshotOffers Offers { get; }

    /// <summary>Receives another member's snapshot.</summary>
    public StateInbox Inbox { get; }

    /// <summary>Installs a fetched snapshot instead of this node's state.</summary>
    public StateInstallation Installation { get; }

    /// <summary>The contents of attachments.</summary>
    public AttachmentContents Attachments { get; }

    /// <summary>Index of the last applied entry.</summary>
    public long AppliedIndex => Storage.AppliedIndex;

    /// <summary>
    /// Returns whether the state includes an operation and everything that this node applied before its start. Right
    /// after a start the state may lack both, because consensus must find out again which entries at the journal's end
    /// are committed. Every applied entry had been committed and was in the journal. So all of them have been applied
    /// again once the applied index reaches the journal's last index at the start, or once an entry of a later term is
    /// applied.
    /// </summary>
    /// <param name="sequence">The number of the operation.</param>
    public bool HasReapplied(long sequence)
    {
        var applied = Storage.Applied;
        return applied.Sequence >= sequence
            && (applied.Index >= _logEndAtStart.Index || applied.Term > _logEndAtStart.Term);
    }

    /// <summary>Position through which storage is durable without the journal.</summary>
    public JournalPosition DurablePosition =>
        new(Storage.Durable.Index, Storage.Durable.Term, Storage.Durable.Sequence);

    /// <summary>
    /// Called when <see cref="DurablePosition"/> has risen, after the journal released its entries, on the thread of
    /// background work.
    /// </summary>
    public Action<JournalPosition>? DurablePositionAdvanced { get; set; }

    /// <summary>Whether tombstones are retained for members that may lag; a single node needs none.</summary>
    public bool RetainsTombstones
    {
        get => Storage.RetainedTombstones > 0;
        set => Storage.RetainedTombstones = value ? Options.RetainedTombstones : 0;
    }

    // Returns the format level that a command needs, and the beginning of the refusal below that level; null if every
    // level allows the command.
    private static (int Level, string Refused)? LevelOf(CommandKind kind) =>
        kind switch
        {
            CommandKind.ChangeIndexes => (FormatLevel.Indexes, "Indexes cannot be defined"),
            CommandKind.SetConfiguration or CommandKind.RunSchedule => (
                FormatLevel.Configurations,
                "Configurations of databases cannot be set"
            ),
            CommandKind.ConfigureRevisions => (FormatLevel.Revisions, "Revisions cannot be configured"),
            CommandKind.ChangeSubscription => (FormatLevel.Subscriptions, "Data subscriptions cannot be changed"),
            CommandKind.Redis => (FormatLevel.Redis, "Commands of Redis cannot be carried out"),
            >= CommandKind.ClusterTransaction => (
                FormatLevel.CompareExchange,
                "Compare-exchange values and cluster-wide transactions cannot be written"
            ),
            _ => null,
        };

    /// <summary>
    /// Sets the flag <see cref="CommandFormat.HeaderNumbersInDatabase"/> if the cluster's format level permits it: ids
    /// of documents are then numbered in the database, and a HiLo command keeps metadata. Below that level a member may
    /// return to a version that ignores the flag, and would then compute other documents. Changes the command, so call
    /// it before the command is read.
    /// </summary>
    public void ChooseNumbering(CommandBuffer command)
    {
        if (
            _level.Current.Level >= FormatLevel.IdNumbers
            && (CommandKind)command.WrittenSpan[CommandFormat.KindOffset]
                is CommandKind.Batch
                    or CommandKind.BulkPut
                    or CommandKind.ClusterTransaction
                    or CommandKind.HiloNext
                    or CommandKind.HiloReturn
        )
        {
            command.WrittenSpan[CommandFormat.FlagsOffset] |= CommandFormat.HeaderNumbersInDatabase;
        }
    }

    /// <summary>
    /// Reads the rows that a command needs, on the caller's thread, before the command is queued. A command in the
    /// journal must be applied, so a command that could not be applied is refused here.
    /// </summary>
    /// <param name="command">The command.</param>
    /// <param name="previous">Pins the block of the replaced document, so that apply reads no disk; the caller disposes
    /// it once the command is answered.</param>
    /// <returns>The reason to refuse the command, or null if it may be queued.</returns>
    public Rejection? LoadPrevious(scoped CommandReader command, out LoadedVersion previous)
    {
        previous = default;
        if (LevelOf(command.Kind) is var (level, refused) && _level.Current.Level < level)
        {
            return new Rejection(
                RejectionKind.NeedsNewerFormat,
                $"{refused} while members may return to the previous version, which cannot read them. When all members "
                    + "run the new version, end the upgrade: `rookery cluster finalize-upgrade`."
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
    /// Applies all entries in the journal, committed or not: for exports of a stopped node, and for a restore.
    /// </summary>
    /// <exception cref="UnappliedDamageException">An entry needs a row that is damaged.</exception>
    internal void ApplyAll()
    {
        using var reader = Journal.Read(Storage.AppliedIndex + 1);
        while (reader.Next(out var frame))
        {
            Replay.Apply(frame, Applier);
        }
    }

    /// <summary>
    /// Commits one command without consensus, on a store that nothing else uses: a restored backup belongs to no
    /// cluster yet. Its log time is one tick after the last one, because only consensus reads clocks.
    /// </summary>
    internal CommandOutcome CommitAlone(CommandBuffer command)
    {
        int operations = new CommandReader(command.Written.Span).OperationCount;
        var position = new LogEntryPosition(
            Journal.LastIndex + 1,
            Math.Max(Journal.LastTerm, 1),
            Journal.OperationsBeforeNext,
            operations
        );
        byte[] content = EntryContent.Of(Applier.LastLogTicks + 1, command.Written.Span);
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

    /// <summary>
    /// Whether a <see cref="NodeBackup"/> of this store is not disposed yet. Set by the backup, on any thread.
    /// </summary>
    internal bool IsBackupRunning
    {
        get => _isBackupRunning;
        set => _isBackupRunning = value;
    }

    /// <summary>Begins a backup. Call it on the thread of background work, or before that thread runs.</summary>
    /// <exception cref="BackupException">Another backup is running, or the data are damaged.</exception>
    internal NodeBackup BeginBackup() => NodeBackup.Begin(this, _directory.CheckpointPath, _disk, _io);

    /// <inheritdoc/>
    public void Dispose()
    {
        Databases.Complete();
        Attachments.Dispose();
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
            // The journal no longer uses a segment that it failed to delete, and the next start deletes the file. The
            // flush itself did not fail.
        }

        DurablePositionAdvanced?.Invoke(DurablePosition);
    }
}
