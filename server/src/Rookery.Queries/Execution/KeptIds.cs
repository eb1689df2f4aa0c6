using Rookery.Queries.Conditions;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Execution;

/// <summary>
/// Keeps the ids of found entries, up to 64 KiB. The search reads them together with the etags, so this saves a second
/// read. Not thread-safe.
/// </summary>
/// <param name="memory">Reserves the memory.</param>
internal sealed class KeptIds(ScanMemory memory)
{
    private const int FirstBytes = 512;

    // Ids beyond this limit are read again when their results are written.
    private const int MostBytes = 64 << 10;

    private byte[] _bytes = [];
    private int _length;

    /// <summary>Keeps an id.</summary>
    /// <returns>The position of the id; <see cref="FoundEntry.NoId"/> if the limit is reached.</returns>
    public int Keep(ReadOnlySpan<byte> id)
    {
        int needed = _length + sizeof(ushort) + id.Length;
        if (needed > MostBytes)
        {
            return FoundEntry.NoId;
        }

        if (needed > _bytes.Length)
        {
            int longer = Math.Max(needed, Math.Max(FirstBytes, 2 * _bytes.Length));
            memory.Take(longer - _bytes.Length);
            Array.Resize(ref _bytes, longer);
        }

        int at = _length;
        BitConverter.TryWriteBytes(_bytes.AsSpan(at), (ushort)id.Length);
        id.CopyTo(_bytes.AsSpan(at + sizeof(ushort)));
        _length = needed;
        return at;
    }

    /// <summary>Returns the id at a position.</summary>
    public ReadOnlyMemory<byte> At(int place) =>
        _bytes.AsMemory(place + sizeof(ushort), BitConverter.ToUInt16(_bytes, place));
}
