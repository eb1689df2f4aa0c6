using Rookery.Documents.Changes;
using Rookery.Documents.Consensus;
using Rookery.Documents.Indexes;
using Rookery.Documents.Revisions;
using Rookery.Documents.Subscriptions;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// One database of the node: its name and history. <see cref="OpenReader"/> reads it, <see cref="IConsensus"/> writes
/// it.
/// </summary>
public sealed class Database
{
    private readonly StorageEngine _storage;
    private readonly long _installs; // InstallCount of the storage when the record was read
    private volatile bool _isDeleted;
    private volatile bool _refusesReaders;
    private long _lastEtag;
    private long _lastEtagForIndexes;
    private long _lastIndexDeletion;
    private readonly WriteSignal _written = new();
    private DatabaseConfigurations _configurations = DatabaseConfigurations.None;
    private Task<bool>? _removal;
    private RevisionsConfiguration? _revisions;
    private bool _hasRevisions;
    private bool _hasAttachments;
    private bool _hasCompareExchange;
    private bool _hasExpiring;

    internal Database(DatabaseRecord record, StorageEngine storage, ExpiryClock? clock = null)
    {
        Record = record;
        Clock = clock ?? new ExpiryClock();
        _storage = storage;
        _installs = storage.InstallCount;
    }

    /// <summary>The name, in the casing of its creation.</summary>
    public string Name => Record.Name;

    /// <summary>The database's number; never reused after its deletion.</summary>
    public uint Number => Record.Number;

    /// <summary>
    /// The part of all change vectors that identifies the database's history: 22 characters, renewed when the database
    /// is created or restored.
    /// </summary>
    public string HistoryId => Record.HistoryId;

    /// <summary>Log time of the creation, in UTC ticks.</summary>
    public long CreatedTicks => Record.CreatedTicks;

    /// <summary>
    /// The configurations as of the last entry that readers can see. Costs one volatile read.
    /// </summary>
    public DatabaseConfigurations Configurations
    {
        get => Volatile.Read(ref _configurations);
        internal set => Volatile.Write(ref _configurations, value);
    }

    /// <summary>
    /// Etag of the database's record: the etag of the last change of its configurations, or before that its number.
    /// </summary>
    public long RecordEtag => Math.Max(Number, Configurations.Etag);

    /// <summary>Returns the refusal of a request while the database is disabled.</summary>
    public Rejection WhyDisabled() =>
        new(
            RejectionKind.DatabaseDisabled,
            $"Database '{Name}' is disabled. It keeps its documents, and refuses requests until it is enabled: POST "
                + "/admin/databases/enable."
        )
        {
            Database = Name,
        };

    internal DatabaseRecord Record { get; }

    /// <summary>Tells clients' readers which documents have expired.</summary>
    internal ExpiryClock Clock { get; }

    /// <summary>The configuration of revisions as of the last applied entry; null if there is none.</summary>
    internal RevisionsConfiguration? Revisions
    {
        get => Volatile.Read(ref _revisions);
        set => Volatile.Write(ref _revisions, value);
    }

    /// <summary>Whether the database has revisions, as of the last applied entry.</summary>
    internal bool HasRevisions
    {
        get => Volatile.Read(ref _hasRevisions);
        set => Volatile.Write(ref _hasRevisions, value);
    }

    /// <summary>Whether documents of the database have attachments, as of the last applied entry.</summary>
    internal bool HasAttachments
    {
        get => Volatile.Read(ref _hasAttachments);
        set => Volatile.Write(ref _hasAttachments, value);
    }

    /// <summary>Whether the database has compare-exchange values, as of the last applied entry.</summary>
    internal bool HasCompareExchange
    {
        get => Volatile.Read(ref _hasCompareExchange);
        set => Volatile.Write(ref _hasCompareExchange, value);
    }

    /// <summary>
    /// Whether a snapshot of the database may contain a document that expires. Apply sets it before any snapshot
    /// contains the first such document; it stays set until the state is loaded again. While it is not set, readers
    /// need no clock.
    /// </summary>
    internal bool HasExpiring
    {
        get => Volatile.Read(ref _hasExpiring);
        set => Volatile.Write(ref _hasExpiring, value);
    }

    /// <summary>
    /// Whether changes of documents may concern revisions, even if no operation forces one. Costs two volatile reads.
    /// </summary>
    internal bool MayHaveRevisions => Revisions is not null || HasRevisions;

    internal ChangeHub<DocumentChange> Changes { get; } = new();

    internal ChangeHub<IndexChange> IndexChanges { get; } = new();

    internal ChangeHub<SubscriptionChange> SubscriptionChanges { get; } = new();

    /// <summary>
    /// Etag of the last operation on this database that readers can see. Costs one volatile read, so a reader that
    /// follows the documents can poll it.
    /// </summary>
    public long LastEtag
    {
        get => Volatile.Read(ref _lastEtag);
        internal set => Volatile.Write(ref _lastEtag, value);
    }

    /// <summary>
    /// Etag of the last operation on this database that readers can see and that may have changed a document or an
    /// index. An index that includes the changes through this etag is up to date, even if compare-exchange values were
    /// written later. Equals <see cref="LastEtag"/> after a start. Costs one volatile read.
    /// </summary>
    public long LastEtagForIndexes
    {
        get => Volatile.Read(ref _lastEtagForIndexes);
        internal set => Volatile.Write(ref _lastEtagForIndexes, value);
    }

    /// <summary>
    /// Etag of the last deletion of an index that readers can see since the node started; 0 if there was none. Costs
    /// one volatile read.
    /// </summary>
    public long LastIndexDeletion
    {
        get => Volatile.Read(ref _lastIndexDeletion);
        internal set => Volatile.Write(ref _lastIndexDeletion, value);
    }

