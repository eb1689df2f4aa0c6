using Rookery.Documents.Attachments;
using Rookery.Documents.Changes;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>State of the command that is being applied: its entry, database, etag and collected changes.</summary>
internal sealed class ApplyContext
{
    private readonly List<DocumentChange> _changes = [];

    /// <summary>The entry that contains the command.</summary>
    public EntryScope Entry { get; private set; }

    /// <summary>The batch that collects the entry's rows.</summary>
    public WriteBatch Batch => Entry.Batch;

    /// <summary>The entry's log time, in UTC ticks: the only clock that apply may use.</summary>
    public long LogTicks => Entry.LogTicks;

    /// <summary>The database that the command changes.</summary>
    public DatabaseState Database { get; private set; } = null!;

    /// <summary>Etag of the current operation.</summary>
    public long Etag { get; set; }

    /// <summary>
    /// Changes to publish to the database's subscribers if the command succeeds; empty if there are no subscribers.
    /// </summary>
    public IReadOnlyList<DocumentChange> Changes => _changes;

    /// <summary>Limits the costs of patches in the current entry and command.</summary>
    public PatchBudget Patches { get; } = new();

    /// <summary>
    /// Number of operations of the command that changed no document. They had no effect, or changed only counters or
    /// revisions.
    /// </summary>
    public int OperationsWithoutDocumentChange { get; set; }

    /// <summary>The revision that the current operation creates without regard to the configuration.</summary>
    public RevisionForcing Forcing { get; set; }

    /// <summary>The time that the current operation gives its document, in UTC ticks; 0 for the log time.</summary>
    public long GivenTicks { get; set; }

    /// <summary>The time of the version that the current operation stores, in UTC ticks.</summary>
    public long VersionTicks => GivenTicks == 0 ? LogTicks : GivenTicks;

    /// <summary>
    /// Number of revisions beyond their limits that the entry may still remove. Begins with
    /// <see cref="RevisionRows.MaxDeletesPerEntry"/>.
    /// </summary>
    public long RevisionDeletesLeft { get; set; }

    /// <summary>
    /// Receives the hash of each attached content whose last reference the command removed. If the command is refused
    /// later, the reference remains.
    /// </summary>
    public Action<uint, ContentHash>? ContentReleased { get; set; }

    /// <summary>
    /// Receives the hash of each attached content that loses a reference which was never counted: only a bug causes it.
    /// </summary>
    public Action<uint, ContentHash>? ContentMiscounted { get; set; }

    /// <summary>Whether a caller waits for the outcomes of the entry; false during replay.</summary>
    public bool HasCallers { get; set; }

    /// <summary>Whether the database has subscribers.</summary>
    public bool IsWatched { get; private set; }

    /// <summary>
    /// Whether a damaged document counts as missing. Only for exports: see <see cref="Applier.CommandSkipped"/>.
    /// </summary>
    public bool TreatsDamagedAsMissing { get; set; }

    /// <summary>
    /// The damage that this command read, if <see cref="TreatsDamagedAsMissing"/> is set; otherwise null.
    /// </summary>
    public DamageEvent? Damage { get; private set; }

    public void Begin(in EntryScope entry, DatabaseState database, long firstEtag)
    {
        Entry = entry;
        Database = database;
        Etag = firstEtag;
        IsWatched = database.Database.Changes.HasSubscribers;
        Damage = null;
        OperationsWithoutDocumentChange = 0;
        Forcing = RevisionForcing.None;
        GivenTicks = 0;
        _changes.Clear();
        Patches.BeginCommand();
    }

    /// <summary>Records damage that the command read, and returns the reason to refuse it. Only for exports.</summary>
    public Rejection RefuseFor(DamagedException damaged)
    {
        Damage = damaged.Damage;
        return new Rejection(RejectionKind.Damaged, damaged.Message) { Database = Database.Database.Name };
    }

    /// <summary>Reports a reference that was never counted.</summary>
    public void ReportMiscount(ContentHash hash)
    {
        if (!TreatsDamagedAsMissing)
        {
            ContentMiscounted?.Invoke(Database.Number, hash);
        }
    }

    public void AddChange(in DocumentChange change) => _changes.Add(change);

    /// <summary>Returns the counters of a collection of the database.</summary>
    public CollectionCounters Collection(ReadOnlySpan<byte> name) => Database.Collection(name, Batch);

    /// <summary>Looks up a document in the batch, then in the tables.</summary>
    public Document FindDocument(ReadOnlySpan<byte> lowerId) => Find(Table.Documents, lowerId);

    /// <summary>
    /// Looks up a compare-exchange value, expired or not, in the batch, then in the tables. Values are stored like
    /// documents.
    /// </summary>
    public Document FindCompareExchange(ReadOnlySpan<byte> lowerKey) => Find(Table.CompareExchange, lowerKey);

    /// <summary>Looks up a counter in the batch, then in the tables.</summary>
    /// <param name="key">The key of its row.</param>
    /// <param name="since">Rows with a lower etag are of a deleted document with this id.</param>
    /// <param name="value">Its value; 0 if there is no such counter.</param>
    public bool TryReadCounter(ReadOnlySpan<byte> key, long since, out long value)
    {
        value = 0;
        try
        {
            if (!Batch.TryGet(key, out var row))
            {
                return false;
            }

            using (row)
            {
                bool isOwn = DocumentCounters.Owns(since, row.Sequence);
                value = isOwn ? CounterValue.Read(row.Value) : 0;
                return isOwn;
            }
        }
        catch (DamagedException damaged) when (TreatsDamagedAsMissing)
        {
            Damage = damaged.Damage;
            return false;
        }
    }

    private Document Find(byte table, ReadOnlySpan<byte> lowerId)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        try
        {
            return Batch.TryGet(Key.WriteText(key, Database.Number, table, lowerId), out var row)
                ? new Document(row)
                : default;
        }
        catch (DamagedException damaged) when (TreatsDamagedAsMissing)
        {
            Damage = damaged.Damage;
            return default;
        }
    }
}

/// <summary>A revision that an operation creates without regard to the configuration.</summary>
internal enum RevisionForcing : byte
{
    /// <summary>Only the configuration decides.</summary>
    None = 0,

    /// <summary>A revision of the version that the operation replaces.</summary>
    OfPrevious = 1,

    /// <summary>A revision of the version that the operation stores.</summary>
    OfStored = 2,

    /// <summary>Like <see cref="OfStored"/>, for a revision in a dump that no client had forced.</summary>
    OfDump = 3,

    /// <summary>Like <see cref="OfStored"/>, for a revision in a dump that a client had forced.</summary>
    OfForcedDump = 4,

    /// <summary>No new revision. If the document's version is a revision, it stays one under its new etag.</summary>
    OfRestated = 5,
}
