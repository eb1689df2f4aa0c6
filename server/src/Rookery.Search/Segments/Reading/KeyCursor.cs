using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// A walk over the keys of a tree, forwards, from any key or ordinal. To be used again for any number of seeks. One
/// thread.
/// </summary>
public sealed class KeyCursor
{
    private readonly SegmentPages _pages;
    private readonly KeyTreeRoot _root;
    private readonly KeyTreeBlock[] _levels;
    private bool _isOpen;

    /// <summary>A cursor before the first key.</summary>
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

    /// <summary>Keys in the tree.</summary>
    public long Count => _root.Count;

    /// <summary>The key it stands on; changes with the next call.</summary>
    public ReadOnlySpan<byte> Key => _levels[0].Key;

    /// <summary>What belongs to it.</summary>
    public ReadOnlySpan<byte> Payload => _levels[0].Payload;

    /// <summary>The same; stays as it is for as long as it is held.</summary>
    public ReadOnlyMemory<byte> PayloadMemory => _levels[0].PayloadMemory;

    /// <summary>How many keys are lower. <see cref="Count"/> behind the last.</summary>
    public long Ordinal { get; private set; } = -1;

    /// <summary>Goes to the next key, the first at first; false behind the last.</summary>
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

    /// <summary>Goes to the first key that is not below <paramref name="key"/>; false when all are.</summary>
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

        // What may be left of the leaf's ordinal is counted here.
        while (_levels[0].MoveNext())
        {
            if (_levels[0].Key.SequenceCompareTo(key) >= 0)
            {
                return true;
            }

            Ordinal++;
        }

        Ordinal--;
        return MoveNext();
    }

    /// <summary>
    /// Goes to <paramref name="key"/>; false when it is not there, and then the cursor stands on the next one or behind
    /// the last.
    /// </summary>
    public bool SeekExact(ReadOnlySpan<byte> key) => Seek(key) && Key.SequenceEqual(key);

    /// <summary>Goes to the key that has so many below it; false when there are not so many.</summary>
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
        long left = ordinal;
        _levels[^1].Open(_pages, _root.Address);
        for (int level = _levels.Length - 1; level > 0; level--)
        {
            while (true)
            {
                Require(_levels[level].MoveNext());
                var (address, keys) = Child(_levels[level]);
                if (left < keys)
                {
                    _levels[level - 1].Open(_pages, address);
                    break;
                }

                left -= keys;
            }
        }

        for (; left >= 0; left--)
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

    private static void Require(bool isThere)
    {
        if (!isThere)
        {
            throw SegmentFormat.Malformed();
        }
    }

    /// <summary>Opens the first leaf below the item at which a level stands.</summary>
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
    /// The last child whose separator is not above the key. The level is left so that its next item is the one behind
    /// it.
    /// </summary>
    private long ChildBelow(KeyTreeBlock block, ReadOnlySpan<byte> key)
    {
        Require(block.MoveNext());
        var (address, keys) = Child(block);
        while (block.HasNext)
        {
            var before = block.Mark();
            block.MoveNext();
            if (block.Key.SequenceCompareTo(key) > 0)
            {
                block.Return(before);
                break;
            }

            Ordinal += keys;
            (address, keys) = Child(block);
        }

        return address;
    }
}
