using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// Finds one key of a tree without assembling keys, and so without allocation. For each key, the tree stores how many
/// bytes it shares with the previous key. This number often suffices to decide whether the key is lower or greater than
/// the wanted one.
/// </summary>
internal static class KeyTreeLookup
{
    /// <summary>Finds a key.</summary>
    /// <param name="pages">The pages of the tree.</param>
    /// <param name="root">The root of the tree.</param>
    /// <param name="key">The key.</param>
    /// <param name="ordinal">The number of lower keys.</param>
    /// <param name="payload">The payload of the key, valid for as long as it is referenced.</param>
    public static bool TryFind(
        SegmentPages pages,
        KeyTreeRoot root,
        ReadOnlySpan<byte> key,
        out long ordinal,
        out ReadOnlyMemory<byte> payload
    )
    {
        ordinal = 0;
        payload = default;
        if (root.Height == 0)
        {
            return false;
        }

        long address = root.Address;
        for (int level = root.Height - 1; level > 0; level--)
        {
            address = ChildOf(new Items(pages, address), key, ref ordinal);
        }

        var leaf = new Items(pages, address);
        for (; leaf.MoveNext(key); ordinal++)
        {
            if (leaf.Side >= 0)
            {
                payload = leaf.Side == 0 ? leaf.Payload : default;
                return leaf.Side == 0;
            }
        }

        return false;
    }

    /// <summary>
    /// Returns the last child whose separator is not greater than the key; the first if all are greater.
    /// </summary>
    private static long ChildOf(Items items, ReadOnlySpan<byte> key, ref long ordinal)
    {
        long address = -1;
        long keys = 0;
        while (items.MoveNext(key) && (address < 0 || items.Side <= 0))
        {
            ordinal += keys;
            int at = 0;
            var child = items.Payload.Span;
            address = (long)Varint.Read(child, ref at);
            keys = (long)Varint.Read(child, ref at);
            if (keys <= 0 || address < 0)
            {
                throw SegmentFormat.Malformed();
            }
        }

        return address >= 0 ? address : throw SegmentFormat.Malformed();
    }

    /// <summary>The items of one block, each compared with a key.</summary>
    private ref struct Items
    {
        private readonly byte[] _page;
        private int _next;
        private int _itemsLeft;
        private int _length;
        private int _matched;
        private int _payloadStart;
        private int _payloadLength;

        public Items(SegmentPages pages, long address)
        {
            _page = pages.PageOf(address, out _next);
            _itemsLeft = Varint.ReadInt(_page, ref _next);
            Side = -1;
        }

        /// <summary>
        /// The order of the current item and the key: negative if the item is lower, 0 if equal, positive if greater.
        /// </summary>
        public int Side { get; private set; }

        /// <summary>The payload of the current item.</summary>
        public readonly ReadOnlyMemory<byte> Payload => _page.AsMemory(_payloadStart, _payloadLength);

        public bool MoveNext(ReadOnlySpan<byte> key)
        {
            if (_itemsLeft <= 0)
            {
                return false;
            }

            _itemsLeft--;
            int shared = Varint.ReadInt(_page, ref _next);
            int further = Varint.ReadInt(_page, ref _next);
            if (shared > _length || further > SegmentFormat.KeyLimitBytes - shared || further > _page.Length - _next)
            {
                throw SegmentFormat.Malformed();
            }

            _length = shared + further;
            Compare(shared, _page.AsSpan(_next, further), key);
            _next += further;
            _payloadLength = Varint.ReadInt(_page, ref _next);
            _payloadStart = _next;
            if (_payloadLength > _page.Length - _next)
            {
                throw SegmentFormat.Malformed();
            }

            _next += _payloadLength;
            return true;
        }

        // The previous item is not greater than the key and shares its first _matched bytes.
        private void Compare(int shared, ReadOnlySpan<byte> further, ReadOnlySpan<byte> key)
        {
            if (shared > _matched)
            {
                Side = -1; // it differs from the key at the same byte as the previous item, which is lower
            }
            else if (shared < _matched)
            {
                Side = 1; // it is greater than the previous item in one of the bytes that match the key
            }
            else
            {
                var remainingKey = key[_matched..];
                int common = further.CommonPrefixLength(remainingKey);
                _matched += common;
                // Where the item ends, the key may continue. Otherwise the first different byte decides.
                Side =
                    common == further.Length ? common - remainingKey.Length
                    : common == remainingKey.Length || further[common] > remainingKey[common] ? 1
                    : -1;
            }
        }
    }
}
