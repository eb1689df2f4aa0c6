namespace Rookery.Storage.Runs;

/// <summary>
/// Collects 4 bytes of every key's hash until the filter's size is known. Stored in pieces, so that growing copies
/// nothing and leaves no large arrays.
/// </summary>
internal sealed class FilterBuilder
{
    // 64 KiB: below the size of the large object heap.
    private const int PieceLength = 16 * 1024;

    private readonly List<uint[]> _pieces = [];
    private int _used = PieceLength;

    /// <summary>Size of the filter for the keys so far, in bytes.</summary>
    public int SizeBytes => BloomFilter.SizeBytes(Keys);

    private long Keys => ((long)_pieces.Count * PieceLength) - (PieceLength - _used);

    public void Add(ReadOnlySpan<byte> key)
    {
        if (_used == PieceLength)
        {
            _pieces.Add(new uint[PieceLength]);
            _used = 0;
        }

        _pieces[^1][_used++] = BloomFilter.Digest(KeyHash.Of(key));
    }

    /// <summary>
    /// Sets the bits of every key in <paramref name="filter"/>, which must be zeroed and have <see cref="SizeBytes"/>.
    /// </summary>
    public void Build(Span<byte> filter)
    {
        for (int piece = 0; piece < _pieces.Count; piece++)
        {
            int length = piece == _pieces.Count - 1 ? _used : PieceLength;
            foreach (uint digest in _pieces[piece].AsSpan(0, length))
            {
                BloomFilter.Add(filter, digest);
            }
        }
    }
}
