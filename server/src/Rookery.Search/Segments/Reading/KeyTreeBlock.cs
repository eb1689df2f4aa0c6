using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// A place in one block of a tree: the item that it stands on, and how to come to the next. Keys are put together in
/// <see cref="Key"/>, which is one level's own memory.
/// </summary>
internal sealed class KeyTreeBlock
{
    // Most keys are far shorter than the longest may be.
    private const int FirstKeyBytes = 64;

    private byte[] _key = new byte[FirstKeyBytes];
    private byte[] _page = [];
    private int _next;
    private int _itemsLeft;
    private int _keyLength;
    private int _payloadStart;
    private int _payloadLength;

    /// <summary>The key of the item.</summary>
    public ReadOnlySpan<byte> Key => _key.AsSpan(0, _keyLength);

    /// <summary>The payload of the item.</summary>
    public ReadOnlySpan<byte> Payload => _page.AsSpan(_payloadStart, _payloadLength);

    /// <summary>The page that holds the payload, and where.</summary>
    public ReadOnlyMemory<byte> PayloadMemory => _page.AsMemory(_payloadStart, _payloadLength);

    /// <summary>Whether another item follows.</summary>
    public bool HasNext => _itemsLeft > 0;

    /// <summary>Goes before the first item of the block at an address.</summary>
    public void Open(SegmentPages pages, long address)
    {
        _page = pages.PageOf(address, out _next);
        _itemsLeft = Varint.ReadInt(_page, ref _next);
        _keyLength = 0;
        _payloadLength = 0;
    }

    /// <summary>Goes to the next item; false when there is none.</summary>
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

    /// <summary>
    /// What it needs to come back before the next item. The key is then that of the item after it, which the items
    /// behind share bytes with as well.
    /// </summary>
    public (int Next, int ItemsLeft, int KeyLength) Mark() => (_next, _itemsLeft, _keyLength);

    /// <summary>
    /// Comes back to before the item that was looked at. Its bytes that lie within the former key's length may stand in
    /// <see cref="Key"/>: the next <see cref="MoveNext"/> puts the same ones there again, so only <see cref="Key"/> and
    /// <see cref="Payload"/> are not to be read until then.
    /// </summary>
    public void Return((int Next, int ItemsLeft, int KeyLength) mark) => (_next, _itemsLeft, _keyLength) = mark;
}
