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
using Rookery.Storage.Install;
using Rookery.Storage.Repair;

namespace Rookery.Documents.Nodes;

/// <summary>
/// An opened data directory without threads: storage, journal, and what apply knows. It holds what consensus needs to
/// carry out what it orders, and orders nothing itself.
/// <see cref="Node"/> puts consensus and threads around it; simulation drives it step by step.
/// </summary>
public sealed partial class NodeStore : IDisposable
{
    // Beyond so many segments the memtable is flushed although it is not full, so that a restart replays no more than
    // that.
    private const int SegmentsToReplay = 8;

    // What is replayed around damage must not reach a run: it stays in memory, which it fits into because a journal is
    // flushed long before (see above).
    private const long NeverFull = 1L << 40;

    private readonly DataDirectory _directory;
    private readonly NodeOptions _options;
    private readonly IDisk _disk;
    private readonly IIoRecorder _io;
    private readonly BackgroundRequests _asked = new();
    private Applier _applier = null!;
    private PreviousVersions _previous = null!;

    private NodeStore(DataDirectory directory, NodeOptions options, IDisk disk, IIoRecorder io, TimeProvider time)
    {
        Pacer = new DutyCyclePacer(time) { Share = 1 };
        _directory = directory;
        _options = options;
        _disk = disk;
        _io = io;
        Time = time;
    }

    /// <summary>The node's random identity.</summary>
    public string NodeId => _directory.NodeId;

    /// <summary>The cluster's random identity.</summary>
    public string ClusterId => _directory.ClusterId;

    /// <summary>What it was opened with.</summary>
    public NodeOptions Options => _options;

    /// <summary>What this node may write: it is noted beside the data.</summary>
    public FormatLevel FormatLevel { get; private set; } = FormatLevel.First;

    /// <summary>The clock.</summary>
    public TimeProvider Time { get; }

    /// <summary>
    /// Where a backup keeps the runs it copies: on their own file system, because they are hard links.
    /// </summary>
    internal string CheckpointPath => Path.Combine(_directory.Path, "checkpoint");

    private string OfferPath => Path.Combine(_directory.Path, "offer");

    /// <summary>The databases, as far as frames were applied.</summary>
    public DatabaseCatalog Databases { get; } = new();

    /// <summary>What was given to members that fell behind, and taken.</summary>
    public StateTransferStatistics Transfers { get; } = new();

    /// <summary>This node's state for members that fell behind.</summary>
    public StateOffers Offers { get; private set; } = null!;

    /// <summary>Where this node gathers the state of another.</summary>
    public StateInbox Inbox { get; private set; } = null!;

    /// <summary>What the members of the cluster agree on, as far as frames were applied.</summary>
    public ClusterRecords ClusterRecords { get; } = new();

    /// <summary>The journal: the log that consensus orders.</summary>
    public NodeJournal Journal { get; private set; } = null!;

    /// <summary>What bounds the bytes of commands in flight.</summary>
    public Admission Admission { get; private set; } = null!;

    /// <summary>The log time of the last frame applied, in UTC ticks.</summary>
    public long LastLogTicks => _applier.LastLogTicks;

    /// <summary>Whether a database was ever made here.</summary>
    public bool HasServed => _applier.HasEverHadDatabase;

    /// <summary>
    /// The log time of the last frame whose time was not steady: whatever is older may be as young as that. 0 when
    /// there was none.
    /// </summary>
    internal long AgesFromTicks => _applier.AgesFromTicks;

    /// <summary>
    /// A hash of what came of every command applied, from the beginning: members that applied the same frames have the
    /// same. 0 when it is not known, because a version that did not keep it applied some of them.
    /// </summary>
    public long OutcomeChain => _applier.OutcomeHash;

    /// <summary>Index of the last frame applied.</summary>
    public long AppliedIndex => Storage.AppliedIndex;

    /// <summary>What the manifest holds, durably and without the journal.</summary>
    public JournalPosition Durable => new(Storage.Durable.Index, Storage.Durable.Term, Storage.Durable.Sequence);

    /// <summary>
    /// Told when the manifest holds more, after the journal gave back what it keeps no longer. On the thread of
    /// background work.
    /// </summary>
    public Action<JournalPosition>? ManifestDurable { get; set; }

    /// <summary>The tables. Written by who applies, and by the thread that calls <see cref="WorkOnce"/>.</summary>
    public StorageEngine Storage { get; private set; } = null!;

