using Rookery.Documents.Changes;
using Rookery.Documents.Consensus;
using Rookery.Documents.Indexes;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// One database of the node: its name and its history. Reads go through <see cref="OpenReader"/>, writes through
/// <see cref="IConsensus"/>.
/// </summary>
public sealed class Database
{
    private readonly StorageEngine _storage;
    private readonly long _installs;
    private volatile bool _isDeleted;
    private volatile bool _isLeft;
    private long _lastEtag;

    internal Database(DatabaseRecord record, StorageEngine storage)
    {
        Record = record;
        _storage = storage;
        _installs = storage.Installs;
    }

    /// <summary>The name, in the case it was created with.</summary>
    public string Name => Record.Name;

    /// <summary>The database's number; never used again after it is deleted.</summary>
    public uint Number => Record.Number;

    /// <summary>
    /// The part of every change vector that names this history: 22 characters, renewed when the database is created or
    /// restored.
    /// </summary>
    public string HistoryId => Record.HistoryId;

    /// <summary>When it was created, in UTC ticks of log time.</summary>
    public long CreatedTicks => Record.CreatedTicks;

    internal DatabaseRecord Record { get; }

    internal ChangeHub<DocumentChange> Changes { get; } = new();

    internal ChangeHub<IndexChange> IndexChanges { get; } = new();

    /// <summary>
    /// The etag of the last operation on the database that can be read. Costs one volatile read: who follows the
    /// documents by etag sees by it whether there is more.
    /// </summary>
    public long LastEtag
    {
        get => Volatile.Read(ref _lastEtag);
        internal set => Volatile.Write(ref _lastEtag, value);
    }

    /// <summary>A view of the database at one moment. Dispose it soon: it keeps memory and files alive.</summary>
    /// <exception cref="DatabaseGoneException">It is not there any more, or is another by now.</exception>
    public DatabaseReader OpenReader()
    {
        var snapshot = _storage.OpenSnapshot();
        if (_isLeft || _storage.Installs != _installs)
        {
            // Asked when the snapshot is open: of what it can see it was said before.
            snapshot.Dispose();
            throw new DatabaseGoneException(Name, _isDeleted);
        }

        return new DatabaseReader(this, snapshot);
    }

    /// <summary>A stream of the changes that are applied from now on. It ends when the database is deleted.</summary>
    /// <param name="capacity">How many wait for the subscriber before further ones are lost.</param>
    public ChangeSubscription<DocumentChange> Subscribe(int capacity = ChangeSubscription<DocumentChange>.Capacity) =>
        Changes.Subscribe(capacity);

    /// <summary>
    /// A stream of the changes of indexes that are applied from now on. It ends when the database is deleted.
    /// </summary>
    public ChangeSubscription<IndexChange> SubscribeToIndexes() => IndexChanges.Subscribe();

    /// <summary>
    /// Says that no reader is to be opened any more. Before a snapshot can see that: a reader then finds the database
    /// whole, or is refused.
    /// </summary>
    internal void Leave(bool isDeleted)
    {
        _isDeleted = isDeleted;
        _isLeft = true;
    }

    /// <summary>Ends all subscriptions: changes are missed from here on, or there will be none.</summary>
    internal void Complete()
    {
        Changes.Complete();
        IndexChanges.Complete();
    }

    /// <summary>The change vector of <paramref name="etag"/> in this database: <c>A:ETAG-HISTORY</c>.</summary>
    public string ChangeVectorOf(long etag) => $"A:{etag}-{HistoryId}";
}
