namespace Rookery.Documents.Apply;

/// <summary>
/// Counts the memory of the counters of all collections, so that counters can be dropped from memory. The number of
/// collections cannot be limited instead, because all members have the same ones, whatever their memory. Used only by
/// the apply thread.
/// </summary>
internal sealed class CollectionMemory
{
    // Enough for more than ten thousand collections with ordinary names.
    private const long MaxBytes = 4 << 20;

    // The object with the counters, the three objects with its name, and the entry in a dictionary.
    private const int BytesPerCollection = 240;

    // The name in lower case, as it was written, and as a string.
    private const int BytesPerNameByte = 4;

    // Relieving down to half spreads the cost of a search among many databases over many entries.
    private const long RelievedBytes = MaxBytes / 2;

    private readonly Dictionary<DatabaseState, long> _bytesOf = [];
    private long _bytes;

    /// <summary>Whether the counters have reached their limit of 4 MiB.</summary>
    public bool IsFull => _bytes >= MaxBytes;

    /// <summary>Counts a collection that was added to a database.</summary>
    public void Add(DatabaseState database, CollectionCounters collection) => Change(database, BytesOf(collection));

    /// <summary>Counts a collection that was removed from a database.</summary>
    public void Release(DatabaseState database, CollectionCounters collection) =>
        Change(database, -BytesOf(collection));

    /// <summary>
    /// If the memory is full, drops from it the collections of the databases that use most of it. Call it between
    /// entries of the log. The database that is written does not come first: otherwise it would read its counters again
    /// for every entry while another database fills the memory.
    /// </summary>
    public void Relieve()
    {
        if (!IsFull)
        {
            return;
        }

        foreach (var (database, _) in _bytesOf.OrderByDescending(static entry => entry.Value).ToArray())
        {
            database.DropCollections();
            if (_bytes <= RelievedBytes)
            {
                return;
            }
        }
    }

    /// <summary>Counts from zero, because all collections were discarded.</summary>
    public void Reset()
    {
        _bytesOf.Clear();
        _bytes = 0;
    }

    private void Change(DatabaseState database, long bytes)
    {
        _bytes += bytes;
        long newBytes = _bytesOf.GetValueOrDefault(database) + bytes;
        if (newBytes == 0)
        {
            _bytesOf.Remove(database);
        }
        else
        {
            _bytesOf[database] = newBytes;
        }
    }

    private static long BytesOf(CollectionCounters collection) =>
        BytesPerCollection + ((long)BytesPerNameByte * collection.LowerName.Length);
}