    /// <summary>What stays free on the node's file systems.</summary>
    internal NodeSpace Space { get; private set; } = null!;

    /// <summary>
    /// How much of a core background work takes: all of it, until a thread of its own does that work beside others.
    /// </summary>
    internal DutyCyclePacer Pacer { get; }

    /// <summary>Why a command that grows the data is refused now (507), or null.</summary>
    public Rejection? GrowthRefusal(ReadOnlySpan<byte> command) =>
        Space.GrowthRefusal(_options.NodeTag) is { } reason ? RefuseGrowth(command, reason) : null;

    /// <summary>The refusal (507) of a command for this reason if it grows the data, or null.</summary>
    public static Rejection? RefuseGrowth(ReadOnlySpan<byte> command, string reason) =>
        Growth.Grows(command) ? new Rejection(RejectionKind.InsufficientSpace, reason) : null;

    /// <summary>
    /// Bytes free beyond what is kept in reserve, on the file system that has fewer; below 0 nothing that grows the
    /// data is taken.
    /// </summary>
    public long SpareBytes => Space.SpareBytes;

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

    /// <summary>Applies the next committed frame; afterwards snapshots see all of it.</summary>
    /// <param name="position">Where it stands in the log.</param>
    /// <param name="content">Its decoded payload; empty for a frame without commands.</param>
    /// <param name="outcomes">Receives the outcome of each command; empty when nobody waits for them.</param>
    /// <exception cref="DamagedException">It needs a row that cannot be read.</exception>
    public void Apply(in FramePosition position, ReadOnlySpan<byte> content, Span<CommandOutcome> outcomes) =>
        _applier.Apply(position, content, outcomes);

    /// <summary>Applies the next committed frame as it stands in the journal.</summary>
    /// <exception cref="DataFormatException">Its payload does not decode.</exception>
    /// <exception cref="UnappliedDamageException">It needs a row that cannot be read.</exception>
    public void ApplyStored(in JournalFrame frame)
    {
        try
        {
            Replay.Apply(frame, _applier);
        }
        catch (DamagedException damaged)
        {
            throw new UnappliedDamageException(damaged);
        }
    }

    /// <summary>
    /// Ends a frame that could not be applied to its end, so that what was applied before it can be flushed. Nothing
    /// more can be applied until a state was installed: what is held in memory is in between. By who applies.
    /// </summary>
    public void AbandonFrame() => _applier.Abandon();

