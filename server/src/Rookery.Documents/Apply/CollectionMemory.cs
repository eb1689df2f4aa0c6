namespace Rookery.Documents.Apply;

/// <summary>
/// Counts the memory of the collections' counters of all databases. A database may have any number of collections, and
/// every member has the same ones whatever its memory. Used only by the apply thread.
/// </summary>
internal sealed class CollectionMemory
{
    // Enough for more than ten thousand collections with ordinary names.
    private const long MaxBytes = 4 << 20;

    // The counters, their four objects and their place in a dictionary.
    private const int BytesPerCollection = 240;

    // The name in lower case, as it was written, and as a string.
    private const int BytesPerNameByte = 4;

    private long _bytes;

    /// <summary>Whether the counters hold all memory that they may.</summary>
    public bool IsFull => _bytes >= MaxBytes;

    /// <summary>Counts a collection that was added.</summary>
    public void Add(CollectionCounters collection) => _bytes += BytesOf(collection);

    /// <summary>Counts a collection that was removed.</summary>
    public void Release(CollectionCounters collection) => _bytes -= BytesOf(collection);

    /// <summary>Counts from nothing, because all collections were discarded.</summary>
    public void Reset() => _bytes = 0;

    private static long BytesOf(CollectionCounters collection) =>
        BytesPerCollection + ((long)BytesPerNameByte * collection.LowerName.Length);
}
