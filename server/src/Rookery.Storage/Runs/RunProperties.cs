using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// The part of a run with its key range. The format has a place for range tombstones after it, which no version writes.
/// </summary>
internal static unsafe class RunProperties
{
    public static byte[] Encode(ReadOnlySpan<byte> smallestKey, ReadOnlySpan<byte> largestKey)
    {
        var bytes = new List<byte>();
        AppendKey(bytes, smallestKey);
        AppendKey(bytes, largestKey);
        return [.. bytes];
    }

    /// <summary>
    /// Decodes the output of <see cref="Encode"/>. Returns false if it is inconsistent, or is not followed by
    /// <paramref name="expectedTombstones"/> range tombstones.
    /// </summary>
    public static bool TryDecode(
        ReadOnlySpan<byte> encoded,
        long expectedTombstones,
        out byte[] smallestKey,
        out byte[] largestKey
    )
    {
        largestKey = [];
        fixed (byte* start = encoded)
        {
            byte* at = start;
            byte* end = start + encoded.Length;
            if (!TryReadKey(ref at, end, out smallestKey) || !TryReadKey(ref at, end, out largestKey))
            {
                return false;
            }

            long tombstones = 0;
            for (; at != end; tombstones++)
            {
                if (
                    !TryReadKey(ref at, end, out _)
                    || !TryReadKey(ref at, end, out _)
                    || !Varint.TryRead(ref at, end, out _)
                )
                {
                    return false;
                }
            }

            return tombstones == expectedTombstones;
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
