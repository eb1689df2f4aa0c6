using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// A blocked Bloom filter (Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007). It has 10
/// bits per key; each key sets 6 bits, all in one 64-byte line. So a lookup has one CPU cache miss per run, and 1.2 %
/// false positives; a standard filter with 7 probes has up to seven misses, and 0.9 %. Line and bits are both computed
/// from the upper half of the key's hash, so a writer stores only 4 bytes per key.
/// </summary>
internal static unsafe class BloomFilter
{
    public const int LineBytes = 64;
    private const int BitsPerKey = 10;
    private const int Probes = 6;

    // Bits of the mixed hash that a probe uses: the number of one of the line's 512 bits.
    private const int BitsPerProbe = 9;
    private const ulong ProbeMask = (1 << BitsPerProbe) - 1;

    // Factors that spread each bit of a number over the whole product (splitmix64).
    private const ulong FirstFactor = 0x9e3779b97f4a7c15;
    private const ulong SecondFactor = 0xbf58476d1ce4e5b9;

    /// <summary>Returns the part of a key's hash that is stored until the filter's size is known.</summary>
    public static uint Digest(ulong keyHash) => (uint)(keyHash >> 32);

    /// <summary>
    /// Returns the size of a filter for <paramref name="keys"/> keys, in bytes: whole lines, at least one.
    /// </summary>
    public static int SizeBytes(long keys)
    {
        const int bitsPerLine = LineBytes * 8;
        long lines = ((keys * BitsPerKey) + bitsPerLine - 1) / bitsPerLine;
        return (int)Math.Max(1, lines) * LineBytes;
    }

    /// <summary>
    /// Adds a key to <paramref name="filter"/>, whose length is a multiple of <see cref="LineBytes"/>.
    /// </summary>
    public static void Add(Span<byte> filter, uint digest)
    {
        var line = filter.Slice(LineOf(digest, (uint)(filter.Length / LineBytes)) * LineBytes, LineBytes);
        ulong bits = Remix(digest);
        for (int probe = 0; probe < Probes; probe++)
        {
            int bit = (int)(bits & ProbeMask);
            line[bit >> 3] |= (byte)(1 << (bit & 7));
            bits >>= BitsPerProbe;
        }
    }

    /// <summary>Returns false if the key was surely not added.</summary>
    public static bool MayContain(byte* filter, uint lines, ulong keyHash)
    {
        uint digest = Digest(keyHash);
        byte* line = filter + ((long)LineOf(digest, lines) * LineBytes);
        ulong bits = Remix(digest);
        for (int probe = 0; probe < Probes; probe++)
        {
            int bit = (int)(bits & ProbeMask);
            if ((line[bit >> 3] & (1 << (bit & 7))) == 0)
            {
                return false;
            }

            bits >>= BitsPerProbe;
        }

        return true;
    }

    /// <summary>Maps 32 bits evenly to the lines, without a division (Lemire, 2016).</summary>
    private static int LineOf(uint digest, uint lines)
    {
        int line = (int)(((ulong)digest * lines) >> 32);
        Invariant.Holds((uint)line < lines, "a filter has the line of every key");
        return line;
    }

    private static ulong Remix(uint digest)
    {
        // The low bits of a product depend on few bits of the factor. Folding twice makes all 54 used bits depend on
        // all 32.
        ulong mixed = (digest + 1UL) * FirstFactor;
        mixed = (mixed ^ (mixed >> 29)) * SecondFactor;
        return mixed ^ (mixed >> 32);
    }
}
