namespace Rookery.Indexing.Segments;

/// <summary>A place in one block of a tree: the item that it stands on, and how to come to the next. Keys are put together in <see cref="Key"/>, which is one level's own memory.</summary>
internal sealed class KeyTreeBlock
{
    // Most keys are far shorter than the longest may be.
    private const int FirstKeyBytes = 64;

    private byte[] key = new byte[FirstKeyBytes];
    private byte[] page = [];
    private int next;
    private int itemsLeft;
    private int keyLength;
    private int payloadStart;
    private int payloadLength;

    /// <summary>The key of the item.</summary>
    public ReadOnlySpan<byte> Key => key.AsSpan(0, keyLength);

    /// <summary>The payload of the item.</summary>
    public ReadOnlySpan<byte> Payload => page.AsSpan(payloadStart, payloadLength);

    /// <summary>The page that holds the payload, and where.</summary>
    public ReadOnlyMemory<byte> PayloadMemory => page.AsMemory(payloadStart, payloadLength);

    /// <summary>Whether another item follows.</summary>
    public bool HasNext => itemsLeft > 0;

    /// <summary>Goes before the first item of the block at an address.</summary>
    public void Open(SegmentPages pages, long address)
    {
        page = pages.PageOf(address, out next);
        itemsLeft = Varint.ReadInt(page, ref next);
        keyLength = 0;
        payloadLength = 0;
    }

    /// <summary>Goes to the next item; false when there is none.</summary>
    public bool MoveNext()
    {
        if (itemsLeft <= 0)
        {
            return false;
        }

        itemsLeft--;
        int shared = Varint.ReadInt(page, ref next);
        int further = Varint.ReadInt(page, ref next);
        if (shared > keyLength || further > SegmentFormat.KeyLimitBytes - shared || further > page.Length - next)
        {
            throw Varint.Malformed();
        }

        if (shared + further > key.Length)
        {
            Array.Resize(ref key, Math.Min(SegmentFormat.KeyLimitBytes, 2 * (shared + further)));
        }

        page.AsSpan(next, further).CopyTo(key.AsSpan(shared));
        next += further;
        keyLength = shared + further;
        payloadLength = Varint.ReadInt(page, ref next);
        payloadStart = next;
        if (payloadLength > page.Length - next)
        {
            throw Varint.Malformed();
        }

        next += payloadLength;
        return true;
    }

    /// <summary>What it needs to come back before the next item. The key is then that of the item after it, which the items behind share bytes with as well.</summary>
    public (int Next, int ItemsLeft, int KeyLength) Mark() => (next, itemsLeft, keyLength);

    /// <summary>
    /// Comes back to before the item that was looked at. Its bytes that lie within the former key's length may stand in <see cref="Key"/>: the next <see cref="MoveNext"/> puts the
    /// same ones there again, so only <see cref="Key"/> and <see cref="Payload"/> are not to be read until then.
    /// </summary>
    public void Return((int Next, int ItemsLeft, int KeyLength) mark) => (next, itemsLeft, keyLength) = mark;
}
