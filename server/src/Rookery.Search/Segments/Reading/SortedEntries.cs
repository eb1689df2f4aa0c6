using System.Collections.Concurrent;
using System.Runtime.InteropServices;

namespace Rookery.Search.Segments.Reading;

/// <summary>Names the entries of one term in one order.</summary>
/// <param name="TermField">Number of the term's field.</param>
/// <param name="Term">The term's ordinal in that field.</param>
/// <param name="OrderField">Number of the field that the entries are ordered by.</param>
/// <param name="Order">Which of the orders of that field. The caller numbers them.</param>
public readonly record struct SortedEntriesKey(int TermField, long Term, int OrderField, int Order);

/// <summary>
/// Entries of a segment's terms, sorted by the value of another field, for queries such as
/// <c>where country = 'MX' order by name limit 10</c>. They are computed when the same key is asked for again, and
/// held in the cache's memory until others need it. A segment is immutable, so a computed order stays valid.
/// Thread-safe.
/// </summary>
public sealed class SortedEntries
{
    // More keys are forgotten together. A key without entries takes about 150 bytes.
    private const int MaxKeys = 1024;

    private readonly ConcurrentDictionary<SortedEntriesKey, CachedPage?[]> _slots = new();
    private readonly SegmentCache _cache;
    private int _keys;

    internal SortedEntries(SegmentCache cache) => _cache = cache;

    /// <summary>Finds the sorted entries of a key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="entries">The entries, in order.</param>
    /// <param name="isWanted">If they are not held: whether the key was asked for before, so that the caller should
    /// compute them and call <see cref="Keep"/>.</param>
    /// <returns>Whether they are held.</returns>
    public bool TryFind(in SortedEntriesKey key, out ReadOnlySpan<int> entries, out bool isWanted)
    {
        isWanted = _slots.TryGetValue(key, out var slot);
        if (isWanted && Volatile.Read(ref slot![0]) is { } held)
        {
            held.WasRead = true;
            entries = MemoryMarshal.Cast<byte, int>(held.Bytes);
            return true;
        }

        entries = default;
        if (!isWanted)
        {
            Register(key);
        }

        return false;
    }

    /// <summary>Holds the sorted entries of a key, if the cache has memory for them.</summary>
    /// <param name="key">A key that <see cref="TryFind"/> was called with.</param>
    /// <param name="entries">The entries, in order.</param>
    public void Keep(in SortedEntriesKey key, ReadOnlySpan<int> entries)
    {
        if (_slots.TryGetValue(key, out var slot))
        {
            _cache.Add(new CachedPage(slot, number: 0, MemoryMarshal.AsBytes(entries).ToArray()));
        }
    }

    /// <summary>Forgets all keys.</summary>
    internal void Clear()
    {
        foreach (var key in _slots.Keys)
        {
            if (_slots.TryRemove(key, out var slot))
            {
                Interlocked.Decrement(ref _keys);
                _cache.Remove(slot);
            }
        }
    }

    private void Register(in SortedEntriesKey key)
    {
        if (Volatile.Read(ref _keys) >= MaxKeys)
        {
            Clear();
        }

        if (_slots.TryAdd(key, new CachedPage?[1]))
        {
            Interlocked.Increment(ref _keys);
        }
    }
}
