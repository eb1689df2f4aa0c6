using Rookery.Documents.Changes;
using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>What the operations of one command work on.</summary>
internal sealed class ApplyContext
{
    private readonly List<DocumentChange> _changes = [];

    /// <summary>The frame.</summary>
    public FrameScope Frame { get; private set; }

    /// <summary>The frame's batch.</summary>
    public WriteBatch Batch => Frame.Batch;

    /// <summary>The frame's time, in UTC ticks: the only clock of apply.</summary>
    public long LogTicks => Frame.LogTicks;

    /// <summary>The command's database.</summary>
    public DatabaseState Database { get; private set; } = null!;

    /// <summary>The etag of the operation at hand.</summary>
    public long Etag { get; set; }

    /// <summary>
    /// What subscribers of the database are told when the command succeeds; collected only when there are any.
    /// </summary>
    public IReadOnlyList<DocumentChange> Changes => _changes;

    /// <summary>What the patches of the frame and of the command have cost.</summary>
    public PatchBudget Patches { get; } = new();

    /// <summary>Whether somebody waits for the outcome of the frame: nobody does in replay.</summary>
    public bool IsAnswered { get; set; }

    /// <summary>Whether anybody wants to know of changes.</summary>
    public bool IsWatched { get; private set; }

    /// <summary>
    /// Whether a document that is damaged counts as missing; only where nothing of it is kept (an export).
    /// </summary>
    public bool ReadsAroundDamage { get; set; }

    /// <summary>The damage that this command met, when it reads around damage.</summary>
    public DamageEvent? Damage { get; private set; }

    public void Begin(in FrameScope frame, DatabaseState database, long firstEtag)
    {
        Frame = frame;
        Database = database;
        Etag = firstEtag;
        IsWatched = database.Database.Changes.HasSubscribers;
        Damage = null;
        _changes.Clear();
        Patches.BeginCommand();
    }

    public void Note(in DocumentChange change) => _changes.Add(change);

    /// <summary>Looks a document up, changes of this batch included.</summary>
    public Document FindDocument(ReadOnlySpan<byte> lowerId)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        try
        {
            return Batch.TryGet(Key.Text(key, Database.Number, Table.Documents, lowerId), out var row)
                ? new Document(row)
                : default;
        }
        catch (DamagedException damaged) when (ReadsAroundDamage)
        {
            Damage = damaged.Damage;
            return default;
        }
    }
}
