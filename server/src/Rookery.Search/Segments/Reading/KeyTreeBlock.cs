using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Reading;

/// <summary>A cursor over the items of one block of a tree. Keys are assembled in a buffer of its own.</summary>
internal sealed class KeyTreeBlock
{
    // Most keys are far shorter than the maximum.
    private const int FirstKeyBytes = 64;

    private byte[] _key = new byte[FirstKeyBytes];
    private byte[] _page = [];
    private int _next;
    private int _itemsLeft;
    private int _keyLength;
    private int _payloadStart;
    private int _payloadLength;

    /// <summary>The key of the current item.</summary>
    public ReadOnlySpan<byte> Key => _key.AsSpan(0, _keyLength);

    /// <summary>The payload of the current item.</summary>
    public ReadOnlySpan<byte> Payload => _page.AsSpan(_payloadStart, _payloadLength);

    /// <summary>The payload of the current item, in the memory of its page.</summary>
    public ReadOnlyMemory<byte> PayloadMemory => _page.AsMemory(_payloadStart, _payloadLength);

    /// <summary>Whether another item follows.</summary>
    public bool HasNext => _itemsLeft > 0;

    /// <summary>Moves before the first item of the block at an address.</summary>
    public void Open(SegmentPages pages, long address)
    {
        _page = pages.PageOf(address, out _next);
        _itemsLeft = Varint.ReadInt(_page, ref _next);
        _keyLength = 0;
        _payloadLength = 0;
    }

    /// <summary>Moves to the next item; returns false if there is none.</summary>
    public bool MoveNext()
    {
        if (_itemsLeft <= 0)
        {
            return false;
        }

        _itemsLeft--;
        int shared = Varint.ReadInt(_page, ref _next);
        int further = Varint.ReadInt(_page, ref _next);
        if (shared > _keyLength || further > SegmentFormat.KeyLimitBytes - shared || further > _page.Length - _next)
        {
            throw SegmentFormat.Malformed();
        }

        if (shared + further > _key.Length)
        {
            Array.Resize(ref _key, Math.Min(SegmentFormat.KeyLimitBytes, 2 * (shared + further)));
        }

        _page.AsSpan(_next, further).CopyTo(_key.AsSpan(shared));
        _next += further;
        _keyLength = shared + further;
        _payloadLength = Varint.ReadInt(_page, ref _next);
        _payloadStart = _next;
        if (_payloadLength > _page.Length - _next)
        {
            throw SegmentFormat.Malformed();
        }

        _next += _payloadLength;
        return true;
    }

    /// <summary>Returns the position before the next item, for <see cref="RestorePosition"/>.</summary>
    public (int Next, int ItemsLeft, int KeyLength) SavePosition() => (_next, _itemsLeft, _keyLength);

    /// <summary>
    /// Moves back by one item to a saved position. <see cref="Key"/> and <see cref="Payload"/> are invalid until the
    /// next <see cref="MoveNext"/>, which reads the same item again and so restores the shared bytes of the key.
    /// </summary>
    public void RestorePosition((int Next, int ItemsLeft, int KeyLength) saved) =>
        (_next, _itemsLeft, _keyLength) = saved;
}
