using Rookery.Platform;
using Rookery.Queries.Conditions;

namespace Rookery.Queries.FullText;

/// <summary>
/// The words of the model document of <c>moreLikeThis</c>, and the memory of the query that they take. Not thread-safe.
/// </summary>
internal sealed class ModelWords : IDisposable
{
    // Estimates: objects, references and a table entry for each word; a clause, a table entry and counters for each
    // word that is looked up in a field.
    private const int BytesPerWord = 128;
    private const int BytesPerLookup = 128;

    private Dictionary<byte[], int> _occurrences = new(BytesComparer.Instance);
    private ScanMemory? _memory;
    private long _bytes;

    /// <summary>The number of occurrences of each word.</summary>
    public IReadOnlyDictionary<byte[], int> Occurrences => _occurrences;

    /// <summary>Counts an occurrence of a word.</summary>
    /// <exception cref="Language.QueryException">The query exceeds its memory.</exception>
    public void Add(ReadOnlySpan<byte> word)
    {
        var lookup = _occurrences.GetAlternateLookup<ReadOnlySpan<byte>>();
        if (lookup.TryGetValue(word, out int occurrences))
        {
            lookup[word] = occurrences + 1;
            return;
        }

        Reserve(BytesPerWord + word.Length);
        lookup[word] = 1;
    }

    /// <summary>
    /// Forgets all numbers of occurrences, and reserves memory only for the words that are looked up in fields.
    /// </summary>
    /// <param name="kept">The words that are looked up.</param>
    /// <param name="fields">The number of fields.</param>
    /// <exception cref="Language.QueryException">The query exceeds its memory.</exception>
    public void Keep(IReadOnlyList<byte[]> kept, int fields)
    {
        long countedBytes = _bytes;
        Reserve(kept.Sum(word => BytesPerWord + word.Length + (BytesPerLookup * (long)fields)));
        _occurrences = new(BytesComparer.Instance);
        _memory?.Release(countedBytes);
        _bytes -= countedBytes;
    }

    /// <summary>
    /// Reserves the memory of all words, including those added before, from the memory of a query. Releases what was
    /// reserved from the memory of an earlier answer.
    /// </summary>
    /// <param name="memory">The memory; null to reserve none, because the answer is complete.</param>
    /// <exception cref="Language.QueryException">The query exceeds its memory.</exception>
    public void UseMemory(QueryMemory? memory)
    {
        _memory?.Dispose();
        _memory = memory is null ? null : new ScanMemory(memory);
        _memory?.Reserve(_bytes);
    }

    /// <summary>Removes all words, and releases their memory.</summary>
    public void Clear()
    {
        _occurrences = new(BytesComparer.Instance);
        _memory?.ReleaseAll();
        _bytes = 0;
    }

    /// <inheritdoc/>
    public void Dispose() => Clear();

    private void Reserve(long bytes)
    {
        _memory?.Reserve(bytes);
        _bytes += bytes;
    }
}