    /// <summary>
    /// Applies all that the journal holds, committed or not: for who only reads a stopped node, and for a restore.
    /// </summary>
    /// <exception cref="UnappliedDamageException">A frame needs a row that cannot be read.</exception>
    internal void ApplyAll()
    {
        using var reader = Journal.Read(Storage.AppliedIndex + 1);
        while (reader.Next(out var frame))
        {
            ApplyStored(frame);
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
        byte[] content = FrameContent.Of(LastLogTicks + 1, command.Written.Span);
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
        Apply(position, content, outcomes);
        return outcomes[0];
    }

    /// <summary>Does something between two steps of background work, which must not go on beside it.</summary>
    /// <returns>What it came to, once it was its turn; it ends with the exception that <paramref name="work"/> throws,
    /// or an <see cref="IOException"/> when the node stops before.</returns>
    public Task<T> DoInBackgroundAsync<T>(Func<T> work)
    {
        var done = _asked.AddAsync(work);
        Storage.WorkArrived?.Invoke();
        return done;
    }

    /// <summary>Does the background work that is due, one small step. To be called by one thread.</summary>
    /// <returns>Whether there was something to do.</returns>
    public bool WorkOnce()
    {
        if (_asked.RunNext())
        {
            return true;
        }

        // Where the journal lacks room a flush helps as soon as it lets go of a whole segment: before that, each would
        // write runs and give nothing back.
        int segments = Space.IsJournalLow ? 1 : SegmentsToReplay;
        bool isJournalLong = Journal.BytesAbove(Storage.Durable.Index) > (long)segments * _options.SegmentBytes;
        if (isJournalLong && Storage.AppliedIndex > Storage.Durable.Index)
        {
            Storage.RequestFlush();
        }

        return FlushIfDue() || PrepareSpareOrCompact();
    }

    /// <summary>
    /// Flushes when that is due. On the thread that calls <see cref="WorkOnce"/>: also while that waits for who
    /// applies, and who may wait for the flush.
    /// </summary>
    /// <returns>Whether it was.</returns>
    public bool FlushIfDue() => Storage.FlushDue && Storage.Flush();

    // The room that a spare lacks may be what compaction gives back. Heat pauses it only while there is room.
    private bool PrepareSpareOrCompact()
    {
        try
        {
            return Journal.PrepareSpare() || ((!Pacer.IsPaused || !Space.Data.GrowthAllowed) && Storage.CompactOnce());
        }
        catch (DiskException)
        {
            if (Storage.CompactOnce())
            {
                return true;
            }

            throw;
        }
    }

    /// <summary>Begins a backup. On the thread that calls <see cref="WorkOnce"/>, or while there is none.</summary>
    /// <exception cref="BackupException">One is being taken already, or the data is damaged.</exception>
    internal NodeBackup BeginBackup() => NodeBackup.Begin(this, _disk, _io, Time);

    /// <summary>Whether deletions are kept for members that may fall behind; a node that has none need not.</summary>
    public bool KeepsDeletions
    {
        get => Storage.KeptDeletions > 0;
        set => Storage.KeptDeletions = value ? _options.KeptDeletions : 0;
    }

    /// <summary>
    /// The etag from which on this node needs what changed: everything through it is applied here. Null when it needs
    /// everything, because it has nothing, or cannot read a part of what it has.
    /// </summary>
    public long? ChangesNeededSince => Storage.Sequence == 0 || Storage.HasDamage ? null : Storage.Sequence;

    /// <summary>
    /// Does before <see cref="Install"/> what takes long and can be done while others write: what changed is laid over
    /// runs. On the thread that calls <see cref="WorkOnce"/>.
    /// </summary>
    public void PrepareInstall(FetchedState fetched)
    {
        if (fetched.Offer.Since is not null)
        {
            Storage.RequestFlush();
            while (FlushIfDue()) { }
        }
    }

    /// <summary>
    /// Puts a fetched state in the place of this node's own. For who holds the turn to apply, and, unless the tail is
    /// kept, the turn to write, on the thread that calls <see cref="WorkOnce"/>, or while there is none.
    /// </summary>
    /// <param name="fetched">What to install.</param>
    /// <param name="tailIsKept">Whether the journal durably has the state's last entry, and so stays as it is.</param>
    /// <returns>Where the node stands now.</returns>
    /// <exception cref="IOException">As <see cref="StateInstallation.Install"/> says: after anything but a
    /// <see cref="ReceivedStateException"/> or a <see cref="DiskException"/> the node must stop.</exception>
    public ManifestPosition Install(FetchedState fetched, bool tailIsKept)
    {
        var records = ClusterRecords.ReadVersions();
        StateInstallation.Install(Storage, Journal, _applier, fetched, tailIsKept);
        ClusterRecords.AnnounceChangesSince(records);
        Transfers.CountInstalled(fetched.Offer.Since is null ? StateTransferKind.Files : StateTransferKind.Changes);
        ClearInbox();
        return Storage.Durable;
    }

    /// <summary>
    /// Writes a damaged file again with the rows of another member. On the thread that calls <see cref="WorkOnce"/>, or
    /// while there is none.
    /// </summary>
    /// <returns>False when it has to be asked for again.</returns>
    /// <exception cref="ReceivedStateException">The rows are damaged, or of a time that does not fit. Nothing
    /// changed.</exception>
    /// <exception cref="DiskException">The disk refused. Nothing changed.</exception>
    public bool Repair(RepairRequest request, RepairRows rows)
    {
        bool isDone = Storage.Repair(request, rows);
        if (isDone)
        {
            Transfers.CountInstalled(StateTransferKind.Repairs);
        }

        if (_disk.Exists(rows.Path))
        {
            // Else a state that came meanwhile has cleared the inbox.
            _disk.Delete(rows.Path);
        }

        return isDone;
    }

    /// <summary>
    /// Notes in the journal that the node stopped in order. Nothing is flushed: the journal has everything.
    /// </summary>
    public void StopCleanly() => Journal.StopCleanly();

    /// <inheritdoc/>
    public void Dispose()
    {
        Databases.Complete();
        ClusterRecords.Complete();
        _asked.Close();
        Pacer.Dispose();
        Offers?.Dispose();
        _applier?.Dispose();
        Journal?.Dispose();
        Storage?.Dispose();
        _directory.Dispose();
    }

    private void ClearInbox()
    {
        try
        {
            Inbox.Clear();
        }
        catch (DiskException)
        {
            // What stays is deleted by the next fetch.
        }
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
