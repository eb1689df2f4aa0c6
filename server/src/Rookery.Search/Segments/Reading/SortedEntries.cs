using System.Collections.Concurrent;
using System.Runtime.InteropServices;

namespace Rookery.Search.Segments.Reading;

/// <summary>The key of a sorted list: a term, and the order of its entries.</summary>
/// <param name="TermField">Number of the term's field.</param>
/// <param name="Term">The term's ordinal in that field.</param>
/// <param name="OrderField">Number of the field that the entries are ordered by.</param>
/// <param name="Order">How the entries are ordered by that field, such as descending. The caller assigns the
/// numbers.</param>
public readonly record struct SortedEntriesKey(int TermField, long Term, int OrderField, int Order);

/// <summary>
/// Entries of a segment's terms, sorted by the value of another field, for queries such as
/// <c>where country = 'MX' order by name limit 10</c>. The second request for a key asks the caller to sort. The result
/// is held in the cache's memory until other pages need it. A segment is immutable, so a sorted order stays valid.
/// Thread-safe.
/// </summary>
public sealed class SortedEntries
{
    /// <summary>Maximum number of known keys of a segment.</summary>
    public const int MaxKeys = 1024;

    /// <summary>
    /// Memory charged for each known key, in bytes: the dictionary's node, the slot, and the cache's objects for sorted
    /// entries.
    /// </summary>
    public const int KeyBytes = 320;

    // Number of keys from which the key to forget is chosen.
    private const int ForgetCandidates = 16;

    private readonly Lock _gate = new();
    private readonly SegmentCache _cache;
    private ConcurrentDictionary<SortedEntriesKey, Slot>? _slots;

    internal SortedEntries(SegmentCache cache) => _cache = cache;

    /// <summary>Finds the sorted entries of a key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="entries">The entries, in order.</param>
    /// <param name="shouldSort">If they are not held: whether the caller should sort them and call <see cref="Keep"/>.
    /// True at the second request of a key, and again after 64 requests if the cache refused or evicted the
    /// entries.</param>
    /// <returns>Whether they are held.</returns>
    public bool TryFind(in SortedEntriesKey key, out ReadOnlySpan<int> entries, out bool shouldSort)
    {
        entries = default;
        shouldSort = false;
        if (Volatile.Read(ref _slots) is not { } slots || !slots.TryGetValue(key, out var slot))
        {
            Register(key);
            return false;
        }

        if (Volatile.Read(ref slot.Pages[0]) is { } held)
        {
            held.WasRead = true;
            entries = MemoryMarshal.Cast<byte, int>(held.Bytes);
            return true;
        }

        shouldSort = slot.TryBeginSort();
        return false;
    }

    /// <summary>
    /// Holds the sorted entries of a key, if the cache has memory for them.
    /// </summary>
    /// <param name="key">A key for which <see cref="TryFind"/> asked the caller to sort.</param>
    /// <param name="entries">The entries, in order, as 32-bit integers of this machine. Not copied.</param>
    public void Keep(in SortedEntriesKey key, byte[] entries)
    {
        if (Volatile.Read(ref _slots) is { } slots && slots.TryGetValue(key, out var slot))
        {
            _cache.Add(new CachedPage(slot.Pages, number: 0, entries));
        }
    }

    /// <summary>Forgets all keys of a closed segment.</summary>
    internal void Clear()
    {
        lock (_gate)
        {
            foreach (var key in _slots?.Keys ?? [])
            {
                Forget(key);
            }
        }
    }

    private void Register(in SortedEntriesKey key)
    {
        lock (_gate)
        {
            var slots = _slots;
            if (slots is null)
            {
                Volatile.Write(ref _slots, slots = new(concurrencyLevel: 1, capacity: 31));
            }

            if (slots.ContainsKey(key))
            {
                return;
            }

            if (slots.Count >= MaxKeys)
            {
                Forget(ChooseToForget(slots));
            }

            if (_cache.TryReserve(KeyBytes))
            {
                slots[key] = new Slot();
            }
        }
    }

    // Returns a key without held entries if one of the first keys has none; otherwise the first key.
    private static SortedEntriesKey ChooseToForget(ConcurrentDictionary<SortedEntriesKey, Slot> slots)
    {
        SortedEntriesKey? first = null;
        foreach (var (key, slot) in slots.Take(ForgetCandidates))
        {
            if (slot.Pages[0] is null)
            {
                return key;
            }

            first ??= key;
        }

        return first!.Value;
    }

    private void Forget(in SortedEntriesKey key)
    {
        if (_slots!.TryRemove(key, out var slot))
        {
            _cache.Remove(slot.Pages);
            _cache.Release(KeyBytes);
        }
    }

    private sealed class Slot
    {
        // If the cache refuses or evicts sorted entries, they are sorted again only after this many requests.
        private const int RequestsBetweenSorts = 64;

        private int _requests;

        // The page of the sorted entries; null while they are not held.
        public CachedPage?[] Pages { get; } = new CachedPage?[1];

        public bool TryBeginSort() => Interlocked.Increment(ref _requests) % RequestsBetweenSorts == 1;
    }
}
