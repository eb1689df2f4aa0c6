using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// A forward cursor over the keys of a tree, from any key or ordinal. Reusable for any number of seeks. Not
/// thread-safe.
/// </summary>
public sealed class KeyCursor
{
    private readonly SegmentPages _pages;
    private readonly KeyTreeRoot _root;
    private readonly KeyTreeBlock[] _levels;
    private bool _isOpen;

    /// <summary>Creates a cursor before the first key.</summary>
    internal KeyCursor(SegmentPages pages, KeyTreeRoot root)
    {
        _pages = pages;
        _root = root;
        _levels = new KeyTreeBlock[root.Height];
        for (int i = 0; i < _levels.Length; i++)
        {
            _levels[i] = new KeyTreeBlock();
        }
    }

    /// <summary>Number of keys in the tree.</summary>
    public long Count => _root.Count;

    /// <summary>The current key, valid until the next call.</summary>
    public ReadOnlySpan<byte> Key => _levels[0].Key;

    /// <summary>The payload of the current key, valid until the next call.</summary>
    public ReadOnlySpan<byte> Payload => _levels[0].Payload;

    /// <summary>The payload of the current key, valid for as long as it is referenced.</summary>
    public ReadOnlyMemory<byte> PayloadMemory => _levels[0].PayloadMemory;

    /// <summary>
    /// Number of keys before the current one; -1 before the first move, <see cref="Count"/> after the last key.
    /// </summary>
    public long Ordinal { get; private set; } = -1;

    /// <summary>Moves to the next key, or at the beginning to the first. Returns false after the last.</summary>
    public bool MoveNext()
    {
        if (_levels.Length == 0)
        {
            return false;
        }

        if (!_isOpen)
        {
            return SeekOrdinal(0);
        }

        if (Ordinal >= Count)
        {
            return false;
        }

        Ordinal++;
        for (int level = 0; level < _levels.Length; level++)
        {
            if (_levels[level].MoveNext())
            {
                return Descend(level);
            }
        }

        Ordinal = Count;
        return false;
    }

    /// <summary>
    /// Moves to the first key that is at least <paramref name="key"/>. Returns false if all keys are lower.
    /// </summary>
    public bool Seek(ReadOnlySpan<byte> key)
    {
        if (_levels.Length == 0)
        {
            return false;
        }

        Ordinal = 0;
        _isOpen = true;
        _levels[^1].Open(_pages, _root.Address);
        for (int level = _levels.Length - 1; level > 0; level--)
        {
            _levels[level - 1].Open(_pages, ChildBelow(_levels[level], key));
        }

        // Counts the keys passed in the leaf.
        while (_levels[0].MoveNext())
        {
            if (_levels[0].Key.SequenceCompareTo(key) >= 0)
            {
                return true;
            }

            Ordinal++;
        }

        // All keys of the leaf are lower, so the wanted key is the first of the next leaf.
        Ordinal--;
        return MoveNext();
    }

    /// <summary>
    /// Moves to <paramref name="key"/>. Returns false if it does not exist; the cursor is then on the next key or after
    /// the last.
    /// </summary>
    public bool SeekExact(ReadOnlySpan<byte> key) => Seek(key) && Key.SequenceEqual(key);

    /// <summary>Moves to the key with this ordinal. Returns false if there are not that many keys.</summary>
    public bool SeekOrdinal(long ordinal)
    {
        if (ordinal < 0 || ordinal >= Count)
        {
            Ordinal = Count;
            _isOpen = true;
            return false;
        }

        _isOpen = true;
        Ordinal = ordinal;
        long remaining = ordinal;
        _levels[^1].Open(_pages, _root.Address);
        for (int level = _levels.Length - 1; level > 0; level--)
        {
            while (true)
            {
                Require(_levels[level].MoveNext());
                var (address, keys) = Child(_levels[level]);
                if (remaining < keys)
                {
                    _levels[level - 1].Open(_pages, address);
                    break;
                }

                remaining -= keys;
            }
        }

        for (; remaining >= 0; remaining--)
        {
            Require(_levels[0].MoveNext());
        }

        return true;
    }

    private static (long Address, long Keys) Child(KeyTreeBlock block)
    {
        int at = 0;
        var payload = block.Payload;
        long address = (long)Varint.Read(payload, ref at);
        long keys = (long)Varint.Read(payload, ref at);
        return keys > 0 ? (address, keys) : throw SegmentFormat.Malformed();
    }

    private static void Require(bool condition)
    {
        if (!condition)
        {
            throw SegmentFormat.Malformed();
        }
    }

    /// <summary>Moves to the first leaf key below the current item of a level.</summary>
    private bool Descend(int level)
    {
        for (; level > 0; level--)
        {
            _levels[level - 1].Open(_pages, Child(_levels[level]).Address);
            Require(_levels[level - 1].MoveNext());
        }

        return true;
    }

    /// <summary>
    /// Returns the last child whose separator is not greater than the key. The level is then positioned on that child.
    /// </summary>
    private long ChildBelow(KeyTreeBlock block, ReadOnlySpan<byte> key)
    {
        Require(block.MoveNext());
        var (address, keys) = Child(block);
        while (block.HasNext)
        {
            var saved = block.SavePosition();
            block.MoveNext();
            if (block.Key.SequenceCompareTo(key) > 0)
            {
                block.RestorePosition(saved);
                break;
            }

            Ordinal += keys;
            (address, keys) = Child(block);
        }

        return address;
    }
}
