using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Rookery.Search.Segments.Postings;

/// <summary>
/// Packs 128 numbers with the same number of bits each. They are stored in four interleaved lanes (number i in lane i
/// mod 4), so vector instructions unpack four at once. No branch depends on a number.
/// </summary>
internal static class BitPacking
{
    /// <summary>Number of values in a block.</summary>
    public const int BlockLength = 128;

    private const int Lanes = 4;
    private const int Steps = BlockLength / Lanes;

    /// <summary>Returns the bytes of a block whose numbers have this many bits.</summary>
    public static int BytesOf(int bits) => bits * (BlockLength / 8);

    /// <summary>Returns the bits that the largest number needs.</summary>
    public static int BitsOf(ReadOnlySpan<uint> values)
    {
        uint all = 0;
        foreach (uint value in values)
        {
            all |= value;
        }

        return 32 - BitOperations.LeadingZeroCount(all);
    }

    /// <summary>Packs 128 numbers of at most <paramref name="bits"/> bits into <see cref="BytesOf"/> bytes.</summary>
    public static void Pack(ReadOnlySpan<uint> values, int bits, Span<byte> target)
    {
        target[..BytesOf(bits)].Clear();
        var words = MemoryMarshal.Cast<byte, uint>(target[..BytesOf(bits)]);
        for (int i = 0; i < BlockLength && bits > 0; i++)
        {
            int bit = i / Lanes * bits;
            int word = (bit / 32 * Lanes) + (i % Lanes);
            int shift = bit % 32;
            words[word] |= values[i] << shift;
            if (shift + bits > 32)
            {
                words[word + Lanes] |= values[i] >> (32 - shift);
            }
        }
    }

    /// <summary>Unpacks 128 numbers from <see cref="BytesOf"/> bytes.</summary>
    public static void Unpack(ReadOnlySpan<byte> source, int bits, Span<uint> values)
    {
        values = values[..BlockLength];
        if (bits == 0)
        {
            values.Clear();
            return;
        }

        source = source[..BytesOf(bits)];
        ref byte from = ref MemoryMarshal.GetReference(source);
        ref uint to = ref MemoryMarshal.GetReference(values);
        var mask = Vector128.Create(uint.MaxValue >> (32 - bits));
        int shift = 0;
        nuint word = 0;
        var current = Load(ref from, word: 0);
        for (nuint step = 0; step < Steps; step++)
        {
            var value = Vector128.ShiftRightLogical(current, shift);
            shift += bits;
            if (shift >= 32)
            {
                shift -= 32;
                word++;
                // With shift 0, the value ends with this word. The next word contains nothing of it, and after the last
                // value there is no next word.
                if (step + 1 < Steps || shift > 0)
                {
                    current = Load(ref from, word);
                    value |=
                        Vector128.ShiftLeft(current, bits - shift) & Vector128.Create(shift == 0 ? 0 : uint.MaxValue);
                }
            }

            (value & mask).StoreUnsafe(ref to, step * Lanes);
        }
    }

    /// <summary>Converts gaps to entries: each entry is the previous one, plus its gap, plus 1.</summary>
    /// <param name="gaps">128 gaps, replaced by the entries.</param>
    /// <param name="before">The entry before the first; -1 for none.</param>
    public static void Accumulate(Span<uint> gaps, int before)
    {
        uint entry = (uint)before;
        ref uint first = ref MemoryMarshal.GetReference(gaps[..BlockLength]);
        var carry = Vector128.Create(entry);
        for (nuint i = 0; i < BlockLength; i += Lanes)
        {
            var value = Vector128.LoadUnsafe(ref first, i) + Vector128<uint>.One;
            // The prefix sums of four lanes in two steps: adds to each lane the lane before it, then the lane two
            // before.
            value +=
                Vector128.Shuffle(value, Vector128.Create(0u, 0, 1, 2))
                & Vector128.Create(0u, uint.MaxValue, uint.MaxValue, uint.MaxValue);
            value +=
                Vector128.Shuffle(value, Vector128.Create(0u, 0, 0, 1))
                & Vector128.Create(0u, 0, uint.MaxValue, uint.MaxValue);
            value += carry;
            value.StoreUnsafe(ref first, i);
            carry = Vector128.Shuffle(value, Vector128.Create(3u, 3, 3, 3));
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<uint> Load(ref byte from, nuint word) =>
        Vector128.LoadUnsafe(ref from, word * 16).AsUInt32();
}