    /// <summary>
    /// Opens a snapshot of the database for a client: documents that have expired when it is opened are absent. Dispose
    /// it soon: it pins memory and files.
    /// </summary>
    /// <exception cref="DatabaseGoneException">The database was deleted or replaced.</exception>
    public DatabaseReader OpenReader() => ReaderOf(_storage.OpenSnapshot(), hidesExpired: true);

    /// <summary>
    /// Opens a snapshot as <see cref="OpenReader"/>, but expired documents are present until they are deleted.
    /// </summary>
    /// <exception cref="DatabaseGoneException">The database was deleted or replaced.</exception>
    public DatabaseReader OpenReaderWithExpired() => ReaderOf(_storage.OpenSnapshot(), hidesExpired: false);

    /// <summary>
    /// Opens a snapshot for background work, which may keep it for long. If open snapshots pin too much, those of
    /// background work are ended first. They never cause a client's snapshot to be ended. Documents that have expired
    /// are present until they are removed, so that indexes of all members contain the same ones.
    /// </summary>
    /// <exception cref="DatabaseGoneException">The database was deleted or replaced.</exception>
    public DatabaseReader OpenBackgroundReader() => ReaderOf(_storage.OpenBackgroundSnapshot(), hidesExpired: false);

    /// <summary>
    /// Opens another reader of the snapshot that an open reader reads, for a client. The snapshot need not be the
    /// newest one.
    /// </summary>
    /// <exception cref="DatabaseGoneException">The database was deleted or replaced.</exception>
    public DatabaseReader Share(in DatabaseReader open) => ReaderOf(open.Snapshot.Share(), hidesExpired: true);

    /// <summary>
    /// Returns when the next of the documents that clients find now expires, in UTC ticks; 0 if none expires. Costs one
    /// volatile read in a database without documents that expire, and otherwise one look-up.
    /// </summary>
    /// <exception cref="DatabaseGoneException">The database was deleted or replaced.</exception>
    public long ReadNextExpiry()
    {
        if (!HasExpiring)
        {
            return 0;
        }

        using var reader = OpenReader();
        return ExpiredDocuments.ReadNextExpiry(reader);
    }

    private DatabaseReader ReaderOf(in Snapshot snapshot, bool hidesExpired)
    {
        if (_refusesReaders || _storage.InstallCount != _installs)
        {
            // The snapshot is opened before this check. RefuseReaders is called before any snapshot contains the
            // deletion, so no reader of the deleted state passes.
            snapshot.Dispose();
            throw new DatabaseGoneException(Name, _isDeleted);
        }

        // HasExpiring is read after the snapshot is opened, so it is set if the snapshot has a document that expires.
        long hiddenTicks = hidesExpired && HasExpiring && !Configurations.KeepsExpired ? Clock.ReadTicks() : 0;
        return new DatabaseReader(this, snapshot, new HiddenDocuments(hiddenTicks));
    }

    /// <summary>
    /// Subscribes to the changes applied from now on. The subscription ends when the database is deleted.
    /// </summary>
    /// <param name="capacity">Number of unread changes after which further ones are dropped.</param>
    public ChangeSubscription<DocumentChange> Subscribe(int capacity = ChangeSubscription<DocumentChange>.Capacity) =>
        Changes.Subscribe(capacity);

    /// <summary>
    /// Subscribes to the changes of indexes applied from now on. The subscription ends when the database is deleted.
    /// </summary>
    public ChangeSubscription<IndexChange> SubscribeToIndexes() => IndexChanges.Subscribe();

    /// <summary>
    /// Subscribes to the changes of data subscriptions applied from now on. Ends when the database is deleted.
    /// </summary>
    public ChangeSubscription<SubscriptionChange> FollowSubscriptions() => SubscriptionChanges.Subscribe();

    /// <summary>
    /// Waits until readers can see an operation on this database after an etag. Returns at once if they can already,
    /// and when the database is deleted or replaced.
    /// </summary>
    /// <param name="etag">The etag of the last operation that the caller has seen.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task WaitForOperationAfterAsync(long etag, CancellationToken cancellationToken)
    {
        var next = _written.Next();
        if (LastEtag <= etag && !_refusesReaders)
        {
            await next.WaitAsync(cancellationToken);
        }
    }

    /// <summary>
    /// Prevents further readers. Called before any snapshot contains the deletion or replacement, so that a reader sees
    /// the whole database or is refused.
    /// </summary>
    internal void RefuseReaders(bool isDeleted)
    {
        _isDeleted = isDeleted;
        _refusesReaders = true;
    }

    /// <summary>
    /// Registers the task that removes compare-exchange values that are due. Returns null if it was registered;
    /// otherwise the task that is in progress already, to wait for instead. Thread-safe.
    /// </summary>
    internal Task<bool>? TryBeginRemoval(Task<bool> removal) =>
        Interlocked.CompareExchange(ref _removal, removal, comparand: null);

    /// <summary>Ends the removal that <see cref="TryBeginRemoval"/> began.</summary>
    internal void EndRemoval() => Volatile.Write(ref _removal, null);

    /// <summary>Ends all subscriptions, because their subscribers would miss changes from here on.</summary>
    internal void Complete()
    {
        Changes.Complete();
        IndexChanges.Complete();
        SubscriptionChanges.Complete();
        _written.Set();
    }

    /// <summary>Wakes the callers that wait for an operation. Costs one volatile read if there are none.</summary>
    internal void SignalWritten() => _written.Set();

    /// <summary>Returns the change vector of <paramref name="etag"/> in this database: <c>A:ETAG-HISTORY</c>.</summary>
    public string ChangeVectorOf(long etag) => $"A:{etag}-{HistoryId}";
}
