using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>The part of a run with its key range and range tombstones.</summary>
internal static unsafe class RunProperties
{
    public static byte[] Encode(
        ReadOnlySpan<byte> smallestKey,
        ReadOnlySpan<byte> largestKey,
        RangeTombstoneSet tombstones
    )
    {
        var bytes = new List<byte>();
        AppendKey(bytes, smallestKey);
        AppendKey(bytes, largestKey);
        foreach (var piece in tombstones.Pieces)
        {
            AppendKey(bytes, piece.From.Span);
            AppendKey(bytes, piece.ToExclusive.Span);
            AppendNumber(bytes, (ulong)piece.Sequence);
        }

        return [.. bytes];
    }

    /// <summary>
    /// Decodes the output of <see cref="Encode"/>. Returns false if it is inconsistent or does not contain
    /// <paramref name="expectedTombstones"/>.
    /// </summary>
    public static bool TryDecode(
        ReadOnlySpan<byte> encoded,
        long expectedTombstones,
        out byte[] smallestKey,
        out byte[] largestKey,
        out RangeTombstoneSet tombstones
    )
    {
        tombstones = RangeTombstoneSet.Empty;
        largestKey = [];
        fixed (byte* start = encoded)
        {
            byte* at = start;
            byte* end = start + encoded.Length;
            if (!TryReadKey(ref at, end, out smallestKey) || !TryReadKey(ref at, end, out largestKey))
            {
                return false;
            }

            var read = new List<RangeTombstone>();
            while (at != end)
            {
                if (
                    !TryReadKey(ref at, end, out byte[] from)
                    || !TryReadKey(ref at, end, out byte[] toExclusive)
                    || !Varint.TryRead(ref at, end, out ulong sequence)
                )
                {
                    return false;
                }

                read.Add(new RangeTombstone(from, toExclusive, (long)sequence));
            }

            tombstones = read.Count == 0 ? RangeTombstoneSet.Empty : new RangeTombstoneSet(read);
            return tombstones.Pieces.Count == expectedTombstones;
        }
    }

    private static void AppendKey(List<byte> bytes, ReadOnlySpan<byte> key)
    {
        AppendNumber(bytes, (ulong)key.Length);
        bytes.AddRange(key);
    }

    private static void AppendNumber(List<byte> bytes, ulong number)
    {
        Span<byte> encoded = stackalloc byte[Varint.MaxBytes64];
        bytes.AddRange(encoded[..Varint.Write(encoded, number)]);
    }

    private static bool TryReadKey(ref byte* at, byte* end, out byte[] key)
    {
        key = [];
        if (!Varint.TryRead(ref at, end, out ulong length) || length > (ulong)(end - at))
        {
            return false;
        }

        key = new ReadOnlySpan<byte>(at, (int)length).ToArray();
        at += length;
        return true;
    }
}
